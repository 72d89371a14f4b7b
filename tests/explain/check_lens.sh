#!/bin/bash
# tests/explain/check_lens.sh: the logit lens in the page of rapt explain --lens --html, in headless Chromium: it shows what --json
# prints, by pointer and by keys, in English and in Chinese, for a small translation model and a small language model. Skipped where
# Chromium, its driver or Selenium is missing (./test --browser installs them).
# labels: not-sanitized not-emulated late
cd "$(dirname "$0")/../.." || exit 1
PYTHON=/usr/bin/python3 # Debian's own, which sees Debian's Selenium
RAPT=$(realpath "${RAPT:-build-test/rapt}")
skip() { echo "skip  the lens in a browser: $1"; echo '0 passed, 0 failed, 1 skipped'; exit 77; }
for program in chromium chromedriver $PYTHON; do
    command -v $program >/dev/null || skip "$program is missing"
done
$PYTHON -c 'import selenium' 2>/dev/null || skip 'python3-selenium is missing'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small=(--quiet --set train.steps=40 --set train.warmup=10 --set train.batch=4 --set model.layers=2 --set model.d_model=32 --set model.heads=4
    --set model.ffn=48)
sed "s|^  pairs:.*|  pairs: $PWD/data/en-fr.tsv|" recipes/quickstart.yaml >"$work/pairs.yaml"
printf 'task: language_model\nseed: 1\ndata:\n  text: %s/data/en-fr.tsv\n  validation_fraction: 0.1\ntokenizer:\n  type: characters\n' \
    "$PWD" >"$work/text.yaml"
"$RAPT" train "$work/pairs.yaml" --out "$work/pairs" "${small[@]}" &&
    "$RAPT" train "$work/text.yaml" --out "$work/text" "${small[@]}" --set model.context=32 || exit 1
explain() { # MODEL KIND [OPTION...]
    "$RAPT" explain "$work/$1" "Where are my keys" --json "${@:3}" >"$work/$2.json" &&
        "$RAPT" explain "$work/$1" "Where are my keys" --html "$work/$2.html" "${@:3}" || exit 1
}
explain pairs pairs --lens
explain text text --lens
explain text without
PYTHONDONTWRITEBYTECODE=1 HOME=$work $PYTHON tests/explain/check_lens.py "$work"
