#!/bin/sh
# The public header alone, under strict flags, as C11 and as C++; the installed version is the built one.
set -eu
cd "$builddir"
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I$srcdir/src"
printf '#include <he2b.h>\nint main(void) { return he2b_version() ? 0 : 1; }\n' > header-alone.c
# shellcheck disable=SC2086
${CC:-cc} -std=c11 $flags header-alone.c
if command -v "${CXX:-c++}" >/dev/null; then
    # shellcheck disable=SC2086
    ${CXX:-c++} -std=c++11 $flags -x c++ header-alone.c
else
    echo "no C++ compiler here: the header was not tried as C++"
fi
rm -f header-alone.c
version=$(sed -n 's/^#define HE2B_VERSION "\(.*\)"$/\1/p' "$srcdir/src/he2b.h")
number=$(echo "$version" | awk -F. '{ printf "0x%02x%02x%02x", $1, $2, $3 }')
grep -q "^#define HE2B_VERSION_NUMBER $number\$" "$srcdir/src/he2b.h" || {
    echo "HE2B_VERSION_NUMBER is not $number"
    exit 1
}
grep -q "^Version: $version\$" hermes-e2b.pc
if [ -e "$srcdir/pybind/hermes_e2b/__init__.py" ]; then
    grep -q "^__version__ = \"$version\"\$" "$srcdir/pybind/hermes_e2b/__init__.py"
    grep -q "^version: $version\$" "$srcdir/pybind/hermes_e2b/plugin.yaml"
fi
