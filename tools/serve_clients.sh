#!/bin/bash
# tools/serve_clients.sh [VENV]: clients of other projects ask `rapt serve`: OpenAI's, DeepL's, Cohere's, two of LibreTranslate's
# interface, lm-evaluation-harness, schemathesis, promtool, and llama.cpp's server tests. Installs them into the Python environment VENV
# (~/.cache/rapt-clients) from PyPI, which takes 1 GB, and runs the checks of tests/ that need them, with more requests than ./test.
# RAPT is the program (build/rapt). LLAMA_CPP names a folder with llama.cpp's sources, whose tests are skipped without. promtool is
# of Debian's package prometheus. The last line is "N passed, N failed, N skipped".
. "$(dirname "$0")/help.sh"
set -u
cd "$(dirname "$0")/.." || exit 1
VENV=${1:-$HOME/.cache/rapt-clients}
PACKAGES=(openai deepl cohere libretranslatepy schemathesis pytest requests filelock lm-eval transformers tenacity aiohttp)
export EXAMPLES=${EXAMPLES:-60} SEED=${SEED:-1} PYTHON=$VENV/bin/python
[ -x "$PYTHON" ] || python3 -m venv "$VENV" || exit 1
"$PYTHON" -m pip install --quiet "${PACKAGES[@]}" || exit 1
"$PYTHON" -m pip list 2>/dev/null | grep -E "^($(IFS='|'; echo "${PACKAGES[*]}" | sed 's/lm-eval/lm.eval/')) "
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
passed=0 failed=0 skipped=0
for check in tests/cli/check_{openai_client,translation_clients}.sh tests/serve/check_serve_{clients,docs}.sh; do
    echo "==== $check"
    bash "$check" 2>&1 | tee "$LOG"
    # shellcheck disable=SC2046 # numbers and words between them
    set -- $(grep -Ex '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' <(tail -1 "$LOG") || echo '0 passed, 1 failed, 0 skipped')
    passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
