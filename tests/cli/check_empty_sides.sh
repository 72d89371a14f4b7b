#!/usr/bin/env bash
# tests/cli/check_empty_sides.sh: pairs with an empty side are neither trained on nor part of a loss, are counted and said, and
# leave BLEU what sacreBLEU makes of all lines.
. "$(dirname "$0")/lib.sh"

for i in $(seq 40); do printf 'the line %s is here\tla ligne %s est ici\n' $i $i; done >full.tsv
{ head -20 full.tsv; printf 'nothing comes of this\t\n'; printf '\trien ne devient ceci\n'; printf 'only spaces \t \302\240 \n'; tail -20 full.tsv; } >holes.tsv
cat >tiny.yaml <<'YAML'
data: {pairs: full.tsv, validation_fraction: 0}
tokenizer: {type: words}
model: {layers: 1, d_model: 16}
train: {steps: 10, batch: 4, report_every: 5}
YAML
"$RAPT" train tiny.yaml --out full 2>full.err
"$RAPT" train tiny.yaml --out holes --set data.pairs=holes.tsv 2>holes.err
check 'they are counted' grep -q '^data: 40 pairs to train on, 0 for validation, 3 left out with an empty side;' holes.err
check 'without any, nothing is said' bash -c '! grep -q "empty side" full.err'
check 'the plan as JSON counts them' bash -c '"$0" info tiny.yaml --set data.pairs=holes.tsv --json | grep -q "\"empty\": 3"' "$RAPT"
# The words of a half pair are in the vocabulary, so the model of the file without them is another one; its data are the same.
"$RAPT" train tiny.yaml --out kept --quiet --init full --set data.pairs=full.tsv
"$RAPT" train tiny.yaml --out left --quiet --init full --set data.pairs=holes.tsv
tensors() { python3 -c "import struct, sys; b = open(sys.argv[1], 'rb').read(); sys.stdout.buffer.write(b[8 + struct.unpack('<Q', b[:8])[0]:])" "$1/model.safetensors"; }
check 'training is that on the other pairs' cmp <(tensors kept) <(tensors left)
"$RAPT" train tiny.yaml --out valid --set data.validation=holes.tsv --init full 2>valid.err
check 'in validation, too' grep -q '^data: 40 pairs to train on, 40 for validation, 3 left out with an empty side;' valid.err
printf 'a\t\n\tb\n' >none.tsv
refused 1 'no pair is left for training: 2 pairs, 0 dropped as too long, 2 with an empty side' 'nothing else' \
    "$RAPT" train tiny.yaml --quiet --out none --set data.pairs=none.tsv --init full
loss() { sed -E 's/.*"loss": ([0-9.]+).*/\1/'; }
check 'eval: the loss is that of the other pairs' diff <("$RAPT" eval full full.tsv --json | loss) \
    <("$RAPT" eval full holes.tsv --json 2>eval.err | loss)
check 'eval: it says so' grep -q 'holes.tsv: warning: 3 pairs have an empty side: no loss is computed of them' eval.err
bleu() { grep -oE '"bleu": [0-9.]+' | head -1; }
cut -f2 holes.tsv >references
cut -f1 holes.tsv | "$RAPT" translate full 2>/dev/null >translations
check 'eval: BLEU counts all lines, as rapt score does' diff <("$RAPT" eval full holes.tsv --json 2>/dev/null | bleu) \
    <("$RAPT" score translations references --json | sed -nE 's/.*"BLEU", "score": ([0-9.]+).*/"bleu": \1/p')
finish
