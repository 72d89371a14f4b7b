#!/bin/bash
# bench/prefill.sh [TOKENS...]: milliseconds of the prefill of a prompt of so many tokens (default 128 512 1000) with GPT-2's shape, to
# the next token's logits; rapt in fp32 and bf16 beside PyTorch in each of MODES (default "fp32 bf16 fp32_compiled bf16_compiled"; compiled
# wants a C++ compiler). The ratio is the time of PyTorch's best mode of that precision, of both for rapt's bf16, by rapt's.
. "$(dirname "$0")/lib.sh"
explain_missing
read -ra modes <<<"${MODES:-fp32 bf16 fp32_compiled bf16_compiled}"
[ -n "$PEER" ] || modes=()
[ $# -gt 0 ] || set -- 128 512 1000

# best MODE...: the least time of those modes in the file of times.
best() { grep -E "^($(IFS='|'; echo "$*")) " "$times" | sort -gk2 | sed -n '1s/.* //p'; }

times=$(mktemp)
trap 'rm -f "$times"' EXIT
row 10 tokens 'fp32' 'bf16' "${modes[@]}" 'ratio, fp32' 'ratio, bf16'
for tokens; do
    : >"$times"
    for ((i = 0; i < ROUNDS; i++)); do
        for precision in fp32 bf16; do
            own decode --batch 1 --prompt "$tokens" --time $((tokens + 2)) --precision $precision --threads "$THREADS" |
                value prompt_ms | sed "s/^/rapt_$precision /"
        done
        for mode in "${modes[@]}"; do
            compiled=()
            [ "$mode" = "${mode%_compiled}" ] || compiled=(--compile)
            pytorch decode --prompt "$tokens" --new 1 --dtype "${mode%_compiled}" --threads "$THREADS" "${compiled[@]}" |
                value prompt_ms | sed "s/^/$mode /"
        done
    done >>"$times"
    medians=$(for name in rapt_fp32 rapt_bf16 "${modes[@]}"; do echo "$name $(sed -n "s/^$name //p" "$times" | median)"; done)
    echo "$medians" >"$times"
    row 10 "$tokens" $(sed 's/.* //' "$times") "$(ratio "$(best fp32 fp32_compiled)" "$(best rapt_fp32)")" \
        "$(ratio "$(best "${modes[@]:-none}")" "$(best rapt_bf16)")"
done
