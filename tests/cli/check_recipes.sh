#!/bin/bash
# tests/cli/check_recipes.sh: a recipe of `task` and data alone; the recipe that a model folder keeps makes that model again,
# also of a fine-tuned one; --init refuses keys that it would not heed; a finished run is continued for more epochs.
. "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe bpe >lm.yaml
small=(--set model.layers=1 --set model.d_model=16 --set model.heads=2 --set model.ffn=24)
same_models() { same_parameters "$1/model.safetensors" "$2/model.safetensors"; }
# again FOLDER OPTION...: trains by the recipe that FOLDER keeps, into FOLDER-again; the same model, and the same recipe once more.
again() {
    "$RAPT" train "$1/recipe.yaml" --quiet --out "$1-again" "${@:2}" && same_model "$1" "$1-again"
}

# ---- the least that a recipe can be -------------------------------------------------------------------------------------
printf 'task: translation\ndata:\n  pairs: pairs.tsv\n' >least-tr.yaml
printf 'task: language_model\ndata:\n  text: text.txt\n' >least-lm.yaml
for task in tr lm; do
    check "$task: task and data are enough" "$RAPT" train least-$task.yaml --quiet --out least-$task --max-steps 3 "${small[@]}"
    check "$task: the kept recipe makes it again" again least-$task --max-steps 3
done
printf 'task: language_model\n' >no-data.yaml
refused 1 'no-data.yaml: data.text is missing' 'no data' "$RAPT" train no-data.yaml --out out

# ---- options are kept, too ------------------------------------------------------------------------------------------------
check 'with options' train options --seed 11 --precision bf16 --set train.steps=4 --set model.norm_place=pre
check 'the kept recipe has them' again options
check 'a preset' "$RAPT" train lm.yaml --quiet --out preset --set model.preset=seed --set model.d_model=8 --set train.steps=2
check 'the kept recipe has what it set' again preset

# ---- fine-tuning ----------------------------------------------------------------------------------------------------------
train base-tr --set train.steps=20 --set model.layers=2 --set tokenizer.min_freq=2 || exit 1
"$RAPT" train lm.yaml --quiet --out base-lm --set train.steps=20 --set model.layers=3 --set model.positions=rotary || exit 1
printf 'task: translation\ndata:\n  pairs: pairs.tsv\ntrain:\n  steps: 5\n' >tune-tr.yaml
printf 'task: language_model\ndata:\n  text: text.txt\ntrain:\n  steps: 5\n' >tune-lm.yaml
for task in tr lm; do
    ft=ft-$task
    check "$task: task, data and train are enough" "$RAPT" train tune-$task.yaml --init base-$task --quiet --out $ft
    for key in layers d_model heads ffn norm bias scale_embedding tied positions; do
        check "$task: its recipe has the model's $key" diff <(grep "^  $key:" base-$task/recipe.yaml) <(grep "^  $key:" $ft/recipe.yaml)
    done
    check "$task: and the tokenizer's keys" diff <(sed -n '/^tokenizer:/,/^model:/p' base-$task/recipe.yaml) \
        <(sed -n '/^tokenizer:/,/^model:/p' $ft/recipe.yaml)
    check "$task: and what it started from" grep -q "^  init: \"$WORK/base-$task\"" $ft/recipe.yaml
    check "$task: so that it makes this model again" again $ft
    (cat tune-$task.yaml; echo "  init: base-$task") >key.yaml
    "$RAPT" train key.yaml --quiet --out key-$task
    check "$task: train.init is --init" same_model $ft key-$task
    "$RAPT" train tune-$task.yaml --init base-$task --quiet --out parts-$task --max-steps 2
    check "$task: resumed by the folder alone" "$RAPT" train --resume --out parts-$task --quiet
    check "$task: to the same model" same_models $ft parts-$task
    check "$task: from best/, whose recipe is above it" "$RAPT" train tune-$task.yaml --init base-$task/best --quiet --out best-$task
    check "$task: with the tokenizer's keys" diff <(sed -n '/^tokenizer:/,/^model:/p' $ft/recipe.yaml) \
        <(sed -n '/^tokenizer:/,/^model:/p' best-$task/recipe.yaml)
    no() { refused 1 "$1" "$task: $1" "$RAPT" train tune-$task.yaml --init base-$task --quiet --out out "${@:2}"; }
    no 'model.layers is 5; the model in base-.. has [23], which fine-tuning keeps' --set model.layers=5
    no 'model.init is [xp].*; the model in base-.. has [pg]' --set model.init=$([ $task = tr ] && echo xavier || echo pytorch)
    no 'model.embedding_std is 0.5; ' --set model.embedding_std=0.5
    check "$task: a value that is the model's is no harm" "$RAPT" train tune-$task.yaml --init base-$task --quiet --out same-$task \
        --set model.d_model=16 --set model.heads=2 --set model.dropout=0.3
done
refused 1 'tokenizer.min_freq is 3; the model in base-tr has 2' 'how words were learned' \
    "$RAPT" train tune-tr.yaml --init base-tr --quiet --out out --set tokenizer.min_freq=3
refused 1 'tokenizer.type is bpe; the model in base-tr has words' 'another tokenizer' \
    "$RAPT" train tune-tr.yaml --init base-tr --quiet --out out --set tokenizer.type=bpe
refused 1 'model.context is 13; the model in base-lm has 12' 'a longer context' \
    "$RAPT" train tune-lm.yaml --init base-lm --quiet --out out --set model.context=13

# ---- fine-tuning is resumed whatever becomes of the other model's recipe --------------------------------------------------
# gone-tr and gone-lm were made with a min_freq that only a recipe knows, and a std that config.json has, too.
"$RAPT" train lm.yaml --quiet --out base-std --set train.steps=20 --set model.std=0.05 --set tokenizer.pattern='[a-z]+|[^a-z]' || exit 1
cp -r base-tr gone-tr
cp -r base-std gone-lm
(cat tune-tr.yaml; echo 'tokenizer: {min_freq: 2}') >given-tr.yaml
(cat tune-lm.yaml; echo 'model: {std: 0.05}') >given-lm.yaml
for task in tr lm; do
    for recipe in tune given; do
        "$RAPT" train $recipe-$task.yaml --init gone-$task --quiet --out $recipe-whole-$task
        for way in kept original; do
            "$RAPT" train $recipe-$task.yaml --init gone-$task --quiet --out $recipe-$way-$task --max-steps 2
        done
    done
    sed -i 's/min_freq: 2/min_freq: 3/; s/std: 0.05/std: 0.02/' gone-$task/recipe.yaml
    "$RAPT" train --resume --out tune-kept-$task --quiet --max-steps 3
    check "$task: resumed by the kept recipe, the other one changed" test "$(newest tune-kept-$task)" = 3
    rm gone-$task/recipe.yaml
    for recipe in tune given; do
        check "$task: $recipe, resumed by the kept recipe, the other one gone" "$RAPT" train --resume --out $recipe-kept-$task --quiet
        check "$task: $recipe, resumed by the original recipe, the other one gone" \
            "$RAPT" train $recipe-$task.yaml --init gone-$task --resume --out $recipe-original-$task --quiet
        for way in kept original; do
            check "$task: $recipe, $way: the same model" same_model $recipe-whole-$task $recipe-$way-$task
        done
    done
    check "$task: the kept recipe still says how words were learned" diff <(sed -n '/^tokenizer:/,/^model:/p' tune-whole-$task/recipe.yaml) \
        <(sed -n '/^tokenizer:/,/^model:/p' tune-original-$task/recipe.yaml)
done
refused 1 'model.std is 0.02; the model in gone-lm has 0.05' 'config.json knows the initial values' \
    "$RAPT" train tune-lm.yaml --init gone-lm --quiet --out out --set model.std=0.02

# ---- a recipe that only lies there is not the model's -------------------------------------------------------------------------
mkdir beside
cp -r base-tr beside/model
rm beside/model/recipe.yaml
(cat tune-tr.yaml | sed 's/pairs.tsv/..\/pairs.tsv/'; echo 'tokenizer: {min_freq: 7}') >beside/recipe.yaml
(cd beside && "$RAPT" train recipe.yaml --set data.pairs=../pairs.tsv --set tokenizer.min_freq=2 --init model --quiet --out ../beside-ft)
check 'a recipe beside the model is not the one above best/' grep -q '^  min_freq: 2' beside-ft/recipe.yaml
cp beside/recipe.yaml beside/model/
check 'nor is one without a seal in its folder' "$RAPT" train tune-tr.yaml --init beside/model --quiet --out beside-in --set tokenizer.min_freq=2
cp base-std/recipe.yaml beside/model/
check 'nor one of another run' "$RAPT" train tune-tr.yaml --init beside/model --quiet --out beside-other --set tokenizer.min_freq=2

# ---- the size of a vocabulary -------------------------------------------------------------------------------------------------
entries=$(sed -n 's/^ *"vocab": \([0-9]*\),.*/\1/p' base-lm/config.json)
"$RAPT" train lm.yaml --quiet --out auto-lm --set train.steps=5 --set tokenizer.vocab_size=0 || exit 1
auto=$(sed -n 's/^ *"vocab": \([0-9]*\),.*/\1/p' auto-lm/config.json)
check 'the size that the tokenizer has is no conflict' \
    "$RAPT" train tune-lm.yaml --init auto-lm --quiet --out auto-ft --set tokenizer.vocab_size="$auto"
check 'nor is 0' "$RAPT" train tune-lm.yaml --init base-lm --quiet --out zero-ft --set tokenizer.vocab_size=0
for model in "auto-lm $auto" "base-lm $entries"; do
    refused 1 "tokenizer.vocab_size is 333; the model in ${model% *} has ${model#* }, " "${model% *}: another one" \
        "$RAPT" train tune-lm.yaml --init "${model% *}" --quiet --out out --set tokenizer.vocab_size=333
done

# ---- a run is resumed with the model that it began with ------------------------------------------------------------------------
cp -r base-tr moved-tr
cp -r base-tr twin-tr
"$RAPT" train tune-tr.yaml --init moved-tr --quiet --out began --max-steps 2
listing began >before
refused 1 "began: the run began with the model in $WORK/moved-tr, not with that in twin-tr: resume it with --init" 'another model' \
    "$RAPT" train tune-tr.yaml --init twin-tr --resume --quiet --out began
check 'and nothing has changed' diff before <(listing began)
mv moved-tr elsewhere
check 'a model that was moved' "$RAPT" train --resume --quiet --out began --init elsewhere
check 'the kept recipe has its new name' grep -q "^  init: \"$WORK/elsewhere\"" began/recipe.yaml
"$RAPT" train tune-tr.yaml --init base-tr --quiet --out first --max-steps 2
sed -i 's/^  init: ".*"/  init: ""/; /^# rapt/d; s/^  layers: .*/  layers: 7/; s/^  min_freq: .*/  min_freq: 1/' first/recipe.yaml
check 'version 0.1 kept keys that it did not heed, and no init' "$RAPT" train --resume --quiet --out first --init base-tr
check 'the kept recipe is put right' grep -q '^  layers: 2' first/recipe.yaml

rm base-tr/recipe.yaml
check 'without the recipe of that model' "$RAPT" train tune-tr.yaml --init base-tr --quiet --out bare
check 'the same parameters' same_models ft-tr bare

# ---- a finished run is continued for more epochs -----------------------------------------------------------------------------
# longer NAME RECIPE KEY SHORT LONG OPTION...: SHORT resumed to LONG is LONG from the start.
longer() {
    local name=$1 recipe=$2 key=$3 short=$4 long=$5
    shift 5
    "$RAPT" train "$recipe" --quiet --out "$name-long" --set "$key=$long" "$@" &&
        "$RAPT" train "$recipe" --quiet --out "$name" --set "$key=$short" "$@" || return 1
    "$RAPT" train --resume --out "$name" --quiet --set "$key=$long" 2>"$name.err" || return 1
    [ ! -s "$name.err" ] || { cat "$name.err"; return 1; }
}
for schedule in constant inverse_sqrt; do
    more=(--set train.schedule=$schedule --set train.warmup=8)
    check "$schedule: steps" longer tr-$schedule tiny.yaml train.steps 40 80 "${more[@]}"
    check "$schedule: the same model" same_model tr-$schedule tr-$schedule-long
    check "$schedule: epochs" longer lm-$schedule lm.yaml train.epochs 2 3 --set train.steps=0 --set train.report_every=0 "${more[@]}"
    check "$schedule: the same language model" same_model lm-$schedule lm-$schedule-long
done
train cosine --set train.steps=40 --set train.schedule=cosine
"$RAPT" train --resume --out cosine --quiet --set train.steps=80 2>err
check 'cosine: it says what becomes of the learning rate' grep -q \
    'cosine now ends at step 80, not 40: the learning rate of step 41 is 0.005, not 0;.*another model' err
check 'cosine: it goes on' test "$(newest cosine)" = 80
"$RAPT" train --resume --out cosine --quiet 2>err
check 'a finished run says how to train longer' grep -q 'the run is finished, at step 80; to train longer, set train.steps higher' err
refused 1 'cosine: step 80 is done already, and train.steps plans 60' 'shorter than it is' \
    "$RAPT" train --resume --out cosine --quiet --set train.steps=60
check 'and nothing has changed' grep -q '^  steps: 80' cosine/recipe.yaml
train over --max-steps 130 2>err
check '--max-steps beyond the end says what to use' grep -q -e '--max-steps 130 is past the last step of the recipe, 120;.*train.steps' err
refused 1 'another recipe: train.clip.*to resume with that: rapt train --resume --out over$' 'the message names the way to resume' \
    "$RAPT" train tiny.yaml --quiet --out over --resume --set train.clip=0.5
refused 1 'over: the run is finished, at step 120, so that train.lr 0.5 .was 0.01. would change nothing; to train longer, set train.steps' \
    'another learning rate of a finished run' "$RAPT" train tiny.yaml --quiet --out over --resume --set train.lr=0.5
train short --set train.steps=20 --set train.warmup=100 2>err
check 'a warmup longer than the run: a warning' grep -q \
    'warning: train.warmup is 100, and the run has 20 steps: the learning rate ends at [0-9.e-]* of [0-9.]*$' err
train single --set train.steps=1 --set train.warmup=0 --set train.schedule=cosine --set train.keep_untrained=true
check 'a single step trains' bash -c '! cmp -s single/model.safetensors single/untrained/model.safetensors'
printf 'data: {pairs: pairs.tsv, validation: null, limit: ~}\ntokenizer: {lowercase: True, type: words}\nmodel: {bias: FALSE}\ntrain: {optimizer: adamw, steps: 2, init: Null}\n' >yaml12.yaml
check "YAML 1.2's True, FALSE, null, ~; adamw" "$RAPT" train yaml12.yaml --quiet --out yaml12
check 'they are what they say' diff <(printf '  limit: 0\n  lowercase: true\n  bias: false\n  optimizer: adam\n') \
    <(grep -E '^  (limit|lowercase|bias|optimizer):' yaml12/recipe.yaml)
early=(--set train.schedule=cosine --set train.warmup=50)
check 'cosine within the warmup: without a warning' longer early tiny.yaml train.steps 40 80 "${early[@]}"
check 'cosine within the warmup: the same model' same_model early early-long
"$RAPT" train --resume --out over --quiet --set train.steps=200 --max-steps 60 2>err
check '--max-steps of what is done already: a warning' grep -q 'step 120 is done already, and --max-steps is 60: nothing is trained' err
refused 1 'the recipe has train.steps 120, which decides' 'epochs that would be ignored' \
    "$RAPT" train tiny.yaml --quiet --out ignored --set train.epochs=3
refused 2 'with --resume and --out' 'neither a recipe nor a folder' "$RAPT" train --resume
finish
