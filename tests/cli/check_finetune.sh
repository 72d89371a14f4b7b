#!/bin/bash
# tests/cli/check_finetune.sh: `rapt train --init MODEL` continues from another model's parameters and tokenizers, and
# train.freeze leaves parameters as they were, to the bit.
. "$(dirname "$0")/lib.sh"
make_inputs
sed 's/dog/wolf/; s/chien/loup/' pairs.tsv | tac >other.tsv
train base --set train.steps=300 || { echo "cannot train the model to start from"; exit 1; }
untouched=$(listing base)
tune() { train "$@" --init base --set data.pairs=other.tsv --set train.steps=20; }
# first_loss FOLDER: the loss of the first report
first_loss() { head -1 "$1/train.jsonl" | sed 's/.*"loss": \([0-9.]*\).*/\1/'; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

tune tuned
train scratch --set data.pairs=other.tsv --set train.steps=20
check 'it starts from what the model knows' less "$(first_loss tuned)" "$(first_loss scratch)"
check 'source words stay as they were' cmp base/source.tokenizer.json tuned/source.tokenizer.json
check 'target words stay as they were' cmp base/target.tokenizer.json tuned/target.tokenizer.json
check 'the result is a model' "$RAPT" translate tuned other.tsv --quiet
check 'the model it came from is untouched' test "$untouched" = "$(listing base)"
tune again --threads 3
check 'the same bits again' same_model tuned again
tune parts --max-steps 9
refused 1 'parts: .*a run that began with --init is resumed with it' '--resume without --init' \
    "$RAPT" train tiny.yaml --quiet --out parts --set data.pairs=other.tsv --set train.steps=20 --resume
tune parts --resume
check 'stopped and resumed' same_model tuned parts
"$RAPT" train tiny.yaml --out still --init base --quiet --set 'train.freeze=*' 2>.err
check 'all frozen: nothing to train is an error' test "$?" = 1 -a "$(wc -l <.err)" = 1
check 'and there were tensors to compare' test "$(tensor_names base | wc -l)" -gt 40

# kept FOLDER PATTERN: tensors that match equal base's; all others have moved.
kept() {
    local name same
    for name in $(tensor_names base); do
        [[ $name != *.table ]] || continue
        same=no
        cmp -s <(tensor base/model.safetensors "$name") <(tensor "$1/model.safetensors" "$name") && same=yes
        if [[ $name =~ ^($2)$ ]]; then
            [ $same = yes ] || { echo "$name has moved"; return 1; }
        else
            [ $same = no ] || { echo "$name has not moved"; return 1; }
        fi
    done
}
tune frozen-encoder --set 'train.freeze=encoder.*'
check 'frozen: encoder.*' kept frozen-encoder 'encoder\..*'
tune frozen-two --set 'train.freeze=*.embedding.weight,decoder.?.ffn.*'
check 'frozen: *.embedding.weight,decoder.?.ffn.*' kept frozen-two '.*\.embedding\.weight|decoder\.0\.ffn\..*'
tune frozen-parts --set 'train.freeze=encoder.*' --max-steps 7 && tune frozen-parts --set 'train.freeze=encoder.*' --resume
check 'frozen, stopped and resumed' same_model frozen-encoder frozen-parts
for steps in 1 9; do
    train born-$steps --set 'train.freeze=decoder.output.*' --set train.steps=$steps
    for part in output.weight output.bias embedding.weight; do
        tensor born-$steps/model.safetensors decoder.$part >born-$steps.$part
    done
done
check 'frozen without --init: at its starting values, weight' cmp born-1.output.weight born-9.output.weight
check 'frozen without --init: at its starting values, bias' cmp born-1.output.bias born-9.output.bias
check 'frozen without --init: the rest learns' test "$(cksum <born-1.embedding.weight)" != "$(cksum <born-9.embedding.weight)"

train speaks --set train.steps=2 --set tokenizer.detokenize=fr --set tokenizer.capitalize=true
train tuned-speaks --init speaks --set train.steps=2
check 'how its translations are written is the model'"'"'s' diff <(grep -E 'detokenize|capitalize' speaks/config.json) \
    <(grep -E 'detokenize|capitalize' tuned-speaks/config.json)
check 'and there was something to keep' grep -q '"detokenize": "fr"' tuned-speaks/config.json

later=(--set model.positions=learned --set model.norm_kind=rms --set model.ffn_kind=swiglu --set model.kv_heads=1)
train later "${later[@]}"
tune_later() { train "$@" --init later --set data.pairs=other.tsv --set train.steps=20; }
tune_later tuned-later
shape() { grep -E '"(positions|norm_kind|ffn_kind|kv_heads|norm_eps|rotary_base)"' "$1/config.json"; }
check 'a model with what came later keeps its shape' cmp <(shape later) <(shape tuned-later)
check 'and it has one' grep -q '"positions": "learned"' tuned-later/config.json
check 'its recipe says so' grep -Eq '^  positions: learned' tuned-later/recipe.yaml
tune_later again-later "${later[@]}"
check 'the same keys given: the same bits' same_model tuned-later again-later
tune_later parts-later --max-steps 9 && tune_later parts-later --resume
check 'of what came later: stopped and resumed' same_model tuned-later parts-later
refused 1 'model.positions is rotary; the model in later has learned' 'other positions than it has' \
    "$RAPT" train tiny.yaml --quiet --out out --init later --set model.positions=rotary
refused 1 'model.ffn_kind is gelu; the model in base has relu' 'another activation than it has' \
    "$RAPT" train tiny.yaml --quiet --out out --init base --set model.ffn_kind=gelu

make_text >text.txt
printf 'task: language_model\ndata:\n  text: text.txt\nmodel:\n  context: 8\ntrain:\n  batch: 2\n  steps: 3\n' >hub.yaml
"$RAPT" train hub.yaml --quiet --init "$SOURCE/tests/golden/hub/gpt2" --out hub
"$RAPT" train hub.yaml --quiet --init "$SOURCE/tests/golden/hub/gpt2" --out hub-parts --max-steps 2
# What transformers' TrainingArguments have (5e-5, no decay, no warmup), and the dropout of config.json: resid_pdrop and so on.
defaults() { grep -E '^  (dropout|attention_dropout|lr|weight_decay|warmup): ' "$1/recipe.yaml" | sed 's/.*: //' | xargs; }
check 'defaults of a GPT-2: its dropout, a low rate' diff <(echo 0.1 0.1 5e-05 0 0) <(defaults hub)
"$RAPT" train hub.yaml --quiet --init "$SOURCE/tests/golden/hub/qwen2" --out hub-qwen2
check 'defaults of a Qwen 2: no dropout' diff <(echo 0 0 5e-05 0 0) <(defaults hub-qwen2)
"$RAPT" train hub.yaml --quiet --init "$SOURCE/tests/golden/hub/qwen2" --out hub-lora --set train.lora.rank=2
check 'defaults of adapters: four times the rate' diff <(echo 0 0 0.0002 0 0) <(defaults hub-lora)
"$RAPT" train hub.yaml --quiet --init "$SOURCE/tests/golden/hub/qwen2" --out hub-given --set model.dropout=0.3 --set train.lr=0.002 \
    --set train.weight_decay=0.1 --set train.warmup=2
check 'what is given counts' diff <(echo 0.3 -1 0.002 0.1 2) <(defaults hub-given)
"$RAPT" train tiny.yaml --quiet --out with-dropout --set model.dropout=0.25 --set train.steps=2
printf 'data:\n  pairs: pairs.tsv\ntrain:\n  steps: 2\n' >least.yaml
"$RAPT" train least.yaml --quiet --init with-dropout --out tuned-dropout
check 'defaults of a model of rapt: the dropout that it was trained with' diff <(echo 0.25 -1 0.0002 0 0) <(defaults tuned-dropout)
"$RAPT" train --quiet --out hub-parts --resume
check 'of a language model of Hugging Face: stopped and resumed by its folder alone' cmp hub/model.safetensors hub-parts/model.safetensors

printf 'zut zut\tzut alors\nzut\tzut\nzut\tzut\n' >strange.tsv
check 'pairs of unknown words only' train strange --init base --set data.pairs=strange.tsv --set train.steps=2 --set data.validation_fraction=0
no() { refused 1 "$1" "$2" "$RAPT" train tiny.yaml --quiet --out out "${@:3}"; }
no 'none' 'a model that is not there' --init none
no 'train.freeze: no parameter.*"encodr' 'a pattern that fits nothing' --init base --set 'train.freeze=encodr.*'
no 'model.max_positions is 100; the model in base has 40' 'more positions than it has' --init base --set data.max_len=80 --set model.max_positions=100
cp -r base misfit && cp base/target.tokenizer.json misfit/source.tokenizer.json
no 'misfit/source.tokenizer.json: .*tokens' 'a tokenizer of another size' --init misfit
check 'nothing was written' test ! -e out
finish
