#!/bin/bash
# tests/wasm/check_wasm.sh: the module of WebAssembly trains to the bytes of the program, its kernels are right, and calls that fail
# say why. It is built by tools/wasm.sh, where emscripten is installed, in build-wasm.
# labels: late not-sanitized not-emulated
. "$(dirname "$0")/../cli/lib.sh"
command -v emcc >/dev/null && command -v node >/dev/null || { skip 'WebAssembly: emscripten or node is not installed'; finish; }
module=$SOURCE/build-wasm
TARGET_TESTS=yes "$SOURCE/tools/wasm.sh" "$module" -DRAPT_TESTS=ON >log 2>&1 || {
    if grep -q 'cannot be had' log; then
        skip 'WebAssembly: the sources of libraries cannot be had'
    else
        fail 'the module is built' "$(tail -5 log)"
    fi
    finish
}
pass 'the module is built'
# The archives that the command of the link names.
for module_name in rapt_module rapt_lesson; do
    archives=$(cat "$module/CMakeFiles/$module_name.dir/"{link.txt,*.rsp} "$module/build.ninja" 2>/dev/null | grep -oE '/lib[a-z0-9-]+[.]a' |
        grep -v -e /librapt -e /libcmocka | sort -u)
    check "$module_name is linked with libraries" test "$(wc -w <<<"$archives")" -ge 5
    for archive in $archives; do
        archive=${archive#/lib} archive=${archive%.a}
        name=$(sed -nE "s/.*pkg_config [^ ]+ $archive ([a-z0-9]+).*/\1/p" "$SOURCE/tools/targets.sh")
        check "$module_name: the license of $archive" test -s "$module/licenses/${name:-$archive}.txt"
    done
done
check 'the license of what emscripten adds' grep -q 'Emscripten Authors' "$module/licenses/emscripten.txt"
check 'kernels in node, at each level' ctest --test-dir "$module" --no-tests=error

# trained NAME STEPS LEVEL [OPTION-OF-STEPS]: steps at this level, in node or, with the name "browser", in Chromium give the bytes
# of the program's model, and its translation.
trained() {
    local name=$1 steps=$2 level=$3 sha256 translation
    local run=("${node[@]}" "$SOURCE/wasm/steps.mjs")
    [ "$name" != browser ] || run=($PYTHON "$SOURCE/tests/wasm/browser_steps.py")
    "$RAPT" train "$SOURCE/recipes/quickstart.yaml" --out "native-$steps" --quiet --set train.steps="$steps" 2>/dev/null
    sha256=$(sha256sum <"native-$steps/model.safetensors")
    "${run[@]}" "$module" "$SOURCE/recipes/quickstart.yaml" "$SOURCE/data/en-fr.tsv" "$steps" "${@:4}" \
        >"$name.json" 2>"$name.err" || tail -c 300 "$name.err"
    check "$name: the level" grep -q "\"level\":\"$level\"" "$name.json"
    check "$name: $steps steps give the bytes of the program's model" grep -q "\"sha256\":\"${sha256%% *}\"" "$name.json"
    translation=$("$RAPT" translate "native-$steps" --text 'Where are my keys?' --beam 4)
    check "$name: the same translation" grep -qF "\"translation\":\"$translation\"" "$name.json"
    cat "$name.json"
}
# A node that does not know relaxed SIMD, or a processor without fused multiply-adds, has the second level.
node=(node --experimental-wasm-relaxed-simd)
"${node[@]}" -e 0 2>/dev/null || node=(node) # later ones know it anyway, and not the option
fused=relaxed
grep -qw -e fma -e asimd /proc/cpuinfo || fused=simd128
best=$fused
"${node[@]}" -e 'process.exit(WebAssembly.validate(fs.readFileSync(process.argv[1])) ? 0 : 1)' "$module/rapt.wasm" || best=simd128
trained best 50 $best
trained plain 5 simd128 plain
check 'calls that fail say why' "${node[@]}" "$SOURCE/tests/wasm/failing_calls.mjs" "$module" "$SOURCE/data/en-fr.tsv"
PYTHON=/usr/bin/python3 # Debian's own, which sees Debian's Selenium
if command -v chromium >/dev/null && command -v chromedriver >/dev/null && $PYTHON -c 'import selenium' 2>/dev/null; then
    trained browser 50 $fused
else
    skip 'Chromium, its driver or python3-selenium is not installed'
fi
finish
