#!/bin/bash
# tests/serve/check_served_page.sh: the page of rapt serve as the server itself serves it, in headless Chromium, with models of toy
# texts: what it shows are the server's numbers, and its command prints the same. What the page does in all cases: check_serve_page.sh.
# Skipped where Chromium, its driver, Selenium or the server's module is missing.
# labels: not-sanitized not-emulated late
source "$(dirname "$0")/../cli/lib.sh"
PYTHON=/usr/bin/python3 # Debian's own, which sees Debian's Selenium
for program in chromium chromedriver $PYTHON; do
    command -v $program >/dev/null || { skip "$program is missing"; finish; }
done
$PYTHON -c 'import selenium' 2>/dev/null || { skip 'python3-selenium is missing'; finish; }
[ -e "$(dirname "$RAPT")/rapt_serve.so" ] || { skip 'this build has no libmicrohttpd'; finish; }
make_inputs
make_text >text.txt
make_text_recipe bpe >text.yaml
{ train pairs && "$RAPT" train text.yaml --set model.context=256 --quiet --out text; } >.train 2>&1 || { echo 'cannot train the models'; cat .train; exit 1; }
ln -s pairs en-fr # the command that the page shows has the server's name for a model
PYTHONDONTWRITEBYTECODE=1 HOME=$WORK timeout 300 $PYTHON "$SOURCE/tests/serve/check_served_page.py" "$WORK" "$RAPT"
