#!/bin/bash
# tools/lint.sh: rules that a machine can check: which folder may include and call which, how long functions and files are,
# how files and functions are called, which labels tests need, how files begin, what the library exports, the version, what words, phrases
# (check_prose.sh) and widths are not to be found.
# Prints each break with file and line, and the function lengths. Calls are read from the objects of a build: of RAPT_BUILD,
# else of build or build-test; without one that check is left out, with a word.
# `tools/lint.sh DIR` checks another tree of the same layout.
. "$(dirname "$0")/help.sh"
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT
say() { tee -a "$broken"; }
[ $# = 0 ] || unset RAPT_BUILD
for build in "${RAPT_BUILD:-build}" build-test; do
    [ ! -d "$build/CMakeFiles/rapt_objects.dir" ] || break
done

# ---- a folder includes only from folders above it --------------------------------------------------------------------
# Public headers count as part of the folder that implements them. Kernels know nothing but base.
layers='base kernels tensor tape ops nn text print metrics data io search decode engine explain recipe group train view lesson fetch serve cli bench'
headers='glossary:text base:base defaults:base tensor:tensor tape:tape observe:tape profile:tape nn:nn lm:nn kv:nn transformer:nn text:text chat:text print:print figure:view metrics:metrics data:data stream:data policy:io io:io heads:io decode:decode engine:engine markup:decode generate:decode embed:decode rerank:decode score:decode explain:explain recipe:recipe group:group train:train use:explain parts:nn'
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

# ---- src/base alone knows the system -----------------------------------------------------------------------------------
# Elsewhere ISO C and the libraries are enough, and no macro asks the C library for more: what is not declared is an error of the
# compiler then. Some modules do more, which are made for POSIX alone.
knows='^src/(base|fetch/module|group/mpi|serve/module)/'
iso='assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype'
others='jansson yaml xxhash pcre2 zlib pango/pango pango/pangocairo immintrin arm_neon wasm_simd128'
find src include -name '*.[ch]' | grep -vE "$knows" | sort | xargs grep -nE '^ *# *(include *<|(define|undef) +_[A-Z0-9_]*_SOURCE)' |
    awk -v list="$iso $others" '
        BEGIN { n = split(list, names, " "); for (i = 1; i <= n; i++) known[names[i] ".h"] }
        {
            split($0, at, ":"); header = $0; sub(/^[^<]*</, "", header); sub(/>.*/, "", header)
            if ($0 !~ /</) print at[1] ":" at[2] ": asks the C library for more than ISO C, which src/base alone does"
            else if (!(header in known)) print at[1] ":" at[2] ": includes <" header ">, which src/base alone does"
        }' | say

# ---- every public header has one tier: one of three headers includes it, and the list of rapt.h has a line for it -----------
tiers='use train parts'
for tier in $tiers; do
    grep -qx "#include \"rapt/$tier.h\"" include/rapt.h || echo "include/rapt.h: does not include rapt/$tier.h"
done | say
for header in include/rapt/*.h; do
    name=${header#include/rapt/} name=${name%.h} of=
    for tier in $tiers; do
        [ "$name" != "$tier" ] || of="$of $tier"
        ! sed -n '/^typedef/q;p' "include/rapt/$tier.h" | grep -qx "#include \"rapt/$name.h\"" || of="$of $tier"
    done
    # train.h includes what it needs of the other tiers, too
    [ "$(wc -w <<<"$of")" != 2 ] || of=${of/ train/}
    [ "$(wc -w <<<"$of")" = 1 ] || echo "$header: is in ${of:-no tier}: rapt/use.h, rapt/train.h or rapt/parts.h includes it"
    grep -q "^ [*]   rapt/$name.h  " include/rapt.h || echo "include/rapt.h: its list lacks rapt/$name.h"
done | say

# ---- calls: upwards only, and no circles -----------------------------------------------------------------------------
# An object of the build, of each module a group of its own: what it defines, and what it lacks. Stale ones don't count.
symbols() {
    local target objects
    for target in rapt_objects:main rapt_view:main rapt_cli:main rapt:main rapt-bench:bench rapt_draw:draw rapt_fetch:fetch rapt_serve_objects:serve rapt_mpi_openmpi:mpi; do
        mapfile -t objects < <(find "$build/CMakeFiles/${target%:*}.dir" -name '*.c.o' 2>/dev/null | while read -r object; do
            source=${object#*.dir/} source=${source%.o}
            [ "$object" -nt "$source" ] && [ -e "$source" ] && echo "$object"
        done)
        [ ${#objects[@]} = 0 ] || nm -A -g "${objects[@]}" | sed -nE \
            "s|^.*\.dir/(.*)\.o: +U (.*)|uses ${target#*:} \1 \2|p; s|^.*\.dir/(.*)\.o:[0-9a-f]+ . (.*)|has ${target#*:} \1 \2|p"
    done
}
if [ -d "$build/CMakeFiles/rapt_objects.dir" ]; then
    symbols | awk -v layers="$layers" '
        function layer(path, part) { split(path, part, "/"); return part[2] }
        function walk(from, at, list, n, i) {
            n = split(calls[at], list, " ")
            for (i = 1; i <= n; i++) if (!((from, list[i]) in reached)) { reached[from, list[i]]; walk(from, list[i]) }
        }
        BEGIN { n = split(layers, list, " "); for (i = 1; i <= n; i++) level[list[i]] = i }
        $1 == "has" { home[$2, $4] = $3 }
        $1 == "uses" { group[++count] = $2; file[count] = $3; symbol[count] = $4 }
        END {
            for (i = 1; i <= count; i++) {
                own = group[i] SUBSEP symbol[i]
                to = (own in home) ? home[own] : ("main", symbol[i]) in home ? home["main", symbol[i]] : ""
                if (to == "" || to == file[i]) continue
                a = layer(file[i]); b = layer(to)
                if (level[b] > level[a] || (a == "kernels" && b != "base" && b != a))
                    print file[i] ": calls " symbol[i] " of " to ", a layer below it"
                if ((file[i], to) in by) continue
                by[file[i], to] = symbol[i]; calls[file[i]] = calls[file[i]] " " to
            }
            for (a in calls) walk(a, a)
            for (a in calls) {
                if (!((a, a) in reached) || a in told) continue
                circle = ""
                for (b in calls) if ((a, b) in reached && (b, a) in reached) { told[b]; circle = circle " " b }
                n = split(circle, list, " ")
                printf "%s: in a circle of calls:", list[1]
                for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) if ((list[i], list[j]) in by)
                    printf " %s calls %s of %s;", list[i], by[list[i], list[j]], list[j]
                print ""
            }
        }' | say
else
    echo 'lint: calls are not checked: there is no build'
fi

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
    { length_of[NR] = $1; place[NR] = $2
      if ($1 > 60) print "src: the function at " $2 " has " $1 " lines; at most 60" }
    function at(share) { i = int(NR * share); return length_of[i < NR * share ? i + 1 : i] }
    END {
        printf "%d functions outside kernels: median %d lines, p90 %d, longest %d (%s)\n",
            NR, at(0.5), at(0.9), length_of[NR], place[NR]
        if (NR < 100) print "src: found hardly any function"
        if (at(0.5) > 12) print "src: the median function has more than 12 lines"
        if (at(0.9) > 40) print "src: one function in ten has more than 40 lines"
    }' | tee >(grep '^src' >>"$broken")
find src include \( -name '*.[ch]' -o -name '*.js' -o -name '*.css' \) -exec wc -l {} + | awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines; at most 500" }' | say
find tests -name '*.[ch]' -exec wc -l {} + | awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines; at most 700" }' | say
# Scripts; make_pairs*.py are grammars, and mostly the words and sentences of theirs.
find tests tools bench recipes .ci test quickstart -type f \( -name '*.py' -o -name '*.sh' -o ! -name '*.*' \) \
    ! -name 'make_pairs*.py' ! -path '*/golden/*' ! -path '*/corpus/*' -exec wc -l {} + 2>/dev/null |
    awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines; at most 700" }' | say

# ---- names -----------------------------------------------------------------------------------------------------------
# Backtraces and profiles show the last part of a path only.
find src include -name '*.[ch]' | sort | awk -F/ '
    $NF in first { print $0 ": " first[$NF] " has the same name"; next }
    { first[$NF] = $0 }' | say

# Likewise names of functions, whatever their linkage: fourteen functions called `backward` could not be told apart, and neither
# could one with a word that any function could have.
find src -path src/kernels -prune -o -name '*.c' -print | sort | xargs awk '
    BEGIN {
        n = split("add alloc allocate append apply backward begin check close compare copy do end fill find finish forward free" \
                  " get grow handle init keep lay_out load make measure next open parse prepare print process put read release" \
                  " report reset run save set set_up show start step take train update work write", list, " ")
        for (i = 1; i <= n; i++) denied[list[i]]
    }
    # What draws, downloads and serves is a module that the program loads, and is called there as the door to it in the program.
    function door(file) { sub(/\/(draw|module)\/.*/, "", file); sub(/\/[^\/]*\.c$/, "", file); return file }
    function is_module(file) { return file ~ /\/(draw|module)\// }
    # And what needs a system is written once for each of them.
    function of_system(file, name) { return file ~ "^src/base/" name "/" }
    function two_systems(a, b) { return of_system(a, "posix") && of_system(b, "windows") }
    /^[a-z][^=;]*[ *][a-z_0-9]+[(][^;]*$|^[a-z][^=;]*[ *][a-z_0-9]+[(].*[)] [{]/ && !/^(typedef|extern|else|struct [a-z_]+ [{])/ {
        name = $0; sub(/[(].*/, "", name); sub(/.*[ *]/, "", name)
        if (name == "main") next # each program has one
        if (/^static/ && name in denied) print FILENAME ":" FNR ": " name ": a name that a backtrace cannot tell from others"
        else if (name in first && first[name] != FILENAME && !two_systems(first[name], FILENAME) &&
                 !(!/^static/ && is_module(first[name]) != is_module(FILENAME) && door(first[name]) == door(FILENAME)))
            print FILENAME ":" FNR ": " name ": " first[name] " has the same name"
        else first[name] = FILENAME
    }' | say
# And of macros with arguments, which are functions to who reads them.
find src include -path src/kernels -prune -o -name '*.[ch]' -print | sort | xargs awk '
    /^# *define [A-Za-z_0-9]+[(]/ {
        name = $0; sub(/^# *define /, "", name); sub(/[(].*/, "", name)
        if (name ~ /_CASE$/) next # what a list of names is made into where it is
        if (name in first && first[name] != FILENAME) print FILENAME ":" FNR ": " name ": " first[name] " has the same macro"
        else first[name] = FILENAME
    }' | say

# ---- tests ----------------------------------------------------------------------------------------------------------- A test
# that starts threads, or goes through levels of the ISA, carries the label by which .ci/run finds it (tests/CMakeLists.txt lists
# the labels), whether it does so itself or in headers of tests that it includes. Threads that a test's header starts on request
# count for the tests that pass it a number.
find tests -path tests/fuzz -prune -o \( -name '*.[ch]' -o -name 'check_*.sh' \) -print 2>/dev/null | sort | xargs -r awk '
    function of(what, file, n, list, i) {
        if ((what, file) in says) return 1
        if ((what, file) in asked) return 0
        asked[what, file]
        n = split(uses[file], list, " ")
        for (i = 1; i <= n; i++) if (of(what, list[i])) return 1
        return 0
    }
    function want(file, what, label, why) {
        if (of(what, file) && labels[file] !~ " (" label ") ") print file ": " why ": it lacks the label " label
        delete asked
    }
    FNR == 1 { folder = FILENAME; sub(/[^\/]*$/, "", folder) }
    FILENAME ~ /\/(test_[a-z_0-9]*|check_kernels)\.c$|\.sh$/ { tests[FILENAME] }
    /^( \*|#) labels: / { sub(/\*\/$/, ""); labels[FILENAME] = $0 " " }
    /^ *# *include "/ { split($0, part, "\""); uses[FILENAME] = uses[FILENAME] " tests/" part[2] " " folder part[2] }
    /(^|[^a-z_])(pthread_create|pool_new) *\(|(^|[^a-z_])threads *= *[2-9]/ && FILENAME !~ /\.sh$/ { says["threads", FILENAME] }
    /(^|[^a-z_])threads *= *[a-z(]/ && !/threads *= *(true|NULL)/ && FILENAME ~ /\.c$/ { says["threads", FILENAME] }
    /(^|[^a-z_])kernels_(names|of_isa)([^a-z_]|$)|\$\(levels\)|skip_other_levels$|RAPT_ISA="?\$/ { says["levels", FILENAME] }
    END {
        for (file in tests) {
            want(file, "threads", "threads|not-raced|raced-late", "starts threads")
            want(file, "levels", "levels|each-level", "goes through levels of the ISA")
        }
    }' | sort | say

# ---- what the library exports ----------------------------------------------------------------------------------------
# Public prototypes begin at the first column; without RAPT_API the shared library would lack them.
grep -nE '^(const |struct )*[a-z_0-9]+[ *]+rapt_[a-z_0-9]+\(' include/rapt/*.h |
    sed -E 's/^([^:]*:[0-9]+):.*(rapt_[a-z_0-9]+)\(.*/\1: \2 has no RAPT_API/' | say
if [ -e "$build/librapt.so" ]; then
    nm -D --defined-only "$build/librapt.so" | awk '$3 !~ /^rapt_/ { print "librapt.so: exports " $3 }' | say
fi

# ---- one version: include/rapt/base.h has it; what cannot read it there has the same ----------------------------------------
if [ -e include/rapt/base.h ]; then
    version=$(sed -n 's/^#define RAPT_VERSION "\([^"]*\)".*/\1/p' include/rapt/base.h)
    numbers=$(sed -n 's/^#define RAPT_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/rapt/base.h | paste -sd.)
    [ "$numbers" = "${version%%-*}" ] || echo "include/rapt/base.h: RAPT_VERSION_... are $numbers, RAPT_VERSION is $version" | say
    same_version() { # FILE WORD VERSION...: those that the file names
        local file=$1 wanted=$2 found
        shift 2
        for found; do
            [ "$found" = "$wanted" ] || echo "$file: version $found; include/rapt/base.h has $version, which is $wanted here"
        done | say
    }
    if [ -e debian/changelog ]; then
        same_version debian/changelog "${version/-/\~}" "$(sed -n '1s/^rapt (\([^)]*\)).*/\1/p' debian/changelog)"
    fi
    mapfile -t found < <(sed -n 's/^  "version": "\(.*\)",$/\1/p' src/serve/module/openapi.json 2>/dev/null)
    same_version src/serve/module/openapi.json "$version" "${found[@]}"
fi

# ---- files -----------------------------------------------------------------------------------------------------------
mapfile -t code < <(find src include tests tools examples bench -name '*.[ch]' 2>/dev/null | sort)
mapfile -t page < <(find src/explain/page src/serve/module/page src/lesson/page \( -name '*.js' -o -name '*.css' \) 2>/dev/null | sort)
mapfile -t python < <(find python -type f \( -name '*.[ch]' -o -name '*.py' -o -name '*.pyi' \) 2>/dev/null | sort)
mapfile -t texts < <(find src include tests tools examples bench recipes .ci -type f \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.yaml' -o -name '*.txt' -o -name run \) ! -path '*/corpus/*' \
    2>/dev/null | sort)
grep -nE '\b(TODO|FIXME|XXX)\b' "${texts[@]}" CMakeLists.txt Makefile test quickstart 2>/dev/null |
    grep -v '^tools/lint.sh:' | sed 's/$/   <- finish it, or write an issue/' | say
grep -nP '\t' "${code[@]}" | sed 's/:[^:]*$/: a tab/' | say
grep -nE ' +$' "${code[@]}" | sed 's/$/<- spaces at the end/' | say
LC_ALL=C.UTF-8 awk 'length($0) > 130 { print FILENAME ":" FNR ": " length($0) " columns; at most 130" }' \
    "${code[@]}" "${page[@]}" "${python[@]}" | say
printf '%s\n' "${code[@]}" | grep '\.c$' | xargs -d '\n' awk ' # a comment with at least one sentence
    function close_file() {
        if (file != "" && text !~ /\/\*.*[a-z][a-z].*[.:;].*\*\//)
            print file ":1: does not begin with a comment that says what it is"
    }
    FNR == 1 { close_file(); file = FILENAME; text = ""; reading = /^\/\*/ }
    reading { text = text " " $0; if (/\*\//) reading = 0 }
    END { close_file() }' | say
for header in include/rapt/*.h; do
    ! grep -q RAPT_API "$header" || grep -q 'extern "C"' "$header" || echo "$header: no extern \"C\""
done | say
# ---- prose -----------------------------------------------------------------------------------------------------------
[ ! -x tools/check_prose.sh ] || tools/check_prose.sh . | say

# A word only: what is committed is not to be written anew.
[ $# -gt 0 ] || git log --format='%h %s' f2870b2..HEAD 2>/dev/null | awk '
    length($0) - length($1) - 1 > 72 { n++; last = $1 }
    END { if (n) print "lint: " n " commit subjects have more than 72 characters, the oldest " last }'
if [ -s "$broken" ]; then
    echo "lint: $(wc -l <"$broken") to mend"
    exit 1
fi
echo "lint: nothing to mend in ${#texts[@]} files"
