#!/bin/bash
# tools/windows_zip.sh: rapt for Windows 10 and later on x86-64, as dist/rapt-VERSION-windows-x86_64.zip: the program, the library
# with its headers, and what the first steps need. It is compiled and linked by zig on Linux (tools/targets.sh); the program needs
# no other file. The same bytes from any folder.
. "$(dirname "$0")/help.sh"
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
need_for_build
need 'Python with environments of its own' python3-venv
need 'versions of the libraries' dpkg-dev
install_missing
. tools/targets.sh
target_make x86_64-windows
VERSION=$(sed -nE 's/^#define RAPT_VERSION "([^"]+)".*/\1/p' include/rapt/base.h)
NAME=rapt-$VERSION-windows-x86_64
FOLDER=build-windows/zip/$NAME

cmake -S . -B build-windows -DCMAKE_TOOLCHAIN_FILE="$TARGET_FOLDER/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release >build-windows.log 2>&1 ||
    { tail -20 build-windows.log; exit 1; }
cmake --build build-windows -j"${JOBS:-$(nproc)}" --target rapt rapt_shared >>build-windows.log 2>&1 ||
    { grep -A3 'error' build-windows.log | tail -40; exit 1; }
mv build-windows.log build-windows/zip.log

rm -rf build-windows/zip
mkdir -p "$FOLDER/include" "$FOLDER/lib" "$FOLDER/recipes" "$FOLDER/data" dist
cp build-windows/rapt.exe LICENSE "$FOLDER/"
cp build-windows/librapt.dll build-windows/librapt.dll.a "$FOLDER/lib/"
cp -r include/rapt.h include/rapt "$FOLDER/include/"
cp recipes/*.yaml "$FOLDER/recipes/"
find data -maxdepth 1 -type f -exec cp {} "$FOLDER/data/" \;
target_licenses "$FOLDER/licenses" mingw-w64 # whose start-up code is within the program
mv "$FOLDER/LICENSE" "$FOLDER/LICENSE.txt"

# Each file has the time of the commit, and they have an order.
python3 - "$FOLDER/.." "dist/$NAME.zip" "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" <<'EOF'
import os, sys, time, zipfile
folder, out, moment = sys.argv[1], sys.argv[2], time.gmtime(int(sys.argv[3]))[:6]
files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for path in files:
        entry = zipfile.ZipInfo(os.path.relpath(path, folder), moment)
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        archive.writestr(entry, open(path, "rb").read())
EOF
ls -l "dist/$NAME.zip"
