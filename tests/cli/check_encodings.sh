#!/usr/bin/env bash
# tests/cli/check_encodings.sh: what is no UTF-8 text is refused by name wherever a text is read, and gzip is read as what is in it.
. "$(dirname "$0")/lib.sh"

for i in $(seq 300); do echo "the end of line number $i is here"; done >plain.txt
gzip -k plain.txt
for encoding in UTF-16 UTF-16LE UTF-16BE UTF-32 UTF-32LE; do iconv -f UTF-8 -t $encoding plain.txt >$encoding.txt; done
{ head -2 plain.txt; printf 'caf\351 au lait\n'; tail -50 plain.txt; } >latin.txt
head -c 700 plain.txt.gz >cut.gz
{ cat plain.txt.gz; echo more; } >more.gz
{ gzip -c <(head -100 plain.txt); gzip -c <(tail -n +101 plain.txt); } >two.gz
head -c 100 /dev/urandom | { printf '\x28\xb5\x2f\xfd'; cat; } >z.zst
sed 's/.*/&\t&/' plain.txt >pairs.tsv
gzip -k pairs.tsv
iconv -f UTF-8 -t UTF-16 pairs.tsv >utf16.tsv
cat >lm.yaml <<'YAML'
task: language_model
data: {text: plain.txt, validation_fraction: 0}
model: {context: 8, layers: 1, d_model: 16}
train: {steps: 2, batch: 2}
YAML
cat >pairs.yaml <<'YAML'
data: {pairs: pairs.tsv}
model: {layers: 1, d_model: 16}
train: {steps: 2, batch: 2}
YAML
lm() { "$RAPT" train lm.yaml --quiet --set data.text="$1" --out "$2"; }
check 'a language model' lm plain.txt lm
check 'a translator' "$RAPT" train pairs.yaml --quiet --out translator

# ---- gzip ------------------------------------------------------------------------------------------------------------------
same() { lm "$1" "lm-$1" && cmp lm/model.safetensors "lm-$1/model.safetensors" && cmp lm/tokenizer.json "lm-$1/tokenizer.json"; }
check 'train: a text in gzip gives the same model' same plain.txt.gz
check 'train: gzip of two members too' same two.gz
check 'tokenizer train: the same tokenizer' "$RAPT" tokenizer train plain.txt.gz -o a.json --vocab-size 300 --quiet
"$RAPT" tokenizer train plain.txt -o b.json --vocab-size 300 --quiet
check 'tokenizer train: indeed' cmp a.json b.json
check 'tokenizer encode: the same ids' cmp <("$RAPT" tokenizer encode b.json plain.txt) <("$RAPT" tokenizer encode b.json plain.txt.gz)
check 'tokenizer encode: lines of a pipe' cmp <("$RAPT" tokenizer encode b.json plain.txt --lines) \
    <("$RAPT" tokenizer encode b.json --lines <plain.txt.gz)
head -3 plain.txt | gzip >prompt.gz
check 'generate: the same prompt' cmp <("$RAPT" generate lm --prompt-file <(head -3 plain.txt) --max-tokens 9 --greedy 2>&1 | grep -v tokens/s) \
    <("$RAPT" generate lm --prompt-file prompt.gz --max-tokens 9 --greedy 2>&1 | grep -v tokens/s)
check 'eval: the same loss' diff <("$RAPT" eval lm plain.txt --json | sed 's/"data": "[^"]*"//') \
    <("$RAPT" eval lm plain.txt.gz --json | sed 's/"data": "[^"]*"//')
check 'train: pairs in gzip give the same model' "$RAPT" train pairs.yaml --quiet --set data.pairs=pairs.tsv.gz --out packed
check 'train: indeed' cmp translator/model.safetensors packed/model.safetensors
check 'data check: the same counts' diff <("$RAPT" data check pairs.tsv | tail -n +2) <("$RAPT" data check pairs.tsv.gz | tail -n +2)
check 'translate: the same translations' diff <("$RAPT" translate translator plain.txt 2>&1) <("$RAPT" translate translator plain.txt.gz 2>&1)
check 'translate: from a pipe, byte by byte' diff <("$RAPT" translate translator <plain.txt 2>&1) \
    <(python3 -c 'import sys
for b in open("plain.txt.gz", "rb").read(): sys.stdout.buffer.write(bytes([b])); sys.stdout.flush()' | "$RAPT" translate translator 2>&1)
mkdir folder
cp plain.txt.gz folder/a.gz
cp plain.txt folder/b
check 'train: a folder with gzip in it' lm folder of-folder
check 'it is what the files hold' cmp of-folder/text.txt \
    <(cat plain.txt; printf '<|endoftext|>'; cat plain.txt; printf '<|endoftext|>')
head -c 400000000 /dev/zero | tr '\0' a | gzip -1 >endless.gz # 400 MB of 1.8
refused 1 'endless.gz:1: the line is longer than [0-9]+ bytes' 'translate: what is small and expands to one line without end' \
    "$RAPT" translate translator endless.gz

# ---- what is refused -------------------------------------------------------------------------------------------------------
# everywhere PATTERN FILE PAIRS: by all who read texts, and by all who read lines.
everywhere() {
    local pattern=$1 file=$2
    refused 1 "$file: $pattern" "train: $file" "$RAPT" train lm.yaml --quiet --set data.text="$file" --out no
    refused 1 "$file: $pattern" "train, characters: $file" "$RAPT" train lm.yaml --quiet --set data.text="$file" \
        --set tokenizer.type=characters --out no
    refused 1 "$file: $pattern" "train, a list: $file" "$RAPT" train lm.yaml --quiet --set data.text="plain.txt:$file" --out no
    refused 1 "$file: $pattern" "tokenizer train: $file" "$RAPT" tokenizer train "$file" -o no.json
    refused 1 "$file: $pattern" "eval: $file" "$RAPT" eval lm "$file"
}
for encoding in UTF-16 UTF-16LE UTF-16BE UTF-32 UTF-32LE; do
    everywhere "it is ${encoding:0:6}, not UTF-8: iconv -f $encoding" $encoding.txt
    check "iconv as it says: $encoding" cmp plain.txt <(iconv -f $encoding -t UTF-8 $encoding.txt)
    refused 1 "it is ${encoding:0:6}, not UTF-8: iconv" "translate: $encoding" "$RAPT" translate translator $encoding.txt
done
everywhere 'byte [0-9]+: not UTF-8 \(line 3\)' latin.txt
everywhere 'it is zstd' z.zst
everywhere 'the gzip file is cut off' cut.gz
everywhere 'something follows' more.gz
mkdir temporary
export TMPDIR=$PWD/temporary
everywhere 'it expands to more than 100 times its size' endless.gz
for command in 'train pairs.yaml --quiet --out no --set data.pairs=endless.gz' 'data check endless.gz' 'eval translator endless.gz' \
    'train pairs.yaml --quiet --out no --set train.vectors=endless.gz' 'tokenizer encode b.json endless.gz' \
    'generate lm --prompt-file endless.gz'; do
    refused 1 'endless.gz: it expands to more than 100 times its size' "$command" "$RAPT" $command
done
check 'no temporary file stays' test -z "$(ls -A temporary)"
for command in 'train pairs.yaml --quiet --out no --set data.pairs=utf16.tsv' 'data check utf16.tsv' 'eval translator utf16.tsv'; do
    refused 1 'utf16.tsv: it is UTF-16, not UTF-8: iconv -f UTF-16 -t UTF-8' "$command" "$RAPT" $command
done
check 'nothing is left of all that' test ! -e no -a ! -e no.json
finish
