# tools/cluster/network.sh: machines on a network of our own, as functions; namespaces.sh sources it inside a network and a mount
# namespace that nobody else sees, and gives them to a script. For the scripts of this folder.
#
# A machine is a network namespace with an interface e0, a host name and its share of this computer's CPUs: node1, node2, ... at
# 10.9.0.1, 10.9.0.2, ... A bridge joins them. Nothing leads out of it, so all traffic stays inside.
NET=10.9.0
MACHINES=0

# network_up COUNT: makes the machines.
network_up() {
    local i
    MACHINES=$1
    mount -t tmpfs tmpfs /run # `ip netns` keeps its names there
    mkdir /run/uts
    echo "127.0.0.1 localhost" >/run/hosts
    ip link set lo up
    ip link add bridge type bridge
    ip link set bridge up
    for ((i = 1; i <= MACHINES; i++)); do
        echo "$NET.$i node$i" >>/run/hosts
        network_machine "$i"
    done
    mount --bind /run/hosts /etc/hosts
    # What starts a process on a machine, in place of ssh: AGENT [-x] MACHINE COMMAND...
    cat >/run/agent <<'AGENT'
#!/bin/sh
[ "$1" != -x ] || shift
machine=$1
shift
exec nsenter --uts=/run/uts/$machine ip netns exec $machine taskset -c $(cat /run/cpus.$machine) sh -c "$*"
AGENT
    chmod +x /run/agent
}

network_machine() {
    local name=node$1
    ip netns add "$name"
    ip link add "v$1" type veth peer name e0 netns "$name"
    ip link set "v$1" master bridge up
    ip -n "$name" link set lo up
    ip -n "$name" addr add "$NET.$1/24" dev e0
    ip -n "$name" link set e0 up
    touch "/run/uts/$name"
    unshare --uts="/run/uts/$name" hostname "$name"
    network_cpus "$1" >"/run/cpus.$name"
}

# The CPUs of machine I: its share of those that we may use; with more machines than CPUs they take turns.
network_cpus() {
    local list=() range cpu n first end
    for range in $(taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
        for ((cpu = ${range%-*}; cpu <= ${range#*-}; cpu++)); do list+=("$cpu"); done
    done
    n=${#list[@]}
    if ((MACHINES > n)); then
        echo "${list[$((($1 - 1) % n))]}"
        return
    fi
    first=$((($1 - 1) * n / MACHINES)) end=$(($1 * n / MACHINES))
    (IFS=,; echo "${list[*]:first:end-first}")
}

# network_shape RATE: each machine sends and receives at most so much (tc's form: 1gbit); none: as fast as it goes.
network_shape() {
    local i
    for ((i = 1; i <= MACHINES; i++)); do
        tc qdisc del dev "v$i" root 2>/dev/null || true
        tc -n "node$i" qdisc del dev e0 root 2>/dev/null || true
        [ "$1" = none ] || {
            tc qdisc add dev "v$i" root tbf rate "$1" burst 256k latency 50ms
            tc -n "node$i" qdisc add dev e0 root tbf rate "$1" burst 256k latency 50ms
        }
    done
}

# network_link MACHINE up|down: plugs a machine's cable in, or pulls it.
network_link() { ip link set "v$1" "$2"; }

# on MACHINE COMMAND...: runs a command on machine number MACHINE.
on() {
    local name=node$1
    shift
    nsenter --uts="/run/uts/$name" ip netns exec "$name" taskset -c "$(cat "/run/cpus.$name")" "$@"
}

# The processes of a command: PER on each machine; LAUNCHER is openmpi or mpich, or `each`: the command is started on
# every machine, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment, as torchrun sets them.
# launch LAUNCHER PER COMMAND...
launch() {
    local kind=$1 per=$2 hosts='' i
    shift 2
    for ((i = 1; i <= MACHINES; i++)); do hosts+=,node$i:$per; done
    case $kind in
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 on 1 "${OPENMPI_RUN:-mpirun.openmpi}" \
            --mca plm rsh --mca plm_rsh_agent /run/agent --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include e0 \
            --mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include e0 --mca mpi_yield_when_idle 1 \
            -H "${hosts#,}" --map-by "ppr:$per:node" --bind-to none --oversubscribe -n $((MACHINES * per)) "$@" ;;
    mpich)
        on 1 "${MPICH_RUN:-mpiexec.hydra}" -launcher ssh -launcher-exec /run/agent -iface e0 -genv UCX_TLS tcp,self \
            -genv UCX_NET_DEVICES e0 -hosts "${hosts#,}" -ppn "$per" -n $((MACHINES * per)) "$@" ;;
    each) launch_each "$@" ;;
    *) echo "no launcher is called $kind; there are openmpi, mpich and each" >&2; return 2 ;;
    esac
}

launch_each() {
    local i pids=() status=0
    for ((i = 1; i <= MACHINES; i++)); do
        RANK=$((i - 1)) WORLD_SIZE=$MACHINES LOCAL_RANK=0 MASTER_ADDR=$NET.1 MASTER_PORT=29500 on "$i" "$@" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || status=$?; done
    return $status
}

# network_count FOLDER: from here on, the kernel's record (TCP_INFO) of each connection that is closed goes to FOLDER/nodeI.
network_count() {
    local i
    mkdir -p "$1"
    for ((i = 1; i <= MACHINES; i++)); do
        ip netns exec "node$i" stdbuf -oL ss -tinHOE >"$1/node$i" &
        disown
    done
    sleep 0.3
}

# network_sent FOLDER: what each machine has sent to the others over connections that are closed, a line each: its name, bytes of
# payload without what was sent again, segments. Headers, which this leaves out, take 66 bytes a segment.
network_sent() {
    local i
    sleep 0.3
    for ((i = 1; i <= MACHINES; i++)); do
        awk -v name="node$i" -v own="$NET.$i:" -v net="$NET." '
            function of(key, found) {
                return match($0, " " key ":[0-9]+") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) + 0 : 0
            }
            { from = $4; to = $5; gsub(/\[|\]|::ffff:|%e0/, "", from); gsub(/\[|\]|::ffff:|%e0/, "", to) }
            index(from, own) == 1 && index(to, net) == 1 && index(to, own) != 1 {
                bytes += of("bytes_sent") - of("bytes_retrans"); segments += of("data_segs_out")
            }
            END { printf "%s %.0f %.0f\n", name, bytes, segments }' "$1/node$i"
    done
}

# Ends whatever still runs on the machines; they vanish with the last process.
network_down() {
    local i
    for ((i = 1; i <= MACHINES; i++)); do
        ip netns pids "node$i" 2>/dev/null | xargs -r kill -9 2>/dev/null
    done
    return 0
}
