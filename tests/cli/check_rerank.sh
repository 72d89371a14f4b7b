#!/bin/bash
# tests/cli/check_rerank.sh: rapt rerank: rankings, pairs, formats, and what is refused. tests/io/test_hub_rerank.c compares the
# scores; tools/make_hub_rerank.py made the folders.
# labels: levels
. "$(dirname "$0")/lib.sh"
HUB=$SOURCE/tests/golden/hub_rerank
LONG=$(printf 'the cat %.0s' {1..60})
QUERY='the cat sings'

printf '%s\n' 'The cat wants to sing.' '' 'cat' "$LONG" 'cat' >lines
sed "s/^/$QUERY\t/" lines >pairs
for model in bert_pairs bert_untyped roberta_pairs xlm_roberta_pairs distilbert_pairs; do
    "$RAPT" rerank "$HUB/$model" --query "$QUERY" lines --threads 1 --batch 1 >one 2>err
    check "$model: each line once" test "$(cut -f2 one | sort | tr '\n' ' ')" = '1 2 3 4 5 '
    check "$model: the best first" sh -c 'cut -f1 one | sort -c -g -r'
    check "$model: equal lines keep their order" test "$(cut -f2,3 one | grep 'cat$' | grep -v ' ' | cut -f1 | tr '\n' ' ')" = '3 5 '
    check "$model: with their texts" test "$(sort -n -k2,2 -t$'\t' one | cut -f3)" = "$(cat lines)"
    check "$model: one warning names the line" sh -c "grep -q '^rapt: lines:4: warning: both texts have more than' err && test \"\$(wc -l <err)\" = 1"
    "$RAPT" rerank "$HUB/$model" --query "$QUERY" lines --threads 3 --quiet >three 2>err
    check "$model: the same with three threads, in one batch" cmp one three
    check "$model: --quiet" test ! -s err
    "$RAPT" rerank "$HUB/$model" --pairs pairs --quiet >scores
    check "$model: --pairs: the same scores, in the order of the lines" test "$(sort -n -k2,2 -t$'\t' one | cut -f1)" = "$(cat scores)"
    check "$model: rapt info says what runs it" sh -c "'$RAPT' info '$HUB/$model' | grep -q ': rapt rerank runs such models$'"
done

BERT=$HUB/bert_pairs
"$RAPT" rerank "$BERT" --query "$QUERY" --quiet <lines >pipe
"$RAPT" rerank "$BERT" --query "$QUERY" --quiet lines >one
check 'standard input' cmp one pipe
"$RAPT" rerank "$BERT" --query "$QUERY" --quiet --top 2 lines >top
check '--top: the first lines' cmp top <(head -2 one)
check '--top: more than there are' cmp one <("$RAPT" rerank "$BERT" --query "$QUERY" --quiet --top 99 lines)
for isa in $(levels); do
    RAPT_ISA=$isa "$RAPT" rerank "$BERT" --query "$QUERY" --quiet lines >level
    check "the same bits with RAPT_ISA=$isa" cmp one level
done
skip_other_levels
"$RAPT" rerank "$HUB/roberta_pairs" --query "$QUERY" --quiet --json lines >json
check '--json: objects' python3 - json lines <<'PY'
import json, math, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
lines = open(sys.argv[2]).read().split("\n")
assert [sorted(r) for r in rows] == [["line", "logit", "score", "text"]] * 5, rows
for r in rows:
    assert r["text"] == lines[r["line"] - 1]
    assert abs(r["score"] - 1 / (1 + math.exp(-r["logit"]))) < 1e-7
PY
"$RAPT" rerank "$HUB/roberta_pairs" --pairs --quiet --json pairs >json
check '--json of pairs: no text' test "$(head -1 json | sed 's/[-0-9.e]*//g')" = '{"lin": , "scor": , "logit": }'
check 'rapt info prints how a score is made' sh -c "'$RAPT' info '$HUB/roberta_pairs' | grep -q '^pairs  *up to 36 tokens, score: sigmoid$'"
check 'rapt info --json, too' sh -c "'$RAPT' info '$BERT' --json | tr -d ' \n' | grep -q '\"pairs\":{\"tokens\":40,\"score\":\"logit\"}'"
: >empty
check 'no lines, no scores' test -z "$("$RAPT" rerank "$BERT" --query a empty)$("$RAPT" rerank "$BERT" --pairs empty)"
check 'an empty query' sh -c "test \"\$('$RAPT' rerank '$BERT' --query '' lines --quiet | wc -l)\" = 5"
"$RAPT" rerank "$BERT" --query "$QUERY" --quiet --weights q8_0 lines >eight 2>err || true
check '--weights is heard' sh -c "! cmp -s one eight"

printf 'a\tb\nab\n' >bad
refused 1 'bad:2: no tab; two texts with one tab between them are expected' 'a line of one text' "$RAPT" rerank "$BERT" --pairs bad
printf 'a\tb\tc\n' >bad
refused 1 'bad:1: a second tab' 'a line of three' "$RAPT" rerank "$BERT" --pairs bad
printf 'cat\n\377\n' >bad
refused 1 'bad:2: byte 1 of the line .0xff. is not valid UTF-8' 'a line that is not UTF-8' "$RAPT" rerank "$BERT" --query a bad
refused 2 'what is to be scored' 'neither a query nor pairs' "$RAPT" rerank "$BERT" lines
refused 2 'not both' 'both' "$RAPT" rerank "$BERT" lines --query a --pairs
refused 2 'not both' '--top of pairs' "$RAPT" rerank "$BERT" lines --top 1 --pairs
refused 2 'missing operand: MODEL' 'no model' "$RAPT" rerank --query a
refused 1 'bert is an encoder; rapt embed runs it' 'an encoder' "$RAPT" rerank "$SOURCE/tests/golden/hub_encoder/bert" --query a lines
refused 1 'gpt2 is a language model; rapt generate runs it' 'a language model' "$RAPT" rerank "$SOURCE/tests/golden/hub/gpt2" --query a
for command in "embed $BERT lines" "generate $BERT cat" "translate $BERT lines" "eval $BERT lines" "explain $BERT cat" \
    "plot attention $BERT cat -o a.svg" "convert $BERT --to hf -o out.d"; do
    refused 1 'bert_pairs is a cross-encoder; rapt rerank runs it' "rapt ${command%% *} of a cross-encoder" "$RAPT" $command
done
check 'nothing is written' test ! -e a.svg -a ! -e out.d
finish
