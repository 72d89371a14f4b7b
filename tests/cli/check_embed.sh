#!/bin/bash
# tests/cli/check_embed.sh: rapt embed: formats, lines, and what is refused. tests/io/test_hub_encoder.c compares the vectors;
# tools/make_hub_encoder.py made the folders.
. "$(dirname "$0")/lib.sh"
HUB=$SOURCE/tests/golden/hub_encoder
LONG=$(printf 'the cat %.0s' {1..60})

printf '%s\n' 'The cat wants to sing.' '' 'cat' "$LONG" 'cat' >lines
for model in bert bert_4 roberta xlm_roberta_4 distilbert distilbert_4; do
    "$RAPT" embed "$HUB/$model" lines --threads 1 --batch 1 >one 2>err
    check "$model: a vector for each line" test "$(wc -l <one)" = 5
    check "$model: of as many numbers" test "$(awk '{ print NF }' one | sort -u | wc -l)" = 1
    check "$model: one warning names the line" sh -c "grep -q '^rapt: lines:4: warning: longer than' err && test \"\$(wc -l <err)\" = 1"
    "$RAPT" embed "$HUB/$model" lines --threads 3 --quiet >three 2>err
    check "$model: the same with three threads, in one batch" cmp one three
    check "$model: --quiet" test ! -s err
    check "$model: equal lines have equal vectors" test "$(sed -n 3p one)" = "$(sed -n 5p one)"
    check "$model: rapt info says what runs it" sh -c "'$RAPT' info '$HUB/$model' | grep -q ': rapt embed runs such models$'"
done

BERT=$HUB/bert
"$RAPT" embed "$BERT" --text cat >text
printf cat | "$RAPT" embed "$BERT" >pipe
check '--text, and a line without an end' cmp text pipe
"$RAPT" embed "$BERT" --text cat --format jsonl >json
check '--format jsonl has the same numbers' test "$(sed -E 's/^\{"embedding": \[(.*)\]\}$/\1/; s/, / /g' json)" = "$(cat text)"
"$RAPT" embed "$BERT" lines --format npy --quiet >npy
check '--format npy: a header of 128 bytes, 5 x 12 numbers of 4' test "$(wc -c <npy)" = $((128 + 5 * 12 * 4))
check 'it begins as one of NumPy' test "$(head -c 6 npy | tail -c 5)" = NUMPY
check 'it has the shape' grep -aq "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 12), }" npy
tail -c 240 npy | od -An -v -t f4 -w48 | paste -d ' ' - <("$RAPT" embed "$BERT" lines --quiet) >both
check 'and the numbers' awk 'NF != 24 { bad = 1 } { for (i = 1; i <= 12; i++) bad += ($i - $(i + 12)) ^ 2 > 1e-12 } END { exit bad }' both
"$RAPT" embed "$BERT" --text cat --normalize >unit
check '--normalize: a norm of 1' awk '{ for (i = 1; i <= NF; i++) s += $i * $i; exit !(s > 0.999999 && s < 1.000001) }' unit
"$RAPT" embed "$BERT" --text cat --dimensions 5 >five
check '--dimensions: the first numbers' test "$(cat five)" = "$(cut -d ' ' -f 1-5 text)"
"$RAPT" embed "$BERT" --text cat --dimensions 5 --normalize >unit
check 'which are normalized after the cut' awk 'NF == 5 { for (i = 1; i <= NF; i++) s += $i * $i; exit !(s > 0.999999 && s < 1.000001) }' unit
"$RAPT" embed "$BERT" lines --format npy --quiet --dimensions 5 >five
check 'and are the columns of an array' grep -aq "'shape': (5, 5), }" five
check '--dimensions 12 is all' sh -c "'$RAPT' embed '$BERT' --text cat --dimensions 12 | cmp -s - text"
refused 1 "13 dimensions; the model's vectors have 12" 'more dimensions' "$RAPT" embed "$BERT" --text cat --dimensions 13
refused 2 'dimensions' 'no dimensions' "$RAPT" embed "$BERT" --text cat --dimensions 0
SENTENCE=$HUB/roberta_sentence # max pooling; "passage: " before each line
"$RAPT" embed "$SENTENCE" --text 'a cat' >folder
"$RAPT" embed "$SENTENCE" --text 'passage: a cat' --prompt none --pooling max >given
check 'a folder of sentence-transformers has a prompt and a pooling' cmp folder given
check '--prompt query is another' sh -c "! '$RAPT' embed '$SENTENCE' --text 'a cat' --prompt query | cmp -s - folder"
refused 1 'there is no prompt "title"; the model.s folder has query, passage' 'another prompt' \
    "$RAPT" embed "$SENTENCE" --text cat --prompt title
"$RAPT" embed "$HUB/bert_sentence" --text cat >folder
check 'or a norm of 1' awk '{ for (i = 1; i <= NF; i++) s += $i * $i; exit !(s > 0.999999 && s < 1.000001) }' folder
check 'which rapt info prints' sh -c "'$RAPT' info '$HUB/bert_sentence' | grep -q '^texts  *up to 14 tokens, cls pooling, normalized$'"
"$RAPT" info "$HUB/bert_sentence" --json | tr -d ' \n' >info
check 'rapt info --json, too' grep -q '"embedding":{"tokens":14,"pooling":"cls","normalize":true}' info
# 4 matrices of 12 x 12 and 2 of 12 x 20, their biases, 3 norms, 40 positions, 2 types; no rows of the embedding
check 'and what is held' grep -q "\"memory\":{\"fp32\":$((4 * (4 * 144 + 480 + 48 + 32 + 72 + 42 * 12)))," info

for pooling in cls max; do
    check "--pooling $pooling is another" sh -c "! '$RAPT' embed '$BERT' --text cat --pooling $pooling | cmp -s - text"
done
: >empty
check 'no lines, no vectors' test -z "$("$RAPT" embed "$BERT" empty)"
check 'no lines, an array of no rows' sh -c "'$RAPT' embed '$BERT' empty --format npy | grep -aq 'shape.: (0, 12)'"

printf 'cat\n\377\n' >bad
"$RAPT" embed "$BERT" bad >out 2>err
check 'a line that is not UTF-8 is an error' grep -q 'bad:2: byte 1 of the line (0xff) is not valid UTF-8' err
check 'after the vectors before it' cmp out text
"$RAPT" embed "$BERT" bad --format npy >out 2>err
check 'an array is written whole or not at all' test ! -s out
printf 'cat\na <pad>\n' >padded
refused 1 'line.* of padded: "a <pad>": the text has token 1, which is padding' 'padding within a text' \
    "$RAPT" embed "$HUB/roberta" padded
refused 1 'there is no such model folder' 'a folder that is not there' "$RAPT" embed nowhere
refused 2 'none of mean, cls, max' 'another pooling' "$RAPT" embed "$BERT" --pooling last
refused 2 'none of text, jsonl, npy' 'another format' "$RAPT" embed "$BERT" --format csv
refused 2 'not both' '--text and a file' "$RAPT" embed "$BERT" lines --text cat
refused 2 'missing operand: MODEL' 'no model' "$RAPT" embed
cp -r "$BERT" cross && sed 's/"BertModel"/"BertForSequenceClassification"/' "$BERT/config.json" >cross/config.json
refused 1 'cross is a cross-encoder; rapt rerank runs it' 'a classifier' "$RAPT" embed cross lines
"$RAPT" info cross >info
check 'of which rapt info says that it is not run' grep -q '^not run .*of classifiers rapt runs those of one label' info
sed -i 's/ForSequenceClassification/ForTokenClassification/' cross/config.json
refused 1 'of models of type bert rapt runs BertModel, also ForMaskedLM and ForPreTraining, for embeddings, and ForSequenceClassification' \
    'another class' "$RAPT" embed cross lines
cp -r "$SOURCE/tests/golden/hub/qwen3" decoder && cp "$HUB/bert_sentence/modules.json" decoder
refused 1 'decoder is an embedder of type qwen3, .*; of these rapt runs bert, roberta, xlm-roberta and distilbert' 'an embedder of another type' \
    "$RAPT" embed decoder lines
refused 1 'gpt2 is a language model; rapt generate runs it' 'a language model' "$RAPT" embed "$SOURCE/tests/golden/hub/gpt2" lines
refused 1 'marian is a translation model; rapt translate runs it' 'a translator' \
    "$RAPT" embed "$SOURCE/tests/golden/hub_translation/marian" lines

for command in "generate $BERT cat" "translate $BERT lines" "eval $BERT lines" "explain $BERT cat" \
    "plot attention $BERT cat -o a.svg" "plot embedding $BERT cat mat -o a.svg" "plot positions $BERT -o a.svg" "convert $BERT --to hf -o out.d"; do
    refused 1 'bert is an encoder; rapt embed runs it' "rapt ${command%% *} of an encoder" "$RAPT" $command
done
check 'nothing is written' test ! -e a.svg -a ! -e out.d
finish
