#!/usr/bin/env bash
# tests/cli/check_special_files.sh: pipes and devices where a file is expected are refused at once; texts may come through a
# pipe.
. "$(dirname "$0")/lib.sh"

make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
train pairs --max-steps 20 >/dev/null 2>&1
"$RAPT" train lm.yaml --quiet --out text --max-steps 20 >/dev/null 2>&1

# Nobody writes to these pipes: what waits for them runs into the time limit.
for file in config.json tokenizer.json; do
    rm -rf piped && cp -r text piped && rm "piped/$file" && mkfifo "piped/$file"
    refused 1 "cannot read piped/$file: not a regular file" "a pipe as $file" timeout 10 "$RAPT" eval piped text.txt
done
mkfifo pipe
refused 1 'cannot read pipe: not a regular file' 'a pipe as a recipe' timeout 10 "$RAPT" train pipe --quiet --out out
refused 1 'cannot read pipe: not a regular file' 'a pipe as a rank file' timeout 10 "$RAPT" tokenizer info cl100k_base:pipe
rm -rf piped && cp -r text piped && rm piped/train.jsonl && mkfifo piped/train.jsonl
refused 1 'piped/train.jsonl: not a regular file' 'a pipe as a log' timeout 10 "$RAPT" train lm.yaml --quiet --resume --out piped
rm -rf piped && cp -r text piped && rm piped/recipe.yaml && mkfifo piped/recipe.yaml
check 'a pipe as the recipe of a model' timeout 10 "$RAPT" info piped

refused 1 'cannot read /dev/zero: a device, which may never end' 'eval of a device' timeout 20 "$RAPT" eval text /dev/zero
refused 1 'cannot read /dev/zero: a device, which may never end' 'tokenizer encode of it' timeout 20 \
    "$RAPT" tokenizer encode text /dev/zero
refused 1 'the line is longer than 268435456 bytes' 'translate of it' timeout 20 "$RAPT" translate pairs /dev/zero

cut -f1 pairs.tsv | head -5 >five.txt
check 'translate a pipe' cmp <("$RAPT" translate pairs <(cat five.txt)) <("$RAPT" translate pairs five.txt)
check 'eval a pipe' test -n "$("$RAPT" eval text <(cat text.txt))"
check 'a recipe on standard input' "$RAPT" train - --quiet --out stdin --max-steps 1 <lm.yaml
finish
