#!/bin/bash
# tools/release.sh [--check] [--key KEY] VERSION [STEP...]: makes a release of the commit that is checked out: everything that is
# given away, in build-release/VERSION/files, and a tag. --check does all of it but the tag, and also takes a version between
# releases. Steps that are named run alone, on what earlier ones left. The steps:
#
#   clone      two clean clones, in paths of different length
#   tests      ./test --all in the first
#   source     the tarball; it is built without a network, and installed
#   lesson     the page in which a Transformer trains, which the Debian packages have, too
#   wheels     wheels for all targets, and the source distribution; both are installed with pip
#   debs       Debian packages; with --key also the apt repository, signed with this key of gpg
#   portable   tarballs, the program of a single file, the container; tarballs for macOS, which nothing here can use
#   windows    the zip file, whose program runs under wine
#   sbom       what is linked statically, as SPDX
#   sums       SHA256SUMS
#
# The lesson, wheels, archives and the zip file are made in both clones, under umasks and time zones that differ, and Debian packages twice;
# both must have the same bytes. What can run here trains the same hundred steps, which must give the same model file, and
# translates. What a step says is in build-release/VERSION/logs. A step that fails does not stop the others that can do without it;
# the last line is "N steps passed, N failed". It needs Debian, root for the packages, and a network; times are of the commit
# (SOURCE_DATE_EPOCH). The environment reaches the scripts: SUITES=bookworm where a mirror lacks the security updates of the libraries' sources,
# and WHEELS names the targets of wheels, if not all are wanted.
. "$(dirname "$0")/help.sh"
set -u
cd "$(dirname "$0")/.."
. tools/packages.sh
SOURCE=$PWD
STEPS=(clone tests source lesson wheels debs portable windows sbom sums)
WHEELS=${WHEELS:-x86_64-linux-gnu aarch64-linux-gnu x86_64-linux-musl aarch64-linux-musl x86_64-windows aarch64-macos x86_64-macos}

refuse() {
    echo "release.sh: $1" >&2
    exit "${2:-1}"
}
check='' key=''
while :; do
    case ${1:-} in
    --check) check=yes ;;
    --key) key=${2:?release.sh: --key needs the name of a key} && shift ;;
    *) break ;;
    esac
    shift
done
VERSION=${1:-}
[ -n "$VERSION" ] || refuse "usage: tools/release.sh [--check] [--key KEY] VERSION [STEP...], with the steps ${STEPS[*]}" 2
shift
for step; do
    [[ " ${STEPS[*]} " == *" $step "* ]] || refuse "there is no step $step; the steps are ${STEPS[*]}" 2
done

# ---- what a release requires ----------------------------------------------------------------------------------------
grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+)?' <<<"$VERSION" || refuse "$VERSION is no version such as 1.2.3"
[ -n "$check" ] || [ "$VERSION" = "${VERSION%-*}" ] || refuse "$VERSION is between releases: --check alone takes it"
has=$(sed -n 's/^#define RAPT_VERSION "\([^"]*\)".*/\1/p' include/rapt/base.h)
[ "$has" = "$VERSION" ] || refuse "include/rapt/base.h has version $has, not $VERSION"
section="## $VERSION"
[ "$VERSION" = "${VERSION%-*}" ] || section="## Unreleased (${VERSION%-*})"
grep -qxF "$section" CHANGELOG.md || refuse "CHANGELOG.md has no section \"$section\""
git rev-parse -q --verify "refs/tags/v$VERSION" >/dev/null && refuse "there is a tag v$VERSION already"
changed=$(git status --porcelain | head -3)
[ -z "$changed" ] || refuse "not all is committed: $(tr '\n' ' ' <<<"$changed")"
[ -n "$check" ] || [ -z "${SUITES:-}" ] || [[ $SUITES == *-security* ]] ||
    refuse "SUITES=$SUITES has no security updates of the libraries within: --check alone takes it"
if [ -n "$key" ]; then
    gpg --batch --list-secret-keys "$key" >/dev/null 2>&1 || refuse "gpg has no secret key $key"
fi
COMMIT=$(git rev-parse HEAD)
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

# ---- what steps share: each runs in a shell of its own, which ends where a command fails -------------------------------
WORK=$SOURCE/build-release/$VERSION
FILES=$WORK/files
LESSON=rapt-$VERSION-lesson.html
ONE=$WORK/one/rapt TWO=$WORK/two-in-a-longer-path/rapt
export LC_ALL=C.UTF-8

need_clones() {
    local clone
    for clone in "$ONE" "$TWO"; do
        [ "$(git -C "$clone" rev-parse HEAD 2>/dev/null)" = "$COMMIT" ] || { echo "no clean clone of this commit: run the step clone"; return 1; }
    done
}
need_script() { [ -x "$1" ] || { echo "there is no $1"; return 1; }; }
need_packages() { # as `need`
    need "$@"
    install_missing
}

# One compiler for both clones: it compiles a target's C library when it is first needed, and does so for each place that it is in.
need_compiler() {
    local clone
    need_packages 'builds for other systems' cmake pkg-config dpkg-dev xz-utils python3-dev python3-venv buildah
    [ -x "$WORK/compiler/bin/python" ] || python3 -m venv "$WORK/compiler"
    for clone in "$ONE" "$TWO"; do
        mkdir -p "$clone/build-targets"
        ln -sfn "$WORK/compiler" "$clone/build-targets/venv"
    done
    (cd "$ONE" && . tools/targets.sh && target_venv)
}

# twice COMMAND...: runs it in both clones, at once, since much of it takes one core; what it leaves in dist must be the same, and is
# given away.
twice() {
    local one two log=$WORK/logs/two.log failed=''
    need_clones
    rm -rf "$ONE/dist" "$TWO/dist"
    (umask 022 && cd "$ONE" && mkdir dist && "$@") &
    one=$!
    (umask 027 && cd "$TWO" && mkdir dist && TZ=Pacific/Kiritimati "$@") >"$log" 2>&1 &
    two=$!
    wait $one || failed=yes
    wait $two || { tail -20 "$log" && failed=yes; }
    [ -z "$failed" ]
    diff -r "$ONE/dist" "$TWO/dist"
    give_away "$ONE"/dist/*
}
give_away() { cp "$@" "$FILES/" && chmod 644 "${@/#*\//$FILES/}"; }

# use NAME COMMAND...: a program that somebody has installed trains and translates.
use() {
    local folder=$WORK/used/$1
    shift
    rm -rf "$folder"
    mkdir -p "$folder"
    (
        cd "$ONE"
        "$@" train recipes/quickstart.yaml --max-steps 100 --quiet --out "$folder/model"
        sha256sum <"$folder/model/model.safetensors"
        "$@" translate "$folder/model" --text 'Where are my keys?' --quiet
        echo 'The cat sat on the mat.' | "$@" translate tests/golden/hub_translation/marian --to deu --quiet
    ) | tr -d '\r' >"$folder/said"
    [ "$(wc -l <"$folder/said")" = 3 ] && grep -qxF "$(tail -1 "$folder/said")" "$ONE/README.md" ||
        { echo "not what README.md shows:"; cat "$folder/said"; return 1; }
    [ -e "$WORK/used/said" ] || cp "$folder/said" "$WORK/used/said"
    diff "$WORK/used/said" "$folder/said"
}
alone() { # COMMAND...: without a network
    if [ "$(id -u)" = 0 ]; then unshare -n -- "$@"; else unshare -rn -- "$@"; fi
}
# A Python with packages from PyPI, of versions that decide the bytes of what they write.
python_with() {
    need_packages 'Python with environments of its own' python3-venv
    [ -x "$WORK/venv/bin/python" ] || python3 -m venv "$WORK/venv"
    "$WORK/venv/bin/pip" -q install "$@"
}

# ---- steps -----------------------------------------------------------------------------------------------------------
step_clone() {
    local clone
    rm -rf "$WORK/one" "$WORK/two-in-a-longer-path" "$WORK/used" "$FILES"
    mkdir -p "$FILES"
    for clone in "$ONE" "$TWO"; do
        git clone -q --no-hardlinks "$SOURCE" "$clone"
        git -C "$clone" checkout -q --detach "$COMMIT"
    done
}

step_tests() {
    need_clones
    cd "$ONE"
    ./test --all
}

step_source() {
    local name=rapt-$VERSION clone
    need_clones
    for clone in "$ONE" "$TWO"; do
        git -C "$clone" archive --prefix="$name/" HEAD | gzip -9n >"$clone/../$name.tar.gz"
    done
    cmp "$ONE/../$name.tar.gz" "$TWO/../$name.tar.gz"
    give_away "$ONE/../$name.tar.gz"
    rm -rf "$WORK/source"
    mkdir -p "$WORK/source"
    tar -xzf "$FILES/$name.tar.gz" -C "$WORK/source"
    need_for_build
    install_missing
    alone make -C "$WORK/source/$name" install PREFIX="$WORK/source/prefix"
    use source "$WORK/source/prefix/bin/rapt"
}

step_lesson() {
    need_script "$ONE/tools/lesson.sh"
    need_packages 'builds for WebAssembly' cmake pkg-config dpkg-dev
    need_for_wasm
    install_missing
    twice tools/lesson.sh "dist/$LESSON"
}

sdist() { "$WORK/compiler/bin/python" -c 'from scikit_build_core.build import build_sdist; print(build_sdist("dist"))'; }
wheels_and_sdist() { tools/wheels.sh $WHEELS && sdist; }
# install_wheel NAME PIP-ARGUMENT...: into an environment that has nothing else.
install_wheel() {
    local venv=$WORK/used/$1-venv
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" -q install "${@:2}"
    use "$1" "$venv/bin/rapt"
    "$venv/bin/python" - "$WORK/used/$1" <<'PY'
import pathlib, sys
import rapt
folder = pathlib.Path(sys.argv[1])
said = rapt.Model.load(str(folder / "model")).translate("Where are my keys?").text
assert said == (folder / "said").read_text().splitlines()[1], said
PY
}
step_wheels() {
    need_script "$ONE/tools/wheels.sh"
    need_compiler
    twice wheels_and_sdist
    install_wheel wheel --no-index "$FILES"/*manylinux*x86_64.whl
    install_wheel sdist "$FILES"/rapt_transformer-*.tar.gz
    "$WORK/used/wheel-venv/bin/rapt" info --json >"$WORK/used/info.json"
}

# The script builds twice, compares, and installs each package in a root that has nothing else. Its roots are kept.
step_debs() {
    need_script "$ONE/tools/debian_packages.sh"
    [ -s "$FILES/$LESSON" ] || { echo "there is no page of the lesson: run the step lesson"; return 1; }
    need_clones
    mkdir -p "$SOURCE/build-debian"
    ln -sfn "$SOURCE/build-debian" "$ONE/build-debian"
    rm -rf "$ONE/dist"
    cd "$ONE"
    RAPT_LESSON=$FILES/$LESSON tools/debian_packages.sh
    give_away dist/*.deb dist/*.dsc dist/*.tar.*
    if [ -n "$key" ]; then
        need_packages 'an apt repository, and its signature' apt-utils gnupg
        tools/apt_repository.sh "$WORK/rapt-apt" "$key" dist
        give_away "$WORK/rapt-apt.tar"
    fi
}

# An image is an archive of archives, its layers, one of which has the program.
step_portable() {
    local file folder layer
    need_script "$ONE/tools/portable.sh"
    need_compiler
    twice tools/portable.sh x86_64 aarch64 macos-arm64 macos-x86_64
    for file in "$ONE"/dist/*-"$(uname -m)"-*.tar.* "$ONE"/dist/*-container-"$(uname -m)".tar.*; do
        folder=$WORK/used/${file##*/}.files
        rm -rf "$folder"
        mkdir -p "$folder"
        tar -xf "$file" -C "$folder"
        for layer in $(find "$folder" -name '*.tar'); do
            tar -xf "$layer" -C "$folder" --no-same-owner
        done
        use "${file##*/}" "$(find "$folder" -name rapt -type f -perm -u+x | head -1)"
    done
}

step_windows() {
    local folder=$WORK/used/windows.files
    need_script "$ONE/tools/windows_zip.sh"
    need_packages 'programs of Windows on Linux' wine64
    need_compiler
    twice tools/windows_zip.sh
    rm -rf "$folder"
    python3 -m zipfile -e "$ONE"/dist/*.zip "$folder"
    WINEDEBUG=-all WINEPREFIX=$WORK/wine use windows "$(command -v wine64 || echo /usr/lib/wine/wine64)" "$(find "$folder" -name rapt.exe)"
}

step_sbom() {
    local out=$FILES/rapt-$VERSION.spdx.json
    [ -s "$WORK/used/info.json" ] || { echo "what is linked is not known: run the step wheels"; return 1; }
    rm -f "$out" "$FILES/SHA256SUMS"
    python_with spdx-tools==0.8.5
    python3 "$ONE/tools/release_sbom.py" "$VERSION" "$COMMIT" "$SOURCE_DATE_EPOCH" "$WORK/used/info.json" "$FILES" >"$WORK/sbom.json"
    "$WORK/venv/bin/pyspdxtools" -i "$WORK/sbom.json" --version SPDX-2.3
    give_away "$WORK/sbom.json" && mv "$FILES/sbom.json" "$out"
}

step_sums() {
    rm -f "$FILES/SHA256SUMS"
    cd "$FILES"
    sha256sum -- * >"$WORK/SHA256SUMS"
    mv "$WORK/SHA256SUMS" .
    cat SHA256SUMS
}

step_tag() { git -C "$SOURCE" tag -a ${key:+-s -u "$key"} "v$VERSION" "$COMMIT" -m "rapt $VERSION"; }

# ---- the release -----------------------------------------------------------------------------------------------------
run() {
    local step=$1 log=$WORK/logs/$1.log status
    SECONDS=0
    (
        set -e
        "step_$step"
    ) >"$log" 2>&1 </dev/null
    status=$?
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        printf 'ok    %-9s %5d s\n' "$step" $SECONDS
    else
        failed=$((failed + 1))
        printf 'FAIL  %-9s %5d s: %s (all of it: %s)\n' "$step" $SECONDS "$(grep . "$log" | tail -1)" "${log#"$SOURCE"/}"
    fi
}

# A function, and the end behind it on one line: the commit that is checked out, and so this file, may change while it runs.
release() {
    local step all=''
    mkdir -p "$WORK/logs" "$WORK/used" "$FILES"
    [ $# -gt 0 ] || { set -- "${STEPS[@]}" && all=yes; }
    for step; do
        run "$step"
    done
    if [ -n "$all" ] && [ -z "$check" ]; then
        [ $failed = 0 ] && run tag || echo "no tag: a step has failed"
    fi
    echo "$passed steps passed, $failed failed: ${FILES#"$SOURCE"/}"
    [ $failed = 0 ]
}
passed=0 failed=0
release "$@"; exit
