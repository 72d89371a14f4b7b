#!/bin/bash
# tests/serve/check_serve_docs.sh: what docs/serving.md shows works: every curl line is answered, what follows one is what it
# prints, the configuration is read, and the Python programs run where their packages are installed.
source "$(dirname "$0")/lib_serve.sh"
source "$SOURCE/tests/serve/lib_clients.sh"
need_server
DOCS=$SOURCE/docs/serving.md
command -v curl >/dev/null || { skip 'curl is not installed'; finish; }
train_served_models >.train 2>&1 || { echo 'cannot train the models'; cat .train; exit 1; }
start_server en-fr lm || { fail 'the server starts' "$(cat server.err)"; finish; }

# blocks LANGUAGE: the fenced blocks of that language, each behind a line "== N".
blocks() { awk -v fence='```'"$1" '$0 == fence { on = 1; print "== " ++n; next } /^```/ { on = 0 } on' "$DOCS" | sed "s/127\.0\.0\.1:8080/127.0.0.1:$PORT/g"; }

blocks console >.console
commands=0
while IFS= read -r line; do
    case $line in
    '$ curl -s'*)
        commands=$((commands + 1))
        rm -f ./*.json ./*.html # of earlier commands
        bash -c "curl -sf${line#\$ curl -s}" >.out 2>.err </dev/null
        check "docs: ${line:2:90}" test $? = 0 -a "$(cat .out ./*.json ./*.html 2>/dev/null | wc -c)" -gt 0
        case $line in *' -o explain.json'*)
            check 'docs: an explanation is JSON' python3 -c 'import json; json.load(open("explain.json"))' ;;
        esac ;;
    '== '*) ;;
    *) check "docs: it prints $line" test "$(cat .out)" = "$line" ;;
    esac
done <.console
check 'docs: there are commands' test $commands -ge 9

mkdir -p models && cp -r en-fr models/quickstart && cp -r lm models/shakespeare && echo secret >keys
blocks yaml | sed '/^== /d' >serve.yaml
stop_server
start_server --config serve.yaml
check 'docs: serve.yaml is read' curl -sf -H 'Authorization: Bearer secret' "http://127.0.0.1:$PORT/v1/models"
stop_server

start_server en-fr lm
blocks python | csplit -sz -f program - '/^== /' '{*}'
for program in program*; do
    module=$(sed -nE 's/^(from|import) ([a-z]+).*/\2/p' "$program" | head -1)
    if "$PYTHON" -c "import $module" 2>/dev/null; then
        sed '/^== /d' "$program" >run.py
        "$PYTHON" run.py >.out 2>.err
        check "docs: the program with $module prints something" test $? = 0 -a -s .out
    else
        skip "docs: the program with $module (it is not installed)"
    fi
done
finish
