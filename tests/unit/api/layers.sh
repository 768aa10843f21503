#!/bin/sh
# Layers point down only, and only one place knows each library: read off the #include lines.
set -eu
cd "$srcdir"
status=0

# only WHERE WHAT: files that include WHAT (a pattern) must match WHERE (a pattern)
only() {
    bad=$(grep -rlE "^#include [<\"]$2" --include='*.[ch]' --include='*.rl' src machines pybind |
        grep -vE "^($1)" || true)
    if [ -n "$bad" ]; then
        echo "only $1 may include $2; these do:" $bad
        status=1
    fi
}
only 'src/net/|src/local/' 'event2/'
only 'src/net/' 'curl/'
only 'src/core/json\.c$' 'json-c/'
only 'src/local/' 'microhttpd'
only 'src/core/sha256\.c$|src/local/' 'nettle/'
only 'src/host/archive\.c$' 'archive'
only 'src/e2b/codec_proto\.c$|src/local/daemon_codec\.c$|src/wire/' '(protobuf-c|wire)/'
only 'pybind/' 'Python\.h'

# may FOLDER ALLOWED: what files below FOLDER include of ours must match ALLOWED
may() {
    bad=$(grep -rnE '^#include "' --include='*.[ch]' --include='*.rl' "$1" |
        grep -vE "#include \"($2)" || true)
    if [ -n "$bad" ]; then
        echo "$1 may include $2 only:"
        echo "$bad"
        status=1
    fi
}
may src/core 'core/|he2b\.h'
may machines 'machines/|core/'
may src/host 'host/|core/|he2b\.h'
may src/net 'net/|machines/|core/|he2b\.h'
may src/wire 'process\.pb-c\.h'
may src/e2b 'e2b/|wire/|net/|machines/|core/|he2b\.h'
may src/session 'session/|machines/|e2b/|host/|net/|core/|he2b\.h'
may src/cli 'cli/|he2b\.h'
may src/local 'local/|core/|wire/|machines/envelope\.h|he2b\.h'
may pybind 'native\.h|he2b\.h'
exit $status
