#!/bin/bash
# docs/book/make_pictures.sh [BUILD [FOLDER]]: draws the picture of each chapter from what its program prints with
# --table. BUILD is a build folder with the programs and rapt in it (default build; `make all examples`); the pictures
# go to FOLDER (default: beside this script).
. "$(dirname "$0")/../../tools/help.sh"
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${1:-$here/../../build}")
folder=$(realpath "${2:-$here}")
status=0

# draw CHAPTER[:NAME] TITLE X Y [OPTIONS]; a chapter of several pictures has names for them, which its program takes.
draw() {
    local chapter=${1%%:*} name=${1#"${1%%:*}"} title=$2 x=$3 y=$4 file
    name=${name#:} file=$folder/$chapter${name:+-$name}.svg
    shift 4
    "$build/examples/${chapter//-/_}" --table ${name:+"$name"} |
        "$build/rapt" plot table - --names --title "$title" --x "$x" --y "$y" "$@" -o "$file" &&
        awk -f "$here/compact_svg.awk" "$file" >"$file.new" &&
        mv "$file.new" "$file" || status=1
}

draw 00-tokens 'Tokens of each word' 'bytes, then what each merge joins' word --low 0
draw 01-embedding 'The vectors of 16 words before training' feature word
draw 02-positions 'Positions 0 to 31 with 32 features' feature position
draw 03-queries-keys-values 'The queries of 16 words' feature word
draw 04-heads 'The same queries in heads 0 and 1' 'feature of the head' 'head and word'
draw 05-scores 'Scaled scores, head 0' key query
draw 06-softmax 'Attention weights, head 0' key query --high 0.5
draw 07-weighted-sum 'Values (v) and their weighted sums (y), head 0' feature word
draw 08-concat-projection 'Four heads side by side' feature word
draw 09-ffn 'Hidden features after the ReLU' 'hidden feature' position
draw 10-add-norm 'Mean and variance of each word' figure word
draw 11-encoder 'Attention weights of the first encoder block' key query
draw 12-decoder 'Attention to the source after each word' 'source word' 'word read'
draw 13-sales-textbook 'Attention weights of the first head' key query
draw 14-training 'Probability of the word that follows, in training' 'word that follows' step --low 0 --high 1
draw 15-prediction 'Probabilities after three prompts' 'next word' 'way to choose' --low 0 --high 1
draw 16-gpt 'log10 of the norm of each gradient, 12 blocks' 'matrix' block
draw 17-since-2017 'Loss of a model of chapter 16 and of one with all four parts' step model
draw 17-rotary 'Rotary positions: scores of one query for one key' 'place of the key' 'place of the query'
draw 17-rms-norm 'Mean and root mean square of each word' figure word
draw 17-swiglu 'silu(gate) times up' gate up
draw 17-grouped-queries 'Keys of 4 heads with 2 key-value heads' head.feature word
draw 18-during-training 'Attention to the source before the first letter' 'source letter' 'training step'
exit $status
