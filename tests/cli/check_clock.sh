#!/bin/bash
# tests/cli/check_clock.sh: checkpoints by the clock, and what ends a run: signals that come once, twice and not at all. Takes
# some 15 s, because one of the times is the time of a checkpoint.
. "$(dirname "$0")/lib.sh"
make_inputs
unending=(--set train.steps=100000000 --set train.report_every=100000000 --threads 1)

# ---- ten seconds, whatever the length of an epoch --------------------------------------------------------------------
"$RAPT" train tiny.yaml --quiet --out long "${unending[@]}" --set train.checkpoint_every=0 &
long=$!

# ---- the terminal is closed ------------------------------------------------------------------------------------------
# start FOLDER COMMAND...: in the background, until it has a checkpoint.
start() {
    "${@:2}" "$RAPT" train tiny.yaml --quiet --out "$1" "${unending[@]}" 2>"$1.told" &
    child=$!
    wait_for_step "$1" 20
}
start nohup env --ignore-signal=HUP
kill -HUP $child
before=$(newest nohup)
wait_for_step nohup $((before + 60))
check 'a run that ignores SIGHUP, as under nohup, runs on' kill -TERM $child
wait $child
check 'and ends by SIGTERM' test $? = 143
check 'in one line' grep -Eqx 'rapt: stopped after step [0-9]+ of .*--resume.*' nohup.told
start twice env
kill -HUP $child
kill -HUP $child
wait $child
check 'SIGHUP may come twice' test $? = 129

# ---- timeout sends its signal twice, at once -------------------------------------------------------------------------
for name in INT TERM; do
    timeout --preserve-status -s $name 1 "$RAPT" train tiny.yaml --quiet --out timeout-$name "${unending[@]}" 2>told
    check "timeout -s $name: a status of a run that was stopped" test $? = $((128 + $(kill -l $name)))
    check 'a message' grep -q '^rapt: stopped after step' told
    check 'and a checkpoint' test "$(newest timeout-$name)" -gt 0
done

# ---- a second Ctrl-C -------------------------------------------------------------------------------------------------
# A step of many seconds, so that the first one is not heeded yet.
mapfile -t slow < <(printf -- '--set\n%s\n' model.d_model=256 model.ffn=4096 model.layers=6 model.heads=8 train.batch=240 data.validation_fraction=0)
"$RAPT" train tiny.yaml --out slow "${slow[@]}" --set train.steps=2 --threads 1 2>told &
child=$!
for _ in {1..1500}; do [ -e slow/recipe.yaml ] && break; sleep 0.02; done # what the set-up writes last
sleep 0.3
kill -INT $child
sleep 0.8
kill -INT $child 2>/dev/null
wait $child 2>/dev/null
check 'the second Ctrl-C: by the signal' test $? = 130
check 'at once' test -z "$(grep '^rapt: ' told)"

# ---- after ten seconds -----------------------------------------------------------------------------------------------
for _ in {1..1500}; do [ "$(newest long)" -gt 0 ] && break; sleep 0.02; done
step=$(newest long)
check 'a checkpoint, though there was no report' test "$step" -gt 0
check 'the model with it' "$RAPT" info long
check 'it was running' kill -9 $long
wait $long 2>/dev/null
check 'no report' test ! -s long/train.jsonl
check 'it can be resumed' "$RAPT" train tiny.yaml --quiet --out long --resume "${unending[@]}" --max-steps $((step + 50))
check 'and goes on to the step that is asked for' grep -Eq "\"step\": $((step + 50)), \"epoch\": [0-9]+, \"loss\": [0-9.]+, .*\"partial\": true" long/train.jsonl
finish
