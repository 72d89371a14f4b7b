#!/bin/bash
# tools/multi30k.sh DATA SETTING SEED [OPTION...]: trains a model on Multi30k, or goes on with one that was stopped; averages the
# checkpoints that its recipe keeps, translates test_2016_flickr with a beam of 5 and scores it. DATA is the folder that `rapt
# fetch multi30k` makes. SETTING is de or fr: the lower-cased, tokenized text that papers score on; fast: de in less time; or
# raw-de or raw-fr: text as people write it. Options go to rapt train; the model to MODEL, from the environment, or
# models/multi30k-SETTING-SEED.
. "$(dirname "$0")/help.sh"
set -eu
usage='usage: tools/multi30k.sh DATA de|fr|fast|raw-de|raw-fr SEED [OPTION...]'
data=${1:?$usage} setting=${2:?$usage} seed=${3:?$usage}
shift 3
rapt=${RAPT:-build/rapt} model=${MODEL:-models/multi30k-$setting-$seed} language=${setting#raw-}
case $setting in
de | fr) recipe=multi30k-en-$setting folder=$data/tok form=.lc.norm.tok tokenize=none ;;
fast) recipe=multi30k-fast language=de folder=$data/tok form=.lc.norm.tok tokenize=none ;;
raw-de | raw-fr) recipe=multi30k-raw folder=$data form='' tokenize=13a ;;
*) echo "$usage" >&2 && exit 2 ;;
esac
file() { echo "$folder/$1$form.$2"; }
pairs() { echo "$(file "$1" en):$(file "$1" "$language")"; }

[ ! -e "$model" ] || set -- --resume "$@"
"$rapt" train recipes/$recipe.yaml --seed "$seed" --set data.pairs="$(pairs train)" --set data.validation="$(pairs val)" \
    --out "$model" "$@"
"$rapt" average "$model" --last "$(sed -n 's/^  keep: \([0-9]*\).*/\1/p' recipes/$recipe.yaml)"
echo "seconds of training: $(tail -1 "$model/train.jsonl" | sed 's/.*"seconds": \([0-9]*\).*/\1/')"
for part in val test_2016_flickr; do
    "$rapt" translate "$model/average" --beam 5 "$(file $part en)" >"$model/$part.$language"
    echo "$part:"
    "$rapt" score --tokenize $tokenize "$model/$part.$language" "$(file $part "$language")"
done
