#!/bin/bash
# tests/cli/check_byte_pairs.sh: translation as papers train it: byte pairs of both languages, two files of lines, batches by
# tokens, BLEU at each report, patience, and the mean of the last checkpoints.
# labels: not-sanitized not-emulated
. "$(dirname "$0")/lib.sh"
make_pairs >all.tsv
sed -n '1~6!p' all.tsv | cut -f1 >train.en
sed -n '1~6!p' all.tsv | cut -f2 >train.fr
sed -n '1~6p' all.tsv >valid.tsv
cat >bpe.yaml <<'Y'
data:
  pairs: train.en:train.fr
  validation: valid.tsv
tokenizer:
  type: bpe
  vocab_size: 320
  shared: true
model:
  layers: 1
  d_model: 32
  ffn: 64
  attention_dropout: 0
  activation_dropout: 0.05
  tied: true
train:
  steps: 90
  batch_tokens: 300
  accumulate: 2
  lr: 0.01
  label_smoothing: 0
  schedule: constant
  warmup: 0
  report_every: 30
  checkpoint_every: 10
  keep: 4
  eval_bleu: true
Y
learn() { "$RAPT" train bpe.yaml --quiet --out "$@"; }
bleu_of() { tail -1 "$1/train.jsonl" | sed 's/.*"val_bleu": \([0-9.]*\).*/\1/'; } # at the last report

# ---- a run ---------------------------------------------------------------------------------------------------------
learn whole || { echo "cannot train"; exit 1; }
check 'a line at each report, with BLEU' test "$(grep -c '"val_loss".*"val_bleu"' whole/train.jsonl)" = 3
check 'one tokenizer' test "$(ls whole | grep -c tokenizer)" = 1
check 'what is held out are the valid pairs' cmp valid.tsv whole/validation.tsv
cut -f1 valid.tsv >valid.en
"$RAPT" translate whole valid.en >out.fr
check 'a line for each' test "$(wc -l <out.fr)" = "$(wc -l <valid.en)"
check 'no mark is shown' test -z "$(grep -E '<(unk|pad|bos|eos)>' out.fr)"
cut -f2 valid.tsv >valid.fr
bleu=$("$RAPT" score out.fr valid.fr --json --metric bleu | sed -n 's/.*"score": *\([0-9.]*\).*/\1/p')
check "the BLEU reported is that of the translations" awk -v a="$bleu" -v b="$(bleu_of whole)" \
    'BEGIN { exit !(a > 5 && a - b < 0.06 && b - a < 0.06) }'

# ---- capitals --------------------------------------------------------------------------------------------------------
small=(--max-steps 60 --set data.validation=loud.tsv)
tr a-z A-Z <valid.tsv >loud.tsv
learn small "${small[@]}" --set tokenizer.normalize=plain_lowercase
learn given "${small[@]}" --set tokenizer.type=file --set tokenizer.path=small/source.tokenizer.json
check 'small letters are compared with small letters' awk -v a="$(bleu_of small)" 'BEGIN { exit !(a > 5) }'
check 'also of a tokenizer that was there before' test "$(bleu_of given)" = "$(bleu_of small)"

# ---- the same bits ---------------------------------------------------------------------------------------------------
learn parts --max-steps 17 && learn parts --resume --max-steps 31 --threads 3 && learn parts --resume --threads 1
check 'stopped and resumed, with other threads' same_model whole parts
paste train.en train.fr >train.tsv
learn table --set data.pairs=train.tsv
check 'two files are the table of their lines' cmp whole/model.safetensors table/model.safetensors
"$RAPT" train whole/recipe.yaml --quiet --out again
check 'the recipe in the folder trains it again' same_model whole again
learn dropped --set model.activation_dropout=0.4
check 'dropout in feed-forward networks does something' test "$(listing whole)" != "$(listing dropped)"
learn tokenizer --set tokenizer.type=file --set tokenizer.path=whole/source.tokenizer.json
check 'its tokenizer from a file' same_parameters whole/model.safetensors tokenizer/model.safetensors
learn other --set data.limit=150 --set train.steps=1
check 'another tokenizer of as many entries' test "$("$RAPT" info whole --json | grep -o '"parameters[^,]*')" = \
    "$("$RAPT" info other --json | grep -o '"parameters[^,]*')"
refused 1 'tokenizer: .*another model or data' '--resume with another tokenizer' "$RAPT" train bpe.yaml --quiet --out tokenizer \
    --resume --set tokenizer.type=file --set tokenizer.path=other/source.tokenizer.json

# ---- what is told and kept of the data -------------------------------------------------------------------------------
printf 'I\tsee a bird.\n' >tab.en && printf 'je vois\tun oiseau.\n' >tab.fr
learn tabs --set data.validation=tab.en:tab.fr --set train.steps=1
check 'tabs of two files are spaces in validation.tsv' cmp <(printf 'I see a bird.\tje vois un oiseau.\n') tabs/validation.tsv
"$RAPT" train bpe.yaml --out short --set train.steps=1 --set data.max_len=14 --set data.too_long=drop 2>data.told
check 'what is left out as too long is told of both parts' awk 'BEGIN { FS = "[^0-9]+" } /^data: / {
    exit !($2 + $4 == 200 && $3 + $5 == 40 && $4 > 0 && $5 > 0) }' data.told
check 'and that there is one vocabulary' grep -q '; a vocabulary of 320$' data.told

# ---- patience ----------------------------------------------------------------------------------------------------------
still() { learn "$@" --set 'train.freeze=*.norm*' --set train.lr=9 --set train.steps=3000 --set train.report_every=10 --set train.patience=2; }
still tired
check 'and says why' grep -q '^early stopping: val_loss has not fallen for 2 reports (train.patience)' <("$RAPT" train bpe.yaml --out told --set 'train.freeze=*.norm*' --set train.lr=9 \
    --set train.steps=3000 --set train.report_every=10 --set train.patience=2 2>&1)
steps=$(tail -1 tired/train.jsonl | sed 's/.*"step": \([0-9]*\).*/\1/')
check 'it stops early' test "$steps" -lt 3000
check 'two reports after the best one' test "$(sed 's/.*"val_loss": \([0-9.e+]*\).*/\1/' tired/train.jsonl |
    awk 'NR == 1 || $1 < best { best = $1; at = NR } END { print NR - at }')" = 2
still halves --max-steps $((steps - 5)) && still halves --resume
check 'the same, stopped and resumed' same_model tired halves
still halves --resume
check 'and stays stopped' same_model tired halves
again() { "$RAPT" train bpe.yaml --out halves --resume --set 'train.freeze=*.norm*' --set train.lr=9 --set train.steps=3000 \
    --set train.report_every=10 --set train.patience="$1" 2>again.told; }
again 2
check 'and says so' grep -q "^this run ended after step $steps by early stopping (train.patience)" again.told
again 3
check 'with more patience it goes on' grep -Eq 'step [0-9]+/3000' again.told

# ---- the mean of checkpoints ---------------------------------------------------------------------------------------------
"$RAPT" average whole --last 3
check 'an averaged model translates' "$RAPT" translate whole/average valid.en
"$RAPT" average whole --last 1 -o one
check 'of one checkpoint: that one' cmp one/model.safetensors whole/model.safetensors
check 'of several: another' test "$(cmp -s whole/average/model.safetensors whole/model.safetensors; echo $?)" = 1
refused 1 'whole holds 4 checkpoints; 9 are' 'more than there are' "$RAPT" average whole --last 9 -o nine
check 'nothing is left of it' test ! -e nine
refused 1 'whole is the run itself' 'over the run itself' "$RAPT" average whole --out whole/../whole
"$RAPT" average whole -o all 2>.told
check 'a line says what was written' test "$(cat .told)" = 'wrote all: the average of the checkpoints of whole'
"$RAPT" average whole --last 4 -o four
check 'without --last: all that are kept' cmp all/model.safetensors four/model.safetensors
learn late --max-steps 85 && learn late --resume
check 'a stop leaves no checkpoint of its own behind' test "$(ls late/checkpoints)" = "$(ls whole/checkpoints)"
"$RAPT" average late -o mean
check 'the same mean, stopped and resumed' cmp all/model.safetensors mean/model.safetensors
refused 1 'other is the folder of a training run' 'a mean over another run' "$RAPT" average late -o other
refused 1 'none' 'no model' "$RAPT" average none
refused 2 'missing operand: MODEL' 'no argument' "$RAPT" average

# ---- what is refused ----------------------------------------------------------------------------------------------------
no() { refused 1 "$1" "$2" "$RAPT" train bpe.yaml --quiet --out new "${@:3}"; }
head -100 train.fr >short.fr
no 'train.en:short.fr: 200 and 100 lines' 'files that do not belong together' --set data.pairs=train.en:short.fr
no 'none.fr' 'a missing file' --set data.pairs=train.en:none.fr
no 'data.validation and data.validation_fraction are both set' 'held out twice' --set data.validation_fraction=0.1
no 'train.eval_bleu is true' 'BLEU of nothing' --set data.validation= --set data.validation_fraction=0
no 'train.patience is 3' 'patience with nothing' --set data.validation= --set data.validation_fraction=0 --set train.eval_bleu=false --set train.patience=3
no 'it needs tokenizer.path' 'no tokenizer file' --set tokenizer.type=file
no 'words, characters, bpe or file' 'a rank file' --set tokenizer.type=cl100k_base
printf 'some text of some words\n' >text && "$RAPT" tokenizer train text --type bpe --vocab-size 260 -o other.json 2>.err ||
    cat .err
no '<unk> <pad> <bos> <eos>' 'a tokenizer without marks' --set tokenizer.type=file --set tokenizer.path=other.json
finish
