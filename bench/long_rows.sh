#!/bin/bash
# bench/long_rows.sh [TOKENS...]: a training step on one row of TOKENS tokens (4 layers, 256 features): microseconds a token,
# the share of what this machine computes, the peak memory of the process; the last two columns with --recompute.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- 512 1024 2048 4096 8192
row 10 tokens 'ms a step' 'us a token' 'GFLOP/s' 'of peak' MB 'again: us' 'again: MB'
for tokens in "$@"; do
    result=$(own train --case long --time "$tokens" --threads "$THREADS")
    ms=$(value ms <<<"$result")
    again=$(own train --case long --time "$tokens" --threads "$THREADS" --recompute)
    row 10 "$tokens" "$ms" "$(ratio "$ms" "$tokens" 6 | awk '{ print $1 * 1000 }')" "$(value gflops <<<"$result")" \
        "$(value peak_share <<<"$result")" "$(value rss_mb <<<"$result")" \
        "$(ratio "$(value ms <<<"$again")" "$tokens" 6 | awk '{ print $1 * 1000 }')" "$(value rss_mb <<<"$again")"
done
