#!/bin/bash
# tests/serve/check_serve_page.sh: the page of rapt serve in a real browser, headless Chromium, with a server that plays its endpoints
# (page_server.py): it keeps its policy, translates and shows alignments, continues a text and replaces tokens, stops, says what went
# wrong, asks for a key, is moved in by keys, fits a phone. Its texts in both languages: check_strings.py. The browser's part is
# skipped where Chromium, its driver or Selenium is missing (./test --browser installs them).
# labels: not-sanitized not-emulated late
cd "$(dirname "$0")/../.." || exit 1
PYTHON=/usr/bin/python3 # Debian's own, which sees Debian's Selenium
export PYTHONDONTWRITEBYTECODE=1
skip() { echo "skip  the page in a browser: $1"; echo '0 passed, 0 failed, 1 skipped'; exit 77; }
command -v $PYTHON >/dev/null || skip "$PYTHON is missing"
page=src/explain/page
$PYTHON tests/explain/check_strings.py src/serve/module/page $page/{strings_frame,language,dom,theme,tokens}.js || exit 1
for program in cmake chromium chromedriver; do
    command -v $program >/dev/null || skip "$program is missing"
done
$PYTHON -c 'import selenium' 2>/dev/null || skip 'python3-selenium is missing'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -DOUT="$work/serve_page.c" -P src/serve/module/page/embed.cmake || exit 1
HOME=$work $PYTHON tests/serve/check_serve_page.py "$work"
