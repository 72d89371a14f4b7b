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
finish
