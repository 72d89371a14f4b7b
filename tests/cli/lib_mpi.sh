# tests/cli/lib_mpi.sh: lib.sh, and what checks of ranks under a real mpirun on this machine share.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
BUILD=$(dirname "$RAPT") # has the module of each MPI, rapt_mpi_NAME.so
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of Open MPI, which refuses otherwise in a container

# run MPI PROCESSES COMMAND...: more processes than CPUs are fine. RUN_SECONDS: at most.
run() {
    local mpi=$1 count=$2 launcher=mpirun options=()
    shift 2
    ! command -v mpirun."$mpi" >/dev/null || launcher=mpirun.$mpi
    [ "$mpi" = mpich ] || options=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
    timeout "${RUN_SECONDS:-120}" "$launcher" "${options[@]}" -n "$count" "$@" </dev/null
}

# A program that ends as its arguments do, and writes their status into the file `statuses`: mpirun of MPICH 4.0 may end, with 0,
# before it has read with which status its ranks ended. Where a signal goes to both, it is the arguments' to answer.
printf '#!/bin/sh\ntrap : USR1\n"$@"\nstatus=$?\necho $status >>"%s"\nexit $status\n' "$WORK/statuses" >"$WORK/noted"
chmod +x "$WORK/noted"

# by_rank COMMAND... [++ COMMAND...]...: a program that is another one on each rank. mpirun has a colon for it, at which Open MPI
# 5.0.7's ends with a segmentation fault.
cat >"$WORK/by_rank" <<'END'
#!/bin/bash
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK} command=()
for word; do
    if [ "$word" = ++ ]; then
        [ $((rank -= 1)) -ge 0 ] || break
    elif [ $rank = 0 ]; then
        command+=("$word")
    fi
done
exec "${command[@]}"
END
chmod +x "$WORK/by_rank"

# ended_with STATUS MPI GOT: every rank that wrote its status has this one, or 0, as ranks have that leave before rank 0; mpirun,
# whose status is GOT, has it, too, or, of MPICH's, one of the ranks, which it may end before they write theirs.
ended_with() {
    local written
    written=$(sort -u "$WORK/statuses" 2>/dev/null | grep -vx 0)
    case $2 in
    mpich) [ "${written:-$3}" = "$1" ] ;;
    *) [ "$written" = "$1" ] && [ "$3" = "$1" ] ;;
    esac
}

# The header of a checkpoint, without the parts that depend on time.
header_of() { tail -c +9 "$1" | head -c "$(od -An -t u8 -N 8 "$1" | tr -d ' ')" | sed -E 's/"(seconds|waited|xxh3_64_header)":"[0-9a-f]*"//g; s/ *$//'; }

# same_run A B: every file of two runs' folders, but for times.
same_run() {
    local f
    diff <(cd "$1" && find . -type f | sort) <(cd "$2" && find . -type f | sort) || return 1
    (cd "$1" && find . -type f ! -name train.jsonl) | while read -r f; do
        case $f in
        ./checkpoints/*) same_parameters "$1/$f" "$2/$f" && cmp <(header_of "$1/$f") <(header_of "$2/$f") ;;
        *) cmp "$1/$f" "$2/$f" ;;
        esac || exit 1
    done &&
        diff <(timeless "$1/train.jsonl") <(timeless "$2/train.jsonl")
}
