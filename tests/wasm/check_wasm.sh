#!/bin/bash
# tests/wasm/check_wasm.sh: the module of WebAssembly trains to the bytes of the program. It is built by tools/wasm.sh, where
# emscripten is installed, in build-wasm.
# labels: late not-sanitized not-emulated
. "$(dirname "$0")/../cli/lib.sh"
command -v emcc >/dev/null && command -v node >/dev/null || { skip 'WebAssembly: emscripten or node is not installed'; finish; }
module=$SOURCE/build-wasm
"$SOURCE/tools/wasm.sh" "$module" >log 2>&1 || {
    if grep -q 'cannot be had' log; then skip 'WebAssembly: the sources of libraries cannot be had'; else fail 'the module is built' "$(tail -5 log)"; fi
    finish
}
pass 'the module is built'

STEPS=3
"$RAPT" train "$SOURCE/recipes/quickstart.yaml" --out native --quiet --set train.steps=$STEPS 2>/dev/null
node --experimental-wasm-relaxed-simd "$SOURCE/wasm/steps.mjs" "$module" "$SOURCE/recipes/quickstart.yaml" \
    "$SOURCE/data/en-fr.tsv" $STEPS >steps.json 2>steps.err || tail -c 300 steps.err
sha256=$(sha256sum <native/model.safetensors)
check 'the program has trained' test -s native/model.safetensors
check "$STEPS steps in WebAssembly: the bytes of the program's model" grep -q "\"sha256\":\"${sha256%% *}\"" steps.json
translation=$("$RAPT" translate native --text 'Where are my keys?' --beam 4)
check 'the same translation' grep -qF "\"translation\":\"$translation\"" steps.json
cat steps.json
finish
