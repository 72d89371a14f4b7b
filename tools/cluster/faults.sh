#!/bin/bash
# tools/cluster/faults.sh [-r PROGRAM] [openmpi|mpich ...]: what can go wrong with a training run on several machines, tried one
# by one on three machines that are network namespaces of this one (namespaces.sh), under each MPI that is named (both). Prints
# tables in Markdown, a row for each case: what was done, exit status, seconds, the message; a row that is not as it should be
# begins with FAIL, and the exit status counts them. docs/results/cluster-faults.md is its output. Needs root, and some minutes.
. "$(dirname "$0")/../help.sh"
set -u
if [ -z "${MACHINES:-}" ]; then
    HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    RAPT=$HERE/../../build/rapt
    [ "${1:-}" != -r ] || { RAPT=$2; shift 2; }
    RAPT=$(realpath "$RAPT") || exit 1
    LAUNCHERS=${*:-openmpi mpich}
    export RAPT HERE LAUNCHERS
    exec "$HERE/namespaces.sh" -n 3 -s "$HERE/faults.sh"
fi
set +e +o pipefail

# ---- what is trained ----------------------------------------------------------------------------------------------------
make_recipe() { # FILE STEPS
    cat >"$1" <<YAML
task: language_model
seed: 3
data: {text: text.txt, validation_fraction: 0.1}
tokenizer: {type: characters}
model: {layers: 1, d_model: 32, heads: 4, ffn: 64, context: 32}
train: {steps: $2, batch: 4, accumulate: 6, shards: 6, lr: 0.002, report_every: 100, checkpoint_every: 10}
YAML
}

make_inputs() {
    local i
    for i in {1..400}; do echo "$((i * i % 97)) ships and $((i * 7 % 31)) cats met $((i % 13)) kings."; done >text.txt
    make_recipe short.yaml 30
    make_recipe long.yaml 100000
    mkdir -p other missing
    sed 's/7 ships/8 ships/' text.txt >other/text.txt
    cp ./*.yaml other && cp ./*.yaml missing
    # What each rank runs: as ODD says on rank 1, as everybody on the others.
    cat >rank.sh <<'RANK'
#!/bin/bash
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
echo $$ >"pid.$rank"
program=$RAPT
if [ "$rank" = 1 ]; then
    case ${ODD:-} in
    folder=*) cd "${ODD#*=}" || exit 1 ;;
    program=*) program=${ODD#*=} ;;
    isa=*) export RAPT_ISA=${ODD#*=} ;;
    threads=*) export RAPT_THREADS=${ODD#*=} ;;
    memory=*) ulimit -v "${ODD#*=}" ;;
    ?*) exec "$program" "$@" $ODD ;;
    esac
fi
exec "$program" "$@"
RANK
    chmod +x rank.sh
}

# ---- trying -------------------------------------------------------------------------------------------------------------
failures=0 hangs=

# row NAME OK: what the last run did, from $status, $seconds and log.
row() {
    local message mark=
    message=$(grep -a -E '^rapt( [a-z]+)?: ' log | grep -av 'rapt: warning' | sort -u | sed 's/|/\\|/g; s#/tmp/tmp\.[A-Za-z0-9]*/##g' | paste -sd ' ')
    [ "$2" = 0 ] || { mark='FAIL ' failures=$((failures + 1)); cp log "log.$failures"; }
    echo "| $mark$1 | $status | $seconds | ${message:-none}${hangs#yes} |"
}

# begin MPI OPTION...: starts `rapt train` on the three machines; finish waits for it, at most 60 seconds.
begin() {
    local mpi=$1
    shift
    rm -f pid.*
    started=$(date +%s.%N)
    ODD=${ODD:-} launch "$mpi" "${PER:-1}" ./rank.sh train "$@" >log 2>&1 </dev/null &
    running=$!
}

# Waits for the launcher, for N tenths of a second; kills one that does not end though its ranks have.
finish() {
    local i gone=
    hangs=
    for ((i = 0; i < ${1:-600}; i++)); do
        kill -0 $running 2>/dev/null || break
        [ -n "$gone" ] || [ "$i" -lt 20 ] || [ "$(left)" != 0 ] || gone=$i
        [ -z "$gone" ] || [ $((i - gone)) -lt 100 ] || break
        sleep 0.1
    done
    if kill -0 $running 2>/dev/null; then
        hangs=yes
        [ -n "$gone" ] && hangs="; mpirun does not end, but the ranks did after $((gone / 10)) s"
        network_pids | xargs -r kill -KILL 2>/dev/null
    fi
    wait $running
    status=$?
    seconds=$(awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
}

# What runs on the machines.
network_pids() {
    local i
    for ((i = 1; i <= MACHINES; i++)); do ip netns pids "node$i"; done
}

left() { # ranks
    local pid count=0
    for pid in $(network_pids); do
        case $(cat "/proc/$pid/comm" 2>/dev/null) in rapt | changed) count=$((count + 1)) ;; esac
    done
    echo $count
}

# Different messages of the log.
messages() { grep -aE '^rapt( [a-z]+)?: ' log | grep -av 'rapt: warning' | sort -u | wc -l; }

# refused NAME PATTERN OPTION...: nothing is trained or written, and one line says why.
refused() {
    local name=$1 pattern=$2
    shift 2
    rm -rf out
    begin "$MPI" "$@"
    finish
    [ $status != 0 ] && [ -z "$hangs" ] && grep -aEq "$pattern" log && [ "$(messages)" = 1 ] && [ ! -e out ]
    row "$name" $?
}

# works NAME OPTION...: the model of one process, byte for byte.
works() {
    local name=$1
    shift
    rm -rf out
    begin "$MPI" "$@"
    finish
    [ $status = 0 ] && cmp -s out/model.safetensors one/model.safetensors
    row "$name" $?
}

# A long run that has written a checkpoint; then ACTION is called, and the run ends with PATTERN in its message or, for `stopped`,
# with a checkpoint. It has to resume.
ends() { # NAME PATTERN TENTHS ACTION...
    local name=$1 pattern=$2 limit=$3 i
    shift 3
    rm -rf out
    begin "$MPI" long.yaml --out out --wait 5
    for ((i = 0; i < 200; i++)); do
        ls out/checkpoints/step-*.safetensors >/dev/null 2>&1 && break
        sleep 0.1
    done
    started=$(date +%s.%N)
    "$@"
    finish "$limit"
    cable up
    sleep 0.5
    [ $status != 0 ] || { [ "$MPI" = mpich ] && [ "${1:-}" = send_launcher ]; } # MPICH's mpirun has 0 after a signal
    [ $? = 0 ] && [ "$hangs" != yes ] && { [ -z "$pattern" ] || grep -aEq "$pattern" log; } && [ "$(left)" = 0 ] && resumes
    row "$name" $?
}

# The checkpoint is whole: a process alone resumes from it.
resumes() { "$RAPT" train --resume --out out --max-steps 1 --quiet >/dev/null 2>resume.txt || grep -aq 'nothing' resume.txt; }

pid() { cat "pid.$1"; }
send() { kill "-$1" "$(pid "$2")"; }
send_twice() {
    send "$1" "$2"
    sleep 0.2
    send "$1" "$2" 2>/dev/null # which may have ended
    true
}
send_launcher() {
    local pid
    for pid in $(ip netns pids node1); do
        case $(cat "/proc/$pid/comm") in mpirun.openmpi | orterun | mpiexec.hydra) kill "-$1" "$pid" ;; esac
    done
}
# An address that could not be reached is not asked for again at once.
cable() {
    network_link 3 "$1"
    [ "$1" = down ] || sleep 3
}

# ---- the cases ----------------------------------------------------------------------------------------------------------
start_up() {
    PER=3 refused '9 processes, 6 shards' 'train.shards' short.yaml --out out
    refused 'train.shards above train.accumulate' 'train.shards' short.yaml --out out --set train.shards=7
    ODD='--set train.lr=0.001' refused 'another recipe on rank 1' 'rank 1 on node2: .*train.lr' short.yaml --out out
    ODD=folder=other refused 'a text that differs by one byte on rank 1' 'rank 1 on node2: .*text.txt' short.yaml --out out
    ODD=folder=missing refused 'no text on rank 1' 'rank 1 on node2: .*text.txt' short.yaml --out out
    ODD=program=$PWD/changed refused 'another version of rapt on rank 1' 'rank 1 on node2: this is rapt .*\.9' short.yaml --out out
    ODD=isa=avx9 refused 'a wrong RAPT_ISA on rank 1' "rank 1 on node2: kernels: unknown ISA 'avx9'" short.yaml --out out
    ODD=--no-such-option refused 'an option that rapt does not have on rank 1' 'no-such-option' short.yaml --out out
    refused 'train.shards with train.reduction book' 'reduction is book|book.s reduction' short.yaml --out out --set train.reduction=book
    ODD=isa=avx2 refused 'bf16 products of another kind on rank 1' 'rank 1 on node2: .*bf16' short.yaml --out out --precision bf16
    ODD=memory=400000 refused 'too little memory on rank 1' 'rank 1 on node2: this run takes' short.yaml --out out --set model.d_model=1536
    refused 'the output folder cannot be made' '/proc/out' short.yaml --out /proc/out
    read_only_start
    RAPT=$PWD/bare/rapt refused 'no module for this MPI' 'module' short.yaml --out out
    RAPT=$PWD/swapped/rapt refused 'the launcher of another MPI than the module' '3 processes were launched, but .* finds 1' short.yaml --out out
}

no_faults() {
    ODD=isa=avx2 works 'AVX2 on rank 1 (fp32)' short.yaml --out out
    ODD=isa=scalar works 'plain C on rank 1 (fp32)' short.yaml --out out
    ODD=threads=3 works 'three threads on rank 1' short.yaml --out out
    mkdir -p elsewhere && cp text.txt short.yaml elsewhere
    ODD=folder=elsewhere works 'a working folder of its own on rank 1, which does not see the model folder' short.yaml --out out
    rm -rf out
    begin "$MPI" short.yaml --out out <&-
    finish
    [ $status = 0 ] && cmp -s out/model.safetensors one/model.safetensors
    row 'stdin is closed' $?
}

# A folder whose file system is read-only: root may write into any other.
read_only_start() {
    mkdir -p shut && mount --bind shut shut && mount -o remount,bind,ro shut
    refused 'the output folder is on a read-only file system' 'Read-only file system' short.yaml --out shut/out
    umount shut
}

# From the third checkpoint on, where rank 0 looks.
# A checkpoint that is open already has no place there then: the kernel calls it another device.
read_only_later() {
    local i kept
    rm -rf out
    begin "$MPI" long.yaml --out out --set train.keep=1000
    for ((i = 0; i < 200; i++)); do
        [ "$(ls out/checkpoints 2>/dev/null | grep -c 'step-.*safetensors')" -lt 2 ] || break
        sleep 0.05
    done
    nsenter -m -t "$(pid 0)" sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"' sh "$WORK/out/checkpoints"
    started=$(date +%s.%N)
    finish
    kept=$(ls out/checkpoints | grep -c 'step-.*safetensors')
    [ $status != 0 ] && [ -z "$hangs" ] && grep -aEq 'Read-only file system|cross-device link' log && [ "$(messages)" = 1 ] && [ "$kept" -ge 2 ] && resumes
    row "the file system of the checkpoints becomes read-only; $kept are left" $?
}

equal_names() {
    local i
    for ((i = 1; i <= MACHINES; i++)); do nsenter --uts="/run/uts/node$i" hostname twin; done
    works 'all machines have the same host name' short.yaml --out out
    for ((i = 1; i <= MACHINES; i++)); do nsenter --uts="/run/uts/node$i" hostname "node$i"; done
}

one_process() {
    rm -rf out
    started=$(date +%s.%N)
    (MACHINES=1; launch "$MPI" 1 "$RAPT" train short.yaml --out out) >log 2>&1 </dev/null &
    running=$!
    finish
    [ $status = 0 ] && cmp -s out/model.safetensors one/model.safetensors
    row '`mpirun -n 1`' $?
}

# Rank 0 tokenizes 100 MB for some seconds, while a rank that has nothing to do then does not answer.
stopped_in_set_up() {
    rm -rf out
    [ -e large.txt ] || for i in {1..7000}; do cat text.txt; done >large.txt
    sed 's/text.txt/large.txt/' short.yaml >large.yaml
    begin "$MPI" large.yaml --out out --wait 5
    local i
    for ((i = 0; i < 100; i++)); do
        [ -s pid.1 ] && [ "$(left)" = 3 ] && break
        sleep 0.1
    done
    sleep 1
    started=$(date +%s.%N)
    send STOP 1
    finish
    [ $status != 0 ] && [ "$hangs" != yes ] && grep -aq 'rank 1 on node2 has not answered' log && [ "$(left)" = 0 ]
    row 'rank 1 is stopped (SIGSTOP) during the set-up, --wait 5' $?
}

another_command() {
    started=$(date +%s.%N)
    launch "$MPI" 1 "$RAPT" translate one >log 2>&1 </dev/null &
    running=$!
    finish
    [ $status != 0 ] && grep -aq 'one process' log
    row 'rapt translate' $?
}

two_runs() {
    rm -rf out
    begin "$MPI" long.yaml --out out
    local first=$running i
    for ((i = 0; i < 200; i++)); do
        [ ! -e out/checkpoints ] || break
        sleep 0.1
    done
    cp log log.first
    begin "$MPI" long.yaml --out out --resume
    finish
    [ $status != 0 ] && [ "$(messages)" = 1 ]
    row 'a second run into the same folder' $?
    network_pids | xargs -r kill -KILL 2>/dev/null
    wait $first 2>/dev/null
    sleep 1
}

other_shards() {
    rm -rf out
    begin "$MPI" short.yaml --out out --max-steps 10
    finish
    sed 's/shards: 6/shards: 3/' short.yaml >three.yaml
    begin "$MPI" three.yaml --out out --resume
    finish
    [ $status != 0 ] && grep -aq 'train.shards' log
    row 'resumed with another train.shards' $?
}

# A folder on a disk of 2 MB: some checkpoints fit.
full_disk() {
    rm -rf out
    mkdir -p out && mount -t tmpfs -o size=${1} tmpfs out
    begin "$MPI" long.yaml --out out --set train.keep=1000
    finish
    local kept
    kept=$(ls out/checkpoints/step-*.safetensors 2>/dev/null | wc -l)
    [ $status != 0 ] && grep -aq 'No space left' log && [ -z "$(find out -name '*.tmp*' -o -name '*draft*')" ]
    row "the disk is full$2; $kept checkpoints are left" $?
    umount out
}

# Stopped nine tenths of the time.
slow() {
    local i
    for ((i = 0; i < 20; i++)); do
        send STOP 1
        sleep 0.27
        send CONT 1
        sleep 0.03
    done
}

slow_rank() {
    rm -rf out
    make_recipe middle.yaml 300
    "$RAPT" train middle.yaml --out middle --quiet 2>/dev/null
    begin "$MPI" middle.yaml --out out --wait 20
    sleep 2
    "$@"
    finish
    cmp -s out/model.safetensors middle/model.safetensors && [ $status = 0 ]
}

out_for() {
    cable down
    sleep "$1"
    cable up
}

while_it_runs() {
    ends 'rank 1 is killed (SIGKILL)' '' 300 send KILL 1
    ends 'rank 0 is killed (SIGKILL)' '' 300 send KILL 0
    ends 'rank 1 is stopped (SIGSTOP), --wait 5' 'rank 1 on node2' 300 send STOP 1
    ends 'rank 1 gets SIGTERM' 'stopped after step' 300 send TERM 1
    ends 'rank 1 gets SIGTERM twice' 'stopped after step|^rapt: .*rank 1' 300 send_twice TERM 1
    ends 'mpirun gets SIGUSR1' 'stopped after step' 300 send_launcher USR1
    ends 'mpirun gets SIGTERM' 'stopped after step' 300 send_launcher TERM
    ends 'the cable of machine 3 is cut, --wait 5' 'rank 2 on node3' 300 cable down
    slow_rank out_for 5
    row 'the cable of machine 3 is out for 5 s, --wait 20' $?
    slow_rank slow
    row 'rank 1 has a tenth of its time for 6 s' $?
}

WORK=$(mktemp -d)
cd "$WORK" || exit 1
trap 'network_down; rm -rf "$WORK"' EXIT
export RAPT_THREADS=1
make_inputs
mkdir bare && cp "$RAPT" bare/rapt
version=$("$RAPT" info --json | sed -n 's/.*"version": "\([0-9.]*\).*/\1/p')
sed "s/${version//./\\.}/${version%.*}.9/g" "$RAPT" >changed && chmod +x changed
cp "$(dirname "$RAPT")"/rapt_mpi_*.so . 2>/dev/null
# Each MPI's module by the other's name.
mkdir swapped && cp "$RAPT" swapped/rapt
cp rapt_mpi_openmpi.so swapped/rapt_mpi_mpich.so && cp rapt_mpi_mpich.so swapped/rapt_mpi_openmpi.so
"$RAPT" train short.yaml --out one --quiet
for MPI in $LAUNCHERS; do
    echo
    echo "## $([ "$MPI" = openmpi ] && mpirun.openmpi --version | head -1 || mpiexec.hydra --version | grep -m1 Version | tr -s ' ' | sed 's/^ *Version:/MPICH/')"
    echo
    echo '| case | exit status | seconds | message |'
    echo '| --- | --- | --- | --- |'
    start_up
    no_faults
    equal_names
    one_process
    another_command
    two_runs
    other_shards
    full_disk 150k ' before the first checkpoint'
    full_disk 4m ''
    read_only_later
    stopped_in_set_up
    while_it_runs
done
[ $failures = 0 ] || tail -n 5 log.*
exit $failures
