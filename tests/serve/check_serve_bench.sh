#!/bin/bash
# tests/serve/check_serve_bench.sh: the clients of bench/serve_*.py measure a server: the figures that they print of it are
# there. How fast anything is, is no matter here.
# labels: not-sanitized late
source "$(dirname "$0")/lib_serve.sh"
need_server
train_served_models >.train 2>&1 || { echo 'cannot train the models'; cat .train; exit 1; }
export RAPT ROUNDS=1 THREADS=2
cut -f1 pairs.tsv >text

# figures NAME COUNT PATTERN COMMAND...: ends well, with at least COUNT numbers above 0 in the lines of this pattern. Those
# that chance may leave empty or 0 are not counted on.
figures() {
    local name=$1 count=$2 pattern=$3
    shift 3
    if timeout 120 python3 "$SOURCE/bench/$1" "${@:2}" >.out 2>.err && [ ! -s .err ] &&
        [ "$(grep -E "$pattern" .out | grep -Eo '[ :][0-9.]*[1-9][0-9.]*' | wc -l)" -ge "$count" ]; then
        pass "$name"
    else
        fail "$name" "$(head -c 600 .out)" "$(head -c 600 .err)"
    fi
}

# A character a token, and none that ends a text.
lm=(serve_lm.py --model lm --clients 2 --prompt 8 --new 16 --ids 2:20 --end '' --seconds 1 --warm 0.5)
figures 'clients of a language model' 6 '^rapt serve:' "${lm[@]}"
figures 'with rapt-bench decode beside them' 8 '^rapt[ -]' "${lm[@]}" --decode
figures 'a long prompt' 3 '^rapt serve:' "${lm[@]}" --long-prompt 40
figures 'a prefix' 3 '^rapt serve:' "${lm[@]}" --prefix 32 --pairs 2
figures 'as JSON' 6 'tok_s' "${lm[@]}" --json
start_server lm
figures 'a server that runs already' 6 '^other:' "${lm[@]:0:1}" "other=http://127.0.0.1:$PORT" "${lm[@]:3}"
stop_server

figures 'a line beside many' 5 '^rapt serve:' serve_translate.py en-fr text --no-peer --beside 200 --singles 5
figures 'from the start' 2 '^from' serve_http.py start en-fr text
figures 'idle' 2 '^idle' serve_http.py idle en-fr lm --seconds 1
figures 'idle connections and slow readers' 7 '^a sentence' \
    serve_http.py clients en-fr text lm --requests 5 --connections 20 --streams 3 --choices 2
if command -v wrk >/dev/null; then
    figures 'health' 3 '^/health' serve_http.py health en-fr --seconds 1
    figures 'clients of a translator' 3 '^rapt serve:' serve_translate.py en-fr text --no-peer --seconds 1 --file-lines 200
else
    skip 'wrk is not installed'
fi
finish
