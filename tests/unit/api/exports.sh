#!/bin/sh
# The shared library exports what he2b.h declares, and nothing else: header, list and symbols agree.
set -eu
cd "$builddir"
library=.libs/libhermes-e2b.so
if [ ! -e "$library" ]; then
    echo "SKIP: no shared library was built (--disable-shared)"
    exit 77
fi
nm -D --defined-only "$library" | awk '$2 ~ /^[TDBRW]$/ { print $3 }' |
    grep -vE '^(__asan|__ubsan|__sanitizer|__odr_asan|_init$|_fini$|__bss_start$|_edata$|_end$)' |
    sort > exports.have
sort "$srcdir/src/he2b.sym" > exports.list
sed -n '/HE2B_PUBLIC/,/;/p' "$srcdir/src/he2b.h" | grep -oE '\bhe2b_[a-z0-9_]+\(' | tr -d '(' |
    sort -u > exports.header
status=0
diff exports.list exports.have || { echo "src/he2b.sym and the library differ"; status=1; }
diff exports.list exports.header || { echo "src/he2b.sym and src/he2b.h differ"; status=1; }
[ "$(wc -l < exports.list)" -gt 40 ] || { echo "the list is too short to be true"; status=1; }
rm -f exports.have exports.list exports.header
exit $status
