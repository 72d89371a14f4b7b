#!/bin/bash
# tools/wasm.sh [FOLDER [CMAKE-OPTION...]]: the library as a module of WebAssembly, rapt.js and rapt.wasm, in FOLDER (build-wasm);
# docs/wasm.md says how to call it. It needs emscripten and node (tools/packages.sh: need_for_wasm); the libraries that rapt stands
# on are built from Debian's sources, once (tools/targets.sh, TARGETS_ROOT names a folder that has them). With TARGET_TESTS=yes and
# -DRAPT_TESTS=ON the folder has tests, too, which ctest runs in node. FOLDER/licenses has the licenses of what is linked into the
# module. The last line is the folder.
. "$(dirname "$0")/help.sh"
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build-wasm}
[ $# = 0 ] || shift
for tool in emcc node; do
    command -v $tool >/dev/null && continue
    echo "tools/wasm.sh: there is no $tool; on Debian: apt-get install emscripten node-acorn nodejs"
    exit 1
done
. tools/targets.sh
target_make wasm32-emscripten
tools/configure.sh "$folder" -DCMAKE_TOOLCHAIN_FILE="$TARGET_FOLDER/toolchain.cmake" "$@"
cmake --build "$folder" -j"${JOBS:-$(nproc)}" >"$folder/build.log" 2>&1 || {
    grep -E -A3 'error:' "$folder/build.log" | cut -c1-300 | head -40
    exit 1
}
target_licenses "$folder/licenses" emscripten
cp LICENSE "$folder/licenses/rapt.txt"
echo "$folder"
