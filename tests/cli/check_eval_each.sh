#!/usr/bin/env bash
# tests/cli/check_eval_each.sh: `rapt eval --each`: a line for each line of the file; sums, means and tokens belong together, add up
# to the loss of the file to the bit, and do not depend on what stands beside a pair.
. "$(dirname "$0")/lib.sh"
make_pairs >pairs.tsv
make_recipe >tiny.yaml
"$RAPT" train tiny.yaml --quiet --out model --set train.steps=30 || exit 1
each() { "$RAPT" eval model "$@" --each --quiet; }

# ---- the loss ----------------------------------------------------------------------------------------------------------
# The loss adds up batches of 64 pairs, in double.
cat >add.py <<'PY'
import json, math, sys
nll, tokens, batch = 0.0, 0, []
lines = [json.loads(line) for line in open(sys.argv[1])]
scored = [x for x in lines if x["token_count"]]
for first in range(0, len(scored), 64):
    part = 0.0
    for x in scored[first:first + 64]:
        assert len(x["token_log_probs"]) == len(x["tokens"]["ids"]) == x["token_count"], x
        sum_of = 0.0
        for p in x["token_log_probs"]:
            part -= p
            sum_of += p
        assert x["log_prob"] == sum_of and x["mean_log_prob"] == sum_of / x["token_count"], x
        tokens += x["token_count"]
    nll += part
whole = json.load(open(sys.argv[2]))
assert [x["line"] for x in lines] == list(range(1, len(lines) + 1))
assert (nll / tokens, tokens) == (whole["loss"], whole["tokens"]), (nll / tokens, tokens, whole)
PY
"$RAPT" eval model pairs.tsv --loss-only --json >whole.json
each pairs.tsv --json --tokens >each.json
check 'the lines add up to the loss, to the bit' python3 add.py each.json whole.json
each pairs.tsv >each.txt
check 'a line for each line' test "$(wc -l <each.txt)" = 240
for options in '--threads 1' '--threads 3'; do check "$options" cmp each.txt <(each pairs.tsv $options); done
check 'RAPT_ISA=scalar' cmp each.txt <(RAPT_ISA=scalar each pairs.tsv)
sed -n 77p pairs.tsv >one.tsv
check 'a pair alone' cmp <(sed -n 77p each.txt) <(each one.tsv)
check '--limit' cmp <(head -5 each.txt) <(each pairs.tsv --limit 5)
cut -f1 pairs.tsv >source; cut -f2 pairs.tsv >target
check 'two files' cmp each.txt <(each source:target)
gzip -k pairs.tsv
check 'gzip' cmp each.txt <(each pairs.tsv.gz)
# Forced as a prefix, the target's tokens have the log-probabilities that beam search computes from a cache.
"$RAPT" translate model --quiet --json --tokens --text "$(cut -f1 one.tsv)" --prefix "$(cut -f2 one.tsv)" >forced.json
each one.tsv --json --tokens >alone.json
check 'tokens as translate has them for a forced translation' python3 - <<'PY'
import json
forced, alone = (json.load(open(f + ".json")) for f in ("forced", "alone"))
ours, theirs = alone["token_log_probs"][:-1], forced["hypotheses"][0]["token_log_probs"]
assert alone["tokens"]["tokens"][:-1] == forced["hypotheses"][0]["tokens"]["tokens"][:len(ours)], (alone, forced)
assert all(abs(a - b) < 1e-4 for a, b in zip(ours, theirs)), (ours, theirs)
PY

# ---- lines without a score -------------------------------------------------------------------------------------------------
{ printf '\n'; head -1 pairs.tsv; printf 'only this\t\n\tonly that\n\n'; sed -n 2p pairs.tsv; printf '\n\n'; } >holes.tsv
each holes.tsv >holes.txt
check 'a line of a file without a pair: nan' cmp holes.txt \
    <(printf 'nan\tnan\t0\n'; head -1 each.txt; printf 'nan\tnan\t0\n%.0s' 1 2 3; sed -n 2p each.txt; printf 'nan\tnan\t0\n%.0s' 1 2)
check 'so many columns with --tokens' test "$(each holes.tsv --tokens | awk -F'\t' '{ print NF }' | sort -u)" = 5
check 'JSON: null' test "$(each holes.tsv --json --tokens | sed -n 3p)" = \
    '{"line":3,"log_prob":null,"mean_log_prob":null,"token_count":0,"tokens":{"ids":[],"tokens":[]},"token_log_probs":[]}'
printf 'I see the sea.\t\n' >none.tsv
check 'a limit beyond the pairs: all lines' cmp holes.txt <(each holes.tsv --limit 100)
printf '\n\n' >blank.tsv
: >zero.tsv
check 'a file of empty lines' test "$(each blank.tsv)" = "$(printf 'nan\tnan\t0\nnan\tnan\t0')"
check 'two files of empty lines' test "$(each blank.tsv:blank.tsv --json | tail -1)" = \
    '{"line":2,"log_prob":null,"mean_log_prob":null,"token_count":0}'
check 'an empty file: no line' cmp zero.tsv <(each zero.tsv)
refused 1 'blank.tsv: the file is empty' 'without --each' "$RAPT" eval model blank.tsv
check 'no pair at all' test "$(each none.tsv)" = "$(printf 'nan\tnan\t0')"
head -3 target >short
refused 1 'source:short: 240 and 3 lines; the files do not belong together' 'files of other lengths' "$RAPT" eval model source:short --each
refused 2 'each takes one file' 'two files of pairs' "$RAPT" eval model pairs.tsv one.tsv --each
refused 2 'each .*compare' 'with --compare' "$RAPT" eval model pairs.tsv --each --compare
refused 2 'which --each does not compute' 'with an option of BLEU' "$RAPT" eval model pairs.tsv --each --lowercase
refused 2 'tokens .*each' '--tokens alone' "$RAPT" eval model pairs.tsv --tokens
finish
