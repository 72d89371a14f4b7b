#!/bin/bash
# tests/faults/check_faults.sh: one call of the system after the other fails, in train, train --resume, average, fetch and
# translate. Each time the command fails or does all that it should, nothing is lost that was there, and the next call, which
# nothing disturbs, has the right bytes. FAULT_STRIDE=1 lets each call fail; by default every one of the first 4 of a kind
# and each twelfth after them does.
# labels: not-emulated
# Each run syncs what it writes: on a disk that is half of the time, in memory nothing.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm
. "$(dirname "$0")/../cli/lib.sh"
SHIM=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")/tests/fault_shim.so
[ -z "$SANITIZED" ] || { skip 'faults: not with sanitizers, which want to be loaded first'; finish; }
[ -e "$SHIM" ] || { skip "faults: no $SHIM here"; finish; }
STRIDE=${FAULT_STRIDE:-12}
KINDS='opendir readdir open stat read mmap rename fsync link unlink mkdir flock'
make_pairs | head -60 >pairs.tsv
make_text | head -60 >text.txt
head -20 text.txt >more.txt
small() { sed -e 's/steps: 120/steps: 6/' -e 's/report_every: 20/report_every: 2/' -e 's/checkpoint_every: 20/checkpoint_every: 2/' \
    -e 's/validation_fraction: 0.1/validation_fraction: 0.2/'; }
make_recipe | small >tr.yaml
make_text_recipe characters | small | sed 's/^  text: .*/  text: text.txt:more.txt/' >lm.yaml

# with_fault KIND N COMMAND...: $status; fails where there is no Nth call.
with_fault() {
    rm -f hit
    timeout 60 env LD_PRELOAD="$SHIM" FAULT_KIND="$1" FAULT_N="$2" FAULT_UNDER="$WORK" FAULT_HIT="$WORK/hit" "${@:3}" >out 2>err </dev/null
    status=$?
    [ -e hit ]
}

# every_fault NAME PREPARE AFTER: PREPARE and AFTER are functions, the arguments of rapt are in the array command. AFTER fails
# where something was lost, or where $status is 0 and the result isn't right.
every_fault() {
    local name=$1 kind n step tried bad
    for kind in $KINDS; do
        n=1 step=1 tried=0 bad=
        while "$2" && with_fault "$kind" "$n" "$RAPT" "${command[@]}"; do
            tried=$((tried + 1))
            if [ $status -ge 126 ] || { [ $status != 0 ] && ! grep -q '^rapt' err; } || ! "$3" >why 2>&1; then
                bad="$bad $n($status: $(head -c 200 err | tr '\n' ' ')/$(head -c 200 why | tr '\n' ' '))"
            fi
            [ $n -lt 4 ] || step=$STRIDE
            n=$((n + step))
        done
        [ $tried = 0 ] || check "$name: $tried times $kind fails" test -z "$bad"
        [ -z "$bad" ] || echo "      $kind: $bad"
    done
}

"$RAPT" train tr.yaml --quiet --threads 1 --out tr.whole && "$RAPT" train lm.yaml --quiet --threads 1 --out lm.whole
for r in tr lm; do
    "$RAPT" train $r.yaml --quiet --threads 1 --out $r.half --max-steps 4
    "$RAPT" average $r.whole --last 1 -o $r.one && "$RAPT" average $r.whole --last 2 -o $r.two
done
cut -f1 pairs.tsv | head -5 >lines
"$RAPT" translate tr.whole lines >translated

nothing_fails() { ! with_fault open 1 "$RAPT" info tr.whole; }
if nothing_fails; then # a shim that nobody calls would make all of this pass
    fail 'a call fails where it should'
    finish
fi

# ---- a new folder --------------------------------------------------------------------------------------------------
nothing() { rm -rf m; }
# What is in the folder is either a run that can be resumed, or none at all: then it starts anew in an empty one.
new_is_right() {
    [ $status != 0 ] || same_model $r.whole m || return 1
    if [ -d m ] && ! "$RAPT" train $r.yaml --quiet --threads 1 --out m --resume; then
        [ "$(newest m)" = 0 ] || return 1
        rm -rf m
    fi
    [ -d m ] || "$RAPT" train $r.yaml --quiet --threads 1 --out m
    same_model $r.whole m && [ "$(ls -A m | sort)" = "$(ls -A $r.whole | sort)" ]
}
for r in tr lm; do
    command=(train $r.yaml --quiet --threads 1 --out m)
    every_fault "train $r" nothing new_is_right
done

# ---- a run that was stopped ----------------------------------------------------------------------------------------
half() { rm -rf m && cp -r $r.half m; }
# Lines of the log are as they were, seconds and all: the steps were not made again.
kept() { grep -v '"partial"' $r.half/train.jsonl | diff - <(grep -v '"partial"' m/train.jsonl | head -2); }
resumed_is_right() {
    kept && [ "$(newest m)" -ge 4 ] && "$RAPT" info m || return 1
    [ $status != 0 ] || same_model $r.whole m || return 1
    # Checkpoints of steps 2, 4 and 6 are made, and two are kept. If 2 could not be deleted after the last step, or 6 could not be
    # synced before it, 2 stays: the next call has nothing to do, and leaves all as it is.
    local over='^$'
    ! grep -Eq 'cannot (delete|read the folder|sync the folder of) m/checkpoints' err || over='^step-00000002.safetensors$'
    "$RAPT" train $r.yaml --quiet --threads 1 --out m --resume && kept && same_model $r.whole m &&
        [ "$(ls -A m m/checkpoints m/best | grep -v -e '^$' -e "$over")" = \
            "$(ls -A $r.whole $r.whole/checkpoints $r.whole/best | sed "s/$r.whole/m/" | grep -v '^$')" ]
}
for r in tr lm; do
    command=(train $r.yaml --quiet --threads 1 --out m --resume)
    every_fault "resume $r" half resumed_is_right
done

# ---- an average over an earlier one --------------------------------------------------------------------------------
one() { rm -rf m && cp -r $r.one m; }
average_is_right() {
    "$RAPT" info m && { cmp $r.two/model.safetensors m/model.safetensors || { [ $status != 0 ] &&
        cmp $r.one/model.safetensors m/model.safetensors; }; } || return 1
    "$RAPT" average $r.whole --last 2 -o m && diff -r $r.two m
}
r=lm command=(average lm.whole --last 2 -o m)
every_fault average one average_is_right

# ---- translations --------------------------------------------------------------------------------------------------
translated_is_right() { [ $status != 0 ] || cmp translated out; }
command=(translate tr.whole lines --threads 1)
every_fault translate true translated_is_right

# ---- a file that is fetched ----------------------------------------------------------------------------------------
FILE=${RAPT_SHARED:+$RAPT_SHARED/data/tokenizers/r50k_base.tiktoken}
if [ -e "$FILE" ] && [ -e "$(dirname "$RAPT")/rapt_fetch.so" ]; then
    mkdir served && cp "$FILE" served
    fetched_is_right() {
        [ $status != 0 ] || cmp served/r50k_base.tiktoken m/r50k_base.tiktoken || return 1
        "$RAPT" fetch r50k_base --dir m --from "file://$WORK/served" && cmp served/r50k_base.tiktoken m/r50k_base.tiktoken
    }
    command=(fetch r50k_base --dir m --from "file://$WORK/served")
    [ "$STRIDE" = 1 ] || STRIDE=20 # a read for each few kB
    every_fault fetch nothing fetched_is_right
else
    skip 'fetch: no file to fetch, or a build without libcurl'
fi
finish
