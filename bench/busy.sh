#!/bin/bash
# bench/busy.sh [CASE...]: milliseconds of a training step alone, and beside a process that keeps one CPU busy; how many
# times as long, ours and PyTorch's.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- a1 a2
neighbour=
trap '[ -z "$neighbour" ] || kill "$neighbour" 2>/dev/null' EXIT

# Bound to the first CPU that we may use, so that it takes one CPU whole.
move_in() {
    (while :; do :; done) &
    neighbour=$!
    ! command -v taskset >/dev/null || taskset -cp "$(taskset -cp $$ | sed -E 's/.*: *([0-9]+).*/\1/')" "$neighbour" >/dev/null
}

move_out() {
    kill "$neighbour"
    wait "$neighbour" 2>/dev/null || true
    neighbour=
}

explain_missing
row 6 case 'rapt alone' 'beside' 'times as long' 'PyTorch alone' 'beside' 'times as long'
for case in "$@"; do
    ours() { own train --case "$case" --threads "$THREADS"; }
    theirs() { pytorch train --case "$case" --threads "$THREADS"; }
    medians ms
    alone=$OURS their_alone=$THEIRS
    move_in
    medians ms
    move_out
    row 6 "$case" "$alone" "$OURS" "$(ratio "$OURS" "$alone")" \
        "${their_alone:--}" "${THEIRS:--}" "$(ratio "$THEIRS" "$their_alone")"
done
