#!/bin/bash
# tests/cli/check_plot_input.sh: `rapt plot` with what it cannot draw: one line says why, with status 1 (2: wrong usage), and
# nothing is written. What it can draw is in check_plot.sh.
# labels: not-emulated
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
train pairs --set model.layers=2 --set train.steps=2 || { echo "cannot train the translation model"; exit 1; }
for kind in characters bpe; do
    make_text_recipe $kind >$kind.yaml
    "$RAPT" train $kind.yaml --quiet --out $kind --set train.steps=2 || { echo "cannot train $kind"; exit 1; }
done
before=$(listing pairs)
printf '\ta\nr\t1\n' >table.tsv
printf '1\t-2.5\n0.25\tnan\n' >bare.tsv

# ---- places that can't be written, endings, ranges -----------------------------------------------------------------
"$RAPT" plot table bare.tsv -o probe.png 2>.err
if grep -q 'cannot draw' .err; then
    skip 'places and endings (rapt was built without pango and cairo)'
else
    mkdir folder.png
    bad() { refused 1 "$1" "$2" "$RAPT" plot table bare.tsv -o "$3"; }
    bad 'nowhere' 'a folder that is not there' nowhere/a.png
    bad 'folder.png' 'a folder in its place' folder.png
    bad '/proc/a.svg' 'a place that takes no files' /proc/a.svg
    bad '\.png.*\.svg' 'another ending' a.pdf
    bad '\.png.*\.svg' 'no ending' picture
    check 'bad places: nothing is left' test ! -e nowhere -a ! -e a.pdf -a ! -e picture -a -z "$(ls folder.png)"
    cp table.tsv old.png
    refused 1 'table.tsv:1' 'a bad table over an old picture' "$RAPT" plot table table.tsv -o old.png
    check 'the old file stays' cmp table.tsv old.png
    refused 1 'low' '--low above all numbers' "$RAPT" plot table bare.tsv -o x.png --low 5
    refused 1 'high' '--high below all numbers' "$RAPT" plot table bare.tsv -o x.png --high -5
fi

# ---- what is refused -----------------------------------------------------------------------------------------------
attention_refused() { refused 1 "$1" "attention: $2" "$RAPT" plot attention "${@:3}" -o x.png; }
attention_refused 'the text is empty' 'empty text' pairs ''
attention_refused 'the text is empty' 'nothing but spaces' pairs '  '
attention_refused 'the text is empty' 'empty text, language model' characters ''
attention_refused 'the text has 13 tokens with <eos>; the model takes 12' 'text too long' \
    pairs "$(printf 'the %.0s' {1..12})"
attention_refused 'the text has 13 tokens; the model.s context is 12' 'text longer than the context' characters 'the the the t'
attention_refused 'the target has 41 tokens with <bos>; the model has 40' 'target too long' \
    pairs the --target "$(printf 'un %.0s' {1..40})"
attention_refused 'the target is empty' 'empty target' pairs the --target ''
attention_refused 'the text: .*not know "elephant"' 'unknown word' pairs 'I see the elephant.' --strict
attention_refused 'the target: .*not know "Mars"' 'unknown word of the target' pairs 'I see.' --target 'je vois Mars' --strict
"$RAPT" plot attention pairs 'I see the elephant.' --target 'je vois Mars' --data >unknown.txt 2>unknown.err
check 'attention: unknown words are shown as the model reads them' grep -q '<unk>' unknown.txt
check 'and named' test "$(cat unknown.err)" = \
    "$(printf 'rapt: the %s: warning: the model does not know "%s", and reads <unk> (--strict refuses)\n' text elephant target Mars)"
attention_refused 'the text: byte 4: .*U\+0021' 'unknown character' characters 'the!'
attention_refused 'the text: byte 2.*UTF-8' 'no UTF-8' pairs $'a\xff'
attention_refused '--block 2: pairs has 2 blocks' 'no such block' pairs the --block 2
attention_refused '--block 1: characters has 1 block with' 'no such block, language model' characters the --block 1
attention_refused '--head 9: pairs has 2 heads' 'no such head' pairs the --head 9
attention_refused 'language model.*causal' 'no such kind' characters the --kind cross
attention_refused 'language model.*--target' 'a target for a language model' characters the --target the
attention_refused 'nowhere' 'no such model' nowhere the
refused 1 '--length 13: characters has 12' 'positions: more than the model has' \
    "$RAPT" plot positions characters --length 13 -o x.png
refused 1 '--dims 32: there are 32' 'positions: no such dimension' "$RAPT" plot positions --dims 32 -o x.png
refused 1 'rotary' 'positions: an odd number of rotary features' "$RAPT" plot positions --kind rotary --d-model 7 -o x.png
refused 1 'nowhere' 'positions: no such model' "$RAPT" plot similarity nowhere -o x.png
embedding_refused() { refused 1 "$1" "embedding: $2" "$RAPT" plot embedding "${@:3}" -o x.png; }
embedding_refused 'pairs: not one token of the vocabulary: "elephant", "the dog", ""' 'words that are no tokens' \
    pairs the elephant 'the dog' ''
embedding_refused 'bpe: not one token of the vocabulary: ""' 'an empty word, where a space is a token' bpe s ''
embedding_refused '"日日"' 'two characters' characters a 日日
embedding_refused '"zebra"' 'several byte pairs' bpe t zebra
embedding_refused 'language model' '--target with a language model' characters a b --target
embedding_refused '"x1", "x2", .*\.\.\.$' 'a long list of words' pairs x{1..200}
training_refused() { refused 1 "$1" "training: $2" "$RAPT" plot training "${@:3}" -o x.png; }
training_refused 'nowhere' 'no such file' nowhere
mkdir bare
training_refused 'bare/train.jsonl' 'a folder without a log' bare
printf '{"step": 1, "loss": 2}\n{"step": 2, "loss"' >cut.jsonl
training_refused 'cut.jsonl:2: ' 'a line that is cut off' cut.jsonl
printf '{"step": 1, "loss": 2}\n\n' >blank.jsonl
training_refused 'blank.jsonl:2: ' 'an empty line' blank.jsonl
printf '{"step": 1, "loss": 2}\n{"loss": 2}\n' >stepless.jsonl
training_refused 'stepless.jsonl:2: .*"step"' 'a line without a step' stepless.jsonl
printf '[1]\n' >list.jsonl
training_refused 'list.jsonl:1: .*"step"' 'a line that is no object' list.jsonl
printf '{"step": 1, "loss": "low"}\n' >word.jsonl
training_refused 'word.jsonl:1: "loss" is not a number' 'a word for a number' word.jsonl
: >empty
training_refused 'empty: the file is empty' 'an empty file' empty
training_refused 'no line has "vol_loss"; did you mean "val_loss"' 'a field that is not there' pairs --field vol_loss
training_refused 'nowhere' 'the second one' pairs nowhere
table_refused() { printf -- "$1" >bad.tsv; refused 1 "$2" "table: $3" "$RAPT" plot table bad.tsv "${@:4}" -o x.png; }
table_refused '' 'bad.tsv: no number' 'an empty file'
table_refused '1\t2\n3\n' 'bad.tsv:2: 1 column, line 1 has 2' 'a short line'
table_refused '1\t2\n\n' 'bad.tsv:2: ' 'an empty line'
table_refused '1\t2\n3\tx\n' 'bad.tsv:2: column 2: "x" is not a number' 'a word'
table_refused '1\t\n' 'bad.tsv:1: column 2: "" is not a number' 'an empty cell'
table_refused '1\t2 3\n' 'bad.tsv:1: column 2' 'two numbers in a cell'
table_refused '1\t1e60\n' 'bad.tsv:1: column 2: 1e60 is too large' 'too large a number'
table_refused '1\t\xff\n' 'bad.tsv:1: .*UTF-8' 'bytes that are no text'
table_refused '\ta\tb\n' 'bad.tsv: no number beside the names' 'names only' --names
table_refused 'x\na\n' 'bad.tsv: no number beside the names' 'row names only' --names
table_refused '\ta\nr\t1\t2\n' 'bad.tsv:2: 3 columns, line 1 has 2' 'a name too few' --names
refused 1 'nowhere' 'table: no such file' "$RAPT" plot table nowhere -o x.png
check 'refused: no picture was written' test ! -e x.png
check 'refused: no temporary file' test -z "$(find . -name '*.tmp*')"
check 'nobody wrote to the models' test "$(listing pairs)" = "$before"

usage() { refused 2 "$1" "usage: rapt plot ${*:2}" "$RAPT" plot "${@:2}"; }
for part in attention positions similarity embedding training table; do
    check "usage: rapt plot $part: options come after it" test "$("$RAPT" plot $part --help | head -1 | cut -d' ' -f1-5)" = \
        "Usage: rapt plot $part [OPTION...]"
    "$RAPT" plot $part --frob 2>.err
    check "usage: rapt plot $part: points to its own help" grep -q "(see .rapt plot $part --help.)$" .err
done
usage 'attention.*table' frob
usage 'attention.*table'
usage '-o FILE' positions
usage 'not both' positions -o x.png --data
usage 'missing operand: MODEL and TEXT' attention pairs -o x.png
usage 'quote' attention pairs a b -o x.png
usage 'kind.*self, cross, causal' attention pairs a --kind all -o x.png
usage 'block' attention pairs a --block -1 -o x.png
usage 'encoder' attention pairs a --kind self --target a -o x.png
usage 'the output path is empty' positions -o ''
usage 'first .*attention.*table' -o x.png positions
usage 'length' positions --length 0 -o x.png
usage 'dims' positions --dims 1,,2 -o x.png
usage 'd-model' positions characters --d-model 4 -o x.png
usage 'kind' positions --kind learned -o x.png
usage 'curves' positions --curves --low 1 -o x.png
usage 'words' embedding pairs moon -o x.png
usage 'MODEL and WORDs' embedding -o x.png
usage 'FOLDER or FILE' training -o x.png
usage 'field tokens_per_s: a third quantity.*two vertical axes' training pairs --field lr --field loss --field val_loss \
    --field tokens_per_s -o x.png
usage "scale: 'log' is none of fixed, all, row" attention pairs a --scale log -o x.png
usage 'scale, or --low and --high' attention pairs a --scale row --high 1 -o x.png
usage 'operand: FILE' table -o x.png
usage 'one file' table a b -o x.png
usage 'low 2 is not below --high 1' table bare.tsv --low 2 --high 1 -o x.png
usage 'low' table bare.tsv --low x -o x.png
finish
