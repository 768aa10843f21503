#!/bin/sh
# Runs each libFuzzer program once over its corpus; a corpus that is missing or empty is a failure.
set -eu
for target in fuzz_archive fuzz_command_chart fuzz_envelope fuzz_json fuzz_lifecycle_chart \
    fuzz_manifest fuzz_marker fuzz_teardown_chart fuzz_writer_chart; do
    folder=$srcdir/fuzz/$target.in
    set -- "$folder"/*
    if [ ! -e "$1" ]; then
        echo "$target: no inputs in $folder" >&2
        exit 1
    fi
    ./fuzz/$target "$@" > "$target.out" 2>&1 || { cat "$target.out" >&2; exit 1; }
    echo "$target: $# kept inputs"
    rm -f "$target.out"
done
