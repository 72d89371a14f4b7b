#!/bin/bash
# tests/cli/check_mpi.sh: processes under a real mpirun on this machine, for each MPI that the build has found: messages through
# its module. Skips, by name, the MPIs that are not there.
. "$(dirname "$0")/lib.sh"
BUILD=$(dirname "$RAPT")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of Open MPI, which refuses otherwise in a container
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

for mpi in "${mpis[@]}"; do
    for count in 1 2 3 4; do
        check "$mpi: messages of $count ranks" run "$mpi" $count "$BUILD/tests/transport_ranks" "$BUILD/rapt_mpi_$mpi.so"
    done
    run "$mpi" 2 "$BUILD/tests/transport_ranks" "$BUILD/rapt_mpi_$mpi.so" abort >/dev/null 2>&1
    check "$mpi: one rank ends all" test $? = 3
done
finish
