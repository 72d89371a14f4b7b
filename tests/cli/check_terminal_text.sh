#!/usr/bin/env bash
# tests/cli/check_terminal_text.sh: text of somebody else's (arguments, recipes, configurations, tokenizers, tables) is cleaned
# and the names of files in messages and tables of what commands a terminal or changes the direction of text.
. "$(dirname "$0")/lib.sh"

make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
bad=$'\e[31m\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xff'
printf 'abc%s abc%s abc abcd' $'\xe2\x80\xae' $'\xc2\x9b' >odd.txt
cat text.txt >>odd.txt
"$RAPT" train lm.yaml --quiet --max-steps 20 --set data.text=odd.txt --out text >/dev/null 2>&1

# clean NAME COMMAND...: it says something, and nothing that must not reach a terminal.
clean() {
    local name=$1
    shift
    timeout 20 "$@" >.out 2>.err </dev/null
    cat .out .err >.said
    if [ ! -s .said ]; then
        fail "$name" 'it says nothing'
    elif ! iconv -f UTF-8 -t UTF-8 .said >/dev/null 2>&1; then
        fail "$name" 'not UTF-8' "$(head -c 300 .said | od -c | head -5)"
    elif LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xaf]' .said; then
        fail "$name" "$(head -c 300 .said | od -c | head -8)"
    else
        pass "$name"
    fi
}

clean 'a command' "$RAPT" "x$bad"
clean 'an option' "$RAPT" info "--x$bad"
clean 'the value of an option' "$RAPT" generate text --top-k "$bad"
clean 'a model' "$RAPT" info "m$bad"
clean 'a data set' "$RAPT" fetch "x$bad"
printf 'task: "x%s"\n' $'\xc2\x9b\xe2\x80\xae' >bad.yaml
clean 'a word of a recipe' "$RAPT" train bad.yaml --out out
printf 'ta%ssk: translation\n' $'\xe2\x80\xae' >bad.yaml
clean 'a key of a recipe' "$RAPT" train bad.yaml --out out
clean 'an assignment' "$RAPT" train lm.yaml --out out --set "x$bad=1"
cp -r text other
sed -i "s/\"norm_kind\": \"layer\"/\"norm_kind\": \"x"$'\xe2\x80\xae\xc2\x9b'"\"/" other/config.json
clean 'a word of a configuration' "$RAPT" info other
cp text/config.json other && printf '{"a": "%s"' $'\xe2\x80\xae\xc2\x9b' >other/tokenizer.json
clean 'a tokenizer' "$RAPT" eval other text.txt
printf 'step\tx%s\n1\t2%s\n' "$bad" "$bad" >table.tsv
clean 'a table' "$RAPT" plot table table.tsv --data
printf '1 2%s\n' "$bad" >ids.txt
clean 'ids' "$RAPT" tokenizer decode text ids.txt
clean 'the words of explain' "$RAPT" explain text "abc"$'\xe2\x80\xae'" abc"$'\xc2\x9b' --only tokens
clean 'the next words of explain' "$RAPT" explain text abc --only predictions
clean 'the next words of generate' "$RAPT" generate text --prompt abc --at 1 --top 100

# ---- tokenizers of somebody else's --------------------------------------------------------------------------------
"$RAPT" tokenizer train text.txt -o pattern.json --quiet --vocab-size 260 --pattern "[^ ]+| +|(?#"$'\e[31m\xc2\x9b\xe2\x80\xae'")."
check 'a pattern like that can be had' test -s pattern.json
clean 'the pattern of a tokenizer' "$RAPT" tokenizer info pattern.json

# ---- names of files -----------------------------------------------------------------------------------------------
cp pairs.tsv "p$bad.tsv" && cp text.txt "t$bad.txt"
printf 'I like zebras.\nzebras and gnus.\n' >"w$bad.txt"
seq 1 12 | sed 's/^/new/' >"n$bad.txt"
train words --set train.steps=20 || exit 1
clean 'tokenizer train' "$RAPT" tokenizer train text.txt -o "k$bad.json" --type characters
clean 'the folder of train' "$RAPT" train lm.yaml --set train.steps=1 --out "m$bad"
clean 'the folder of its best model' "$RAPT" train lm.yaml --set train.steps=40 --set train.lr=0.5 --set train.report_every=1 --out "best$bad"
check 'whose name it says' grep -q 'best validation loss .*/best)' .err
clean 'unknown words' "$RAPT" translate words "w$bad.txt"
clean 'more unknown words' "$RAPT" translate words "n$bad.txt"
check 'which it says' grep -q '2 more lines with unknown words' .err
clean 'unknown words, refused' "$RAPT" translate words "w$bad.txt" --strict
clean 'eval of pairs' "$RAPT" eval words "p$bad.tsv"
clean 'eval of a text' "$RAPT" eval text "t$bad.txt"
clean 'data check' "$RAPT" data check "p$bad.tsv"
clean 'fetch' "$RAPT" fetch multi30k --list --dir "d$bad" --from "file:///x$bad"
finish
