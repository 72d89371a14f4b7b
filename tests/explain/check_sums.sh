#!/bin/bash
# tests/explain/check_sums.sh: how the page of rapt explain --html shows that a number comes about, in headless Chromium: for
# every kind of step of three small models, the terms shown make the number of the page, and they are numbers of earlier steps
# and of the model file; cells of a head that is off say so; the command that says more explains the same pass. Skipped where
# Chromium, its driver or Selenium is missing (./test --browser installs them).
# labels: not-sanitized not-emulated late
cd "$(dirname "$0")/../.." || exit 1
PYTHON=/usr/bin/python3 # Debian's own, which sees Debian's Selenium
RAPT=$(realpath "${RAPT:-build-test/rapt}")
skip() { echo "skip  sums in a browser: $1"; echo '0 passed, 0 failed, 1 skipped'; exit 77; }
for program in chromium chromedriver $PYTHON; do
    command -v $program >/dev/null || skip "$program is missing"
done
$PYTHON -c 'import selenium' 2>/dev/null || skip 'python3-selenium is missing'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small=(--quiet --set train.steps=20 --set train.batch=4 --set model.layers=1 --set model.d_model=32 --set model.heads=4
    --set model.ffn=48)
sed "s|^  pairs:.*|  pairs: $PWD/data/en-fr.tsv|" recipes/quickstart.yaml >"$work/pairs.yaml"
printf 'task: language_model\nseed: 1\ndata:\n  text: %s/data/en-fr.tsv\n  validation_fraction: 0.1\ntokenizer:\n  type: characters\n' \
    "$PWD" >"$work/text.yaml"
"$RAPT" train "$work/pairs.yaml" --out "$work/pairs" "${small[@]}" &&
    "$RAPT" train "$work/pairs.yaml" --out "$work/large" "${small[@]}" --set train.steps=1 --set model.d_model=384 \
        --set model.ffn=1536 --set model.norm_place=pre --set model.ffn_kind=gelu &&
    "$RAPT" train "$work/text.yaml" --out "$work/text" "${small[@]}" --set model.kv_heads=2 --set model.ffn_kind=swiglu \
        --set model.norm_place=pre --set model.norm_kind=rms --set model.bias=false --set model.tied=true \
        --set model.positions=rotary --set model.context=32 || exit 1
texts=("Where are my keys")
explain() { # MODEL KIND [OPTION...]
    local model=$1 kind=$2
    shift 2
    "$RAPT" explain "$@" --json --full -- "$work/$model" "${texts[@]}" >"$work/$kind.json" &&
        "$RAPT" explain "$@" --html "$work/$kind.html" -- "$work/$model" "${texts[@]}" || exit 1
}
for kind in pairs large text; do
    explain $kind $kind
done
explain pairs trained --train
explain pairs off --without-head encoder.0.attention.1 --without-head 'decoder.0.cross_attention.*'
explain text text-off --without-head 'blocks.0.attention.[012]' # heads 0 and 1 share keys and values
texts=("Where's my key?" "où est ma clé ?")
explain pairs given --train --lens
texts=("-- Where are they?" "-où")
explain pairs dash
PYTHONDONTWRITEBYTECODE=1 HOME=$work RAPT=$RAPT $PYTHON tests/explain/check_sums.py "$work"
