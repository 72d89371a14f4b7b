#!/bin/bash
# bench/muon.sh [CASE BATCH]...: milliseconds of a training step with Adam and with Muon, in turns (default: a4b with batches of 64
# and of 8), and the milliseconds that the step itself takes with Muon. The ratio is Muon's / Adam's.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- a4b 64 a4b 8
PEER=yes last=$(mktemp)
trap 'rm "$last"' EXIT
step() { own train --case "$case" --batch "$batch" --threads "$THREADS" --optimizer "$1"; }
ours() { step muon | tee "$last"; }
theirs() { step adam; }
row 6 case batch 'Adam, ms' 'Muon, ms' 'its own part' ratio
while [ $# -ge 2 ]; do
    case=$1 batch=$2
    medians ms
    row 6 "$case" "$batch" "$THEIRS" "$OURS" "$(value optim <"$last")" "$(ratio "$OURS" "$THEIRS" 3)"
    shift 2
done
