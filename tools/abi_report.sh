#!/bin/bash
# tools/abi_report.sh: what programs that were linked with the last release's librapt.so would meet in this one: functions
# that are gone, other arguments, other fields. A report, not a test: before 1.0 a minor version may break them, and has
# another SONAME then. Compares with the newest tools/abi/librapt-VERSION.abi.xz, which a release writes with
# `tools/abi_report.sh --keep`. Needs abidiff and abidw (on Debian abigail-tools); builds the library with -g in build-abi.
. "$(dirname "$0")/help.sh"
set -u
cd "$(dirname "$0")/.." || exit 1
build=build-abi
command -v abidiff >/dev/null || { echo 'abi: no abidiff (abigail-tools)'; echo '0 passed, 0 failed, 1 skipped'; exit 0; }
tools/configure.sh $build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g && tools/build.sh $build rapt_shared ||
    { echo '0 passed, 1 failed, 0 skipped'; exit 1; }
now=$(sed -n 's/^#define RAPT_VERSION "\([0-9.]*\).*/\1/p' include/rapt/base.h)
# Types that include/rapt does not show are nobody else's.
describe() {
    abidw --headers-dir include --drop-private-types --drop-undefined-syms --no-elf-needed --no-show-locs --no-corpus-path \
        --no-comp-dir-path $build/librapt.so | sed "s|$PWD/||g"
}
if [ "${1-}" = --keep ]; then
    describe | xz -9 >"tools/abi/librapt-$now.abi.xz" && ls -l "tools/abi/librapt-$now.abi.xz"
    exit
fi
last=$(ls tools/abi/librapt-*.abi.xz | grep -v -- "-$now\.abi" | sort -V | tail -1)
xz -dc "$last" >$build/last.abi && describe >$build/now.abi
abidiff --no-show-locs $build/last.abi $build/now.abi >$build/report 2>&1
echo "abi: $(basename "$last" .abi.xz) and this one, $now; all of it is in $build/report"
grep -E '^(SONAME changed|(Functions|Variables) .*summary)' $build/report || echo 'no change'
echo '1 passed, 0 failed, 0 skipped'
