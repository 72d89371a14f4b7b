#!/bin/bash
# tools/readme_transcript.sh [--check [--without NAME]] [BUILD]: runs the commands of the transcripts in docs/start.md and README.md (the lines with
# "$ " between the marks `transcript...:begin` and `:end`) and writes what they print below them, there and in the Chinese
# pages, which tools/check_chinese.sh compares with the English ones; docs/attention.png is drawn anew, too.
# With --check nothing is written: the pages are compared with what this run prints, --without one of the transcripts. BUILD is a
# build folder with the program (default: build-test or build). Some three minutes on two cores, two of them for transcript-lm.
#
# docs/start.md comes first: README.md uses the model that it trains. A command that ends in "&" is a server. It listens on a free
# port here, which stands for 8080 in the commands behind it, and ends with its transcript.
#
# What is compared: every word and number, but for times, speeds and memory, which depend on the machine. Where rapt's own sources
# are the training text, which changes with every commit, losses and bits per byte are compared within 0.15, counts within a
# tenth, and the text that the model makes is not. The last line is "N passed, N failed, 0 skipped".
. "$(dirname "$0")/help.sh"
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
check= without=
[ "${1:-}" != --check ] || { check=yes; shift; }
[ "${1:-}" != --without ] || { without=${2:?a transcript}; shift 2; }
build=${1:-build-test}
[ $# -gt 0 ] || [ -x "$build/rapt" ] || build=build
build=$(realpath "$build")
[ -x "$build/rapt" ] || { echo "no program in $build"; exit 2; }
unset RAPT_ISA RAPT_THREADS RAPT_LOG
scratch=$(mktemp -d) || exit 2
server= port=8080
stop_server() {
    [ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null
    server= port=8080
}
trap 'stop_server; rm -rf "$scratch"' EXIT

# The commands run in a folder that looks like this one, with no models in it.
root=$PWD
mkdir "$scratch/here"
ln -s "$build" "$scratch/here/build"
for name in *; do
    case $name in build* | models) ;; *) ln -s "$root/$name" "$scratch/here/$name" ;; esac
done

# Starts a server and waits until it says where it listens.
start_server() {
    local tries=600
    (cd "$scratch/here" && exec ${1% &} --port 0) >"$scratch/out" 2>"$scratch/err" &
    server=$!
    until port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$scratch/out") && [ -n "$port" ]; do
        [ $((tries -= 1)) -gt 0 ] && kill -0 $server 2>/dev/null || return 1
        sleep 0.1
    done
}

# Whether a model that a quiet command trains is there, from an earlier transcript: the command would print nothing.
is_trained() { [[ $1 =~ ^build/rapt\ train\ recipes/([a-z-]*)\.yaml\ --quiet$ && -e $scratch/here/models/${BASH_REMATCH[1]} ]]; }

run_command() {
    case $1 in
    *' &') start_server "$1" ;;
    *) (cd "$scratch/here" && bash -o pipefail -c "${1//:8080/:$port}") >"$scratch/out" 2>"$scratch/err" ;;
    esac
}

# What one command prints, messages first; of many progress lines the first three and the last two, of many heads the first. What a slow
# machine prints in between (progress without a validation loss, "writing a checkpoint  0:05") is left out.
output_of() {
    ! is_trained "$1" || return 0
    run_command "$1" || { echo "failed: $1" >&2; cat "$scratch/err" >&2; return 1; }
    cat "$scratch/err" "$scratch/out" | sed "s/:$port/:8080/g" | awk '
        (/^epoch .*tokens\/s/ && !/val_loss/) || /^(validating|writing) .*  [0-9]+:[0-9]+$/ { next }
        { sub(/\r$/, ""); line[++lines] = $0; if (/tokens\/s/) report[++reports] = lines }
        END {
            for (i = 1; i <= lines; i++) {
                if (reports > 6 && i > report[3] && i < report[reports - 1]) {
                    if (!dots++) print "..."
                    continue
                }
                if (line[i] == "head 1") { print "..."; while (i < lines && line[i] != "") i++ }
                print line[i]
            }
        }'
}

# The commands between a pair of marks of a page, each with what it prints.
transcript() {
    local name=$1 page=$2 command between=
    echo '```'
    while IFS= read -r command; do
        [ -z "$between" ] || echo
        between=yes
        echo "$ $command"
        output_of "$command" || return 1
    done < <(old "$name" "$page" | sed -n 's/^\$ //p')
    stop_server
    echo '```'
}

old() { sed -n "/<!-- $1:begin -->/,/<!-- $1:end -->/p" "$2" | sed '1d;$d'; }

put_back() {
    local page
    for page in "$2" "${2%.md}.zh-CN.md"; do
        awk -v name="$1" -v file="$scratch/$1" '
            $0 == "<!-- " name ":end -->" { skip = 0 }
            !skip
            $0 == "<!-- " name ":begin -->" { while ((getline text <file) > 0) print text; skip = 1 }' $page >"$scratch/page" &&
            cat "$scratch/page" >$page || return 1
    done
}

# Without what the machine decides.
machineless() { sed -E 's/[0-9]+ tokens\/s/N tokens\/s/; s/[0-9:]+ left/N left/; /^memory: /s/[0-9.]+ [kMG]?B/N/g'; }

# Lines with figures of a text that changes, and no epochs, for a longer text has fewer.
figures() { machineless | grep -E '^\$|^data:|^model:|^memory:|tokens/s|bytes$|per byte' | sed 's/^epoch [0-9/]* *//; s/ perplexity [0-9.]*,//'; }

# near OLD NEW: the same words, and numbers that are near.
near() {
    paste -d '\n' "$1" "$2" | awk '
        function is_number(x) { return x ~ /^[0-9]+(\.[0-9]+)?$/ }
        NR % 2 { n = split($0, was, /[ \/,]+/); text = $0; next }
        {
            good = split($0, is, /[ \/,]+/) == n
            for (i = 1; i <= n && good; i++)
                if (!is_number(was[i]) || !is_number(is[i])) good = was[i] == is[i]
                else if (was[i] ~ /\./) good = was[i] - is[i] <= 0.15 && is[i] - was[i] <= 0.15
                else good = is[i] >= 0.9 * was[i] && is[i] <= 1.1 * was[i]
            if (!good) { print "page:   " text; print "now:    " $0; bad = 1 }
        }
        END { exit bad }'
}

compare() {
    local side
    if [ "$1" = transcript-lm ]; then
        old "$1" "$2" | figures >"$scratch/old"
        figures <"$scratch/$1" >"$scratch/new"
        near "$scratch/old" "$scratch/new"
    else
        diff <(old "$1" "$2" | machineless) <(machineless <"$scratch/$1")
    fi
}

passed=0 failed=0
for page in docs/start.md README.md; do
    mapfile -t names < <(sed -n 's/^<!-- \(transcript[a-z-]*\):begin -->$/\1/p' $page)
    [ ${#names[@]} -gt 0 ] || { echo "FAIL  $page: no transcript"; failed=$((failed + 1)); }
    for name in "${names[@]}"; do
        [ "$name" != "$without" ] || continue
        if ! transcript "$name" $page >"$scratch/$name"; then
            stop_server
            failed=$((failed + 1))
        elif [ "$check" ] && ! compare "$name" $page; then
            echo "FAIL  $page, $name: not what rapt prints now; tools/readme_transcript.sh writes it anew"
            failed=$((failed + 1))
        elif [ "$check" ] || put_back "$name" $page; then
            echo "ok    $page, $name"
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
    done
done
[ "$check" ] || "$build/rapt" plot attention "$scratch/here/models/quickstart" 'I want to buy a new bike.' --kind cross --block 1 \
    -o docs/attention.png || failed=$((failed + 1))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
