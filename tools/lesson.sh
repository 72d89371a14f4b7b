#!/bin/bash
# tools/lesson.sh [OUT.html [FOLDER]]: the lesson, a page in which a Transformer trains (docs/lesson.md), as one file: build-wasm/lesson.html,
# or OUT. It needs what tools/wasm.sh needs, which compiles it in FOLDER (build-wasm), and Python. The last line is the file.
. "$(dirname "$0")/help.sh"
set -eu
out=$(realpath -m "${1:-$(dirname "$0")/../build-wasm/lesson.html}")
cd "$(dirname "$0")/.."
folder=${2:-build-wasm}
tools/wasm.sh "$folder"
python3 tools/lesson_page.py "$folder/lesson.js" "$folder/lesson.wasm" "$folder/licenses" "$out"
echo "$out"
