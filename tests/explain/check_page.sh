#!/bin/bash
# tests/explain/check_page.sh: the page of rapt explain --html in a real browser, headless Chromium: it opens without errors,
# asks nothing of the network, shows the numbers that it was given, answers to pointer and keys, in both themes. Skipped
# where Chromium, its driver or Selenium is missing (./test --browser installs them). This is the page of a translation model;
# check_page_text.sh and check_page_others.sh try the other pages, with `check_page.sh KIND...`, at the same time.
# labels: not-sanitized not-emulated late
cd "$(dirname "$0")/../.." || exit 1
PYTHON=/usr/bin/python3 # Debian's own, which sees Debian's Selenium
TEST_PAGE=${RAPT_BUILD:-build-test}/tests/test_page
skip() { echo "skip  the page in a browser: $1"; echo '0 passed, 0 failed, 1 skipped'; exit 77; }
for program in chromium chromedriver $PYTHON; do
    command -v $program >/dev/null || skip "$program is missing"
done
$PYTHON -c 'import selenium' 2>/dev/null || skip 'python3-selenium is missing'
[ -x "$TEST_PAGE" ] || { echo "no program at $TEST_PAGE"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- translation
for kind; do
    [ "$kind" != modern ] || continue
    $PYTHON tests/explain/page_data.py $kind "$work/$kind.json" && "$TEST_PAGE" "$work/$kind.json" "$work/$kind.html" || exit 1
done
# A model with rotary positions, root mean square norms, a gate, and keys that heads share: a small one, run by rapt.
"${TEST_PAGE%/tests/*}/rapt" explain tests/golden/hub/llama 'the keys are here' --json --full >"$work/modern.json" &&
    "$TEST_PAGE" "$work/modern.json" "$work/modern.html" || exit 1
PYTHONDONTWRITEBYTECODE=1 HOME=$work $PYTHON tests/explain/check_page.py "$work" "$@"
