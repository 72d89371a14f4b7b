#!/bin/bash
# tests/cli/check_translate.sh: `rapt translate`: lines in, lines out, the same whatever the batch, the threads and the
# ISA of the kernels. The model is a toy; what it says is not checked here, only that it says it again.
# labels: threads levels
. "$(dirname "$0")/lib.sh"
make_inputs
train model --set train.steps=200 || { echo "cannot train the model"; exit 1; }
translate() { "$RAPT" translate model "$@"; }
# is NAME EXPECTED-FILE COMMAND...: what the command prints.
is() {
    local name=$1 wanted=$2
    shift 2
    if "$@" >"$WORK/.got" 2>"$WORK/.err" && cmp "$wanted" "$WORK/.got" >"$WORK/.cmp"; then
        pass "$name"
    else
        fail "$name" "$(head -c 300 "$WORK/.err" "$WORK/.cmp")"
    fi
}

# ---- what a line is ------------------------------------------------------------------------------------------------
cut -f1 pairs.tsv | head -100 >lines.txt
translate lines.txt >plain.out 2>plain.err
check 'as many lines out as in' test "$(wc -l <plain.out)" = 100
check 'no warning where there is nothing to warn of' test ! -s plain.err
check 'several different translations' test "$(sort -u plain.out | wc -l)" -gt 20
is 'standard input' plain.out translate - <lines.txt
is 'no file: standard input' plain.out translate <lines.txt
head -1 plain.out >first.out
is '--text' first.out "$RAPT" translate model --text "$(head -1 lines.txt)"
refused 1 "cannot read I see you.*; --text takes a text itself$" 'a text taken for a file' "$RAPT" translate model 'I see you.'
refused 2 '.-text or FILE' 'a text and a file' "$RAPT" translate model lines.txt --text you
refused 2 '.-text: one line' 'a text of two lines' "$RAPT" translate model --text $'you\nme'
sed 's/$/\r/' lines.txt >crlf.txt
is 'CRLF' plain.out translate crlf.txt
{ printf '\xef\xbb\xbf'; cat lines.txt; } >bom.txt
is 'byte order mark' plain.out translate bom.txt
head -c -1 lines.txt >open.txt
is 'no newline at the end' plain.out translate open.txt
tr a-z A-Z <lines.txt >upper.txt
is 'letter case' plain.out translate upper.txt
sed 's/  */   /g; s/^/  /; s/$/ \t /' lines.txt >spaces.txt
is 'spaces' plain.out translate spaces.txt
: >empty.txt
is 'an empty file gives nothing' empty.txt translate empty.txt

sed '3s/.*//; 5s/.*/   /; 100s/.*//' lines.txt >holes.txt
sed '3s/.*//; 5s/.*//; 100s/.*//' plain.out >holes.out
is 'an empty line gives an empty line' holes.out translate holes.txt
printf '\n\n\n' >three.txt
is 'nothing but empty lines' three.txt translate three.txt
is 'empty lines with a beam' three.txt translate three.txt --beam 3

printf 'zyzzyva qwxyz!\n\xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80\n<pad> <bos> <eos> <unk>\nsee <eos> the moon .\n' >unknown.txt
check 'unknown words are no error' translate unknown.txt
translate unknown.txt >unknown.out 2>unknown.err
check 'and give a line each' test "$(wc -l <unknown.out)" = 4
check 'with a warning for new ones' test "$(grep -c '^rapt: .*unknown.txt:[1-3]: warning: .* unknown: ' unknown.err)" = 3
printf 'zyzzyva zyzzyva zyzzyva zyzzyva\n' >specials.txt
translate specials.txt >specials.out
printf '<pad> <bos> <eos> <unk>\n' >typed.txt
is 'special tokens cannot be typed: they are unknown words' specials.out translate typed.txt

# ---- too long, or several sentences ----------------------------------------------------------------------------- The model
# takes 11 words, full stops included, and <eos>; it was trained on single sentences. split NAME LINE PIECE...: the line's
# translation equals the translations of the pieces, with spaces between, without a warning.
split() {
    local name=$1 line=$2
    shift 2
    { head -2 lines.txt; echo "$line"; sed -n 3,4p lines.txt; } >long.txt
    { head -2 plain.out; printf '%s\n' "$@" | translate | paste -s -d ' '; sed -n 3,4p plain.out; } >wanted.out
    translate long.txt >long.out 2>long.err
    check "$name" cmp wanted.out long.out
    check 'no warning of its length' test "$(grep -vc 'unknown' long.err)" = 0
}
split 'sentences' 'I see the moon. You like the sea.  We hear "a train".' 'I see the moon.' 'You like the sea.' 'We hear "a train".'
split 'two sentences that fit' 'I see the moon. You like the sea.' 'I see the moon.' 'You like the sea.'
split 'two sentences, cut into words' 'i see the moon . you like the sea .' 'i see the moon .' 'you like the sea .'
check 'the model folder says so' grep -q '"by_sentence": true' model/config.json
two='I see the moon. You like the sea.'
cp -r model whole && sed -i 's/"by_sentence": true/"by_sentence": false/' whole/config.json && "$RAPT" info whole --seal >/dev/null
is 'as the folder says' <(echo "$two" | translate --split long) "$RAPT" translate whole <<<"$two"
is '--split sentences' <(echo "$two" | translate) "$RAPT" translate whole --split sentences <<<"$two"
is '--split long: what does not fit is split' <(printf '%s We hear a train.\n' "$two" | translate) translate --split long <<<"$two We hear a train."
check '--split long: what fits stays whole' test "$(translate --split long --n-best 1 <<<"$two")" != "$(translate --n-best 1 <<<"$two")"
refused 2 '--split: .words. is none of long, sentences' '--split of another kind' "$RAPT" translate model lines.txt --split words
sed '1~50s/^\([^\t]*\)/\1 \1/' pairs.tsv >several.tsv
train several --set data.pairs=several.tsv --max-steps 1
check 'trained on lines of several sentences' grep -q '"by_sentence": false' several/config.json
split 'clauses' 'I see the moon, you like the sea, we hear a train, they call' 'I see the moon, you like the sea,' \
    'we hear a train, they call'
words=$(printf 'the moon %.0s' {1..15})
split 'words' "$words" "$(echo "$words" | cut -d' ' -f1-11)" "$(echo "$words" | cut -d' ' -f12-22)" "$(echo "$words" | cut -d' ' -f23-)"
split 'a long sentence between short ones' "I see the moon. We $words. You like the sea." 'I see the moon.' \
    "We $(echo "$words" | cut -d' ' -f1-10)" "$(echo "$words" | cut -d' ' -f11-21)" "$(echo "$words" | cut -d' ' -f22-30)." \
    'You like the sea.'
split 'Chinese, by its marks' "$(printf '月%.0s.a.a.a。' {1..4})" "$(printf '月%.0s.a.a.a。' 1)"{,,,}
split '11 words and <eos> are not too long' 'the moon the moon the moon the moon the moon the' \
    'the moon the moon the moon the moon the moon the'
long="I see the moon. You like the sea. We hear a train."
echo "$long" | translate --beam 4 --n-best 3 >best.out
check 'n-best: lines of the joined pieces' test "$(cut -f1 best.out)" = $'1\n1\n1'
check 'n-best: the first is what --beam alone prints' test "$(head -1 best.out | cut -f3)" = "$(echo "$long" | translate --beam 4)"
check 'n-best: scores add up' awk -F'\t' 'NR == FNR { if ($1 != line) sum += $2; line = $1; next }
    { if ((sum - $2) ^ 2 > 1e-6) exit 1; exit 0 }' <(tr -s ' ' <<<"$long" | sed 's/\. /.\n/g' | translate --beam 4 --n-best 3) best.out
echo "$long" | translate >long.out
for options in '--batch 1' '--batch 7' '--threads 3'; do
    for i in {1..9}; do echo "$long"; cat lines.txt; done | translate $options >got.out
    check "pieces: $options" cmp <(for i in {1..9}; do cat long.out plain.out; done) got.out
done

address=$(printf 'moon.moon%.0s' {1..30}) # one word, but a token more at each full stop
{ head -2 lines.txt; echo "$address"; sed -n 3,4p lines.txt; } >long.txt
translate long.txt >long.out 2>long.err
check 'what has no place to split is translated all the same' test "$(wc -l <long.out)" = 5
check 'with one warning' test "$(grep -vc 'unknown' long.err)" = 1
check 'that names the line' grep -q '^rapt: .*long.txt:3: ' long.err
check 'the other lines are as they were' cmp <(head -4 plain.out) <(sed 3d long.out)
translate --quiet long.txt >quiet.out 2>quiet.err
check '--quiet: no warning' test ! -s quiet.err
check '--quiet: the same text' cmp long.out quiet.out
printf 'moon.moon%.0s' {1..12} >cut.txt # 13 tokens, no room for <eos>
translate cut.txt >cut.out 2>/dev/null
check 'cut to the length that the model was made for' cmp <(sed -n 3p long.out) cut.out

# With byte pairs a space is a token.
train pairs --set tokenizer.type=bpe --set tokenizer.vocab_size=400 --set data.max_len=14 || { echo "cannot train the model"; exit 1; }
printf '%s\n' 'I see the moon.' 'You like the sea.' 'We hear a train.' >short.txt
is 'byte pairs: sentences' <("$RAPT" translate pairs short.txt | paste -s -d ' ') "$RAPT" translate pairs <(paste -s -d ' ' short.txt)
check 'byte pairs: spaces are an empty line' test "$(printf '   \n\n \t\n' | "$RAPT" translate pairs | tr '\n' '|')" = '|||'

# ---- raw text --------------------------------------------------------------------------------------------------------
is '--detokenize fr: the full stop goes to the word' <(sed 's/ \([.,]\)/\1/g' plain.out) translate lines.txt --detokenize fr
translate lines.txt --beam 2 --n-best 2 --detokenize fr >written.out
check '--detokenize with --n-best' cmp <(translate lines.txt --beam 2 --n-best 2 | sed 's/ \([.,]\)/\1/g') written.out
refused 2 "--detokenize: .xx. is none of none, de" '--detokenize of an unknown language' "$RAPT" translate model lines.txt --detokenize xx

# The model folder may say so itself.
cp -r model written
sed -i 's/"detokenize": "none"/"detokenize": "fr"/; s/"capitalize": false/"capitalize": true/' written/config.json
"$RAPT" info written --seal >/dev/null
is 'a model that says how to write' <(sed 's/ \([.,]\)/\1/g; s/^./\U&/' plain.out) "$RAPT" translate written lines.txt
is '--detokenize none: its words' plain.out "$RAPT" translate written lines.txt --detokenize none
sed -i 's/"fr"/"xx"/' written/config.json
refused 1 'this rapt knows: none, de, en' 'a model in an unknown language' "$RAPT" info written --seal
train says --set tokenizer.type=bpe --set tokenizer.vocab_size=400 --set tokenizer.normalize=plain --set tokenizer.detokenize=fr \
    --set tokenizer.capitalize=true --max-steps 2
check 'the recipe says how to write' grep -q '"capitalize": true' says/config.json
check 'and in which language' grep -q '"detokenize": "fr"' says/config.json
printf '%s\n' "I don't see it - \"now\"." >keyboard.txt
printf '%s\n' ' I don’t  see it — „now“. ' >typeset.txt
is 'quotation marks, dashes and spaces of all shapes' <("$RAPT" translate says keyboard.txt) "$RAPT" translate says typeset.txt
check 'the same tokens' cmp <("$RAPT" tokenizer encode --lines says/source.tokenizer.json keyboard.txt) \
    <("$RAPT" tokenizer encode --lines says/source.tokenizer.json typeset.txt)

# ---- the same, however it is computed ------------------------------------------------------------------------------
shuf --random-source=<(yes) lines.txt >shuffled.txt
paste lines.txt plain.out | sort >pairs.1
translate shuffled.txt | paste shuffled.txt - | sort >pairs.2
check 'the order of the lines is kept, and does not matter' cmp pairs.1 pairs.2
head -20 lines.txt | while read -r line; do echo "$line" | translate; done >alone.out
check 'a sentence alone' cmp <(head -20 plain.out) alone.out
is '--beam 1 is greedy' plain.out translate lines.txt --beam 1
translate lines.txt --beam 4 --length-penalty 0.6 >beam.out
for i in {1..3}; do cat lines.txt; done >thrice.txt # more than a block of --batch 1
translate thrice.txt --temperature 1 >drawn.out
check '--temperature: lines differ where lines are the same' test "$(sort -u drawn.out | wc -l)" -gt "$(sort -u plain.out | wc -l)"
for options in '--batch 1' '--batch 3' '--batch 200' '--threads 3' '--seed 1' '--top-k 0 --top-p 1'; do
    is "$options, drawn" drawn.out translate thrice.txt --temperature 1 $options
done
check '--seed: others are drawn' test "$(translate thrice.txt --temperature 1 --seed 2 | cmp drawn.out - | wc -l)" = 1
is '--temperature 0: greedy' plain.out translate lines.txt --temperature 0
is '--greedy' plain.out translate lines.txt --greedy
is '--top-k 1: greedy' plain.out translate lines.txt --top-k 1
refused 2 '--temperature makes one translation of each line: not with --beam above 1' 'a beam that draws' \
    "$RAPT" translate model lines.txt --beam 4 --temperature 1
refused 2 '--top-k makes one translation of each line: .* or --n-best' 'several draws' "$RAPT" translate model lines.txt --n-best 2 --top-k 3

for beam in 1 3; do
    translate lines.txt --beam $beam --min-length 9 --tokens | sed 's/.*\t//' >least.out
    check "--min-length 9 --beam $beam" test "$(awk '{ print NF < 9 }' least.out | sort -u)" = 0
done
# A word and a pair of words that translations have: neither is there, and what does not have them stays.
word=$(tr ' ' '\n' <plain.out | grep -x '[a-z]*' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
for beam in 1 3; do
    translate lines.txt --beam $beam >with.out
    translate lines.txt --beam $beam --suppress "$word" >without.out
    check "--suppress: there is none, --beam $beam" eval "grep -qiw '$word' with.out && ! grep -qiw '$word' without.out"
done
paste -d '\n' plain.out <(translate lines.txt --suppress "$word") | awk -v word="$word" 'NR % 2 { want = $0; next }
    index(tolower(want), word) == 0 && want != $0 { bad = 1 } END { exit bad }'
check '--suppress: other translations stay' test $? = 0
refused 2 '--suppress takes one line' 'an empty --suppress' "$RAPT" translate model lines.txt --suppress ''
refused 1 "suppressed text 2: the model doesn't know all of it" 'an unknown word' \
    "$RAPT" translate model lines.txt --suppress "$word" --suppress zyzzyva
is '--min-length 0' plain.out translate lines.txt --min-length 0

# A frequent word of the source, translated as a word that is frequent elsewhere: lines without it stay.
from=$(tr ' ' '\n' <lines.txt | grep -x '[a-z]*' | sort | uniq -c | sort -rn | awk 'NR == 2 { print $2 }')
printf '%s\t%s\n' "$from" "$word" >terms.tsv
translate lines.txt --glossary terms.tsv >terms.out
paste -d '\t' lines.txt plain.out terms.out | awk -F '\t' -v from="$from" -v word="$word" '
    (" " tolower($1) " ") ~ "[^a-z]" from "[^a-z]" { there++; bad = bad || index(tolower($3), word) == 0; next }
    { others++; bad = bad || $2 != $3 } END { exit bad || !there || !others }'
check '--glossary: the target comes, and other lines stay' test $? = 0
for options in '--batch 1' '--batch 7 --threads 3' '--threads 2'; do
    is "--glossary $options" terms.out translate lines.txt --glossary terms.tsv $options
done
printf '%s\tzyzzyva\n' "$from" >unknown.tsv
translate lines.txt --glossary unknown.tsv >unknown.out 2>unknown.err
check '--glossary: lines whose term cannot be forced stay' cmp plain.out unknown.out
check '--glossary: a warning' grep -q 'lines.txt:[0-9]*: warning: a term of unknown.tsv could not be forced' unknown.err
refused 1 'has a term of unknown.tsv that could not be forced' '--strict' "$RAPT" translate model lines.txt --glossary unknown.tsv --strict
"$RAPT" translate model --text "$from" --glossary unknown.tsv --json 2>/dev/null >lacks.json
check '--json: lacks_terms' grep -q '"lacks_terms":true' lacks.json
printf 'a\tb\nc\n' >broken.tsv
refused 1 'broken.tsv:2: a line of a glossary is a source, one tab and a target; this one has no tab' 'a line without a tab' \
    "$RAPT" translate model lines.txt --glossary broken.tsv
refused 1 'a glossary needs a search' 'a glossary and sampling' "$RAPT" translate model lines.txt --glossary terms.tsv --temperature 1

translate lines.txt --beam 4 --length-penalty 0.6 --n-best 4 >best.out
for options in '--batch 1' '--batch 7' '--batch 64' '--threads 1' '--threads 2' '--threads 3' '--batch 7 --threads 3'; do
    is "$options" plain.out translate lines.txt $options
    is "$options, beam" best.out translate lines.txt --beam 4 --length-penalty 0.6 --n-best 4 $options
done
is 'RAPT_THREADS=3' plain.out env RAPT_THREADS=3 "$RAPT" translate model lines.txt
translate lines.txt --beam 4 --n-best 4 --weights q8_0 >q8.out
translate lines.txt --beam 4 --n-best 4 --kv-cache q8_0 >kv.out
for isa in $(levels); do
    is "RAPT_ISA=$isa, --weights q8_0" q8.out env RAPT_ISA="$isa" "$RAPT" translate model lines.txt --beam 4 --n-best 4 \
        --weights q8_0 --batch 7
    is "RAPT_ISA=$isa, --kv-cache q8_0" kv.out env RAPT_ISA="$isa" "$RAPT" translate model lines.txt --beam 4 --n-best 4 \
        --kv-cache q8_0 --batch 7 --threads 3
    is "RAPT_ISA=$isa" plain.out env RAPT_ISA="$isa" "$RAPT" translate model lines.txt
    is "RAPT_ISA=$isa, beam" best.out env RAPT_ISA="$isa" "$RAPT" translate model lines.txt --beam 4 \
        --length-penalty 0.6 --n-best 4
done
check '--kv-cache q8_0: other scores' sh -c '! cmp -s best.out kv.out'
refused 2 'is for language models' 'eval: a KV cache of pairs' "$RAPT" eval model pairs.tsv --kv-cache q8_0
skip_other_levels

# ---- n-best --------------------------------------------------------------------------------------------------------
check 'n-best: LINE<tab>SCORE<tab>TEXT' awk -F'\t' 'NF != 3 || $1 !~ /^[0-9]+$/ || $2 !~ /^-?[0-9]+\.[0-9]+$/ { exit 1 }' best.out
check 'n-best: at most four a line, each line there' awk -F'\t' \
    '{ n[$1]++ } END { for (i = 1; i <= 100; i++) if (n[i] < 1 || n[i] > 4) exit 1 }' best.out
check 'n-best: best first' awk -F'\t' '$1 == line && $2 > score { exit 1 } { line = $1; score = $2 }' best.out
check 'n-best: all different' awk -F'\t' 'seen[$1, $3]++ { exit 1 }' best.out
awk -F'\t' '!seen[$1]++ { print $3 }' best.out >first.out
check 'n-best: the first is what --beam alone prints' cmp beam.out first.out
translate lines.txt --beam 4 --n-best 1 >one.out
translate lines.txt --beam 4 >plainbeam.out
check '--n-best 1 prints scores as well' cmp plainbeam.out <(awk -F'\t' 'NF == 3 && $1 == NR { print $3 }' one.out)

# ---- what a translation may be -------------------------------------------------------------------------------------
translate lines.txt --prefix 'le chat' >prefix.out
check '--prefix: every translation begins with it' test "$(grep -c '^le chat\b' prefix.out)" = 100
translate lines.txt --prefix 'le chat' --beam 3 --n-best 3 >prefix3.out
check '--prefix: of every hypothesis' test "$(cut -f3 prefix3.out | grep -vc '^le chat\b')" = 0
is '--prefix with a batch of one' prefix3.out translate lines.txt --prefix 'le chat' --beam 3 --n-best 3 --batch 1 --threads 2
is 'an empty --prefix' plain.out translate lines.txt --prefix ''
is 'an empty line stays empty' three.txt translate three.txt --prefix 'le chat'
repeats() { awk '{ delete n; for (i = 1; i <= NF; i++) if (n[$i]++) again = 1 } END { exit !again }' "$1"; }
translate lines.txt --beam 8 --n-best 8 --prefix 'le' | sed 's/.*\t//' >again.out
translate lines.txt --beam 8 --n-best 8 --prefix 'le' --no-repeat-ngram 1 | sed 's/.*\t//' >norepeat.out
check 'some hypotheses repeat words' repeats again.out
check '--no-repeat-ngram 1: none does' eval '! repeats norepeat.out'
is '--no-repeat-ngram 0: they may' plain.out translate lines.txt --no-repeat-ngram 0

# An unknown word is taken over from the line, as it stands there: each <unk> of a translation, and nothing else.
sed 's/\(dog\|cat\|sea\)/Zyz-2/' lines.txt >unknown.txt
translate unknown.txt --tokens --alignment hard >unknown.out
translate unknown.txt --tokens --replace-unknown >taken.out
check '--replace-unknown: tokens stay' cmp <(cut -f2,3 unknown.out) <(cut -f2,3 taken.out)
check '--replace-unknown: no <unk>' test "$(cut -f1 taken.out | grep -c '<unk>')" = 0
is '--replace-unknown without unknown words' plain.out translate lines.txt --replace-unknown
# Alternatives behind a prefix: as many as are asked for, and they differ in the next word.
translate --text "$(head -1 lines.txt)" --prefix "$(cut -d' ' -f1 plain.out | head -1)" --n-best 4 --alternatives >others.out
check '--alternatives differ in the next word' test "$(cut -f3 others.out | cut -d' ' -f2 | sort -u | wc -l)" = 4
refused 2 'alternatives .*n-best' '--alternatives alone' "$RAPT" translate model lines.txt --alternatives
# An ensemble of a model and itself is the model; one with another model is neither; other vocabularies are refused.
is '--ensemble with itself' plain.out translate lines.txt --ensemble model
is '--ensemble with itself twice, beam' best.out translate lines.txt --beam 4 --length-penalty 0.6 --n-best 4 --ensemble model \
    --ensemble model
"$RAPT" train tiny.yaml --quiet --out second --set seed=8 --set train.steps=60 >/dev/null 2>&1
translate lines.txt --ensemble second --json --detokenize none >both.json
python3 -c 'import json
for line in open("both.json"): print(json.loads(line)["text"])' | paste lines.txt - >both.tsv
paste <("$RAPT" eval model both.tsv --each --quiet | cut -f1) <("$RAPT" eval second both.tsv --each --quiet | cut -f1) >both.scores
check '--ensemble with another model: the mean of what both give' python3 -c 'import json
for a, b in zip(open("both.json"), open("both.scores"), strict=True):
    one, two = map(float, b.split())
    assert abs(json.loads(a)["hypotheses"][0]["log_prob"] - (one + two) / 2) < 1e-3, (a, b)
    assert one != two, b'
refused 1 'model 2 of the ensemble has another source vocabulary than the first' 'an ensemble of other words' \
    "$RAPT" translate model lines.txt --ensemble says
# ---- alignments ----------------------------------------------------------------------------------------------------
translate lines.txt --alignment hard >hard.out
check '--alignment: the translations are the same' cmp plain.out <(cut -f1 hard.out)
check '--alignment hard: a pair for each word, in order' awk -F'\t' '{ words = split($1, w, " "); pairs = split($2, p, " ")
    if (NF != 2 || words != pairs) exit 1
    for (i = 1; i <= pairs; i++) if (p[i] !~ /^[0-9]+-[0-9]+$/ || substr(p[i], index(p[i], "-") + 1) != i - 1) exit 1 }' hard.out
translate lines.txt --alignment soft >soft.out
check '--alignment soft: a row for each word, shares of 1' awk -F'\t' '{ words = split($1, w, " "); rows = split($2, r, " ")
    if (NF != 2 || words != rows) exit 1
    for (i = 1; i <= rows; i++) { n = split(r[i], x, ","); sum = 0; for (j = 1; j <= n; j++) sum += x[j]
        if (sum < 0.99 || sum > 1.01) exit 1 } }' soft.out
check '--alignment hard is where soft is largest' cmp <(cut -f2 hard.out) <(cut -f2 soft.out | awk '{ line = ""
    for (i = 1; i <= NF; i++) { n = split($i, x, ","); at = 1; for (j = 2; j < n; j++) if (x[j] + 0 > x[at] + 0) at = j
        line = line (i > 1 ? " " : "") (at - 1) "-" (i - 1) } print line }')
printf '\t\n\t\n\t\n' >tabs.txt
is '--alignment of empty lines' tabs.txt translate three.txt --alignment hard
check '--alignment of n-best' test "$(translate lines.txt --beam 3 --n-best 3 --alignment hard | awk -F'\t' 'NF == 4' | wc -l)" = 300
refused 2 'alignment' '--alignment wrong' "$RAPT" translate model lines.txt --alignment wrong

refused 2 'no-repeat-ngram' '--no-repeat-ngram -1' "$RAPT" translate model lines.txt --no-repeat-ngram -1
refused 2 'max-length-ratio' '--max-length-ratio 0' "$RAPT" translate model lines.txt --max-length-ratio 0
finish
