#!/bin/bash
# bench/train_step.sh [CASE...]: milliseconds of a training step (forward, backward, clipping, Adam), the share of what this
# machine computes, and PyTorch's milliseconds for the same work, in each of MODES (default "eager bf16"; also compile,
# compile_bf16, which want a C++ compiler). The ratio is PyTorch's time / ours.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- a1 a2 a3 a4n a4b a5 a6
read -ra modes <<<"${MODES:-eager bf16}"
[ -n "$PEER" ] || modes=(-)
explain_missing
row 6 case 'rapt, ms' 'GFLOP/s' 'of peak' 'PyTorch, mode' ms ratio
for case in "$@"; do
    for mode in "${modes[@]}"; do
        ours() { own train --case "$case" --threads "$THREADS" | tee "$last"; }
        theirs() { pytorch train --case "$case" --mode "$mode" --threads "$THREADS"; }
        last=$(mktemp)
        medians ms
        row 6 "$case" "$OURS" "$(value gflops <"$last")" "$(value peak_share <"$last")" "$mode" "${THEIRS:--}" \
            "$(ratio "$THEIRS" "$OURS")"
        rm "$last"
    done
done
