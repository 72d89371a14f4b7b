# bench/lib.sh: what the scripts of this folder share; each sources it first. From the environment:
#   RAPT      the program (default build/rapt)          RAPT_OPTIONS  more options for `rapt-bench`
#   PYTHON    a python that has torch, for the other side (default python3)
#   THREADS   of both sides (default: all CPUs)         ROUNDS        both sides in turns, so often (default 3)
#   DURATION  seconds that each measurement takes (default 5)
. "$(dirname "${BASH_SOURCE[0]}")/../tools/help.sh"
set -euo pipefail
BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RAPT=$(realpath "${RAPT:-$BENCH/../build/rapt}")
PYTHON=${PYTHON:-python3} THREADS=${THREADS:-$(nproc)} ROUNDS=${ROUNDS:-3} DURATION=${DURATION:-5}
read -ra RAPT_OPTIONS <<<"${RAPT_OPTIONS:-}"
[ -x "$RAPT-bench" ] || { echo "no program at $RAPT-bench; build it, or set RAPT" >&2; exit 1; }
PEER= # whether the other side is there
! "$PYTHON" -c 'import torch' 2>/dev/null || PEER=yes

# own WHAT OPTIONS...: JSON of `rapt-bench WHAT`.
own() { "$RAPT-bench" "$1" --json --seconds "$DURATION" "${@:2}" "${RAPT_OPTIONS[@]}"; }

# pytorch SCRIPT OPTIONS...: JSON of a script of pytorch/.
pytorch() { "$PYTHON" "$BENCH/pytorch/$1.py" --seconds "$DURATION" "${@:2}"; }

# value KEY: what the JSON objects on stdin have there, a line each.
value() { sed -En "s/.*\"$1\": *\"?([^,\"}]*).*/\1/p"; }

median() { sort -g | awk 'NF { v[++n] = $1 } END { print v[int((n + 1) / 2)] }'; }

# medians KEY [KEY]: runs `ours` and `theirs`, which print JSON, in turns; OURS and THEIRS become the medians of KEY, each
# side under its own. THEIRS is empty without the other side.
medians() {
    local a='' b='' i
    for ((i = 0; i < ROUNDS; i++)); do
        a+=$(ours | value "$1")$'\n'
        [ -z "$PEER" ] || b+=$(theirs | value "${2:-$1}")$'\n'
    done
    OURS=$(median <<<"$a")
    THEIRS=$(median <<<"$b")
}

# ratio A B [DIGITS]: A / B, or - where one is missing.
ratio() {
    awk -v a="${1:-0}" -v b="${2:-0}" -v d="${3:-2}" 'BEGIN { if (a > 0 && b > 0) printf "%.*f", d, a / b; else printf "-" }'
}

# row WIDTH TEXT...: columns; the first is to the left.
row() {
    local width=$1
    printf "%-${width}s" "$2"
    printf ' %13s' "${@:3}"
    echo
}

# Says once what is missing.
explain_missing() { [ -n "$PEER" ] || echo "(without PyTorch's side: $PYTHON has no torch; PYTHON names one that has)"; }
