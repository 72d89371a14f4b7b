#!/bin/bash
# tools/d2l_seeds.sh PAIRS [SEED...]: trains the book's recipe on the first 601 pairs of an English<TAB>French file, once
# for each seed (default: 1 to 5), and prints the final loss as the book prints it and the four sentences that the book
# translates. Some ten seconds a seed.
. "$(dirname "$0")/help.sh"
set -eu
pairs=${1:?usage: tools/d2l_seeds.sh PAIRS [SEED...]}
shift
[ $# -gt 0 ] || set -- 1 2 3 4 5
rapt=${RAPT:-build/rapt}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for seed; do
    "$rapt" train recipes/d2l-seq2seq.yaml --set data.pairs="$pairs" --out "$folder/$seed" --seed "$seed" --quiet
    loss=$(tail -1 "$folder/$seed/train.jsonl" | sed 's/.*"loss_book": \([0-9.]*\).*/\1/')
    text=$(printf "go .\ni lost .\nhe's calm .\ni'm home .\n" | "$rapt" translate "$folder/$seed" | paste -sd'|')
    echo "seed $seed  loss_book $loss  $text"
done
