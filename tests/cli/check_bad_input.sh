#!/bin/bash
# tests/cli/check_bad_input.sh: whatever is wrong with its input, rapt says so in one line with file and place, ends
# with status 1 (2: wrong usage), and leaves nothing half-written.
. "$(dirname "$0")/lib.sh"
make_inputs
train good >/dev/null || { echo "cannot train the good model"; exit 1; }
before=$(listing good)

# ---- sentence pairs ------------------------------------------------------------------------------------------------
: >empty.tsv
printf 'a\tb\nno tab here\n' >notab.tsv
printf 'a\tb\nc\t\xff\xfed\n' >utf8.tsv
printf 'a\tb\nx\0y\tc\n' >nul.tsv
printf 'a\tb\nc\t\xc3' >cut.tsv
printf '\n\n\n' >blank.tsv
pairs() { refused 1 "$2" "pairs: $3" "$RAPT" train tiny.yaml --quiet --out out --set data.pairs="$1"; }
pairs none.tsv 'none.tsv: No such file' 'missing file'
pairs empty.tsv 'empty.tsv: the file is empty' 'empty file'
pairs blank.tsv 'blank.tsv: the file is empty' 'empty lines only'
pairs "$WORK" 'Is a directory' 'a folder'
pairs /dev/null '/dev/null: the file is empty' '/dev/null'
pairs notab.tsv 'notab.tsv:2: no tab' 'line without a tab'
pairs utf8.tsv 'utf8.tsv:2: byte 3 .*UTF-8' 'invalid UTF-8'
pairs nul.tsv 'nul.tsv:2: byte 2 .*NUL' 'NUL byte'
pairs cut.tsv 'cut.tsv:2: byte 3 .*UTF-8' 'character cut off at the end'
refused 1 'pairs.tsv:[0-9]+: a sentence of [0-9]+ tokens' 'pairs: too long a sentence where that is an error' \
    "$RAPT" train tiny.yaml --quiet --out out --set data.max_len=5 --set data.too_long=error
refused 1 'no pair is left' 'pairs: all dropped' \
    "$RAPT" train tiny.yaml --quiet --out out --set data.max_len=2 --set data.too_long=drop
check 'pairs: no folder is left' test ! -e out
printf 'c\t\xff\n' >bad-held-out.tsv
refused 1 'bad-held-out.tsv:1: byte 3' 'eval: bad pairs' "$RAPT" eval good bad-held-out.tsv
refused 1 'none.tsv' 'eval: missing pairs' "$RAPT" eval good none.tsv

# ---- recipes -------------------------------------------------------------------------------------------------------
recipe() {
    printf -- "$1" >bad.yaml
    refused 1 "$2" "recipe: $3" "$RAPT" train bad.yaml --quiet --out out
}
recipe '' 'bad.yaml: the recipe is empty' 'empty'
recipe 'data: [1, 2' 'bad.yaml:[0-9]+: ' 'not YAML'
recipe '- a\n- b\n' 'bad.yaml:1: ' 'a list'
recipe 'data: pairs.tsv\n' 'bad.yaml:1: ' 'a text in place of a group'
recipe 'task: translation\n\tseed: 1\n' 'bad.yaml:2: ' 'a tab'
recipe 'seed: \xff\n' 'bad.yaml' 'invalid UTF-8'
recipe 'seed: 1\0\n' 'bad.yaml' 'NUL byte'
recipe 'seed: 1\nseed: 2\n' 'bad.yaml:2: .*seed' 'a key twice'
recipe 'model:\n  laiers: 2\n' 'bad.yaml:2: unknown key "model.laiers"; did you mean "model.layers"' 'unknown key'
recipe 'model:\n  quux: 2\n' 'bad.yaml:2: unknown key "model.quux"; rapt train --help-recipe lists all keys$' 'a key like no other'
recipe 'model:\n  layers: two\n' 'bad.yaml:2: model.layers' 'a word for a number'
recipe 'train:\n  lr: -1\n' 'bad.yaml:2: train.lr is -1' 'value out of range'
recipe 'train:\n  lr: nan\n' 'bad.yaml:2: train.lr' 'NaN'
recipe 'task: chess\n' 'bad.yaml:1: task' 'unknown task'
recipe 'task: translation\n' 'data.pairs is missing' 'no data'
recipe 'data: &a\n  pairs: *a\n' 'bad.yaml:[0-9]+: ' 'an alias'
head -c 3000 /dev/urandom >random.yaml
refused 1 'random.yaml' 'recipe: random bytes' "$RAPT" train random.yaml --quiet --out out
refused 1 'none.yaml' 'recipe: missing' "$RAPT" train none.yaml --quiet --out out
refused 1 'Is a directory' 'recipe: a folder' "$RAPT" train "$WORK" --quiet --out out
setting() { refused "$1" "$3" "--set $2" "$RAPT" train tiny.yaml --quiet --out out --set "$2"; }
setting 2 model.laiers=2 'model.laiers.*did you mean "model.layers"'
setting 1 model.heads=5 'model.heads'
setting 2 train.lr=-1 'train.lr is -1'
setting 2 train.lr= 'train.lr'
setting 2 train.lr 'train.lr'
setting 1 train.freeze=nothing.* 'nothing\.\*'
setting 1 data.max_len=100 'data.max_len'
setting 1 model.tied=true 'tied'
check 'recipe: no folder is left' test ! -e out

# ---- model folders -------------------------------------------------------------------------------------------------
broken() { rm -rf broken; cp -r good broken; }
# model PATTERN NAME: the folder `broken` is refused by every command that loads a model.
model() {
    refused 1 "$1" "model: $2 (translate)" "$RAPT" translate broken pairs.tsv
    refused 1 "$1" "model: $2 (info)" "$RAPT" info broken
    refused 1 "$1" "model: $2 (eval)" "$RAPT" eval broken pairs.tsv
    refused 1 "$1" "model: $2 (init)" "$RAPT" train tiny.yaml --quiet --out out --init broken
    check "model: $2 leaves no folder" test ! -e out
}
rm -rf broken
model 'broken' 'missing folder'
mkdir broken
model 'broken/config.json' 'empty folder'
broken; rm broken/model.safetensors
model 'broken/model.safetensors' 'no parameters'
broken; rm broken/target.tokenizer.json
model 'broken/target.tokenizer.json' 'no tokenizer'
broken; head -c 20000 good/model.safetensors >broken/model.safetensors
model 'broken/model.safetensors: ' 'truncated'
broken; : >broken/model.safetensors
model 'broken/model.safetensors: ' 'empty file'
broken; head -c 40000 /dev/urandom >broken/model.safetensors
model 'broken/model.safetensors: ' 'random bytes'
broken; printf 'more' >>broken/model.safetensors
model 'broken/model.safetensors: ' 'bytes behind the end'
broken; echo '{}' >broken/config.json
model 'broken/config.json: ' 'empty configuration'
broken; echo '{"a":' >broken/config.json
model 'broken/config.json:[0-9]+: ' 'configuration cut off'
broken; echo '[]' >broken/config.json
model 'broken/config.json: ' 'configuration is a list'
# edit FILE FROM TO: FROM must be there, so that a check can't come to test nothing.
edit() {
    broken
    sed -i "s/$2/$3/" "broken/$1"
    ! cmp -s "good/$1" "broken/$1" || fail "edit $1: nothing matches $2"
}
edit config.json '"d_model": 16' '"d_model": 32'
model 'broken/config.json: "(d_model|layers)" is ' 'a configuration of other shapes'
edit config.json '"layers": 1' '"layers": 2'
model 'broken/config.json: "(d_model|layers)" is ' 'a configuration of more layers'
edit config.json '"bias": true' '"bias": false'
model 'broken/config.json: "bias" is ' 'tensors left over'
edit config.json '"heads": 2' '"heads": 3'
model 'heads' 'heads that do not divide'
edit config.json '"version": 1' '"version": 99'
model 'broken/config.json: format version 99' 'format of the future'
edit config.json '"layers": 1' '"layers": -1'
model 'broken/config.json: "layers" is -1' 'a negative size'
edit source.tokenizer.json '"house",*' ''
model 'broken/source.tokenizer.json' 'tokenizer damaged'
broken; cp good/target.tokenizer.json broken/source.tokenizer.json
model 'broken/source.tokenizer.json: [0-9]+ tokens; the model was made for [0-9]+' 'tokenizer of another model'
edit source.tokenizer.json '"house"' '"mouse"'
model 'broken/source.tokenizer.json: not the tokenizer that the model was trained with' 'tokenizer of equal size'
edit source.tokenizer.json '"<pad>"' '"pad"'
model 'broken/source.tokenizer.json' 'tokenizer without <pad>'
(
    [ "$SANITIZED" ] || ulimit -v 4000000 # a wish for more memory than that fails, instead of troubling the machine
    for wish in 's/"d_model": 16/"d_model": 1000000000/' 's/"max_positions": 40/"max_positions": 1000000000/' \
        's/"ffn": 32/"ffn": 1000000000/' 's/"layers": 1,/"layers": 1000,/'; do
        rm -rf broken; cp -r good broken; sed -i "$wish" broken/config.json
        timeout 10 "$RAPT" info broken >/dev/null 2>.err
        [ $? = 1 ] && [ "$(wc -l <.err)" = 1 ] || echo "$wish: $(head -c 300 .err)"
    done
) >.huge
check 'model: absurd sizes cost no memory' test ! -s .huge

# Every bit that is flipped is noticed, wherever it lies in the file.
flipped=0 size=$(stat -c %s good/model.safetensors)
for ((i = 0; i < 40; i++)); do
    broken
    at=$((i < 10 ? i * 3 : i * 7919 % size))
    byte=$(od -An -t u1 -j $at -N 1 good/model.safetensors)
    printf "\\x$(printf %x $((byte ^ (1 << i % 8))))" | dd of=broken/model.safetensors bs=1 seek=$at conv=notrunc status=none
    "$RAPT" translate broken pairs.tsv >.out 2>.err
    if [ $? = 1 ] && [ "$(wc -l <.err)" = 1 ] && [ ! -s .out ] && grep -q '^rapt: broken/model.safetensors: ' .err; then
        flipped=$((flipped + 1))
    else
        echo "      flipped bit at byte $at: $(head -c 200 .err)"
    fi
done
check 'model: 40 flipped bits, each noticed' test $flipped = 40
check 'model: nobody wrote to the good one' test "$before" = "$(listing good)"

# ---- usage ---------------------------------------------------------------------------------------------------------
usage() { refused 2 "$1" "usage: rapt ${*:2}" "$RAPT" "${@:2}"; }
bench_usage() { refused 2 "$1" "usage: rapt-bench ${*:2}" "$RAPT-bench" "${@:2}"; }
usage 'no command "frob"' frob
usage 'did you mean "train"' trian
usage 'RECIPE.yaml' train
usage 'one recipe' train tiny.yaml tiny.yaml
usage 'max-steps' train tiny.yaml --max-steps -1
usage 'threads' train tiny.yaml --threads 0
usage 'seed' train tiny.yaml --seed x
usage 'frob' train tiny.yaml --frob
usage 'operand: MODEL' translate
usage 'beam' translate good --beam 0
usage 'beam' translate good --beam
usage 'beam' translate good --beam 2x
usage 'n-best' translate good --n-best 3 --beam 2
usage 'batch' translate good --batch 0
usage 'length-penalty' translate good --length-penalty nan
usage 'model' eval good
usage 'REFERENCE' score pairs.tsv
usage 'metric' score pairs.tsv pairs.tsv --metric meteor
usage 'one model' info good good
bench_usage 'kernels' frob
bench_usage 'profile' kernels --profile
bench_usage 'recompute' decode --recompute
usage 'precision' train tiny.yaml --precision fp8
bench_usage 'precision' train --precision fp64
for command in 'eval gpt text.txt' 'generate gpt' 'chat gpt' 'translate m' 'embed m'; do
    # shellcheck disable=SC2086
    usage '--precision or --weights, not both' $command --precision fp32 --weights q8_0
    # shellcheck disable=SC2086
    usage '--precision or --weights, not both' $command --weights q8_0 --precision bf16
done
bench_usage '--precision or --weights, not both' decode --weights q8_0 --precision bf16
usage '--compare: MODEL is missing' eval gpt text.txt --compare=
refused 1 'no case "nix"' 'an unknown benchmark' "$RAPT-bench" kernels --case nix
refused 1 'nix' 'an unknown benchmark of training' "$RAPT-bench" train --case nix
refused 1 'sse9' 'RAPT_ISA=sse9' env RAPT_ISA=sse9 "$RAPT" info
refused 1 "unknown CPU mask 'pentium'" 'RAPT_CPU_MASK=pentium' env RAPT_CPU_MASK=pentium "$RAPT" info
refused 1 'sse9' 'RAPT_ISA=sse9 in training' env RAPT_ISA=sse9 "$RAPT" train tiny.yaml --quiet --out out
refused 1 'RAPT_THREADS' 'RAPT_THREADS=many' env RAPT_THREADS=many "$RAPT" translate good pairs.tsv
refused 1 'none.txt' 'translate: missing text' "$RAPT" translate good none.txt
printf 'b\xffd\ngood\n' >bad.txt
refused 1 'bad.txt:1: byte 2 .*UTF-8' 'translate: invalid UTF-8' "$RAPT" translate good bad.txt
printf 'go\0od\n' >bad.txt
refused 1 'bad.txt:1: byte 3 .*NUL' 'translate: NUL byte' "$RAPT" translate good bad.txt
refused 1 'none' 'score: missing text' "$RAPT" score none none
head -3 pairs.tsv >three.txt
refused 1 '240 lines.*3|3 lines.*240' 'score: texts of different length' "$RAPT" score pairs.tsv three.txt

# ---- places that can't be written ----------------------------------------------------------------------------------
refused 1 '/proc/rapt' 'output folder that cannot be made' "$RAPT" train tiny.yaml --quiet --out /proc/rapt
refused 1 'tiny.yaml' 'output folder that is a file' "$RAPT" train tiny.yaml --quiet --out tiny.yaml
refused 1 'tiny.yaml' 'output folder below a file' "$RAPT" train tiny.yaml --quiet --out tiny.yaml/x
check 'the file is still there' cmp tiny.yaml <(make_recipe)

# The disk fills up while a checkpoint is saved: what was saved before stays good, and training can be resumed.
mkdir full
if mount -t tmpfs -o size=256k none full 2>/dev/null; then
    MOUNTED=$WORK/full
    refused 1 'full/.*No space left' 'disk full while saving' "$RAPT" train tiny.yaml --quiet --out full/m
    step=$(newest full/m)
    check 'disk full: an earlier checkpoint is there' test "$step" -gt 0
    check 'disk full: no temporary file is left' test -z "$(find full -name '*.tmp')"
    check 'disk full: the model can be used' "$RAPT" translate full/m three.txt
    mount -o remount,size=4m full
    check 'disk full: training goes on' "$RAPT" train tiny.yaml --quiet --out full/m --resume
    check 'disk full: and ends as if it had never been full' same_model good full/m
    umount full
    mount -t tmpfs -o size=8k none full
    refused 1 'full/.*No space left' 'disk full from the start' "$RAPT" train tiny.yaml --quiet --out full/m
    check 'disk full from the start: no temporary file' test -z "$(find full -name '*.tmp')"
    umount full
    # Room for the model, but not for the first checkpoint: a model without any could not be resumed.
    mkdir -p first/checkpoints
    MOUNTED=$WORK/first/checkpoints
    mount -t tmpfs -o size=8k none first/checkpoints
    refused 1 'checkpoints.*No space left' 'disk full at the first checkpoint' "$RAPT" train tiny.yaml --quiet --out first
    umount first/checkpoints
    check 'disk full at the first checkpoint: it starts again' "$RAPT" train tiny.yaml --quiet --out first --resume
    check 'disk full at the first checkpoint: the same model' same_model good first
    MOUNTED=
else
    skip 'disk full while saving (needs the right to mount a tmpfs)'
fi

# ---- numbers that stop being numbers -------------------------------------------------------------------------------
# Weight decay 1 at rate 10 multiplies every matrix by -9 at each step, until it overflows.
refused 1 'step [0-9]+: the (loss|gradient) is not finite; the first bad tensor is [^(]*[a-z]+\.[a-z0-9_.]+' \
    'a loss that becomes NaN' "$RAPT" train tiny.yaml --quiet --out nan --set train.lr=10 --set train.weight_decay=1 \
    --set train.checkpoint_every=3
stopped=$(sed 's/.*step \([0-9]*\):.*/\1/' .err)
check 'NaN: it stopped at that step' test "$(newest nan)" -lt "${stopped:-0}" -a "$(newest nan)" -ge "$((stopped - 3))"
check 'NaN: the last checkpoint is of a good step' "$RAPT" train tiny.yaml --quiet --out nan --resume \
    --max-steps "$(newest nan)" --set train.lr=10 --set train.weight_decay=1 --set train.checkpoint_every=3
check 'NaN: the model can be used' "$RAPT" translate nan three.txt
check 'NaN: no temporary file is left' test -z "$(find nan -name '*.tmp')"
finish
