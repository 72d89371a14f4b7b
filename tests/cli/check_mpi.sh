#!/bin/bash
# tests/cli/check_mpi.sh: processes under a real mpirun on this machine, for each MPI that the build has found: messages through
# its module; what is refused, in one line, by one process. Skips, by name, the MPIs that are not there.
. "$(dirname "$0")/lib.sh"
BUILD=$(dirname "$RAPT")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of Open MPI, which refuses otherwise in a container
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

# run MPI PROCESSES COMMAND...: more processes than CPUs are fine.
run() {
    local mpi=$1 count=$2 launcher=mpirun options=()
    shift 2
    ! command -v mpirun."$mpi" >/dev/null || launcher=mpirun.$mpi
    [ "$mpi" = mpich ] || options=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
    timeout 120 "$launcher" "${options[@]}" -n "$count" "$@" </dev/null
}

# says MPI PROCESSES STATUS PATTERN NAME COMMAND...: ends with STATUS, with one line of rapt's, which matches; launchers may say
# more.
says() {
    local mpi=$1 count=$2 status=$3 pattern=$4 name="$1: $5" got
    shift 5
    run "$mpi" "$count" "$@" >.out 2>.err
    got=$?
    if [ $got != "$status" ]; then
        fail "$name" "exit status $got, not $status" "$(head -c 600 .err)"
    elif [ "$(grep -c '^rapt' .err)" != 1 ]; then
        fail "$name" 'not one line:' "$(grep '^rapt' .err | head -c 600)"
    elif ! grep -Eq "^rapt( [a-z]+)*: .*($pattern)" .err; then
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
    says "$mpi" 2 2 'runs in one process' 'a benchmark' "$RAPT" bench train
    says "$mpi" 2 2 'unknown option "--shards"' 'a wrong option' "$RAPT" train tiny.yaml --shards
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
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 refused 1 'srun has started 2 processes that cannot find each other' 'srun without an MPI' \
    "$RAPT" train tiny.yaml
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 check 'other commands are fine there' "$RAPT" info
check 'nothing was written' test ! -e models
finish
