#!/usr/bin/env bash
# tests/cli/check_seal.sh: a model folder whose files were edited or mixed up is refused by every command that loads it, with
# the way to seal it; a folder of before loads with a note. What is compared is in tests/io/test_model_seal.c.
. "$(dirname "$0")/lib.sh"

make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
train pairs >/dev/null 2>&1
"$RAPT" train lm.yaml --quiet --out text >/dev/null 2>&1

cp -r text edited
sed -i 's/"norm_eps": [^,]*/"norm_eps": 0.1/' edited/config.json
cp -r pairs edited-pairs
sed -i 's/"scale_embedding": true/"scale_embedding": false/' edited-pairs/config.json
says='edited/config.json: "norm_eps" is 0.1, and 1e-5 in model.safetensors; .*`rapt info edited --seal`'
refused 1 "$says" 'generate from an edited model' "$RAPT" generate edited --prompt a
refused 1 "$says" 'eval of it' "$RAPT" eval edited text.txt
refused 1 "$says" 'info of it' "$RAPT" info edited
refused 1 "$says" 'explain of it' "$RAPT" explain edited abc
refused 1 "$says" 'average of it' "$RAPT" average edited
refused 1 "$says" 'fine-tuning of it' "$RAPT" train lm.yaml --quiet --init edited --out tuned
refused 1 'edited-pairs/config.json: "scale_embedding" is false, and true in' 'translate with an edited model' \
    "$RAPT" translate edited-pairs pairs.tsv
[ ! -e tuned ] && [ ! -e edited/average ] && pass 'they leave nothing' || fail 'they leave nothing'
check 'it can be sealed' "$RAPT" info edited --seal
check 'and is a model then' "$RAPT" generate edited --prompt a
refused 2 '--seal needs MODEL' 'seal without a model' "$RAPT" info --seal

# the same recipe but for the seed: all sizes and the tokenizer are equal
"$RAPT" train lm.yaml --quiet --seed 8 --out other >/dev/null 2>&1
cp -r text mixed && cp other/model.safetensors mixed
refused 1 'mixed/model.safetensors: of another training run than config.json; .*`rapt info mixed --seal`' \
    'parameters of another run' "$RAPT" eval mixed text.txt
cp -r text best && cp text/best/model.safetensors best
check 'those of best/ are of the same run' "$RAPT" eval best text.txt
cp other/checkpoints/step-00000120.safetensors mixed/checkpoints && cp text/model.safetensors mixed
refused 1 'step-00000120.safetensors: of another training run than mixed' 'average with a checkpoint of another run' \
    "$RAPT" average mixed

# A folder of rapt 0.1: no run, no copy of the configuration.
unseal() {
    python3 - "$1/model.safetensors" <<'PY'
import json, struct, sys
path = sys.argv[1]
data = open(path, 'rb').read()
size = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + size])
for key in ('config', 'xxh3_64', 'xxh3_64_header'):
    del header['__metadata__'][key]
text = json.dumps(header).encode()
text += b' ' * (-len(text) % 8)
open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data[8 + size:])
PY
    sed -i '/"run":/d' "$1/config.json"
    sed -i '/^# rapt trained/d' "$1/recipe.yaml"
}

# noted NAME COMMAND...: succeeds, with the note and nothing else on stderr.
noted() {
    local name=$1
    shift
    if "$@" >.out 2>.err && [ "$(grep -vc "^wrote " .err)" = 1 ] && grep -q '^rapt: note: old: .*`rapt info old --seal`' .err; then
        pass "$name"
    else
        fail "$name" "$(head -c 400 .err)"
    fi
}

cp -r text old
unseal old
sed -i 's/"norm_eps": [^,]*/"norm_eps": 0.1/' old/config.json
noted 'a folder of before loads with a note' "$RAPT" info old
noted 'it generates' "$RAPT" generate old --quiet --prompt a --max-tokens 5
noted 'it is averaged' "$RAPT" average old --out old-average
noted 'it is trained on' "$RAPT" train lm.yaml --quiet --max-steps 1 --init old --out old-tuned
check 'it is resumed' "$RAPT" train old/recipe.yaml --quiet --resume --out old
"$RAPT" info old >.out 2>.err
cp -r text older && unseal older && cp older/config.json .config
check 'it can be sealed as it is' "$RAPT" info older --seal
"$RAPT" info older >.out 2>.err
[ ! -s .err ] && cmp -s older/config.json .config && pass 'then there is no note' || fail 'then there is no note' "$(cat .err)"

# Weights of fewer bits would become fp32.
for weights in f16 bf16 q8_0; do
    "$RAPT" convert text --weights $weights -o few-$weights >/dev/null 2>&1
    listing few-$weights >.listing
    refused 1 "few-$weights stores weights of fewer bits \\(${weights^^}\\), which --seal would widen" "a seal for $weights" \
        "$RAPT" info few-$weights --seal
    check "$weights: nothing is written" cmp .listing <(listing few-$weights | grep -v rapt.lock)
done

# What is resumed keeps its numbers: an edit is not undone without a word
cp -r text edited
sed -i 's/"norm_eps": [^,]*/"norm_eps": 0.1/' edited/config.json
cp edited/config.json .config
for sealed in no yes; do
    [ $sealed = no ] || "$RAPT" info edited --seal >.out 2>&1
    refused 1 'edited/config.json: "norm_eps" is 0.1, and 1e-5 in the run' "resume over an edit, sealed: $sealed" \
        "$RAPT" train lm.yaml --quiet --resume --out edited
done
check 'the edit stays' cmp edited/config.json .config

# The recipe
recipe_line() { "$RAPT" info "$1" 2>/dev/null | grep '^recipe'; }
[ "$(recipe_line text)" = 'recipe        recipe.yaml, as it was when the model was trained' ] && pass 'a recipe as it was' ||
    fail 'a recipe as it was' "$(recipe_line text)"
sed -i 's/^  clip: 1$/  clip: 2/' text/recipe.yaml
[ "$(recipe_line text)" = 'recipe        recipe.yaml was changed since the model was trained' ] && pass 'a recipe that was changed' ||
    fail 'a recipe that was changed' "$(recipe_line text)"
refused 1 'belongs to another recipe, model or data; its recipe.yaml was changed since' 'resume by a changed recipe' \
    "$RAPT" train text/recipe.yaml --quiet --resume --out text
cp other/recipe.yaml text
[ "$(recipe_line text)" = 'recipe        recipe.yaml is of another training run' ] && pass "another run's recipe" ||
    fail "another run's recipe" "$(recipe_line text)"
finish
