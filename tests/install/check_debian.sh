#!/bin/bash
# tests/install/check_debian.sh: the files of debian/ agree with the version, the exported symbols, what CMake installs, and what
# the build needs. That packages can be built, tools/debian_packages.sh shows. RAPT_BUILD names a build folder (default build).
# labels: not-sanitized not-emulated
. "$(dirname "$0")/../cli/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
if [ "$SANITIZED" ]; then
    skip 'installing a build with sanitizers'
    finish
fi
cmake --build "$BUILD" --target rapt rapt_shared rapt_static rapt_pages >build.log 2>&1 || { tail -20 build.log; exit 1; }
cp -r "$SOURCE/debian" .
mkdir -p tools include/rapt
cp "$SOURCE/include/rapt/base.h" include/rapt
cp "$SOURCE/tools/exported-symbols.txt" tools

# ---- version -------------------------------------------------------------------------------------------------------
version=$(sed -n 's/^#define RAPT_VERSION "\([^"]*\)".*/\1/p' include/rapt/base.h)
numbers=${version%%-*}
soname=${numbers%.*}
check 'the newest entry of debian/changelog is of the version in rapt/base.h, with ~ for -' \
    test "$(sed -n '1s/^rapt (\(.*\)) .*/\1/p' debian/changelog)" = "${version/-/\~}"
check 'whose time has come: apt refuses lists of the future' \
    test "$(date -d "$(sed -n '/^ -- /{s/.*>  //p;q}' debian/changelog)" +%s)" -le "$(date +%s)"
check 'a library package is named for the SONAME' grep -qx "Package: librapt$soname" debian/control
check 'and no other' test "$(grep -Eo 'librapt[0-9][0-9.]*' debian/control | sort -u)" = "librapt$soname"
check 'and has its list' test "$(echo debian/librapt[0-9]*)" = "debian/librapt$soname.install"

# ---- symbols -------------------------------------------------------------------------------------------------------
if ! command -v dpkg-gensymbols >/dev/null; then
    skip 'symbols (no dpkg-gensymbols)'
else
    check 'debian/rules writes the list of symbols' make -f debian/rules execute_before_dh_makeshlibs
    lists() { # what dpkg-gensymbols finds in a library is what the list has
        mkdir -p tree/DEBIAN
        dpkg-gensymbols "-plibrapt$soname" "-v${version/-/\~}" "-Idebian/librapt$soname.symbols" "-e$1" -Ptree -Otree/symbols -c4
    }
    check 'it has the symbols of the library' lists "$(realpath "$BUILD/librapt.so")"
    sed -i '$d' "debian/librapt$soname.symbols"
    check 'a list without one of them is refused' eval '! lists "$(realpath "$BUILD/librapt.so")" >refusal 2>&1 && grep -q "^+ rapt_" refusal'
fi

# ---- what is installed ---------------------------------------------------------------------------------------------
# The tree that debhelper has, where libraries lie in a folder of the processor, and debian/rules has dealt with the units.
check 'cmake --install' cmake --install "$BUILD" --prefix "$WORK/tmp/usr" --component Unspecified
lib=$(basename "$(dirname "$(find tmp -name librapt.a)")")
[ "$lib" != lib ] || { mkdir tmp/usr/any && mv tmp/usr/lib/* tmp/usr/any && mv tmp/usr/any tmp/usr/lib; }
rm -rf "$(find tmp -name systemd)"
patterns() { cat debian/*.install | awk 'NF == 1 || $1 ~ /^debian\/tmp/ { print $1 }'; }
# A pattern that finds nothing ends dh_install; what this build has no library for is left out there.
while read -r pattern; do
    case $pattern in
    usr/lib/python3) continue ;; # the next check's
    */rapt_*.so) [ -e "$BUILD/${pattern##*/}" ] || { skip "$pattern (not part of this build)"; continue; } ;;
    esac
    check "CMake installs $pattern" eval "ls -d tmp/$pattern"
done < <(patterns)
check 'debian/rules asks CMake for the Python package where python3-rapt takes it from' \
    grep -q -- "-DRAPT_PYTHON_FOLDER=$(sed 's|^usr/||' debian/python3-rapt.install)/dist-packages/rapt\$" debian/rules
taken=$(patterns | xargs)
(cd tmp && eval "rm -rf $taken" && find . ! -type d) >left
check 'a package takes each file that CMake installs' test ! -s left
[ ! -s left ] || cat left
# Files of the sources: "FILE... FOLDER".
sources() { cat debian/*.examples && awk 'NF > 1 { NF--; print }' debian/*.install; }
check 'the files that packages take from the sources are there' sh -c "cd '$SOURCE' && ls -d $(sources | xargs)"
for recipe in "$SOURCE"/recipes/quickstart*.yaml; do
    pairs=$(sed -n 's|^ *pairs: *\.\./\([^ ]*\).*|\1|p' "$recipe")
    check "rapt has the pairs of ${recipe##*/}" sh -c "cd '$SOURCE' && ls -d $(awk '/share.rapt.data/ { NF--; print }' debian/rapt.install) | grep -x '$pairs'"
done
check 'the unit has the line that debian/rules replaces' grep -qx DynamicUser=yes "$SOURCE/tools/systemd/rapt.service.in"
check 'its user is made' grep -q "^u $(sed -n 's/.*DynamicUser=yes.*\/User=\([a-z_]*\)\/.*/\1/p' debian/rules) " debian/rapt-server.sysusers

# ---- the rest ------------------------------------------------------------------------------------------------------
(. "$SOURCE/tools/packages.sh" && need() { shift; printf '%s\n' "$@"; } && need_for_build) | grep -e -dev -e cmake >needed
sed -n '/^Build-Depends:/,/^[A-Z].*:/p' debian/control | grep -Eo '[a-z0-9+.-]+' >depends
check 'debian/control asks for what the build needs' test -s needed -a -z "$(grep -vxFf depends needed)"
check 'debian/copyright has the words of LICENSE' test "$(sed -n '/^License: Expat$/,/^$/p' debian/copyright | grep '^ ' | sed 's/^ \.\?//' |
    xargs -d '\n' | tr -s ' ')" = "$(sed 1,4d "$SOURCE/LICENSE" | xargs -d '\n' | tr -s ' ')"
for name in $(sed -n 's/^Tests: *//p' debian/tests/control); do
    check "debian/tests/$name can be run" test -x "debian/tests/$name"
done
finish
