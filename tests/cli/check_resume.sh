#!/bin/bash
# tests/cli/check_resume.sh: stopped and resumed anywhere, by itself, by kill -9 or by Ctrl-C, training gives the bytes
# of a run that never stopped.
# labels: raced-late
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
signals='INT TERM HUP'
[ -z "$DRIVE" ] || signals=INT # Windows has no other signal that a program hears
for name in $signals; do
    "$RAPT" train tiny.yaml --quiet --out stopped-$name "${unending[@]}" 2>stopped.err &
    child=$!
    wait_for_step stopped-$name 100
    kill -$name $child
    wait $child
    status=$?
    step=$(newest stopped-$name)
    check "SIG$name: exit status 128 and its number" test $status = $((128 + $(kill -l $name)))
    check "SIG$name: one line" test "$(wc -l <stopped.err)" = 1
    check "SIG$name: that names the step and --resume" grep -q "^rapt: stopped after step $step of 1000000.*--resume" stopped.err
    check "SIG$name: the model can be used" "$RAPT" info stopped-$name
    long stopped-$name --resume --max-steps $((step + 70)) && long straight-$name --max-steps $((step + 70))
    check "SIG$name and resume = never stopped" same_model straight-$name stopped-$name
done

# ---- stopped, and asked for again ----------------------------------------------------------------------------------
train waits --max-steps 33 && cp waits/train.jsonl before && train waits --resume --max-steps 33
check 'a call without a step leaves the line that was there' diff <(timeless before) <(timeless waits/train.jsonl)
"$RAPT" train tiny.yaml --out waits --resume --max-steps 10 2>told
check 'and tells no steps that are not' grep -q 'step 33/33 ' told
train waits --resume
check 'and changes nothing' same_model whole waits

# ---- an epoch's batches, however many make a step ------------------------------------------------------------------
# 240 pairs in batches of 100: 3 batches an epoch, 30 in 10 epochs.
epochs() { train "$1" --set data.validation_fraction=0 --set train.batch=100 --set train.steps=0 --set train.epochs=10 --set train.report_every=0 "${@:2}"; }
reports() { sed -E 's/.*"step": ([0-9]+), "epoch": ([0-9]+).*/\1:\2/' "$1/train.jsonl" | tr '\n' ' '; }
epochs by-1
check 'a batch a step' test "$(reports by-1)" = '3:1 6:2 9:3 12:4 15:5 18:6 21:7 24:8 27:9 30:10 '
epochs by-2 --set train.accumulate=2
check 'two batches a step' test "$(reports by-2)" = '2:1 3:2 5:3 6:4 8:5 9:6 11:7 12:8 14:9 15:10 '
epochs by-4 --set train.accumulate=4
check 'more than an epoch has' test "$(reports by-4)" = '1:1 2:2 3:3 4:5 5:6 6:7 7:9 8:10 '
"$RAPT" train tiny.yaml --out by-told --set data.validation_fraction=0 --set train.batch=100 --set train.steps=0 --set train.epochs=10 --set train.accumulate=4 2>told
check 'and as many are told' grep -q '^epoch 10/10  step 8/8 ' told

# ---- a folder that a run would write over --------------------------------------------------------------------------
for name in config.json model.safetensors recipe.yaml train.jsonl validation.tsv; do
    mkdir own && cp tiny.yaml own/$name
    refused 1 "own holds $name and no checkpoint" "a folder with $name" "$RAPT" train tiny.yaml --quiet --out own
    check 'it is as it was' cmp tiny.yaml own/$name
    rm -r own
done
mkdir own && cp tiny.yaml own/recipe.yaml && cp pairs.tsv own
refused 1 'own holds recipe.yaml' "the recipe's own folder" "$RAPT" train own/recipe.yaml --quiet --out own
cp -r whole/best ship && before=$(listing ship)
refused 1 'ship holds config.json' 'a model that was shipped' "$RAPT" train tiny.yaml --quiet --out ship
check 'it is as it was' test "$before" = "$(listing ship)"
cp -r halves early && rm -r early/checkpoints early/{model.safetensors,best,train.jsonl} && cp -r early early-2 && train early --resume
check 'a run that stopped before its first checkpoint starts again' same_model whole early
>early-2/train.jsonl && train early-2 --resume
check 'with a log that has no line yet, too' same_model whole early-2

# ---- what --resume takes -------------------------------------------------------------------------------------------
train free --max-steps 50 && train free --resume --set train.keep=7 --set train.checkpoint_every=30 --set train.eval_bleu=true \
    --set train.patience=99
check 'other checkpoints, BLEU and patience' cmp whole/model.safetensors free/model.safetensors
check 'and the same best model' cmp whole/best/model.safetensors free/best/model.safetensors

train slower --max-steps 50 && "$RAPT" train tiny.yaml --quiet --out slower --resume --set train.lr=0.002 2>told
check 'another learning rate, with a warning' grep -q \
    'warning: from step 51 on with train.lr 0.002 (was 0.01): no recipe alone gives this result' told
check 'which the recipe of the folder has' grep -qx '  lr: 0.002' slower/recipe.yaml
"$RAPT" train --quiet --resume --out slower 2>told
check 'and which is no change any more' test "$(grep -c 'train.lr' told)" = 0

# ---- what --resume refuses -----------------------------------------------------------------------------------------
before=$(listing whole)
refused 1 'whole holds checkpoints of an earlier run.*--resume' 'a folder with checkpoints, without --resume' \
    "$RAPT" train tiny.yaml --quiet --out whole
refused 1 'whole: .*another recipe: train.clip is "0.5", and "1" in its recipe.yaml' 'another norm of the gradients' \
    "$RAPT" train tiny.yaml --quiet --out whole --resume --set train.lr=0.02 --set train.clip=0.5
refused 1 'whole: .*another recipe: seed is "8", and "7" in' 'another seed' "$RAPT" train tiny.yaml --quiet --out whole --resume --seed 8
tac pairs.tsv >changed.tsv
refused 1 'whole: .*or data' 'data that has changed' \
    "$RAPT" train tiny.yaml --quiet --out whole --resume --set data.pairs=changed.tsv
refused 1 'whole: .*model.ffn is "48"' 'another model' "$RAPT" train tiny.yaml --quiet --out whole --resume --set model.ffn=48
check 'the folder is as it was' test "$before" = "$(listing whole)"
head -200 pairs.tsv >first && tail -40 pairs.tsv >last && head -199 pairs.tsv >first.less && tail -41 pairs.tsv >last.more
train parts --set data.validation_fraction=0 --set data.pairs=first --set data.validation=last --max-steps 20
refused 1 'parts: .*or data' 'a pair that is held out now' "$RAPT" train tiny.yaml --quiet --out parts --resume \
    --set data.validation_fraction=0 --set data.pairs=first.less --set data.validation=last.more
cp pairs.tsv moved.tsv
cp -r halves elsewhere
check 'the same data at another place' "$RAPT" train tiny.yaml --quiet --out elsewhere --resume --set data.pairs=moved.tsv
cp -r whole damaged
printf x | dd of=damaged/checkpoints/step-00000120.safetensors bs=1 seek=50000 conv=notrunc status=none
before=$(listing damaged)
refused 1 'damaged/checkpoints/step-00000120.safetensors.*; the checkpoint of step [0-9]+ is whole: to resume from it, move that of step 120 away' \
    'a damaged checkpoint, and the one that is whole' \
    "$RAPT" train tiny.yaml --quiet --out damaged --resume
check 'and leaves it at that' test "$before" = "$(listing damaged)"
rm damaged/checkpoints/step-00000120.safetensors
train damaged --resume
check 'the checkpoint before it leads to the same end' same_model whole damaged

# A folder that is moved with its data: its paths lead nowhere, and its recipe says where they are from there.
mkdir -p here/runs
cp pairs.tsv here
(cd here && "$RAPT" train ../tiny.yaml --quiet --out runs/moved --set data.pairs=pairs.tsv --max-steps 40)
check 'absolute, and from the folder' grep -qx "# from this folder ../../pairs.tsv is $DRIVE$WORK/here/pairs.tsv" \
    here/runs/moved/recipe.yaml
mv here there
check 'a folder that was moved with its data' "$RAPT" train --quiet --resume --out there/runs/moved
check 'leads to the same end' same_parameters whole/model.safetensors there/runs/moved/model.safetensors
cp -r there/runs/moved alone # the data stay where they are
check 'and has its own paths again' grep -qx "  pairs: \"$DRIVE$WORK/there/pairs.tsv\"" there/runs/moved/recipe.yaml
check 'so that the folder can be moved alone' "$RAPT" train --quiet --resume --out alone --set train.steps=200
sed -i "s|pairs: .*|pairs: /of/another/machine/pairs.tsv|" alone/recipe.yaml
refused 1 'cannot read /of/another/machine/pairs.tsv' 'a path that was changed is not replaced' "$RAPT" train --quiet --resume --out alone

# A folder that somebody else began has the paths of that machine.
train shared --max-steps 40
sed -i "s|pairs: .*|pairs: /of/another/machine/pairs.tsv|" shared/recipe.yaml
refused 1 'cannot read /of/another/machine/pairs.tsv: .*; if it is elsewhere now: --set data.pairs=PATH' 'data that are elsewhere' \
    "$RAPT" train --quiet --resume --out shared
check 'as it says' "$RAPT" train --quiet --resume --out shared --set data.pairs=pairs.tsv
check 'and it is the same model' same_model whole shared
finish
