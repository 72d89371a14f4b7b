#!/bin/bash
# tools/targets.sh TARGET...: the tool chain of another system or C library, and the libraries that rapt stands on for it (JSON,
# YAML, checksums, patterns, gzip, HTTP without TLS; with TARGET_TESTS=yes the test framework), in build-targets/TARGET. A build is
# configured with it so:
#   tools/targets.sh x86_64-windows
#   cmake -S . -B build-windows -DCMAKE_TOOLCHAIN_FILE=build-targets/x86_64-windows/toolchain.cmake
# Scripts source this file for target_set, target_tools and target_libraries. It needs Debian, Python with venv, and the network. The
# compiler is zig's, from PyPI, which has headers and symbols of many C libraries, old ones too; the libraries are built from
# Debian's sources, with its security updates, and linked statically.
# The same bytes come from any folder: no debug information, and no path of a source.
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"
TARGETS_ROOT=${TARGETS_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build-targets}
SUITES=${SUITES:-bookworm bookworm-security} # SUITES=bookworm: where a mirror lacks the security updates
TARGET_LIBRARIES=(jansson libyaml xxhash pcre2 zlib) # linked into all; programs that serve have libmicrohttpd, too

# name, what zig calls it (or gcc or emcc: Debian's compiler), what CMake calls its system and processor, the tags of a wheel
TARGETS='
x86_64-linux-gnu    x86_64-linux-gnu.2.17   Linux   x86_64   manylinux_2_17_x86_64.manylinux2014_x86_64
aarch64-linux-gnu   aarch64-linux-gnu.2.17  Linux   aarch64  manylinux_2_17_aarch64.manylinux2014_aarch64
x86_64-linux-musl   x86_64-linux-musl       Linux   x86_64   musllinux_1_2_x86_64
aarch64-linux-musl  aarch64-linux-musl      Linux   aarch64  musllinux_1_2_aarch64
x86_64-windows      x86_64-windows-gnu      Windows AMD64    win_amd64
aarch64-macos       aarch64-macos.11.0      Darwin  arm64    macosx_11_0_arm64
x86_64-macos        x86_64-macos.11.0       Darwin  x86_64   macosx_11_0_x86_64
x86_64-freebsd      x86_64-freebsd          FreeBSD amd64    freebsd_14_0_release_amd64
riscv64-linux-gnu   gcc                     Linux   riscv64  linux_riscv64
i686-linux-musl     x86-linux-musl          Linux   i686     linux_i686
wasm32-emscripten   emcc                    Emscripten wasm32 emscripten_wasm32
'

# target_set NAME: the variables TARGET, TRIPLE, TARGET_SYSTEM, PROCESSOR, WHEEL_TAG, TARGET_FOLDER and PREFIX.
target_set() {
    read -r TARGET TRIPLE TARGET_SYSTEM PROCESSOR WHEEL_TAG <<<"$(awk -v name="$1" '$1 == name' <<<"$TARGETS")"
    [ -n "$TARGET" ] || { echo "there is no target $1; these are: $(awk '{ printf "%s ", $1 }' <<<"$TARGETS")"; return 2; }
    TARGET_FOLDER=$TARGETS_ROOT/$TARGET PREFIX=$TARGETS_ROOT/$TARGET/prefix
    mkdir -p "$PREFIX/lib/pkgconfig"
}

# target_venv: an environment with zig and what makes wheels, once for each state of the list.
target_venv() {
    local venv=$TARGETS_ROOT/venv list mark
    list=$(dirname "${BASH_SOURCE[0]}")/build_tools.txt
    mark=$venv/has-$(sha256sum <"$list" | cut -c1-16)
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || return 1
    [ -e "$mark" ] || { "$venv/bin/pip" -q install --require-hashes --no-deps --only-binary :all: -r "$list" && touch "$mark"; } || return 1
    ZIG=$(echo "$venv"/lib/python3*/site-packages/ziglang/zig)
}

# target_sources NAME...: Debian's sources, whose signatures apt checks, each in the folder sources/NAME.
target_sources() {
    local to=$TARGETS_ROOT/sources name suite archive missing=()
    for name; do
        [ -e "$to/$name" ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    mkdir -p "$to/lists/partial"
    for suite in $SUITES; do
        archive=debian
        [ "$suite" = "${suite%-security}" ] || archive=debian-security
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$archive $suite main"
    done >"$to/list"
    local options=(-qq -o APT::Update::Error-Mode=any -o Dir::Etc::sourcelist="$to/list" -o Dir::Etc::sourceparts=-
        -o Dir::State::lists="$to/lists" -o APT::Sandbox::User="$(id -un)")
    apt-get "${options[@]}" update &&
        (cd "$to" && apt-get "${options[@]}" source "${missing[@]}") || return 1
    for name in "${missing[@]}"; do # the newest, where an earlier call has left another one
        (cd "$to" && ln -s "$(printf '%s\n' "$name"-*/ | sort -V | tail -1 | tr -d /)" "$name") || return 1
    done
}

# target_licenses FOLDER [NAME...]: what the licenses of statically linked libraries ask for: the texts, NAME.txt, and for who looks
# for known defects the versions of their sources, NAME.version. Always of TARGET_LIBRARIES; NAME is one more, such as libmicrohttpd,
# or the part of a C library that is within the program: musl, mingw-w64, emscripten.
target_licenses() {
    local to=$1 name zig=${ZIG-} from # no zig where emcc is the compiler
    from=${zig%/*}/lib/libc
    rm -rf "$to"
    mkdir -p "$to"
    for name in "${TARGET_LIBRARIES[@]}" "${@:2}"; do
        case $name in
        musl)
            cp "$from/musl/COPYRIGHT" "$to/$name.txt" || return 1
            sed -n 's/^#define VERSION "\(.*\)"/\1/p' "$from/musl/src/internal/version.h" >"$to/$name.version"
            ;;
        mingw-w64)
            cp "$from/mingw/COPYING" "$to/$name.txt" || return 1
            sed -nE 's/^#define __MINGW64_VERSION_(MAJOR|MINOR|BUGFIX) +([0-9]+).*/\2/p' \
                "$from/include/any-windows-any/_mingw_mac.h" | paste -sd. >"$to/$name.version"
            ;;
        emscripten)
            emscripten_license "$(em-config EMSCRIPTEN_ROOT)" >"$to/$name.txt" || { echo "targets.sh: no license of $name"; return 1; }
            tr -d '"' <"$(em-config EMSCRIPTEN_ROOT)/emscripten-version.txt" >"$to/$name.version"
            ;;
        *)
            cp "$TARGETS_ROOT/sources/$name/debian/copyright" "$to/$name.txt" &&
                (cd "$TARGETS_ROOT/sources/$name" && dpkg-parsechangelog -S Version) >"$to/$name.version" || return 1
            ;;
        esac
        grep -q . "$to/$name.txt" || { echo "targets.sh: the license of $name is empty"; return 1; }
        grep -q . "$to/$name.version" || { echo "targets.sh: the version of $name is not where it was"; return 1; }
    done
}

# emscripten_license FOLDER: of what emscripten adds to each program: its JavaScript and its C library, musl. Debian's copyright file
# is mostly about tests, which are not within; other packages have a LICENSE.
emscripten_license() {
    if [ -e "$1/LICENSE" ]; then
        cat "$1/LICENSE"
    else
        awk -v RS= '/^Files:[ \n]+[*]\n/ || /^License: Expat\n/ { print $0 "\n"; n++ } END { exit n != 2 }' \
            "${EMSCRIPTEN_COPYRIGHT:-/usr/share/doc/emscripten/copyright}"
    fi && printf 'Its C library:\n\n' && cat "$1/system/lib/libc/musl/COPYRIGHT"
}

# The commands cc, ar, ranlib and rc, and the tool chain file of CMake, which has them. A compiled file names no folder of
# this machine, and a release's optimizer is the default: without one, zig adds checks of its own. For macOS its linker takes
# lists of exported symbols and heeds none (0.17.1), so that libraries are compiled to export nothing.
target_tools() {
    local tools=$TARGET_FOLDER/bin tool flags='-ffunction-sections -fdata-sections'
    [ "$TARGET_SYSTEM" = Windows ] || flags+=' -fno-unwind-tables -fno-asynchronous-unwind-tables' # there its C library needs them
    mkdir -p "$tools"
    local compiler="${ZIG:-} cc -target $TRIPLE -s -fno-sanitize=undefined" prefix="${ZIG:-} " emulator=''
    [ "$TARGET_SYSTEM" != Darwin ] || compiler+=' -fvisibility=hidden'
    if [ "$TRIPLE" = gcc ]; then
        compiler=$TARGET-gcc prefix=$TARGET- emulator="-L;/usr/$TARGET"
    elif [ "$TRIPLE" = emcc ]; then
        compiler=emcc prefix=em
    fi
    case $PROCESSOR in aarch64 | riscv64) emulator="qemu-$PROCESSOR;$emulator" ;; esac
    printf '#!/bin/sh\nexec %s "-ffile-prefix-map=%s=." "-ffile-prefix-map=%s=." "$@"\n' \
        "$compiler" "$TARGETS_ROOT" "$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)" >"$tools/cc"
    for tool in ar ranlib rc; do
        printf '#!/bin/sh\nexec %s%s "$@"\n' "$prefix" $tool >"$tools/$tool"
    done
    chmod +x "$tools"/*
    CC=$tools/cc
    cat >"$TARGET_FOLDER/toolchain.cmake" <<EOF
# $TARGET: made by tools/targets.sh.
set(CMAKE_SYSTEM_NAME $TARGET_SYSTEM)
set(CMAKE_SYSTEM_PROCESSOR $PROCESSOR)
set(CMAKE_C_COMPILER $tools/cc)
set(CMAKE_AR $tools/ar CACHE FILEPATH "")
set(CMAKE_RANLIB $tools/ranlib CACHE FILEPATH "")
set(CMAKE_RC_COMPILER $tools/rc)
set(CMAKE_C_FLAGS_INIT "$flags")
set(CMAKE_FIND_ROOT_PATH $PREFIX)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} $PREFIX/lib/pkgconfig)
${emulator:+set(CMAKE_CROSSCOMPILING_EMULATOR $emulator)}
EOF
    [ "$TRIPLE" != emcc ] || cat >>"$TARGET_FOLDER/toolchain.cmake" <<'EOF'
set(EMSCRIPTEN_SYSTEM_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER emcc) # asked for its version, it takes no other options
string(APPEND CMAKE_C_FLAGS_INIT " -ffile-prefix-map=${CMAKE_CURRENT_LIST_DIR}/../..=.")
execute_process(COMMAND em-config EMSCRIPTEN_ROOT OUTPUT_VARIABLE EMSCRIPTEN_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
include(${EMSCRIPTEN_ROOT}/cmake/Modules/Platform/Emscripten.cmake)
# What emscripten 3.1.6 links does not know node's own fetch, which takes no paths; relaxed SIMD is an option of node 20.
set(CMAKE_CROSSCOMPILING_EMULATOR node;--no-experimental-fetch)
execute_process(COMMAND node --experimental-wasm-relaxed-simd -e 0 RESULT_VARIABLE NO_OPTION OUTPUT_QUIET ERROR_QUIET)
if(NOT NO_OPTION)
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR --experimental-wasm-relaxed-simd)
endif()
EOF
    [ "$TARGET_SYSTEM" != Darwin ] || cat >>"$TARGET_FOLDER/toolchain.cmake" <<'EOF'
# After CMake's own rules for the system. They ask a program of macOS whether it knows @rpath, and make bundles of modules, which
# zig takes for programs; the loader takes a library for a bundle.
set(CMAKE_USER_MAKE_RULES_OVERRIDE ${CMAKE_CURRENT_LIST_FILE})
set(CMAKE_SHARED_LIBRARY_RUNTIME_C_FLAG -Wl,-rpath,)
set(CMAKE_SHARED_MODULE_CREATE_C_FLAGS -dynamiclib)
EOF
}

# build_library NAME FOLDER CMAKE-OPTION...: a static library into $PREFIX, in sections, of which the linker leaves out what
# nothing calls. Where no time is spent it is made small.
build_library() {
    local build=$TARGET_FOLDER/$1
    cmake -S "$2" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$TARGET_FOLDER/toolchain.cmake" -DCMAKE_BUILD_TYPE=MinSizeRel \
        -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=$PIC -DCMAKE_INSTALL_PREFIX="$PREFIX" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "${@:3}" &&
        cmake --build "$build" -j"${JOBS:-$(nproc)}" && cmake --install "$build"
}

# pkg_config MODULE LIBRARY SOURCE CFLAG...: where the library's own CMake writes none, or one with other folders.
pkg_config() {
    printf 'Name: %s\nDescription: static\nVersion: %s\nCflags: -I%s/include %s\nLibs: -L%s/lib -l%s\n' \
        "$1" "$(readlink "$TARGETS_ROOT/sources/$3" | sed 's/.*-//')" "$PREFIX" "${*:4}" "$PREFIX" "$2" >"$PREFIX/lib/pkgconfig/$1.pc"
}

# Debian's sources of zlib lack what its CMake asks for, and its configure knows systems by uname: these are its files. It takes
# every macOS for the one before 2001, which had no fdopen, unless that is a macro.
build_zlib() {
    local from=$1 build=$TARGET_FOLDER/zlib name objects=()
    mkdir -p "$build"
    for name in adler32 crc32 deflate infback inffast inflate inftrees trees zutil compress uncompr gzclose gzlib gzread gzwrite; do
        "$CC" -O3 -fPIC -ffunction-sections -fdata-sections -DHAVE_UNISTD_H -Dfdopen=fdopen -c "$from/$name.c" -o "$build/$name.o" || return 1
        objects+=("$build/$name.o")
    done
    rm -f "$PREFIX/lib/libz.a"
    mkdir -p "$PREFIX/include" && cp "$from/zlib.h" "$from/zconf.h" "$PREFIX/include/" &&
        "${CC%/*}/ar" rcsD "$PREFIX/lib/libz.a" "${objects[@]}" && pkg_config zlib z zlib
}

# HTTP for `rapt serve`. It has no CMake.
build_microhttpd() {
    local from=$1 build=$TARGET_FOLDER/microhttpd tools=${CC%/*} host=$TARGET
    [ "$TARGET_SYSTEM" != Windows ] || host=x86_64-w64-mingw32
    rm -rf "$build"
    mkdir -p "$build" && cd "$build" &&
        "$from/configure" --host="$host" --prefix="$PREFIX" --libdir="$PREFIX/lib" --enable-static --disable-shared --with-pic \
            --disable-https --disable-doc --disable-examples --disable-curl --disable-dependency-tracking \
            CC="$CC" AR="$tools/ar" RANLIB="$tools/ranlib" CFLAGS='-Os -ffunction-sections -fdata-sections' &&
        make -j"${JOBS:-$(nproc)}" -C src/microhttpd libmicrohttpd.la && make -C src/microhttpd install-libLTLIBRARIES &&
        make -C src/include install && pkg_config libmicrohttpd microhttpd libmicrohttpd && rm -f "$PREFIX"/lib/*.la
}

# target_libraries: what the target's prefix lacks, from the sources; all, where the tools or the sources are other ones. What it
# has said is in libraries.log.
target_libraries() {
    local log=$TARGET_FOLDER/libraries.log names
    names=$(printf '%s\n' "${TARGET_LIBRARIES[@]}" libmicrohttpd | tr '\n' '|')
    names=$(ls "$TARGETS_ROOT/sources" | grep -E "^(${names%|})_.*\.dsc$")
    DONE=$PREFIX/done-$(echo "$names" | cat - "$(dirname "${BASH_SOURCE[0]}")/build_tools.txt" | sha256sum | cut -c1-16)
    [ -e "$DONE" ] || { rm -rf "$PREFIX" && mkdir -p "$PREFIX/lib/pkgconfig" && build_libraries >"$log" 2>&1; } || { tail -20 "$log"; return 1; }
    [ -z "${TARGET_TESTS:-}" ] || [ -e "$PREFIX/lib/pkgconfig/cmocka.pc" ] || build_cmocka >>"$log" 2>&1 || { tail -20 "$log"; return 1; }
}

build_libraries() {
    local from=$TARGETS_ROOT/sources yaml_static='' pcre2_static='' JIT=ON PIC=ON
    [ "$TRIPLE" != emcc ] || JIT=OFF PIC=OFF # a module is not changed once it runs, and is no shared object
    [ "$TARGET_SYSTEM" != Windows ] || yaml_static=-DYAML_DECLARE_STATIC pcre2_static=-DPCRE2_STATIC
    build_library jansson "$from/jansson" -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF &&
        build_library yaml "$from/libyaml" -DBUILD_TESTING=OFF &&
        pkg_config yaml-0.1 yaml libyaml $yaml_static &&
        build_library xxhash "$from/xxhash/cmake_unofficial" -DXXHASH_BUILD_XXHSUM=OFF -DCMAKE_BUILD_TYPE=Release &&
        pkg_config libxxhash xxhash xxhash &&
        build_library pcre2 "$from/pcre2" -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_JIT=$JIT &&
        pkg_config libpcre2-8 pcre2-8 pcre2 $pcre2_static &&
        build_zlib "$from/zlib" &&
        { [ "$TARGET_SYSTEM" != Linux ] || (build_microhttpd "$from/libmicrohttpd"); } &&
        rm -f "$PREFIX"/lib/*.so* "$PREFIX"/lib/*.dylib "$PREFIX"/lib/*.dll.a &&
        touch "$DONE"
}

# cmocka has a uintptr_t of its own where neither of two macros tells it that the C library has one. With the first macro macOS
# has none, and with the second Windows.
build_cmocka() {
    local has_uintptr=-D_UINTPTR_T PIC=ON
    [ "$TRIPLE" != emcc ] || has_uintptr=-D_UINTPTR_T_DEFINED PIC=OFF
    [ "$TARGET_SYSTEM" != Darwin ] || has_uintptr=-D_UINTPTR_T_DEFINED
    CFLAGS=$has_uintptr build_library cmocka "$TARGETS_ROOT/sources/cmocka" -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF -DWITH_STATIC_LIB=ON &&
        mv "$PREFIX/lib/libcmocka-static.a" "$PREFIX/lib/libcmocka.a" && rm -f "$PREFIX"/lib/libcmocka{.so,.dylib,.dll}* &&
        pkg_config cmocka cmocka cmocka $has_uintptr
}

# What stands between a mirror and a folder, and how to go on.
say_no_sources() {
    tail -20 "$TARGETS_ROOT/sources.log"
    echo "targets.sh: the sources of the libraries cannot be had from $SUITES of deb.debian.org (all that was said:"
    echo "$TARGETS_ROOT/sources.log). A mirror without the security updates: set SUITES=bookworm. Libraries whose sources are there,"
    echo "in $TARGETS_ROOT/sources, are not asked for again."
}

target_make() {
    target_set "$1" || return
    [[ $TARGETS_ROOT$PWD != *[[:space:]]* ]] || { echo "targets.sh: there is a space in $TARGETS_ROOT or $PWD: tool chains need a path without"; return 1; }
    [ "$TRIPLE" = emcc ] || target_venv || { echo "targets.sh: zig cannot be had from PyPI, or python3 has no venv"; return 1; }
    target_sources "${TARGET_LIBRARIES[@]}" libmicrohttpd ${TARGET_TESTS:+cmocka} >"$TARGETS_ROOT/sources.log" 2>&1 || { say_no_sources; return 1; }
    target_tools && target_libraries
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -eu
    for name; do
        target_make "$name"
        echo "-DCMAKE_TOOLCHAIN_FILE=$TARGET_FOLDER/toolchain.cmake"
    done
fi
