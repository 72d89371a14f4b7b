#!/bin/bash
# tests/cli/check_recipe_data.sh: a shipped recipe whose data set or vocabulary is not there names the command that gets it,
# reads no other data in its place, and leaves no folder.
. "$(dirname "$0")/lib.sh"
mkdir data
cp -r "$SOURCE/recipes" .
cp "$SOURCE"/data/*.tsv data/

# names_set RECIPE SET: training is refused with the command for this set.
names_set() {
    refused 1 "o such file.*; .rapt fetch $2 --dir recipes/../data/$2. gets it$" "$1: names rapt fetch $2" \
        "$RAPT" train "recipes/$1.yaml" --out model
    check "$1: nothing is left" test ! -e model
}

# Every recipe but those that come with their data, by the folder that it reads from.
tried=0
for file in recipes/*.yaml; do
    recipe=$(basename "$file" .yaml)
    set=$(sed -n "s,^  \(pairs\|text\): \.\./data/\([a-z0-9-]*\)/.*,\2,p" "$file")
    [ -n "$set" ] || continue
    names_set "$recipe" "$set"
    check "$recipe: rapt fetch knows it" "$RAPT" fetch --list "$set"
    tried=$((tried + 1))
done
check 'thirteen recipes have data to fetch' test "$tried" = 13

mkdir data/fra-eng data/sales-textbook
cp data/en-fr.tsv data/fra-eng/fra.txt
make_text >data/sales-textbook/sales_textbook.txt
check 'where the file is there it is read' "$RAPT" train recipes/d2l-seq2seq.yaml --out model --max-steps 1 --quiet
rm -r model
names_set sales-textbook-seed cl100k_base
refused 1 'cannot read none.tsv: No such file or directory$' 'another file that is missing is no data set' \
    "$RAPT" train recipes/d2l-seq2seq.yaml --out other --set data.pairs=none.tsv

# The book's own file: the recipe as it is gives the book's four sentences, and about the loss that the book prints, 0.030.
book_sentences() { printf 'go .\ni lost .\nhe'"'"'s calm .\ni'"'"'m home .\n' | "$RAPT" translate book --quiet | diff - sentences; }
pairs=${RAPT_SHARED:-$SOURCE/../shared}/data/fra-eng/fra.txt
if [ -s "$pairs" ] && [ ! "$SANITIZED" ]; then
    printf "va !\nj'ai perdu .\nil est calme .\nje suis chez moi .\n" >sentences
    check "the book's pairs: trains" "$RAPT" train recipes/d2l-seq2seq.yaml --set data.pairs="$pairs" --out book --quiet
    check "the book's four sentences" book_sentences
    check "the book's loss" awk '{ sub(/.*"loss_book": /, ""); loss = $0 + 0 } END { exit !(loss > 0.028 && loss < 0.034) }' \
        book/train.jsonl
else
    skip "the book's pairs are not here"
fi
finish
