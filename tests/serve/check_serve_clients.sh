#!/bin/bash
# tests/serve/check_serve_clients.sh: more clients of other projects ask `rapt serve`, besides the ones of check_openai_client.sh
# and check_translation_clients.sh: lm-evaluation-harness, whose scores equal `rapt eval`'s to the bit; OpenAI's and DeepL's
# clients at a full queue; LibreTranslate's API description; schemathesis with requests that these models take; and llama.cpp's
# own server tests, where LLAMA_CPP names a folder with its sources. tools/serve_clients.sh installs them all.
source "$(dirname "$0")/lib_serve.sh"
source "$SOURCE/tests/serve/lib_clients.sh"
need_server
export RAPT
HERE=$SOURCE/tests/serve

# run_client NAME SECONDS COMMAND...: passes where the command succeeds in that time; else its last lines.
run_client() {
    local name=$1 seconds=$2
    shift 2
    if timeout "$seconds" "$@" >.client 2>&1; then pass "$name"; else fail "$name" "$(tail -25 .client | head -c 3000)"; fi
}

# ---- models: lm, of byte pairs, with a chat template; en-fr, of words; encoder, whose vectors have length 1 -------------
make_inputs
make_text | sed 's/ï/i/; s/é/e/; s/日本/Japan/' >text.txt # a token of it is whole characters
make_text_recipe bpe | sed 's/context: 12/context: 256/' >text.yaml
{ train pairs --set train.steps=40 && mv pairs en-fr && "$RAPT" train text.yaml --quiet --out lm --set train.steps=40; } >.train 2>&1 ||
    { echo 'cannot train the models'; cat .train; exit 1; }
cat >lm/chat_template.jinja <<'JINJA'
{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}
JINJA
cp -r "$SOURCE/tests/golden/hub_encoder/distilbert" encoder
cp -r "$SOURCE"/tests/golden/hub_encoder/bert_sentence/{modules.json,1_Pooling} encoder
sed -i 's/"word_embedding_dimension": 12/"word_embedding_dimension": 15/' encoder/1_Pooling/config.json

cp -r "$SOURCE/tests/golden/hub_rerank/roberta_pairs" pairs

# ---- lm-evaluation-harness ----------------------------------------------------------------------------------------------
head -c 400 text.txt >one.txt
head -c 520 text.txt | tail -c 120 >two.txt
printf 'the fox lost the moon; Zürich, 東京?\n' >three.txt
printf 'a fox' >four.txt
start_server lm en-fr encoder pairs --max-texts 60 || { fail 'the server starts' "$(cat server.err)"; finish; }
URL=http://127.0.0.1:$PORT
run_client 'requests of the form of lm-evaluation-harness: rapt eval to the bit' 60 \
    python3 "$HERE/eval_client.py" imitated "$URL" lm lm {one,two,three,four}.txt
if has_package lm_eval && has_package transformers; then
    run_client 'lm-evaluation-harness: rapt eval to the bit, texts of rapt generate' 300 \
        "$PYTHON" "$HERE/eval_client.py" lm_eval "$URL" lm lm {one,two,three,four}.txt
else
    skip "lm-evaluation-harness: there is no Python package lm_eval, or no transformers"
fi

# ---- Cohere's client ----------------------------------------------------------------------------------------------------
run_client "requests of the form of Cohere's: rapt rerank" 60 python3 "$HERE/rank_client.py" imitated "$URL" pairs pairs
if has_package cohere; then
    run_client "Cohere's client: rapt rerank" 60 "$PYTHON" "$HERE/rank_client.py" cohere "$URL" pairs pairs
else
    skip "Cohere's client: there is no Python package cohere"
fi

# ---- schemathesis, with requests that these models take: none is refused ------------------------------------------------
schemathesis=$(dirname "$(command -v "$PYTHON")")/schemathesis
[ -x "$schemathesis" ] || schemathesis=$(command -v schemathesis)
if [ -n "$schemathesis" ]; then
    python3 "$HERE/narrowed_schema.py" "$URL" lm en-fr encoder pairs >narrowed.json
    : >schemathesis.toml
    run_client 'schemathesis: what the models of a server take' 500 "$schemathesis" --config-file schemathesis.toml run narrowed.json \
        --url "$URL" --mode positive --phases examples,coverage,fuzzing --seed "${SEED:-1}" --max-examples "${EXAMPLES:-10}" \
        --workers 1 --request-timeout 30
else
    skip 'schemathesis is missing'
fi
check 'the server lives' kill -0 "$SERVER"
stop_server

start_server lm --weights q8_0 || { fail 'a server with weights of 8 bits starts' "$(cat server.err)"; finish; }
WEIGHTS=q8_0 run_client 'weights of 8 bits: rapt eval to the bit' 60 \
    python3 "$HERE/eval_client.py" imitated "http://127.0.0.1:$PORT" lm lm {one,two,three,four}.txt
stop_server

# ---- a full queue, and LibreTranslate's description ----------------------------------------------------------------------
start_server lm en-fr --queue 1 || { fail 'a server with a short queue starts' "$(cat server.err)"; finish; }
for client in deepl openai; do
    has_package $client || { skip "$client at a full queue: there is no Python package $client"; continue; }
    run_client "$client at a full queue: it tries again" 100 "$PYTHON" "$HERE/busy_clients.py" $client "http://127.0.0.1:$PORT"
done
stop_server
echo secret >keys
start_server en-fr --api-key-file keys || { fail 'a server with keys starts' "$(cat server.err)"; finish; }
run_client "requests and responses of LibreTranslate's description" 60 python3 "$HERE/libre_shapes.py" "http://127.0.0.1:$PORT" secret
stop_server

# ---- llama.cpp's server tests ---------------------------------------------------------------------------------------------
# Which are left out, and why: NOT_RUN of llama_cpp_tests.py.
TESTS=${LLAMA_CPP:+$LLAMA_CPP/tools/server/tests}
if [ -z "$TESTS" ]; then
    skip "llama.cpp's server tests: LLAMA_CPP names no folder"
elif [ ! -e "$TESTS/utils.py" ]; then
    fail "llama.cpp's server tests: there are none in $TESTS"
elif ! { has_package pytest && has_package openai && has_package requests && has_package filelock; }; then
    skip "llama.cpp's server tests: pytest, openai, requests or filelock is missing"
else
    (
        export RAPT_LANGUAGE_MODEL=$WORK/lm RAPT_ENCODER=$WORK/encoder PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$HERE:$TESTS
        cd "$TESTS" && unset PORT DEBUG_EXTERNAL && timeout 500 "$PYTHON" -m pytest -p llama_cpp_tests -p no:cacheprovider \
            -v --tb=short unit/test_{basic,completion,chat_completion,tokenize,security,ctx_shift,embedding}.py
    ) >.llama 2>&1
    sed -nE 's|^unit/([a-z_]+\.py::.*) PASSED.*|\1|p' .llama | while read -r test; do echo "      llama.cpp: $test"; done
    ran=$(grep -c ' PASSED' .llama)
    # Also the one that they skip, as their server fails it.
    if tail -1 .llama | grep -qE '^=+ [0-9]+ passed, [0-9]+ skipped' && grep -q 'test_cache_vs_nocache_prompt PASSED' .llama; then
        pass "llama.cpp's server tests: $ran, their skipped one of the cache too"
    else
        fail "llama.cpp's server tests" "$(grep -E '^(FAILED|ERROR|E  )|passed|failed|Error' .llama | head -30)"
    fi
fi
finish
