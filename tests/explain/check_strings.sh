#!/bin/bash
# tests/explain/check_strings.sh: the page of rapt explain --html speaks English and Chinese: each text of its table
# (src/explain/page/strings.js) is there in both, and the page has no text outside of it. What a browser makes of it:
# check_page.sh.
# labels: not-sanitized
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo '0 passed, 0 failed, 1 skipped'; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/explain/check_strings.py src/explain/page
