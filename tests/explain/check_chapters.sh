#!/bin/bash
# tests/explain/check_chapters.sh: the page of rapt explain --html names chapters of the book: each exists in both languages and has
# the title that the page gives it, and each intermediate of rapt/observe.h has one. The links in a browser: check_page.sh.
# labels: not-sanitized
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo '0 passed, 0 failed, 1 skipped'; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/explain/check_chapters.py
