#!/bin/bash
# tests/cli/check_hub_names.sh: the commands that show a model, for each Hugging Face model that tools/make_hub.py and
# tools/make_hub_translation.py made: `rapt explain`, its page and `rapt info --tensor` also name parameters as the folder does,
# and `rapt plot` draws them. The expected names come from the folder's own files.
. "$(dirname "$0")/lib.sh"
GOLDEN=$SOURCE/tests/golden

# The names of an explanation, and of the files; a matrix that is tied, or a table that is computed, is not read.
explained() { tr -d ' \n' <one.json | grep -o '"origin":"[^"]*"' | cut -d'"' -f4 | sort -u; }
stored() { tensors "$1" | awk '$2 ~ /^(F32|F16|BF16)$/ { print $1 }' | sort -u; }
copies='^(lm_head|(model\.)?(encoder|decoder)\.embed_tokens|model\.(encoder|decoder)\.embed_positions)\.weight$'

for folder in "$GOLDEN"/hub/*/ "$GOLDEN"/hub_translation/*/; do
    folder=${folder%/} model=$(basename "$folder")
    check "$model: rapt explain --json" sh -c "'$RAPT' explain '$folder' 'a b' --json >one.json"
    explained >explained
    stored "$folder" >stored
    check "$model: every name is one of the folder's" test -s explained -a -z "$(comm -23 explained stored)"
    check "$model: and every tensor that is read is named" test -z "$(comm -13 explained stored | grep -Ev "$copies")"
    check "$model: rapt explain" sh -c "'$RAPT' explain '$folder' 'a b' | grep -q '^with .*norm1.weight ($(grep -m 1 -E 'norm|ln_1' explained | cut -c1-5).*)$'"
    check "$model: its page" sh -c "'$RAPT' explain '$folder' 'a b' --html page.html && grep -q '\"origin\": *\"$(head -1 explained)\"' page.html"
    check "$model: rapt plot attention" "$RAPT" plot attention "$folder" 'a b' --data
    for tensor in $(grep -E 'norm|ln_' explained | sed -n '1p;$p'); do
        check "$model: --tensor $tensor" sh -c "'$RAPT' info '$folder' --tensor '$tensor' | head -1 | grep -q ' ($tensor)  \['"
    done
done

# Expected by hand: which of a folder's tensors are the queries of the first block, and what else a family names differently.
named() { # FOLDER OURS THEIRS
    check "$1: $2" sh -c "'$RAPT' explain '$GOLDEN/$1' 'a b' | grep -Fq ' $2 ($3)'"
}
named hub/llama blocks.0.attention.q.weight model.layers.0.self_attn.q_proj.weight
named hub/gpt2 blocks.1.attention.k.bias transformer.h.1.attn.c_attn.bias
named hub/phi3 blocks.0.ffn.up.weight model.layers.0.mlp.gate_up_proj.weight
named hub/gpt_neox blocks.0.norm2.weight gpt_neox.layers.0.post_attention_layernorm.weight
named hub/gemma3 blocks.0.norm1.output.weight model.layers.0.post_attention_layernorm.weight
named hub/gemma3 blocks.0.norm2.weight model.layers.0.pre_feedforward_layernorm.weight
named hub/qwen3 blocks.0.attention.k_norm.weight model.layers.0.self_attn.k_norm.weight
named hub_translation/marian decoder.0.cross_attention.o.weight model.decoder.layers.0.encoder_attn.out_proj.weight
named hub_translation/marian decoder.output.bias final_logits_bias
named hub_translation/t5 encoder.relative.weight encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight

# Gradients of parameters have both names.
check 'gradients' sh -c "'$RAPT' explain '$GOLDEN/hub/llama' 'a b' --train | grep -Fq 'of   norm.weight (model.norm.weight)'"
# The same numbers, whether weights stay in the files or not.
"$RAPT" explain "$GOLDEN/hub/qwen3" 'a b c' --only output --full >stays
"$RAPT" explain "$GOLDEN/hub/qwen3" 'a b c' --only output --full --train | sed '/^gradient/,$d; /^Gradients/,$d' >read
check 'the same logits with and without gradients' sh -c 'diff stays read | grep -q "^[<>] *tensor\|^[<>] *\[" && exit 1 || test -s stays'

"$RAPT" info "$GOLDEN/hub/gpt2" --tensor transformer.ln_f.bias --json >json
check 'JSON of a tensor' grep -Fq '{"name": "norm.bias", "origin": "transformer.ln_f.bias", "shape": [48]' json
refused 1 'holds blocks.0.attention.q.weight, blocks.0.attention.k.weight and perhaps more' 'a tensor of several' \
    "$RAPT" info "$GOLDEN/hub/gpt2" --tensor transformer.h.0.attn.c_attn.weight
refused 1 'no tensor is called "model.norm.bias"' 'no such tensor' "$RAPT" info "$GOLDEN/hub/llama" --tensor model.norm.bias
refused 2 'is for a folder' 'a tensor of a file' "$RAPT" info "$GOLDEN/hub/llama/model.safetensors" --tensor model.norm.weight
refused 1 't5: its positions are relative' 'positions of T5' "$RAPT" plot positions "$GOLDEN/hub_translation/t5" --data
refused 1 't5: its positions are relative' 'their similarity' "$RAPT" plot similarity "$GOLDEN/hub_translation/t5" --data
for model in gpt2 llama; do
    check "$model: rapt plot positions" "$RAPT" plot positions "$GOLDEN/hub/$model" --data
    check "$model: rapt plot embedding" "$RAPT" plot embedding "$GOLDEN/hub/$model" a b c --data
done
finish
