#!/bin/bash
# tests/cli/check_filter.sh: training with data.filter is training on the file that `rapt data check --out` writes, and counts what it
# leaves out as that does.
# labels: sanitized-late
. "$(dirname "$0")/lib.sh"
make_pairs >clean.tsv
{
    head -100 clean.tsv
    printf 'a line without a tab\n\nonly a source\t\n'
    printf 'caf\xe9\tcaf\xe9\n'
    printf 'Lyon\tLyon\nthe cat\tкошка и собака\n'
    sed -n '10,14p' clean.tsv
    printf 'I see\t%s\n' "$(printf 'encore %.0s' {1..30})"
    tail -n +101 clean.tsv
} >faulty.tsv
grep -av -e 'without a tab' -e '^caf' faulty.tsv >lines.tsv # of what training reads as it is
cut -f1 lines.tsv >faulty.en
cut -f2 lines.tsv >faulty.fr
make_recipe | sed 's/^  steps: 120/  steps: 25/; s/report_every: .*/report_every: 5/' >tiny.yaml
train_on() { "$RAPT" train tiny.yaml --quiet --out "$@" || fail "trains $*"; }

# The elements of a model, without the header, which names the run; and the reports.
elements() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1/model.safetensors" | tr -d ' '))) "$1/model.safetensors"; }
losses() { grep -o '"step": [0-9]*\|"[a-z_]*loss": [0-9.]*' "$1/train.jsonl"; }
same_training() {
    cmp <(elements "$1") <(elements "$2") && diff <(losses "$1") <(losses "$2") &&
        cmp "$1/source.tokenizer.json" "$2/source.tokenizer.json" && cmp "$1/validation.tsv" "$2/validation.tsv"
}

# like NAME FILE RULES OPTION...: FILE filtered by RULES trains as what `rapt data check` leaves of it.
like() {
    local name=$1 file=$2 rules=$3 left=left.tsv
    shift 3
    [[ $file != *:* ]] || left=left.en:left.fr
    "$RAPT" data check "$file" --rules "$rules" --out "$left" "${@/#data.filter./--}" >/dev/null || fail "$name: checks"
    train_on filtered --set data.pairs="$file" --set data.filter.rules="$rules" "${@/#/--set=}"
    train_on plain --set data.pairs="$left"
    check "$name" same_training filtered plain
    rm -r filtered plain
}
like 'all rules' faulty.tsv all
like 'two rules' lines.tsv 'duplicate, length_ratio'
like 'two files' faulty.en:faulty.fr all
like 'another ratio' lines.tsv length_ratio data.filter.ratio=1.2 data.filter.margin=2
sed 's/$/\r/; 1s/^/\xef\xbb\xbf/' faulty.tsv | head -c -2 >dos.tsv
like 'a byte order mark, CRLF, no end of the last line' dos.tsv all

"$RAPT" train tiny.yaml --out shown --max-steps 1 --set data.pairs=faulty.tsv --set data.filter.rules=all 2>shown.txt
expected='faulty.tsv: 12 of 252 lines left out: empty_line 1, no_tab 1, not_utf8 1, empty_side 1, copied 1, duplicate 5, '
expected+='wrong_script 1, length_ratio 1'
check 'rapt train counts by rule' grep -qx "filter: $expected" shown.txt
"$RAPT" info tiny.yaml --set data.pairs=faulty.tsv --set data.filter.rules=all >info.txt
check 'so does rapt info' grep -qx "filter        $expected" info.txt
"$RAPT" info tiny.yaml --set data.pairs=faulty.tsv --set data.filter.rules=all --json | tr -d ' \n' >info.json
"$RAPT" data check faulty.tsv --json >check.json
news() { tr -d ' \n' <check.json | grep -o '"drop":{.*},"dropped"' | grep -o '"[a-z_0-9]*":{"lines":[0-9]*,"new":[0-9]*' |
    sed 's/:{"lines":[0-9]*,"new"//' | paste -sd, -; }
check 'with the numbers of rapt data check' grep -qF "\"left_out\":{$(news)}" info.json
"$RAPT" data check faulty.tsv --rules duplicate,copied >table.txt
check 'a table of these rules alone' test "$(grep -c -e '^target is the source' -e '^pair was there' table.txt) \
$(grep -c '^no tab' table.txt)" = '2 0'
check 'which count alone' grep -Eq '^in all +6, which leaves 246$' table.txt

printf '%s\n' 'a line' 'one	eins' 'two	zwei' 'one	eins' 'no tab' >numbers.tsv
refused 1 'numbers.tsv:1: no tab' 'faults of other rules are errors' \
    "$RAPT" train tiny.yaml --out no --quiet --set data.pairs=numbers.tsv --set data.filter.rules=duplicate
sed 1d numbers.tsv >numbers2.tsv
refused 1 'numbers2.tsv:4: no tab' 'with the line of the file' \
    "$RAPT" train tiny.yaml --out no --quiet --set data.pairs=numbers2.tsv --set data.filter.rules=duplicate
printf 'one\teins\none\teins\ncaf\xe9\tcaf\n' >latin.tsv
refused 1 'latin.tsv:3: byte 4 of the line .0xe9. is not valid UTF-8' 'of bytes, too' \
    "$RAPT" train tiny.yaml --out no --quiet --set data.pairs=latin.tsv --set data.filter.rules=duplicate
refused 1 'data.filter.rules has "copies"; there are all, or empty_line, no_tab, .*, length_ratio' 'unknown rules' \
    "$RAPT" train tiny.yaml --out no --quiet --set 'data.filter.rules=duplicate, copies'
refused 2 "'copies' is none; there are all, or empty_line" 'of rapt data check, too' "$RAPT" data check clean.tsv --rules copies
refused 1 'data.filter.ratio is 2; it needs data.filter.rules' 'a ratio without rules' \
    "$RAPT" train tiny.yaml --out no --quiet --set data.filter.ratio=2
printf 'a\ta\nb\tb\n' >copies.tsv
refused 1 'copies.tsv: data.filter leaves out all of its 2 lines' 'nothing left' \
    "$RAPT" train tiny.yaml --out no --quiet --set data.pairs=copies.tsv --set data.filter.rules=copied
iconv -f UTF-8 -t UTF-16LE clean.tsv >wide.tsv
refused 1 'wide.tsv: it is UTF-16, not UTF-8' 'another encoding is one fault' \
    "$RAPT" train tiny.yaml --out no --quiet --set data.pairs=wide.tsv --set data.filter.rules=all
head -20 faulty.en >short.en
refused 1 'short.en has 20 lines, but faulty.fr has' 'two files of unlike many lines' \
    "$RAPT" train tiny.yaml --out no --quiet --set data.pairs=short.en:faulty.fr --set data.filter.rules=all
check 'no folder is left' test ! -e no
finish
