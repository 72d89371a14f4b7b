#!/bin/bash
# tests/cli/check_resume.sh: stopped and resumed anywhere, by itself, by kill -9 or by Ctrl-C, training gives the bytes
# of a run that never stopped.
. "$(dirname "$0")/lib.sh"
make_inputs
unending=(--set train.steps=1000000 --set train.checkpoint_every=100 --set train.report_every=50)
long() { train "$@" "${unending[@]}"; }

# ---- stopped by --max-steps ----------------------------------------------------------------------------------------
train whole && train halves --max-steps 60 && train halves --resume
check '60 steps and 60 more = 120 steps' same_model whole halves
train odd --max-steps 33 && train odd --resume --max-steps 34 && train odd --resume --threads 3
check '33, 1 and 86 steps with other threads = 120 steps' same_model whole odd
cp -r whole again && train again --resume
check 'resuming what is finished changes nothing' same_model whole again
train fresh --resume
check '--resume without a checkpoint starts at the beginning' same_model whole fresh
check 'the newest checkpoints are kept, as many as the recipe says' test "$(ls whole/checkpoints)" = \
    "$(printf 'step-00000100.safetensors\nstep-00000120.safetensors')"

# ---- kill -9 -------------------------------------------------------------------------------------------------------
"$RAPT" train tiny.yaml --quiet --out killed "${unending[@]}" &
child=$!
wait_for_step killed 200
check 'kill -9: it was running' kill -9 $child
wait $child 2>/dev/null # also keeps the shell from telling about it
until_step=$(($(newest killed) + 130))
long killed --resume --max-steps $until_step && long unharmed --max-steps $until_step
check 'kill -9 and resume = never stopped' same_model unharmed killed

# ---- Ctrl-C --------------------------------------------------------------------------------------------------------
for name in INT TERM; do
    "$RAPT" train tiny.yaml --quiet --out stopped-$name "${unending[@]}" 2>stopped.err &
    child=$!
    wait_for_step stopped-$name 100
    kill -$name $child
    wait $child
    status=$?
    step=$(newest stopped-$name)
    check "SIG$name: exit status 1" test $status = 1
    check "SIG$name: one line" test "$(wc -l <stopped.err)" = 1
    check "SIG$name: that names the step and --resume" grep -q "^rapt: stopped after step $step of 1000000.*--resume" stopped.err
    check "SIG$name: the model can be used" "$RAPT" info stopped-$name
    long stopped-$name --resume --max-steps $((step + 70)) && long straight-$name --max-steps $((step + 70))
    check "SIG$name and resume = never stopped" same_model straight-$name stopped-$name
done

# ---- what --resume refuses -----------------------------------------------------------------------------------------
before=$(listing whole)
refused 1 'whole holds checkpoints of an earlier run.*--resume' 'a folder with checkpoints, without --resume' \
    "$RAPT" train tiny.yaml --quiet --out whole
refused 1 'whole: .*another recipe' 'another learning rate' \
    "$RAPT" train tiny.yaml --quiet --out whole --resume --set train.lr=0.02
refused 1 'whole: .*another recipe' 'another seed' "$RAPT" train tiny.yaml --quiet --out whole --resume --seed 8
tac pairs.tsv >changed.tsv
refused 1 'whole: .*or data' 'data that has changed' \
    "$RAPT" train tiny.yaml --quiet --out whole --resume --set data.pairs=changed.tsv
refused 1 'whole' 'another model' "$RAPT" train tiny.yaml --quiet --out whole --resume --set model.ffn=48
check 'the folder is as it was' test "$before" = "$(listing whole)"
cp pairs.tsv moved.tsv
cp -r halves elsewhere
check 'the same data at another place' "$RAPT" train tiny.yaml --quiet --out elsewhere --resume --set data.pairs=moved.tsv
cp -r whole damaged
printf x | dd of=damaged/checkpoints/step-00000120.safetensors bs=1 seek=50000 conv=notrunc status=none
before=$(listing damaged)
refused 1 'damaged/checkpoints/step-00000120.safetensors' 'a damaged checkpoint' \
    "$RAPT" train tiny.yaml --quiet --out damaged --resume
check 'and leaves it at that' test "$before" = "$(listing damaged)"
rm damaged/checkpoints/step-00000120.safetensors
train damaged --resume
check 'the checkpoint before it leads to the same end' same_model whole damaged
finish
