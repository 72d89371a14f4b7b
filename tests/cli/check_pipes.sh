#!/bin/bash
# tests/cli/check_pipes.sh: sentence pairs that come through pipes: the same training as from files, two pipes without a deadlock,
# pipes that end early, and what a resumed run says.
# labels: sanitized-late
. "$(dirname "$0")/lib.sh"
make_inputs
cut -f1 pairs.tsv >pairs.en
cut -f2 pairs.tsv >pairs.fr
gzip -k pairs.tsv
# piped FOLDER OPTION...: a run in ten seconds at most, for what waits for a pipe that nobody writes to.
piped() { timeout 60 "$RAPT" train tiny.yaml --quiet --out "$@"; }
same_pairs() { # but for the path in recipe.yaml
    cmp "$1/model.safetensors" "$2/model.safetensors" && cmp "$1/validation.tsv" "$2/validation.tsv" &&
        diff <(timeless "$1/train.jsonl") <(timeless "$2/train.jsonl")
}
train whole
check 'from standard input' piped stdin --set data.pairs=- <pairs.tsv
check 'the same bytes' same_pairs whole stdin
check 'its recipe names it' grep -q '^  pairs: "-"$' stdin/recipe.yaml
cat pairs.tsv | piped dev --set data.pairs=/dev/stdin
check '/dev/stdin, a pipe' same_pairs whole dev
piped substituted --set data.pairs=<(zcat pairs.tsv.gz)
check 'process substitution' same_pairs whole substituted
piped packed --set data.pairs=<(cat pairs.tsv.gz)
check 'gzip in a pipe' same_pairs whole packed
piped both --set data.pairs=<(cat pairs.en):<(cat pairs.fr)
check 'two of them' same_pairs whole both
mkdir sub
sed 's/pairs: pairs.tsv/pairs: "-"/' tiny.yaml >sub/stdin.yaml
timeout 60 "$RAPT" train sub/stdin.yaml --quiet --out elsewhere <pairs.tsv
check 'a recipe in another folder may name standard input' same_pairs whole elsewhere

# One writer for two pipes: it opens the second first, and writes lines by turns, more than a pipe holds.
mkfifo en fr
for i in {1..60}; do cat pairs.tsv; done >many.tsv
awk -F '\t' 'BEGIN { while ((getline line <"many.tsv") > 0) { split(line, side, "\t"); print side[2] >"fr"; print side[1] >"en" } }' &
piped turns --set data.pairs=en:fr --max-steps 20
check 'written by turns' wait $!
train joined --set data.pairs=many.tsv --max-steps 20
check 'two pipes that are written by turns' same_pairs joined turns
(cat pairs.fr >fr; cat pairs.en >en) &
piped reversed --set data.pairs=en:fr
wait $!
check 'the target before the source' same_pairs whole reversed
mkfifo list
cat pairs.tsv >list &
piped listed --set data.pairs=$'pairs.tsv\nlist' --set data.weights=1,0.5 --max-steps 20
wait $!
train listed2 --set data.pairs=$'pairs.tsv\npairs.tsv' --set data.weights=1,0.5 --max-steps 20
check 'one of several corpora' same_pairs listed listed2
cat pairs.tsv >list &
piped filtered --set data.pairs=list --set data.filter.rules=all
wait $!
train filtered2 --set data.filter.rules=all
check 'filtered' same_pairs filtered filtered2
"$RAPT" train tiny.yaml --out shown --set data.pairs=- --set data.filter.rules=all --set data.weights=2 --max-steps 1 <pairs.tsv 2>shown.err
check 'what is left out of it, by its name' grep -q '^filter: standard input: ' shown.err
check 'how often an epoch has it, by its name' grep -q '^corpus: standard input: [0-9]* pairs, weight 2: ' shown.err
mkfifo valid
cat pairs.en >en & cat pairs.fr >fr & head -20 pairs.tsv >valid &
piped validated --set data.validation_fraction=0 --set data.pairs=en:fr --set data.validation=valid --max-steps 20
wait
head -20 pairs.tsv >valid.tsv
train validated2 --set data.validation_fraction=0 --set data.validation=valid.tsv --max-steps 20
check 'a validation set' same_pairs validated validated2

# Pipes that end early.
refused 1 'standard input: the file is empty' 'nothing comes' \
    "$RAPT" train tiny.yaml --quiet --out no --set data.pairs=-
refused 1 'standard input: the file is empty' 'nothing comes to a filter' \
    "$RAPT" train tiny.yaml --quiet --out no --set data.pairs=- --set data.filter.rules=all
refused 1 'standard input:1: no tab between source and target' 'one column' \
    bash -c "echo 'I see' | '$RAPT' train tiny.yaml --quiet --out no --set data.pairs=-"
(head -c 1000 pairs.tsv.gz >list) &
refused 1 'list: the gzip file is cut off' 'half of a gzip file' \
    "$RAPT" train tiny.yaml --quiet --out no --set data.pairs=list
wait
(head -100 pairs.en >en) & (cat pairs.fr >fr) &
refused 1 'en:fr: 100 and 240 lines; the files do not belong together' 'a source that ends early' \
    "$RAPT" train tiny.yaml --quiet --out no --set data.pairs=en:fr
wait
(head -20 pairs.tsv; printf 'I see the') >list &
refused 1 'list:[0-9]+: no tab between source and target' 'a line that ends early' \
    "$RAPT" train tiny.yaml --quiet --out no --set data.pairs=list
wait
refused 1 'standard input is named twice' 'one standard input for two' \
    "$RAPT" train tiny.yaml --quiet --out no --set data.pairs=$'-\n-'
check 'no folder is left' test ! -e no

# Resumed: the same bytes, or none.
cat pairs.tsv | piped halves --set data.pairs=/dev/stdin --max-steps 60
cat pairs.tsv | piped halves --set data.pairs=/dev/stdin --resume
check 'stopped and resumed with the same bytes' same_pairs whole halves
refused 1 'standard input: the file is empty; the data come through a pipe, which must give the same bytes as before' 'with none' \
    "$RAPT" train tiny.yaml --quiet --out stdin --resume --set data.pairs=-
head -100 pairs.tsv >list &
refused 1 'belongs to another model or data; the data come through a pipe, which must give the same bytes as before' 'with others' \
    "$RAPT" train tiny.yaml --quiet --out halves --resume --set data.pairs=list
wait
refused 1 'cannot read /dev/fd/[0-9]*: No such file or directory.*through a pipe.*give the same bytes' 'with a pipe that is gone' \
    "$RAPT" train --quiet --out substituted --resume
piped substituted --resume --set data.pairs=<(cat pairs.tsv)
check 'with another pipe or a file' same_pairs whole substituted
finish
