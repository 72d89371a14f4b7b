#!/bin/bash
# tests/cli/check_tokenizer.sh: `rapt tokenizer`: what its parts print, in which forms, and what they say of bad input.
. "$(dirname "$0")/lib.sh"
printf 'hehehe he\nhello hello\n' >text
printf '{"id": 7, "text": "hello<|end|>"}\n{"text": "\\u0000\\u00e9", "ids": 1}\n' >objects
"$RAPT" tokenizer train text -o bpe.json --vocab-size 260 --special '<|end|>' --quiet 2>.err >.out || exit 1
"$RAPT" tokenizer train text -o characters.json --type characters 2>/dev/null || exit 1
"$RAPT" tokenizer train text -o words.json --type words --min-freq 2 2>/dev/null || exit 1

# prints WANTED NAME COMMAND...: succeeds with just this on stdout.
prints() {
    local want=$1 name=$2
    shift 2
    check "$name" test "$("$@" 2>&1 | od -c)" = "$(printf '%b' "$want" | od -c)"
}

# ---- train ---------------------------------------------------------------------------------------------------------
check 'train --quiet is quiet' test ! -s .out -a ! -s .err
check 'train tells the number of entries' grep -q '^again.json: 260 entries$' <("$RAPT" tokenizer train text -o again.json \
    --vocab-size 260 --special '<|end|>' --threads 3 2>&1)
check 'the same bytes with three threads' cmp bpe.json again.json
check 'from standard input' "$RAPT" tokenizer train - -o again.json --vocab-size 260 --special '<|end|>' <text
check 'the same bytes' cmp bpe.json again.json
head -1 text >one; tail -1 text >two
check 'from two files' "$RAPT" tokenizer train one two -o again.json --vocab-size 260 --special '<|end|>'
check 'the same bytes again' cmp bpe.json again.json

# ---- encode, decode ------------------------------------------------------------------------------------------------
# "h e" is the most frequent pair: 256. Two more merges, and the special token: 259.
prints '256 259\n' 'a special token' "$RAPT" tokenizer encode bpe.json --specials <(printf 'he<|end|>')
prints '256 60 124 101 110 100 124 62\n' 'as text' "$RAPT" tokenizer encode bpe.json <(printf 'he<|end|>')
prints '2\n' 'a count' "$RAPT" tokenizer encode bpe.json --allow-special --count <(printf 'he<|end|>')
prints '\n' 'an empty text' "$RAPT" tokenizer encode bpe.json /dev/null
prints '256\n\n255 13\n' 'lines, a carriage return, a last line without an end' "$RAPT" tokenizer encode bpe.json --lines \
    <(printf 'he\n\n\377\r')
prints '1\n0\n2\n' 'counts of lines' "$RAPT" tokenizer encode bpe.json --lines --count <(printf 'he\n\nxy')
"$RAPT" tokenizer encode bpe.json objects --jsonl --specials >.out
check 'objects get ids, and keep what they had' grep -qx '{"id": 7, "text": "hello<|end|>", "ids": \[.*, 259\]}' .out
check 'a NUL, and ids that are replaced' grep -qx '{"text": "\\u0000é", "ids": \[0, 195, 169\]}' .out
"$RAPT" tokenizer encode bpe.json objects --jsonl --count >.out
check 'objects get counts' grep -qx '{"text": "\\u0000é", "ids": 1, "count": 3}' .out
{ head -c 5000 "$RAPT"; echo; } >bytes
"$RAPT" tokenizer encode bpe.json bytes >ids
check 'any bytes come back' cmp bytes <("$RAPT" tokenizer decode bpe.json ids)
for i in {1..200}; do cat bytes; done >many # a megabyte: of several chunks
"$RAPT" tokenizer encode bpe.json many --threads 1 >ids
check 'a text of several chunks comes back' cmp many <("$RAPT" tokenizer decode bpe.json ids)
check 'the same ids with three threads' cmp ids <("$RAPT" tokenizer encode bpe.json many --threads 3 2>&-)
check 'the same from a pipe' cmp ids <("$RAPT" tokenizer encode bpe.json <many)
check 'as many as are counted' cmp <(wc -w <ids) <("$RAPT" tokenizer encode bpe.json many --count)
check 'the same ids with special tokens' cmp ids <("$RAPT" tokenizer encode bpe.json many --specials)
"$RAPT" tokenizer encode bpe.json bytes --lines >ids
check 'and line by line' cmp bytes <("$RAPT" tokenizer decode bpe.json ids --lines)
prints 'he<|end|>\xff' 'decode prints bytes and nothing else' "$RAPT" tokenizer decode bpe.json <(echo 256 259 255)
# tokenizers.Tokenizer.decode of the same ids
prints '\xef\xbf\xbd\xef\xbf\xbd^' 'bytes that are no character, of a tokenizer of Hugging Face' \
    "$RAPT" tokenizer decode "$SOURCE/tests/golden/hub_translation/t5" <(echo 236 179 65)
prints 'hello he' 'characters' "$RAPT" tokenizer decode characters.json \
    <(printf 'hello he' | "$RAPT" tokenizer encode characters.json)
prints 'hello <unk>\n' 'words; lines' "$RAPT" tokenizer decode words.json --lines \
    <(echo 'hello there' | "$RAPT" tokenizer encode words.json --lines)
mkdir folder; cp bpe.json folder/tokenizer.json
prints '256\n' 'a folder' "$RAPT" tokenizer encode folder <(printf he)

# ---- info ----------------------------------------------------------------------------------------------------------
"$RAPT" tokenizer info bpe.json >.out
check 'type' grep -q '^type *byte-level bpe$' .out
check 'entries' grep -q '^entries *260, 260 of them tokens' .out
check 'special tokens' grep -q '^special *259 <|end|>$' .out
check 'pattern' grep -q '^pattern *.s|.t|.re' .out
check 'as JSON' grep -q '^{"type": "characters", "entries": 6, .*"hash": "[0-9a-f]*"}$' <("$RAPT" tokenizer info characters.json --json)

# ---- wrong usage ---------------------------------------------------------------------------------------------------
refused 2 'the first operand must be .train., .encode., .decode. or .info.' 'no part' "$RAPT" tokenizer
refused 2 'the first operand must be .train.' 'an unknown part' "$RAPT" tokenizer count
refused 2 'missing operand: TEXT, and -o FILE' 'train without a file' "$RAPT" tokenizer train text
check 'help of a part: as it is typed' grep -q '^Usage: rapt tokenizer train \[OPTION...\] TEXT' <("$RAPT" tokenizer train --help)
refused 2 "--type: 'bytes' is none of" 'an unknown type' "$RAPT" tokenizer train text -o x --type bytes
refused 2 '--pattern needs --type bpe' 'an option of another type' "$RAPT" tokenizer train text -o x --type words --pattern gpt2
refused 2 '--vocab-size' 'a size that is none' "$RAPT" tokenizer train text -o x --vocab-size 0
refused 2 'missing operand: TOKENIZER' 'encode without a tokenizer' "$RAPT" tokenizer encode
refused 2 'missing operand: TOKENIZER' 'info without a tokenizer' "$RAPT" tokenizer info
refused 2 'takes one file' 'encode of two files' "$RAPT" tokenizer encode bpe.json text text
refused 2 'takes one file' 'decode of two files' "$RAPT" tokenizer decode bpe.json text text
refused 2 'takes one tokenizer' 'info of two tokenizers' "$RAPT" tokenizer info bpe.json words.json
refused 2 '--lines or --jsonl, not both' 'lines and objects' "$RAPT" tokenizer encode bpe.json --lines --jsonl
refused 2 '.tokenizer. with TOKENIZER and TEXT' 'bench without a text' "$RAPT-bench" tokenizer bpe.json

# ---- bad input -----------------------------------------------------------------------------------------------------
refused 1 'nothing.json: No such file' 'no tokenizer' "$RAPT" tokenizer info nothing.json
refused 1 'nothing: No such file' 'no rank file' "$RAPT" tokenizer info cl100k_base:nothing
refused 1 'nothing: No such file' 'no text' "$RAPT" tokenizer encode bpe.json nothing
refused 1 'nothing: No such file' 'no text to learn from' "$RAPT" tokenizer train nothing -o x
refused 1 'the text is empty' 'an empty text to learn from' "$RAPT" tokenizer train /dev/null -o x
refused 1 'vocabulary of 100 is too small' 'a small vocabulary' "$RAPT" tokenizer train text -o x --vocab-size 100
refused 1 'pattern, byte 2 of 2' 'a pattern' "$RAPT" tokenizer train text -o x --pattern 'a('
refused 1 '/nowhere/x' 'a folder that is not there' "$RAPT" tokenizer train text -o /nowhere/x
head -c 300 bpe.json >cut.json
refused 1 'cut.json:[0-9]+: ' 'half a file' "$RAPT" tokenizer info cut.json
printf 'IQ== 0\nIQ= 1\n' >ranks
refused 1 'ranks:2: the token is not base64' 'a bad line of a rank file' "$RAPT" tokenizer info r50k_base:ranks
printf 'hello\nw\303\251ll' >other
refused 1 'other: byte 7: character U\+0077 is not in the vocabulary' 'an unknown character' "$RAPT" tokenizer encode characters.json other
printf 'h\377' >other
refused 1 'other: byte 2: not UTF-8' 'bytes for characters' "$RAPT" tokenizer encode characters.json other
for words in '1 x' '1 260' '1 -1' '1 99999999999'; do
    printf '%s' "$words" >ids
    refused 1 'ids: word 2' "ids \"$words\"" "$RAPT" tokenizer decode bpe.json ids
done
refused 1 'standard input: word 1, .text.' 'ids of standard input' bash -c '"$RAPT" tokenizer decode bpe.json <<<text'
refused 1 'standard input: word 1, .text.' 'ids of -' bash -c '"$RAPT" tokenizer decode bpe.json - <<<text'
printf '{"text": 5}' >objects
refused 1 'objects: line 1: not an object with a string .text.' 'text that is a number' "$RAPT" tokenizer encode bpe.json objects --jsonl
printf '{"text": "a"' >objects
refused 1 'objects: line 1: ' 'half an object' "$RAPT" tokenizer encode bpe.json objects --jsonl

# ---- SentencePiece models: the ids equal the package's ---------------------------------------------------------------
models=$SOURCE/tests/text/sentencepiece
prints '746 71 282 748 201 181 326 274 604 746 488 746 238 146 188 16\n' 'SentencePiece' \
    "$RAPT" tokenizer encode "$models/bpe_bytes.model" <(printf 'A na\303\257ve cup  of \350\214\266\n')
prints 'A na\303\257ve cup  of \350\214\266\n' 'and back' \
    "$RAPT" tokenizer decode "$models/bpe_bytes.model" <(echo 746 71 282 748 201 181 326 274 604 746 488 746 238 146 188 16)
check 'its info' grep -q '^type      sentencepiece$' <("$RAPT" tokenizer info "$models/words.model")
mkdir t5 && cp "$models/unigram.model" t5/spiece.model
check 'a folder with a model' cmp <("$RAPT" tokenizer encode t5 text) <("$RAPT" tokenizer encode "$models/unigram.model" text)
head -c 1000 "$models/unigram.model" >cut.model
refused 1 'cut.model: as a SentencePiece model: byte [0-9]*: a field that is cut off' 'a model that is cut off' \
    "$RAPT" tokenizer info cut.model
check 'a Marian folder: both sides' test "$("$RAPT" tokenizer info "$SOURCE/tests/text/marian" | grep -cE '^(source|target|special .*<pad>)$')" = 4

# ---- a rank file, where there is one -------------------------------------------------------------------------------
ranks=$RAPT_SHARED/data/tokenizers/cl100k_base.tiktoken
if [ -r "$ranks" ]; then
    prints '9906 1917 100257\n' 'cl100k_base' "$RAPT" tokenizer encode --specials "cl100k_base:$ranks" <(printf 'Hello world<|endoftext|>')
    refused 1 'word 1: id 100256 is not in the vocabulary' 'a hole' "$RAPT" tokenizer decode "cl100k_base:$ranks" <(echo 100256)
    prints '9906 1917 100257\n' 'without its name' "$RAPT" tokenizer encode --specials "$ranks" <(printf 'Hello world<|endoftext|>')
    check 'bench' grep -q 'MB/s on one thread' <("$RAPT-bench" tokenizer "cl100k_base:$ranks" text --seconds 0.01)
else
    skip "cl100k_base: $ranks is not here"
fi
# ---- what is not a tokenizer file ------------------------------------------------------------------------------------
mkdir rankfiles
printf 'IQ== 0\nIg== 1\n' >rankfiles/cl100k_base.tiktoken
cp rankfiles/cl100k_base.tiktoken rankfiles/other
refused 1 'is a rank file of tiktoken, but .*: cl100k_base:rankfiles/cl100k_base.tiktoken$' 'a rank file without its name' \
    "$RAPT" tokenizer encode rankfiles/cl100k_base.tiktoken
refused 1 'is a rank file of tiktoken; .*o200k_base' 'one of another name' "$RAPT" tokenizer info rankfiles/other
# Llama 3's tokenizer.model is such a file, with 128,000 ranks.
mkdir llama3
cp rankfiles/other llama3/tokenizer.model
cp "$SOURCE/tests/golden/hub/llama3/config.json" "$SOURCE/tests/golden/hub/llama3/model.safetensors" llama3
refused 1 'tokenizer.model is a rank file of tiktoken; .* has 2 ranks, .* in the tokenizer.json of its Hugging Face folder' 'tokenizer.model' \
    "$RAPT" tokenizer info llama3/tokenizer.model
refused 1 'llama3/tokenizer.model is a rank file of tiktoken; ' 'in a folder' "$RAPT" generate llama3 the
awk 'BEGIN { for (i = 0; i < 128000; i++) print "IQ== " i }' >rankfiles/many.model
refused 1 "has 128000 ranks, as Llama 3's, and neither the pattern" 'whose it is' "$RAPT" tokenizer info rankfiles/many.model
head -50256 rankfiles/many.model >rankfiles/fewer
refused 1 'not the one that is published as r50k_base; .* its name goes before it: r50k_base:rankfiles/fewer$' 'an encoding by its ranks' "$RAPT" tokenizer info rankfiles/fewer
refused 1 'cl100k_base is the name of an encoding; .*: cl100k_base:PATH$' 'a name without its rank file' \
    "$RAPT" tokenizer encode cl100k_base
make_inputs
train sides --set train.steps=2 && train single --set train.steps=2 --set tokenizer.type=bpe --set tokenizer.vocab_size=320 \
    --set tokenizer.shared=true || exit 1
check 'info of a translation model: both sides' test "$("$RAPT" tokenizer info sides | grep -cE '^(source|target|type .*words)$')" = 4
check 'of one with one tokenizer' test "$("$RAPT" tokenizer info single | head -1)" = 'source and target'
check 'as an object' grep -Eq '^\{"source": \{"type": "words".*, "target": \{"type": "words".*\}\}$' <("$RAPT" tokenizer info sides --json)
check 'info of a side is what its file has' cmp <("$RAPT" tokenizer info sides | sed '1d;/^$/,$d') \
    <("$RAPT" tokenizer info sides/source.tokenizer.json)
refused 1 'sides is a translation model, .*sides/source.tokenizer.json' 'its folder is no tokenizer by itself' \
    "$RAPT" tokenizer encode sides lines.txt
finish
