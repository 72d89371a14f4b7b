#!/bin/bash
# tests/windows/kills.sh: a run that is killed at random moments, and resumed each time, loses nothing that a checkpoint had, and
# ends with the numbers of a run that nobody killed. For tools/windows_tests.sh; RAPT may be any program of rapt.
# KILLS is the number of kills (100), SEED chooses the moments.
. "$(dirname "$0")/../cli/lib.sh"
make_inputs
KILLS=${KILLS:-100}
RANDOM=${SEED:-36}
run=(--set train.steps=100000000 --set train.checkpoint_every=5 --set train.report_every=1000)

# The step of the newest checkpoint; 0: there is none.
newest_step() { local last; last=$(ls killed/checkpoints 2>/dev/null | sed -nE 's/^step-0*([0-9]+)\.safetensors$/\1/p' | sort -n | tail -1); echo "${last:-0}"; }

lost=0 unusable=0 told=0 before=0
for ((i = 0; i < KILLS; i++)); do
    "$RAPT" train tiny.yaml --quiet --out killed "${run[@]}" --resume 2>killed.err &
    child=$!
    sleep "$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 1000)))"
    kill -9 $child 2>/dev/null || told=$((told + 1))
    wait $child 2>/dev/null # also keeps the shell from telling about it
    grep -q '^rapt' killed.err && { echo "run $i: $(head -1 killed.err)"; unusable=$((unusable + 1)); }
    after=$(newest_step)
    [ "$after" -ge "$before" ] || { lost=$((lost + 1)); echo "kill $i: step $after after step $before"; }
    before=$after
done
echo "$KILLS kills, $told of them after the end of a run; the newest checkpoint is of step $before"
check 'it was killed while it was running' test $told = 0
check 'no checkpoint was lost' test $lost = 0
check 'each run could be resumed' test $unusable = 0
check 'the run made progress' test "$before" -gt 0
check 'resumed to the end' train killed "${run[@]}" --resume --max-steps $((before + 20))
check 'never killed' train unharmed "${run[@]}" --set train.checkpoint_every=1000000 --max-steps $((before + 20))
check 'the numbers of a run that nobody killed' same_parameters unharmed/model.safetensors killed/model.safetensors
check 'no temporary file is left' test -z "$(find killed -name '*.tmp')"
finish
