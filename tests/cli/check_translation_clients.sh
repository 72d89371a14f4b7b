#!/bin/bash
# check_translation_clients.sh: clients that nobody here wrote talk to `rapt serve`: DeepL's (PyPI's deepl) and LibreTranslate's
# (libretranslatepy), see translation_clients.py; promtool reads its metrics, and schemathesis tries what its OpenAPI document
# allows and forbids. PYTHON names an interpreter that has the packages, where python3 has not.
source "$(dirname "$0")/lib.sh"
source "$SOURCE/tests/serve/lib_clients.sh"
[ -e "$(dirname "$RAPT")/rapt_serve.so" ] || { skip 'this build has no libmicrohttpd'; finish; }
{ command -v "$PYTHON" && command -v curl; } >/dev/null || { skip 'python3 or curl is missing'; finish; }

make_inputs
make_text >text.txt
make_text_recipe bpe | sed "s/context: 12/context: 128/" >text.yaml
{ train pairs --set train.steps=20 &&
    "$RAPT" train text.yaml --quiet --out text --set train.steps=20; } >.train 2>&1 ||
    { echo "cannot train the models"; cat .train; exit 1; }
RAPT_THREADS=2 "$RAPT" serve en-de=pairs text --port 0 --log none --max-texts 60 >.serve & # fewer, as 10,000 take time
server=$!
trap 'kill $server 2>/dev/null; clean_up' EXIT
for _ in {1..200}; do [ -s .serve ] && break; sleep 0.1; done
url=$(sed -n 's/^listening on //p' .serve)
[ -n "$url" ] || { fail 'the server starts'; finish; }

export RAPT
for client in deepl libretranslatepy; do
    "$PYTHON" -c "import $client" 2>/dev/null || { skip "there is no Python package $client"; continue; }
    check "$client: texts, languages, errors, replays" timeout 120 "$PYTHON" "$SOURCE/tests/cli/translation_clients.py" $client "$url" pairs
done

curl -s "$url/metrics" >.metrics
check 'metrics of each model' grep -q '^rapt_steps_total{model="en-de"} ' .metrics
if command -v promtool >/dev/null; then
    check 'promtool finds nothing to say of the metrics' sh -c 'promtool check metrics <.metrics >.said 2>&1 && [ ! -s .said ] || { cat .said; false; }'
else
    skip 'promtool (of prometheus) is missing'
fi

schemathesis=$(dirname "$(command -v "$PYTHON")")/schemathesis
[ -x "$schemathesis" ] || schemathesis=$(command -v schemathesis)
if [ -n "$schemathesis" ]; then
    # One worker: CPython 3.11 may fail to compile in several threads what schemathesis makes of a schema.
    timeout 500 "$schemathesis" --config-file "$SOURCE/tests/serve/schemathesis.toml" run "$url/openapi.json" \
        --phases examples,coverage,fuzzing --seed "${SEED:-1}" --max-examples "${EXAMPLES:-10}" --workers 1 --request-timeout 30 \
        >.schema 2>&1
    status=$?
    [ $status = 0 ] && pass 'schemathesis' || fail 'schemathesis' "exit status $status" "$(grep -vE '^ *$' .schema | tail -40 | head -c 2000)"
else
    skip 'schemathesis is missing'
fi
kill -0 $server 2>/dev/null && pass 'the server lives' || fail 'the server lives'
kill -TERM $server
wait $server
check 'and ends well' [ $? = 0 ]
finish
