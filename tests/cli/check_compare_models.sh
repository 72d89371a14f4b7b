#!/bin/bash
# tests/cli/check_compare_models.sh: which models rapt eval --compare takes: those that give the same ids for the file, also where
# their tokenizers are of other kinds, and that see as much. What is printed is in check_compare.sh.
. "$(dirname "$0")/lib.sh"

make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
make_text_recipe bpe >bpe.yaml
small='--set model.norm_place=pre --set model.scale_embedding=false --set model.tied=true --set model.output_bias=false
    --set model.ffn_kind=gelu_tanh'
# shellcheck disable=SC2086
lm() { "$RAPT" train "$1" --quiet --out "$2" --max-steps 20 $small "${@:3}" >train.log 2>&1 || cat train.log; }
change() { sed -E 's/.*"largest_logit_change": ([-+0-9.e]+).*/\1/'; }
below() { awk -v x="$1" -v y="$2" 'BEGIN { exit !(x != "" && x < y) }'; }

# A model and its GGUF file; its Hugging Face folder, whose tokenizer is of another kind.
lm lm.yaml chars && lm bpe.yaml pairs
"$RAPT" convert pairs --to gguf -o pairs.gguf
"$RAPT" eval pairs.gguf text.txt --json --compare=pairs >got
check 'a GGUF file and its folder' below "$(change <got)" 1e-3
"$RAPT" eval pairs text.txt --json --compare=pairs.gguf >got
check 'and the other way round' below "$(change <got)" 1e-3
"$RAPT" convert chars --to hf -o chars.hf
check 'hashes of tokenizers differ' test "$("$RAPT" tokenizer info chars | grep hash)" != "$("$RAPT" tokenizer info chars.hf | grep hash)"
"$RAPT" eval chars text.txt --json --compare=chars.hf >got
check 'a Hugging Face folder and its model' below "$(change <got)" 1e-3
lm lm.yaml seed --seed 8
check 'another training with the same tokenizer' "$RAPT" eval chars text.txt --compare=seed

# Tokenizers of the same size, learned from other texts.
tac text.txt | tr aeiou eioua | sed 's/night/knight/g' >other.txt
sed 's/text.txt/other.txt/' bpe.yaml >other.yaml
lm other.yaml other
refused 1 '--compare: the tokenizers of other and pairs give different ids' 'another tokenizer' "$RAPT" eval pairs text.txt --compare=other
tr s z <text.txt | tr S Z >zoft.txt && sed 's/text.txt/zoft.txt/' lm.yaml >zoft.yaml
lm zoft.yaml zoft
refused 1 "--compare: the tokenizer of zoft: text.txt: byte" 'characters that it lacks' "$RAPT" eval chars text.txt --compare=zoft

# A smaller context.
lm lm.yaml short --set model.context=6
refused 1 '--compare: short sees 6 tokens, chars 12: --context 6 is for both' 'a smaller context' "$RAPT" eval chars text.txt --compare=short
check '--context makes them equal' "$RAPT" eval chars text.txt --compare=short --context 6
check 'a larger one is fine' "$RAPT" eval short text.txt --compare=chars

# Translators: sources, targets, and how long they are.
pair() { "$RAPT" train "$1" --quiet --out "$2" --max-steps 20 "${@:3}" >train.log 2>&1 || cat train.log; }
head -20 pairs.tsv >few.tsv
pair tiny.yaml pair && pair tiny.yaml seeded --seed 8
check 'another translator of the same pairs' "$RAPT" eval pair few.tsv --compare=seeded --loss-only
sed 's/house/castle/; s/train/aeroplane/' pairs.tsv >sources.tsv
sed 's/maison/arbre/; s/oiseau/zouave/' pairs.tsv >targets.tsv
for side in sources targets; do
    sed "s/pairs.tsv/$side.tsv/" tiny.yaml >$side.yaml
    pair $side.yaml $side
    refused 1 "--compare: the tokenizers of $side and pair give different ids" "other $side" "$RAPT" eval pair few.tsv --compare=$side
done
pair tiny.yaml low --set model.max_positions=12 && pair tiny.yaml long --set data.max_len=20
refused 1 '--compare: low takes sentences of 12 tokens, long of 20' 'shorter sentences' "$RAPT" eval long few.tsv --compare=low
finish
