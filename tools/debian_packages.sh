#!/bin/bash
# tools/debian_packages.sh [SUITE...]: the Debian packages of debian/ for releases of Debian, bookworm and trixie unless others are
# named, in dist/: source and binary packages. For each release they are built twice in a root that has what debian/control asks
# for and nothing else, in folders and under umasks that differ, and both must have the same bytes; lintian must have no warning;
# and debian/tests must pass in a root that had nothing but the packages (autopkgtest). What is built is what git knows, with
# changes that are not committed.
# RAPT_LESSON names the page of the lesson (tools/lesson.sh) for the package rapt, which has none otherwise.
# For root, on Debian; it needs debootstrap, and the network. Roots stay in build-debian, some 3 GB a release, which the next run
# need not make; `rm -r build-debian` removes them while no package is being built.
. "$(dirname "$0")/help.sh"
set -eu
LESSON=${RAPT_LESSON:+$(realpath -e "$RAPT_LESSON")}
cd "$(dirname "$0")/.."
. tools/packages.sh
need 'other releases of Debian' debootstrap
install_missing
JOBS=${JOBS:-$(nproc)}
WORK=$PWD/build-debian
ROOT=tools/debian_root.sh
mkdir -p dist "$WORK"

# quietly LOG COMMAND...: prints the end of what the command says only where it fails.
quietly() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null || { tail -60 "$log"; echo "failed: $* (all of it: $log)"; return 1; }
}
in_root() { "$ROOT" --in "$@"; }
apt_get() { in_root "$1" env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends "${@:2}"; }

# derive NAME PACKAGE...: a root NAME of this release, with packages. It is made once.
derive() {
    local root=$work/$1
    [ ! -e "$root/derived" ] || return 0
    rm -rf --one-file-system "$root"
    cp -a "$work/base" "$root"
    apt_get "$root" update && apt_get "$root" install "${@:2}" && touch "$root/derived"
}

# unpack FOLDER: the sources, with a version that says for which release they are, and the modes that the source package keeps.
unpack() {
    mkdir -p "$1"
    tar -xf "$WORK/sources.tar" -C "$1"
    chmod -R u=rwX,go=rX "$1"
    sed -i "1s/(\([^)]*\))/(\1$suffix)/" "$1/debian/changelog"
}

# build FOLDER UMASK: in FOLDER/rapt, with the page of the lesson beside it; source and binary packages are in FOLDER then. There are none for debuggers, so that compilers
# can do without -g, which takes them half as long again.
build() {
    rm -rf "$1"
    mkdir -p "$1"
    [ -z "$LESSON" ] || cp "$LESSON" "$1/lesson.html"
    (umask "$2" && unpack "$1/rapt" && cd "$1" &&
        "$OLDPWD/$ROOT" --in "$work/builder" env DEB_BUILD_OPTIONS="parallel=$JOBS noautodbgsym" DEB_CFLAGS_STRIP=-g \
            ${LESSON:+RAPT_LESSON=../lesson.html} \
            sh -c "umask $2 && cd rapt && exec dpkg-buildpackage --build=full -us -uc")
}

# The packages of both builds, byte by byte. (.buildinfo names the folder, and .changes has its sum.)
compare() {
    local file
    for file in "$work"/one/*.{deb,dsc,tar.*}; do
        cmp "$file" "$work/two-in-a-longer-path/${file##*/}" || return 1
    done
}

build_suite() {
    local suite=$1 work=$WORK/$1 suffix
    mkdir -p "$work"
    "$ROOT" "$suite" "$work/base"
    suffix=$(. "$work/base/etc/os-release" && echo "+deb${VERSION_ID:-$suite}") # sid has no number
    quietly "$work/roots.log" derive builder build-essential
    quietly "$work/depends.log" apt_get "$work/builder" build-dep ./
    quietly "$work/roots.log" derive checker lintian autopkgtest
    quietly "$work/one.log" build "$work/one" 022
    (cd "$work/one" && "$OLDPWD/$ROOT" --in "$work/checker" sh -c 'lintian --fail-on error,warning --tag-display-limit 0 ./*.changes')
    quietly "$work/two.log" build "$work/two-in-a-longer-path" 027
    compare
    echo "$suite: two builds are equal"
    try_suite
    rm -f dist/*"$suffix"[._]*
    cp "$work"/one/*.{deb,dsc,tar.*,changes,buildinfo} dist/
    (cd "$work/one" && ls -l -- *.deb | awk '{ print $5, $9 }')
}

# As autopkgtest does on Debian's machines: the packages are installed with what they depend on, then used.
try_suite() {
    (cd "$work/one" && quietly "$work/autopkgtest.log" "$OLDPWD/$ROOT" --in-copy "$work/checker" \
        sh -c 'apt-get -q update && exec autopkgtest --no-built-binaries ./*.deb rapt/ -- null') || return 1
    grep -E '^[a-z]+ +(PASS|SKIP)' "$work/autopkgtest.log"
}

[ $# -gt 0 ] || set -- bookworm trixie
changed=$(git stash create)
git archive "${changed:-HEAD}" >"$WORK/sources.tar"
for suite; do
    build_suite "$suite"
done
