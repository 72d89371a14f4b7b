#!/bin/bash
# tests/windows/paths.sh: names of files and lines of texts as Windows has them. For tools/windows_tests.sh, under Wine, where
# the drive Z: is the root of the file system.
. "$(dirname "$0")/../cli/lib.sh"
make_inputs
train whole

# ---- names -----------------------------------------------------------------------------------------------------------
backslashes() { sed 's|/|\\|g'; }
here="Z:$(pwd)"
train "$(backslashes <<<"$here/one/two")"
check 'a folder with backslashes and a drive' same_model whole one/two
train 'words/词 é/ß'
check 'a folder with letters beyond ASCII' same_model whole 'words/词 é/ß'
check 'its model translates' test "$("$RAPT" translate 'words/词 é/ß' --text 'I see the sea.' --quiet)" = \
    "$("$RAPT" translate whole --text 'I see the sea.' --quiet)"
long=$(printf 'folder-of-a-long-name-%02d/' {1..14})
train "$here/$long"
check 'a path of more than 300 bytes' same_model whole "$long"
check 'and info finds it' "$RAPT" info "$here/$long"
mkdir -p 'names/数据' && cut -f1 pairs.tsv >'names/数据/a.txt' && cut -f2 pairs.tsv >'names/b.txt'
train lists --set "data.pairs=$here/names/数据/a.txt:$here/names/b.txt"
check 'two files with drives make pairs' same_parameters whole/model.safetensors lists/model.safetensors
"$RAPT" train "$(backslashes <<<"$here/tiny.yaml")" --quiet --out relative
check "a recipe's paths start from its folder" same_model whole relative
refused 1 'no such model folder' 'a folder that is not there' "$RAPT" translate 'Z:\nothing\here' --text x
refused 1 'whole.*directory|irectory|folder' 'a folder where a file is expected' "$RAPT" eval whole whole

# ---- lines -----------------------------------------------------------------------------------------------------------
sed 's/$/\r/' pairs.tsv >crlf.tsv
train crlf --set data.pairs=crlf.tsv
check 'lines that end in CR LF train the same model' same_parameters whole/model.safetensors crlf/model.safetensors
printf 'I see the sea.\r\nyou call a bird.\r\n' >in.txt
"$RAPT" translate whole --quiet <in.txt >out.txt
check 'what is written has the bytes of Linux' cmp out.txt <(tr -d '\r' <in.txt | "$NATIVE" translate whole --quiet)

mkdir -p .gone.99999.tmp/sub
echo '99999 there' >.gone.99999.tmp/.rapt-lock
"$RAPT" convert whole --to hf --out converted >/dev/null
check 'what a killed writer has left is removed, with its folder' test -d converted -a ! -e .gone.99999.tmp

# ---- files in use ----------------------------------------------------------------------------------------------------
cp -r whole used
mkfifo lines
"$RAPT" translate used --quiet <lines >used.txt &
reader=$!
exec 9>lines
echo 'I see the sea.' >&9
for _ in {1..100}; do [ -s used.txt ] || sleep 0.1; done
train used --resume --set train.steps=140
check 'a model that is in use is replaced' test "$(newest used)" = 140
exec 9>&-
wait $reader
check 'and its reader is not disturbed' cmp used.txt <(echo 'I see the sea.' | "$NATIVE" translate whole --quiet)
train later --set train.steps=140
check 'by the one that it would be otherwise' same_model later used
sed -i 's/"dropout": 0.1/"dropout": 0.2/' used/config.json
check 'a model whose configuration was edited is sealed' "$RAPT" info used --seal
check 'and can be used' "$RAPT" translate used --text 'I see the sea.' --quiet
finish
