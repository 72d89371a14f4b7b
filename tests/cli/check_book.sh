#!/bin/bash
# tests/cli/check_book.sh: the chapters of docs/book and their programs: what a chapter quotes is what its program prints
# now; the programs end with 0, have the shapes that the texts have from which people learn this, and print tables that
# are tables; each chapter has its picture; and the printing that they share prints as PyTorch does.
# RAPT_BUILD names a build folder (default build).
# labels: not-sanitized not-emulated late
. "$(dirname "$0")/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
BOOK=$SOURCE/docs/book
LARGEST=60000 # bytes of a picture
ln -s "$SOURCE/data" data # programs of chapter 17 learn from its sentences

# The output that a chapter quotes: what comes after "$ build/examples/NAME" in a block.
quoted() { awk -v line="\$ build/examples/$2" '$0 == line { on = 1; next } /^```/ { on = 0 } on' "$1"; }

quotes_output() {
    quoted "$1" "$2" >quoted
    [ -s quoted ] || { echo "no block begins with \"\$ build/examples/$2\""; return 1; }
    diff quoted "$2.out"
}

# Names in the first row and the first column, numbers in the rest; not larger than a picture can show.
is_table() {
    awk -F'\t' '
        NR == 1 { columns = NF; next }
        NF != columns || $1 == "" { print "line " NR ": " $0; bad = 1; exit }
        { for (i = 2; i <= NF; i++) if ($i !~ /^-?([0-9.]+(e[-+][0-9]+)?|inf|nan)$/) { print "line " NR ": " $i; bad = 1; exit } }
        END { if (NR < 2 || NR > 65 || columns < 2 || columns > 65) { print NR " x " columns; bad = 1 }; exit bad }' "$1"
}

same_with_threads() { RAPT_THREADS=3 "$BUILD/examples/$1" | cmp - "$1.out"; }

# Ends with 2 and prints nothing but how it is called.
refuses_arguments() {
    "$BUILD/examples/$1" --tables >refused 2>usage
    [ $? = 2 ] && [ ! -s refused ] && grep -q "usage.*--table" usage
}

# The pictures of a chapter: CHAPTER.svg, or several that are called CHAPTER-NAME.svg. Each is shown and small.
pictures() { (cd "$BOOK" && ls "$1".svg "$1"-*.svg 2>/dev/null) | sed 's/\.svg$//'; }
has_pictures() {
    local name file
    [ "$(pictures "$1")" ] || { echo "there is none"; return 1; }
    for name in $(pictures "$1"); do
        file=$BOOK/$name.svg
        grep -Eq "!\[[^]]+\]\($name\.svg\)" "$BOOK/$1.md" || { echo "the chapter does not show $name.svg"; return 1; }
        [ -s "$file" ] && head -c 200 "$file" | grep -q '<svg' && tail -c 20 "$file" | grep -q '</svg>' &&
            [ "$(wc -c <"$file")" -lt $LARGEST ] || { echo "$name.svg is no small picture"; return 1; }
    done
}

# The colors of a picture in order, with the number of cells that have them: what is left when fonts differ.
colours() { sed -n 's/^<path fill="\(#[0-9a-f]*\)" d="\(.*\)"\/>$/\1 \2/p' "$1" | awk '{ print $1, gsub(/M/, "") }'; }

draws_the_same() {
    colours "$BOOK/$1.svg" >there
    colours "now/$1.svg" >now/colours
    [ -s there ] && diff there now/colours
}

check_pictures() {
    mkdir now
    if ! printf '1\t2\n' | "$BUILD/rapt" plot table - -o now/try.svg 2>/dev/null; then
        skip 'pictures of today: this build cannot draw'
        return
    fi
    check 'all pictures can be made' "$BOOK/make_pictures.sh" "$BUILD" now
    for file in "$BOOK"/[0-9][0-9]-*.svg; do
        check "$(basename "$file") shows the numbers of today" draws_the_same "$(basename "$file" .svg)"
    done
}

# A shape stands at the end of a line or of a word, as "[4, 16, 64]".
prints_shape() { grep -Fq ": $2" "$1.out"; }

# What the texts print for each step: a line for each program.
shapes() {
    cat <<'SHAPES'
01_embedding            [3]; [3, 3]; [2, 4]; [2, 4, 3]; [32, 50, 512]; [4, 16]; [100070, 64]; [4, 16, 64]
02_positions            [2, 10, 16]; [1, 100, 16]; [2, 5, 8]; [1, 5, 8]; [4, 10, 512]; [1, 10, 512]; [16, 20, 512]; [32]; [16, 1]; [16, 32]; [16, 64]; [1, 16, 64]; [4, 16, 64]; [32, 50, 512]
03_queries_keys_values  [2, 5, 16]; [4, 16, 64]; [64, 64]; [32, 50, 512]; [512, 512]
04_heads                [32, 50, 512]; [32, 50, 16, 32]; [32, 16, 50, 32]; [512, 50, 32]; [4, 4, 16, 16]; [2, 4, 5, 4]
05_scores               [32, 16, 50, 32]; [32, 16, 32, 50]; [32, 16, 50, 50]; [4, 4, 16, 16]; [2, 4, 5, 5]; [2, 4, 5, 16]; [2, 4, 16, 5]
06_softmax              [2, 1, 5]; [2, 1, 1, 5]; [32, 16, 50, 50]; [4, 4, 16, 16]; [2, 4, 5, 5]; [2, 2, 4]
07_weighted_sum         [32, 16, 50, 50]; [32, 16, 50, 32]; [4, 4, 16, 16]
08_concat_projection    [32, 16, 50, 32]; [32, 50, 512]; [4, 16, 64]; [2, 1, 5]; [2, 1, 1, 5]
09_ffn                  [2, 3, 8]; [32, 50, 512]; [32, 50, 2048]; [4, 16, 64]
10_add_norm             [2, 3, 4]; [4, 16, 64]
11_encoder              [2, 100, 24]; [2, 8, 100, 100]; [64, 10, 32]; [64, 4, 10, 10]
12_decoder              [2, 100, 24]; [64, 10, 32]; [64, 10, 201]; [64, 4, 10, 10]; [1, 10]; [64, 1, 201]
17_grouped_queries      [64, 64]; [32, 64]; [4, 16, 64]
13_sales_textbook       [4, 16]; [4, 16, 64]; [16, 64]; [4, 4, 16, 16]; [4, 16, 256]
SHAPES
}

# The phrases that chapter 0 explains, up to a "...", stand in what a chapter quotes.
phrases_are_printed() {
    local phrase
    awk '/^## /{ on = $0 == "## What the programs print" } on && /^[|] `/' "$BOOK/00-tokens.md" | cut -d'|' -f2 | grep -o '`[^`]*`' |
        sed 's/^`//; s/`$//; s/[.][.][.].*//' >phrases
    [ "$(wc -l <phrases)" -gt 20 ] || { echo 'they are few'; return 1; }
    while IFS= read -r phrase; do
        [ "$phrase" = '[FAILED]' ] || grep -Fq -- "$phrase" ./*.out || { echo "no program prints \"$phrase\""; return 1; }
    done <phrases
}

check_shapes() {
    local name list shape
    while read -r name list; do
        [ -s "$name.out" ] || { fail "$name: prints"; continue; }
        while read -r shape; do
            check "$name prints the shape $shape" prints_shape "$name" "$shape"
        done < <(sed 's/; */\n/g' <<<"$list")
    done < <(shapes)
}

check_chapter() {
    local chapter=$1 name=${1//-/_}
    check "$name runs" test -x "$BUILD/examples/$name"
    "$BUILD/examples/$name" >"$name.out" 2>"$name.err"
    check "$name: all checks hold" test $? = 0 -a ! -s "$name.err"
    check "$name: there are checks" grep -q '^\[ok\]' "$name.out"
    check "$chapter.md quotes what it prints" quotes_output "$BOOK/$chapter.md" "$name"
    check "$name: the same with three threads" same_with_threads "$name"
    "$BUILD/examples/$name" --table >"$name.table"
    check "$name --table prints a table" is_table "$name.table"
    check "$name refuses other arguments" refuses_arguments "$name"
    check "the pictures of $chapter are there and small" has_pictures "$chapter"
    check "the index has $chapter.md" grep -q "]($chapter\.md)" "$BOOK/README.md"
}

# ---- the shared printing against PyTorch's -------------------------------------------------------------------------
make_show_program() {
    cat >shown.c <<'C'
#include "show.h"

#include <math.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    rapt_real x[7 * 8], y[8] = {1, -2.5, 0.00004, 100, -0.5, 3, 1e-3f, (rapt_real)-INFINITY};
    for (int i = 0; i < 7 * 8; i++)
        x[i] = (rapt_real)(i * i % 17 - 8) / 8 * (i == 9 ? 10 : 1);
    rapt_tensor wide = {.data = x, .ndim = 2, .shape = {7, 8}}, deep = {.data = y, .ndim = 3, .shape = {2, 2, 2}};
    show_shape("x", &wide);
    show_corner("x", &wide);
    show_tensor("y", &deep);
    show_corner("y", &deep);
    show_table(2, 2, y, (const char *[]){"a", "b"}, NULL);
    show_frame(2, 2, y, (const char *[]){"één", "two"}, NULL);
    show_frame(1, 21, (rapt_real[21]){[9] = 1, [10] = 2, [11] = 3}, NULL, NULL);
    (void)argv;
    show_check("one argument at most", argc < 2);
    return show_end(NULL, NULL);
}
C
    ${CC:-cc} -std=c11 -I"$SOURCE/include" -I"$SOURCE/examples" shown.c "$SOURCE/examples/show.c" "$BUILD/librapt.a" \
        $(pkg-config --libs jansson yaml-0.1 libxxhash libpcre2-8 zlib) -lm -lpthread -o shown
}

# The tensors as torch 2.15 prints them, the first with a threshold of 1; the tables as pandas 3.1 does, of at most 20 columns.
shown_text() {
    cat <<'TEXT'
x: [7, 8]
x =
tensor([[-1.0000, -0.8750, -0.5000,  ...,  0.0000, -0.7500,  0.8750],
        [ 0.6250,  6.2500,  0.8750,  ...,  1.0000,  0.1250, -0.5000],
        [-0.8750, -1.0000, -0.8750,  ...,  1.0000,  0.0000, -0.7500],
        ...,
        [-0.5000, -0.8750, -1.0000,  ...,  0.1250,  1.0000,  0.0000],
        [-0.7500,  0.8750,  0.6250,  ..., -0.7500,  0.0000,  1.0000],
        [ 0.1250, -0.5000, -0.8750,  ..., -0.5000,  0.1250,  1.0000]])
y =
tensor([[[ 1.0000e+00, -2.5000e+00],
         [ 4.0000e-05,  1.0000e+02]],

        [[-5.0000e-01,  3.0000e+00],
         [ 1.0000e-03,        -inf]]])
y[0] =
tensor([[ 1.0000e+00, -2.5000e+00],
        [ 4.0000e-05,  1.0000e+02]])
TEXT
    printf '\t0\t1\na\t1\t-2.5\nb\t4e-05\t100\n'
    cat <<'TEXT'
           0      1
één  1.00000   -2.5
two  0.00004  100.0
    0    1    2    3    4    5    6    7    8    9   ...   11   12   13   14   15   16   17   18   19   20
0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  1.0  ...  3.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0

[1 rows x 21 columns]
TEXT
    printf '[ok]     one argument at most\n'
}

check_show() {
    if [ "$SANITIZED" ]; then
        skip 'compiling against a build with sanitizers'
        return
    fi
    check 'a program with show.c compiles' make_show_program
    shown_text >expected
    check 'it ends with 0 where all checks hold' sh -c './shown >shown.out'
    check 'and prints as PyTorch does' diff expected shown.out
    check 'it ends with 1 where a check fails, and says which' sh -c './shown more >shown.out; [ $? = 1 ] &&
        grep -q "^\[FAILED\] one argument at most" shown.out'
}

# The notebook's own text and vocabulary: what does not depend on chance is what the notebook prints.
check_textbook() {
    local data=${RAPT_SHARED:-$SOURCE/../shared}/data
    local text=$data/sales_textbook/sales_textbook.txt ranks=$data/tokenizers/cl100k_base.tiktoken
    if [ ! -s "$text" ] || [ ! -s "$ranks" ]; then
        skip 'the sales textbook is not here'
        return
    fi
    check 'the sales textbook: all checks hold' sh -c "'$BUILD/examples/13_sales_textbook' '$text' '$ranks' >textbook.out"
    check 'its tokens are the notebook'"'"'s' grep -Eq '^ *26072 +220 +16 +25 +17283 +23097 +403 +323 +17013 +1711$' textbook.out
    check 'thirty of them' grep -Eq '^ *23097 +403 +198 +31233 +39474 +374 +264 +16188 +10151 +304$' textbook.out
    check '77919 of them' grep -qx 'tokens: 77919, the largest is 100069' textbook.out
    check 'the vocabulary is the embedding' grep -qx 'embedding: \[100070, 64\]' textbook.out
    check 'whole tensors, and each step of the positions' sh -c 'for shape in "[16]" "[16, 1]" "[32]" "[16, 32]" "[1, 16, 64]"; do
        grep -Fq ": $shape" textbook.out || exit 1; done; grep -q "^masked\[0, 0\]:$" textbook.out'
    check 'and the output' grep -qx 'logits: \[4, 16, 100070\]' textbook.out
    "$BUILD/examples/13_sales_textbook" nowhere.txt "$ranks" >refused 2>cause
    check 'a text that is not there: 1, and one line says so' \
        test $? = 1 -a ! -s refused -a "$(cat cause)" = 'nowhere.txt: cannot be read'
    "$BUILD/examples/13_sales_textbook" "$text" >refused 2>cause
    check 'a text without ranks: 2, and how it is called' \
        test $? = 2 -a ! -s refused -a "$(sed 's/.* \(\[--\)/\1/' cause)" = '[--table] [TEXT RANKS]'
}

# What is timed is a table of names and positive numbers; how large they are is another machine's matter.
prints_times() {
    "$BUILD/examples/$1" --times >times || return 1
    awk -v rows="$2" 'NR > 1 && $(NF - (/%$/ ? 1 : 0)) > 0 { good++ } END { if (good != rows || NR != rows + 1) { print good " rows of " NR; exit 1 } }' times
}
check '17_rms_norm --times: two norms' prints_times 17_rms_norm 2
check '17_grouped_queries --times: four caches' prints_times 17_grouped_queries 4

# The map of weights that the tutorial on multi-head attention draws: 5 queries by 5 keys, each row a distribution.
rows_sum_to_1() {
    "$BUILD/examples/08_concat_projection" --table=weights >weights.table
    is_table weights.table && awk -F'\t' 'NR > 1 { s = 0; for (i = 2; i <= NF; i++) s += $i; if (NF != 6 || (s - 1) ^ 2 > 1e-10) exit bad = 1 }
        END { exit bad || NR != 6 }' weights.table
}
check '08_concat_projection --table=weights: rows that sum to 1' rows_sum_to_1

# Chinese pages have the blocks, links and pictures of the English ones: tools/check_chinese.sh compares them.
chapters() { (cd "$BOOK" && ls [0-9][0-9]-*.md) | sed '/[.]zh-CN[.]md$/d; s/[.]md$//'; }
for chapter in $(chapters); do
    check_chapter "$chapter"
done
check 'each program has its chapter' diff <(cd "$SOURCE/examples" && ls [0-9][0-9]_*.c | sed 's/\.c$//; s/_/-/g') \
    <(chapters)
check 'the phrases of chapter 0 are what programs print' phrases_are_printed
check_shapes
check_pictures
check_textbook
check_show
finish
