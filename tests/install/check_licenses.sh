#!/bin/bash
# tests/install/check_licenses.sh: whatever is linked statically into releases and into the lesson brings its license. Each library
# that CMakeLists.txt requires, and each that the program names (`rapt info`), has a text from tools/targets.sh, and it is in the
# page that tools/lesson_page.py joins; a text that is missing stops both. The sources of libraries are stand-ins here; what is
# linked into a real module: tests/wasm/check_wasm.sh.
# labels: not-sanitized not-emulated
. "$(dirname "$0")/../cli/lib.sh"
command -v dpkg-parsechangelog >/dev/null || { skip 'licenses (dpkg-dev is not installed)'; finish; }

export TARGETS_ROOT=$WORK/targets
for name in jansson libyaml xxhash pcre2 zlib libmicrohttpd; do
    mkdir -p "$TARGETS_ROOT/sources/$name/debian"
    printf 'Copyright: the authors of %s\nLicense: it may be <copied> & used\n' $name >"$TARGETS_ROOT/sources/$name/debian/copyright"
    printf '%s (1:1.2.3-4) stable; urgency=low\n\n  * All of it.\n\n -- Somebody <a@example.org>  Thu, 01 Jan 1970 00:00:00 +0000\n' $name \
        >"$TARGETS_ROOT/sources/$name/debian/changelog"
done
licenses() { bash -c '. "$0/tools/targets.sh" && target_licenses "$@"' "$SOURCE" "$@"; } # FOLDER [NAME...]

# lacking FOLDER MODULE...: modules of pkg-config whose library has no text there.
lacking() {
    local folder=$1 module name
    shift
    for module; do
        name=$(sed -nE "s/.*pkg_config $module [^ ]+ ([a-z0-9]+).*/\1/p" "$SOURCE/tools/targets.sh")
        [ -s "$folder/${name:-$module}.txt" ] || echo "$module"
    done
}
required() { sed -nE 's/^pkg_check_modules\([A-Z0-9]+ REQUIRED IMPORTED_TARGET ([^ )>]+).*/\1/p' "$1"; }

check 'texts and versions' licenses all
check 'the program is linked with libraries' test "$(required "$SOURCE/CMakeLists.txt" | wc -l)" -ge 5
check 'each that CMakeLists.txt requires has its text' test -z "$(lacking all $(required "$SOURCE/CMakeLists.txt"))"
(cat "$SOURCE/CMakeLists.txt" && echo 'pkg_check_modules(NEW REQUIRED IMPORTED_TARGET libnew>=2) # something new') >more.txt
check 'a new one would lack it' test "$(lacking all $(required more.txt))" = libnew
check 'each that the program names has its text' sh -c '"$0" info --json | sed -n "/\"libraries\": {/,/}/s/^ *\"\([^\"]*\)\": \".*/\1/p" |
    grep . >named && while read -r name; do test -s "all/$name.txt" || exit 1; done <named' "$RAPT"
check 'and what some programs have more' licenses more libmicrohttpd
check 'which is there beside the others' test -s more/libmicrohttpd.txt -a -s more/zlib.txt

# no_licenses NAME COMMAND...: once the command has taken something away, there are no licenses.
no_licenses() {
    local name=$1
    shift
    cp -r "$TARGETS_ROOT" kept
    "$@"
    if licenses less >said 2>&1; then fail "$name" "$(ls less)"; else check "$name" grep -q . said; fi
    rm -rf "$TARGETS_ROOT"
    mv kept "$TARGETS_ROOT"
}
no_licenses 'a text that is not there stops a release' rm "$TARGETS_ROOT/sources/pcre2/debian/copyright"
no_licenses 'so does an empty one' cp /dev/null "$TARGETS_ROOT/sources/xxhash/debian/copyright"
no_licenses 'so does a version that is not there' rm "$TARGETS_ROOT/sources/zlib/debian/changelog"

# emscripten's own, as Debian's package and as others have it.
mkdir -p emscripten/system/lib/libc/musl
echo 'musl may be copied' >emscripten/system/lib/libc/musl/COPYRIGHT
printf 'Files:\n *\nCopyright:\n  its authors\n\nFiles:\n tests/*\nLicense: GPL\n\nLicense: Expat\n Permission\n\nLicense: GPL\n Other\n' >copyright
emscripten_says() { EMSCRIPTEN_COPYRIGHT=$WORK/copyright bash -c '. "$0/tools/targets.sh" && emscripten_license emscripten' "$SOURCE"; }
check 'of emscripten: its own, and its C library' test "$(emscripten_says | grep -Ec 'its authors|^ Permission|^musl may')" = 3
check 'and not its tests' test "$(emscripten_says | grep -c GPL)" = 0
sed -i 's/^License: Expat/License: Other/' copyright
! emscripten_says >said
check 'another form of the file is noticed' test $? = 0
echo 'All may be copied' >emscripten/LICENSE
check 'another package has a file' test "$(emscripten_says | grep -Ec '^All may be|^musl may')" = 2

# The page of the lesson, of a program that is none.
if command -v python3 >/dev/null; then
    export PYTHONDONTWRITEBYTECODE=1
    echo 'var createRapt' >glue.js
    echo 'no program' >program.wasm
    page() { python3 "$SOURCE/tools/lesson_page.py" glue.js program.wasm "$1" lesson.html; }
    cp "$SOURCE/LICENSE" all/rapt.txt
    check 'a page' page all
    for name in all/*.txt; do
        name=${name#all/} name=${name%.txt}
        sed -n "/data-license=\"$name\"/,/<\/pre>/p" lesson.html | sed '1d; s/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >said
        check "has the license of $name" diff said "all/$name.txt"
    done
    check 'and versions' grep -q 'data-license="zlib" data-version="1:1.2.3-4"' lesson.html
    : >all/zlib.txt
    ! page all >said 2>&1
    check 'there is no page with an empty text' grep -qx 'all/zlib.txt: no license' said
    rm all/*.txt
    ! page all >said 2>&1
    check 'or without texts' grep -qx 'all: lacks licenses' said
else
    skip 'the page of the lesson (python3 is not installed)'
fi
finish
