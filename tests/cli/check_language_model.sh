#!/bin/bash
# tests/cli/check_language_model.sh: `rapt train` on raw text: what it leaves and prints, stopped and resumed, the token file
# as a cache, texts and recipes that are refused, and the recipes that come with rapt.
# labels: sanitized-late
. "$(dirname "$0")/lib.sh"
make_text >text.txt
make_text_recipe characters >characters.yaml
make_text_recipe bpe >bpe.yaml
learn() { "$RAPT" train "$1.yaml" --quiet --out "${@:2}"; }

# ---- a run ---------------------------------------------------------------------------------------------------------
"$RAPT" train characters.yaml --out model --set train.sample_every=60 --set train.sample_tokens=20 >.out 2>talk
check 'it trains' test $? = 0
check 'nothing on stdout' test ! -s .out
check 'the parts and the vocabulary are told' grep -Eqx 'data: [0-9]+ tokens to train on, [0-9]+ for validation; a vocabulary of [0-9]+' talk
characters=$(LC_ALL=C.UTF-8 wc -m <text.txt)
check 'they are the text, nine parts to one' test "$(sed -n 's/^data: \([0-9]*\) .*, \([0-9]*\) for validation.*/\1 \2/p' talk)" = \
    "$((characters * 9 / 10)) $((characters - characters * 9 / 10))"
check 'the vocabulary is its characters' test "$(sed -n 's/.*vocabulary of //p' talk)" = \
    "$(LC_ALL=C.UTF-8 grep -o . text.txt | sort -u | wc -l | awk '{ print $1 + 1 }')" # and the line break
check 'a line at each report' test "$(grep -c '^epoch .*step .*loss .*val_loss .*tokens/s.*left' talk)" = 6
check 'a sample every 60 steps' test "$(grep -c '^---- a sample after step \(60\|120\)$' talk)" = 2
check 'the files of a folder' test "$(ls model | tr '\n' ' ')" = \
    'best checkpoints config.json model.safetensors recipe.yaml text.tokens tokenizer.json train.jsonl '
check 'a report a line' test "$(grep -c '"val_loss"' model/train.jsonl)" = 6
check 'it learns' awk -F'"val_loss": ' '{ split($2, x, ","); loss[NR] = x[1] } END { exit !(loss[NR] < 0.7 * loss[1]) }' \
    model/train.jsonl
learn characters quiet >.out 2>.err
check '--quiet: not a word' test ! -s .out -a ! -s .err
check 'samples change nothing' cmp model/model.safetensors quiet/model.safetensors
check 'rapt info knows it' "$RAPT" info model
check 'the best model is one by itself' "$RAPT" info model/best
"$RAPT" train model/recipe.yaml --quiet --out again
check 'the recipe in the folder trains it again' same_model model again

# ---- stopped and resumed ---------------------------------------------------------------------------------------------
for kind in characters bpe; do
    learn $kind whole-$kind
    learn $kind parts-$kind --max-steps 33 && learn $kind parts-$kind --resume --max-steps 34 --threads 3 &&
        learn $kind parts-$kind --resume
    check "$kind: 33, 1 and 86 steps = 120 steps" same_model whole-$kind parts-$kind
done
unending=(--set train.steps=1000000 --set train.checkpoint_every=100 --set train.report_every=50)
"$RAPT" train bpe.yaml --quiet --out killed "${unending[@]}" &
child=$!
wait_for_step killed 100
check 'kill -9: it was running' kill -9 $child
wait $child 2>/dev/null
end=$(($(newest killed) + 130))
learn bpe killed --resume --max-steps $end "${unending[@]}" && learn bpe unharmed --max-steps $end "${unending[@]}"
check 'kill -9 and resume = never stopped' same_model unharmed killed
"$RAPT" train bpe.yaml --quiet --out stopped "${unending[@]}" 2>stopped.err &
child=$!
wait_for_step stopped 100
kill -INT $child
wait $child
check 'Ctrl-C: exit status 130' test $? = 130
step=$(newest stopped)
check 'Ctrl-C: one line that names the step' grep -Eqx "rapt: stopped after step $step of 1000000.*--resume.*" stopped.err
check 'Ctrl-C: the model can be used' "$RAPT" generate stopped --quiet --prompt 'the ' --max-tokens 5
learn bpe stopped --resume --max-steps $((step + 70)) "${unending[@]}" &&
    learn bpe straight --max-steps $((step + 70)) "${unending[@]}"
check 'Ctrl-C and resume = never stopped' same_model straight stopped
refused 1 'whole-bpe holds checkpoints of an earlier run' 'a folder with checkpoints, without --resume' \
    "$RAPT" train bpe.yaml --quiet --out whole-bpe
refused 1 'whole-bpe: .*another recipe' 'another context' \
    "$RAPT" train bpe.yaml --quiet --out whole-bpe --resume --set model.context=10 --set model.positions=rotary
sed 's/fox/cat/' text.txt >changed.txt
refused 1 'whole-characters: .*or data' 'a text that has changed' \
    "$RAPT" train characters.yaml --quiet --out whole-characters --resume --set data.text=changed.txt
check 'the model is as it was' cmp parts-characters/model.safetensors whole-characters/model.safetensors

# ---- the token file is a cache ------------------------------------------------------------------------------------------
cp text.txt moved.txt
check 'the same text at another place' learn characters whole-characters --resume --set data.text=moved.txt
check 'its tokens are made again' cmp parts-characters/text.tokens whole-characters/text.tokens
# again NAME: with the token file as it is now, the run is what it was, and so is the file afterwards.
again() {
    learn characters cache --resume 2>.err
    check "$1: made again" cmp parts-characters/text.tokens cache/text.tokens
    check "$1: the run goes on" same_model parts-characters cache
}
cp -r parts-characters cache
for at in 9 20 50 64 3000; do
    printf '\377' | dd of=cache/text.tokens bs=1 seek=$at conv=notrunc status=none
    again "a byte changed at $at"
done
truncate -s 3000 cache/text.tokens && again 'cut off'
truncate -s 0 cache/text.tokens && again 'empty'
rm cache/text.tokens && again 'gone'
cp whole-bpe/text.tokens cache/text.tokens && again 'of another tokenizer'
cp text.txt cache/text.tokens
refused 1 'cache/text.tokens: it is no token file' 'a file of that name that is none' \
    "$RAPT" train characters.yaml --quiet --out cache --resume
check 'is left alone' cmp text.txt cache/text.tokens

# ---- folders and lists ------------------------------------------------------------------------------------------------
mkdir -p project/src/.git project/binary recipes
head -100 text.txt >project/src/a.txt
tail -n +101 text.txt | head -100 >project/src/b.txt
tail -n +201 text.txt >last.txt
head -c 500 /dev/urandom >project/src/image.png
head -c 500 /dev/zero >project/binary/zeros
echo hidden >project/src/.git/config
ln -s a.txt project/src/link
sed 's|text.txt|../project:../last.txt|' characters.yaml >recipes/several.yaml
check 'a folder and a file, relative to the recipe' "$RAPT" train recipes/several.yaml --quiet --out several
check 'they are joined as they should be' cmp text.txt several/text.txt
check 'it is the model of the whole text' cmp several/model.safetensors whole-characters/model.safetensors
(cd recipes && "$RAPT" train ../several/recipe.yaml --quiet --out ../several-again)
check 'the recipe in the folder names absolute paths' same_model several several-again

# ---- what is refused ------------------------------------------------------------------------------------------------------
: >empty.txt
printf 'all is well \xff here, and goes on for a while' >bad.txt
printf 'a surrogate \xed\xa0\x80 here' >surrogate.txt
printf 'cut off \xc3' >cut.txt
before=$(find . | sort)
# no PATTERN NAME RECIPE OPTIONS...: refused, and no folder is left.
no() { refused 1 "$1" "$2" "$RAPT" train "$3.yaml" --quiet --out new/out "${@:4}"; }
no 'bad.txt: byte 13: not UTF-8' 'characters: invalid UTF-8' characters --set data.text=bad.txt
no 'surrogate.txt: byte 13: not UTF-8' 'characters: a surrogate' characters --set data.text=surrogate.txt
no 'cut.txt: byte 9: not UTF-8' 'characters: cut off at the end' characters --set data.text=cut.txt
no 'empty.txt: ' 'characters: an empty text' characters --set data.text=empty.txt
no 'empty.txt: ' 'bpe: an empty text' bpe --set data.text=empty.txt
no 'none.txt' 'a missing text' bpe --set data.text=none.txt
no 'none.txt' 'a missing text in a list' bpe --set data.text=text.txt:none.txt
no '/dev/null' 'a device' bpe --set data.text=/dev/null
no 'project/binary: no text' 'a folder without text' characters --set data.text=project/binary
no 'image.png: byte [0-9]+: not UTF-8' 'characters: a binary file that is named' characters \
    --set data.text=text.txt:project/src/image.png
no 'the training split has [0-9]+ tokens; a window of model.context 100000 needs 100001' 'shorter than the context' \
    characters --set model.context=100000
no 'the validation split has [0-9]+ tokens' 'the validation part is shorter' characters --set data.validation_fraction=0.0005
no 'none.json' 'a missing tokenizer' characters --set tokenizer.type=file --set tokenizer.path=none.json
no 'text.txt:1: ' 'a rank file that is none' characters --set tokenizer.type=r50k_base --set tokenizer.path=text.txt
no 'train.sample_prompt: the prompt: byte 2: character U\+0040' 'a sample prompt of unknown characters' characters \
    --set train.sample_every=50 --set 'train.sample_prompt=a@'
no 'data.text is missing' 'no text named' characters --set data.text=
no 'tokenizer.path is missing' 'a tokenizer without a path' characters --set tokenizer.type=cl100k_base
no 'tokenizer.type is words' 'words' characters --set tokenizer.type=words
no 'model.kv_heads is 3' 'heads that do not divide' characters --set model.kv_heads=3
no 'data.pairs is x.tsv; that is for task translation only' 'pairs' characters --set data.pairs=x.tsv
no 'data.pairs is missing|that is for task language_model only' 'a text for translation' characters --set task=translation
no 'model.context is 24; the model in whole-bpe has 12 positions' '--init: a larger context' bpe --init whole-bpe --set model.context=24
no 'not in the vocabulary' '--init: unknown characters' characters --init whole-characters --set data.text="$SOURCE/README.md"
make_inputs
train pairs --set train.steps=1
no 'pairs is a translation model' '--init: a translation model' characters --init pairs
refused 1 'whole-bpe is a language model' '--init: a language model, for translation' \
    "$RAPT" train tiny.yaml --quiet --out new/out --init whole-bpe
sed 's/^  layers: 1/&\n  preset: gpt2/' characters.yaml >order.yaml
no 'order.yaml:11: model.preset sets the keys of model; it must come before model.layers' 'a preset behind other keys' order
rm -r pairs pairs.tsv tiny.yaml order.yaml
check 'nothing is left of all that' diff <(echo "$before") <(find . | sort)
no 'bad.txt: byte [0-9]+: not UTF-8' 'bpe: bytes that are no text' bpe --set data.text=bad.txt
refused 1 'step [0-9]+: the (loss|gradient) is not finite; the first bad tensor is [^(]*[a-z]+\.[a-z0-9_.]+' \
    'a loss that becomes NaN' "$RAPT" train bpe.yaml --quiet --out nan --set train.lr=10 --set train.weight_decay=1
check 'NaN: no temporary file is left' test -z "$(find nan -name '*.tmp')"

# ---- the recipes that come with rapt ---------------------------------------------------------------------------------------
# One step of each, with few and short windows and, where their files are not here, the text and tokenizer from above.
for recipe in "$SOURCE"/recipes/*.yaml; do
    name=$(basename "$recipe" .yaml)
    options=(--set train.batch=2)
    ! grep -q '^task: language_model' "$recipe" || options+=(--set model.context=16 --set data.validation_tokens=100)
    case $name in
    d2l-* | fra-eng) options+=(--set "data.pairs=$SOURCE/data/en-fr.tsv" --set data.limit=500) ;;
    multi30k-* | back-translation) options+=(--set "data.pairs=$SOURCE/data/en-fr.tsv" --set data.validation=
                          --set train.eval_bleu=false --set train.batch_tokens=100 --set data.limit=500) ;;
    sales-*) options+=(--set data.text=text.txt --set tokenizer.type=characters --set tokenizer.path= --set train.sample_every=0) ;;
    chat-base) options+=(--set model.context=64) ;;
    chat) options=(--init recipe-chat-base --set train.batch=2 --set model.context=64) ;; # its base comes before it
    preferences) options=(--init recipe-chat --set train.batch=2 --set model.context=64) ;;
    shakespeare-*) options+=(--set data.text=text.txt) ;;
    finetune-lora) options+=(--init "$SOURCE/tests/golden/hub/qwen2" --set data.text=text.txt --set data.text_files=) ;;
    finetune-*) options+=(--init "$SOURCE/tests/golden/hub_translation/marian" --set data.max_len=60 --set data.limit=500) ;;
    esac
    check "recipes/$name.yaml: a step" "$RAPT" train "$recipe" --quiet --out recipe-$name --max-steps 1 "${options[@]}"
done
finish
