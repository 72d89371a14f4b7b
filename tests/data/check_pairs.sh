#!/bin/bash
# tests/data/check_pairs.sh: the pairs that come with rapt are what their scripts write, which check the sentences themselves;
# what data/README.md says of them, counted here without the scripts.
# labels: not-sanitized late
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
tally() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "ok    $2"; else failed=$((failed + 1)); echo "FAIL  $2"; fi; }
for pair in fr: zh:_zh; do
    language=${pair%%:*} file=$root/data/en-${pair%%:*}.tsv
    PYTHONDONTWRITEBYTECODE=1 python3 "$root/tools/make_pairs${pair#*:}.py" -o "$scratch/pairs.tsv" >"$scratch/out" &&
        cmp "$scratch/pairs.tsv" "$file"
    tally $? "en-$language.tsv is what its script writes"
    count=$(wc -l <"$file")
    grep -q "^\`en-$language.tsv\` holds ${count%???},${count: -3} " "$root/data/README.md"
    tally $? "the number of pairs in data/README.md: $count"
    ! awk -F'\t' 'NF != 2 || seen[$1]++' "$file" | grep .
    tally $? 'two sentences a line, no English one twice'
done
# Chinese: only Han characters and full-width punctuation, which ends with the same punctuation as the English sentence.
LC_ALL=C.UTF-8 grep -cvP '^[A-Z][A-Za-z\x27, -]*[.?!]\t[\x{4e00}-\x{9fff}，]+[。？！]$' "$root/data/en-zh.tsv" | grep -qx 0
tally $? 'the form of Chinese sentences'
! cut -f1 "$root/data/en-zh.tsv" | grep -Fx -f "$root/data/try-zh.en" && [ "$(wc -l <"$root/data/try-zh.en")" = 12 ]
tally $? 'twelve sentences to try are not among the pairs'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
