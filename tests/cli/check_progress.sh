#!/bin/bash
# tests/cli/check_progress.sh: what `rapt train` shows: on a terminal, where no line is wider than it and every report stays,
# and in a log. How lines get shorter, and what is said of long phases, is in test_progress.c.
# labels: sanitized-late
. "$(dirname "$0")/lib.sh"
make_inputs
{ make_text; echo 日本; } >text.txt
make_text_recipe characters >text.yaml
long=(train tiny.yaml --set train.steps=1500 --set train.report_every=300)
terminal() { python3 "$SOURCE/tests/cli/terminal.py" "$@"; }

# ---- a log -----------------------------------------------------------------------------------------------------------
"$RAPT" "${long[@]}" --out log 2>log.told
check 'a line for each report' test "$(grep -Ec '^epoch [0-9]+/[0-9]+  step [0-9]+/1500  loss [0-9.]+  val_loss [0-9.]+  [0-9]+ tokens/s  [0-9:]+ left$' log.told)" = 5
check 'and nothing between' test "$(grep -c '^epoch' log.told)" = 5
check 'no characters for terminals' test -z "$(tr -d '[:print:]\n' <log.told)"

# ---- a terminal ------------------------------------------------------------------------------------------------------
if python3 -c 'import pty' 2>/dev/null; then
    sed -n 's/^.*\(loss .*val_loss [0-9.]*\).*/\1/p' log.told >wanted
    for columns in 40 80 200; do
        terminal $columns "$RAPT" "${long[@]}" --out wide-$columns >screen
        check "$columns columns: no line that wraps is written over" test $? = 0
        check 'each report stays' cmp wanted <(sed -n 's/^.*\(loss .*val_loss [0-9.]*\).*/\1/p' screen)
        check 'and has a line by itself' test "$(grep -A 1 val_loss screen | grep -c '^~')" = 0
        check 'no live line is left' test "$(grep -c '^[es].* loss' screen)" = 5
    done
    check '200 columns: nothing is left out' test "$(grep -c '^epoch .*/1500 .*val_loss.*tokens/s.*left$' screen)" = 5
    terminal 12 "$RAPT" "${long[@]}" --out wide-12 >screen
    check '12 columns: the loss' test "$(grep -Ecx 'loss [0-9.]+' screen)" = 5
    terminal 100:40 "$RAPT" "${long[@]}" --out wide-100 >screen
    # Under load a second report may be written before the terminal has changed.
    check 'a terminal that becomes narrower' test "$(grep -Ecx 'step [0-9]+  loss [0-9.]+  val_loss [0-9.]+' screen)" -ge 1
    check 'all reports stay' test "$(grep -c '^[es].* loss' screen)" = 5
    COLUMNS=40 terminal 0 "$RAPT" "${long[@]}" --out wide-0 >screen
    check 'one that does not know how wide it is' test "$(grep -Ecx 'step [0-9]+  loss [0-9.]+  val_loss [0-9.]+' screen)" = 5
    terminal 40 "$RAPT" train text.yaml --out wide-text --set train.steps=2000 --set train.report_every=1000 \
        --set train.sample_every=500 --set train.sample_tokens=60 --set train.sample_prompt=日本日本日本日本日本日本日本日本日本日本日本 >screen
    check 'samples of wide characters: no live line is spoiled' test $? = 0
    check 'they show their prompt' test "$(grep -cx '日本日本日本日本日本日本日本日本日本日本' screen)" = 4
    check 'and stand behind whole lines' test "$(grep -c '^---- a sample after step [0-9]*$' screen)" = 4
    terminal 80 env TERM=dumb "$RAPT" "${long[@]}" --out wide-dumb >screen
    check 'TERM=dumb: as in a log' test "$(grep -c '^epoch' screen)" = 5
    terminal 80 "$RAPT" "${long[@]}" --out wide-quiet --quiet >screen
    check '--quiet: nothing' test ! -s <(tr -d '\n' <screen)
    terminal 80 "$RAPT" train tiny.yaml --out wide-bad --set train.lr=10 --set train.weight_decay=1 --set train.steps=3000 \
        --set train.report_every=3000 --set train.clip=0 >screen
    check 'a failure has a line by itself' grep -q '^rapt: ' screen
else
    skip 'terminals: no python3'
fi

# ---- the best model --------------------------------------------------------------------------------------------------
"$RAPT" train tiny.yaml --out worse --set train.lr=3 --set train.clip=0 --set train.patience=2 --set train.report_every=2 2>told
best=$(sed -E 's/.*"step": ([0-9]+).*"val_loss": ([0-9.e+-]+),.*/\2 \1/' worse/train.jsonl | sort -s -g -k 1,1 | head -1)
read -r loss step <<<"$best"
check 'early stopping is called so' grep -qx 'early stopping: val_loss has not fallen for 2 reports (train.patience)' told
check 'and the best model is named' test "$(tail -1 told)" = \
    "model: worse (best validation loss $(printf %.4f "$loss") at step $step in worse/best)"
"$RAPT" train tiny.yaml --out best 2>best.told
check 'where the last one is the best there is nothing to name' test "$(tail -1 best.told)" = 'model: best'

# ---- a sample --------------------------------------------------------------------------------------------------------
"$RAPT" train text.yaml --out sample --set train.sample_every=120 --set train.sample_tokens=9 --set train.sample_prompt='a fox ' 2>told
check 'a sample begins with its prompt' grep -Eqx 'a fox .+' <(sed -n '/^---- a sample after step 120$/,/^----$/p' told)
"$RAPT" train text.yaml --out line --set train.sample_every=120 --set train.sample_tokens=9 2>told
check 'a line break as prompt is not shown' test -n "$(sed -n '/^---- a sample/{n;p}' told)"
finish
