#!/bin/bash
# tests/cli/check_convert.sh: models for other programs. What is written is compared in tests/io/test_export.c.
. "$(dirname "$0")/lib.sh"

make_text >text.txt
make_text_recipe characters >lm.yaml
"$RAPT" train lm.yaml --out m --quiet --set model.norm_place=pre --set model.ffn_kind=gelu_tanh --set model.scale_embedding=false \
    --set model.tied=true --set model.output_bias=false >train.log 2>&1 || cat train.log
check 'a language model' "$RAPT" convert m --to hf -o out/hf
check 'its files' test "$(ls -A out/hf | tr '\n' ' ')" = 'config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json '
check 'nothing beside them' test "$(ls -A out)" = hf
check 'its class' sh -c "'$RAPT' info out/hf | grep -q GPT2LMHeadModel"
head -c 3 text.txt >prompt
"$RAPT" generate m --prompt-file prompt --greedy --max-tokens 20 >ours 2>/dev/null
"$RAPT" generate out/hf --prompt-file prompt --greedy --max-tokens 20 >theirs 2>/dev/null
check 'it generates the same text' sh -c 'test -s ours && cmp ours theirs'
check 'for CTranslate2' "$RAPT" convert m --to ctranslate2 -o ct2
check 'its files' test "$(ls -A ct2 | tr '\n' ' ')" = 'config.json model.bin tokenizer.json vocabulary.json '
cp -r out before
refused 1 'out/hf is there already' 'a folder that is there' "$RAPT" convert m --to hf -o out/hf
check 'it is left alone' diff -r before out
check 'a Hugging Face folder' "$RAPT" convert out/hf --to hf -o again
check 'all files are as they were' sh -c 'test "$(ls out/hf)" = "$(ls again)" && for f in out/hf/*.json; do cmp "$f" "again/${f##*/}" || exit 1; done'
"$RAPT" generate again --prompt-file prompt --greedy --max-tokens 20 >theirs 2>/dev/null
check 'it generates the same text again' cmp ours theirs
refused 1 'CTranslate2 has a converter of its own' 'a Hugging Face folder for CTranslate2' "$RAPT" convert out/hf --to ctranslate2 -o no

# Of other programs: the same names, shapes and numbers, of one file or several, and what they make of a text.
for model in gpt2 gpt_neox phi3 gemma3 qwen3; do
    from=$SOURCE/tests/golden/hub/$model
    check "$model" "$RAPT" convert "$from" --to hf -o "$model"
    "$RAPT" info "$from" --tensors | awk '$3 ~ /^\[/ { print $1, $3, $4 }' | sort >theirs
    "$RAPT" info "$model" --tensors | awk '$3 ~ /^\[/ { print $1, $3, $4 }' | sort >ours
    check "$model: the same tensors" sh -c 'test -s ours && cmp ours theirs'
    "$RAPT" explain "$from" 'a b' --only output --full >theirs
    "$RAPT" explain "$model" 'a b' --only output --full >ours
    check "$model: the same logits" sh -c 'test -s ours && cmp ours theirs'
done
refused 1 'cannot write .*File too large' 'no room' bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' - "$RAPT" convert m --to hf -o new/full
refused 1 'cannot make folder /proc/none' 'a folder that cannot be made' "$RAPT" convert m --to hf -o /proc/none/x
"$RAPT" train lm.yaml --out post --quiet --set model.output_bias=true --set model.tied=false --max-steps 2 >/dev/null 2>&1
refused 1 'no: the model has "output_bias": true, which GPT2LMHeadModel' 'a setting that no class has' "$RAPT" convert post --to hf -o no
check 'nothing is written' test ! -e new -a ! -e no -a -z "$(find . -name '.*.tmp')"
refused 2 'missing operand: MODEL' 'no model' "$RAPT" convert --to hf -o x
refused 2 'missing option: --to' 'no format' "$RAPT" convert m -o x
refused 2 'missing option: --out' 'no folder' "$RAPT" convert m --to hf
refused 2 'missing option: --out' 'a folder without a name' "$RAPT" convert m --to hf -o ''
refused 2 "'onnx' is neither hf, ctranslate2 nor gguf" 'an unknown format' "$RAPT" convert m --to onnx -o x
refused 2 'extra operand' 'two models' "$RAPT" convert m m --to hf -o x
finish
