#!/bin/bash
# tests/cli/check_lora.sh: fine-tuning by low-rank adapters: the folder that a run leaves, the same bytes with other threads and after
# a stop, and what is refused. The operation is compared with PyTorch's in tests/golden/test_golden_ops.c, adapters that PEFT wrote in
# tests/io/test_adapter.c, and such as rapt wrote with PEFT by tools/compare_lora.py.
. "$(dirname "$0")/lib.sh"
HUB=$SOURCE/tests/golden/hub

# merged FOLDER BASE DATA: what was merged into the matrices has the loss that the adapters have beside them.
merged() {
    "$RAPT" eval "$1" "$3" --json >beside 2>/dev/null && "$RAPT" convert "$2" --merge "$1" --to hf -o "merged-$1"
    "$RAPT" eval "merged-$1" "$3" --json >within 2>/dev/null
    check "$1: merged, the same loss" cmp beside within
}

make_text >text.txt
make_text_recipe characters >base.yaml
"$RAPT" train base.yaml --out base --max-steps 4 --set model.scale_embedding=false --quiet 2>err || cat err
{
    printf 'task: language_model\ndata:\n  text: text.txt\nmodel:\n  context: 8\ntrain:\n  init: base\n'
    printf '  lora:\n    rank: 3\n    alpha: 6\n    dropout: 0.2\n    modules: q,v,attention.o\n'
    printf '  lr: 0.02\n  batch: 4\n  steps: 12\n  report_every: 6\n'
} >lora.yaml
train() { "$RAPT" train lora.yaml --quiet "$@"; }
train --out one --threads 1 2>err || cat err
check 'a folder of adapters' test -s one/adapter_config.json -a -s one/adapter_model.safetensors -a ! -e one/model.safetensors
check 'PEFT finds the layers' grep -q '"attention.o"\|"o"' one/adapter_config.json
train --out three --threads 3
check 'the same bytes with three threads' cmp one/adapter_model.safetensors three/adapter_model.safetensors
train --out stopped --max-steps 5 && "$RAPT" train --resume --out stopped --quiet
check 'the same bytes after a stop' cmp one/adapter_model.safetensors stopped/adapter_model.safetensors
"$RAPT" eval base text.txt --json >of_base
"$RAPT" eval one text.txt --json >of_one
"$RAPT" eval base text.txt --adapter one --json >of_both
check 'the adapters change the loss' sh -c '! cmp -s of_base of_one'
check 'of the base with them as well' cmp of_one of_both
"$RAPT" train lora.yaml --out first --max-steps 0 --quiet
"$RAPT" eval first text.txt --json >of_first
check 'at first they change nothing' cmp of_base of_first
check 'a merged model is written' "$RAPT" convert base --merge one --to hf -o merged
"$RAPT" train lora.yaml --out shown --max-steps 1 2>shown.err
check 'the plan tells both sizes' grep -qE '^model: [0-9]+ parameters of adapters, for a model of [0-9]+$' shown.err

# Rank-stabilized, with ranks and alphas of their own.
ranks() {
    "$RAPT" train lora.yaml --quiet --set train.lora.rslora=true --set 'train.lora.rank_pattern=blocks.0.attention.[qv]=2,o=5' \
        --set train.lora.alpha_pattern=v=2.5 "$@"
}
ranks --out ranks --threads 1 && ranks --out ranks-three --threads 3
check 'ranks by pattern: the same bytes with three threads' cmp ranks/adapter_model.safetensors ranks-three/adapter_model.safetensors
ranks --out ranks-stopped --max-steps 5 && "$RAPT" train --resume --out ranks-stopped --quiet
check 'ranks by pattern: and after a stop' cmp ranks/adapter_model.safetensors ranks-stopped/adapter_model.safetensors
check 'rapt info: ranks by pattern' sh -c "'$RAPT' info ranks --json | tr -d ' \\n' | grep -q '\"rslora\":true.*\"rank\":5'"
merged ranks base text.txt
GOLDEN=$SOURCE/tests/golden/adapters

# With magnitudes; dropout makes each layer two products.
lengths() {
    "$RAPT" train lora.yaml --quiet --set train.lora.dora=true "$@"
}
lengths --out lengths --threads 1 && lengths --out lengths-three --threads 3
check 'magnitudes: the same bytes with three threads' cmp lengths/adapter_model.safetensors lengths-three/adapter_model.safetensors
lengths --out lengths-stopped --max-steps 5 && "$RAPT" train --resume --out lengths-stopped --quiet
check 'magnitudes: and after a stop' cmp lengths/adapter_model.safetensors lengths-stopped/adapter_model.safetensors
check 'magnitudes: in the file' grep -aq 'base_model.model.blocks.0.attention.q.lora_magnitude_vector' lengths/adapter_model.safetensors
check 'magnitudes: rapt info' sh -c "'$RAPT' info lengths --json | grep -q '\"dora\": true'"
check 'magnitudes: other adapters' sh -c '! cmp -s lengths/adapter_model.safetensors one/adapter_model.safetensors'
merged lengths base text.txt
check 'rapt info: magnitudes' sh -c "'$RAPT' info '$GOLDEN/dora' --json | grep -q '\"dora\": true'"
check 'rapt info: a whole matrix' sh -c "'$RAPT' info '$GOLDEN/saved' --json | tr -d ' \\n' | grep -q '\"model.embed_tokens\",\"in\":48,\"out\":259,\"whole\":true'"
refused 1 'rank_pattern: no layer with an adapter is called "f1"' 'a pattern that matches nothing' \
    "$RAPT" train lora.yaml --set train.lora.rank_pattern=f1=2 --out m
saving() {
    "$RAPT" train lora.yaml --quiet --set train.lora.save=embedding,output "$@"
}
saving --out saving --threads 1 && saving --out saving-three --threads 3
check 'matrices saved whole: the same bytes with three threads' cmp saving/adapter_model.safetensors saving-three/adapter_model.safetensors
saving --out saving-stopped --max-steps 5 && "$RAPT" train --resume --out saving-stopped --quiet
check 'matrices saved whole: and after a stop' cmp saving/adapter_model.safetensors saving-stopped/adapter_model.safetensors
check 'matrices saved whole: both' sh -c "test \$('$RAPT' info saving --tensors | grep -c ' whole ') = 2"
check 'matrices saved whole: they change' sh -c "'$RAPT' info saving --tensor output.weight >with; '$RAPT' info base --tensor output.weight >without; test -s with && ! cmp -s with without"
merged saving base text.txt
"$RAPT" train base.yaml --out tied --max-steps 1 --set model.tied=true --set model.scale_embedding=false --quiet
"$RAPT" train lora.yaml --init tied --set train.lora.save=embedding --out tied-saving --quiet --threads 1
"$RAPT" train lora.yaml --init tied --set train.lora.save=output --out tied-again --quiet --max-steps 5
"$RAPT" train --resume --out tied-again --quiet --threads 3
check 'a tied matrix: the same bytes by its other name, with three threads and after a stop' cmp tied-saving/adapter_model.safetensors tied-again/adapter_model.safetensors
check 'a tied matrix: under both names' sh -c "test \$('$RAPT' info tied-saving --tensors | grep -c ' whole ') = 2"
merged tied-saving tied text.txt
refused 1 'train.lora.save' 'matrices without adapters' "$RAPT" train base.yaml --set train.lora.save=output --out m
refused 1 'train.lora.rslora' 'a scale of no adapters' "$RAPT" train base.yaml --set train.lora.rslora=true --out m
refused 1 'train.lora.dora' 'lengths of no adapters' "$RAPT" train base.yaml --set train.lora.dora=true --out m
refused 1 'no layer of the model is called "q_prj"; there are q,k,v,o,' 'a name of no layer' \
    "$RAPT" train lora.yaml --set train.lora.modules=q_prj --out m
refused 1 'adapters are for a model that train.init names' 'no model' "$RAPT" train base.yaml --set train.lora.rank=2 --out m
refused 1 'all but the adapters is frozen' 'a freeze beside' "$RAPT" train lora.yaml --set train.freeze=norm.* --out m
refused 1 'rank 4000; .* has' 'a rank above the features' "$RAPT" train lora.yaml --set train.lora.rank=4000 --out m
check 'nothing is written' test ! -e m
mv base kept && "$RAPT" train base.yaml --out base --max-steps 4 --seed 9 --set model.scale_embedding=false --quiet
refused 1 'belongs to another model or data' 'another base' "$RAPT" train --resume --out one --set train.steps=14 --quiet
mv base other && mv kept base

printf 'task: language_model\ndata:\n  text: text.txt\nmodel:\n  context: 8\ntrain:\n  batch: 2\n  steps: 3\n  lr: 0.02\n' >hub.yaml
cat >wanted.txt <<TEXT
adapters      low-rank (LoRA), of rank 3, times 6 / 3
base          $WORK/base
modules       MODULES
parameters    SIZE
TEXT
"$RAPT" info one | sed 's/^modules .*/modules       MODULES/; s/^parameters .*/parameters    SIZE/' >got.txt
check 'rapt info' cmp wanted.txt got.txt
check 'rapt info: modules' sh -c "'$RAPT' info one | grep -Eq '^modules +([0-9]+): ([0-9]+) q, \\2 v, \\2 o$'"
check 'rapt info: shapes' sh -c "'$RAPT' info one --tensors | grep -Eq '^blocks.0.attention.q +A \[3, [0-9]+\], B \[[0-9]+, 3\]$'"
check 'rapt info: JSON' sh -c "'$RAPT' info one --json | tr -d ' \n' | grep -q '\"rank\":3,\"alpha\":6.0,\"rslora\":false,\"dora\":false,\"parameters\":[0-9]*,\"modules\":\[{\"name\":\"blocks.0.attention.q\",\"in\":'"
check 'rapt info: a tensor of the model with them' sh -c "'$RAPT' info one --tensor blocks.0.attention.q.weight >with; '$RAPT' info base --tensor blocks.0.attention.q.weight >without; test -s with && ! cmp -s with without"
refused 2 'not for adapters' 'rapt info --seal' "$RAPT" info one --seal

hub() { "$RAPT" train hub.yaml --quiet --init "$HUB/$1" --set train.lora.rank=2 --set train.lora.modules="$2" --out "$3" "${@:4}"; }
hub qwen2 all qwen2 2>err || cat err
check 'layers have the names of their files' grep -aq 'base_model.model.model.layers.1.mlp.gate_proj.lora_B.weight' qwen2/adapter_model.safetensors
"$RAPT" eval qwen2 text.txt --json >with && "$RAPT" eval "$HUB/qwen2" text.txt --json >without
check 'and change the loss' sh -c '! cmp -s with without'
for model in gpt2 gpt_neox phi3; do # several layers in one matrix; of gpt2 [in, out]
    hub $model all $model --threads 1 2>err || cat err
    hub $model all again --threads 3 && check "$model: the same bytes with three threads" cmp $model/adapter_model.safetensors again/adapter_model.safetensors
    hub $model all stopped-$model --max-steps 1 && "$RAPT" train --resume --out stopped-$model --quiet
    check "$model: and after a stop" cmp $model/adapter_model.safetensors stopped-$model/adapter_model.safetensors
    "$RAPT" eval $model text.txt --json >with && "$RAPT" eval "$HUB/$model" text.txt --json >without
    check "$model: the loss is another one" sh -c '! cmp -s with without'
    rm -r again
done
check 'of transposed matrices, too' grep -q '"fan_in_fan_out": true' gpt2/adapter_config.json
sharded() {
    hub gpt2 all "$1" --set train.shards=2 --set train.accumulate=2 --set train.lora.dropout=0.2 --threads "$2"
}
sharded shards 1 && sharded shards-three 3
check 'in shards: the same bytes with three threads' cmp shards/adapter_model.safetensors shards-three/adapter_model.safetensors
check 'in shards: adapters are trained' sh -c '! cmp -s shards/adapter_model.safetensors gpt2/adapter_model.safetensors'

hub phi3 all phi3-lengths --set train.lora.dora=true --set train.precision=bf16 --threads 1
hub phi3 all phi3-lengths-three --set train.lora.dora=true --set train.precision=bf16 --threads 3
check 'magnitudes of joint matrices: the same bytes with three threads' cmp phi3-lengths/adapter_model.safetensors phi3-lengths-three/adapter_model.safetensors
hub phi3 all phi3-lengths-read --set train.lora.dora=true --set train.precision=bf16 --set train.lora.hold=false
check 'magnitudes: the same bytes with a base in memory' cmp phi3-lengths/adapter_model.safetensors phi3-lengths-read/adapter_model.safetensors
for model in qwen2 gpt2 gpt_neox phi3 phi3-lengths; do
    merged $model "$HUB/${model%-*}" text.txt
done
make_pairs | head -40 >pairs.tsv
MARIAN=$SOURCE/tests/golden/hub_translation/marian
printf 'task: translation\ndata:\n  pairs: pairs.tsv\n  validation: pairs.tsv\n  max_len: 20\ntrain:\n  batch: 4\n  steps: 6\n  lr: 0.01\n' >pairs.yaml
pairs() { "$RAPT" train pairs.yaml --quiet --init "$MARIAN" --set train.lora.rank=2 --out "$1" --threads "$2" 2>err || cat err; }
pairs marian 1 && pairs marian-three 3
check 'a translator: the same bytes with three threads' cmp marian/adapter_model.safetensors marian-three/adapter_model.safetensors
merged marian "$MARIAN" pairs.tsv
loss() { sed -nE "s/.*\"$1\": ([0-9]+\.[0-9]{4}).*/\1/p" "$2" | tail -1; }
check 'its loss is that of the training' test "$(loss val_loss marian/train.jsonl)" = "$(loss loss beside)"
"$RAPT" eval "$MARIAN" pairs.tsv --json >without 2>/dev/null
check 'and not that of the base' test "$(loss loss without)" != "$(loss loss beside)"
refused 1 'marian: a run that trained adapters' 'an average' "$RAPT" average marian -o m

# Weights of fewer bits.
for weights in bf16 q8_0; do
    "$RAPT" convert base --weights $weights -o few-$weights >/dev/null 2>&1
    "$RAPT" train hub.yaml --quiet --init few-$weights --out tuned-$weights 2>err
    check "starting from $weights is told" grep -q "^rapt: warning: few-$weights: .* weights of fewer bits (${weights^^})$" err
    check "$weights: training widens them" sh -c "test -s tuned-$weights/model.safetensors && '$RAPT' info tuned-$weights --seal"
done
refused 1 'train.lora: few-q8_0 stores weights in blocks \(Q8_0\), which take no adapters' 'adapters of blocks' \
    "$RAPT" train lora.yaml --quiet --init few-q8_0 --out m
check 'adapters of BF16' sh -c "'$RAPT' train lora.yaml --quiet --init few-bf16 --out of-bf16 && '$RAPT' eval of-bf16 text.txt"
cp "$SOURCE/tests/golden/gguf/bpe.gguf" . && hub qwen2 all of-gguf --max-steps 1
sed -i "s|\"base_model_name_or_path\": \"[^\"]*\"|\"base_model_name_or_path\": \"$WORK/bpe.gguf\"|" of-gguf/adapter_config.json
refused 1 'bpe.gguf --to hf -o DIR`' 'adapters of a GGUF file' "$RAPT" eval of-gguf text.txt

refused 1 'no layer of the model is called "q"; there are c_attn,c_proj,c_fc' 'a part of a joint matrix' \
    "$RAPT" train hub.yaml --init "$HUB/gpt2" --set train.lora.rank=2 --set train.lora.modules=q --out m
finish
