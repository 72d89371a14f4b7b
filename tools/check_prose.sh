#!/bin/bash
# tools/check_prose.sh [DIR]: turns of phrase that readers stumble over, in comments and documents. CONTRIBUTING.md, "Plain
# English", has the rules; this finds what a pattern can find. DIR is another tree of the same layout.
#
# Prints each break with file, line and what to write instead. Only the folders of `swept` are checked: once a folder has been
# mended, it joins the list.
#
#   tools/check_prose.sh --figures [FOLDER...]   counts per folder, and per 1,000 words of comments, of what makes prose hard
#   tools/check_prose.sh --all [FOLDER...]       the breaks of folders that are not swept yet
. "$(dirname "$0")/help.sh"
set -u
mode=check
case ${1:-} in --figures | --all) mode=${1#--} && shift ;; esac
if [ $mode = check ]; then cd "${1:-$(dirname "$0")/..}" || exit 2; else cd "$(dirname "$0")/.." || exit 2; fi

# Files and folders in which these phrases have been mended.
swept=(include src tests tools examples data bench recipes README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md
    docs/{book,man,models,tutorials} docs/results/{[a-eg-z]*,fuzz}.md)

# A regular expression of awk, a tab, what to write. "^" is the beginning of a comment. Lower case stands for both cases, unless
# the expression has a capital letter.
patterns='
(^|[.] )Of [^.]*	a noun, or "for", whose property it is
[;:] of (an?|the|each|all|those|one|several) [^.]*	"for", or the noun as the subject
^The same (of|for|as|in|with|but|from|by|at|on|where|when|,|[.]|:)	a sentence of its own: say what it does
the same of	the noun again
(that|those) of	the noun again
(^|[.] )(Who|Whoever) [^.?]*	a subject: "a caller that", "whether"
see [a-z_0-9/]+[.][ch]	one sentence that says it, or nothing
worth to	"worth" and a gerund
(is|are) no good	what is wrong with it
no matter of	"does not concern"
as of (rapt|kv|pool|arena|gemm|json)_[a-z_]*	"as for", or "like"
so, too[ ,.;]	"also", "as well"
has it by default	"does by default"
be it [^.]*	"whether ... or"
what there is of	the noun
'

list_files() {
    find "$@" -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.md' -o -name '*.mdoc' \) \
        ! -name '*.zh-CN.md' ! -path '*/corpus/*' ! -path docs/glossary.md ! -path tools/check_prose.sh 2>/dev/null
}

# Reads files and prints what `mode` asks for. Comments are joined over their lines, so that a phrase may be broken; of documents
# a paragraph is taken for a comment, without code.
read_prose() {
    LC_ALL=C awk -v mode="$mode" -v patterns="$patterns" '
    function add(line) { start[++lines] = length(text) + 1; at[lines] = FNR; text = text line " " }
    function place(position, i) { for (i = lines; i > 1 && start[i] > position; i--); return at[i] }
    function find(low, i, from, found, searched) {
        for (i = 1; i <= count; i++) {
            if (file ~ /md$/ && substr(one[i], 1, 4) == "[;:]") continue # a cell of a table may begin so
            from = 1
            searched = one[i] ~ /[A-Z]/ ? text : low
            while (match(substr(searched, from), one[i])) {
                found = substr(searched, from + RSTART - 1, RLENGTH)
                gsub(/^[^A-Za-z]+|[^A-Za-z]+$/, "", found)
                print file ":" place(from + RSTART) ": \"" substr(found, 1, 40) "\": " write[i]
                from += RSTART + RLENGTH - 1
                if (substr(one[i], 1, 1) == "^") break
            }
        }
    }
    function finish(low, n, word) {
        sub(/ +$/, "", text)
        if (text ~ /[a-z]/) {
            low = tolower(text)
            if (mode == "figures") {
                n = split(low, word, /[^a-z0-9_\047]+/)
                words += n
                opened += text ~ /^Of /
                same += text ~ /^The same /
                which += gsub(/(^|[^a-z])which($|[^a-z])/, " which ", low)
                that += gsub(/(^|[^a-z])(that|those) of($|[^a-z])/, " that of ", low)
                pointer += gsub(/(^|[^a-z])see [a-z_0-9\/]+[.][ch]($|[^a-z])/, " ", low)
            } else if (low ~ any || text ~ any) find(low)
        }
        text = ""; lines = 0
    }
    # The comments of a line of C. A string may hold what looks like the beginning of one.
    function read_c(line, p) {
        if (inside && line !~ /^ *[*]\//) sub(/^ *([*] +|[*]$)? */, "", line)
        if (inside && line == "") finish()
        while (line != "") {
            if (inside) {
                p = index(line, "*/")
                if (!p) { add(line); return }
                add(substr(line, 1, p - 1)); finish(); inside = 0
                line = substr(line, p + 2)
            } else {
                if (!match(line, /"([^"\\]|\\.)*"|\047[^\047]*\047|\/[*]|\/\//)) return
                p = substr(line, RSTART, 2)
                line = substr(line, RSTART + RLENGTH)
                if (p == "/*") { inside = 1; sub(/^[* ]+/, "", line) }
                if (p == "//") { add(line); finish(); return }
            }
        }
    }
    BEGIN {
        n = split(patterns, row, "\n")
        for (i = 1; i <= n; i++) if (split(row[i], field, "\t") == 2 && field[1] != "") {
            p = field[1]
            if (p !~ /^\(?\^|^\[/) p = "(^|[^a-z_])" p
            if (p ~ /[a-z]$/) p = p "($|[^a-z_])"
            one[++count] = p; write[count] = field[2]
            any = any (any == "" ? "" : "|") p
        }
    }
    FNR == 1 { finish(); file = FILENAME; inside = 0; code = 0 }
    FILENAME ~ /[.][ch]$/ { read_c($0); next }
    FILENAME ~ /[.](sh|py)$/ {
        if (/^ *#[^!]/ && !/^#!/) { sub(/^ *#+ ?/, ""); add($0) } else finish()
        next
    }
    /^ *```/ { code = !code; finish(); next }
    code { next }
    { gsub(/`[^`]*`/, "x"); gsub(/\]\([^)]*\)/, "]") }
    /^#/ { finish(); next }
    /^ *$|^[|]|^[.]/ { finish(); add($0); finish(); next }
    /^ *([*-]|[0-9]+[.]) / { finish() }
    { sub(/^ *([*>-]|[0-9]+[.])? */, ""); add($0) }
    END {
        finish()
        if (mode == "figures")
            printf "%-16s %7d words   that/those of %4d (%.1f)   which %4d (%.1f)   \"Of ...\" %3d   \"The same ...\" %3d   see x.h %3d\n",
                ENVIRON["folder"], words, that, 1000 * that / (words + !words), which, 1000 * which / (words + !words), opened, same, pointer
    }' "$@"
}

[ $# -gt 0 ] && [ $mode != check ] || set -- include/rapt src/* tests tools examples docs
case $mode in
figures)
    for folder; do
        export folder
        mapfile -t files < <(list_files "$folder" | sort)
        [ ${#files[@]} = 0 ] || read_prose "${files[@]}"
    done ;;
all) mapfile -t files < <(list_files "$@" | sort) && read_prose "${files[@]}" ;;
check)
    mapfile -t files < <(list_files "${swept[@]}" | sort)
    found=$([ ${#files[@]} = 0 ] || read_prose "${files[@]}")
    [ -z "$found" ] || { echo "$found"; exit 1; } ;;
esac
