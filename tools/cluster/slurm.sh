#!/bin/bash
# tools/cluster/slurm.sh [PROGRAM]: examples/cluster/train.sbatch under a real Slurm: slurmctld and two slurmd on two machines
# that are network namespaces of this one (namespaces.sh), munge between them. Prints one line a check. What it shows:
#   1. a job of two machines gives the model of one process, byte for byte, under each MPI that is installed;
#   2. a job whose time runs out stops with a checkpoint, queues itself again, resumes, and gives that model, too;
#   3. srun without a PMI that the MPI speaks, which starts processes that know nothing of each other, is refused;
#   4. srun with the PMI of the MPI, --mpi=pmix for Open MPI and --mpi=pmi2 for MPICH, gives the model of one process, too, again and
#      again: a rank that hangs at its end would be seen.
# PROGRAM: build/rapt. Installs Debian's slurm-wlm and munge where they are missing; needs root. The daemons, their files and all
# traffic live in the namespaces and end with the script.
. "$(dirname "$0")/../help.sh"
set -u
if [ -z "${MACHINES:-}" ]; then
    HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    . "$HERE/../packages.sh"
    need 'jobs on several machines' slurm-wlm munge
    install_missing || exit 1
    RAPT=$(realpath "${1:-$HERE/../../build/rapt}") || exit 1
    export RAPT HERE
    exec "$HERE/namespaces.sh" -n 2 -s "$HERE/slurm.sh"
fi
set +e +o pipefail

# ---- the cluster ------------------------------------------------------------------------------------------------------
WORK=$(mktemp -d)
passed=0 failed=0
say() { # STATUS NAME [LOG]
    [ "$1" = 0 ] && { passed=$((passed + 1)); echo "ok    $2"; return; }
    failed=$((failed + 1))
    echo "FAIL  $2"
    [ -z "${3:-}" ] || head -c 1500 "$3" | sed 's/^/      /'
}

# Folders that the daemons write to, of these namespaces alone.
slurm_folders() {
    local folder
    for folder in /etc/slurm /etc/munge /var/spool /var/log /var/lib/munge; do
        mkdir -p "$folder" && mount -t tmpfs tmpfs "$folder"
    done
    mkdir -p /run/munge /var/log/munge /var/spool/ctld
    head -c 1024 /dev/urandom >/etc/munge/munge.key
    chown -R munge: /etc/munge /run/munge /var/log/munge /var/lib/munge
    chmod 400 /etc/munge/munge.key && chmod 755 /run/munge
    cat >/etc/slurm/slurm.conf <<CONF
ClusterName=test
SlurmctldHost=node1($NET.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=cred_expire=5
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
StateSaveLocation=/var/spool/ctld
SlurmdSpoolDir=/var/spool/%n
TmpFS=/run/tmp.%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.%n.log
SelectType=select/linear
SchedulerParameters=sched_interval=2,batch_sched_delay=0
ReturnToService=2
KillWait=20
SlurmdParameters=config_overrides
NodeName=node1 NodeAddr=$NET.1 CPUs=2 State=UNKNOWN
NodeName=node2 NodeAddr=$NET.2 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

slurm_up() {
    local i
    slurm_folders
    setpriv --reuid=munge --regid=munge --clear-groups munged --force >"$WORK/munged" 2>&1
    on 1 slurmctld
    for i in 1 2; do # `ip netns exec` would hide /sys/fs/cgroup, which slurmd looks for
        mkdir "/var/spool/node$i" "/run/tmp.node$i" # PMIx makes folders of the same name on both machines
        nsenter --uts="/run/uts/node$i" --net="/run/netns/node$i" slurmd -N "node$i"
    done
    for ((i = 0; i < 60; i++)); do
        [ "$(on 1 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return 0
        sleep 0.5
    done
    return 1
}

slurm_down() {
    local file
    on 1 scancel --full --signal=KILL --user=root >/dev/null 2>&1
    for file in /run/slurmd.node*.pid /run/slurmctld.pid /run/munge/munged.pid; do
        [ ! -s "$file" ] || kill "$(cat "$file")"
    done
    rm -rf "$WORK"
}

# ---- what is trained --------------------------------------------------------------------------------------------------
# Language models of a toy text, whose steps take milliseconds.
make_recipe() {
    for i in {1..400}; do echo "$((i * i % 97)) ships and $((i * 7 % 31)) cats met $((i % 13)) kings."; done >"$WORK/text.txt"
    cat >"$WORK/toy.yaml" <<YAML
task: language_model
seed: 3
data: {text: text.txt, validation_fraction: 0.1}
tokenizer: {type: characters}
model: {layers: 2, d_model: 64, heads: 4, ffn: 128, context: 64}
train: {steps: ${1:-60}, batch: 8, accumulate: 4, shards: 4, lr: 0.002, report_every: ${2:-20}, checkpoint_every: 20}
YAML
}

same() { cmp "$1/model.safetensors" "$2/model.safetensors"; }

# job LOG SBATCH-OPTION... -- MODEL: submits the example and waits for its end; returns its exit status.
job() {
    local log=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    on 1 timeout 500 sbatch --wait --nodes=2 --output="$log" "${options[@]}" "$HERE/../../examples/cluster/train.sbatch" toy.yaml "$2"
}

# ---- the checks -------------------------------------------------------------------------------------------------------
check_jobs() {
    local mpi
    for mpi in openmpi mpich; do
        command -v mpirun.$mpi >/dev/null || { echo "skip  a job under $mpi, which is not installed"; continue; }
        MPIRUN=mpirun.$mpi job "$mpi.log" -- $mpi >sbatch.txt 2>&1
        say $? "$mpi: sbatch --nodes=2 train.sbatch" "$mpi.log"
        grep -q '2 processes' "$mpi.log"
        say $? "$mpi: two processes, on two machines: $(grep -m1 '2 processes' "$mpi.log")" "$mpi.log"
        same one $mpi >cmp.txt 2>&1
        say $? "$mpi: the model of one process, byte for byte" cmp.txt
    done
}

# Slurm sends its warning up to a minute early: here between half a minute and one and a half after the start.
check_requeue() {
    local log=again-$1.log start=$SECONDS
    rm -rf again whole
    make_recipe 200000 10000
    MPIRUN=mpirun.$1 job $log --time=2 --signal=B:USR1@30 -- again >sbatch.txt 2>&1 &
    local waiting=$!
    for ((; SECONDS - start < 240;)); do
        grep -q 'stopped after step' $log 2>/dev/null && break
        sleep 1
    done
    grep -q 'stopped after step' $log
    say $? "$1: the warning stops the job with a checkpoint after $((SECONDS - start)) s: $(grep -o 'stopped after step [0-9]* of [0-9]*' $log | head -1)" $log
    local step
    step=$(grep -o 'stopped after step [0-9]*' $log | head -1 | grep -o '[0-9]*$')
    for ((; SECONDS - start < 400;)); do
        [ "$(grep -c '2 processes' $log)" -ge 2 ] && break
        sleep 1
    done
    [ "$(grep -c '2 processes' $log)" -ge 2 ]
    say $? "$1: the job is queued again and starts, after $((SECONDS - start)) s" $log
    sleep 5
    local stopped
    stop_job
    [ "$(grep -c 'stopped after step' $log)" = 2 ] && [ "$(grep -c '2 processes' $log)" = 2 ]
    say $? "$1: cancelled, it stops with a checkpoint and is not queued again" $log
    stopped=$(newest again)
    [ "$stopped" -ge "${step:-1}" ]
    say $? "$1: it resumes where it stopped (step $step), and is at step $stopped now" $log
    kill $waiting 2>/dev/null
    "$RAPT" train toy.yaml --out whole --max-steps "$stopped" --quiet 2>whole.txt
    same whole again >cmp.txt 2>&1
    say $? "$1: the model of one process that was never stopped, of step $stopped, byte for byte" cmp.txt
}

newest() { basename "$(ls "$1"/checkpoints/step-*.safetensors | tail -1)" .safetensors | sed 's/step-0*//'; }

# A cancelled job stops with a checkpoint, and does not queue itself again.
stop_job() {
    on 1 scancel --batch --signal=TERM --name=rapt
    local i
    for ((i = 0; i < 60; i++)); do
        [ -z "$(on 1 squeue -h --name=rapt)" ] && return
        sleep 1
    done
}

# Launched by srun each process thinks that it is alone, unless Slurm speaks the language of its MPI.
check_srun() {
    local status
    on 1 srun --nodes=2 --ntasks-per-node=1 "$RAPT" train toy.yaml --out srun >srun.txt 2>&1
    status=$?
    [ $status != 0 ] && [ ! -e srun/model.safetensors ]
    say $? "srun: refused with exit status $status: $(grep -m1 rapt: srun.txt)" srun.txt
}

# srun as the launcher: ten runs of each. MPICH would take both machines for one, and use its memory: it is told to use the
# network, which it looks for in the machine's /sys.
check_srun_pmi() { # MPI PMI
    local model=srun-$1 i status=0 slowest=0 start
    command -v mpirun.$1 >/dev/null || { echo "skip  srun --mpi=$2, $1 is not installed"; return; }
    on 1 srun --mpi=list 2>&1 | grep -qw "$2" || { echo "skip  srun --mpi=$2, which this Slurm does not have"; return; }
    for i in {1..10}; do
        rm -rf $model
        start=$SECONDS
        UCX_TLS=tcp,self UCX_NET_DEVICES=e0 on 1 timeout 60 srun --mpi="$2" --nodes=2 --ntasks-per-node=1 ./task.sh train toy.yaml \
            --out $model >$model.log 2>&1
        status=$?
        [ $((SECONDS - start)) -le $slowest ] || slowest=$((SECONDS - start))
        { [ $status = 0 ] && same one $model >>$model.log 2>&1; } || break
    done
    say $status "$1: srun --mpi=$2, exit status $status, run $i of 10, at most $slowest s each: $(grep -m1 -E '2 processes|^rapt: ' $model.log)" $model.log
    same one $model >cmp.txt 2>&1
    say $? "$1: srun --mpi=$2, the model of one process, byte for byte" cmp.txt
}

trap 'slurm_down; network_down' EXIT
cd "$WORK" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
slurm_up || { cat /var/log/slurmd.node1.log; say 1 "$(slurmctld -V)" /var/log/slurmctld.log; exit 1; }
say 0 "$(slurmctld -V), two machines"
make_recipe
printf '#!/bin/sh\nexec ip netns exec "$SLURMD_NODENAME" "$RAPT" "$@"\n' >task.sh && chmod +x task.sh
"$RAPT" train toy.yaml --out one --quiet 2>one.txt
say $? 'one process' one.txt
check_jobs
check_srun
check_srun_pmi openmpi pmix
check_srun_pmi mpich pmi2
for mpi in openmpi mpich; do
    ! command -v mpirun.$mpi >/dev/null || check_requeue $mpi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
