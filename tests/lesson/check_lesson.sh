#!/bin/bash
# tests/lesson/check_lesson.sh: the lesson in headless Chromium and Firefox, also without fused multiply-adds, without relaxed
# SIMD, and under `rapt serve`: a model that trains there has the SHA-256 of the one that the page's own commands make here;
# languages, keys, widths, the policy. Built by tools/lesson.sh in build-wasm, or RAPT_LESSON names a page that was. Skipped where
# emscripten, the sources of libraries, or browsers are missing (./test --browser installs Chromium).
# labels: late not-sanitized not-emulated
. "$(dirname "$0")/../serve/lib_serve.sh" # what it shares with tests of the server, and a server
PYTHON=/usr/bin/python3 # Debian's own, which sees Debian's Selenium
export PYTHONDONTWRITEBYTECODE=1 HOME=$WORK
page=${RAPT_LESSON:-$WORK/lesson.html}
if [ ! -e "$page" ]; then
    command -v emcc >/dev/null && command -v node >/dev/null || { skip 'the lesson: emscripten or node is missing'; finish; }
    "$SOURCE/tools/lesson.sh" "$page" >log 2>&1 || {
        if grep -q 'cannot be had' log; then skip 'the lesson: the sources of libraries cannot be had'; else fail 'the lesson is built' "$(tail -5 log)"; fi
        finish
    }
    pass 'the lesson is built'
fi
check 'it has at most 1.3 MB' test "$(stat -c %s "$page")" -le 1300000
check 'it names nothing of the network' sh -c '! sed "s|http://www.w3.org/2000/svg||g" "$1" | grep -qE "(src|href|url|import)[=( \"]*https?:"' sh "$page"

# native FOLDER: runs the page's commands, and prints the SHA-256. The recipe and the pairs are the files that the page saved.
native() {
    (cd "$1" && sed "s|^rapt |'$RAPT' |" command >run.sh && sh run.sh 2>train.err | cut -d' ' -f1)
}

# in_browser NAME COMMAND...: the page trains there, and its model has the bytes of `rapt train`, by the files and the commands
# that it has saved in the folder NAME.
in_browser() {
    local name=$1
    shift
    if timeout 600 "$@" >"$name/log" 2>&1; then
        pass "$name"
    else
        fail "$name" "$(tail -c 1500 "$name/log")"
    fi
    cat "$name/log"
    check "$name: it has trained" test -s "$name/sha256"
    check "$name: with the bytes of rapt train" test "$(native "$name")" = "$(cat "$name/sha256")"
}
# facts NAME LEVEL MODULE: what the page says of the program that runs there.
facts() { check "$1: kernels $2, $3" grep -q "kernels $2module $3" "$1/log"; }

if command -v node >/dev/null; then
    check 'two clicks before the last step' node "$SOURCE/tests/lesson/worker_steps.mjs"
fi
# Without fused multiply-adds a step takes several times as long, so that they are few.
if command -v chromium >/dev/null && command -v chromedriver >/dev/null && $PYTHON -c 'import selenium' 2>/dev/null; then
    mkdir chromium chromium-unfused chromium-plain chromium-served
    in_browser chromium $PYTHON "$SOURCE/tests/lesson/check_lesson.py" "$page" "$WORK/chromium"
    in_browser chromium-unfused $PYTHON "$SOURCE/tests/lesson/check_lesson.py" "$page" "$WORK/chromium-unfused" 8 unfused
    facts chromium-unfused simd128 'relaxed SIMD'
    in_browser chromium-plain $PYTHON "$SOURCE/tests/lesson/check_lesson.py" "$page" "$WORK/chromium-plain" 50 plain
    facts chromium-plain simd128 'SIMD without'
    if [ -e "$(dirname "$RAPT")/rapt_serve.so" ]; then
        "$RAPT" train "$SOURCE/recipes/quickstart.yaml" --max-steps 1 --quiet --out model
        start_server model --lesson "$page" || fail 'a server' "$(cat server.err)"
        in_browser chromium-served $PYTHON "$SOURCE/tests/lesson/check_lesson.py" "http://127.0.0.1:$PORT/learn" \
            "$WORK/chromium-served" 8
        stop_server
    fi
else
    skip 'the page in Chromium: chromium, chromium-driver or python3-selenium is missing'
fi

if command -v firefox-esr >/dev/null && node --experimental-websocket -e 'WebSocket' 2>/dev/null; then
    mkdir firefox firefox-plain
    in_browser firefox node --experimental-websocket "$SOURCE/tests/lesson/firefox.mjs" "$page" "$WORK/firefox" 50
    in_browser firefox-plain node --experimental-websocket "$SOURCE/tests/lesson/firefox.mjs" "$page" "$WORK/firefox-plain" 50 \
        plain
    facts firefox-plain simd128 'SIMD without'
else
    skip 'the page in Firefox: firefox-esr, or a node with WebSocket, is missing'
fi
finish
