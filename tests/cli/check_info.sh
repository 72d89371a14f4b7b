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
finish
