#!/bin/bash
# tools/cluster/namespaces.sh [OPTIONS] COMMAND...: several machines on one: network namespaces, joined by a bridge, in which a
# real mpirun starts COMMAND over TCP; then they are gone. Nothing leaves them: no traffic, and no change of this machine.
#   -n MACHINES   how many (default 2); each has its share of the CPUs, its host name node1, node2, ... and an interface e0
#   -p PROCESSES  on each machine (default 1)
#   -r RATE       of each machine's link, each way: 1gbit, 100mbit (default none: as fast as memory goes)
#   -m LAUNCHER   openmpi (default), mpich, or each: COMMAND once on each machine, with torchrun's variables
#   -b FILE       writes what each machine sent, as the kernel counts it: lines of name, bytes of payload, segments
#   -s            COMMAND is a script that is sourced with the functions of network.sh, the machines being there
# Needs root, or a kernel that lets users make namespaces; iproute2, util-linux, and the MPI that is asked for.
. "$(dirname "$0")/../help.sh"
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
machines=2 per=1 rate=none launcher=openmpi bytes='' script=''
[ -n "${RAPT_NAMESPACE:-}" ] || given=("$@")
while getopts n:p:r:m:b:s option; do
    case $option in
    n) machines=$OPTARG ;;
    p) per=$OPTARG ;;
    r) rate=$OPTARG ;;
    m) launcher=$OPTARG ;;
    b) bytes=$OPTARG ;;
    s) script=yes ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

if [ -z "${RAPT_NAMESPACE:-}" ]; then
    user=()
    [ "$(id -u)" = 0 ] || user=(--map-root-user)
    RAPT_NAMESPACE=1 exec unshare "${user[@]}" --net --mount "$0" "${given[@]}"
fi
unset RAPT_NAMESPACE
. "$HERE/network.sh"
network_up "$machines"
trap network_down EXIT
network_shape "$rate"
if [ -n "$script" ]; then
    . "$@"
    exit
fi
counts=
[ -z "$bytes" ] || { counts=$(mktemp -d) && network_count "$counts"; }
status=0
launch "$launcher" "$per" "$@" || status=$?
[ -z "$bytes" ] || { network_sent "$counts" >"$bytes" && rm -r "$counts"; }
exit $status
