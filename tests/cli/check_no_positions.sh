#!/usr/bin/env bash
# tests/cli/check_no_positions.sh: model.positions: none and alibi, which have no tensors, for both tasks, from the recipe to the
# folder and back, and what refuses them.
. "$(dirname "$0")/lib.sh"

for i in $(seq 60); do printf 'the line %s is here\tla ligne %s est ici\n' $i $i; done >pairs.tsv
cut -f1 pairs.tsv >text.txt
tensors() { python3 -c "import struct, sys; b = open(sys.argv[1], 'rb').read(); sys.stdout.buffer.write(b[8 + struct.unpack('<Q', b[:8])[0]:])" "$1/model.safetensors"; }
for kind in none alibi; do
    printf 'data: {pairs: pairs.tsv}\nmodel: {layers: 1, d_model: 24, heads: 3, positions: %s}\ntrain: {steps: 6, batch: 8}\n' $kind >pairs-$kind.yaml
    printf 'task: language_model\ndata: {text: text.txt}\nmodel: {layers: 1, d_model: 24, heads: 3, context: 12, positions: %s}\ntrain: {steps: 6, batch: 4}\n' $kind >lm-$kind.yaml
    words=' tokens, no positions$' plot='it has no positional encoding'
    [ $kind = none ] || words=' alibi positions$' plot='its positions are alibi, biases of attention scores'
    for task in pairs-$kind lm-$kind; do
        check "$task: it trains" "$RAPT" train $task.yaml --quiet --out $task --threads 1
        check "$task: the folder says so" grep -q "\"positions\": \"$kind\"" $task/config.json
        check "$task: and rapt info" grep -q "$words" <("$RAPT" info $task)
        check "$task: no tensor of positions" bash -c '! "$0" info "$1" --tensors | grep -Eq "positions[.](table|weight)"' "$RAPT" $task
        "$RAPT" train $task.yaml --quiet --out $task-3 --threads 3
        check "$task: the same bits on three threads" cmp <(tensors $task) <(tensors $task-3)
        "$RAPT" train $task.yaml --quiet --out $task-parts --max-steps 3 && "$RAPT" train --resume --quiet --out $task-parts
        check "$task: stopped and resumed" cmp <(tensors $task) <(tensors $task-parts)
        check "$task: explained" "$RAPT" explain $task 'the line 3' --html $task.html
        for form in hf ctranslate2; do
            refused 1 "\"positions\": \"$kind\"" "$task: not for $form" "$RAPT" convert $task --to $form -o out
        done
        refused 1 "$plot" "$task: nothing to plot" "$RAPT" plot positions $task -o out.png
    done
    refused 1 "\"positions\": \"$kind\"" 'not for gguf' "$RAPT" convert lm-$kind --to gguf -o out.gguf
    check 'a translator translates' "$RAPT" translate pairs-$kind text.txt
    check 'a language model generates' "$RAPT" generate lm-$kind 'the line' --max-tokens 20
done
check 'biases are shown' grep -q 'scaled - slope |i - j|' <("$RAPT" explain lm-alibi 'the line 3')
finish
