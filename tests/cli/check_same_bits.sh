#!/bin/bash
# tests/cli/check_same_bits.sh: a trained model has the same bytes whatever the threads, the level of the kernels, the
# compiler and the processor. Where RAPT_OTHER names a program that another compiler built, or one for another processor, only
# its models are compared, at each of its levels: what threads and levels change was compared without it.
# labels: each-level not-sanitized not-emulated
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe bpe >lm.yaml
# Sizes that are no multiple of a vector or a tile, so that edges count; big enough that threads do share the work.
recipe=(--set model.d_model=36 --set model.heads=4 --set model.ffn=76 --set model.layers=2 --set train.steps=12
    --set train.batch=40 --set train.checkpoint_every=1000 --set train.weight_decay=0.01 --set train.label_smoothing=0.1
    --set train.schedule=cosine --set train.warmup=5)
pre=(--set model.norm_place=pre --set tokenizer.shared=true --set model.tied=true --set model.bias=false --set data.pad=fixed
    --set train.reduction=book --set model.init=pytorch)
later=(--set model.d_model=40 --set model.norm_place=pre --set model.norm_kind=rms --set model.ffn_kind=swiglu
    --set model.positions=rotary --set model.kv_heads=2 --set model.init=gpt2 --set model.dropout=0.2)
# Language models: embeddings of which a step uses few rows, an output matrix whose gradient is made late; and what the
# first doesn't have: tied matrices, gathered gradients, dropout, the other norm, activation and positions.
lm=(--set model.d_model=36 --set model.ffn=76 --set model.context=15 --set train.batch=2 --set train.steps=24
    --set train.checkpoint_every=1000 --set train.weight_decay=0.01 --set train.schedule=cosine --set train.warmup=5)
wide=(--set model.layers=2 --set model.norm_kind=rms --set model.ffn_kind=swiglu --set model.positions=rotary --set model.bias=false
    --set model.kv_heads=1 --set model.tied=true --set model.dropout=0.2 --set train.batch=9 --set train.accumulate=2
    --set train.steps=12)
# Conversations of many lengths in packed batches, which a tiny Llama is tuned on.
cp -r "$SOURCE/tests/golden/hub/llama" llama
chmod -R u+w llama
cp "$SOURCE/tests/golden/conversations/chat_template.jinja" llama
cp "$SOURCE/tests/golden/conversations/talks.jsonl" .
cat >talks.yaml <<END
task: language_model
data: {conversations: talks.jsonl, validation_fraction: 0.2, pack: true}
model: {context: 96, dropout: 0.2}
train: {init: llama, batch: 1, accumulate: 3, shards: 2, steps: 4, lr: 0.002, warmup: 1, checkpoint_every: 1000}
END

# other VARIANT RECIPE OPTIONS...: trained by the other program at each of its levels, the model has the bytes of this one's.
other() {
    local variant=$1 run=(train "$2.yaml" --quiet "${@:3}") isa
    "$RAPT" "${run[@]}" --out "$variant"
    check "$variant: trained" test -s "$variant/model.safetensors"
    for isa in $(RAPT=$RAPT_OTHER levels); do
        RAPT_ISA=$isa "$RAPT_OTHER" "${run[@]}" --out "$variant-other-$isa"
        check "$variant: the other program, RAPT_ISA=$isa" same_model "$variant" "$variant-other-$isa"
    done
}
if [ -n "${RAPT_OTHER:-}" ]; then
    check 'the other program has levels' test -n "$(RAPT=$RAPT_OTHER levels)"
    other post tiny "${recipe[@]}"
    other later tiny "${recipe[@]}" "${later[@]}"
    other lm-wide lm "${lm[@]}" "${wide[@]}"
    other talks talks
    finish
fi
skip 'another compiler or processor (RAPT_OTHER names no program)'

# everywhere VARIANT RECIPE OPTIONS...: trained with any threads and at each level, the model has the same bytes.
everywhere() {
    local variant=$1 run=("$RAPT" train "$2.yaml" --quiet "${@:3}") n isa
    "${run[@]}" --out "$variant-1" --threads 1
    check "$variant: trained with one thread" test -s "$variant-1/model.safetensors"
    for n in 2 7; do
        "${run[@]}" --out "$variant-$n" --threads $n
        check "$variant: $n threads" same_model "$variant-1" "$variant-$n"
    done
    for isa in $(levels); do
        RAPT_ISA=$isa "${run[@]}" --out "$variant-$isa"
        check "$variant: RAPT_ISA=$isa" same_model "$variant-1" "$variant-$isa"
    done
}
everywhere post tiny "${recipe[@]}"
everywhere pre tiny "${recipe[@]}" "${pre[@]}"
everywhere later tiny "${recipe[@]}" "${later[@]}"
"$RAPT" train tiny.yaml --quiet --out later-parts "${recipe[@]}" "${later[@]}" --max-steps 7 &&
    "$RAPT" train tiny.yaml --quiet --out later-parts "${recipe[@]}" "${later[@]}" --resume
check 'later: stopped and resumed' same_model later-1 later-parts

everywhere lm lm "${lm[@]}" --set model.ffn_kind=gelu
everywhere lm-wide lm "${lm[@]}" "${wide[@]}"
everywhere lm-shards lm "${lm[@]}" "${wide[@]}" --set train.batch=2 --set train.accumulate=7 --set train.shards=5
# Heads that are wider than a panel of the kernels at some levels, and texts of several tiles of queries.
everywhere lm-long lm "${lm[@]}" "${wide[@]}" --set model.d_model=160 --set model.context=150 --set train.warmup=1 --set train.steps=2
# Muon: matrices of several strips, in several shards.
everywhere lm-muon lm "${lm[@]}" "${wide[@]}" --set train.optimizer=muon --set model.d_model=160 --set model.ffn=200 \
    --set train.batch=2 --set train.accumulate=4 --set train.shards=3 --set train.warmup=1 --set train.steps=3
everywhere lm-sgd lm "${lm[@]}" "${wide[@]}" --set train.optimizer=sgd --set train.sgd.momentum=0.9 --set train.sgd.nesterov=true
everywhere talks talks
everywhere shards tiny "${recipe[@]}" --set train.batch=8 --set train.accumulate=6 --set train.shards=3

# In bf16: with any threads at one level, stopped and resumed, and not what fp32 gives.
for isa in $(levels); do
    [ "$isa" != scalar ] || continue # it takes minutes
    run=(env RAPT_ISA="$isa" "$RAPT" train lm.yaml --quiet --precision bf16 "${lm[@]}" "${wide[@]}")
    "${run[@]}" --out "bf16-$isa-1" --threads 1
    for n in 2 7; do
        "${run[@]}" --out "bf16-$isa-$n" --threads $n
        check "bf16, RAPT_ISA=$isa: $n threads" same_model "bf16-$isa-1" "bf16-$isa-$n"
    done
    "${run[@]}" --out "bf16-$isa-parts" --max-steps 5 && "${run[@]}" --out "bf16-$isa-parts" --resume
    check "bf16, RAPT_ISA=$isa: stopped and resumed" same_model "bf16-$isa-1" "bf16-$isa-parts"
    check "bf16, RAPT_ISA=$isa: another model than in fp32" \
        test "$(cksum <lm-wide-1/model.safetensors)" != "$(cksum <"bf16-$isa-1/model.safetensors")"
done
train other --seed 8 "${recipe[@]}"
check 'another seed is another model' test "$(cksum <post-1/model.safetensors)" != "$(cksum <other/model.safetensors)"
skip_other_levels
finish
