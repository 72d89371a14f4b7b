#!/bin/bash
# tests/cli/check_characters.sh: translation by characters, from English to Chinese: trained, resumed, fine-tuned, translated with
# beams, prefixes and alignments, explained; and the same pairs by byte pairs.
# labels: not-sanitized
. "$(dirname "$0")/lib.sh"
make_chinese_pairs >pairs.tsv
awk 'NR % 8 == 3' pairs.tsv >valid.tsv
awk 'NR % 8 != 3' pairs.tsv >train.tsv
cut -f1 valid.tsv >valid.en
cut -f2 valid.tsv >valid.zh
cat >zh.yaml <<'Y'
data:
  pairs: train.tsv
  validation: valid.tsv
tokenizer:
  type: characters
model:
  layers: 1
  d_model: 64
  ffn: 128
  dropout: 0
train:
  steps: 300
  batch: 32
  lr: 0.004
  report_every: 150
  checkpoint_every: 150
Y
learn() { "$RAPT" train zh.yaml --quiet --out "$@"; }
# right FILE: how many of its lines equal valid.zh's
right() { paste "$1" valid.zh | awk -F'\t' '$1 == $2 { n++ } END { print n + 0 }'; }

for type in characters bpe; do
    small=(--set tokenizer.type=$type)
    [ $type = characters ] || small+=(--set tokenizer.vocab_size=400)
    learn $type "${small[@]}" || { echo "cannot train $type"; exit 1; }
    "$RAPT" translate $type valid.en >$type.out
    check "$type: nearly all translations of new sentences are right" test "$(right $type.out)" -ge 27
    "$RAPT" translate $type valid.en --beam 3 >beam.out
    check "$type: with a beam as well" test "$(right beam.out)" -ge 27
    check "$type: no half characters, no spaces" test -z "$(cat $type.out beam.out | grep -P '\xEF\xBF\xBD| ')"
    check "$type: one vocabulary" test "$(ls $type | grep -c tokenizer)" = 1
    learn parts "${small[@]}" --max-steps 70 && learn parts "${small[@]}" --resume --threads 1
    check "$type: stopped and resumed" same_model $type parts
    rm -r parts
    check "$type: a prefix" test "$(echo 'you know the sea.' | "$RAPT" translate $type --prefix 我们)" = 我们认识大海。
    check "$type: an alignment of words has a number for each token" awk -v n="$(echo 'you know the sea.' |
        "$RAPT" translate $type --tokens | awk -F'\t' '{ print split($3, t, " ") }')" '
        { exit !(NF == n && $n ~ "-" n - 1 "$") }' \
        <(echo 'you know the sea.' | "$RAPT" translate $type --alignment words | cut -f2)
    "$RAPT" eval $type valid.tsv --json >eval.json
    check "$type: chrF of what it translates" awk -v n="$(sed 's/.*"chrf": \([0-9.]*\).*/\1/' eval.json)" 'BEGIN { exit !(n > 90) }'
    cut -f2 valid.tsv >ref.zh
    check "$type: BLEU of eval is that of score, both for Chinese" test "$("$RAPT" eval $type valid.tsv | grep "^BLEU ")" = \
        "$(printf 'BLEU %s (zh), chrF %s' $("$RAPT" score $type.out ref.zh --tokenize zh | cut -d' ' -f1))"
    sed 's/^you /youse /; s/\tn/\tm/' train.tsv | head -40 >other.tsv
    check "$type: fine-tuned" learn tuned "${small[@]}" --init $type --set data.pairs=other.tsv --set train.steps=5 --set train.lr=0.001
    check "$type: with the same vocabulary" cmp $type/source.tokenizer.json tuned/source.tokenizer.json
    rm -r tuned
done

# ---- BLEU in eval and training -----------------------------------------------------------------------------------------
check 'another tokenization' test "$("$RAPT" eval bpe valid.tsv --tokenize char | sed -n 's/.*(\(.*\)).*/\1/p')" = char
check 'its name in JSON' grep -q '"tokenize": "zh"' eval.json
refused 2 "'ja' is none of 13a, none, intl, char, zh" 'one that is not there' "$RAPT" eval bpe valid.tsv --tokenize ja
learn scored --set train.eval_bleu=true --set train.steps=60
"$RAPT" translate scored valid.en >scored.out
check 'BLEU in training is that of Chinese' test "$(printf '%.2f' $(sed -n '$s/.*"val_bleu": \([0-9.]*\).*/\1/p' \
    scored/train.jsonl))" = "$("$RAPT" score scored.out valid.zh --tokenize zh --metric bleu | cut -d' ' -f1)"

# ---- words that are phrases -------------------------------------------------------------------------------------------
phrases='the target: a word has 7\.1 characters on average: there are no spaces between words, which needs tokenizer.type'
check 'training by words warns' grep -q "^rapt: warning: $phrases characters or bpe$" <(
    "$RAPT" train zh.yaml --set tokenizer.type=words --max-steps 1 --out words 2>&1)
check 'data check, too' grep -q "^rapt: pairs.tsv: warning: $phrases" <("$RAPT" data check pairs.tsv 2>&1 >/dev/null)
cut -f2 pairs.tsv >pairs.zh
check 'and tokenizer train' grep -q '^rapt: pairs.zh: warning: a word has 7.1' <("$RAPT" tokenizer train --type words pairs.zh -o k 2>&1)
check 'no warning of English' test -z "$("$RAPT" data check <(awk -F'\t' '{ print $1 "\t" $1 "!" }' pairs.tsv) 2>&1 >/dev/null)"
check 'nor of characters' test -z "$("$RAPT" train zh.yaml --max-steps 1 --out few 2>&1 | grep spaces)"

# ---- no half characters -----------------------------------------------------------------------------------------------
# whole FILE: lines of UTF-8, without U+FFFD, some of them not empty.
whole() { iconv -f UTF-8 -t UTF-8 "$1" >/dev/null && ! grep -q $'\xEF\xBF\xBD' "$1" && grep -q . "$1"; }
learn raw --set tokenizer.type=bpe --set tokenizer.vocab_size=262 --set train.steps=40 --set train.lr=0.001
for search in '--beam 1' '--beam 4' '--beam 3 --n-best 3' '--beam 1 --max-length-ratio 0.4' '--beam 2 --no-repeat-ngram 2'; do
    "$RAPT" translate raw valid.en --quiet $search >raw.out
    check "bytes that are hardly trained, $search: whole characters" whole raw.out
    check "$search: any threads and batches" cmp raw.out <("$RAPT" translate raw valid.en --quiet $search --threads 1 --batch 3)
done
check 'as explain has it' test "$("$RAPT" explain raw "$(head -1 valid.en)" | sed -n 's/^the translation: //p')" = \
    "$("$RAPT" translate raw valid.en --quiet | head -1)"
# Generated texts have U+FFFD for bytes that are no character.
valid() { iconv -f UTF-8 -t UTF-8 "$1" >/dev/null && grep -q . "$1"; }
cut -f2 pairs.tsv >text.txt
printf '%s\n' 'task: language_model' 'data: {text: text.txt}' 'tokenizer: {vocab_size: 270}' \
    'model: {layers: 1, d_model: 32, heads: 2, ffn: 64, context: 32}' 'train: {steps: 10, epochs: 0}' >text.yaml
"$RAPT" train text.yaml --quiet --out text 2>/dev/null
for n in 1 2 3 40 41 42; do
    "$RAPT" generate text --prompt 我 --max-tokens $n --seed $n --temperature 1.5 --quiet >text.out
    check "a text of $n tokens" valid text.out
done

# ---- characters ------------------------------------------------------------------------------------------------------
check 'special tokens, then characters in the order of their codes' test \
    "$("$RAPT" tokenizer decode characters/source.tokenizer.json <<<'0 4 5' 2>.err; cut -c1-60 .err)" = '<unk> .'
check 'a space is a token of its own' test "$(echo 'you know the sea.' | "$RAPT" translate characters --tokens |
    awk -F'\t' '{ print split($2, t, " ") }')" = 17
check 'a Chinese word is a character' test "$(echo 'I see the moon.' | "$RAPT" translate characters --alignment words |
    awk -F'\t' '{ print $1, split($2, t, " ") }')" = '我看见月亮。 6'
check 'no sentence of up to 199 characters is cut' grep -q '"max_len": 200' characters/config.json
echo 'you know the 海海z猫.' >odd.txt
check 'an unknown character is warned about' test "$("$RAPT" translate characters odd.txt 2>&1 >/dev/null)" = \
    'rapt: odd.txt:1: warning: 1 of 18 characters is unknown: "z"'
refused 1 'odd.txt:1: 1 of 18 characters is unknown: "z"' 'and refused with --strict' "$RAPT" translate characters odd.txt --strict
refused 1 'does not know "z"' 'and where it is explained' "$RAPT" explain characters "$(cat odd.txt)" --strict
refused 1 'does not know "z"' 'behind a line feed, too' "$RAPT" explain characters $'I\nz' --strict
refused 1 'the prefix has a character that' 'and in a prefix' "$RAPT" translate characters valid.en --prefix 我Z
check 'eval counts them' grep -q 'warning: 2 of 36 source characters are unknown, in 2 of 2 pairs' <(
    "$RAPT" eval characters <(paste <(cat odd.txt odd.txt) <(head -2 valid.zh)) 2>&1)
"$RAPT" explain characters 'I see the moon.' >explained 2>.err
check 'explain names them' grep -Eq '^ +[0-9]+ +[0-9]+ +亮$' explained
check 'characters of each side' learn two --set tokenizer.shared=false
"$RAPT" translate two valid.en >two.out
check 'translate as well' test "$(right two.out)" -ge 27
check 'English is not in the target' test -z "$(grep -o '"[a-z]"' two/target.tokenizer.json)"
sed 's/\t.*//' train.tsv | paste <(cut -f2 train.tsv) - >back.tsv
paste valid.zh valid.en >back-valid.tsv
learn back --set data.pairs=back.tsv --set data.validation=back-valid.tsv
check 'English that is written by characters keeps its spaces' test "$("$RAPT" translate back valid.zh | paste - valid.en |
    awk -F'\t' '$1 == $2' | wc -l)" -ge 27

"$RAPT" generate text --prompt 我 --at -1 --top 270 >at.out
check '--at names a half character by its byte' test "$(grep -c $'\t208\t"\\\\\\\\xd0"$' at.out)" = 1
check 'and has no U+FFFD' test "$(grep -c $'\xEF\xBF\xBD' at.out)" = 0

# ---- raw text ----------------------------------------------------------------------------------------------------------
learn raised --set tokenizer.detokenize=en --set tokenizer.capitalize=true
check 'English punctuation and capitals leave Chinese as it is' cmp characters.out <("$RAPT" translate raised valid.en)
learn back-raised --set data.pairs=back.tsv --set data.validation=back-valid.tsv --set tokenizer.capitalize=true
check 'and raise what begins with a Latin letter' cmp <("$RAPT" translate back valid.zh | sed 's/^./\U&/') \
    <("$RAPT" translate back-raised valid.zh)

printf 'data: {pairs: train.tsv, validation: valid.tsv}\ntrain: {steps: 2, epochs: 0}\n' >few.yaml
"$RAPT" train few.yaml --init characters --out more --quiet
check 'fine-tuning with a minimal recipe takes the length of characters' grep -q '"max_len": 200' more/config.json

# ---- paragraphs ------------------------------------------------------------------------------------------------------
check 'Chinese sentences are translated one by one' cmp <(printf '%s\n' 我看见大海。你看见月亮。 | "$RAPT" translate back) \
    <(printf '%s\n' 我看见大海。 你看见月亮。 | "$RAPT" translate back | paste -d' ' -s)
check 'and joined without spaces in Chinese' cmp <(echo 'I see the sea. I know a bird.' | "$RAPT" translate characters) \
    <(printf '%s\n' 'I see the sea.' 'I know a bird.' | "$RAPT" translate characters | tr -d '\n' | sed 's/$/\n/')
finish
