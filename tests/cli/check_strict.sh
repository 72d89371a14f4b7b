#!/bin/bash
# tests/cli/check_strict.sh: what a model reads otherwise than it was written (unknown words, lines, pairs and prompts that are
# too long) is warned about, and refused with --strict; results are the same with and without the warning.
. "$(dirname "$0")/lib.sh"
make_inputs
train words --set train.steps=20 || exit 1
train pairs --set train.steps=20 --set tokenizer.type=bpe --set tokenizer.vocab_size=320 || exit 1
make_text >text.txt
make_text_recipe characters >lm.yaml
"$RAPT" train lm.yaml --quiet --out lm --set train.steps=20 || exit 1

# warned NAME PATTERN COMMAND...: succeeds, with a warning that matches on stderr; --quiet silences it and changes nothing.
warned() {
    local name=$1 pattern=$2
    shift 2
    "$@" >.out 2>.err && grep -Eqx "rapt: $pattern" .err && "$@" --quiet >.quiet 2>.err && [ ! -s .err ] && cmp .out .quiet
    check "$name" test $? = 0
}
silent() {
    local name=$1
    shift
    "$@" >.out 2>.err
    check "$name" test $? = 0 -a ! -s .err
}

# ---- words ---------------------------------------------------------------------------------------------------------
printf 'I like zebras.\nYou like zebras.\n\nWe adore\tgnus and zebras.\nI see the sea.\n' >some.txt
warned 'an unknown word, with line and number' 'some.txt:1: warning: 1 of 4 words is unknown: "zebras"' "$RAPT" translate words some.txt
check 'each word once' test "$("$RAPT" translate words some.txt 2>&1 >/dev/null | grep -c '"zebras"')" = 2
warned 'several words' 'some.txt:4: warning: 4 of 6 words are unknown: "adore", "gnus", "and", "zebras"' \
    "$RAPT" translate words some.txt
warned 'the lines that were not told' 'some.txt: warning: 1 more line with unknown words' "$RAPT" translate words some.txt
seq 1 100 | sed 's/^/new/' >many.txt
check 'at most ten warnings, and how many more there were' test "$("$RAPT" translate words many.txt 2>&1 >/dev/null | wc -l)" = 11
warned 'and how many more there were' 'many.txt: warning: 90 more lines with unknown words' "$RAPT" translate words many.txt
silent 'no warning where all are known' "$RAPT" translate words <(tail -1 some.txt)
silent 'nor where byte pairs know all' "$RAPT" translate pairs <(head -1 some.txt)
refused 1 'some.txt:1: 1 of 4 words is unknown: "zebras"$' '--strict refuses' "$RAPT" translate words some.txt --strict
(tail -1 some.txt; cat some.txt) >late.txt
"$RAPT" translate words late.txt --strict >.out 2>.err
check 'behind the lines before it' test $? = 1 -a "$(cat .out)" = "$("$RAPT" translate words late.txt --quiet | head -1)"
check 'with the line' grep -qx 'rapt: late.txt:2: 1 of 4 words is unknown: "zebras"' .err
# Sanitizers see this of all checks.
if [ -z "$SANITIZED" ] && command -v valgrind >/dev/null; then
    RAPT_ISA=scalar valgrind -q --leak-check=full --error-exitcode=9 "$RAPT" translate words some.txt --strict --threads 1 >.out 2>.err
    check 'a refusal loses no memory' test $? = 1
else
    skip 'a refusal loses no memory (valgrind is not installed, or the build has sanitizers)'
fi
silent '--strict takes what is known' "$RAPT" translate words <(tail -1 some.txt) --strict
printf 'I \033[31m like.\n' >evil.txt
check 'control characters are quoted' test -z "$("$RAPT" translate words evil.txt 2>&1 >/dev/null | tr -d '\n -~')"

# ---- lines that are too long ---------------------------------------------------------------------------------------
printf 'I see the sea.\n%s\n' qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq >long.txt
warned 'a line that is cut' 'long.txt:2: longer than the model takes, .*' "$RAPT" translate pairs long.txt
refused 1 'line 2 is longer than the model takes' '--strict refuses it' "$RAPT" translate pairs long.txt --strict

# ---- eval ----------------------------------------------------------------------------------------------------------
printf 'I like zebras.\tx\nI see the sea.\tje vois la mer.\n' >eval.tsv
warned 'eval: how many words' 'eval.tsv: warning: 1 of 9 source words is unknown, in 1 of 2 pairs; the first is line 1' \
    "$RAPT" eval words eval.tsv
refused 1 'eval.tsv:1: 1 of 4 words is unknown: "zebras"$' 'eval --strict' "$RAPT" eval words eval.tsv --strict
printf 'I see the sea.\t%s\n' "$(yes la | head -40 | tr '\n' ' ')" >cut.tsv
warned 'eval: pairs that are cut' 'cut.tsv: warning: 1 of 1 pairs is cut for the loss: the model takes 12 tokens, <eos> included' \
    "$RAPT" eval words cut.tsv
refused 1 'cut.tsv:1: a sentence of 41 tokens; at most 12 are allowed' 'eval --strict refuses them' "$RAPT" eval words cut.tsv --strict
silent 'eval: nothing to warn about' "$RAPT" eval words <(head -20 pairs.tsv) --strict

# ---- prompts -------------------------------------------------------------------------------------------------------
head -c 60 text.txt >prompt.txt
"$RAPT" generate lm --prompt-file prompt.txt --max-tokens 5 >.out 2>.err
check 'a prompt longer than the context' grep -Eqx \
    "rapt: warning: the prompt has [0-9]+ tokens, the model's context 12: the model sees the last [0-9]+" .err
"$RAPT" generate lm --prompt-file prompt.txt --max-tokens 5 --quiet >.quiet 2>.err
check '--quiet silences it and changes nothing' test ! -s .err -a "$(cat .out)" = "$(cat .quiet)"
refused 1 "the prompt has [0-9]+ tokens, the model's context 12" 'generate --strict' \
    "$RAPT" generate lm --prompt-file prompt.txt --strict
"$RAPT" generate lm --prompt 'the moon' --max-tokens 5 --strict >.out 2>.err
check 'one that fits' test $? = 0 -a "$(grep -c warning .err)" = 0

# ---- a smaller context ---------------------------------------------------------------------------------------------
refused 1 "the prompt has 8 tokens, the model's context 4" '--context' "$RAPT" generate lm 'the moon' --context 4 --strict
probabilities() { "$RAPT" generate lm "$@" --at -1 --top 9 --quiet | tail -n +2; }
probabilities 'the moon' >.eight
probabilities 'the moon' --context 4 >.four
check '--context 4: the model sees the last four characters' cmp -s .four <(probabilities 'moon')
check 'which are not all' test "$(cat .four)" != "$(cat .eight)"
check '--context above that of the model changes nothing' cmp -s .eight <(probabilities 'the moon' --context 99999)
refused 2 '--context is for language models; pairs is a translation model' 'eval --context' "$RAPT" eval pairs pairs.tsv --context 4
finish
