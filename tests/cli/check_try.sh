#!/bin/bash
# tests/cli/check_try.sh: what the chapters of docs/book suggest under "Try", tried: programs with the change that a suggestion
# names, compiled anew, and commands. Every suggestion of a chapter has its place here; check_book.sh tests the programs as
# they are. RAPT_BUILD names a build folder (default build).
# labels: not-sanitized not-emulated late
. "$(dirname "$0")/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
BOOK=$SOURCE/docs/book
MODELS=$WORK/models
ln -s "$SOURCE/data" data # programs of chapter 17 learn from its sentences
tried=

if [ "$SANITIZED" ]; then
    skip 'compiling against a build with sanitizers'
    finish
fi

# page CHAPTER: its English page, by the number, or by the name where a number has several.
page() { find "$BOOK" \( -name "$1-*.md" -o -name "$1.md" \) -not -name '*.zh-CN.md'; }
# suggestion CHAPTER N WORDS: the Nth suggestion of the chapter is the one with these words, and counts as tried.
suggestions() { awk '/^## /{ on = $0 == "## Try" } on && /^- /{ if (n++) print ""; } on && n { printf "%s ", $0 } END { print "" }' "$1"; }
suggestion() {
    name="$1.$2 $3"
    tried+=" $1"
    check "$name: the chapter suggests it" sh -c 'printf %s "$1" | grep -Fq -- "$2"' - \
        "$(suggestions "$(page "$1")" | sed -n "$2p" | tr -s ' ')" "$3"
}

# change PROGRAM SED...: the program with these changes (to it, input.c, learn.c or show.c), compiled, and what it prints, in `out`.
change() {
    local program=$1 expression changed=
    shift
    rm -rf code && mkdir code && cp "$SOURCE/examples/$program.c" "$SOURCE"/examples/{show,input,learn}.[ch] code/ || return 1
    for expression; do
        sed -E -z -i.before "$expression" code/*.c
        for file in code/*.c; do cmp -s "$file" "$file.before" || changed=yes; done
        [ "$changed" ] || { fail "$name" "nothing is changed by $expression"; return 1; }
        changed=
    done
    compile "code/$program.c" "$(shared code/show)" "$(shared code/input)" "$(shared code/learn)" && RAPT_THREADS=1 timeout 120 ./program >out 2>&1
    status=$?
}
# What programs share was compiled once; where it is changed, its source.
shared() { if cmp -s "$1.c" "$SOURCE/examples/${1##*/}.c"; then echo "${1##*/}.o"; else echo "$1.c"; fi; }
FLAGS=(-std=c11 -O0 -I"$SOURCE/include" -I"$SOURCE/examples") # compiling takes longer than running
LIBRARIES=$(pkg-config --libs jansson yaml-0.1 libxxhash libpcre2-8 zlib)
compile() {
    # shellcheck disable=SC2086 # a word a library
    ${CC:-cc} "${FLAGS[@]}" "$@" "$BUILD/librapt.a" $LIBRARIES -lm -lpthread -o program 2>cause ||
        { fail "$name: compiles" "$(head -c 600 cause)"; return 1; }
}
for name in show input learn; do
    ${CC:-cc} "${FLAGS[@]}" -c "$SOURCE/examples/$name.c" -o $name.o || fail "$name.c compiles"
done
# Compiles a program from stdin, and runs it.
program() { cat >own.c && compile own.c show.o input.o && RAPT_THREADS=1 timeout 120 ./program >out 2>&1; status=$?; }

holds() { check "$name: all checks hold" sh -c '[ "$1" = 0 ] && ! grep -q FAILED out && grep -q "^\[ok\]" out' - "$status"; }
fails() { check "$name: fails \"$1\"" grep -Fq "[FAILED] $1" out; }
says() { check "$name: prints $1" grep -Eq -- "$1" out; }
table() { ./program --table ${1:+"$1"} >table; }
# is CONDITION: an expression of awk over the numbers of a table: x[row, column] from 1, R rows, C columns.
is() {
    check "$name: $1" awk -F'\t' "NR > 1 { R++; C = NF - 1; for (i = 2; i <= NF; i++) x[R, i - 1] = \$i + 0 } END { $2 }" table
}

# ---- models to look at ----------------------------------------------------------------------------------------------
mkdir "$MODELS"
(cd "$MODELS" && make_inputs && "$RAPT" train tiny.yaml --quiet --out translation && make_text >text.txt &&
    make_text_recipe bpe >text.yaml && "$RAPT" train text.yaml --quiet --out language) || fail 'models to try with'
TRANSLATION=$MODELS/translation LANGUAGE=$MODELS/language
drawable() { "$RAPT" plot positions -o drawn.svg >/dev/null 2>&1; }
draws() {
    if ! drawable; then skip "$name: this build cannot draw"; return; fi
    rm -f drawn.svg
    check "$name: draws" sh -c '"$@" -o drawn.svg && grep -q "<svg" drawn.svg' - "$RAPT" plot "$@"
}

. "$SOURCE/tests/cli/try_parts.sh"
. "$SOURCE/tests/cli/try_models.sh"

for file in "$BOOK"/[0-9][0-9]-*.py; do
    chapter=$(basename "$file" .py)
    case $chapter in 17-*) ;; *) chapter=${chapter%%-*} ;; esac
    count=$(suggestions "$(page "$chapter")" | grep -c '^- ')
    check "$chapter: its $count suggestions are tried" test "$(tr ' ' '\n' <<<"$tried" | grep -cx "$chapter")" = "$count"
done
finish
