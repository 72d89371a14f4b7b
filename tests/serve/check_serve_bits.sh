#!/bin/bash
# tests/serve/check_serve_bits.sh: responses of rapt serve are the bytes of the command line, and log-probabilities its bits, over
# clients, slots, chunks, caches, threads and ISA levels: a small run of tools/serve_bits.py. The command that a response names
# prints the same text.
# labels: levels
source "$(dirname "$0")/lib_serve.sh"
need_server
train_served_models >.train 2>&1 || { echo 'cannot train the models'; cat .train; exit 1; }
python3 -B "$SOURCE/tools/serve_bits.py" "$RAPT" lm en-fr --responses 240 --servers 8 --requests 40 --lines text.txt >.bits 2>&1
status=$?
check "responses are the command line's ($(tail -1 .bits))" test $status = 0
[ $status = 0 ] || grep -A2 DIFFERS .bits | head -12

start_server lm en-fr || { fail 'the server starts' "$(cat server.err)"; finish; }
# replayed NAME PATH BODY KEY...: the text at these keys of the response is what its X-Rapt-Replay prints.
replayed() {
    local name=$1 line
    curl -s -D .header -o .body "http://127.0.0.1:$PORT$2" -d "$3"
    line=$(sed -n 's/^X-Rapt-Replay: \(.*\)\r$/\1/p' .header)
    python3 -c 'import json, sys
o = json.load(open(".body", encoding="utf-8"))
for key in sys.argv[1:]: o = o[int(key) if key.isdigit() else key]
open(".text", "w", encoding="utf-8").write(o + "\n")' "${@:4}"
    PATH=$(dirname "$RAPT"):$PATH bash -c "$line" >.replay 2>.err
    check "$name: replayed" test -n "$line" && check "$name: the same bytes" cmp .text .replay
}
if command -v curl >/dev/null; then
    replayed 'a completion' /v1/completions '{"model": "lm", "prompt": "I see \"the\" sea; ", "max_tokens": 30, "seed": 5}' choices 0 text
    replayed 'with options' /v1/completions '{"model": "lm", "prompt": "we", "max_tokens": 30, "temperature": 0.7, "top_p": 0.9,
        "stop": ["z", "e "], "logit_bias": {"3": -5.5}, "repetition_penalty": 1.2}' choices 0 text
    replayed 'JSON of a schema' /v1/completions '{"model": "lm", "prompt": "we", "seed": 4, "response_format": {"type": "json_schema",
        "json_schema": {"name": "dogs", "schema": {"enum": ["a dog runs", "a red dog", "A man"]}}}}' choices 0 text
    replayed 'a translation' /v1/translate '{"model": "en-fr", "text": "the dog likes a bird."}' translations 0 text
    replayed 'with a beam' /v1/translate '{"model": "en-fr", "text": "I know the sea.", "beam": 4, "length_penalty": 0.5}' translations 0 text
    curl -s -D .header -o .body "http://127.0.0.1:$PORT/v1/translate/score" -d '{"model": "en-fr", "texts": ["I know the sea.", "", "we"],
        "translations": ["je connais la mer.", "", "nous aimons la mer."]}'
    python3 -c 'import json
for x in json.load(open(".body"))["scores"]:
    print("\t".join("nan" if v is None else "%.6f" % v for v in (x["log_prob"], x["mean_log_prob"])) + "\t%d" % x["token_count"])' >.text
    PATH=$(dirname "$RAPT"):$PATH bash -c "$(sed -n 's/^X-Rapt-Replay: \(.*\)\r$/\1/p' .header)" >.replay 2>.err
    check 'scores of given translations: replayed' test "$(wc -l <.text)" = 3
    check 'scores of given translations: the same bytes' cmp .text .replay
else
    skip 'replay (curl is not installed)'
fi
finish
