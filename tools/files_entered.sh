#!/bin/bash
# tools/files_entered.sh PROGRAM MODEL LANGUAGE-MODEL: how many files of src a reader enters who follows what the program does:
# one sentence translated, two training steps, three generated tokens, and a server that answers two requests (a translation and
# a completion). For docs/journeys. PROGRAM is a release build with line numbers (cmake -DCMAKE_BUILD_TYPE=Release
# -DCMAKE_C_FLAGS=-g) beside its modules, MODEL a translation model, LANGUAGE-MODEL a language model. Needs valgrind and curl.
# Run it at the root of the project; takes some minutes.
#
# Counted are the files of functions that ran, headers with inlined ones included, as callgrind finds them.
. "$(dirname "$0")/help.sh"
set -u
[ $# = 3 ] || { sed -n '2,6s/^# //p' "$0"; exit 2; }
program=$(realpath "$1") model=$(realpath "$2") language=$(realpath "$3")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

under() {
    valgrind -q --tool=callgrind --dump-line=no --callgrind-out-file="$scratch/$1" "$program" "${@:2}" >/dev/null 2>"$scratch/err"
}
# tell NAME STATUS: the files of src in what callgrind wrote.
tell() {
    [ "$2" = 0 ] || { tail -n 3 "$scratch/err"; echo "$1: failed"; exit 1; }
    sed -nE 's/^(cfi|cfl|fl|fi|fe)=\([0-9]+\) (.*)/\2/p' "$scratch/$1" | grep -oE '(^|/)src/[a-z0-9_/]+\.[ch]$' |
        sed 's|^/||' | sort -u >"$scratch/files"
    printf '%-10s %4d files in %2d folders\n' "$1" "$(wc -l <"$scratch/files")" \
        "$(cut -d/ -f2 "$scratch/files" | sort -u | wc -l)"
}

echo 'a man is walking .' >"$scratch/line"
under sentence translate "$model" --threads 1 <"$scratch/line"
tell sentence $?
under batch train recipes/quickstart.yaml --max-steps 2 --threads 1 --out "$scratch/model"
tell batch $?
under token generate "$language" --prompt 'The' --max-tokens 3 --threads 1
tell token $?

under request serve "t=$model" "l=$language" --host "unix:$scratch/socket" --threads 1 &
server=$!
ask() {
    curl -sf --retry 100 --retry-delay 1 --retry-all-errors --unix-socket "$scratch/socket" -H 'Content-Type: application/json' \
        -d "$2" "http://localhost$1" >/dev/null || echo "no answer to $1"
}
ask /v1/translate '{"model": "t", "text": "a man is walking ."}'
ask /v1/completions '{"model": "l", "prompt": "The", "max_tokens": 3}'
pkill -TERM -P "$server"
wait "$server"
tell request 0
