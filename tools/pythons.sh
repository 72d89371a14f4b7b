# tools/pythons.sh: Pythons for systems for which Debian has none, compiled from Debian's sources, to try wheels with and for
# nothing else: no TLS, no databases, few modules. Scripts source it after tools/targets.sh, which says what it needs; it also
# needs Debian 12, whose Python has the version of the sources.
#   musl_python TARGET   PYTHON_HOME/bin/python3.11 for musl
#   windows_python       PYTHON_HOME/python.exe, with the interpreter in python3.dll, which elsewhere forwards to another DLL
# Each takes some minutes, once.

musl_python() {
    PYTHON_HOME=$TARGETS_ROOT/$1/python
    [ ! -e "$PYTHON_HOME/complete" ] || return 0
    target_make "$1" && { target_sources python3.11 >"$TARGETS_ROOT/sources.log" 2>&1 || { say_no_sources; false; }; } || return 1
    (make_musl_python) >"$TARGET_FOLDER/python.log" 2>&1 || { tail -20 "$TARGET_FOLDER/python.log"; return 1; }
}

# What the new Python would have to do while it is built, Debian's of the same version does. Debian's musl is older than the
# compiler's, and lacks two functions. Code is independent of its place because the compiler's own musl has variables with
# several names (environ) at several places, which a program's copies of them would take for truth. Modules are within the
# program: as files they would be compiled with this machine's headers.
MODULES='array|_asyncio|binascii|_bisect|_blake2|cmath|_contextvars|_csv|_datetime|fcntl|grp|_heapq|_json|math|_md5|mmap|_opcode'
MODULES+='|_pickle|_posixsubprocess|_queue|_random|resource|select|_sha1|_sha256|_sha3|_sha512|_socket|_statistics|_struct|_typing'
MODULES+='|unicodedata|_zoneinfo'
make_musl_python() {
    local from=$TARGETS_ROOT/sources/python3.11 build=$TARGET_FOLDER/python-build tools=${CC%/*}
    local library=$PYTHON_HOME/lib/python3.11
    rm -rf "$build" "$PYTHON_HOME"
    mkdir -p "$build" "$PYTHON_HOME/bin" "$PYTHON_HOME/lib" && cd "$build" &&
        "$from/configure" --host="$TARGET" --build="$(uname -m)-linux-gnu" --prefix="$PYTHON_HOME" \
            --with-build-python=/usr/bin/python3.11 --without-ensurepip --disable-test-modules LDFLAGS='-dynamic -rdynamic' \
            CC="$CC" AR="$tools/ar" RANLIB="$tools/ranlib" READELF="$(command -v readelf)" PKG_CONFIG=false \
            OPT='-O1 -fPIC -Wno-error=date-time' ac_cv_func_preadv2=no ac_cv_func_pwritev2=no \
            ac_cv_file__dev_ptmx=no ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no &&
        { echo '*static*' && grep -E "^($MODULES) " Modules/Setup.stdlib; } >Modules/Setup.local &&
        make -j"${JOBS:-$(nproc)}" python && cp python "$PYTHON_HOME/bin/python3.11" && cp -r "$from/Lib" "$library" &&
        rm -r "$library/test" && mkdir "$library/lib-dynload" && touch "$PYTHON_HOME/complete"
}

windows_python() {
    musl_python x86_64-linux-musl || return 1 # the modules that are frozen into an interpreter are the same for all
    FROZEN=$TARGETS_ROOT/x86_64-linux-musl/python-build PYTHON_HOME=$TARGETS_ROOT/x86_64-windows/python
    [ ! -e "$PYTHON_HOME/complete" ] || return 0
    target_make x86_64-windows || return 1
    (make_windows_python) >"$TARGET_FOLDER/python.log" 2>&1 || { tail -20 "$TARGET_FOLDER/python.log"; return 1; }
}

# What Visual Studio is told is in pythoncore.vcxproj: the list of files, and what they ask of the command line. The facts about
# the compiler that PC/pyconfig.h has for Microsoft's alone are given here.
make_windows_python() {
    local from=$TARGETS_ROOT/sources/python3.11 build=$TARGET_FOLDER/python-build
    rm -rf "$build" "$PYTHON_HOME"
    mkdir -p "$build/objects" "$PYTHON_HOME" && cd "$build" || return 1
    cat >pyconfig.h <<END
#ifndef PYCONFIG_OF_TRY
#define PYCONFIG_OF_TRY
#define MS_WIN64
#define PYD_PLATFORM_TAG "win_amd64"
#define PY_SUPPORT_TIER 0
#define Py_WINVER 0x0602
#define Py_NTDDI NTDDI_WIN8
#define NTDDI_VERSION 0x0A000006
#define _WIN32_WINNT 0x0A00
#define WINVER 0x0A00
#include <sys/types.h>
#include <basetsd.h>
typedef __int64 Py_ssize_t;
#define PY_SSIZE_T_MAX LLONG_MAX
#define HAVE_PY_SSIZE_T 1
#include "$from/PC/pyconfig.h"
#endif
END
    printf '%s\n' 'LIBRARY api-ms-win-core-path-l1-1-0.dll' EXPORTS PathCchCanonicalizeEx PathCchCombineEx PathCchFindExtension \
        PathCchSkipRoot >paths.def # zig has no library of them
    "$ZIG" dlltool -m i386:x86-64 -d paths.def -l paths.a || return 1
    COMPILE="$CC -O1 -w -fms-extensions -Wno-error=date-time -Wno-implicit-function-declaration -Wno-int-conversion
        -Wno-incompatible-pointer-types -DNDEBUG -DPy_ENABLE_SHARED -I$build -I$from/Include -I$from/Include/internal -I$from/PC
        -I$from/Python -I$FROZEN/Python"
    export COMPILE from FROZEN
    grep -o 'ClCompile Include="[^"$]*"' "$from/PCbuild/pythoncore.vcxproj" | sed 's/.*Include="..\\//; s/"//; s#\\#/#g' |
        grep -v zlib | xargs -P"${JOBS:-$(nproc)}" -n1 bash -c 'file=$from/$1
            [ -e "$file" ] || file=$FROZEN/$1 # is made while an interpreter is built
            $COMPILE -DPy_BUILD_CORE -DPy_BUILD_CORE_BUILTIN -D_USRDLL -DPREFIX=NULL -DEXEC_PREFIX=NULL -DVERSION=NULL \
                -DMS_DLL_ID=\"3.11\" -DPLATLIBDIR=\"DLLs\" -DVPATH=\"..\" -DPY3_DLLNAME=L\"python3.dll\" \
                -c "$file" -o "objects/${1//\//_}.o"' compile || return 1
    "$CC" -shared -o python3.dll objects/*.o paths.a -Wl,--out-implib,python3.dll.a -lversion -lshlwapi -lws2_32 -lbcrypt \
        -ladvapi32 -luser32 -lole32 -loleaut32 &&
        $COMPILE -municode "$from/Programs/python.c" python3.dll.a -o python.exe && cp python3.dll python.exe "$PYTHON_HOME/" &&
        cp -r "$from/Lib" "$PYTHON_HOME/Lib" && rm -r "$PYTHON_HOME/Lib/test" && touch "$PYTHON_HOME/complete"
}
