#!/bin/bash
# tests/cli/check_bench.sh: every part of `rapt-bench` prints its figure, the peak measured beside it and their ratio; sizes
# that are asked for are the ones that are timed; the scripts of bench/ run. How fast anything is, is no matter here.
# labels: not-sanitized not-emulated late
. "$(dirname "$0")/lib.sh"
small=(--layers 1 --width 64 --vocab 300)

# value KEY: what the JSON objects in .json have there, a line each.
value() { sed -En "s/.*\"$1\": *\"?([^,\"}]*).*/\1/p" .json; }

# bench LINES NAME KEYS COMMAND...: LINES JSON objects, in each of which these keys have numbers above 0.
bench() {
    local lines=$1 name=$2 keys=$3 key
    shift 3
    if ! timeout 300 "$@" >.json 2>.err; then
        fail "$name" "$(head -c 300 .err)"
        return
    fi
    for key in $keys; do
        [ "$(value "$key" | awk '$1 > 0' | wc -l)" = "$lines" ] || { fail "$name: $key" "$(head -c 600 .json)"; return; }
    done
    pass "$name"
}

# is NAME KEY VALUE: the last objects have it.
is() { check "$1" test "$(value "$2" | sort -u | tr '\n' ' ')" = "$3 "; }

# product NAME A B C: in the last object A = B C, except for rounding and the printed digits.
product() {
    check "$1" awk -v a="$(value "$2")" -v b="$(value "$3")" -v c="$(value "$4")" \
        'BEGIN { exit !(a > 0.999 * b * c && a < 1.001 * b * c) }'
}

# ---- train ---------------------------------------------------------------------------------------------------------
train=("$RAPT-bench" train --json --seconds 0.02 --threads 1)
keys='ms p10 p90 fwd bwd steps tok_real_s mflop gflops peak_gflops peak_share rss_mb params'
bench 1 'train a1' "$keys" "${train[@]}"
product 'its share is its rate of the peak' gflops peak_gflops peak_share
product 'its rate is its work by its time' mflop gflops ms
bench 1 'train with sizes' "$keys" "${train[@]}" --case a4n "${small[@]}" --batch 3 --time 20
for size in layers:1 width:64 vocab:300 batch:3 time:20; do is "its ${size%:*}" "${size%:*}" "${size#*:}"; done
# A tied embedding, positions (20 rows need no more than the case's 64), a block of 12 d^2 and two norms, a norm at the end.
is 'its parameters' params $((300 * 64 + 64 * 64 + 12 * 64 * 64 + 2 * 64 + 64))
bench 1 'train sentences with sizes' "$keys" "${train[@]}" --case a2 --layers 1 --width 32 --vocab 100 --batch 4 --time 6
is 'their width' width 32
bench 1 'train in bf16' "$keys" "${train[@]}" --precision bf16
is 'its mode' mode bf16
bench 1 'train with Muon' "$keys optim" "${train[@]}" --case a4n "${small[@]}" --optimizer muon
is 'its optimizer' optimizer muon
bench 1 'train with 8-bit moments' "$keys" "${train[@]}" --case a4n "${small[@]}" --optimizer adam8bit
is 'its optimizer' optimizer adam8bit
bench 1 'train long rows' "$keys" "${train[@]}" --case long --layers 1 --width 64 --time 96
is 'their length' time 96
bench 1 'train longer rows' "$keys" "${train[@]}" --case long --width 64 --time 1024
kept=$(value rss_mb)
bench 1 'train with recomputed blocks' "$keys" "${train[@]}" --case long --width 64 --time 1024 --recompute
is 'it says so' recompute true
check 'they take less memory' test "$(value rss_mb)" -lt "$kept"
"$RAPT-bench" train --seconds 0.02 >.out
check 'train prints the peak beside the figure' grep -Eq '^a1: .* GFLOP/s, [0-9]+ % of the [0-9.]+ that this machine computes' .out

# ---- decode --------------------------------------------------------------------------------------------------------
decode=("$RAPT-bench" decode --json --seconds 0.02)
keys='batch tok_s ms_token step_ms p10 p90 prompt_ms weights_gb gb_s read_gb_s read_best_gb_s read_share rss_mb threads'
bench 2 'decode, one row and eight' "$keys" "${decode[@]}" "${small[@]}" --threads 2
is 'their numbers' batch '1 8'
bench 1 'decode three rows' "$keys" "${decode[@]}" "${small[@]}" --threads 1 --batch 3 --time 40
is 'of as many new tokens as were left' new 8
product 'their share is their rate of the machine' gb_s read_gb_s read_share
check 'which is never above 1' awk -v a="$(value read_share)" 'BEGIN { exit !(a > 0 && a <= 1) }'
# All matrices, 4 bytes an element: the output matrix, and a block of 12 d^2.
is 'their weights' weights_gb "$(awk 'BEGIN { printf "%.6g", 4e-9 * (300 * 64 + 12 * 64 * 64) }')"
full=$(value weights_gb)
bench 1 'decode in bf16' "$keys" "${decode[@]}" "${small[@]}" --threads 1 --batch 3 --time 40 --precision bf16
is 'their weights are half as large' weights_gb "$(awk -v full="$full" 'BEGIN { printf "%.6g", full / 2 }')"
bench 1 'decode in q8_0' "$keys" "${decode[@]}" "${small[@]}" --threads 1 --batch 3 --time 40 --weights q8_0
is 'their weights are 8.5 bits each' weights_gb \
    "$(awk 'BEGIN { printf "%.6g", 34 / 32 * 1e-9 * (300 * 64 + 12 * 64 * 64) }' | sed 's/e-0/e-/')"
bench 1 'decode in q4_0' "$keys" "${decode[@]}" "${small[@]}" --threads 1 --batch 3 --time 40 --weights q4_0,output=bf16
is 'their weights are 4.5 bits each, and 16 where they say so' weights_gb \
    "$(awk 'BEGIN { printf "%.6g", 1e-9 * (2 * 300 * 64 + 18 / 32 * 12 * 64 * 64) }' | sed 's/e-0/e-/')"
bench 1 'decode with a KV cache in q8_0' "$keys" "${decode[@]}" "${small[@]}" --threads 1 --batch 3 --time 40 --kv-cache q8_0
is 'and says so' kv_cache q8_0
"$RAPT-bench" decode "${small[@]}" --batch 1 --seconds 0.02 >.out
check 'decode prints the peak beside the figure' \
    grep -Eq 'tokens/s, .* GB/s, [0-9]+ % of the [0-9.]+ GB/s that this machine reads' .out
"$RAPT-bench" decode "${small[@]}" --batch 1 --seconds 0.02 --profile >.out
check 'decode --profile' grep -Eq '^linear  .* GB/s' .out
check 'decode --profile: loops' sh -c 'grep -Eq "^waiting for them .* %" .out && grep -Eq "^between loops .* %" .out'
tiny=(--layers 1 --width 32 --vocab 100)
keys='tok_s ms_token s_500 tokens gflops peak_gflops peak_share weights_gb gb_s read_gb_s read_share rss_mb threads'
bench 2 'decode sentences, beam 1 and 4' "$keys" "${decode[@]}" --case a2 "${tiny[@]}"
is 'their beams' beam '1 4'
bench 1 'decode sentences, beam 2' "$keys" "${decode[@]}" --case a2 "${tiny[@]}" --beam 2
is 'its beam' beam 2
product 'its share is its rate of the reader' gb_s read_gb_s read_share
check 'which is never above 1' awk -v a="$(value read_share)" 'BEGIN { exit !(a > 0 && a <= 1) }'
# Both blocks: encoder 4 w^2 + 2 w f, decoder 8 w^2 + 2 w f; f = 2 w; and the output matrix.
is 'its weights' weights_gb "$(awk 'BEGIN { printf "%.6g", 4e-9 * (20 * 32 * 32 + 100 * 32) }' | sed 's/e-0/e-/')"
# One batch of all sentences: a step, which reads what the decoder reads of a token, for each token and nobody's <eos>; the encoder
# and the keys and values for the decoder once.
bench 1 'decode sentences in one batch' "$keys" "${decode[@]}" --case a2 "${tiny[@]}" --beam 1 --batch 500 --threads 1
check 'its bytes are those of the steps' awk -v rate="$(value gb_s)" -v s="$(value s_500)" -v n="$(value tokens)" 'BEGIN {
    once = 4 * 10 * 32 * 32; step = 4 * (10 * 32 * 32 + 100 * 32); bytes = rate * s * 1e9; steps = (bytes - once) / step
    exit !(steps > 0.999 * n / 500 && steps < 20.001) }'
bench 1 'decode sentences in q8_0' "$keys" "${decode[@]}" --case a2 "${small[@]}" --beam 2 --weights q8_0
is 'its type' dtype q8_0
is 'its weights are 8.5 bits each' weights_gb \
    "$(awk 'BEGIN { printf "%.6g", 34 / 32 * 1e-9 * (20 * 64 * 64 + 300 * 64) }' | sed 's/e-0/e-/')"
"$RAPT-bench" decode --case a2 "${tiny[@]}" --beam 1 --seconds 0.02 >.out
check 'decode prints what it reads of weights' \
    grep -Eq ' GB/s of weights, [0-9]+ % of the [0-9.]+ GB/s at which it reads these weights' .out

keys='batch tok_s ms_token step_ms prompt_ms weights_gb gb_s read_gb_s read_share rss_mb threads'
bench 1 'decode a model of GGUF' "$keys" "${decode[@]}" --threads 1 --batch 2 --prompt 3 --time 10 "$SOURCE"/tests/golden/gguf/mixed.gguf
is 'its name' case mixed.gguf
llama=("${decode[@]}" --threads 1 --batch 1 --prompt 3 --time 10 "$SOURCE"/tests/golden/hub/llama)
bench 1 'decode a model of bf16' "$keys" "${llama[@]}"
halves=$(value weights_gb)
bench 1 'the same in fp32' "$keys" "${llama[@]}" --weights fp32
check 'bf16 is read in half of the bytes' awk -v a="$halves" -v b="$(value weights_gb)" 'BEGIN { exit !(a / b > 0.4999 && a / b < 0.5001) }'

# ---- group ---------------------------------------------------------------------------------------------------------
# One process has nothing to send; ranks of one process send what the least possible is, 2 (P - 1) / P of the elements: rank 0
# somewhat more or less, where parts are not equal.
group=("$RAPT-bench" group --json --seconds 0.02 --elements 100000)
bench 1 'group of one' 'ranks hosts repeats ms of_bound idle_share' "${group[@]}"
is 'it sends nothing' sent_mb 0.0
for ranks in 2 3 4; do
    keys='ms p10 p90 sent_mb bound_mb of_bound mb_s ping_us idle_share'
    bench 1 "group of $ranks" "$keys" "${group[@]}" --ranks $ranks
    is 'its ranks' ranks $ranks
    check 'its bytes are the least possible' awk -v a="$(value of_bound)" 'BEGIN { exit !(a > 0.999 && a < 1.001) }'
    check 'the least possible' awk -v a="$(value bound_mb)" -v p=$ranks 'BEGIN { exit !((a - 0.8 * (p - 1) / p) ^ 2 < 1e-8) }'
done
cat >recipe.yaml <<END
task: translation
data: {pairs: $SOURCE/data/en-fr.tsv, limit: 400, validation_fraction: 0}
tokenizer: {type: characters}
model: {layers: 1, d_model: 16, heads: 2, ffn: 16}
train: {steps: 1, batch: 4, accumulate: 4, shards: 4}
END
mkdir temporary
bench 2 'group of two, a recipe' 'ranks ms sent_mb bound_mb' env TMPDIR=temporary "${group[@]}" --ranks 2 recipe.yaml
for key in params step_tokens steps alone_ms tok_s efficiency; do
    check "its $key" test "$(value $key | awk '$1 > 0' | wc -l)" = 1
done
check 'its folder is gone' test -z "$(ls temporary)"

# ---- wrong use -----------------------------------------------------------------------------------------------------
refused 2 'optimizer' 'no such optimizer' "$RAPT-bench" train --optimizer sgd
refused 2 'are for .train' 'an optimizer in decoding' "$RAPT-bench" decode --optimizer muon
refused 2 'layers' 'no layer' "$RAPT-bench" train --layers 0
refused 2 'sizes .* are for' 'sizes of products' "$RAPT-bench" kernels --width 64
refused 2 'recompute is for .train' 'recomputed decoding' "$RAPT-bench" decode --recompute
refused 2 'beam is for .decode' 'a beam in training' "$RAPT-bench" train --beam 4
refused 1 'heads of case a4n have 32 features' 'a width that heads do not divide' "$RAPT-bench" train --case a4n --width 100
refused 1 'prompt of 32' 'a row that ends with its prompt' "$RAPT-bench" decode --time 33
refused 1 'no case "nix"; there are gpt2' 'an unknown case of decoding' "$RAPT-bench" decode --case nix
refused 1 'beam is for sentences' 'a beam of a language model' "$RAPT-bench" decode --beam 4
refused 2 'is for .decode' 'training with a KV cache' "$RAPT-bench" train --kv-cache bf16
refused 2 'is for .decode' 'products of quantized weights' "$RAPT-bench" kernels --weights q8_0
refused 2 'are for .group' 'ranks in training' "$RAPT-bench" train --ranks 2
refused 2 'its own sizes' 'a model, narrower' "$RAPT-bench" decode --width 64 "$SOURCE"/tests/golden/gguf/mixed.gguf
refused 1 'there is no such file' 'a model that is none' "$RAPT-bench" decode no/such.gguf
refused 1 'no more than the context' 'a row beyond the context' "$RAPT-bench" decode --time 100000 "$SOURCE"/tests/golden/gguf/mixed.gguf
refused 2 'takes a recipe' 'a case of a group' "$RAPT-bench" group --case a1
refused 1 'no/such.yaml' 'a recipe that is none' "$RAPT-bench" group --seconds 0.02 --ranks 2 --elements 1000 no/such.yaml
refused 1 'profile' 'a profile of sentences' "$RAPT-bench" decode --case a2 --profile

# ---- the scripts of bench/ -----------------------------------------------------------------------------------------
# script LINES NAME ARGUMENTS...: ends well, alone, with LINES lines that have a figure.
script() {
    local lines=$1 name=$2
    shift 2
    if RAPT_OPTIONS=${with-} RAPT=$RAPT PYTHON=none THREADS=2 ROUNDS=1 DURATION=0.05 \
        timeout 300 bash "$SOURCE/bench/$name.sh" "$@" >.out 2>.err &&
        [ "$(grep -Ec ' [0-9.]*[1-9]' .out)" -ge "$lines" ] && [ ! -s .err ]; then
        pass "bench/$name.sh $*"
    else
        fail "bench/$name.sh $*" "$(head -c 600 .out)" "$(head -c 300 .err)"
    fi
}
script 1 train_step a1
script 1 memory a1
script 1 threads a1
script 1 busy a1
script 3 gemm 64x512x512
script 4 growth layers
script 2 long_rows 64 128
with="${small[*]}" script 4 decode
unnamed=$(cd "$SOURCE/bench" && for f in *.sh *.py pytorch/*.py; do grep -q "($f)" README.md || echo "$f"; done)
check 'every script stands in the README' test -z "$unnamed"
finish
