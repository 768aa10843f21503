#!/bin/sh
# The explorer finds mistakes: each mutants/*.sed makes one in a copy of a chart, and has to be found, as
# the rule that it names, with a sequence of events. Usage: mutants.sh [NAME]...
set -u
: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${RAGEL:=ragel}"
here=$srcdir/tests/explore

if ! $RAGEL --version > /dev/null 2>&1; then
    echo "SKIP: no ragel, so no chart with a mistake can be built"
    exit 77
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM

flags="-std=gnu11 -O1 -D_GNU_SOURCE -I$srcdir -I$builddir"
compile() { # source object
    $CC $flags -c "$1" -o "$2" || exit 99
}

# chart.c from machines/chart.rl and the chart in the same folder
generate() { # folder chart
    (cd "$1" && $RAGEL -G1 -L -o "$2.c" "$2.rl") || exit 99
}

objects=
for source in "$here"/*.c; do
    object=$dir/$(basename "$source" .c).explore.o
    compile "$source" "$object"
    objects="$objects $object"
done
cp "$srcdir"/machines/*.rl "$srcdir"/machines/*_events.h "$dir" || exit 99
for chart in lifecycle teardown writer; do
    generate "$dir" $chart
    compile "$dir/$chart.c" "$dir/$chart.o"
done

unmade() {
    echo "FAIL: $1: $2"
    failed=1
}

failed=0
found=0
[ $# -gt 0 ] || set -- $(cd "$here/mutants" && ls ./*.sed | sed -e 's|^\./||' -e 's|\.sed$||')
for name in "$@"; do
    mutant=$here/mutants/$name.sed
    chart=$(sed -n 's/^# chart: //p' "$mutant")
    scenario=$(sed -n 's/^# scenario: //p' "$mutant")
    ignore=$(sed -n 's/^# ignore: /--ignore /p' "$mutant")
    rule=$(sed -n 's/^# rule: //p' "$mutant")
    mkdir "$dir/$name" || exit 99
    cp "$dir"/*.rl "$dir"/*_events.h "$dir/$name"
    chmod u+w "$dir/$name"/*
    sed -f "$mutant" "$dir/${chart}_chart.rl" > "$dir/$name/${chart}_chart.rl"
    if cmp -s "$dir/${chart}_chart.rl" "$dir/$name/${chart}_chart.rl"; then
        unmade "$name" "its sed script does not fit the chart any more"
        continue
    fi
    generate "$dir/$name" "$chart"
    compile "$dir/$name/$chart.c" "$dir/$name/$chart.o"
    charts=
    for other in lifecycle teardown writer; do
        [ $other = "$chart" ] && charts="$charts $dir/$name/$other.o" || charts="$charts $dir/$other.o"
    done
    $CC $objects $charts -o "$dir/$name/explore" || exit 99
    "$dir/$name/explore" $ignore "${scenario:-two}" > "$dir/$name/output" 2>&1
    code=$?
    if [ $code -ne 1 ]; then
        unmade "$name" "not found: the explorer ended with $code"
        tail -n 3 "$dir/$name/output"
    elif ! grep -q "^  VIOLATION $rule:" "$dir/$name/output"; then
        unmade "$name" "found, but not as $rule:"
        grep VIOLATION "$dir/$name/output"
    elif ! grep -q '^    1\. ' "$dir/$name/output"; then
        unmade "$name" "no sequence of events is shown"
    else
        found=$((found + 1))
        printf 'found: %-22s %s after %s moves\n' "$name" "$rule" \
            "$(sed -n 's/^ *\([0-9]*\)\. .*/\1/p' "$dir/$name/output" | tail -n 1)"
    fi
done
echo "$found mistakes found"
exit $failed
