#!/bin/bash
# tests/cli/check_compare.sh: rapt eval --compare: the same model or another one in fp32 beside it, what changed, and what is
# refused. The losses themselves are compared in check_generate.sh and tests/decode.
# labels: sanitized-late
. "$(dirname "$0")/lib.sh"

make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
"$RAPT" train tiny.yaml --quiet --out pair >train.log 2>&1 || cat train.log
"$RAPT" train lm.yaml --out lm --quiet --set model.d_model=32 >train.log 2>&1 || cat train.log
head -c 400 text.txt >some.txt
# Sentences of one word to several, so that rows of a batch have padding.
awk -F'\t' 'NR % 20 == 1 { n = split($1, a, " "); m = split($2, b, " "); print $1 "\t" $2; print a[1] "\t" b[1]; print a[n] "\t" b[m] " " b[m]
    print a[1] " " a[n] "\t" b[1] }' pairs.tsv | awk '!seen[$0]++' >few.tsv

# value KEY FILE: the number of a key; the last one of that name.
value() { sed -E "s/.*\"$1\": ([-+0-9.e]+).*/\1/" "$2"; }
first() { grep -o "\"$1\": [-+0-9.e]*" "$2" | head -1 | cut -d' ' -f2; }
positive() { awk -v x="$1" 'BEGIN { exit !(x > 0) }'; }

for model in pair lm; do
    file=few.tsv
    [ $model = pair ] || file=some.txt
    "$RAPT" eval $model $file --json >exact
    "$RAPT" eval $model $file --json --weights fp32 --compare >same
    check "$model: no change of fp32" test "$(value largest_logit_change same)" = 0.0
    check "$model: its loss is the loss" test "$(first loss same)" = "$(value loss same)" -a "$(first loss same)" = "$(first loss exact)"
    check "$model: and its perplexity" test "$(first perplexity same)" = "$(value perplexity same)"
    "$RAPT" eval $model $file --json --weights q8_0 >alone
    "$RAPT" eval $model $file --json --weights q8_0 --compare >q8
    check "$model: q8_0 has the loss that it has alone" test "$(first loss q8)" = "$(first loss alone)"
    check "$model: and fp32 its own" test "$(value loss q8)" = "$(first loss exact)"
    check "$model: q8_0 changes logits" positive "$(value largest_logit_change q8)"
    "$RAPT" eval $model $file --json --weights q4_0 --compare >q4
    check "$model: q4_0 changes them more" positive "$(awk -v a="$(value largest_logit_change q4)" -v b="$(value largest_logit_change q8)" \
        'BEGIN { print a - b }')"
    "$RAPT" eval $model $file --weights q8_0 --compare >text
    check "$model: as text" grep -Eq '^fp32: loss [0-9.]+, perplexity [0-9.]+(, BLEU [0-9.]+, chrF [0-9.]+)?; perplexity changed by [-+][0-9.]+ %, a logit by [-0-9.e]+ at most$' text
    for threads in 1 2; do
        "$RAPT" eval $model $file --json --weights q8_0 --compare --threads $threads >got
        check "$model: the same with --threads $threads" cmp got q8
    done
    RAPT_ISA=scalar "$RAPT" eval $model $file --json --weights q8_0 --compare >got
    check "$model: the same with RAPT_ISA=scalar" cmp got q8

    # Another model: the one that was stored in fewer bits, beside the one it was made of.
    "$RAPT" convert $model --weights f16 -o $model.f16
    "$RAPT" eval $model.f16 $file --json >alone
    check "$model: f16 computes what its numbers in fp32 do" cmp alone <("$RAPT" eval $model.f16 $file --json --weights fp32)
    "$RAPT" eval $model.f16 $file --json --compare=$model >other
    check "$model: another model has its loss" test "$(first loss other)" = "$(first loss alone)"
    check "$model: and the first one its own" test "$(value loss other)" = "$(first loss exact)"
    check "$model: f16 changes logits" positive "$(value largest_logit_change other)"
    "$RAPT" eval $model.f16 $file --compare=$model >other
    "$RAPT" convert $model --weights f16 -o $model.eval --eval $file >got
    check "$model: convert --eval prints the same" cmp got other
done
keys() { tr ',{}' '\n' <"$1" | sed -n 's/^ *"\([a-z0-9_]*\)": *[^ ].*/\1/p; s/^ *"\([a-z0-9_]*\)": *$/\1/p' | tr '\n' ' '; }
"$RAPT" eval pair few.tsv --json >plain
"$RAPT" eval pair few.tsv --json --compare >got
check 'pairs: keys' test "$(keys got)" = "$(keys plain)fp32 loss perplexity bleu chrf largest_logit_change "
check 'pairs: BLEU in fp32' test "$(value bleu got)" = "$(first bleu plain)"
"$RAPT" convert lm --to gguf --weights q8_0 -o lm.gguf --eval some.txt --quiet >got
check 'convert --eval of a GGUF file' cmp got <("$RAPT" eval lm.gguf some.txt --compare=lm)
: >empty.txt
refused 1 'cannot read none.txt: No such file' 'no such text' "$RAPT" convert lm --to gguf -o no --eval none.txt
refused 1 'cannot read lm: Is a directory' 'a folder' "$RAPT" convert lm --to gguf -o no --eval lm
refused 1 'empty.txt is empty' 'an empty text' "$RAPT" convert lm --to gguf -o no --eval empty.txt
check 'nothing is written' test ! -e no
refused 2 'rapt does not read models of CTranslate2' 'what rapt cannot evaluate' "$RAPT" convert pair --to ctranslate2 -o no --eval few.tsv
check 'convert --eval of standard input' cmp got <("$RAPT" convert lm --to gguf --weights q8_0 -o again.gguf --eval - --quiet <some.txt | sed 's/^-:/some.txt:/')
"$RAPT" convert pair --to hf -o pair.hf --eval few.tsv >hf
check 'of a folder that does not detokenize: losses alone' sh -c '! grep -q BLEU hf && grep -q "changed by" hf'
"$RAPT" train lm.yaml --out odd --quiet --set model.d_model=30 --set model.ffn=33 >train.log 2>&1 || cat train.log
for type in f16 bf16; do
    "$RAPT" convert odd --weights $type -o odd.$type
    check "$type: rows of an odd number of weights" cmp <("$RAPT" eval odd.$type some.txt --json) <("$RAPT" eval odd.$type some.txt --json --weights fp32)
done
"$RAPT" eval pair few.tsv --json --compare --loss-only >got
check 'pairs: keys without translations' sh -c '! grep -q bleu got && grep -q "\"fp32\": {\"loss\"" got'
"$RAPT" eval lm some.txt --json >plain
"$RAPT" eval lm some.txt --json --compare >got
check 'texts: keys' test "$(keys got)" = "$(keys plain)fp32 loss perplexity largest_logit_change "

# Rows of padding do not count: the largest change of a batch equals the change of one of its rows alone. A model of the book's
# loss has rows of max_len tokens.
largest() { value largest_logit_change "$1" | sort -g | tail -1; }
"$RAPT" train tiny.yaml --quiet --out book --set train.reduction=book >train.log 2>&1 || cat train.log
check 'pairs: rows of several lengths' test "$(awk -F'\t' '{ print split($2, w, " ") }' few.tsv | sort -u | wc -l)" -gt 2
split -l 1 few.tsv one.
for model in pair book; do
    "$RAPT" eval $model few.tsv --json --weights q8_0 --compare --loss-only >got
    for file in one.*; do "$RAPT" eval $model "$file" --json --weights q8_0 --compare --loss-only; done >each
    check "$model: the largest change of one of the pairs" test "$(largest each)" = "$(largest got)"
done
# Windows of 4 characters, each with the first of the next one as its last label; the last window is of one, and of three of
# padding, which in some texts would have the largest change.
ascii=$(iconv -c -t ASCII <text.txt | head -c 200 | tr '\n' ' ')
for ((start = 0; start < 90; start += 3)); do
    printf %s "${ascii:start:6}" >windows.txt
    printf %s "${ascii:start:5}" >window.1
    printf %s "${ascii:start+4:2}" >window.2
    "$RAPT" eval lm windows.txt --json --context 4 --weights q8_0 --compare >>got.lines
    for window in window.1 window.2; do "$RAPT" eval lm $window --json --weights q8_0 --compare; done >each
    largest each >>each.lines
done
check 'texts: the largest change of one of the windows' cmp each.lines <(value largest_logit_change got.lines)

tr a-y b-z <text.txt | tr -d m >letters.txt
sed 's/text.txt/letters.txt/' lm.yaml >letters.yaml
"$RAPT" train letters.yaml --out letters --quiet --max-steps 1 >/dev/null 2>&1
refused 1 '--compare: the models are of different tasks, or have different vocabularies' 'another vocabulary' "$RAPT" eval lm some.txt --compare=letters
refused 1 '--compare: the models are of different tasks, or have different vocabularies' 'another task' "$RAPT" eval lm some.txt --compare=pair
refused 1 '--compare: the models are of different tasks, or have different vocabularies' 'and the other way round' "$RAPT" eval pair few.tsv --compare=lm
refused 1 'none: there is no such model folder' 'no such model' "$RAPT" eval lm some.txt --compare=none
finish
