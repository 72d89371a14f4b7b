#!/bin/bash
# tests/explain/check_strings.sh: the pages of rapt explain --html and of the lesson speak English and Chinese: each text of their
# tables (strings*.js) is there in both and once, and the pages have no text outside of them. What a browser makes of it:
# check_page.sh.
# labels: not-sanitized
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo '0 passed, 0 failed, 1 skipped'; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
page=src/explain/page
python3 tests/explain/check_strings.py $page || exit 1
python3 tests/explain/check_strings.py src/lesson/page $page/{strings_frame,strings_heads,language,dom,theme,tokens,watch,colors,heat_draw,heat}.js \
    $page/thumbnail.js
