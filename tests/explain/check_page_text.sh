#!/bin/bash
# tests/explain/check_page_text.sh: check_page.sh for the page of a language model.
# labels: not-sanitized not-emulated late
exec bash "$(dirname "$0")/check_page.sh" language_model
