#!/bin/bash
# bench/smpi/simulate.sh MACHINES RATE [NAME=VALUE...]: a training step of MACHINES machines, simulated (SimGrid's SMPI) with the
# real messages of src/group over a switch: RATE is the speed of a link, 1 or 10 or 100 Gbit/s. Prints one JSON object:
# milliseconds of a step, the same for one machine alone, their ratio, bytes. NAME=VALUE sets one of the SETTINGS of step.c;
# LATENCY in the environment is the latency of a link, each way (default 20us). Needs libsimgrid-dev (Debian). 1,024 machines take
# a quarter of an hour.
. "$(dirname "$0")/../../tools/help.sh"
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command -v smpicc >/dev/null || { echo "smpicc is missing: on Debian install libsimgrid-dev" >&2; exit 1; }
machines=$1 rate=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The exchange without its thread; rapt_fail and what it needs.
sources=()
for name in rank_exchange operation halving pairwise gather broadcast_ranks ranges shard_tree mpi/mpi_transport; do
    sources+=("$ROOT/src/group/$name.c")
done
smpicc -O2 -std=gnu11 -DMPI_Init_thread=simulated_init_thread -I"$ROOT/include" -I"$ROOT/src" -o "$work/step" "$HERE/step.c" \
    "${sources[@]}" "$ROOT/src/base/error.c" "$ROOT/src/base/quote.c" -lm

cat >"$work/platform.xml" <<END
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machines" prefix="node" suffix="" radical="0-$((machines - 1))" speed="1Gf" sharing_policy="SPLITDUPLEX"
    bw="$(awk -v r="$rate" 'BEGIN { printf "%.0f", r * 1e9 / 8 }')Bps" lat="${LATENCY:-20us}"/>
</platform>
END
for ((i = 0; i < machines; i++)); do echo "node$i"; done >"$work/hosts"
cd "$work"
smpirun -np "$machines" -platform platform.xml -hostfile hosts --cfg=smpi/simulate-computation:no --cfg=smpi/test:0 \
    --log=root.thresh:warning ./step "$@"
