#!/bin/bash
# tests/cli/check_untrained.sh: `rapt train --max-steps 0`: a model folder before the first step. It holds the parameters that
# training starts from, every command that looks at a model takes it, and training it gives the bytes of a run without the stop.
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
recipe_of() { [ "$1" = tr ] && echo tiny.yaml || echo lm.yaml; }

for task in tr lm; do
    recipe=$(recipe_of $task)
    check "$task: --max-steps 0" "$RAPT" train "$recipe" --quiet --out new-$task --max-steps 0
    check "$task: no log and no checkpoint" test ! -e new-$task/train.jsonl -a "$(newest new-$task)" = 0
    # A step of next to no length: what is subtracted is far below the last bit of any weight that is not 0.
    "$RAPT" train "$recipe" --quiet --out step-$task --max-steps 1 --set train.lr=1e-30 || exit 1
    for name in $(tensor_names new-$task | grep -E 'embed|weight'); do
        check "$task: $name is what the first step starts from" \
            cmp <(tensor new-$task/model.safetensors "$name") <(tensor step-$task/model.safetensors "$name")
    done
    listing new-$task >before
    check "$task: once more, with --resume" "$RAPT" train "$recipe" --quiet --out new-$task --max-steps 0 --resume
    check "$task: which changes nothing" diff before <(listing new-$task)
    check "$task: rapt info" "$RAPT" info new-$task
done

# ---- looking at it ---------------------------------------------------------------------------------------------------------
check 'tr: explain' "$RAPT" explain new-tr 'I see the moon.'
check 'tr: explain with gradients' "$RAPT" explain new-tr 'I see the moon.' 'je vois la lune.' --train
check 'tr: translate' sh -c 'echo "I see the moon." | "$0" translate new-tr' "$RAPT"
check 'tr: eval' "$RAPT" eval new-tr pairs.tsv
check 'lm: explain' "$RAPT" explain new-lm 'the king'
check 'lm: plot' "$RAPT" plot attention new-lm 'the king' --data
check 'lm: generate --at 0 --top 1' sh -c '[ "$("$0" generate new-lm "the king" --at 0 --top 1 --quiet | wc -l)" = 2 ]' "$RAPT"
# Nothing is learned: about log(vocabulary) nats a token, also without a look at the numbers that initialization draws.
vocab=$("$RAPT" info new-lm --json | tr -d ' \n' | grep -o '"vocab[a-z_]*":[0-9]*' | head -1 | grep -o '[0-9]*$')
"$RAPT" eval new-lm text.txt --json >out
check "lm: its loss is log $vocab, about" awk -v v="$vocab" '
    { sub(/.*"loss": /, ""); x = $0 - log(v) } END { exit !(v > 20 && x < 0.5 && x > -0.5) }' out

# ---- training it -----------------------------------------------------------------------------------------------------------
for task in tr lm; do
    recipe=$(recipe_of $task)
    "$RAPT" train "$recipe" --quiet --out whole-$task || exit 1
    check "$task: a new run into it is refused" sh -c '! "$0" train "$1" --quiet --out "$2" 2>err &&
        grep -q "no checkpoint: choose another folder, or where its model is untrained (--max-steps 0), --resume to train it" err' \
        "$RAPT" "$recipe" new-$task
    cp -r new-$task other-$task
    listing other-$task >before
    refused 1 'holds model.safetensors but no checkpoint to resume from' "$task: with another seed it is another model" \
        "$RAPT" train "$recipe" --quiet --out other-$task --resume --seed 8
    check "$task: which is left as it is" diff before <(listing other-$task)
    check "$task: --resume trains it" "$RAPT" train --quiet --out new-$task --resume --threads 1
    check "$task: to the bytes of a run without the stop" same_model whole-$task new-$task
    "$RAPT" train "$recipe" --out new-$task --resume --max-steps 0 2>err
    check "$task: of a trained one it trains nothing" same_model whole-$task new-$task
    rm -r new-$task/checkpoints new-$task/best new-$task/train.jsonl
    refused 1 'holds model.safetensors but no checkpoint to resume from' "$task: a trained one without its checkpoints is kept" \
        "$RAPT" train --quiet --out new-$task --resume
done

# ---- fine-tuning ------------------------------------------------------------------------------------------------------------
check 'with --init' "$RAPT" train tiny.yaml --quiet --out tuned --init whole-tr --max-steps 0
check 'it is the model to start from' same_parameters whole-tr/model.safetensors tuned/model.safetensors
finish
