#!/bin/bash
# tests/lesson/check_lesson.sh: the lesson in headless Chromium and Firefox: a model that trains there has the SHA-256 of the one that
# the page's own commands make here; languages, keys, widths, the policy. Built by tools/lesson.sh in build-wasm, or RAPT_LESSON names
# a page that was. Skipped where emscripten, the sources of libraries, or browsers are missing (./test --browser installs Chromium).
# labels: late not-sanitized not-emulated
. "$(dirname "$0")/../cli/lib.sh"
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

if command -v chromium >/dev/null && command -v chromedriver >/dev/null && $PYTHON -c 'import selenium' 2>/dev/null; then
    mkdir chromium
    if $PYTHON "$SOURCE/tests/lesson/check_lesson.py" "$page" "$WORK/chromium" >chromium/log 2>&1; then
        pass 'the page in Chromium'
    else
        fail 'the page in Chromium' "$(tail -c 1500 chromium/log)"
    fi
    cat chromium/log
    check 'Chromium has trained 50 steps' test -s chromium/sha256
    check 'with the bytes of rapt train, by the files and the commands of the page' test "$(native chromium)" = "$(cat chromium/sha256)"
else
    skip 'the page in Chromium: chromium, chromium-driver or python3-selenium is missing'
fi

if command -v firefox-esr >/dev/null && node --experimental-websocket -e 'WebSocket' 2>/dev/null; then
    mkdir firefox
    if timeout 300 node --experimental-websocket "$SOURCE/tests/lesson/firefox.mjs" "$page" "$WORK/firefox" >firefox/log 2>&1; then
        pass 'the page in Firefox'
        check 'with the bytes of rapt train' test "$(native firefox)" = "$(cat firefox/sha256)"
    else
        fail 'the page in Firefox' "$(tail -c 1500 firefox/log)"
    fi
    cat firefox/log
else
    skip 'the page in Firefox: firefox-esr, or a node with WebSocket, is missing'
fi
finish
