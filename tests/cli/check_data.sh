#!/bin/bash
# check_data.sh: `rapt data check` on files with known faults, counted by other programs, and on bad input.
source "$(dirname "$0")/lib.sh"

# field KEY...: a number of the JSON object in check.json: "duplicate new" is drop.duplicate.new.
field() { tr -d ' \n' <check.json | grep -o "\"$1\":{[^}]*}" | grep -o "\"$2\":[0-9a-z.]*" | cut -d: -f2; }
total() { tr -d ' \n' <check.json | grep -o "\"$1\":[0-9]*" | head -1 | cut -d: -f2; }
is() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }

make_pairs >clean.tsv
"$RAPT" data check clean.tsv --json >check.json
check 'clean pairs: nothing would be dropped' is "$(total dropped)" 0
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
check 'twelve lines would be dropped' is "$(total dropped) $(total left)" '12 240'
check 'the file is as it was' is "$(cksum faulty.tsv)" "$before"
"$RAPT" data check faulty.tsv >table.txt
check 'the table has a row for it' grep -Eq '^no tab +1 +1 +101$' table.txt
check 'the table adds up' grep -Eq '^in all +12, which leaves 240$' table.txt

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
: >empty.tsv
check 'an empty file has no lines' "$RAPT" data check empty.tsv

head -3 several.fr >short.fr
refused 1 'several.en has 6636 lines, but short.fr has 3' 'files of unlike length' "$RAPT" data check several.en short.fr
refused 1 'cannot read nowhere.tsv' 'a missing file' "$RAPT" data check nowhere.tsv
refused 2 'wants a file of pairs' 'no file' "$RAPT" data check
refused 2 'takes one file or two' 'three files' "$RAPT" data check a b c
refused 2 'only one of the files' 'standard input twice' "$RAPT" data check - -
refused 2 'ratio' 'a ratio below 1' "$RAPT" data check clean.tsv --ratio 0.5
refused 2 'wants first .check.' 'no part' "$RAPT" data
finish
