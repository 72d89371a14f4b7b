#!/usr/bin/env bash
# tests/cli/check_cut_files.sh: a token file that somebody cuts off while training has it mapped: a message, status 1, and
# checkpoints that a run resumes from.
# labels: not-emulated
. "$(dirname "$0")/lib.sh"

make_text >text.txt
for _ in {1..5}; do cat text.txt; done >long.txt
mv long.txt text.txt
make_text_recipe characters >lm.yaml
cut=$'cut\xc2\x9b\xe2\x80\xae' # with a control character, and one that changes the direction of text

"$RAPT" train lm.yaml --quiet --out whole >/dev/null 2>&1
"$RAPT" train lm.yaml --quiet --out "$cut" --set train.steps=10000000 --set train.report_every=1000 2>err &
run=$!
check 'it trains' wait_for_step "$cut" 20
truncate -s 100 "$cut/text.tokens"
for _ in {1..500}; do
    kill -0 "$run" 2>/dev/null || break
    sleep 0.02
done
kill "$run" 2>/dev/null # only where it has not ended by itself, which the status tells
wait "$run"
status=$?
check 'status 1' test "$status" = 1
check 'one line that names the file, or its folder, fit for a terminal' \
    grep -Eqx "rapt: ($WORK/cut[?]{2}/text.tokens|a file in $WORK/cut[?]{2}) was cut off while it was read" err
check 'and nothing else' test "$(wc -l <err)" = 1
check 'the model loads' "$RAPT" info "$cut"
step=$(newest "$cut")
check 'it is resumed, and the tokens are made again' "$RAPT" train lm.yaml --quiet --out "$cut" --resume --set train.steps=10000000 \
    --set train.report_every=1000 --max-steps $((step + 1))
check 'as they were' cmp whole/text.tokens "$cut/text.tokens"
finish
