#!/bin/bash
# bench/growth.sh [layers|width|rows|vocab...]: how a training step's time and memory grow with each size of a language model:
# 4 layers, 128 features, 768 rows (12 of 64 tokens), a vocabulary of 1,000; one of them changes. A row is a token of a batch.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- layers width rows vocab
DURATION=$(awk -v d="$DURATION" 'BEGIN { print d / 5 }') # sixteen cases

# measure NAME OPTIONS...: a line of the table.
measure() {
    local result
    result=$(own train --case a4n --vocab 1000 --threads "$THREADS" "${@:2}")
    row 14 "$1" "$(value ms <<<"$result")" "$(value mflop <<<"$result")" "$(value gflops <<<"$result")" \
        "$(value peak_share <<<"$result")" "$(value rss_mb <<<"$result")"
}

row 14 '' 'ms a step' 'MFLOP' 'GFLOP/s' 'of peak' MB
for what in "$@"; do
    case $what in
    layers) for n in 2 4 8 16; do measure "layers $n" --layers $n; done ;;
    width) for n in 64 128 256 512; do measure "width $n" --width $n; done ;;
    rows) for n in 384 768 1536 3072; do measure "rows $n" --batch $((n / 64)); done ;;
    vocab) for n in 1000 4000 16000 64000; do measure "vocab $n" --vocab $n; done ;;
    *) echo "growth.sh: wants layers, width, rows or vocab, not $what" >&2; exit 2 ;;
    esac
done
