#!/bin/bash
# tests/cli/check_score.sh: `rapt score`: the figures and signatures that sacreBLEU 2.6.0 prints for the same texts, and
# warnings about texts that are not what the metrics are defined for.
. "$(dirname "$0")/lib.sh"
cat >hyp.txt <<'TEXT'
The cat sat on the mat.
A man is walking down the street.
It rained all day, and nobody came.
TEXT
cat >ref.txt <<'TEXT'
The cat is sitting on the mat.
A man walks down the street.
It rained the whole day, and nobody came.
TEXT
version=$("$RAPT" --version | cut -d' ' -f2)

# scores NAME LINES OPTION...: what is printed; sacreBLEU's "NAME|SIGNATURE = SCORE" are the lines.
scores() {
    local name=$1 lines=$2
    shift 2
    "$RAPT" score hyp.txt ref.txt "$@" >out 2>err
    check "$name" cmp out <(sed "s/\(.*\) = \(.*\)/\2 \1|rapt:$version/" <<<"$lines")
    check 'no warning' test ! -s err
}
bleu='BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 51.38'
chrf='chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 63.82'
scores 'BLEU and chrF' "$bleu"$'\n'"$chrf"
scores '--metric bleu' "$bleu" --metric bleu
scores '--metric chrf' "$chrf" --metric chrf
scores '--metric chrf++' 'chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0 = 65.98' --metric chrf++
scores '--tokenize none --lowercase' 'BLEU|nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:2.6.0 = 31.63' --metric bleu \
    --tokenize none --lowercase
# sacrebleu ref.txt -i shout.txt -m bleu chrf, and with -lc, with --chrf-lowercase
sed 's/The/THE/;s/man/Man/;s/nobody/Nobody/' hyp.txt >shout.txt
of() { "$RAPT" score "$@" --quiet | sed 's/|.*version[^|]*|.*//' | tr '\n' ' '; }
check 'upper case counts' test "$(of shout.txt ref.txt)" = '32.07 BLEU 54.23 chrF2 '
check '--lowercase: that of BLEU not' test "$(of shout.txt ref.txt --lowercase)" = '51.38 BLEU 54.23 chrF2 '
check '--chrf-lowercase: that of chrF not' test "$(of shout.txt ref.txt --chrf-lowercase)" = '32.07 BLEU 63.82 chrF2 '
check 'the signatures say so' test "$("$RAPT" score shout.txt ref.txt --lowercase | grep -o 'case:[a-z]*' | tr '\n' ' ')" = 'case:lc case:mixed '
refused 2 '--lowercase is for BLEU; chrF has --chrf-lowercase' 'BLEU alone has it' "$RAPT" score hyp.txt ref.txt --metric chrf --lowercase
refused 2 '--chrf-lowercase is for chrF only' 'chrF alone has it' "$RAPT" score hyp.txt ref.txt --metric bleu --chrf-lowercase
# A byte order mark is part of the first word.
printf '\xef\xbb\xbf' | cat - hyp.txt >marked.txt
printf '\xef\xbb\xbf' | cat - ref.txt >marked-ref.txt
check 'a byte order mark of one text' test "$(of marked.txt ref.txt)" = '49.79 BLEU 63.65 chrF2 '
check 'of both texts' test "$(of marked.txt marked-ref.txt)" = '51.38 BLEU 64.33 chrF2 '
check '--tokenize none' test "$(of marked.txt ref.txt --metric bleu --tokenize none)" = '30.31 BLEU '
"$RAPT" score marked.txt ref.txt >out 2>err
check 'a warning says so' grep -q '^rapt: marked.txt: warning: it begins with a byte order mark, which counts as part of its first word' err
printf '%s\n' 猫坐在垫子上。 '我喜欢用BERT-4模型，它快3.5倍！' 他们昨天去了北京 >zh-hyp.txt
printf '%s\n' 猫正坐在垫子上面。 '我喜欢BERT-4模型，它快了3.5倍！' 他们昨天到北京去了。 >zh-ref.txt
"$RAPT" score zh-hyp.txt zh-ref.txt --tokenize zh >out
check '--tokenize zh' cmp out <(printf '%s|rapt:%s\n' \
    '49.88 BLEU|nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp|version:2.6.0' "$version" \
    '53.45 chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0' "$version")
"$RAPT" score hyp.txt ref.txt --sentence >out
check '--sentence: BLEU of each line' test "$(grep -c '^[0-9.]* BLEU|nrefs:1|case:mixed|eff:yes|tok:13a' out) $(wc -l <out)" = '3 3'
"$RAPT" score hyp.txt ref.txt --json >out
check '--json: an object for each' test "$(grep -o '"name": "[^"]*"' out | tr '\n' ' ')" = '"name": "BLEU" "name": "chrF2" '

# ---- the book's BLEU -------------------------------------------------------------------------------------------------
cat >book.py <<'PYTHON'
# The definition: brevity penalty, and the precision of each order n up to k to the power of 1 / 2^n.
import collections, math, sys
k, fold, scores = int(sys.argv[3]), len(sys.argv) > 4, []
def grams(words, n):
    return collections.Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))
for own, label in zip(open(sys.argv[1]), open(sys.argv[2])):
    own, label = ((line.lower() if fold else line).split() for line in (own, label))
    score = math.exp(min(0, 1 - len(label) / len(own)))
    for n in range(1, min(k, len(own)) + 1):
        there = grams(own, n) & grams(label, n)
        score *= (sum(there.values()) / (len(own) - n + 1)) ** (0.5 ** n)
    scores.append(score)
print(*('%.4f' % s for s in [*scores, sum(scores) / len(scores)]), sep='\n')
PYTHON
book() { "$RAPT" score hyp.txt ref.txt --metric book "$@" | cut -d' ' -f1; }
for k in 1 2 4; do
    PYTHONIOENCODING=utf-8 python3 book.py hyp.txt ref.txt $k >expected
    check "--metric book --k $k: each line" diff <(book --k $k --sentence) <(head -3 expected)
    check "--metric book --k $k: their mean" test "$(book --k $k)" = "$(tail -1 expected)"
done
python3 book.py hyp.txt ref.txt 2 fold >expected
check '--metric book --lowercase, k 2' test "$(book --lowercase)" = "$(tail -1 expected)"
printf 'il est riche .\n' >calm.hyp
printf 'il est calme .\n' >calm.ref
"$RAPT" score calm.hyp calm.ref --metric book >out
check 'the figure that the book prints, 0.658' grep -q '^0\.658[0-9] BLEU of the book|nrefs:1|case:mixed|tok:space|k:2|rapt:' out
"$RAPT" score calm.hyp calm.ref --metric book --k 1 --json >out
check 'as JSON' grep -q '"name": "BLEU of the book", "score": 0.866025.*, "k": 1, "sentences": 1}$' out
refused 2 '--k is for --metric book only' '--k without it' "$RAPT" score hyp.txt ref.txt --k 2
refused 2 '--metric book compares with one reference' 'two references' "$RAPT" score hyp.txt ref.txt ref.txt --metric book
refused 2 '--tokenize is for BLEU only' '--tokenize' "$RAPT" score hyp.txt ref.txt --metric book --tokenize char

# In reports and in eval: for a model that the book's loss trains, its own translations against targets as the book prepares them.
make_inputs
sed -n '1~8p' pairs.tsv >valid.tsv
train book-model --set train.reduction=book --set data.validation=valid.tsv --set data.validation_fraction=0 \
    --set train.eval_bleu=true --set train.steps=40
cut -f1 valid.tsv | "$RAPT" translate book-model --quiet >valid.out
cut -f2 valid.tsv | tr A-Z a-z | sed 's/\([.,!?]\)/ \1/g' >valid.ref
mean=$(python3 book.py valid.out valid.ref 2 | tail -1)
field() { tail -1 book-model/train.jsonl | sed 's/.*"val_bleu_book": \([0-9.]*\).*/\1/'; }
check 'a report has the mean' awk -v a="$(field)" -v b="$mean" 'BEGIN { exit !(a > 0 && a - b < 6e-5 && b - a < 6e-5) }'
"$RAPT" eval book-model valid.tsv --quiet >out
check 'rapt eval prints it' grep -q "^BLEU .*, BLEU of the book $mean (k 2)$" out
"$RAPT" eval book-model valid.tsv --quiet --json >out
check 'also as JSON' grep -q "\"bleu_book\": ${mean%?}" out
train token-model --set data.validation=valid.tsv --set data.validation_fraction=0 --set train.eval_bleu=true --set train.steps=5
check 'no other model has it' test -z "$(grep -l book token-model/train.jsonl; "$RAPT" eval token-model valid.tsv --quiet | grep book)"

# ---- warnings ------------------------------------------------------------------------------------------------------
# warns PATTERN NAME FILE OPTION...: one line on stderr, and the same on stdout as with --quiet, which has none.
warns() {
    local pattern=$1 name=$2 file=$3
    shift 3
    "$RAPT" score "$file" ref.txt "$@" >out 2>err
    check "$name: a warning" grep -Eq "^rapt: $file: warning: $pattern" err
    check 'one' test "$(wc -l <err)" = 1
    "$RAPT" score "$file" ref.txt "$@" --quiet >quiet.out 2>quiet.err
    check '--quiet: none, and the same scores' test ! -s quiet.err -a "$(cat out)" = "$(cat quiet.out)"
}
# accepts NAME FILE OPTION...: scores without a word.
accepts() {
    local name=$1 file=$2
    shift 2
    "$RAPT" score "$file" ref.txt "$@" >out 2>err
    check "$name: no warning" test $? = 0 -a ! -s err -a -s out
}
sed 's/ing/@@ ing/; s/nobody/no@@ body/' hyp.txt >merges.txt
sed 's/ / ▁/g; s/^/▁/' hyp.txt >sentencepiece.txt
sed 's/ / Ġ/g' hyp.txt >bytes.txt
sed 's/\([.,]\)/ \1/g' hyp.txt >words.txt
sed "s/^/It\&apos;s: /" hyp.txt >entities.txt
warns '2 of 3 lines .*"@@"' 'subword-nmt' merges.txt
warns '3 of 3 lines .*"▁"' 'SentencePiece' sentencepiece.txt
warns '3 of 3 lines .*"Ġ"' 'byte-level BPE' bytes.txt --metric chrf
warns '3 of 3 lines .*pieces' 'pieces, with --tokenize none too' sentencepiece.txt --tokenize none
warns '3 of 3 lines look tokenized' 'words' words.txt
warns '3 of 3 lines look tokenized' 'entities' entities.txt --metric bleu --tokenize intl
accepts 'words, --tokenize none' words.txt --tokenize none
accepts 'words, chrF' words.txt --metric chrf
printf '%s\n' 'Is it you ?' 'Viens !' 'The end.' >french.txt
accepts 'spaces before ! and ?' french.txt
sed '1s/\./ ./' hyp.txt >one.txt
accepts 'one line of three' one.txt
"$RAPT" score hyp.txt words.txt >out 2>err
check 'a reference: a warning' grep -q '^rapt: words.txt: warning: 3 of 3 lines look tokenized' err
"$RAPT" score - ref.txt <words.txt >out 2>err
check 'standard input: a warning' grep -q '^rapt: standard input: warning: 3 of 3 lines look tokenized' err
script() { "$RAPT" score zh-hyp.txt zh-ref.txt "$@" 2>&1 >/dev/null; }
check 'Chinese, by 13a: a warning' test "$(script)" = \
    'rapt: zh-ref.txt: warning: most of it is Chinese, which --tokenize 13a does not cut into words: BLEU needs --tokenize zh'
check 'by intl, too' grep -q 'BLEU needs --tokenize zh' <(script --tokenize intl)
check 'none by zh, char, none, chrF, --quiet' test -z \
    "$(script --tokenize zh; script --tokenize char; script --tokenize none; script --metric chrf; script --quiet)"
finish
