#!/bin/bash
# bench/threads.sh [CASE...]: milliseconds of a training step on one thread and on MANY (default 2), in turns; how many times
# as fast.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- a2 a3 a4b
MANY=${MANY:-2} PEER=
row 6 case '1 thread, ms' "$MANY, ms" 'times as fast'
for case in "$@"; do
    one='' many=''
    for ((i = 0; i < ROUNDS; i++)); do
        one+=$(own train --case "$case" --threads 1 | value ms)$'\n'
        many+=$(own train --case "$case" --threads "$MANY" | value ms)$'\n'
    done
    row 6 "$case" "$(median <<<"$one")" "$(median <<<"$many")" "$(ratio "$(median <<<"$one")" "$(median <<<"$many")")"
done
