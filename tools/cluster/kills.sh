#!/bin/bash
# tools/cluster/kills.sh [COUNT] [SEED]: kills a random rank of a training run at a random moment (SIGKILL), COUNT times (default 10),
# every other time while a checkpoint is being written, under Open MPI and MPICH in turns, with 2 to 4 ranks. Each time all
# processes must be gone within 30 s, mpirun must fail, and the run, resumed with another number of ranks, must end with the
# files of one that one process made and nobody disturbed, without leftovers. A line each; the last one counts.
# From the environment: RAPT (default build/rapt), MPIS (default "openmpi mpich": mpirun.NAME or mpiexec.NAME).
. "$(dirname "$0")/../help.sh"
set -uo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
RAPT=$(realpath "${RAPT:-$ROOT/build/rapt}")
count=${1:-10}
RANDOM=${2:-1}
read -ra mpis <<<"${MPIS:-openmpi mpich}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
good=0 bad=0

# A checkpoint after every second step, of 19 MB, so that writing them takes a good share of the time.
cat >"$work/recipe.yaml" <<END
task: language_model
data: {text: $ROOT/data/en-fr.tsv, validation_tokens: 2000}
tokenizer: {type: characters}
model: {layers: 2, d_model: 256, heads: 4, ffn: 1024, ffn_kind: gelu, context: 64, dropout: 0.1}
train: {batch: 2, accumulate: 8, shards: 8, steps: 60, report_every: 20, checkpoint_every: 2}
END

# files FOLDER: sums of what a run leaves, but for times in its log and in the headers of its checkpoints.
files() {
    (cd "$1" || exit
        find . -type f ! -name train.jsonl ! -path './checkpoints/*' | sort | xargs sha256sum
        for file in checkpoints/*; do
            echo "$(tail -c +$((9 + $(od -A n -t u8 -N 8 "$file"))) "$file" | sha256sum) $file"
        done
        sed -E 's/, "(seconds|tokens_per_s|ranks|waited)": [^,}]*//g' train.jsonl)
}
ranks_of() { pgrep -f "^$RAPT train .*--out $1( |\$)"; }
mpirun_of() { command -v "mpirun.$1" || command -v "mpiexec.$1" || echo mpirun; }

# Waits for the moment to kill: some steps from the start on, and then, if wanted, until a rank has a checkpoint open
# that has no name yet (O_TMPFILE), for 2 s; `writing` becomes what it was.
wait_for_moment() {
    local out=$1 end
    sleep "$(awk -v r=$RANDOM -v t="$whole" 'BEGIN { print 0.3 + r / 32768 * t * 0.35 }')"
    [ "$writing" = yes ] || return 0
    end=$((SECONDS + 2))
    mapfile -t victims < <(ranks_of "$out")
    until find "${victims[@]/#//proc/}" -path '*/fd/*' -lname "$out/checkpoints/*(deleted)" 2>/dev/null | grep -q .; do
        ((SECONDS < end)) || { writing=missed; return; }
    done
}

# gone FOLDER: seconds until no rank is left, and the launcher is not either; up to 60.
gone() {
    local start=$EPOCHREALTIME
    while { ranks_of "$1" || kill -0 "$launcher"; } >/dev/null 2>&1; do
        awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { exit b - a > 60 }' || break
        sleep 0.05
    done
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

once() {
    local number=$1 mpi=${mpis[$(($1 % ${#mpis[@]}))]} ranks=$((2 + RANDOM % 3)) resumed=$((1 + RANDOM % 4)) writing=no
    local out=$work/out$1 status seconds victims problems='' at
    ((number / ${#mpis[@]} % 2)) || writing=yes
    "$(mpirun_of "$mpi")" -n $ranks "$RAPT" train "$work/recipe.yaml" --threads 1 --quiet --out "$out" >"$work/log" 2>&1 </dev/null &
    launcher=$!
    wait_for_moment "$out"
    mapfile -t victims < <(ranks_of "$out")
    if [ ${#victims[@]} = 0 ]; then
        wait $launcher
        echo "$number: $mpi, $ranks ranks: ended, with status $?, before it could be killed: $(tail -c 200 "$work/log")"
        return
    fi
    kill -9 "${victims[$((RANDOM % ${#victims[@]}))]}"
    seconds=$(gone "$out")
    wait $launcher
    status=$?
    awk -v s="$seconds" 'BEGIN { exit s > 30 }' || problems+=" not gone after $seconds s;"
    [ $status != 0 ] || problems+=' exit status 0;'
    at=$(ls "$out/checkpoints" 2>/dev/null | tail -1)
    "$(mpirun_of "$mpi")" -n $resumed "$RAPT" train "$work/recipe.yaml" --threads 1 --quiet --resume --out "$out" \
        >"$work/log" 2>&1 </dev/null || problems+=" cannot be resumed: $(head -c 300 "$work/log");"
    files "$out" >"$work/files" 2>&1
    cmp -s "$work/files" "$work/whole.files" ||
        problems+=" other files: $(diff "$work/files" "$work/whole.files" | grep '^[<>]' | sed 's/[0-9a-f]\{64\}//' | tr '\n' ' ');"
    echo "$number: $mpi, $ranks ranks, in a checkpoint $writing: gone after $seconds s, exit $status; newest ${at:-none};" \
        "resumed by $resumed:${problems:- same files}"
    [ -z "$problems" ] && good=$((good + 1)) || bad=$((bad + 1))
    rm -rf "$out"
}

start=$EPOCHREALTIME
"$RAPT" train "$work/recipe.yaml" --threads 1 --quiet --out "$work/whole" || exit 1
whole=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
files "$work/whole" >"$work/whole.files"
for ((i = 0; i < count; i++)); do once $i; done
echo "$good well, $bad not, $((count - good - bad)) ended before"
[ $bad = 0 ]
