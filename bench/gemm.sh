#!/bin/bash
# bench/gemm.sh [MxNxK...]: GFLOP/s of fp32 matrix products in the three forms of a linear layer (NT forward, NN input gradient,
# TN weight gradient), the share of what this machine computes, and PyTorch's; the ratio is ours / PyTorch's. Without
# arguments ten shapes of Transformers.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- 2048x512x512 2048x2048x512 2048x512x2048 4096x128x128 4096x256x128 768x384x384 16384x1536x384 \
    1024x1024x1024 64x512x512 4096x10000x128
DURATION=$(awk -v d="$DURATION" 'BEGIN { print d / 5 }') # a measurement here is a form of a shape
best=$(mktemp)
trap 'rm "$best"' EXIT
explain_missing
row 22 'form, M x N x K' 'rapt' 'of peak' 'PyTorch' ratio
for shape in "$@"; do
    own kernels --case "$shape" --threads "$THREADS" >"$best"
    theirs=$([ -z "$PEER" ] || pytorch gemm --case "$shape" --threads "$THREADS")
    for form in NT NN TN; do
        mine=$(grep "\"form\": \"$form\"" "$best") other=$(grep "\"form\": \"$form\"" <<<"$theirs" || true)
        rate=$(value gflops <<<"$mine") their_rate=$(value gflops <<<"$other")
        row 22 "$form $shape" "$rate" "$(value peak_share <<<"$mine")" "${their_rate:--}" "$(ratio "$rate" "$their_rate")"
        echo "$form $(ratio "$rate" "$their_rate" 4)" >>"$best.ratios"
    done
done
[ -z "$PEER" ] || awk '{ log_sum += log($2); if (!n++ || $2 < least) least = $2 }
    END { printf "geometric mean of the ratios %.3f, least %.3f\n", exp(log_sum / n), least }' "$best.ratios"
rm "$best.ratios"
