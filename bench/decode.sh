#!/bin/bash
# bench/decode.sh: tokens/s of GPT-2 124M with random weights, one row and eight, 32 tokens of prompt and 128 new ones,
# greedily; milliseconds of a step; the memory bandwidth of reading its weights, and its share of this machine's memory
# bandwidth. The ratio is our tokens/s / PyTorch's. Then 500 sentences, translated with a model of a2's size, beam 1 and 4,
# beside CTranslate2 where PYTHON has it.
. "$(dirname "$0")/lib.sh"
explain_missing
row 14 gpt2 'tokens/s' 'ms a step' 'GB/s' 'machine, GB/s' 'share' 'PyTorch' ratio
for batch in 1 8; do
    last=$(mktemp)
    ours() { own decode --batch "$batch" --threads "$THREADS" | tee "$last"; }
    theirs() { pytorch decode --batch "$batch" --threads "$THREADS"; }
    medians tok_s
    row 14 "batch $batch" "$OURS" "$(value step_ms <"$last")" "$(value gb_s <"$last")" "$(value read_gb_s <"$last")" \
        "$(value read_share <"$last")" "${THEIRS:--}" "$(ratio "$OURS" "$THEIRS")"
    rm "$last"
done

PEER=
! "$PYTHON" -c 'import ctranslate2' 2>/dev/null || PEER=yes # the other side is another one
row 14 'a2' 'tokens/s' 'seconds' 'GFLOP/s' 'of peak' 'CTranslate2' ratio
for beam in 1 4; do
    last=$(mktemp)
    ours() { own decode --case a2 --beam "$beam" --threads "$THREADS" | tee "$last"; }
    theirs() { "$PYTHON" "$BENCH/ctranslate2_translate.py" --beam "$beam" --threads "$THREADS" --seconds "$DURATION"; }
    medians tok_s
    row 14 "beam $beam" "$OURS" "$(value s_500 <"$last")" "$(value gflops <"$last")" "$(value peak_share <"$last")" \
        "${THEIRS:--}" "$(ratio "$OURS" "$THEIRS")"
    rm "$last"
done
