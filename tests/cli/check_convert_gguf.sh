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

check 'a language model' "$RAPT" convert m --to gguf -o new/m.gguf
check 'a file of version 3' magic new/m.gguf
check 'nothing beside it' test "$(ls -A new)" = m.gguf
check 'its architecture' grep -qa 'general.architecture.*gpt2' new/m.gguf
check 'fp32 by another name' "$RAPT" convert m --to gguf --weights f32 -o f32
check 'the same' cmp new/m.gguf f32
check 'fp32 by its name' "$RAPT" convert m --to gguf --weights fp32 -o fp32
check 'the same again' cmp f32 fp32
before=$(size f32)
for weights in bf16 f16 q8_0 q4_0; do
    check "$weights" "$RAPT" convert m --to gguf --weights $weights -o $weights
    check "$weights is a file of version 3" magic $weights
done
check 'less bits, fewer bytes' test "$before" -gt "$(size f16)" -a "$(size f16)" = "$(size bf16)" -a "$(size f16)" -gt "$(size q8_0)" -a \
    "$(size q8_0)" -gt "$(size q4_0)"
RAPT_THREADS=3 RAPT_ISA=scalar "$RAPT" convert m --to gguf --weights q4_0 -o again
check 'the same bytes with other threads and another ISA' cmp q4_0 again

# Of other programs, with what belongs to a chat.
for model in llama gpt2 qwen2 qwen3 gemma granite olmo2; do
    check "$model" "$RAPT" convert "$SOURCE/tests/golden/hub/$model" --to gguf -o "$model.gguf"
    check "$model is called so" grep -qa "general.architecture.*$model" "$model.gguf"
done
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
refused 2 "'q5_0' is neither fp32, f16, bf16, q8_0 nor q4_0" 'an unknown format of weights' "$RAPT" convert m --to gguf --weights q5_0 -o no
refused 2 '--weights is for --to gguf' 'weights of a folder' "$RAPT" convert m --to hf --weights f16 -o no
finish
