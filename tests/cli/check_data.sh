#!/bin/bash
# check_data.sh: `rapt data check` on files with known faults, counted by other programs, and on bad input.
source "$(dirname "$0")/lib.sh"

# field KEY...: a number of the JSON object in check.json: "duplicate new" is drop.duplicate.new.
field() { tr -d ' \n' <check.json | grep -o "\"$1\":{[^}]*}" | grep -o "\"$2\":[0-9a-z.]*" | cut -d: -f2; }
total() { tr -d ' \n' <check.json | grep -o "\"$1\":[0-9]*" | head -1 | cut -d: -f2; }
is() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }

make_pairs >clean.tsv
"$RAPT" data check clean.tsv --json >check.json
check 'clean pairs: nothing is better left out' is "$(total dropped)" 0
check 'all of them are counted' is "$(total pairs)" 240

{
    head -100 clean.tsv
    echo 'a line without a tab'
    echo
    printf 'only a source\t\n'
    printf 'caf\xe9\tcaf\xe9\n'
    printf 'Lyon\tLyon\n'
    printf 'the cat\tкошка и собака\n'
    sed -n '10,14p' clean.tsv
    printf 'I see\t%s\n' "$(printf 'encore %.0s' {1..30})"
    tail -n +101 clean.tsv
} >faulty.tsv
before=$(cksum faulty.tsv)
"$RAPT" data check faulty.tsv --json >check.json
for expected in 'no_tab 1 101' 'empty_line 1 102' 'empty_side 1 103' 'not_utf8 1 104' 'copied 1 105' 'wrong_script 1 106' \
    'duplicate 5 107' 'length_ratio 1 112'; do
    read -r key lines first <<<"$expected"
    check "$key: $lines, first in line $first" is "$(field "$key" lines) $(field "$key" first_line)" "$lines $first"
done
check 'twelve lines are better left out' is "$(total dropped) $(total left)" '12 240'
check 'the file is as it was' is "$(cksum faulty.tsv)" "$before"
"$RAPT" data check faulty.tsv >table.txt
check 'the table has a row for it' grep -Eq '^no tab +1 +1 +101$' table.txt
check 'the table adds up' grep -Eq '^in all +12, which leaves 240$' table.txt

# Line by line, and without them.
"$RAPT" data check faulty.tsv --lines >lines
printf '%s\n' 101,no_tab 102,empty_line 103,empty_side 104,not_utf8 105,copied 106,wrong_script 1{07,08,09,10,11},duplicate \
    112,length_ratio | tr , '\t' >expected
check '--lines names them, each with why' cmp lines expected
printf 'no tab, caf\xe9\n\tcaf\xe9\nMainz\tMainz\nMainz\tMainz\n' | "$RAPT" data check - --lines >lines
printf '1\tno_tab,not_utf8\n2\tnot_utf8,empty_side\n3\tcopied\n4\tcopied,duplicate\n' >expected
check 'with several reasons in order' cmp lines expected
"$RAPT" data check faulty.tsv --out left.tsv >again.txt
check '--out writes the others' cmp left.tsv clean.tsv
check 'and prints the same' cmp again.txt table.txt
sed 's/$/\r/' faulty.tsv | head -c -2 >dos.tsv
"$RAPT" data check dos.tsv --out left.tsv >again.txt
check 'as they are' cmp left.tsv <(sed 's/$/\r/' clean.tsv | head -c -2)
printf 'a\nb\tc\n\nd\n' >two.en
printf 'A\nB\n\nD\n' >two.fr
"$RAPT" data check two.en:two.fr --out left.en:left.fr >two.txt
check 'two files as recipes name them' grep -q '^two.en and two.fr: 4 lines, 3 pairs$' two.txt
check 'a tab in one of them' grep -Eq '^tab within a side +1 +2$' two.txt
check '--out writes two' cmp left.en <(printf 'a\nb\tc\nd\n')
check 'of as many lines' cmp left.fr <(printf 'A\nB\nD\n')
cp clean.tsv odd:name
check 'a name with a colon is a file where there is one' "$RAPT" data check odd:name
refused 1 'cannot write nowhere/b' 'a folder that is not there' "$RAPT" data check two.en two.fr --out new:nowhere/b
check 'neither file appears' test ! -e new
refused 2 'two input files need two output files' 'one name for two files' "$RAPT" data check two.en two.fr --out left
refused 2 'both output files are left' 'the same name for both' "$RAPT" data check two.en two.fr --out left:left
refused 2 '--json or --lines, not both' '--json with --lines' "$RAPT" data check two.en two.fr --json --lines

# What others count: repeated lines, sources with several targets, words.
pairs=$SOURCE/data/en-fr.tsv
cat "$pairs" clean.tsv clean.tsv >several.tsv
cut -f1 clean.tsv | sed 's/$/\tpas encore traduit/' >>several.tsv
"$RAPT" data check several.tsv --json >check.json
check 'duplicates as sort counts them' is "$(field duplicate lines)" "$(sort several.tsv | uniq -d -c | awk '{n += $1 - 1} END {print n}')"
check 'other targets as awk counts them' is "$(field other_target lines)" \
    "$(awk -F'\t' '!seen[$0]++ && known[$1]++ {n++} END {print n}' several.tsv)"
cut -f1 several.tsv >several.en
cut -f2 several.tsv >several.fr
"$RAPT" data check several.en several.fr --json | sed 's/"files": [^]]*]//' >two.json
sed -i 's/"files": [^]]*]//' check.json
check 'two files say the same as one' cmp check.json two.json
"$RAPT" data check - several.fr --json <several.en | sed 's/"files": [^]]*]//' >standard.json
check 'one of them can be standard input' cmp check.json standard.json
check 'the longest source as awk has it' is "$(grep -o '"max": [0-9]*' check.json | head -1)" \
    "\"max\": $(awk '{m = NF > m ? NF : m} END {print m}' several.en)"

"$RAPT" data check faulty.tsv --ratio 100 --json >check.json
check '--ratio 100: no length is odd' is "$(field length_ratio lines)" 0
"$RAPT" data check faulty.tsv --margin 1000 --json >check.json
check '--margin 1000: no length is odd' is "$(field length_ratio lines)" 0
for i in $(seq 100); do printf 'a sentence of some thirty letters %s\tune phrase de trente lettres ou plus %s\n' $i $i; done >one-bad.tsv
printf '%015000d\tx\n' 0 >>one-bad.tsv
"$RAPT" data check one-bad.tsv --json >check.json 2>check.err
check 'one line of 15,000 characters against one: it is the only one that is odd' is "$(field length_ratio lines)" 1
check 'no warning of many defects' test ! -s check.err
"$RAPT" data check one-bad.tsv --out kept.tsv >/dev/null
check 'all others are kept' cmp kept.tsv <(head -100 one-bad.tsv)
{ head -70 one-bad.tsv; yes "$(head -1 one-bad.tsv)" | head -20; } >many.tsv
"$RAPT" data check many.tsv 2>check.err >/dev/null
check 'more than a fifth with defects: a warning' grep -q 'many.tsv: warning: 20 of 90 lines are better left out' check.err
head -70 one-bad.tsv | cat - <(yes "$(head -1 one-bad.tsv)" | head -17) >few.tsv
"$RAPT" data check few.tsv 2>check.err >/dev/null
check 'a fifth without one' test ! -s check.err
: >empty.tsv
check 'an empty file has no lines' "$RAPT" data check empty.tsv

head -3 several.fr >short.fr
refused 1 'several.en has 6636 lines, but short.fr has 3' 'files of unlike length' "$RAPT" data check several.en short.fr
refused 1 'cannot read nowhere.tsv' 'a missing file' "$RAPT" data check nowhere.tsv
refused 2 'missing operand: PAIRS' 'no file' "$RAPT" data check
refused 2 'takes one file or two' 'three files' "$RAPT" data check a b c
refused 2 'only one of the files' 'standard input twice' "$RAPT" data check - -
refused 2 'ratio' 'a ratio below 1' "$RAPT" data check clean.tsv --ratio 0.5
refused 2 'the first operand must be .check.' 'no part' "$RAPT" data

# ---- conversations -------------------------------------------------------------------------------------------------
cat >talks.jsonl <<'JSON'
{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
{"messages": [{"role": "User", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}

{"conversations": [{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "Me"}, {"from": "human", "value": "And?"}, {"from": "gpt", "value": "You"}]}
{"prompt": "2 + 2 =", "completion": " 4"}
{"text": "Plain\ntext."}
{"text": "a", "text": "b"}
{"messages": [{"role": "user", "content": "Hi"}]}
{"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": "Hello"}]}
not JSON
{"question": "?"}
JSON
"$RAPT" data check talks.jsonl --json >check.json
check 'lines with conversations and without' is "$(total lines) $(total dropped) $(total left)" '10 6 4'
check 'their forms' is "$(total messages) $(total completion) $(total text)" '2 1 1'
for fault in unknown_role=2 duplicate_key=7 no_answer=8 empty_turn=9 not_json=10 unknown_form=11; do
    check "${fault%=*}" is "$(field "${fault%=*}" lines) $(field "${fault%=*}" first_line)" "1 ${fault#*=}"
done
check 'nothing too deep' is "$(field too_deep lines)" 0
"$RAPT" data check talks.jsonl --lines >lines
check 'the numbers of bad lines' is "$(cut -f1 lines | tr '\n' ' ')" '2 7 8 9 10 11 '
check 'each with its reason' grep -qx $'2\tunknown_role\tmessage 1: the role "User" is unknown' lines
"$RAPT" data check - --conversations --lines <talks.jsonl >again
check 'the same from standard input' cmp lines again
cp -r "$SOURCE/tests/golden/hub/llama" m
printf '{%% for m in messages %%}<|begin|>{{ m.role }}\n{{ m.content }}<|end|>{%% endfor %%}' >m/chat_template.jinja
printf '{%% if add_generation_prompt %%}<|begin|>assistant\n{%% endif %%}' >>m/chat_template.jinja
"$RAPT" data check talks.jsonl --model m --show 4 >shown
cat >wanted <<'TEXT'
line 1: 26 tokens, 6 carry loss
  - <|begin|>user\nHi<|end|><|begin|>assistant\n
  + Hello<|end|>
line 4: 51 tokens, 7 carry loss
  - <|begin|>user\nWho?<|end|><|begin|>assistant\n
  + Me<|end|>
  - <|begin|>user\nAnd?<|end|><|begin|>assistant\n
  + You<|end|>
line 5: 10 tokens, 3 carry loss
  - 2 + 2 =
  +  4<|end|>
line 6: 12 tokens, 11 carry loss
  - P
  + lain\ntext.<|end|>
TEXT
check 'which tokens carry loss' cmp <(head -14 shown) wanted
check 'how many' grep -qx '99 tokens, 27 of them carry loss; the longest conversation has 51' shown

# nll FILE OPTION...: the loss of a file, summed over its tokens. A completion's is the whole text's without the prompt's.
nll() { "$RAPT" eval m "$@" --json | awk -F'[ ,]+' '{ for (i = 1; i <= NF; i++) v[$i] = $(i + 1) } END { printf "%.3f\n", v["\"loss\":"] * v["\"tokens\":"] }'; }
printf '{"prompt": "2 + 2 =", "completion": " 4"}\n' >sum.jsonl
printf '2 + 2 = 4<|end|>' >sum.txt
printf '2 + 2 =' >prompt.txt
check 'rapt eval: the loss of a completion' is "$(nll sum.jsonl)" "$(awk "BEGIN { printf \"%.3f\", $(nll sum.txt) - $(nll prompt.txt) }")"
check 'rapt eval: of all tokens' is "$(nll sum.jsonl --loss-on all)" "$(nll sum.txt)"
cp sum.jsonl sum.data
check 'rapt eval: of a file with another name' is "$(nll sum.data --conversations)" "$(nll sum.jsonl)"
"$RAPT" eval m sum.jsonl --weights bf16 --compare >compared
check 'rapt eval --compare on conversations' grep -q '^fp32: loss ' compared
"$RAPT" eval m sum.jsonl >shown
check 'rapt eval says how many tokens count' grep -qx 'sum.jsonl: 1 conversation, 3 tokens with loss' shown
refused 1 'talks.jsonl:2: message 1: the role' 'rapt eval: a bad line' "$RAPT" eval m talks.jsonl
refused 2 '--loss-on is for conversations' 'rapt eval: a text has no answers' "$RAPT" eval m sum.txt --loss-on all
"$RAPT" eval m <(head -1 talks.jsonl) sum.jsonl --conversations --context 20 2>warned >shown
check 'rapt eval: what is cut' grep -q 'warning: 1 conversation is cut at the context, and 0 left out' warned
echo '{{ messages | length }}' >>m/chat_template.jinja
"$RAPT" data check talks.jsonl --model m --json >check.json
check 'a template that cannot mark answers' is "$(field not_encoded lines) $(field not_encoded first_line)" '2 1'
refused 1 'cannot read none.jsonl' 'no such file' "$RAPT" data check none.jsonl
# ---- preferences ---------------------------------------------------------------------------------------------------
cat >pairs.jsonl <<'JSON'
{"prompt": [{"role": "user", "content": "Hi"}], "chosen": [{"role": "assistant", "content": "Hello"}], "rejected": [{"role": "assistant", "content": "Go"}]}
{"prompt": "2 + 2 =", "chosen": " 4", "rejected": " 5"}
{"chosen": "same", "rejected": "same"}
{"chosen": [{"role": "user", "content": "a"}], "rejected": [{"role": "user", "content": "b"}]}
JSON
"$RAPT" data check pairs.jsonl --json >check.json
check 'preferences: lines, forms' is "$(total lines) $(total dropped) $(total left) $(total messages) $(total texts)" '4 2 2 1 1'
check 'the same answers' is "$(field same_answers lines) $(field same_answers first_line)" '1 3'
check 'no answer' is "$(field no_answer lines) $(field no_answer first_line)" '1 4'
cp -r "$SOURCE/tests/golden/hub/llama" plain
printf '{%% for m in messages %%}<|begin|>{{ m.role }}\n{{ m.content }}<|end|>{%% endfor %%}' >plain/chat_template.jinja
printf '{%% if add_generation_prompt %%}<|begin|>assistant\n{%% endif %%}' >>plain/chat_template.jinja
"$RAPT" data check pairs.jsonl --model plain --show 1 >shown
cat >wanted <<'TEXT'
line 1, chosen: 26 tokens, 6 carry loss
  - <|begin|>user\nHi<|end|><|begin|>assistant\n
  + Hello<|end|>
line 1, rejected: 23 tokens, 3 carry loss
  - <|begin|>user\nHi<|end|><|begin|>assistant\n
  + Go<|end|>
TEXT
check 'both answers with the tokens that carry loss' cmp wanted <(head -6 shown)
check 'the longest' grep -q '^69 tokens, 15 of them carry loss; the longest answer with its prompt has 26$' shown
check 'they are counted as preferences' grep -q '^pairs.jsonl: 4 lines, 2 preferences$' shown

refused 2 'are for sentence pairs' '--out with conversations' "$RAPT" data check talks.jsonl --out left
refused 2 '--model is for conversations' '--model with pairs' "$RAPT" data check clean.tsv --model m
refused 2 'conversations are one file: check each alone' 'two files of conversations' "$RAPT" data check talks.jsonl talks.jsonl
refused 2 '--show or --json, not both' '--show with --json' "$RAPT" data check talks.jsonl --model m --show 1 --json
refused 2 '--lines or --show, not both' '--show with --lines' "$RAPT" data check talks.jsonl --model m --show 1 --lines
printf ' \n\n' >blank.jsonl
refused 1 'blank.jsonl: the file has only blank lines' 'blank lines alone' "$RAPT" data check blank.jsonl
refused 2 'needs --model' '--show without a model' "$RAPT" data check talks.jsonl --show 1
finish
