#!/bin/bash
# check_openai_client.sh: OpenAI's own client (PyPI's openai) talks to `rapt serve`: see openai_client.py. PYTHON names an
# interpreter that has the package, where python3 has not.
source "$(dirname "$0")/lib.sh"
source "$SOURCE/tests/serve/lib_clients.sh"
[ -e "$(dirname "$RAPT")/rapt_serve.so" ] || { skip 'this build has no libmicrohttpd'; finish; }
"$PYTHON" -c 'import openai' 2>/dev/null || { skip "OpenAI's client: there is no Python package openai"; finish; }

make_inputs
make_text >text.txt
make_text_recipe bpe | sed "s/context: 12/context: 128/" >text.yaml
{ train pairs --set train.steps=20 &&
    "$RAPT" train text.yaml --quiet --out text --set train.steps=20; } >.train 2>&1 ||
    { echo "cannot train the models"; cat .train; exit 1; }
cp -r "$SOURCE/tests/golden/hub/llama" chat
printf '{%% for m in messages %%}{{ m.content }} {%% endfor %%}' >chat/chat_template.jinja
cp -r chat calls
sed -i 's/"max_position_embeddings": [0-9]*/"max_position_embeddings": 4096/' calls/config.json
"$PYTHON" - "$SOURCE/tests/text/chat/templates.json" >calls/chat_template.jinja <<'PYTHON'
import json
import sys
print([g["template"] for g in json.load(open(sys.argv[1]))["groups"] if g.get("family") == "hermes"][0], end="")
PYTHON
export RAPT
RAPT_THREADS=2 timeout 300 "$PYTHON" "$SOURCE/tests/cli/openai_client.py" text pairs "$SOURCE/tests/golden/hub_encoder/bert_sentence" \
    chat calls >.out 2>.err
status=$?
for name in completions prompts chat tools responses embeddings errors async; do
    check "$name: texts, errors and replays" grep -qx "check_$name passed" .out
done
[ $status = 0 ] || fail 'all of it' "$(tail -3 .err | head -c 500)"
finish
