#!/bin/bash
# tests/cli/check_folders.sh: a model folder has one writer at a time, and what can't be examined is not taken for what isn't
# there: two runs at once, --resume without its checkpoints, averages of fewer than there are, what killed runs leave.
# FOLDER_PAIRS is the number of pairs of runs that start at once (default 6).
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe characters | sed 's/_every: 20/_every: 3/' >lm.yaml
sed -i 's/_every: 20/_every: 3/' tiny.yaml
PAIRS=${FOLDER_PAIRS:-6}

# ---- two runs at once in one new folder ----------------------------------------------------------------------------
steps_of() { sed -n 's/^  steps: //p' "$1/recipe.yaml"; }
width_of() { sed -n 's/^  d_model: //p' "$1/recipe.yaml"; }
# The folder has exactly one run: its model, its recipe, its last checkpoint, a line of the log for each report.
is_whole() {
    local steps
    steps=$(steps_of two)
    "$RAPT" info two && "$RAPT" info two/best && [ "$(newest two)" = "$steps" ] && [ "$(wc -l <two/train.jsonl)" = $((steps / 3)) ] &&
        [ "$(ls -A two)" = "$(ls -A "like-$(width_of two)")" ] && cmp two/model.safetensors "like-$(width_of two)/model.safetensors"
}
one_run() { "$RAPT" train lm.yaml --quiet --threads 1 --out "$1" --set train.steps=$2 --set model.d_model=$3; }
one_run like-16 30 16 && one_run like-32 45 32
refusals=0 wholes=0
for ((i = 0; i < PAIRS; i++)); do
    rm -rf two
    one_run two 30 16 2>err.1 &
    child=$!
    [ $((i % 3)) = 0 ] || sleep 0.0$((i % 7))
    one_run two 45 32 2>err.2
    second=$?
    wait $child
    first=$?
    # The other one may be so new that it hasn't told its number yet, or done already.
    if [ $((first + second)) = 1 ] && [ "$(cat err.1 err.2 | wc -l)" = 1 ] && cat err.1 err.2 |
        grep -qE '^rapt: two(: (process [0-9]+ on .*|another process) writes into this folder| holds checkpoints of an earlier run.*)$'; then
        refusals=$((refusals + 1))
    else
        echo "      $first $second $(cat err.1 err.2)"
    fi
    if is_whole >>whole.out 2>&1; then wholes=$((wholes + 1)); fi
done
check "$PAIRS pairs of runs at once: one of each is refused" test $refusals = "$PAIRS"
check 'and the folder is the other one'"'"'s' test $wholes = "$PAIRS"

# ---- the same run resumed twice at once ----------------------------------------------------------------------------
"$RAPT" train lm.yaml --quiet --out once --set train.steps=200
"$RAPT" train lm.yaml --quiet --out half --set train.steps=200 --max-steps 20
kept=0
for ((i = 0; i < 3; i++)); do
    rm -rf two && cp -r half two
    "$RAPT" train lm.yaml --quiet --out two --set train.steps=200 --resume 2>/dev/null &
    "$RAPT" train lm.yaml --quiet --out two --set train.steps=200 --resume 2>/dev/null
    wait
    same_model once two >/dev/null && kept=$((kept + 1))
done
check 'resumed twice at once, the log has each line once' test $kept = 3

# ---- another command, and a holder that was killed -----------------------------------------------------------------
"$RAPT" train lm.yaml --quiet --out held --set train.steps=1000000 &
child=$!
wait_for_step held 6
refused 1 "held: process $child on .* writes into this folder" 'a run in the folder of another' "$RAPT" train lm.yaml --quiet --out held --resume
refused 1 "held: process $child on" 'an average into it' "$RAPT" average once -o held
refused 1 "held: process $child on" 'a seal' "$RAPT" info held --seal
refused 1 "held/best/..: process $child on" 'a seal of its best model' "$RAPT" info held/best --seal
check 'reading is no writing' "$RAPT" info held
kill -9 $child
wait $child 2>/dev/null
check 'kill -9 leaves the lock file' test -e held/.rapt-lock
step=$(newest held)
check 'which holds nobody up' "$RAPT" train lm.yaml --quiet --out held --set train.steps=1000000 --resume --max-steps $((step + 3))
check 'and goes with the next run' test ! -e held/.rapt-lock

# ---- checkpoints that can't be listed ------------------------------------------------------------------------------
train run --max-steps 40
mkdir disk && mv run/checkpoints disk && ln -s ../disk/checkpoints run/checkpoints
train run --resume --max-steps 42
check 'checkpoints on another disk' test "$(newest run)" = 42
mv disk away
before=$(listing run)
refused 1 'cannot read the folder run/checkpoints: it is a link that leads nowhere' '--resume while it is not mounted' \
    "$RAPT" train tiny.yaml --quiet --out run --resume
refused 1 'cannot read the folder run/checkpoints' 'an average' "$RAPT" average run
refused 1 'cannot read the folder run/checkpoints' 'a new run' "$RAPT" train tiny.yaml --quiet --out run
check 'all is as it was' test "$before" = "$(listing run)"
mkdir -p disk/checkpoints # an empty folder to mount on
refused 1 'run holds train.jsonl but no checkpoint to resume from' 'a log without checkpoints' "$RAPT" train tiny.yaml --quiet --out run --resume
rm run/train.jsonl
refused 1 'run holds best but no checkpoint' 'a best model without checkpoints' "$RAPT" train tiny.yaml --quiet --out run --resume
rm -r run/best
refused 1 'run holds model.safetensors but no checkpoint' 'a model without checkpoints' "$RAPT" train tiny.yaml --quiet --out run --resume
rm -r disk && mv away disk
if [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null; then
    as_other=()
    [ "$(id -u)" != 0 ] || as_other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    train locked --max-steps 9
    [ "$(id -u)" != 0 ] || { chown -R 65534:65534 locked && chmod 755 "$WORK"; }
    if "${as_other[@]}" test -x "$RAPT" && "${as_other[@]}" test -r tiny.yaml; then
        chmod 0333 locked/checkpoints
        before=$(cat locked/train.jsonl locked/model.safetensors | cksum)
        refused 1 'cannot read the folder locked/checkpoints: Permission denied' 'checkpoints without permission to list them' \
            "${as_other[@]}" "$RAPT" train tiny.yaml --quiet --out locked --resume
        check 'log and model are as they were' test "$before" = "$(cat locked/train.jsonl locked/model.safetensors | cksum)"
    else
        skip 'a folder without permission: another user has none to rapt itself'
    fi
else
    skip 'a folder without permission: root, and no setpriv'
fi

# ---- averages ------------------------------------------------------------------------------------------------------
train avg
refused 1 'avg is the run itself' 'an average over the run' "$RAPT" average avg -o avg
refused 1 'avg/best is the run itself' 'over its best model' "$RAPT" average avg -o avg/best
refused 1 'avg/checkpoints is the run itself' 'over its checkpoints' "$RAPT" average avg -o ./avg/checkpoints
cp -r avg cut && printf x >cut/checkpoints/step-00000120.safetensors
refused 1 'cut/checkpoints/step-00000120.safetensors' 'a checkpoint that is cut off' "$RAPT" average cut
check 'leaves no folder' test ! -e cut/average

# ---- what a killed run leaves --------------------------------------------------------------------------------------
train clean --max-steps 6
for f in clean/.model.safetensors.99.0.tmp clean/checkpoints/.step-00000003.safetensors.7.1.tmp clean/best/.config.json.12.0.tmp \
    clean/text.tokens.before; do
    : >$f
done
: >clean/.mine.tmp
train clean --resume --max-steps 9
check 'is removed by the next one' test -z "$(find clean -name '.*.[0-9].tmp' -o -name '*.before')"
check 'and nothing else is' test -e clean/.mine.tmp
finish
