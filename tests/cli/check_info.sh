#!/bin/bash
# tests/cli/check_info.sh: `rapt info` says what a model is, from its config.json; `rapt info --tensors` lists what
# model.safetensors holds, no more and no less.
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
train pairs --set train.steps=2 || exit 1
for positions in learned rotary; do
    "$RAPT" train lm.yaml --quiet --out $positions --set train.steps=2 --set model.positions=$positions || exit 1
done
in_file() { # MODEL: the names in the header of its file
    local size
    size=$(od -An -t u8 -N 8 "$1/model.safetensors" | tr -d ' ')
    head -c $((size + 8)) "$1/model.safetensors" | tail -c "$size" | grep -o '"[a-z][a-z0-9_.]*":{"dtype"' | cut -d'"' -f2 | sort
}
for model in pairs learned rotary; do
    check "$model: tensors of the file" test "$(in_file $model | wc -l)" -gt 10
    check "$model: as a list" cmp <(in_file $model) <(tensor_names $model | sort)
    check "$model: as JSON" cmp <(in_file $model) <("$RAPT" info $model --tensors --json |
        grep -o '"name": "[^"]*"' | cut -d'"' -f4 | sort)
done
check 'a translation model' sh -c "'$RAPT' info pairs | grep -q '^blocks .* encoder, .* decoder, post-norm\$'"
check 'a language model' sh -c "'$RAPT' info rotary | grep -q '^blocks .*, pre-norm, layer norm'"
check 'nothing is missing' sh -c "! '$RAPT' info pairs | grep null && ! '$RAPT' info rotary | grep null"
finish
