#!/bin/bash
# tests/explain/check_page_others.sh: check_page.sh for the page of a long text, of checkpoints, and of a model with rotary positions
# and grouped queries.
# labels: not-sanitized not-emulated late
exec bash "$(dirname "$0")/check_page.sh" long training modern
