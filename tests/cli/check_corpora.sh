#!/bin/bash
# tests/cli/check_corpora.sh: training on several corpora with weights. What is expected is training on one file in which the corpora
# are joined, or repeated as often as they weigh.
# labels: sanitized-late
. "$(dirname "$0")/lib.sh"
make_pairs >all.tsv
head -150 all.tsv >a.tsv
tail -n +151 all.tsv | cut -f1 >b.en
tail -n +151 all.tsv | cut -f2 >b.fr
paste b.en b.fr >b.tsv
cat a.tsv b.tsv >ab.tsv
cat a.tsv b.tsv a.tsv >aba.tsv

# A vocabulary of a file: learned ones would differ, as they are of the text.
make_recipe | sed 's/words/bpe/; s/validation_fraction: 0.1/validation_fraction: 0/' >first.yaml
"$RAPT" train first.yaml --out first --set data.pairs=ab.tsv --set tokenizer.vocab_size=300 --set tokenizer.shared=true \
    --max-steps 1 --quiet
cat >one.yaml <<'YAML'
task: translation
seed: 7
data: {pairs: ab.tsv, validation: b.tsv}
tokenizer: {type: file, path: first/source.tokenizer.json, shared: true}
model: {layers: 1, d_model: 16, heads: 2, ffn: 32}
train: {epochs: 3, batch: 16, report_every: 10, checkpoint_every: 7}
YAML
# with LIST: the recipe with another data.pairs.
with() { sed "s|pairs: ab.tsv|pairs: $1|" one.yaml; }
with '[a.tsv, b.en:b.fr]' >list.yaml
with '[{path: a.tsv, weight: 2}, {path: "b.en:b.fr"}]' >double.yaml
with '[{path: a.tsv, weight: 0.4}, {path: b.tsv, weight: 1.5}]' >parts.yaml

# The elements of a model, without the header, which names the run; and the reports.
elements() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1/model.safetensors" | tr -d ' '))) "$1/model.safetensors"; }
same_elements() { cmp <(elements "$1") <(elements "$2"); }
losses() { grep -o '"step": [0-9]*\|"[a-z_]*loss": [0-9.]*' "$1/train.jsonl"; }
same_training() { same_elements "$1" "$2" && diff <(losses "$1") <(losses "$2"); }
# trained RECIPE FOLDER OPTION...
trained() { "$RAPT" train "$1" --quiet --out "${@:2}" || fail "trains $*"; }

trained one.yaml one
trained list.yaml list
check 'a list of corpora is their files joined' same_training one list
trained one.yaml thrice --set data.pairs=aba.tsv
trained double.yaml double
check 'a corpus of weight 2 is there twice' same_training thrice double
for options in '--set train.batch_tokens=200' '--set data.bpe_dropout=0.1' '--set train.accumulate=2 --set train.shards=2'; do
    # shellcheck disable=SC2086
    { trained one.yaml joined --set data.pairs=aba.tsv $options; trained double.yaml weighed $options; }
    check "so it is with $options" same_training joined weighed
    rm -r joined weighed
done

trained parts.yaml parts
check 'train.jsonl says what a pass has of each' grep -q '"pass_pairs": \[60, 135\]' parts/train.jsonl
trained parts.yaml threads --threads 3
check 'fractions: the same with other threads' same_model parts threads
trained parts.yaml halves --max-steps 5 && trained parts.yaml halves --resume --max-steps 20 && trained parts.yaml halves --resume
check 'fractions: the same if it is stopped and resumed' same_model parts halves
trained parts.yaml whole --set train.batch_tokens=300
trained parts.yaml halves2 --set train.batch_tokens=300 --max-steps 9
trained parts.yaml halves2 --set train.batch_tokens=300 --resume
check 'and with batches by tokens' same_model whole halves2
refused 1 'belongs to another recipe: data.weights is "0.4,2", and "0.4,1.5" in its recipe.yaml' 'another weight is noticed' \
    "$RAPT" train parts.yaml --out parts --resume --quiet --set data.weights=0.4,2
mv b.tsv b2.tsv && head -80 b2.tsv >b.tsv
refused 1 'belongs to another model or data' 'so are other pairs' "$RAPT" train parts.yaml --out parts --resume --quiet
mv b2.tsv b.tsv

"$RAPT" info parts.yaml >info.txt
check 'rapt info has a line for each' grep -qx 'corpus        b.tsv: 90 pairs, weight 1.5: 135 in an epoch' info.txt
"$RAPT" info parts.yaml --json | tr -d ' \n' >info.json
check 'and JSON' grep -q '"corpora":\[{"path":"a.tsv","weight":0.4,"pairs":150,"pass":60},{' info.json
"$RAPT" train parts.yaml --out shown --max-steps 1 2>shown.txt
check 'and so does rapt train' grep -qx 'corpus: a.tsv: 150 pairs, weight 0.4: 60 in an epoch' shown.txt

# A folder that is moved with its data.
mkdir here && cp a.tsv b.tsv first/source.tokenizer.json here/
sed 's,first/,,' parts.yaml >here/parts.yaml
(cd here && trained parts.yaml model --max-steps 5)
mv here there
check 'a moved folder finds its corpora' "$RAPT" train --out there/model --resume --quiet
check 'and goes where it would have gone' same_elements parts there/model

refused 1 'parts.yaml: data.weights is 2, 1 weight; data.pairs names 2 corpora' 'too few weights' \
    "$RAPT" train parts.yaml --out no --set data.weights=2
: >empty.tsv
refused 1 'empty.tsv: the file is empty' 'a corpus without pairs' "$RAPT" train parts.yaml --out no --set data.pairs=$'a.tsv\nempty.tsv'
refused 1 'a.tsv: weight 0.001 of 150 pairs is less than one pair in a pass' 'a weight without a pair' \
    "$RAPT" train parts.yaml --out no --quiet --set data.weights=0.001,1
sed 5d a.tsv >bad.tsv
echo 'no tab' >>bad.tsv
refused 1 'bad.tsv:150: no tab between source and target' 'a fault is named in its own file' \
    "$RAPT" train parts.yaml --out no --quiet --set data.pairs=$'b.tsv\nbad.tsv'
check 'no folder is left' test ! -e no
finish
