#!/bin/bash
# tests/cli/check_convert_gguf.sh: models as GGUF files. What is written is compared in tests/io/test_export_gguf.c.
. "$(dirname "$0")/lib.sh"

make_text >text.txt
make_text_recipe characters >lm.yaml
small='--set model.norm_place=pre --set model.scale_embedding=false --set model.tied=true --set model.output_bias=false
    --set model.d_model=64 --set model.heads=4 --set model.ffn=64'
# shellcheck disable=SC2086
"$RAPT" train lm.yaml --out m --quiet $small --set model.ffn_kind=gelu_tanh >train.log 2>&1 || cat train.log
magic() { test "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 4747554603000000; }
size() { stat -c %s "$1"; }

"$RAPT" convert m --to gguf -o new/m.gguf 2>.told
check 'a language model' test $? = 0
check 'a line says what was written' grep -Eqx 'wrote new/m.gguf: a GGUF file, [0-9.]+ kB' .told
check 'a file of version 3' magic new/m.gguf
check 'nothing beside it' test "$(ls -A new)" = m.gguf
check 'its architecture' grep -qa 'general.architecture.*gpt2' new/m.gguf
check 'fp32 by another name' "$RAPT" convert m --to gguf --weights f32 -o f32
check 'the same' cmp new/m.gguf f32
check 'fp32 by its name' "$RAPT" convert m --to gguf --weights fp32 -o fp32
check 'the same again' cmp f32 fp32
before=$(size f32)
# Back in rapt: also where the last character comes, which the file names as the end of a text.
for how in --greedy '--temperature 3 --seed 1'; do
    # shellcheck disable=SC2086
    for model in m f32; do "$RAPT" generate $model 'the k' $how --max-tokens 300 --quiet >"text.$model"; done
    check "rapt reads it back: the same text with $how" sh -c 'test "$(wc -m <text.m)" -ge 300 && cmp text.m text.f32'
done
check 'the last character is in it' grep -q ï text.f32
"$RAPT" eval m text.txt >theirs && "$RAPT" eval f32 text.txt >ours
check 'of the same loss' sh -c 'test -s theirs && cmp theirs ours'
"$RAPT" info f32 >out
check 'the character that it names as the end of text is none' grep -q '^special ids  *none$' out
refused 1 '"<unk>" is needed' 'a character that it lacks' "$RAPT" generate f32 'the Q'
for weights in bf16 f16 q8_0 q4_0; do
    check "$weights" "$RAPT" convert m --to gguf --weights $weights -o $weights
    check "$weights is a file of version 3" magic $weights
done
check 'less bits, fewer bytes' test "$before" -gt "$(size f16)" -a "$(size f16)" = "$(size bf16)" -a "$(size f16)" -gt "$(size q8_0)" -a \
    "$(size q8_0)" -gt "$(size q4_0)"
check 'blocks fit not all matrices' sh -c "'$RAPT' convert m --to gguf --weights q8_0 -o told 2>&1 | grep -Eq '^matrices: 1 in F32, [0-9]+ in Q8_0$'"
check 'nothing of it with --quiet' test -z "$("$RAPT" convert m --to gguf --weights q8_0 --quiet -o quiet 2>&1)"
check 'it is the same file' cmp q8_0 quiet
RAPT_THREADS=3 RAPT_ISA=scalar "$RAPT" convert m --to gguf --weights q4_0 --quiet -o again
check 'the same bytes with other threads and another ISA' cmp q4_0 again

# Weights of fewer bits in a folder: what is stored is shown. The rows of the second matrix of the FFN have 48 numbers.
# shellcheck disable=SC2086
"$RAPT" train lm.yaml --out wide --quiet $small --set model.ffn_kind=gelu_tanh --set model.ffn=48 --max-steps 2 >train.log 2>&1 || cat train.log
"$RAPT" convert wide --weights q4_0 -o few 2>told
check 'types of matrices' grep -q '^matrices: 2 in F32, 1 in Q8_0, 5 in Q4_0; 1 of them have rows that are no multiple of 32' told
"$RAPT" info few --tensors >out
check 'rapt info: the file' grep -q "^files  *model.safetensors (.* kB)$" out
check 'rapt info: types' grep -Eq '^elements  *F32 in [0-9]+ tensors \(.*\), Q8_0 in 1 tensor \(.*\), Q4_0 in 5 tensors \(.*\)$' out
check 'rapt info: a tensor of blocks' grep -q '^blocks.0.attention.q.weight  *\[64, 64\]  Q4_0$' out
check 'rapt info: one of fp32' grep -q '^blocks.0.ffn.dense2.weight  *\[64, 48\]  F32$' out
check 'rapt info: JSON' sh -c "'$RAPT' info few --json --tensors | tr -d ' \n' | grep -q '\"Q4_0\":{\"tensors\":5,\"bytes\":[0-9]*}.*\"name\":\"blocks.0.attention.q.weight\",\"dtype\":\"Q4_0\",\"shape\":\[64,64\]'"
check 'rapt info: of fp32 nothing of that' sh -c "! '$RAPT' info wide | grep -E '^(files|elements)'"
# shellcheck disable=SC2086
"$RAPT" train lm.yaml --out narrow --quiet $small --set model.ffn_kind=gelu_tanh --set model.d_model=40 --set model.ffn=72 --max-steps 2 >/dev/null 2>&1
refused 1 'no: no matrix has rows whose length is a multiple of 32' 'blocks that fit no matrix' "$RAPT" convert narrow --weights q8_0 -o no
refused 1 'no: no matrix has rows whose length is a multiple of 32' 'nor for llama.cpp' "$RAPT" convert narrow --to gguf --weights q4_0 -o no

# Models of other programs, including the parts for a chat.
for model in llama gpt2 qwen2 qwen3 gemma granite olmo2 starcoder2; do
    check "$model" "$RAPT" convert "$SOURCE/tests/golden/hub/$model" --to gguf -o "$model.gguf"
    tr '\n' ' ' <"$model.gguf" >name # the length of a name may be that byte
    check "$model is called so" grep -qa "general.architecture.*$model" name
done

# What is written is read: the same logits as from the folder, to the bit, of whatever is not refused, as GGUF and as a folder.
logits() { "$RAPT" explain "$1" 'the cat and the dog' --only output --full | sed 4d; } # but for its name
written=0
for model in "$SOURCE"/tests/golden/hub/*/; do
    name=$(basename "$model")
    logits "$model" >theirs
    rm -rf "$name.hf" "$name.gguf"
    check "$name as a folder" "$RAPT" convert "$model" --to hf -o "$name.hf"
    logits "$name.hf" >ours
    check 'has the same logits' sh -c 'test "$(wc -l <ours)" -gt 100 && cmp ours theirs'
    if ! "$RAPT" convert "$model" --to gguf -o "$name.gguf" 2>.err; then
        check "$name as GGUF is refused by name" \
            grep -Eq 'the nearest architecture of GGUF, has( not)?$|no GGUF file of a model of type "(bloom|mpt)"$' .err
        continue
    fi
    written=$((written + 1))
    logits "$name.gguf" >ours
    check "$name as GGUF has the same logits" sh -c 'test "$(wc -l <ours)" -gt 100 && cmp ours theirs'
done
check 'most are written' test "$written" -ge 12

cp -r "$SOURCE/tests/golden/hub/qwen2" chat
printf '{"chat_template": "in the configuration"}' >chat/tokenizer_config.json
check 'a chat template' "$RAPT" convert chat --to gguf -o chat.gguf
check 'it is in the file' grep -qa 'tokenizer.chat_template.*in the configuration' chat.gguf
printf 'in its own file' >chat/chat_template.jinja
check 'a chat template of its own' "$RAPT" convert chat --to gguf -o chat2.gguf
check 'it is in the file, too' grep -qa 'tokenizer.chat_template.*in its own file' chat2.gguf

refused 1 'f32 is there already' 'a file that is there' "$RAPT" convert m --to gguf -o f32
check 'it is left alone' cmp f32 fp32
refused 1 'm is there already' 'a folder that is there' "$RAPT" convert m --to gguf -o m
refused 1 'cannot write .*File too large' 'no room' bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' - "$RAPT" convert m --to gguf -o full/x
refused 1 'cannot make folder /proc/none' 'a folder that cannot be made' "$RAPT" convert m --to gguf -o /proc/none/x
# shellcheck disable=SC2086
"$RAPT" train lm.yaml --out relu --quiet $small --set model.ffn_kind=relu --max-steps 2 >/dev/null 2>&1
refused 1 'no: the model has "ffn_kind": "relu"' 'a setting that no architecture has' "$RAPT" convert relu --to gguf -o no
check 'nothing is written' test ! -e full -a ! -e no -a -z "$(find . -name '.*.tmp')"
refused 2 "'q5_0' is none of fp32, f16, bf16, q8_0, q4_0" 'an unknown format of weights' "$RAPT" convert m --to gguf --weights q5_0 -o no
refused 2 '--weights is for --to gguf' 'weights of a folder' "$RAPT" convert m --to hf --weights f16 -o no
finish
