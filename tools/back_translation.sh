#!/bin/bash
# tools/back_translation.sh DATA SEED [PART...]: what back-translation is worth on Multi30k, English to German, with half of the
# pairs taken away. DATA is the folder that `rapt fetch multi30k` makes. Among four lines the first two are pairs; the other
# two give their German alone. (Lines of these files are short and long in turns: every second one would be no fair half.)
#
#   backward                 a model from German to English, of the half
#   half                     the baseline: a model from English to German, of the half
#   beam, sample             the other German, translated by the backward model: by a beam of 5; drawn from the ten best tokens
#   half-beam, half-sample   the same as half, of the half and those translations
#   half-beam-tagged         the same, with a "~" before each translated source (Caswell et al. 2019)
#   all                      the same as half, of all true pairs: what more pairs would give
#   score                    BLEU and chrF of the models that are there
#
# All models have the same recipe, steps and vocabulary. PARTs are made in the order given, all by default but the tagged one; a
# training run that was stopped is resumed. All is in models/back-translation-SEED. OPTIONS has more options of rapt train.
. "$(dirname "$0")/help.sh"
set -eu
usage='usage: tools/back_translation.sh DATA SEED [PART...]'
data=${1:?$usage} seed=${2:?$usage}
shift 2
rapt=${RAPT:-build/rapt} into=models/back-translation-$seed
[ $# -gt 0 ] || set -- backward half beam sample half-beam half-sample all score
file() { echo "$data/tok/$1.lc.norm.tok.$2"; }

split() {
    [ ! -e "$into/rest.de" ] || return 0
    mkdir -p "$into"
    for language in en de; do
        awk '(NR - 1) % 4 < 2' "$(file train $language)" >"$into/half.$language"
        awk '(NR - 1) % 4 >= 2' "$(file train $language)" >"$into/rest.$language"
    done
}

# train NAME SOURCE TARGET PAIRS: from SOURCE to TARGET on the corpora PAIRS, with the vocabulary of the half
train() {
    local model=$into/$1 resume=() vocabulary=()
    [ "$1" = backward ] || vocabulary=(--set tokenizer.type=file --set "tokenizer.path=$into/backward/source.tokenizer.json"
                                       --set tokenizer.vocab_size=0 --set tokenizer.pattern=)
    [ ! -e "$model/average" ] || return 0
    [ ! -e "$model" ] || resume=(--resume)
    "$rapt" train recipes/back-translation.yaml --seed "$seed" --set data.pairs="$4" \
        --set data.validation="$(file val "$2"):$(file val "$3")" "${vocabulary[@]}" --precision bf16 --out "$model" \
        "${resume[@]}" ${OPTIONS:-}
    "$rapt" average "$model" --last 10
}

# translated NAME OPTION...: $into/NAME.en: $into/rest.de, translated by the backward model
translated() {
    [ ! -e "$into/$1.en" ] || return 0
    "$rapt" translate "$into/backward/average" "${@:2}" "$into/rest.de" >"$into/.$1"
    mv "$into/.$1" "$into/$1.en"
}

# scored NAME SOURCE TARGET: BLEU and chrF on val and test_2016_flickr
scored() {
    local set
    [ -e "$into/$1/average" ] || return 0
    for set in val test_2016_flickr; do
        [ -e "$into/$1/$set" ] || "$rapt" translate "$into/$1/average" --beam 5 "$(file $set "$2")" >"$into/$1/$set"
        echo "$1, $set: $("$rapt" score --tokenize none "$into/$1/$set" "$(file $set "$3")" | tr '\n' ' ')"
    done
}

split
half=$into/half.en:$into/half.de
for part; do
    case $part in
    backward) train backward de en "$into/half.de:$into/half.en" ;;
    half) train half en de "$half" ;;
    all) train all en de "$(file train en):$(file train de)" ;;
    beam) translated beam --beam 5 ;;
    sample) translated sample --temperature 1 --top-k 10 --seed "$seed" ;;
    half-beam | half-sample) train "$part" en de "$half"$'\n'"$into/${part#half-}.en:$into/rest.de" ;;
    half-beam-tagged)
        sed 's/^/~ /' "$into/beam.en" >"$into/beam-tagged.en"
        train "$part" en de "$half"$'\n'"$into/beam-tagged.en:$into/rest.de"
        ;;
    score) scored backward de en && for model in half half-beam half-beam-tagged half-sample all; do scored $model en de; done ;;
    *) echo "$usage" >&2 && exit 2 ;;
    esac
done
