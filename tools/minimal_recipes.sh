#!/bin/bash
# tools/minimal_recipes.sh: what recipes of `task` and `data` alone learn from small pieces of five data sets, as a Markdown table
# for docs/results/minimal-recipes.md:
# tools/minimal_recipes.sh FOLDER [PROGRAM] [OPTION...] FOLDER has en-fr.tsv (from data/), multi30k/train.{en,de},
# fra-eng/fra.txt, sales_textbook.txt and tinyshakespeare.txt; PROGRAM is build/rapt unless named. OPTIONs go to `rapt train` of
# language models: version 0.1 needs some. All runs are of one thread; they take some ten minutes.
. "$(dirname "$0")/help.sh"
set -u
export LC_ALL=C
data=$(realpath "$1") rapt=$(realpath "${2:-build/rapt}")
shift; shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# 3,000 pairs to train on, and 150 of other source sentences to translate.
pairs() { awk -F'\t' 'NF >= 2 && !seen[$1]++ { print $1 "\t" $2 }' | awk -v name="$1" \
    'NR % 21 == 7 && tested < 150 { print >(name "-test.tsv"); tested++; next } trained < 3000 { print >(name ".tsv"); trained++ }'; }
# The first 135,000 bytes to train on, the next 15,000 to evaluate.
text() { head -c 150000 >"$1-all.txt"; head -c 135000 "$1-all.txt" >"$1.txt"; tail -c 15000 "$1-all.txt" >"$1-test.txt"; }
pairs en-fr <"$data/en-fr.tsv"
paste "$data/multi30k/train.en" "$data/multi30k/train.de" | pairs multi30k
awk 'NR % 33 == 0' "$data/fra-eng/fra.txt" | pairs fra-eng
text sales-textbook <"$data/sales_textbook.txt"
text tiny-shakespeare <"$data/tinyshakespeare.txt"

# member FILE NAME: a number of the last JSON object of a file.
member() { tail -1 "$1" | tr -d '\n' | sed -n "s/.*\"$2\": *\([-0-9.e+]*\).*/\1/p"; }
# first RECIPE OPTION...: the loss of the first step, and ln V.
first() {
    rm -rf one
    "$rapt" train "$@" --out one --max-steps 1 --threads 1 --quiet 2>err || { echo "refused |"; return; }
    "$rapt" info "$@" --json | tr -d '\n' >info
    member one/train.jsonl loss | awk -v v="$(member info target_vocab)" '{ printf "%.2f | %.2f\n", $1, log(v) }'
}
# one NAME TASK KEY FILE TEST OPTION...: a row.
one() {
    local name=$1 task=$2 key=$3 file=$4 test=$5 start=$SECONDS result
    shift 5
    printf 'task: %s\ndata:\n  %s: %s\n' "$task" "$key" "$file" >"$name.yaml"
    if ! "$rapt" train "$name.yaml" --out "$name" --threads 1 --quiet "$@" 2>"$name.err"; then
        echo "| $name | | | refused: $(head -1 "$name.err" | sed 's/^rapt: [^:]*: //') | |"
        return
    fi
    local seconds=$((SECONDS - start))
    "$rapt" eval "$name" "$test" --json --threads 1 | tr -d '\n' >eval.json
    if [ "$task" = translation ]; then
        result="BLEU $(member eval.json bleu | awk '{ printf "%.1f", $1 }')"
    else
        result="$(member eval.json bits_per_byte | awk '{ printf "%.3f", $1 }') bits per byte"
    fi
    echo "| $name | $(first "$name.yaml" "$@") | $result | $seconds s |"
}
echo '| data | first loss | ln V | at the end | time |'
echo '| --- | --- | --- | --- | --- |'
for name in en-fr multi30k fra-eng; do one $name translation pairs $name.tsv $name-test.tsv; done
for name in sales-textbook tiny-shakespeare; do one $name language_model text $name.txt $name-test.txt "$@"; done
