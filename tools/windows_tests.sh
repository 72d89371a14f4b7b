#!/bin/bash
# tools/windows_tests.sh [PART...]: tests of rapt for Windows, under Wine (Debian's wine64). The program is the one of
# tools/windows_zip.sh, behind a script that starts it as a program of Linux, so that the scripts of tests/cli can run it. Parts:
# kernels bits commands paths console resume kills; all, without names. Wine has no Windows' own file system and console: what depends on
# those is left to who has Windows. The last line is "N passed, N failed, N skipped".
# KILLS is how often `kills` kills a run (100).
. "$(dirname "$0")/help.sh"
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/packages.sh
need 'programs of Windows on Linux' wine64
need 'a terminal for its console' bsdutils
install_missing || exit 1
BUILD=$PWD/build-windows
export WINEPREFIX=${WINEPREFIX:-$BUILD/wine} WINEDEBUG=-all
WINE=$(command -v wine64 || echo /usr/lib/wine/wine64)
NATIVE=${NATIVE:-$PWD/build-test/rapt}
RAPT=$BUILD/rapt-wine
export TARGET_TESTS=yes
passed=0 failed=0 skipped=0

tools/windows_zip.sh || exit 1
[ -x "$NATIVE" ] || { echo "no program at $NATIVE: build it, or set NATIVE"; exit 1; }
# Wine reads arguments in the character set of the locale.
printf '#!/bin/sh\nLC_ALL=C.UTF-8 exec %s %s/rapt.exe "$@"\n' "$WINE" "$BUILD" >"$RAPT"
chmod +x "$RAPT"
"$WINE" cmd /c ver >"$BUILD/wine.log" 2>&1 # makes the prefix

# script FILE [VARIABLE=VALUE...]: a script of tests.
script() {
    local counts log=$BUILD/${1##*/}.log
    counts=$(env RAPT="$RAPT" NATIVE="$NATIVE" DRIVE=Z: "${@:2}" bash "tests/$1" 2>&1 | tee "$log" | tail -1)
    grep '^FAIL' -A3 "$log"
    if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        echo "$1: $counts"
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
    else
        echo "FAIL  $1: $counts"
        failed=$((failed + 1))
    fi
}

kernels() {
    local name
    tools/configure.sh build-windows -DRAPT_TESTS=ON >"$BUILD/tests.log" 2>&1 &&
        cmake --build build-windows -j"${JOBS:-$(nproc)}" --target check_kernels >>"$BUILD/tests.log" 2>&1 ||
        { tail "$BUILD/tests.log"; failed=$((failed + 1)); return; }
    if "$WINE" "$BUILD/tests/check_kernels.exe" >"$BUILD/check_kernels.log" 2>&1; then
        passed=$((passed + 1))
        tail -1 "$BUILD/check_kernels.log"
    else
        failed=$((failed + 1))
        echo "FAIL  check_kernels"
        tail "$BUILD/check_kernels.log"
    fi
}
bits() { script cli/check_same_bits.sh RAPT="$NATIVE" RAPT_OTHER="$RAPT"; }
# The other scripts of tests/cli also try what Linux alone has: arguments that are not UTF-8, /dev/fd, limits of files, terminals.
commands() { script cli/check_embed.sh; }
paths() { script windows/paths.sh; }
console() { script windows/console.sh; }
resume() { script cli/check_resume.sh; }
kills() { script windows/kills.sh; }

[ $# -gt 0 ] || set -- kernels bits commands paths console resume kills
for part; do
    [[ " kernels bits commands paths console resume kills " = *" $part "* ]] || { echo "there is no part $part"; exit 2; }
    echo "==== $part"
    $part
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
