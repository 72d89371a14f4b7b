#!/bin/bash
# tests/cli/check_completion.sh: the scripts of `rapt --completion` complete in bash, zsh and fish: commands, subcommands, values,
# files, and for each command the options of its --help. A shell that is not installed is skipped.
# labels: not-sanitized not-emulated
. "$(dirname "$0")/lib.sh"
mkdir home here here/folder
HOME=$WORK/home
touch here/one.yaml here/two.txt

# ---- what to expect: from the help texts ---------------------------------------------------------------------------
commands=$("$RAPT" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
parts_of() { # COMMAND: its subcommands
    "$RAPT" "$1" --help | sed -n '1s/.* \([a-z|]*\) \.\.\.$/\1/p; s/^  \([a-z]*\) .*/\1/p' | tr '|' '\n' | grep . | grep -vx WHAT
}
leaves=() # commands that have options: "train", "tokenizer train"
for command in $commands; do
    parts=$(parts_of "$command")
    if [ "$parts" ]; then
        for part in $parts; do leaves+=("$command $part"); done
    else
        leaves+=("$command")
    fi
done
check 'there are commands with subcommands, and others' test ${#leaves[@]} -ge 20
options_of() { "$RAPT" $1 --help | grep -E '^ {2,6}-' | sed 's/^ *//; s/   .*//' | grep -oE -- '--[a-z0-9-]+' | LC_ALL=C sort -u; }

# ---- the shells: complete_SHELL LINE prints what may stand at its end, one a line -------------------------------------
complete_bash() {
    bash --norc --noprofile -c 'cd here && . "$1" && COMP_WORDS=("${@:2}") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _rapt rapt &&
        printf "%s\n" "${COMPREPLY[@]}"' - "$WORK/rapt.bash" "$@" 2>.err | LC_ALL=C sort -u
}
# The words of a line, as bash makes them: an = is one, and the last may be empty.
split_line() { sed 's/ *= */ = /g' <<<"$1" | tr ' ' '\n'; }

cat >zsh_asks <<'ZSH'
# The completions of each line of the standard input, after a line "> LINE". In a terminal of its own, zsh writes what its
# completion system would offer into a file.
zmodload zsh/zpty
zpty asked zsh -f -i
for line in "cd here" "fpath=($1 \$fpath)" "autoload -Uz compinit" "compinit -u -D" "PS1= PS2= RPS1=" "setopt no_beep" \
    "compadd() {
        local -a offered
        case \${(j: :)\${@[1,(i)--]}} in (*' -O '*|*' -A '*|*' -D '*|'-O '*|'-A '*|'-D '*) builtin compadd \"\$@\"; return ;; esac
        builtin compadd -O offered \"\$@\"
        print -rl -- \$offered >>$2
        builtin compadd \"\$@\"
    }" "ended() { print -r -- end >>$2; zle kill-whole-line }" "zle -N ended" "bindkey '^T' ended" "bindkey '^I' complete-word" \
    "print ready >>$2"; do
    zpty -w asked $line
done
await() { # LINE FILE; what nobody reads from the terminal would stop the other zsh
    repeat 3000; do
        [[ $(tail -n 1 $2 2>/dev/null) == $1 ]] && return
        zpty -r -t asked >/dev/null || sleep 0.01
    done
    exit 1
}
await ready $2
while read -r line; do
    print -r -- "> $line"
    : >$2
    zpty -w -n asked "${line%\$}"$'\t\x14'
    await end $2
    sed '$d' $2
done
zpty -d asked
ZSH
complete_zsh() { # LINE...: asks for all at once
    printf '%s$\n' "$@" | timeout 300 zsh -f "$WORK/zsh_asks" "$WORK/functions" "$WORK/offered" 2>.err
}
complete_fish() {
    (cd here && fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$WORK/rapt.fish" "$1" 2>"$WORK/.err") | cut -f1 | LC_ALL=C sort -u
}

# What a line gives, in the words of each shell: "LINE<tab>WORD...", WORD offered; -WORD: not offered.
cat >expected <<'LINES'
rapt tr	train translate -score
rapt help pl	plot -train
rapt tokenizer 	train encode decode info
rapt plot at	attention
rapt translate m --alignment 	hard soft words
rapt translate m --detok	--detokenize
rapt convert m --to 	hf ctranslate2 gguf
rapt tokenizer train --type 	bpe characters words
rapt plot attention m x --kind 	self cross causal
rapt fetch 	fra-eng multi30k
rapt info --json 	two.txt
rapt translate 	two.txt folder
rapt --completion 	bash zsh fish
rapt train --set train.lor	train.lora.rank
rapt info one.yaml -s model.h	model.heads -model.layers
rapt train --out 	folder -two.txt
LINES
# offers SHELL LINE WORD...: looks at what .answer has, without / and = at the end.
offers() {
    local shell=$1 line=$2 word bad=
    shift 2
    sed 's|[/=]$||' .answer >.offered
    for word; do
        case $word in
        -[!-]*) ! grep -qxe "${word#-}" .offered || bad="$bad $word" ;;
        *) grep -qxe "$word" .offered || bad="$bad $word" ;;
        esac
    done
    check "$shell: $line${bad:+ lacks or has$bad}" test -z "$bad"
}
# same_options SHELL COMMAND: .answer is what was offered behind "--".
same_options() {
    grep -e '^--' .answer | sed 's/=$//' | LC_ALL=C sort -u >.offered
    options_of "$2" | diff - .offered >.diff
    check "$1: the options of rapt $2: $(grep '^[<>]' .diff | tr '\n' ' ')" test ! -s .diff -a -s .offered
}

if "$RAPT" --completion bash >rapt.bash && bash -n rapt.bash; then
    while IFS=$'\t' read -r line words; do
        mapfile -t split < <(split_line "$line")
        complete_bash "${split[@]}" >.answer
        offers bash "$line" $words
    done <expected
    for leaf in "${leaves[@]}"; do
        complete_bash rapt $leaf -- >.answer
        same_options bash "$leaf"
    done
    complete_bash rapt score a --metric = ch >.answer
    offers bash 'a value behind =' chrf chrf++ -bleu
    complete_bash rapt train '' >.answer
    offers bash 'recipes' one.yaml folder -two.txt
    complete_bash rapt train - >.answer
    offers bash 'letters' -o -s --out
    touch 'here/p [ab].txt' 'here/p a.txt' 'here/p *.txt' 'here/p\a.txt'
    complete_bash rapt info p >.answer
    check 'bash: names of files that are patterns' diff .answer - <<<$'p *.txt\np [ab].txt\np a.txt\np\\a.txt'
    rm here/p*
else
    fail 'a script for bash'
fi
if command -v zsh >/dev/null; then
    mkdir functions
    "$RAPT" --completion zsh >functions/_rapt
    mapfile -t lines < <(cut -f1 expected; printf 'rapt %s --\n' "${leaves[@]}")
    complete_zsh "${lines[@]}" >.answers
    answer() { awk -v wanted="> $1\$" '$0 == wanted { found = 1; next } /^> / { found = 0 } found' .answers; }
    while IFS=$'\t' read -r line words; do
        answer "$line" >.answer
        offers zsh "$line" $words
    done <expected
    for leaf in "${leaves[@]}"; do
        answer "rapt $leaf --" >.answer
        same_options zsh "$leaf"
    done
else
    skip 'completions in zsh (it is not installed)'
fi
if command -v fish >/dev/null; then
    "$RAPT" --completion fish >rapt.fish
    while IFS=$'\t' read -r line words; do
        complete_fish "$line" >.answer
        offers fish "$line" $words
    done <expected
    for leaf in "${leaves[@]}"; do
        complete_fish "rapt $leaf --" >.answer
        same_options fish "$leaf"
    done
else
    skip 'completions in fish (it is not installed)'
fi

# ---- names that the tables hold as text --------------------------------------------------------------------------------
check 'the data sets that completions name are those of rapt fetch --list' test \
    "$(complete_bash rapt fetch '' | LC_ALL=C sort | tr '\n' ' ')" = "$("$RAPT" fetch --list | cut -d' ' -f1 | LC_ALL=C sort | tr '\n' ' ')"
check 'the keys are those of rapt train --help-recipe' diff <(complete_bash rapt train --set '' | tr -d '=') \
    <("$RAPT" train --help-recipe | grep -oE '^(task|seed|(data|tokenizer|model|train)[.][a-z0-9_.]+) ' | tr -d ' ' | LC_ALL=C sort -u)
refused 2 'csh.* is none of bash, zsh, fish' 'another shell' "$RAPT" --completion csh
refused 2 'needs a shell' 'no shell' "$RAPT" --completion
finish
