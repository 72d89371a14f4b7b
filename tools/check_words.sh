#!/bin/bash
# tools/check_words.sh [PROGRAM]: documents use the words of docs/glossary.md. From the root of the sources:
#
#   1. no term of its table "Retired terms" in documents, recipes, headers, sources, examples and, with a program, its help
#      texts;
#   2. what its other tables name `in rapt` occurs in the sources.
#
# Prints each break with file and line. A term that goes over the end of a line is found, too. Not a check of spelling.
. "$(dirname "$0")/help.sh"
set -u
cd "$(dirname "$0")/.." || exit 2
program=${1:-}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
glossary=docs/glossary.md

# ---- the table: one "retired<tab>TERM<tab>WRITE" or "allowed<tab>PHRASE" a line ----------------------------------------
awk -F' *[|] *' '
    /^## / { table = $0 == "## Retired terms" }
    table && /^[|] `/ {
        count = split($2, terms, "`"); for (i = 2; i <= count; i += 2) print "retired\t" terms[i] "\t" $3
        count = split($4, terms, "`"); for (i = 2; i <= count; i += 2) print "allowed\t" terms[i]
    }' "$glossary" >"$scratch/terms"
[ -s "$scratch/terms" ] || { echo "$glossary: no retired terms"; exit 1; }

# ---- texts -------------------------------------------------------------------------------------------------------------
# The help of every command and of its subcommands, in the order in which `rapt --help` names them.
help_texts() {
    "$program" --help
    "$program" train --help-recipe
    for command in $("$program" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do "$program" "$command" --help; done
    for part in 'tokenizer train' 'tokenizer encode' 'tokenizer decode' 'tokenizer info' 'plot attention' 'plot positions' \
        'plot similarity' 'plot embedding' 'plot training' 'plot table' 'data check'; do
        "$program" $part --help # two words
    done
}
{
    find . -maxdepth 1 -name '*.md'
    find bench data docs examples src -name '*.md'
    find docs -name '*.mdoc'
    find recipes -name '*.yaml'
    find examples include src -name '*.[ch]'
} | sed 's|^\./||' | grep -vx "$glossary" | sort >"$scratch/files"
if [ -n "$program" ]; then
    help_texts >"$scratch/help"
    echo "$scratch/help" >>"$scratch/files"
fi

# The files of a list that may have a term, with anything between its words. It takes a tenth of the time that find_retired takes,
# and few files have one.
may_have_retired() {
    sed -n 's/^retired\t\([^\t]*\).*/\1/p' "$scratch/terms" | sed -E 's/[.]/[.]/g; s/[*]/[a-z]*/g
        s/ /[^a-z0-9_]+([a-z][a-z] +)?/g; s/.*/(^|[^a-z0-9_.])&($|[^a-z0-9_])/' >"$scratch/patterns"
    LC_ALL=C xargs -d '\n' grep -lzEif "$scratch/patterns"
}

# Two lines at a time, without what begins a line of a comment, a list or a manual page, so that a term may be broken.
find_retired() {
    LC_ALL=C awk -F'\t' -v terms="$scratch/terms" '
    function pattern_of(term) {
        gsub(/[.]/, "[.]", term)
        gsub(/[*]/, "[a-z]*", term)
        gsub(/ /, "[ -]+", term)
        return term
    }
    BEGIN {
        while ((getline line < terms) > 0) {
            split(line, field, "\t")
            if (field[1] == "allowed") { allowed[++allowances] = pattern_of(field[2]); continue }
            one[++count] = "^" pattern_of(field[2]) "$"
            write[count] = field[3]
            all = all (count > 1 ? "|" : "") pattern_of(field[2])
        }
        all = "(^|[^a-z0-9_.])(" all ")($|[^a-z0-9_])"
    }
    function instead(found,   i) {
        for (i = 1; i <= count; i++) if (found ~ one[i]) return write[i]
        return "?"
    }
    FNR == 1 { before = ""; quoted = 0 }
    FILENAME ~ /^docs\/results\// { # logs of runs, as they were printed then
        if (/^```/) { quoted = !quoted; before = ""; next }
        if (quoted) next
    }
    {
        line = tolower($0)
        sub(/^[ ]*([*#>-] |\/\*|[.][a-z][a-z] )?[ ]*/, "", line)
        text = before " " line
        for (i = 1; i <= allowances; i++) gsub(allowed[i], "~", text)
        place = 1
        while (match(substr(text, place), all)) {
            found = substr(text, place + RSTART - 1, RLENGTH)
            gsub(/^[^a-z]|[^a-z]$/, "", found)
            end = place + RSTART + RLENGTH - 2
            if (end > length(before) + 1) print FILENAME ":" FNR ": \"" found "\" is retired; write: " instead(found)
            place = end > place ? end : place + 1
        }
        before = line
    }' "$@"
}
mapfile -t files < <(may_have_retired <"$scratch/files")
find_retired "${files[@]}" </dev/null | sed "s|^$scratch/help:|$program --help:|" >"$scratch/bad"

# ---- names -------------------------------------------------------------------------------------------------------------
awk -F' *[|] *' '/^## Retired/ { exit } /^[|] [A-Za-z]/ && $4 != "in rapt" {
    count = split($4, names, "`"); for (i = 2; i <= count; i += 2) print names[i] }' "$glossary" | sort -u |
    while IFS= read -r name; do
        case $name in
        'rapt '*) set -- $name; file=src/cli wanted="\"${2}\"" ;;            # a command
        --*) file=src/cli wanted="\"${name#--}\"" ;;                         # an option
        'task: '*) file=src/recipe wanted=${name#task: } ;;
        *': '*) file=src/recipe wanted=${name%%: *} ;;                       # a key with a value
        *) file='include src' wanted=$name ;;
        esac
        grep -rqwF -- "$wanted" $file || echo "$glossary: the sources have no $name"
    done >>"$scratch/bad"

cat "$scratch/bad"
[ ! -s "$scratch/bad" ] || { echo "words: $(wc -l <"$scratch/bad") to mend"; exit 1; }
echo "words: $(grep -c '^retired' "$scratch/terms") retired terms, none in $(wc -l <"$scratch/files") files"
