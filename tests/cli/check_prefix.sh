#!/bin/bash
# tests/cli/check_prefix.sh: a prefix for each line, tokens in print, and alignments of words; the same with any threads, batch
# and beam of one.
. "$(dirname "$0")/lib.sh"
make_inputs
train words --set train.steps=60 || exit 1
# Rows that no line is longer than: one that is cut in two has no token for the space between.
train pairs --set train.steps=60 --set tokenizer.type=bpe --set tokenizer.vocab_size=330 --set data.max_len=40 || exit 1
cut -f1 pairs.tsv | awk 'NR % 9 == 0' >lines.txt
sed -n '1p;2p;3p' lines.txt | sed '2s/.*//' >three.txt
count=$(wc -l <lines.txt)
# Empty prefixes, and prefixes of one to three words.
cut -f2 pairs.tsv | awk -v n="$count" 'NR <= n { k = NR % 4; out = ""; for (i = 1; i <= k; i++) out = out (i > 1 ? " " : "") $i; print out }' >prefixes.txt

for model in words pairs; do
    translate() { "$RAPT" translate $model --quiet "$@"; }
    for search in '--beam 1' '--beam 4 --n-best 2'; do
        translate lines.txt --prefix-file prefixes.txt $search >want.out
        check "$model $search: a line for each" test "$(wc -l <want.out)" = $((count * (${#search} > 10 ? 2 : 1)))
        for i in 1 5 $((count - 1)); do
            sed -n "${i}p" lines.txt >one.txt
            check "$model $search: line $i is what --prefix gives it" cmp \
                <(translate one.txt --prefix "$(sed -n "${i}p" prefixes.txt)" $search | sed 's/^1\t//') \
                <(if [ "$search" = '--beam 1' ]; then sed -n "${i}p" want.out; else sed -n "s/^$i\t//p" want.out; fi)
        done
        for options in '--threads 1' '--threads 3 --batch 2' '--batch 1'; do
            check "$model $search $options" cmp want.out <(translate lines.txt --prefix-file prefixes.txt $search $options)
        done
    done
    check "$model: a beam of one is greedy" cmp <(translate lines.txt --prefix-file prefixes.txt) \
        <(translate lines.txt --prefix-file prefixes.txt --beam 1)
    check "$model: a pipe" cmp <(translate lines.txt --prefix-file prefixes.txt) \
        <(translate lines.txt --prefix-file - <prefixes.txt)
    check "$model: an empty line among them asks for nothing" cmp <(translate lines.txt | sed -n 4p) \
        <(translate lines.txt --prefix-file prefixes.txt | sed -n 4p)

    # ---- tokens and alignments ------------------------------------------------------------------------------------
    translate lines.txt --tokens --alignment hard >hard.out
    check "$model --tokens: the text stays first" cmp <(cut -f1 hard.out) <(translate lines.txt)
    check "$model: a pair for each token, of tokens that there are" awk -F'\t' '
        { n = split($2, s, " "); m = split($3, t, " "); k = split($4, links, " ")
          if (k != m) exit 1
          for (i = 1; i <= k; i++) { split(links[i], l, "-"); if (l[2] != i - 1 || l[1] < 0 || l[1] >= n) exit 1 } }' hard.out
    translate lines.txt --tokens --alignment words >words.out
    check "$model: words of both sides" awk -F'\t' '
        function words(text,  list, n, i, count) {
            n = split(text, list, " "); count = 0
            for (i = 1; i <= n; i++) count += plain || i == 1 || substr(list[i], 1, 3) == "\342\220\243"
            return count
        }
        { n = words($2); m = words($3); k = split($4, links, " "); if (k != m) exit 1
          for (i = 1; i <= k; i++) { split(links[i], l, "-"); if (l[2] != i - 1 || l[1] < 0 || l[1] >= n) exit 1 } }' \
        plain=$([ $model = words ] && echo 1 || echo 0) words.out
    check "$model --tokens: threads and batches" cmp words.out <(translate lines.txt --tokens --alignment words --threads 3 --batch 2)
    check "$model: an empty line has neither" test "$(translate three.txt --tokens --alignment words | sed -n 2p)" = $'\t\t\t'
done
"$RAPT" translate words lines.txt --tokens --alignment hard | cut -f2- >hard.out
"$RAPT" translate words lines.txt --tokens --alignment words | cut -f2- >words.out
check 'words: each token is a word' cmp hard.out words.out
check 'byte pairs: tokens with a space show it' grep -q $'\342\220\243' <("$RAPT" translate pairs lines.txt --tokens | cut -f2)
check 'byte pairs: the tokens are the text' cmp <("$RAPT" translate pairs lines.txt --tokens | cut -f2 | tr -d ' ' |
    sed $'s/\342\220\243/ /g; s/^ //') lines.txt

# ---- refused -------------------------------------------------------------------------------------------------------
head -2 prefixes.txt >short.txt
refused 1 'short.txt ends after 2 lines' 'fewer prefixes than lines' "$RAPT" translate words lines.txt --prefix-file short.txt
"$RAPT" translate words three.txt --prefix-file prefixes.txt >.out 2>.err
check 'more prefixes than lines' test $? = 1 -a "$(wc -l <.out)" = 3 -a "$(grep -c "prefixes.txt has $count lines, but three.txt 3" .err)" = 1
printf 'je\nzyzzyva\n\n' >unknown.txt
refused 1 "unknown.txt:2: the prefix has a word" 'an unknown word' "$RAPT" translate words three.txt --prefix-file unknown.txt
printf 'je\nj\xff\n\n' >bytes.txt
refused 1 'bytes.txt:2: ' 'not UTF-8' "$RAPT" translate words three.txt --prefix-file bytes.txt
refused 2 'not both' 'two kinds of prefixes' "$RAPT" translate words three.txt --prefix-file short.txt --prefix je
refused 2 'standard input' 'lines and prefixes from one place' "$RAPT" translate words --prefix-file -
refused 1 'none.txt' 'no such file' "$RAPT" translate words three.txt --prefix-file none.txt
finish
