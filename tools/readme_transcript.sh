#!/bin/bash
# tools/readme_transcript.sh [--check] [BUILD]: runs the commands of README.md's transcripts (the lines with "$ " between the
# marks `transcript...:begin` and `:end`) and writes what they print below them, there and in README.zh-CN.md, which
# tools/check_chinese.sh compares with README.md; docs/attention.png is drawn anew, too.
# With --check nothing is written: README's figures are compared with those of this run. BUILD is a build folder with the
# program (default: build-test or build). Some three minutes on two cores.
#
# What is compared: of the shipped pairs, and of a model of the tests, every word and number, but for times, speeds and memory, which
# depend on the machine. Of rapt's own sources, which change with every commit, losses and bits per byte (within 0.15), and
# counts (within a tenth), but not the text that the model makes. The last line is "N passed, N failed, 0 skipped".
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
check=
[ "${1:-}" != --check ] || { check=yes; shift; }
build=${1:-build-test}
[ $# -gt 0 ] || [ -x "$build/rapt" ] || build=build
build=$(realpath "$build")
[ -x "$build/rapt" ] || { echo "no program in $build"; exit 2; }
unset RAPT_ISA RAPT_THREADS RAPT_LOG
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# The commands run in a folder that looks like this one, with no models in it.
root=$PWD
mkdir "$scratch/here"
ln -s "$build" "$scratch/here/build"
for name in *; do
    case $name in build* | models) ;; *) ln -s "$root/$name" "$scratch/here/$name" ;; esac
done

# What one command prints, messages first; of many progress lines the first three and the last two, of many heads the first.
output_of() {
    (cd "$scratch/here" && bash -o pipefail -c "$1") >"$scratch/out" 2>"$scratch/err" ||
        { echo "failed: $1" >&2; cat "$scratch/err" >&2; return 1; }
    cat "$scratch/err" "$scratch/out" | awk '
        { line[NR] = $0; if (/tokens\/s/) report[++reports] = NR }
        END {
            for (i = 1; i <= NR; i++) {
                if (reports > 6 && i > report[3] && i < report[reports - 1]) {
                    if (!dots++) print "..."
                    continue
                }
                if (line[i] == "head 1") { print "..."; while (i < NR && line[i] != "") i++ }
                print line[i]
            }
        }'
}

# The commands between a pair of marks, each with what it prints.
transcript() {
    local command between=
    echo '```'
    while IFS= read -r command; do
        [ -z "$between" ] || echo
        between=yes
        echo "$ $command"
        output_of "$command" || return 1
    done < <(sed -n "/<!-- $1:begin -->/,/<!-- $1:end -->/s/^\\$ //p" README.md)
    echo '```'
}

old() { sed -n "/<!-- $1:begin -->/,/<!-- $1:end -->/p" README.md | sed '1d;$d'; }

put_back() {
    local page
    for page in README.md README.zh-CN.md; do
        awk -v name="$1" -v file="$scratch/$1" '
            $0 == "<!-- " name ":end -->" { skip = 0 }
            !skip
            $0 == "<!-- " name ":begin -->" { while ((getline text <file) > 0) print text; skip = 1 }' $page >"$scratch/page" &&
            cat "$scratch/page" >$page || return 1
    done
}

# Without what the machine decides.
machineless() { sed -E 's/[0-9]+ tokens\/s/N tokens\/s/; s/[0-9:]+ left/N left/; /^memory: /s/[0-9.]+ [kMG]?B/N/g'; }

# Lines with figures of a text that changes, and no epochs, for a longer text has fewer.
figures() { machineless | grep -E '^\$|^data:|^model:|^memory:|tokens/s|bytes$|per byte' | sed 's/^epoch [0-9/]* *//; s/ perplexity [0-9.]*,//'; }

# near OLD NEW: the same words, and numbers that are near.
near() {
    paste -d '\n' "$1" "$2" | awk '
        function is_number(x) { return x ~ /^[0-9]+(\.[0-9]+)?$/ }
        NR % 2 { n = split($0, was, /[ \/,]+/); text = $0; next }
        {
            good = split($0, is, /[ \/,]+/) == n
            for (i = 1; i <= n && good; i++)
                if (!is_number(was[i]) || !is_number(is[i])) good = was[i] == is[i]
                else if (was[i] ~ /\./) good = was[i] - is[i] <= 0.15 && is[i] - was[i] <= 0.15
                else good = is[i] >= 0.9 * was[i] && is[i] <= 1.1 * was[i]
            if (!good) { print "README: " text; print "now:    " $0; bad = 1 }
        }
        END { exit bad }'
}

compare() {
    local side
    if [ "$1" = transcript-lm ]; then
        old "$1" | figures >"$scratch/old"
        figures <"$scratch/$1" >"$scratch/new"
        near "$scratch/old" "$scratch/new"
    else
        diff <(old "$1" | machineless) <(machineless <"$scratch/$1")
    fi
}

passed=0 failed=0
names=(transcript transcript-zh transcript-lm transcript-explain transcript-hub)
for name in "${names[@]}"; do
    if ! transcript "$name" >"$scratch/$name"; then
        failed=$((failed + 1))
    elif [ "$check" ] && ! compare "$name"; then
        echo "FAIL  $name: not what rapt prints now; tools/readme_transcript.sh writes it anew"
        failed=$((failed + 1))
    elif [ "$check" ] || put_back "$name"; then
        echo "ok    $name"
        passed=$((passed + 1))
    fi
done
[ "$check" ] || "$build/rapt" plot attention "$scratch/here/models/quickstart" 'I want to buy a new bike.' --kind cross --block 1 \
    -o docs/attention.png || failed=$((failed + 1))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" = ${#names[@]} ]
