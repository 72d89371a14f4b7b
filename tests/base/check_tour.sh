#!/bin/bash
# tests/base/check_tour.sh: the structs and the calls of docs/tour.md and docs/journeys are as in the sources, and tools/check_tour.sh notices a
# difference: in a copy, one break at a time.
# labels: not-sanitized
root=$(cd "$(dirname "$0")/../.." && pwd)
passed=0 failed=0
tally() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "ok    $2"; else failed=$((failed + 1)); echo "FAIL  $2"; fi; }
"$root/tools/check_tour.sh"
tally $? 'the tour'

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root"/{docs,include,src} "$copy"
cd "$copy" || exit 1
# breaks NAME PATTERN FILE SCRIPT: sed's SCRIPT changes FILE, of which the check is to say PATTERN.
names=() patterns=()
breaks() {
    names+=("$1") patterns+=("$2")
    cp "$3" kept
    sed -i "$4" "$3"
    ! cmp -s kept "$3"
    tally $? "changed for: $1"
}
# The check fails with what was broken since it was called last.
are_noticed() {
    local i
    ! "$root/tools/check_tour.sh" "$copy" >out
    tally $? 'the breaks'
    for i in "${!names[@]}"; do
        grep -q "${patterns[i]}" out
        tally $? "noticed: ${names[i]}"
    done
    names=() patterns=()
    cp -r "$root"/{docs,include,src} "$copy"
}
"$root/tools/check_tour.sh" "$copy" >out
tally $? 'the copy'
breaks 'a field that is gone' 'struct rapt_tensor in include/rapt/tensor.h has no requires_grad' include/rapt/tensor.h \
    '/bool requires_grad;/d'
breaks 'a struct that is gone' 'no struct rapt_model in src/io/model_core.h' src/io/model_core.h 's/struct rapt_model {/struct model {/'
breaks 'a function of another name' 'src/train/train.c does not define step_once' src/train/train.c \
    's/rapt_code step_once(/rapt_code one_step(/'
breaks 'a call that is gone' 'step_norm does not call rapt_grad_norm' src/train/step.c 's/rapt_grad_norm(/other(/'
are_noticed
breaks 'a call that is in a comment only' 'step_norm does not call rapt_grad_norm' src/train/step.c \
    's|^.*rapt_grad_norm(.*|    /* rapt_grad_norm(r->tape, r->model->params) */|'
breaks 'a pointer that is not called' 'tape_traverse does not call node->forward' docs/journeys/batch.md \
    's/\(linear_backward .*via node->\)backward/\1forward/'
breaks 'a function that is not handed on' 'rapt_encoder_forward does not hand on rapt_encoder_block_forward' docs/journeys/batch.md \
    's|^\( *\)encoder_run_block .*|\1rapt_encoder_block_forward nn/encoder.c as an argument|'
breaks 'a folder without a row' 'the map has no row of src/engine' docs/tour.md '/^| \[engine\]/d'
breaks 'a row without a folder' 'the map has a row of no folder: motor' docs/tour.md 's/^| \[view\](/| [motor](&/'
breaks 'a file that a list lacks' 'the list does not have src/io/hub/hub_activation.c' docs/tour.md 's|(../src/io/hub/hub_activation.c)|(gone)|'
breaks 'a file that is gone' 'no file src/train/gone.c' docs/journeys/batch.md 's|rapt_train  .*|rapt_train train/gone.c|'
are_noticed
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
