#!/bin/bash
# tests/cli/check_info.sh: `rapt info` says what a model is, from its config.json; `rapt info --tensors` lists what
# model.safetensors holds, no more and no less.
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
train pairs --set train.steps=2 || exit 1
train later --set train.steps=2 --set model.positions=learned --set model.norm_kind=rms --set model.ffn_kind=swiglu \
    --set model.kv_heads=1 --set model.norm_place=pre || exit 1
for positions in learned rotary; do
    "$RAPT" train lm.yaml --quiet --out $positions --set train.steps=2 --set model.positions=$positions || exit 1
done
in_file() { # MODEL: the names in the header of its file
    local size
    size=$(od -An -t u8 -N 8 "$1/model.safetensors" | tr -d ' ')
    head -c $((size + 8)) "$1/model.safetensors" | tail -c "$size" | grep -o '"[a-z][a-z0-9_.]*":{"dtype"' | cut -d'"' -f2 | sort
}
for model in pairs later learned rotary; do
    check "$model: tensors of the file" test "$(in_file $model | wc -l)" -gt 10
    check "$model: as a list" cmp <(in_file $model) <(tensor_names $model | sort)
    check "$model: as JSON" cmp <(in_file $model) <("$RAPT" info $model --tensors --json |
        grep -o '"name": "[^"]*"' | cut -d'"' -f4 | sort)
done
check 'a translation model' sh -c "'$RAPT' info pairs | grep -q '^blocks .* encoder, .* decoder, post-norm, layer norm\$'"
check 'a translation model with what came later' cmp <("$RAPT" info later | grep -E '^(blocks|d_model|sentences)') <(printf '%s\n' \
    'blocks        1 encoder, 1 decoder, pre-norm, rms norm' 'd_model       16, 2 heads, 1 of keys and values, ffn 32 (swiglu)' \
    'sentences     up to 12 tokens, 40 learned positions')
check 'a language model' sh -c "'$RAPT' info rotary | grep -q '^blocks .*, pre-norm, layer norm'"
check 'nothing is missing' sh -c "! '$RAPT' info pairs | grep null && ! '$RAPT' info rotary | grep null"
# One tensor: the sines of the first position are 0, the cosines 1; a norm that was never trained is ones.
"$RAPT" info pairs --tensor encoder.positions.table --table >table.txt
check 'a buffer as a table' sh -c "head -1 table.txt | grep -Eq '^encoder.positions.table  \[[0-9]+, [0-9]+\]$' &&
    sed -n 3p table.txt | grep -Eq '^0 +0\.0+ +1\.0+ '"
check 'as PyTorch prints it' sh -c "'$RAPT' info pairs --tensor encoder.positions.table | sed -n 2p | grep -Eq '^tensor\(\[\[ ?0\.'"
check 'all of it' sh -c "! '$RAPT' info pairs --tensor encoder.positions.table --full | grep -F ..."
check 'as JSON' sh -c "'$RAPT' info pairs --tensor encoder.positions.table --json | grep -q '\"buffer\": true, \"values\": \[0, 1, 0, 1'"
check 'an unknown tensor' sh -c "! '$RAPT' info pairs --tensor encoder.position.table 2>err.txt &&
    grep -q 'did you mean .encoder.positions.table' err.txt"
check 'COLUMNS' sh -c "COLUMNS=30 '$RAPT' info pairs --tensor encoder.positions.table --table | awk 'length > 30 && NR > 1 { exit 1 }'"
check 'options of a tensor alone' sh -c "! '$RAPT' info pairs --full 2>/dev/null && ! '$RAPT' info --tensor x 2>/dev/null"
refused 2 'not both' 'one tensor or the list' "$RAPT" info pairs --tensor encoder.positions.table --tensors
refused 2 'not both' 'a table or JSON' "$RAPT" info pairs --tensor encoder.positions.table --table --json

# A recipe: what its run would take, as `rapt train` says; nothing is written.
TMPDIR=$PWD/tmp && mkdir tmp && export TMPDIR
"$RAPT" train tiny.yaml --out planned --max-steps 0 2>plan.txt || exit 1
check 'a recipe: memory as of train' cmp <(sed -n 's/^memory: //p' plan.txt) <("$RAPT" info tiny.yaml | sed -n 's/^memory  *//p')
check 'a recipe: parameters as of train' cmp <(sed -n 's/^model: \([0-9]*\) .*/\1/p' plan.txt) \
    <("$RAPT" info tiny.yaml --json | sed -n 's/.*"parameters": \([0-9]*\),$/\1/p' | head -1)
check 'a recipe: tokens of a step' sh -c "'$RAPT' info lm.yaml --set train.accumulate=3 | grep -q '^a step        288 target tokens'"
check 'nothing is left' test -z "$(ls tmp)"
refused 1 'cannot read .*none.tsv' 'a recipe without its data' "$RAPT" info tiny.yaml --set data.pairs=none.tsv
check 'nothing is left of a failure' test -z "$(ls tmp)"

# On a network: 94 % of the rate, more machines only while a step has an example for each, never more than recipe or table allow.
"$RAPT" info lm.yaml --cluster 1G --flops 200G --json >cluster.json
field() { sed -n "s/.*\"$1\": \([0-9.e+-]*\),\{0,1\}\$/\1/p" "${2:-cluster.json}"; }
check 'network' test "$(field network_bytes_per_s)" = 117500000.0
check 'flops' test "$(field flops)" = 200000000000.0
check 'machines: 8 windows a step' test "$(field machines | tr '\n' ' ')" = '1 2 4 8 '
check 'of them each has a shard' test "$(field shards | tr '\n' ' ')" = '1 2 4 8 '
"$RAPT" info lm.yaml --cluster 1G --flops 200G --set train.batch=1000 --set train.accumulate=64 --json >large.json
check 'machines: at most 1,024' test "$(field machines large.json | tail -1)" = 1024
check 'batches are cut where there are too few' test "$(field accumulate large.json | tr '\n' ' ')" = '64 64 64 64 64 64 64 128 256 512 1024 '
check 'a table' sh -c "'$RAPT' info lm.yaml --cluster 1G --flops 200G | grep -q '^A second machine does not pay off'"
check 'a table of what pays off' sh -c "'$RAPT' info lm.yaml --cluster 100G --flops 1G --set train.batch=1000 |
    grep -q '^Up to [0-9]* machines pay off'"
check 'measured' sh -c "'$RAPT' info lm.yaml --cluster 1G | grep -q 'GFLOP/s in training (this one: '"
check 'of a model folder' sh -c "'$RAPT' info learned --cluster 10G --flops 1T | grep -q '^model  *[0-9]* parameters; a step has 96'"
for rate in 10 1Q G 10GG -1G nan; do
    refused 2 'is not a rate' "--cluster $rate" "$RAPT" info lm.yaml --cluster=$rate
done
refused 2 'missing operand: --cluster' '--cluster without a recipe' "$RAPT" info --cluster 1G
refused 2 'not for a recipe' 'tensors of a recipe' "$RAPT" info lm.yaml --tensors
refused 2 '--flops needs --cluster' '--flops alone' "$RAPT" info lm.yaml --flops 1T
refused 2 'is for a recipe' '--set of a model' "$RAPT" info learned --set train.lr=1
finish
