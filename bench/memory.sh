#!/bin/bash
# bench/memory.sh [CASE...]: the peak memory of a process that trains, MB, beside PyTorch's; the ratio is
# PyTorch's / ours.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- a1 a2 a3 a4n a4b a5 a6
ROUNDS=1 DURATION=${MEMORY_SECONDS:-0.5} # memory does not waver, and is all taken in the first steps
explain_missing
row 6 case 'rapt, MB' 'PyTorch, MB' ratio
for case in "$@"; do
    ours() { own train --case "$case" --threads "$THREADS"; }
    theirs() { pytorch train --case "$case" --threads "$THREADS"; }
    medians rss_mb
    row 6 "$case" "$OURS" "${THEIRS:--}" "$(ratio "$THEIRS" "$OURS" 1)"
done
