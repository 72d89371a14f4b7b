#!/bin/bash
# tests/cli/check_gguf.sh: GGUF files in the place of model folders. What they compute is compared in tests/io/test_gguf_model.c.
. "$(dirname "$0")/lib.sh"
GGUF=$SOURCE/tests/golden/gguf

# ---- what is in one
"$RAPT" info "$GGUF/mixed.gguf" >info
check 'its architecture' grep -q '^model  *llama (LlamaForCausalLM): rapt generate runs such models$' info
check 'its types' grep -q '^elements  *F32 in 5 tensors .*, Q4_K in 2 tensors .*, Q5_1 in 2 tensors' info
check 'its sizes' grep -q '^d_model  *256, 2 heads of 16 features, 1 of keys and values, ffn 64 (swiglu)$' info
check 'its tokenizer' grep -q '^tokenizer  *byte_bpe, 259 tokens$' info
check 'its special ids' grep -q '^special ids  *end of text 257 <|end|>$' info
check 'what it rounds' grep -q '^ .*products with matrices in Q4_1 and Q5_1 are made of Q8_0' info
check 'a file of other types has nothing of that' sh -c "! '$RAPT' info '$GGUF/bpe.gguf' | grep -q 'are made of Q8_0'"
check 'as JSON' sh -c "'$RAPT' info '$GGUF/mixed.gguf' --json | grep -q '\"Q6_K\": {'"
check 'its tensors' sh -c "'$RAPT' info '$GGUF/mixed.gguf' --tensors | grep -q '^blk.0.attn_q.weight  *Q4_K \[32, 256\]$'"

# ---- commands
"$RAPT" generate "$GGUF/bpe.gguf" the --greedy --max-tokens 20 >one 2>/dev/null
"$RAPT" generate "$GGUF/bpe.gguf" the --greedy --max-tokens 20 --threads 3 >three 2>/dev/null
check 'rapt generate, by any number of threads' sh -c 'test -s one && cmp one three'
RAPT_ISA=scalar "$RAPT" generate "$GGUF/mixed.gguf" the --greedy --max-tokens 20 >scalar 2>/dev/null
"$RAPT" generate "$GGUF/mixed.gguf" the --greedy --max-tokens 20 >best 2>/dev/null
check 'the same without SIMD' sh -c 'test -s best && cmp best scalar'
echo hi | "$RAPT" chat "$GGUF/pieces.gguf" --max-tokens 4 >out 2>&1
check 'rapt chat' test $? = 0 -a -s out
printf 'some text to evaluate, some more of it\n' >text.txt
"$RAPT" eval "$GGUF/bpe.gguf" text.txt >out 2>&1
check 'rapt eval' grep -q 'perplexity' out
echo 'hello world' | "$RAPT" translate "$GGUF/t5.gguf" --strict >out 2>err
check 'rapt translate' test $? = 0 -a -s out
"$RAPT" explain "$GGUF/bpe.gguf" the --only output >out
check 'rapt explain' grep -q 'with embedding.weight (token_embd.weight)' out
echo 'Hello world' | "$RAPT" tokenizer encode "$GGUF/bpe.gguf" >ids
"$RAPT" tokenizer decode "$GGUF/bpe.gguf" ids >out
check 'rapt tokenizer' test "$(cat out)" = 'Hello world'

# ---- for other programs
check 'rapt convert' "$RAPT" convert "$GGUF/mixed.gguf" --to hf -o folder
check 'its files' test "$(ls -A folder | tr '\n' ' ')" = 'config.json model.safetensors tokenizer.json tokenizer_config.json '
check 'names of the class' sh -c "'$RAPT' info folder --tensors | grep -q '^model.layers.1.self_attn.q_proj.weight  *F32  \[32, 256\]$'"
"$RAPT" explain "$GGUF/mixed.gguf" 'a b' --only output --full >theirs
"$RAPT" explain folder 'a b' --only output --full >ours
check 'the same logits' sh -c "sed 4d ours >a; sed 4d theirs >b; test -s a && cmp a b" # but for its name
"$RAPT" info "$GGUF/mixed.gguf" --tensor blk.1.ffn_down.weight >theirs
"$RAPT" info folder --tensor model.layers.1.mlp.down_proj.weight >ours
check 'one tensor by its name' grep -q '^blocks.1.ffn.down.weight (blk.1.ffn_down.weight)  \[' theirs
check 'its numbers' sh -c "sed 1d ours >a; sed 1d theirs >b; test -s a && cmp a b"
refused 1 'no tensor is called "blk.9' 'a tensor that is not there' "$RAPT" info "$GGUF/mixed.gguf" --tensor blk.9.ffn_down.weight
refused 1 'CTranslate2 has a converter of its own' 'for CTranslate2' "$RAPT" convert "$GGUF/mixed.gguf" --to ctranslate2 -o no
check 'nothing is written' test ! -e no

# ---- what is refused
refused 1 'mixed.gguf is a GGUF file; rapt adds adapters to Hugging Face folders' 'an adapter' \
    "$RAPT" generate "$GGUF/mixed.gguf" the --adapter "$SOURCE/tests/golden/adapters/qwen2"
refused 1 'no chat template' 'a conversation without a template' "$RAPT" chat "$GGUF/bpe.gguf"
refused 1 't5.gguf is a translation model; rapt translate runs it' 'a translator that is to continue a text' \
    "$RAPT" generate "$GGUF/t5.gguf" the
head -c 5000 "$GGUF/bpe.gguf" >cut.gguf
refused 1 'cut.gguf: ' 'a file that is cut off' "$RAPT" generate cut.gguf the
sed 's/general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00llama/general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00mamba/' \
    "$GGUF/bpe.gguf" >mamba.gguf
refused 1 'a model of architecture "mamba"; of GGUF files rapt runs llama, ' 'another architecture' "$RAPT" generate mamba.gguf the
"$RAPT" info mamba.gguf >out
check 'rapt info says so, too' grep -q '^not run .*a model of architecture "mamba"; of GGUF files rapt runs llama, ' out
check 'and what is in the file' grep -q '^tensors ' out

# ---- what is no model
: >empty.gguf
printf GGU >short.gguf
printf 'a text\n' >text
mkfifo pipe
refused 1 'empty.gguf: the file is empty' 'an empty file' "$RAPT" generate empty.gguf the
for path in short.gguf text pipe /dev/null; do
    refused 1 "$path: not a model folder, and not a GGUF file" "$path" "$RAPT" generate $path the
done
if [ "$(id -u)" != 0 ]; then
    cp text secret && chmod 0 secret
    refused 1 'cannot read secret: Permission denied' 'a file that cannot be read' "$RAPT" generate secret the
fi
finish
