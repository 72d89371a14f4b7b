#!/bin/bash
# tools/wheels.sh [TARGET...]: wheels of the Python package in dist/, for the targets of tools/targets.sh, which says what it needs:
# x86_64-linux-gnu (the default) and aarch64-linux-gnu run where glibc is 2.17 or later (manylinux2014), x86_64-linux-musl and
# aarch64-linux-musl where musl is 1.2 or later, x86_64-windows on Windows 10; aarch64-macos and x86_64-macos are for macOS 11 and
# later, where nobody has run them. A wheel has the licenses of the libraries that are linked into it, and their versions for who
# looks for known defects. What it asks of a system is checked; tools/wheels_try.sh uses it. Two runs in two folders give the same bytes.
. "$(dirname "$0")/help.sh"
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
. tools/targets.sh
need 'the build system, and how it finds libraries' cmake pkg-config dpkg-dev
need 'Python: headers, and environments of its own' python3-dev python3-venv
install_missing
mkdir -p "$TARGETS_ROOT" dist
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

# Debian's headers of Python, with a pyconfig.h for any system.
copy_headers() {
    HEADERS=$TARGET_FOLDER/headers
    rm -rf "$HEADERS"
    cp -rL "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')" "$HEADERS"
    cp tools/pyconfig.h "$HEADERS/"
}

# What an extension for Windows is linked to: the limited API of 3.11, as python3.dll has it.
python_library() {
    local library=$TARGET_FOLDER/python3
    "$TARGETS_ROOT/venv/bin/python" - >"$library.def" <<'END'
from abi3info import DATAS, FUNCTIONS
print("LIBRARY python3.dll\nEXPORTS")
for names, kind in (FUNCTIONS, ""), (DATAS, " DATA"):
    for name in sorted(names.values(), key=lambda entry: entry.symbol.name):
        if (name.added.major, name.added.minor) <= (3, 11) and (name.ifdef is None or name.ifdef.windows is True):
            print(name.symbol.name + kind)
END
    "$ZIG" dlltool -m i386:x86-64 -d "$library.def" -l "$library.dll.a" && OPTIONS+=";-DPython_LIBRARY=$library.dll.a"
}

make_wheel() {
    local out=$TARGET_FOLDER/wheel bin=$TARGETS_ROOT/venv/bin
    local wheel=("$bin/wheel" tags --remove)
    OPTIONS="-DRAPT_PYTHON=ON;-DCMAKE_TOOLCHAIN_FILE=$TARGET_FOLDER/toolchain.cmake;-DPython_INCLUDE_DIR=$HEADERS"
    [ "$TARGET_SYSTEM" != Windows ] || python_library
    rm -rf "$out"
    SKBUILD_CMAKE_ARGS=$OPTIONS "$bin/pip" wheel . --no-deps --no-build-isolation -w "$out" \
        -C build-dir="$TARGET_FOLDER/wheel-build" -C wheel.license-files="LICENSE;build-targets/licenses/*" >"$TARGET_FOLDER/wheel.log" 2>&1 ||
        { tail -40 "$TARGET_FOLDER/wheel.log"; return 1; }
    case $WHEEL_TAG in # wheels for musl auditwheel cannot judge where the C library is another one
    manylinux*)
        "${wheel[@]}" --platform-tag "linux_$PROCESSOR" "$out"/*.whl >/dev/null # what it is to find, it is not told
        "$bin/auditwheel" show "$out"/*.whl | tr '\n' ' ' | grep -F "tag: \"${WHEEL_TAG%%.*}\""
        ;;
    esac
    "${wheel[@]}" --platform-tag "$WHEEL_TAG" "$out"/*.whl >/dev/null
    "$bin/python" tools/wheel_check.py "$out"/*.whl
    "$bin/abi3audit" --strict --summary "$out"/*.whl
    cp -v "$out"/*.whl dist/
}

[ $# -gt 0 ] || set -- x86_64-linux-gnu
for name; do
    target_set "$name"
    target_make "$name"
    linked=()
    [ "$TARGET_SYSTEM" != Windows ] || linked=(mingw-w64)
    target_licenses build-targets/licenses "${linked[@]}" # pip wants a folder of the checkout
    copy_headers
    make_wheel
done
