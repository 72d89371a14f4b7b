#!/bin/bash
# tests/cli/check_recipe_data.sh: a shipped recipe whose data set is not there names the command that gets it, and reads no
# other data in its place.
. "$(dirname "$0")/lib.sh"
mkdir data
cp -r "$SOURCE/recipes" .
cp "$SOURCE"/data/*.tsv data/
for recipe in d2l-seq2seq:fra-eng fra-eng:fra-eng shakespeare-char:tiny-shakespeare shakespeare-baby:tiny-shakespeare \
    multi30k-en-de:multi30k multi30k-en-fr:multi30k multi30k-raw:multi30k sales-textbook:sales-textbook; do
    set=${recipe#*:} recipe=${recipe%:*}
    refused 1 "o such file.*; .rapt fetch $set --dir recipes/../data/$set. gets it$" "$recipe: names rapt fetch $set" \
        "$RAPT" train "recipes/$recipe.yaml" --out model
    check "$recipe: rapt fetch knows it" "$RAPT" fetch --list "$set"
    check "$recipe: nothing is left" test ! -e model
done
mkdir data/fra-eng
cp data/en-fr.tsv data/fra-eng/fra.txt
check 'where the file is there it is read' "$RAPT" train recipes/d2l-seq2seq.yaml --out model --max-steps 1 --quiet
refused 1 'cannot read none.tsv: No such file or directory$' 'another file that is missing is no data set' \
    "$RAPT" train recipes/d2l-seq2seq.yaml --out other --set data.pairs=none.tsv
finish
