#!/bin/bash
# bench/lora_step.sh DIR [GGUF]: milliseconds of a training step of low-rank adapters (LoRA, rank 8, all linear layers of the
# blocks) for the model of a Hugging Face folder, such as one of `bench/make_hub_shape.py qwen2 F32 DIR`, and the peak memory of
# the process; rapt in bf16 beside PyTorch with PEFT in each of MODES (default "fp32 autocast bf16"; also compile_fp32,
# compile_autocast, compile_bf16, which want a C++ compiler). With GGUF, a file of the same model (`rapt convert DIR --to gguf
# --weights q8_0 -o FILE`), rapt trains on that; with HOLD=false on a base in memory (train.lora.hold). BATCH windows of CONTEXT
# tokens a step, STEPS steps of which the first is not counted. The ratio is PyTorch's time / ours: the best mode is what counts.
# With JSON=yes it prints an object a mode, of one round. PYTHON needs torch, transformers and peft.
. "$(dirname "$0")/lib.sh"
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: $0 DIR [GGUF]" >&2; exit 2; }
model=$(realpath "$1") base=$(realpath "${2:-$1}") BATCH=${BATCH:-2} CONTEXT=${CONTEXT:-256} STEPS=${STEPS:-6}
read -ra modes <<<"${MODES:-fp32 autocast bf16}"
[ -n "$PEER" ] || modes=(-)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat "$BENCH"/../docs/*.md >"$work/text.txt"
cat >"$work/lora.yaml" <<YAML
task: language_model
data:
  text: text.txt
  validation_fraction: 0
model:
  context: $CONTEXT
train:
  lora.rank: 8
  lora.hold: ${HOLD:-true}
  precision: bf16
  batch: $BATCH
  steps: $STEPS
  report_every: 1
YAML

# The seconds of each step from its tokens a second, and the peak that the kernel counted for the process.
ours() {
    rm -rf "$work/out"
    "$PYTHON" -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)' \
        "$RAPT" train "$work/lora.yaml" --init "$base" --out "$work/out" --threads "$THREADS" --quiet >"$work/peak"
    tail -n +2 "$work/out/train.jsonl" | value tokens_per_s | median >"$work/rate"
    awk -v tokens=$((BATCH * CONTEXT)) -v peak="$(cat "$work/peak")" \
        '{ printf "{\"ms\": %.1f, \"peak_mb\": %.0f}\n", 1000 * tokens / $1, peak }' "$work/rate" | tee "$work/ours"
}
theirs() {
    "$PYTHON" "$BENCH/pytorch/lora_step.py" "$model" --mode "$mode" --batch "$BATCH" --context "$CONTEXT" --steps "$STEPS" \
        --threads "$THREADS" | tee "$work/theirs"
}
if [ -n "${JSON:-}" ]; then
    for mode in "${modes[@]}"; do
        printf '{"mode": "%s", "rapt": %s, "peer": %s}\n' "$mode" "$(ours)" "$(theirs)"
    done
    exit
fi
explain_missing
row 5 'PyTorch, mode' 'rapt, ms' 'peak, MB' 'PyTorch, ms' 'peak, MB' ratio
for mode in "${modes[@]}"; do
    echo '{}' >"$work/theirs"
    medians ms
    row 5 "$mode" "$OURS" "$(value peak_mb <"$work/ours")" "${THEIRS:--}" "$(value peak_mb <"$work/theirs")" \
        "$(ratio "$THEIRS" "$OURS")"
done
