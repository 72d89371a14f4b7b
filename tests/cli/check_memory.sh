#!/usr/bin/env bash
# tests/cli/check_memory.sh: rapt train knows what memory it will take: what a limit of the process cannot hold is refused at
# once, with the largest batch that fits, which then trains, and one more of which is refused. Threads and quotas.
# labels: not-emulated
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

make_text >text.txt
make_text_recipe characters >tiny.yaml
make_pairs >pairs.tsv
make_recipe >pairs.yaml

# ---- what the system gives
"$RAPT" info >info
check 'info says the CPUs' grep -Eq '^cpus +[0-9]+ for this process' info
check 'info says the memory' grep -Eq '^memory +.*[0-9.]+ .B' info
check 'as many threads as CPUs' test "$(sed -n 's/^cpus *\([0-9]*\) .*/\1/p' info)" = "$(sed -n 's/^threads *\([0-9]*\) .*/\1/p' info)"
few=("$RAPT" train tiny.yaml --max-steps 1 --out few)
taskset -c 0 "${few[@]}" --threads 256 >warned 2>&1 # to its end: the next one takes its folder
check 'more threads than CPUs: a warning' grep -q '^rapt: warning: --threads 256, but this process may use' warned
rm -rf few
check '... none with --quiet' test -z "$(taskset -c 0 "${few[@]}" --threads 256 --quiet 2>&1)"
rm -rf few
check '... none without need' test -z "$("${few[@]}" --threads 1 2>&1 | grep warning)"

[ -z "$SANITIZED" ] || { skip "limits of the address space (sanitizers take terabytes)"; finish; }

# GPT-2's shape with the default batch: minutes and a kill by the kernel, before.
for i in {1..120}; do make_text; done >long.txt
large=("$RAPT" train tiny.yaml --set data.text=long.txt --set model.preset=gpt2 --set model.context=1024 --set train.batch=64
    --max-steps 1 --threads 2 --out large)
limited=(bash -c 'ulimit -v "$0" && exec "$@"') # KIB COMMAND...
refused 1 'this run takes [4-5][0-9]\.[0-9] GB of address space .*ulimit -v.* leaves [0-9.]* GB: train.batch is 64, and at most [0-9]+ fits .*train.accumulate.*model.context.*train.recompute' \
    "a batch that ulimit -v cannot hold" "${limited[@]}" 4000000 "${large[@]}" --quiet
check "... and leaves nothing" test ! -e large
refused 1 'not even train.batch 1 fits: lower model.layers, model.d_model' "a model that ulimit -v cannot hold" "${limited[@]}" 1000000 "${large[@]}" --quiet
"${limited[@]}" 4000000 "${large[@]}" 2>err
check "data, model and memory are told all the same" test "$(grep -Ec '^(data|model|memory): ' err)" = 3

# adds_up NAME COMMAND...: it is refused, and what it takes is no less than its parts together.
adds_up() {
    local name=$1
    shift
    "${limited[@]}" 250000 "$@" 2>err
    check "$name" awk '{
        if (!match($0, /takes [0-9.]+ MB .*scratch [0-9.]+ MB/)) exit 1
        count = split(substr($0, RSTART + 6, RLENGTH - 6), part, /[^0-9.]+/)
        for (i = 2; i < count; i++) sum += part[i]
        exit !(part[1] >= sum)
    }' err
}
wide=("$RAPT" train tiny.yaml --set model.d_model=512 --set model.ffn=2048 --set model.layers=4 --max-steps 1 --threads 2 --quiet)
"${wide[@]}" --out wide
adds_up 'the parts of what is told add up' "${wide[@]}" --set train.batch=16 --out more
adds_up '... where a model is loaded already' "${wide[@]}" --set train.batch=16 --init wide --out more

pairs=("$RAPT" train pairs.yaml --set model.d_model=512 --set model.ffn=2048 --set model.layers=2 --set train.batch=4
    --set train.report_every=1 --max-steps 1 --threads 2 --quiet)
"${pairs[@]}" --out loaded
refused 1 'this run takes .*ulimit -v' 'packed weights that translate count, where a model is loaded already' \
    "${limited[@]}" 500000 "${pairs[@]}" --set train.eval_bleu=true --init loaded --out more
check '... and what they take is enough' "${limited[@]}" 650000 "${pairs[@]}" --set train.eval_bleu=true --init loaded --out more

# fits KIB RECIPE KEY SIZE: what is said to fit, fits, and one more does not.
fits() {
    local kib=$1 recipe=$2 key=$3 size=$4 n
    local run=("$RAPT" train "$recipe" --quiet --threads 2 --max-steps 3 --set train.report_every=1 --set train.checkpoint_every=1)
    "${limited[@]}" "$kib" "${run[@]}" --set "$key=$size" --out m 2>err
    n=$(sed -n "s/.* $key is $size, and at most \([0-9]*\) fits.*/\1/p" err)
    [ -n "$n" ] && [ "$n" -gt 0 ] && [ "$n" -lt "$size" ] || { fail "$recipe: a $key of $size is refused" "$(cat err)"; return; }
    check "$recipe: $key $n fits" "${limited[@]}" "$kib" "${run[@]}" --set "$key=$n" --out m
    refused 1 "$key is $((n + 1)), and at most $n fits" "$recipe: $key $((n + 1)) does not" \
        "${limited[@]}" "$kib" "${run[@]}" --set "$key=$((n + 1))" --out m2
    rm -rf m m2
}
sed -i 's/context: 12/context: 128/' tiny.yaml
fits 100000 tiny.yaml train.batch 4000
for i in {1..40}; do cat pairs.tsv; done >many.tsv
sed -i 's/pairs.tsv/many.tsv/; s/d_model: 16/d_model: 64/' pairs.yaml
fits 100000 pairs.yaml train.batch 9000
sed -i 's/batch: 16/batch_tokens: 200/' pairs.yaml
fits 100000 pairs.yaml train.batch_tokens 200000

finish
