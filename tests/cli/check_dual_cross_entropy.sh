#!/bin/bash
# tests/cli/check_dual_cross_entropy.sh: tools/dual_cross_entropy.sh: scores by the paper's formula, from what `rapt eval --each`
# prints; their order; lines without a pair; and that wrong pairs among shipped ones come last.
# labels: not-sanitized not-raced not-emulated
. "$(dirname "$0")/lib.sh"
export RAPT
dual() { "$SOURCE/tools/dual_cross_entropy.sh" "$@" --quiet; }

# Two small translators of the shipped pairs, and 200 pairs that they do not see. Every tenth of these gets the target of another
# line, every tenth a copy of its source.
head -200 "$SOURCE/data/en-fr.tsv" >clean.tsv
tail -n +201 "$SOURCE/data/en-fr.tsv" >forward.tsv
awk -F'\t' '{ print $2 "\t" $1 }' forward.tsv >backward.tsv
awk -F'\t' -v OFS='\t' '{ source[NR] = $1; target[NR] = $2 }
    END {
        for (i = 1; i <= NR; i++)
            print source[i], i % 10 == 3 ? target[(i + 96) % NR + 1] : i % 10 == 8 ? source[i] : target[i]
    }' clean.tsv >noisy.tsv
diff clean.tsv noisy.tsv | sed -n 's/^> //p' >wrong.tsv
check 'a fifth of the pairs is wrong' test "$(wc -l <wrong.tsv)" = 40
for way in forward backward; do
    "$RAPT" train "$SOURCE/recipes/quickstart.yaml" --quiet --out $way --set data.pairs=$way.tsv --set tokenizer.type=bpe \
        --set tokenizer.vocab_size=800 --set tokenizer.detokenize=none --set tokenizer.capitalize=false \
        --set model.layers=1 --set model.d_model=64 --set train.steps=600 --set train.lr=0.005 --set train.warmup=30 || exit 1
done

# ---- scores ------------------------------------------------------------------------------------------------------------
dual forward backward noisy.tsv >scored.tsv
"$RAPT" eval forward noisy.tsv --each --quiet --json >forward.json
awk -F'\t' '{ print $2 "\t" $1 }' noisy.tsv >swapped.tsv
"$RAPT" eval backward swapped.tsv --each --quiet --json >backward.json
check 'the formula of the paper, lowest first' python3 - <<'PY'
import json
pairs = [line.rstrip("\n") for line in open("noisy.tsv", encoding="utf-8")]
forward, backward = ([json.loads(line)["mean_log_prob"] for line in open(f + ".json")] for f in ("forward", "backward"))
scores = {p: abs(-f + b) + 0.5 * (-f - b) for p, f, b in zip(pairs, forward, backward)}
printed = [line.rstrip("\n").split("\t", 1) for line in open("scored.tsv", encoding="utf-8")]
assert sorted(p for _, p in printed) == sorted(pairs)
assert all(abs(float(s) - scores[p]) < 1e-4 for s, p in printed), [(s, scores[p]) for s, p in printed]
assert [float(s) for s, _ in printed] == sorted(float(s) for s, _ in printed)
PY
check 'options go to rapt eval' cmp scored.tsv <(dual forward backward noisy.tsv --threads 1)
{ printf '\nno target\t\n\tno source\n'; sed -n 1,2p clean.tsv; } >holes.tsv
sed -n 1,2p clean.tsv >two.tsv
check 'lines without a pair are left out' cmp <(dual forward backward holes.tsv) <(dual forward backward two.tsv)

# ---- wrong pairs -------------------------------------------------------------------------------------------------------
found=$(tail -40 scored.tsv | cut -f2- | sort | comm -12 - <(sort wrong.tsv) | wc -l)
echo "      $found of the 40 wrong pairs are among the last 40"
check 'four in five wrong pairs are among the last fifth' test "$found" -ge 32

# ---- failures ----------------------------------------------------------------------------------------------------------
fails() { ! "$SOURCE/tools/dual_cross_entropy.sh" "$@" >out 2>err && [ ! -s out ] && grep -q "$pattern" err; }
pattern='usage: tools/dual_cross_entropy.sh FORWARD' check 'no arguments' fails
pattern=none check 'a model that is not there' fails forward none noisy.tsv
printf 'no tab\n' >tabless.tsv
pattern='tabless.tsv:1: no tab' check 'a line without a tab' fails forward backward tabless.tsv
finish
