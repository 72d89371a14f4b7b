#!/bin/bash
# tools/portable.sh [ARCHITECTURE...]: what needs no installation, into dist/. For any Linux of its processor (x86_64 and aarch64,
# by default both), each at most 2 MB:
#   rapt-VERSION-ARCHITECTURE-static.tar.xz   rapt is one file, linked statically with musl. It serves, without TLS; it has no
#                                             modules, thus neither `rapt fetch` nor pictures as PNG nor MPI
#   rapt-VERSION-ARCHITECTURE-glibc.tar.xz    bin/rapt and its module lib/rapt/rapt_serve.so, for glibc 2.17 and later; modules that
#                                             are built elsewhere (draw, fetch, MPI) can be put beside it
#   rapt-VERSION-container-ARCHITECTURE.tar.gz   the first one as an image for `podman load` or `docker load`
# For macOS 11 and later (macos-arm64 and macos-x86_64, when named), where nobody has run it:
#   rapt-VERSION-macos-ARCHITECTURE.tar.xz    bin/rapt, without modules, and the library, shared and static, with its headers
# Tarballs have recipes and the sentence pairs of the quickstart, and in share/ completions and the manual. Tool chain and
# libraries: tools/targets.sh. Images need buildah.
# Two runs in two folders give the same bytes.
. "$(dirname "$0")/help.sh"
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh
. tools/targets.sh
VERSION=$(sed -n 's/^#define RAPT_VERSION "\([^"]*\)".*/\1/p' include/rapt/base.h)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
LIMIT=2097152

# compile TARGET CMAKE-OPTION...: in TARGET_FOLDER/program, the program and its modules, or what GOALS names.
compile() {
    target_make "$1"
    local log=$TARGET_FOLDER/program.log build=$TARGET_FOLDER/program
    { cmake -S . -B "$build" -DCMAKE_TOOLCHAIN_FILE="$TARGET_FOLDER/toolchain.cmake" "${@:2}" &&
        cmake --build "$build" -j"${JOBS:-$(nproc)}" --target ${GOALS:-rapt} -- --no-print-directory; } >"$log" 2>&1 ||
        { grep -A3 'error:' "$log" || tail -20 "$log"; return 1; }
}

# Completions and the manual, in PAGES: the program of any target prints the same, so one that runs here does it.
make_pages() {
    compile "$(uname -m)-linux-musl" -DRAPT_STATIC=ON -DCMAKE_CROSSCOMPILING_EMULATOR=env
    PAGES=$TARGET_FOLDER/program/share
    cmake --build "$TARGET_FOLDER/program" --target rapt_pages >>"$TARGET_FOLDER/program.log" 2>&1 ||
        { tail -20 "$TARGET_FOLDER/program.log"; return 1; }
}

# stage NAME [LIBRARY...]: the folder STAGE with what every archive has; the libraries are within the program, too.
stage() {
    STAGE=$TARGETS_ROOT/archives/$1
    rm -rf "$STAGE"
    mkdir -p "$STAGE/recipes" "$STAGE/data" "$STAGE/share"
    target_licenses "$STAGE/licenses" "${@:2}"
    cp LICENSE "$STAGE/licenses/rapt.txt"
    cp -r "$PAGES"/* "$STAGE/share/"
    cp recipes/quickstart*.yaml "$STAGE/recipes/"
    cp data/*.tsv data/*.en data/*.jsonl "$STAGE/data/"
    chmod -R u=rwX,go=rX "$STAGE" # whatever the umask: an image keeps the modes
}

# pack [LIMIT]: the same archive, whoever packs it and when, of at most so many bytes.
pack() {
    local file=dist/${STAGE##*/}.tar.xz limit=${1:-$LIMIT}
    tar -C "${STAGE%/*}" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w --mtime="@$SOURCE_DATE_EPOCH" \
        --format=gnu -c "${STAGE##*/}" | xz -9e --threads=1 >"$file"
    [ "$(stat -c %s "$file")" -le "$limit" ] || { ls -l "$file"; echo "tools/portable.sh: $file has more than $limit bytes"; return 1; }
    ls -l "$file"
}

static_archive() {
    compile "$1-linux-musl" -DRAPT_STATIC=ON
    stage "rapt-$VERSION-$1-static" libmicrohttpd musl
    cp "$TARGET_FOLDER/program/rapt" "$STAGE/"
    [ "$1" != "$(uname -m)" ] || try_libraries "$STAGE"
    pack
}

glibc_archive() {
    compile "$1-linux-gnu"
    stage "rapt-$VERSION-$1-glibc" libmicrohttpd
    mkdir -p "$STAGE/bin" "$STAGE/lib/rapt"
    cp "$TARGET_FOLDER/program/rapt" "$STAGE/bin/"
    cp "$TARGET_FOLDER"/program/rapt_*.so "$STAGE/lib/rapt/"
    pack
}

macos_archive() {
    local target=$1-macos
    [ "$1" != arm64 ] || target=aarch64-macos
    GOALS='rapt rapt_shared rapt_static' compile "$target"
    stage "rapt-$VERSION-macos-$1"
    cmake --install "$TARGET_FOLDER/program" --prefix "$STAGE" >>"$TARGET_FOLDER/program.log" 2>&1 ||
        { tail -20 "$TARGET_FOLDER/program.log"; return 1; }
    check_macos "$1"
    pack 4194304
}

# No program here runs these, but what macOS reads of them can be read. Either library is linked to a program that has a function
# with the name of a hidden one of the library's.
check_macos() {
    local check=(python3 tools/macho_check.py "$1") own=$TARGET_FOLDER/own archives=() name
    "${check[@]}" "$STAGE/bin/rapt"
    "${check[@]}" "$STAGE/lib/librapt.dylib" --exports @tools/exported-symbols.txt
    for name in jansson yaml xxhash pcre2-8 z; do
        archives+=("$PREFIX/lib/lib$name.a")
    done
    echo 'int arena_alloc(void); int arena_alloc(void) { return 0; }' >"$own.c"
    "$CC" -I"$STAGE/include" examples/translate.c "$own.c" -o "$own" "$STAGE/lib/librapt.a" "${archives[@]}"
    "${check[@]}" "$own"
    "$CC" -I"$STAGE/include" examples/translate.c "$own.c" -o "$own" "$STAGE/lib/librapt.dylib" -Wl,-rpath,@executable_path/lib
    "${check[@]}" "$own" "@rpath/$(readlink "$STAGE/lib/librapt.dylib")"
}

# buildah here: its images and layers are this script's own, and a sandbox that may not start containers can build them.
with_buildah() { buildah --root "$TARGETS_ROOT/images" --runroot "$TARGETS_ROOT/images/run" --storage-driver vfs "$@"; }

# same_image TAR: buildah notes which container it has built an image in; without that, two images of the same files are the same.
# What is left is the configuration, the layer and the manifest.
same_image() {
    python3 - "$1" "$SOURCE_DATE_EPOCH" <<'PY'
import hashlib, io, json, sys, tarfile
path, when = sys.argv[1], int(sys.argv[2])
with tarfile.open(path) as tar:
    manifest = json.load(tar.extractfile("manifest.json"))
    config = json.load(tar.extractfile(manifest[0]["Config"]))
    layers = [(name, tar.extractfile(name).read()) for name in manifest[0]["Layers"]]
config.pop("container", None)
config.pop("container_config", None)
config["config"].pop("Hostname", None)
text = json.dumps(config, sort_keys=True).encode()
manifest[0]["Config"] = hashlib.sha256(text).hexdigest() + ".json"
with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
    for name, data in [(manifest[0]["Config"], text), *layers, ("manifest.json", json.dumps(manifest).encode())]:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime = len(data), when
        tar.addfile(entry, io.BytesIO(data))
PY
}

# Docker's form of an image has a health check; OCI's has none.
container() {
    local context=$TARGETS_ROOT/archives/rapt-$VERSION-$1-static file=dist/rapt-$VERSION-container-$1.tar machine=amd64
    [ "$1" = x86_64 ] || machine=arm64
    rm -f "$file" "$file.gz"
    with_buildah bud --isolation chroot --format docker --platform "linux/$machine" --timestamp "$SOURCE_DATE_EPOCH" --layers=false \
        --build-arg VERSION="$VERSION" --build-arg REVISION="$(git rev-parse HEAD 2>/dev/null || true)" \
        -t "rapt:$VERSION" -f tools/container/Containerfile "$context" >"$TARGETS_ROOT/container.log" 2>&1 &&
        with_buildah push "rapt:$VERSION" "docker-archive:$file:rapt:$VERSION" >>"$TARGETS_ROOT/container.log" 2>&1 ||
        { tail "$TARGETS_ROOT/container.log"; return 1; }
    same_image "$file"
    gzip -9n "$file"
    ls -l "$file.gz"
    [ "$1" != "$(uname -m)" ] || [ "$(id -u)" != 0 ] || try_container "$context"
}

# What a static program says that it was linked with is what has its license beside it, but for the C library.
try_libraries() {
    local named within
    named=$("$1/rapt" info --json | sed -n '/"libraries": {/,/}/s/^ *"\([^"]*\)": "[^"]*",*$/\1/p' | sort | paste -sd' ')
    within=$(ls "$1/licenses" | sed -n 's/[.]version$//p' | grep -vx musl | sort | paste -sd' ')
    [ "$named" = "$within" ] || { echo "rapt info names $named; the licenses are of $within"; return 1; }
}

# The image serves, as its user and on a root that is mounted read-only: without a container's isolation, which sandboxes forbid.
try_container() {
    local id root try=$TARGETS_ROOT/try
    rm -rf "$try"
    # The image's user reads the model, whatever the umask.
    (umask 022 && mkdir -p "$try" && "$1/rapt" train "$1/recipes/quickstart.yaml" --out "$try/model" --quiet --max-steps 2)
    id=$(with_buildah from "rapt:$VERSION")
    [ "$(with_buildah run --isolation chroot "$id" -- /usr/bin/rapt --version)" = "rapt $VERSION" ]
    root=$(with_buildah mount "$id")
    mkdir -p "$root/models"
    unshare --mount sh -eu -c '
        mount --bind "$0" "$0"
        mount --bind "$1" "$0/models"
        mount -o remount,bind,ro "$0"
        chroot --userspec=65532:65532 "$0" /usr/bin/rapt serve --port 0 --log none /models/model >"$1/said" &
        server=$!
        trap "kill $server 2>/dev/null" EXIT
        for i in $(seq 60); do
            port=$(sed -n "s/^listening on .*:\([0-9]*\)$/\1/p" "$1/said")
            [ -z "$port" ] || break
            sleep 1
        done
        chroot --userspec=65532:65532 "$0" /usr/bin/rapt serve --check --port "$port"
        trap - EXIT
        kill $server
        wait $server' "$root" "$try"
    echo 'the image: serves as a user without rights, on a root that is read-only, and is well'
    with_buildah rm "$id" >/dev/null
}

[ $# -gt 0 ] || set -- x86_64 aarch64
need 'the build system, and how it finds libraries' cmake pkg-config dpkg-dev
need 'Python: an environment for the compiler' python3-venv
need 'archives' xz-utils
! printf '%s\n' "$@" | grep -qv '^macos-' || need 'images of containers' buildah
install_missing
mkdir -p dist "$TARGETS_ROOT"
make_pages
for architecture; do
    case $architecture in
    macos-*) macos_archive "${architecture#macos-}" ;;
    *)
        static_archive "$architecture"
        glibc_archive "$architecture"
        container "$architecture"
        ;;
    esac
done
