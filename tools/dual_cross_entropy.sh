#!/bin/bash
# tools/dual_cross_entropy.sh FORWARD BACKWARD PAIRS [OPTION...]: the lines SOURCE<tab>TARGET of the file PAIRS, each with its dual
# conditional cross-entropy (Junczys-Dowmunt 2018) and a tab before it, the best first. FORWARD is a model from source to target,
# BACKWARD one in the other direction. With F and B, their losses in nats a token, the score is |F - B| + (F + B) / 2: low if the
# pair is likely to both models, and about equally so. Empty lines, and lines with an empty side, are left out. Options go to
# `rapt eval`, such as --threads 1.
. "$(dirname "$0")/help.sh"
set -euo pipefail
export LC_ALL=C
usage='usage: tools/dual_cross_entropy.sh FORWARD BACKWARD PAIRS [OPTION...]'
forward=${1:?$usage} backward=${2:?$usage} pairs=${3:?$usage}
shift 3
rapt=${RAPT:-build/rapt} work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -F'\t' '{ print $2 "\t" $1 }' "$pairs" >"$work/swapped.tsv"
"$rapt" eval "$forward" "$pairs" --each "$@" >"$work/forward"
"$rapt" eval "$backward" "$work/swapped.tsv" --each "$@" >"$work/backward"
paste "$work/forward" "$work/backward" "$pairs" | awk -F'\t' '
    $3 > 0 && $6 > 0 { d = $2 - $5; printf "%.4f\t%s\t%s\n", (d < 0 ? -d : d) - ($2 + $5) / 2, $7, $8 }' |
    sort -s -t "$(printf '\t')" -k1,1g
