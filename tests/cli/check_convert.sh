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

# Models of other programs: the same names, shapes and numbers, from one file or several, and the same results for a text.
for model in gpt2 gpt_neox phi3 gemma3 qwen3; do
    from=$SOURCE/tests/golden/hub/$model
    check "$model" "$RAPT" convert "$from" --to hf -o "$model"
    tensors "$from" | cut -d' ' -f1,3 | sort >theirs
    tensors "$model" | cut -d' ' -f1,3 | sort >ours
    check "$model: the same tensors" sh -c 'test -s ours && cmp ours theirs'
    "$RAPT" explain "$from" 'a b' --only output --full >theirs
    "$RAPT" explain "$model" 'a b' --only output --full >ours
    check "$model: the same logits" sh -c 'test -s ours && cmp ours theirs'
done

# Weights of fewer bits, as a folder of the same kind. Numbers are compared in tests/io/test_stored_folder.c.
"$RAPT" train lm.yaml --out wide --quiet --set model.d_model=32 --set model.ffn=48 >train.log 2>&1 || cat train.log
size() { stat -c %s "$1/model.safetensors"; }
for weights in fp32 f16 bf16 q8_0 q4_0; do
    check "--weights $weights" "$RAPT" convert wide --weights $weights -o stored/$weights
    check "$weights: its files" test "$(ls -A stored/$weights | tr '\n' ' ')" = 'config.json model.safetensors tokenizer.json '
    check "$weights: what is no number is as it was" sh -c "cmp wide/config.json stored/$weights/config.json && cmp wide/tokenizer.json stored/$weights/tokenizer.json"
    check "$weights: rapt info" sh -c "'$RAPT' info stored/$weights | grep -q '^d_model  *32, '"
    check "$weights: its tensors" cmp <(tensor_names wide) <(tensor_names stored/$weights)
    "$RAPT" eval stored/$weights text.txt --json --threads 1 >one
    "$RAPT" eval stored/$weights text.txt --json --threads 2 >two
    RAPT_ISA=scalar "$RAPT" eval stored/$weights text.txt --json >scalar
    check "$weights: rapt eval, the same with other threads and another ISA" sh -c 'test -s one && cmp one two && cmp one scalar'
    cp one $weights.json
done
check 'fp32 is the model' same_parameters wide/model.safetensors stored/fp32/model.safetensors
check 'and has its loss' cmp fp32.json <("$RAPT" eval wide text.txt --json)
check 'others have not' test "$(cut -d, -f2 ./*.json | sort -u | wc -l)" = 5
check 'fewer bits, fewer bytes' test "$(size stored/fp32)" -gt "$(size stored/f16)" -a "$(size stored/bf16)" -gt "$(size stored/q8_0)" -a "$(size stored/q8_0)" -gt "$(size stored/q4_0)"
check 'a matrix of blocks' test "$(tensor stored/q8_0/model.safetensors blocks.0.attention.q.weight | wc -c)" = $((32 * 34))
check 'the embedding of q4_0, in 8 bits' cmp <(tensor stored/q8_0/model.safetensors embedding.weight) <(tensor stored/q4_0/model.safetensors embedding.weight)
check 'rows of 48 are no blocks' cmp <(tensor wide/model.safetensors blocks.0.ffn.dense2.weight) <(tensor stored/q4_0/model.safetensors blocks.0.ffn.dense2.weight)
RAPT_ISA=scalar "$RAPT" convert wide --weights q4_0 -o again_q4_0
check 'the same bytes with another ISA' cmp stored/q4_0/model.safetensors again_q4_0/model.safetensors
check 'a Hugging Face folder' "$RAPT" convert "$SOURCE/tests/golden/hub/llama" --weights bf16 -o stored/llama
check 'its files but for the weights' sh -c 'for f in "$0"/tokenizer.json "$0"/generation_config.json; do test ! -e "$f" || cmp "$f" "stored/llama/${f##*/}" || exit 1; done' \
    "$SOURCE/tests/golden/hub/llama"
check 'rapt info' sh -c "'$RAPT' info stored/llama | grep -q LlamaForCausalLM"
check 'its numbers of bf16 count as in fp32' cmp <("$RAPT" eval stored/llama text.txt --json) <("$RAPT" eval stored/llama text.txt --json --weights fp32)
refused 1 'has rows and columns the other way round' 'GPT-2 in blocks' "$RAPT" convert "$SOURCE/tests/golden/hub/gpt2_exact" --weights q8_0 -o no
cp -r stored stored.before
refused 1 'stored/q8_0 is there already' 'a folder that is there' "$RAPT" convert wide --weights q8_0 -o stored/q8_0
check 'it is left alone' diff -r stored.before stored
head -c 9000 stored/q8_0/model.safetensors >cut && mv cut stored/q8_0/model.safetensors
refused 1 'stored/q8_0/model.safetensors: ' 'a file that is cut' "$RAPT" eval stored/q8_0 text.txt
refused 1 'cannot write .*File too large' 'no room for blocks' bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' - "$RAPT" convert wide --weights q8_0 -o no
check 'nothing beside' test ! -e no -a -z "$(find . -name '.*.tmp')"
refused 2 "'q5_0' is none of fp32, f16, bf16, q8_0, q4_0" 'an unknown type' "$RAPT" convert wide --weights q5_0 -o no
refused 2 '--weights is for --to gguf, or without --to' 'types for transformers' "$RAPT" convert wide --to hf --weights q8_0 -o no
refused 2 'missing option: --out' 'no folder for them' "$RAPT" convert wide --weights q8_0

refused 1 'cannot write .*File too large' 'no room' bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' - "$RAPT" convert m --to hf -o new/full
refused 1 'cannot make folder /proc/none' 'a folder that cannot be made' "$RAPT" convert m --to hf -o /proc/none/x
# What a run that was killed has left, the next one removes, and leaves alone what another run still writes.
mkdir killed
bash -c 'ulimit -c 0 -f 4; exec "$@"' - "$RAPT" convert m --to hf -o killed/x >/dev/null 2>&1
check 'a run that is killed while it writes' test $? -gt 128
check 'leaves its unfinished folder' test "$(find killed -mindepth 1 -maxdepth 1 -name '.x.*.tmp' | wc -l)" = 1
mv killed/.x.*.tmp killed/.x.1.tmp
(
    exec 9<>killed/.x.1.tmp/.rapt-lock
    flock 9
    "$RAPT" convert m --to hf -o killed/y
) >/dev/null 2>&1
check 'another one stays while its lock is held' test "$(ls -A killed | tr '\n' ' ')" = '.x.1.tmp y '
check 'without one it goes' "$RAPT" convert m --weights q8_0 -o killed/z
check 'as any folder is written' test "$(ls -A killed | tr '\n' ' ')" = 'y z '
check 'there is no lock in a folder that is complete' test ! -e killed/y/.rapt-lock -a ! -e killed/z/.rapt-lock
"$RAPT" train lm.yaml --out post --quiet --set model.output_bias=true --set model.tied=false --max-steps 2 >/dev/null 2>&1
refused 1 'no: the model has "output_bias": true, which GPT2LMHeadModel' 'a setting that no class has' "$RAPT" convert post --to hf -o no
check 'nothing is written' test ! -e new -a ! -e no -a -z "$(find . -name '.*.tmp')"
refused 2 'missing operand: MODEL' 'no model' "$RAPT" convert --to hf -o x
refused 2 'missing option: --to' 'no format' "$RAPT" convert m -o x
refused 2 'missing option: --out' 'no folder' "$RAPT" convert m --to hf
refused 2 'missing option: --out' 'a folder without a name' "$RAPT" convert m --to hf -o ''
refused 2 "'onnx' is none of hf, ctranslate2, gguf" 'an unknown format' "$RAPT" convert m --to onnx -o x
refused 2 'extra operand' 'two models' "$RAPT" convert m m --to hf -o x
finish
