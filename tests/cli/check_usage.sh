#!/bin/bash
# tests/cli/check_usage.sh: help in every form, and wrong usage: one line, exit status 2, with the argument quoted.
. "$(dirname "$0")/lib.sh"

# ---- help ----------------------------------------------------------------------------------------------------------
commands=$("$RAPT" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
check 'there are commands' test "$(echo "$commands" | wc -w)" -ge 12
same_help() { # COMMAND...
    "$RAPT" "$@" --help >long.txt 2>long.err && [ ! -s long.err ] && "$RAPT" "$@" -h >short.txt 2>short.err &&
        [ ! -s short.err ] && "$RAPT" help "$@" >help.txt && cmp long.txt short.txt && cmp long.txt help.txt &&
        grep -q "^Usage: rapt $*" long.txt && grep -q -- '-h, --help' long.txt
}
for command in $commands; do
    check "rapt $command -h and rapt help $command are rapt $command --help" same_help "$command"
done
for part in 'tokenizer train' 'tokenizer encode' 'tokenizer decode' 'tokenizer info' 'plot attention' 'plot positions' \
    'plot similarity' 'plot embedding' 'plot training' 'plot table'; do
    check "rapt $part -h and rapt help $part" same_help $part
done
"$RAPT" --help >long.txt
for form in -h help 'help --help' 'help -h'; do
    "$RAPT" $form >short.txt
    check "rapt $form" cmp long.txt short.txt
done
refused 2 'there is no command "trian"; did you mean "train"\? \(see `rapt --help`\)$' 'help of no command' "$RAPT" help trian
refused 2 'extra operand' 'help of too much' "$RAPT" help plot attention now

# ---- wrong usage ---------------------------------------------------------------------------------------------------
hint='\(see `rapt translate --help`\)$'
refused 2 "unknown option \"--bean\"; did you mean --beam\? $hint" 'an unknown option' "$RAPT" translate m --bean 4
refused 2 "unknown option \"--frobnicate\" $hint" 'one that is like none' "$RAPT" translate m --frobnicate
refused 2 "unknown option \"-x\" $hint" 'a short one' "$RAPT" translate m -x
refused 2 "option --beam needs a value: --beam N $hint" 'a value that is missing' "$RAPT" translate m --beam
refused 2 "option --quiet takes no value $hint" 'a value too many' "$RAPT" translate m --quiet=3
refused 2 "ambiguous option \"--n\": --n.* and others $hint" 'too short a name' "$RAPT" translate m --n 3
refused 2 "missing operand: MODEL $hint" 'an argument that is missing' "$RAPT" translate
refused 2 '"-o" needs|option -o needs a value: -o FILE' 'a short option without its value' "$RAPT" plot training m -o
refused 2 'the first operand must be `attention`' 'a part that is missing' "$RAPT" plot
refused 2 'the first operand must be `attention`' 'a part that is none' "$RAPT" plot frob
check 'a name that is cut, but fits one only' grep -q '^Usage: rapt info' <("$RAPT" info --hel)
refused 2 "option --max-tokens needs a value; if --quiet is the value: --max-tokens=--quiet" 'an option behind it is no value' \
    "$RAPT" generate m --max-tokens --quiet
refused 2 "option -o needs a value: -o FILE" 'nor behind a letter' "$RAPT" plot training m -o --title=dark
refused 1 'm: there is no such' 'a value of that name follows behind =' "$RAPT" generate m --prompt=--quiet
refused 1 'm: there is no such' 'a value that looks like an option is a value' "$RAPT" generate m --prompt --frobnicate
refused 1 '--frobnicate' 'so is what stands behind --' "$RAPT" translate -- --frobnicate

# ---- what was probably meant -----------------------------------------------------------------------------------------
mkdir models
touch models/quickstart recipe.yaml
refused 2 'unknown option "--epochs"; a key of the recipe is set by --set train.epochs=3 ' 'a key taken for an option' \
    "$RAPT" train recipe.yaml --epochs 3
refused 2 '"--batch-size"; .* --set train.batch=8 ' 'by the name that others have for it' "$RAPT" train recipe.yaml --batch-size=8
refused 2 '"--init"; .* --set train.init=models/quickstart ' 'of two keys the one that takes the value' \
    "$RAPT" info recipe.yaml --init models/quickstart
refused 2 '"--init"; .* --set model.init=gpt2 ' 'the other one' "$RAPT" info recipe.yaml --init gpt2
refused 2 '"--patience"; .* --set train.patience=3 ' 'of two keys the one of fewer groups' "$RAPT" train recipe.yaml --patience 3
refused 2 '"--lr"; .* --set train.lr=VALUE ' 'without a value' "$RAPT" train recipe.yaml --lr
refused 2 '"--epochs"; .* --set train.epochs=VALUE ' 'before another option' "$RAPT" train recipe.yaml --epochs --quiet
refused 2 '"--max_steps"; did you mean --max-steps' 'an option in another spelling is no key' "$RAPT" train recipe.yaml --max_steps 3
refused 2 '"--num_beams"; did you mean --beam' 'an option of others' "$RAPT" generate m --num_beams 3
refused 2 '"--max_new_tokens"; did you mean --max-tokens' 'another' "$RAPT" generate m --max_new_tokens 3
refused 2 'unknown key "num_heads"; did you mean "model.heads"' 'a key of others' "$RAPT" train recipe.yaml --set num_heads=3
refused 2 'unknown key "train.quux"; rapt train --help-recipe lists all keys' 'a key like no other' "$RAPT" train recipe.yaml --set train.quux=3
refused 1 "did you mean \"recipe.yaml\"\?" 'a recipe' "$RAPT" train recipe.yml
refused 1 'no such model folder; did you mean "models/quickstart"\?$' 'a model' "$RAPT" translate models/quikstart
refused 1 'none.gguf: there is no such file$' 'a file of a model' "$RAPT" generate none.gguf
refused 2 "did you mean 'tiny-shakespeare'" 'a data set' "$RAPT" fetch shakespeare
refused 2 'there is no `curve`; did you mean `training`' 'a picture' "$RAPT" plot curve x
refused 2 'there is no `trian`; did you mean `train`' 'a subcommand' "$RAPT" tokenizer trian
refused 2 'no command "bench" any more: `rapt-bench` measures' 'a command of older versions' "$RAPT" bench train
check 'rapt-bench -h is rapt-bench --help' cmp <("$RAPT-bench" -h) <("$RAPT-bench" --help | tee help.txt)
check 'which says how it is used' grep -q '^Usage: rapt-bench \[OPTION\.\.\.\] kernels' help.txt
printf 'data:\n  pairs: [a.en, a.de]\n' >list.yaml
echo one >a.en && echo eins >a.de
refused 1 'a.en:1: no tab .*SOURCE:TARGET' 'two files as a list' "$RAPT" train list.yaml --quiet

# What somebody else wrote does not reach the terminal as it is.
evil=$'\e[31m\a\n'
for arguments in "$evil" "translate --$evil" "translate m --beam=$evil" "translate m -$evil" "train r --set=$evil" "tokenizer $evil"; do
    IFS=' ' read -r -d '' -a list < <(printf '%s\0' "$arguments")
    "$RAPT" "${list[@]}" >.out 2>.err
    status=$?
    check "control characters: $(tr -d '[:cntrl:]' <<<"${list[*]}")" \
        test "$(LC_ALL=C tr -cd '\000-\011\013-\037\177' <.err | wc -c)" = 0 -a "$(wc -l <.err)" = 1 -a $status != 0
done
# ---- numbers -------------------------------------------------------------------------------------------------------
refused 2 "'many' is not a whole number \(see" 'any number' "$RAPT" generate m --at many
refused 2 "'-1' is not a whole number of 0 or more \(see" 'one without an upper end' "$RAPT" generate m --max-tokens -1
refused 2 "'0' is not a whole number from 1 to 1024 \(see" 'one with both ends' "$RAPT" translate m --beam 0
refused 2 "'x' is not a number from 0 to 1000000 \(see" 'without an exponent' "$RAPT" generate m --temperature x
refused 2 "'99999999999999999999' is not a whole number from 0 to 9223372036854775807 " 'a seed beyond 64 bits' \
    "$RAPT" generate m --seed 99999999999999999999
refused 1 'm: there is no such' 'one of more than 53' "$RAPT" generate m --seed 9007199254740993
finish
