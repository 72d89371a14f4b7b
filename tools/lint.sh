#!/bin/bash
# tools/lint.sh: rules that a machine can check: which folder may include which, how long functions and files are, how
# files are called and begin, what words and widths are not to be found. Prints each break with file and line, and the function lengths.
# `tools/lint.sh DIR` checks another tree of the same layout.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT
say() { tee -a "$broken"; }

# ---- a folder includes only from folders above it --------------------------------------------------------------------
# Public headers count as part of the folder that implements them. Kernels know nothing but base.
layers='base kernels tensor ops nn text metrics data io decode explain recipe train view fetch cli'
headers='base:base tensor:tensor tape:ops observe:ops profile:ops nn:nn lm:nn text:text metrics:metrics data:data stream:data io:io decode:decode generate:decode explain:explain recipe:recipe train:train'
grep -rn '^ *# *include *"' src | awk -F: -v layers="$layers" -v headers="$headers" '
    BEGIN {
        n = split(layers, list, " "); for (i = 1; i <= n; i++) level[list[i]] = i
        n = split(headers, list, " "); for (i = 1; i <= n; i++) { split(list[i], pair, ":"); home[pair[1]] = pair[2] }
    }
    {
        split($1, path, "/"); from = path[2]
        included = $0; sub(/^[^"]*"/, "", included); sub(/".*/, "", included)
        split(included, part, "/"); to = part[1]
        if (to == "rapt") { name = part[2]; sub(/\.h$/, "", name); to = home[name] }
        if (included == "rapt.h") to = "cli"
        if (!(from in level)) print $1 ": no layer is called " from
        else if (!(to in level)) print $1 ":" $2 ": includes \"" included "\", which belongs to no layer"
        else if (level[to] > level[from]) print $1 ":" $2 ": " from " includes \"" included "\" of " to ", a layer below it"
        else if (from == "kernels" && to != "base" && to != "kernels") print $1 ":" $2 ": kernels includes " to
    }' | say

# ---- lengths ---------------------------------------------------------------------------------------------------------
# A function goes from the line of its name to its closing brace; both stand at the start of a line, as does "{".
function_lengths() {
    find src -path src/kernels -prune -o -name '*.c' -print | sort | xargs awk '
        FNR == 1 { start = 0; open = 0 }
        /^[A-Za-z].*[(]/ && !open { start = FNR }
        /^}/ && open { print FNR - start + 1, FILENAME ":" start; open = 0 }
        /^{/ { open = 1 }
        /^[A-Za-z].*[)] [{] .*[}]$/ { print 1, FILENAME ":" FNR }'
}
lengths=$(function_lengths | sort -n)
echo "$lengths" | awk '
    { length_of[NR] = $1; place[NR] = $2; if ($1 > 60) long++ }
    function at(share) { i = int(NR * share); return length_of[i < NR * share ? i + 1 : i] }
    END {
        printf "%d functions outside kernels: median %d lines, p90 %d, longest %d (%s), above 60 lines %.1f %%\n",
            NR, at(0.5), at(0.9), length_of[NR], place[NR], 100 * long / NR
        if (NR < 100) print "src: found hardly any function"
        if (at(0.5) > 12) print "src: the median function has more than 12 lines"
        if (at(0.9) > 40) print "src: one function in ten has more than 40 lines"
        if (long > 0.02 * NR) print "src: more than 2 % of the functions have more than 60 lines"
    }' | tee >(grep '^src' >>"$broken")
find src include -name '*.[ch]' -exec wc -l {} + | awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines; at most 700" }' | say

# ---- names -----------------------------------------------------------------------------------------------------------
# Backtraces and profiles show the last part of a path only.
find src include -name '*.[ch]' | sort | awk -F/ '
    $NF in first { print $0 ": " first[$NF] " has the same name"; next }
    { first[$NF] = $0 }' | say

# ---- files -----------------------------------------------------------------------------------------------------------
mapfile -t code < <(find src include tests tools examples bench -name '*.[ch]' 2>/dev/null | sort)
mapfile -t page < <(find src/explain/page \( -name '*.js' -o -name '*.css' \) 2>/dev/null | sort)
mapfile -t texts < <(find src include tests tools examples bench recipes .ci -type f \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.yaml' -o -name '*.txt' -o -name run \) ! -path '*/corpus/*' \
    2>/dev/null | sort)
grep -nE '\b(TODO|FIXME|XXX)\b' "${texts[@]}" CMakeLists.txt Makefile test quickstart 2>/dev/null |
    grep -v '^tools/lint.sh:' | sed 's/$/   <- finish it, or write an issue/' | say
grep -nP '\t' "${code[@]}" | sed 's/:[^:]*$/: a tab/' | say
grep -nE ' +$' "${code[@]}" | sed 's/$/<- spaces at the end/' | say
LC_ALL=C.UTF-8 awk 'length($0) > 130 { print FILENAME ":" FNR ": " length($0) " columns; at most 130" }' \
    "${code[@]}" "${page[@]}" | say
for file in "${code[@]}"; do
    case $file in *.c) # a comment with at least one sentence
        awk 'NR == 1 && !/^\/\*/ { exit } { text = text " " $0 } /\*\// { exit }
            END { exit !(text ~ /\/\*.*[a-z][a-z].*[.:;].*\*\//) }' "$file" ||
            echo "$file:1: does not begin with a comment that says what it is" ;;
    esac
done | say
for header in include/rapt/*.h; do
    grep -q 'extern "C"' "$header" || echo "$header: no extern \"C\""
done | say
if [ -s "$broken" ]; then
    echo "lint: $(wc -l <"$broken") to mend"
    exit 1
fi
echo "lint: nothing to mend in ${#texts[@]} files"
