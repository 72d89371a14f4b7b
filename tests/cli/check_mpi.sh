#!/bin/bash
# tests/cli/check_mpi.sh: processes under a real mpirun on this machine, for each MPI that the build has found: messages through
# its module; what is refused, in one line, by one process; training with one to four ranks, which gives the bytes of one process;
# ranks that are stopped, killed or asleep. Skips, by name, the MPIs that are not there.
# labels: each-level sanitized-late
. "$(dirname "$0")/lib_mpi.sh"
# What MPI libraries leave behind when they end has no name that leaks.txt could have.
[ -z "$SANITIZED" ] || export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
mpis=()
for mpi in openmpi mpich; do
    if [ ! -e "$BUILD/rapt_mpi_$mpi.so" ]; then
        skip "$mpi: the build has found none"
    elif ! command -v mpirun.$mpi >/dev/null && ! command -v mpirun >/dev/null; then
        skip "$mpi: there is no mpirun"
    else
        mpis+=("$mpi")
    fi
done

# says MPI PROCESSES STATUS PATTERN NAME COMMAND...: ends with STATUS, with one line of rapt's, which matches; launchers may say
# more. NOTED=: the status of rank 0 is not its own, since the launcher ends it.
says() {
    local mpi=$1 count=$2 status=$3 pattern=$4 name="$1: $5" got
    shift 5
    rm -f statuses
    run "$mpi" "$count" ${NOTED-./noted} "$@" >.out 2>.err
    got=$?
    if ! ended_with "$status" "$mpi" $got; then
        fail "$name" "exit status $got, of ranks $(xargs <statuses), not $status" "$(head -c 600 .err)"
    elif [ "$(grep -c '^rapt' .err)" != 1 ]; then
        fail "$name" 'not one line:' "$(grep '^rapt' .err | head -c 600)"
    elif ! grep -Eq "^rapt(-bench)?( [a-z]+)*: .*($pattern)" .err; then
        fail "$name" "no match for: $pattern" "$(grep '^rapt' .err | head -c 600)"
    elif [ -s .out ]; then
        fail "$name" 'something on stdout:' "$(head -c 200 .out)"
    else
        pass "$name"
    fi
}

make_inputs
train one || exit 1
mkdir alone
cp "$RAPT" alone/rapt
for mpi in "${mpis[@]}"; do
    for count in 1 2 3 4; do
        check "$mpi: messages of $count ranks" run "$mpi" $count "$BUILD/tests/transport_ranks" "$BUILD/rapt_mpi_$mpi.so"
    done
    run "$mpi" 2 "$BUILD/tests/transport_ranks" "$BUILD/rapt_mpi_$mpi.so" abort >/dev/null 2>&1
    check "$mpi: one rank ends all" test $? = 3
    says "$mpi" 2 2 'runs in one process, and mpirun of .* has started 2' 'another command' "$RAPT" translate model text
    says "$mpi" 2 2 'runs in one process' 'a benchmark' "$RAPT-bench" train
    says "$mpi" 2 2 'no command "trian"' 'a wrong command' "$RAPT" trian tiny.yaml
    says "$mpi" 2 2 'unknown option "--shards"' 'a wrong option' "$RAPT" train tiny.yaml --shards
    wrong=("$RAPT" train tiny.yaml --out wrong)
    NOTED='' says "$mpi" 2 2 'rank 1 on .*unknown option "--shards"' 'a wrong option of one rank' \
        ./by_rank "${wrong[@]}" ++ ./noted "${wrong[@]}" --shards
    NOTED='' says "$mpi" 2 2 'unknown option "--shards"' 'a wrong option of rank 0' \
        ./by_rank ./noted "${wrong[@]}" --shards ++ "${wrong[@]}"
    NOTED='' says "$mpi" 2 1 'rank 1 on .*unknown ISA .bogus' 'a wrong ISA of one rank' \
        ./by_rank "${wrong[@]}" ++ ./noted env RAPT_ISA=bogus "${wrong[@]}"
    NOTED='' says "$mpi" 2 1 'rank 0 on .*unknown ISA .bogus' 'a wrong ISA of rank 0' \
        ./by_rank ./noted env RAPT_ISA=bogus "${wrong[@]}" ++ "${wrong[@]}"
    check "$mpi: and nothing is written by them" test ! -e wrong
    says "$mpi" 2 1 "module for .* is missing: install .*$mpi.*rapt_mpi_$mpi.so" 'no module' alone/rapt train tiny.yaml
    says "$mpi" 2 1 'rank 0 on .*cannot read none.yaml' 'no recipe' "$RAPT" train none.yaml
    run "$mpi" 1 "$RAPT" train tiny.yaml --quiet --out "one-$mpi"
    check "$mpi: one process is as without mpirun" same_model one "one-$mpi"
    check "$mpi: rapt info" sh -c "'$RAPT' info | grep -q '^mpi .*$([ "$mpi" = mpich ] && echo MPICH || echo 'Open MPI') [0-9]'"
done
# An MPI takes no notice of another's launcher: each process would train alone.
if [ ${#mpis[@]} = 2 ]; then
    cp "$BUILD/rapt_mpi_openmpi.so" alone/rapt_mpi_mpich.so
    cp "$BUILD/rapt_mpi_mpich.so" alone/rapt_mpi_openmpi.so
    for mpi in openmpi mpich; do
        says $mpi 3 1 '3 processes were launched, but .* finds 1' 'the module of another MPI' alone/rapt train tiny.yaml
    done
else
    skip 'the module of another MPI: it takes two'
fi

# ---- training -----------------------------------------------------------------------------------------------------
# More steps than a test waits for, but for those that are to end.
sharded() { "$@" --set train.accumulate=6 --set train.shards=6 --set train.batch=4 --set train.keep=2; }
MANY=(--set train.steps=100000 --set train.checkpoint_every=50 --set train.report_every=50)

# The ranks of the run that writes into a folder.
ranks_of() {
    local pid
    for pid in $(pgrep -f -- "--out $1( |\$)"); do
        [ "$(cat /proc/"$pid"/comm 2>/dev/null)" != rapt ] || echo "$pid"
    done
}
# launch MPI FOLDER OPTIONS...: a run of three ranks in the background, up to its first checkpoint; `launcher` is its mpirun.
# NOTED=./noted: their statuses are written.
launch() {
    local mpi=$1 out=$WORK/$2
    shift 2
    sharded run "$mpi" 3 ${NOTED:-} "$RAPT" train tiny.yaml --threads 1 "${MANY[@]}" "$@" --out "$out" >"$out.out" 2>"$out.err" &
    job=$!
    wait_for_step "$out" 50 || { cat "$out.err"; return 1; }
    launcher=$(launcher_of "$mpi" "$(ranks_of "$out" | head -1)")
}
# launcher_of MPI PROCESS: the mpirun that started it.
launcher_of() {
    local parent
    parent=$(ps -o ppid= -p "$2" | tr -d ' ')
    [ "$(cat "/proc/$parent/comm")" != noted ] || parent=$(ps -o ppid= -p "$parent" | tr -d ' ')
    [ "$1" = openmpi ] || parent=$(ps -o ppid= -p "$parent" | tr -d ' ') # of its proxy
    echo "$parent"
}
# ended FOLDER: the status of the run in `ended`, "none" where it does not end within 30 seconds, and is ended here; fails then,
# and where ranks are left.
ended() {
    local i
    ended=none
    for ((i = 0; i < 300; i++)); do
        kill -0 $job 2>/dev/null || break
        sleep 0.1
    done
    if [ $i = 300 ]; then
        kill -9 $job "$launcher" $(ranks_of "$WORK/$1") 2>/dev/null
        wait $job
        echo 'it does not end'
        return 1
    fi
    wait $job
    ended=$?
    [ -z "$(ranks_of "$WORK/$1")" ]
}
# forwards MPI: its mpirun passes SIGUSR1 on, to a program that knows nothing of MPI. Open MPI's does not where hwloc, which it
# asks about the machine, has a plugin for OpenCL that loads LLVM (PoCL): LLVM takes the signal for itself.
forwards() {
    local i program
    rm -f program forwarded
    run "$1" 1 sh -c 'trap "touch forwarded; exit" USR1; echo $$ >new && mv new program; while :; do sleep 0.1; done' 2>/dev/null &
    job=$!
    for ((i = 0; i < 300; i++)); do [ ! -e program ] || break; sleep 0.1; done
    program=$(cat program) || return 1
    kill -USR1 "$(launcher_of "$1" "$program")"
    for ((i = 0; i < 100; i++)); do [ ! -e forwarded ] || break; sleep 0.1; done
    kill -9 "$program" 2>/dev/null
    wait $job
    [ -e forwarded ]
}
lines() { grep -a '^rapt' "$1.err" | grep -vc '^rapt: warning'; } # Open MPI 5 adds bytes of zero

sharded "$RAPT" train tiny.yaml --quiet --out alone-6 || exit 1
for mpi in "${mpis[@]}"; do
    for count in 1 2 3 4; do
        sharded run "$mpi" $count "$RAPT" train tiny.yaml --threads 1 --out "$mpi-$count" >.out 2>.err
        check "$mpi: $count ranks end well" test $? = 0
        check "$mpi: the bytes of one process from $count ranks" same_run alone-6 "$mpi-$count"
        check "$mpi: one of $count ranks speaks" test "$(grep -c '^model:.*parameters' .err)" = 1 -a ! -s .out
    done
    check "$mpi: how long they waited" grep -Eq '^epoch .* [0-9]+ tokens/s  [0-9]+ % waited  [0-9:-]+ left$' .err
    check "$mpi: how many there are" grep -q '^group: 4 processes x 1 thread on 1 machine (.*[0-9])$' .err
    says "$mpi" 4 1 'train.shards' 'more ranks than shards' "$RAPT" train tiny.yaml --set train.accumulate=3 --set train.shards=3 \
        --quiet --out more
    check "$mpi: which leave nothing" test ! -e more
    run "$mpi" 2 sh -c "exec '$RAPT' train tiny.yaml --quiet --max-steps 5 --set train.accumulate=2 --set train.shards=2 \
        --out closed-$mpi <&- >&-"
    check "$mpi: closed stdin and stdout" test $? = 0 -a -s "closed-$mpi/model.safetensors"
done
# Ranks that differ: in ISA and threads, which is fine, in a folder that only the first one can see, and in the recipe.
levels=($(levels))
for mpi in "${mpis[@]}"; do
    with=(train tiny.yaml --quiet --set train.accumulate=6 --set train.shards=6 --set train.batch=4 --set train.keep=2 --out)
    run "$mpi" 3 ./by_rank env RAPT_ISA="${levels[0]}" RAPT_THREADS=2 "$RAPT" "${with[@]}" "mixed-$mpi" ++ \
        env RAPT_ISA="${levels[-1]}" RAPT_THREADS=1 "$RAPT" "${with[@]}" not/there ++ "$RAPT" "${with[@]}" "mixed-$mpi"
    check "$mpi: ranks with other ISAs, threads, folders" same_run alone-6 "mixed-$mpi"
    check "$mpi: rank 0 alone writes" test ! -e not
    says "$mpi" 2 1 'rank 1 on .*train.lr is 0.02, and 0.01 on rank 0' 'ranks with other recipes' \
        ./by_rank "$RAPT" "${with[@]}" differ ++ "$RAPT" "${with[@]}" differ --set train.lr=0.02
    check "$mpi: and nothing is written" test ! -e differ
done

# A language model, in bf16, with gradients of few rows, and matrices that are used twice.
make_text >text.txt
make_text_recipe bpe >lm.yaml
model() {
    sharded "$@" --quiet --threads 1 --precision bf16 --max-steps 25 --set model.tied=true --set model.positions=rotary \
        --set train.recompute=true --set train.report_every=10
}
model "$RAPT" train lm.yaml --out lm
for mpi in "${mpis[@]}"; do
    model run "$mpi" 3 "$RAPT" train lm.yaml --out "lm-$mpi"
    check "$mpi: a language model" same_run lm "lm-$mpi"
done

for mpi in "${mpis[@]}"; do
    stops=(killed asleep)
    if forwards "$mpi"; then
        stops+=(signal)
        rm -f statuses
        NOTED=./noted launch "$mpi" "signal-$mpi"
        kill -USR1 "$launcher"
        check "$mpi: all stop at SIGUSR1" ended "signal-$mpi"
        check "$mpi: with its status" ended_with 138 "$mpi" "$ended"
        # Open MPI's mpirun ends the others, and what writes their statuses, once the first one has ended.
        [ "$mpi" = openmpi ] || check "$mpi: each of them" test "$(wc -l <statuses)" = 3
    else
        skip "$mpi: all stop at SIGUSR1 (its mpirun does not forward it to any program; see docs/cluster.md)"
    fi
    launch "$mpi" "killed-$mpi"
    kill -9 "$(ranks_of "$WORK/killed-$mpi" | tail -1)"
    check "$mpi: all end with one that is killed" ended "killed-$mpi"
    check "$mpi: not well" test "$ended" != 0
    launch "$mpi" "asleep-$mpi" --wait 3
    kill -STOP "$(ranks_of "$WORK/asleep-$mpi" | tail -1)"
    check "$mpi: all end with one that does not answer" ended "asleep-$mpi"
    check "$mpi: it and the step are named" grep -q '^rapt: rank [0-9] on .* has not answered for 3 s in step [0-9]' "asleep-$mpi.err"
    check "$mpi: once" test "$(lines "asleep-$mpi")" = 1 -a "$ended" != 0
    # What they have left is resumed by one process, to the bytes of a run that was never stopped.
    for what in "${stops[@]}"; do
        last=$(($(newest "$what-$mpi") + 50))
        sharded "$RAPT" train tiny.yaml "${MANY[@]}" --quiet --resume --max-steps $last --out "$what-$mpi"
        sharded "$RAPT" train tiny.yaml "${MANY[@]}" --quiet --max-steps $last --out straight
        check "$mpi: resumed ($what)" same_run straight "$what-$mpi"
        rm -r straight
    done
done

# Four ranks, one, three of the other MPI, two: stopped and resumed, the same bytes.
if [ ${#mpis[@]} -gt 0 ]; then
    first=${mpis[0]} last=${mpis[-1]}
    step() { sharded "$@" --quiet --threads 1 --resume --out resumed; }
    step run "$first" 4 "$RAPT" train tiny.yaml --max-steps 31
    step "$RAPT" train tiny.yaml --max-steps 57
    step run "$last" 3 "$RAPT" train tiny.yaml --max-steps 99
    step run "$first" 2 "$RAPT" train tiny.yaml
    check 'resumed with other numbers of ranks' same_run alone-6 resumed
fi

# ---- other launchers ----------------------------------------------------------------------------------------------
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 refused 1 'srun has started 2 processes that cannot find each other' 'srun without an MPI' \
    "$RAPT" train tiny.yaml
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 check 'other commands are fine there' "$RAPT" info
check 'nothing was written' test ! -e models
finish
