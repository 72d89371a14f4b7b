#!/bin/bash
# tests/install/check_install.sh: what `cmake --install` leaves can be built against: with pkg-config and CMake, shared
# and static, from C and C++; each public header stands alone; and the tensor core compiles without CMake.
# RAPT_BUILD names a build folder (default build); CC and CXX may name compilers.
# labels: not-sanitized not-emulated late
. "$(dirname "$0")/../cli/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
CC=${CC:-cc} CXX=${CXX:-c++}
if [ "$SANITIZED" ]; then
    skip 'installing a build with sanitizers'
    finish
fi
cmake --build "$BUILD" --target rapt rapt_shared rapt_static rapt_pages >build.log 2>&1 || { tail -20 build.log; exit 1; }
prefix=$WORK/prefix
check 'cmake --install' cmake --install "$BUILD" --prefix "$prefix"
lib=$(dirname "$(find "$prefix" -name librapt.a)")
for file in bin/rapt include/rapt.h include/rapt/tape.h share/man/man1/rapt.1 share/bash-completion/completions/rapt \
    share/zsh/site-functions/_rapt share/fish/vendor_completions.d/rapt.fish; do
    check "installed: $file" test -s "$prefix/$file"
done
for file in librapt.so librapt.a pkgconfig/rapt.pc pkgconfig/rapt-static.pc cmake/rapt/rapt-config.cmake; do
    check "installed: lib/$file" test -s "$lib/$file"
done
# What make would do, where it isn't asked to do it; the build itself is the test's own.
would() { make -n -C "$SOURCE" install BUILD=here "$@" | grep -x 'cmake --install here.*'; }
check 'make install PREFIX=DIR' test "$(would PREFIX=/some/where)" = 'cmake --install here --prefix "/some/where"'
check 'make install, without PREFIX: where cmake was told' test "$(env -u PREFIX -u MAKEFLAGS make -n -C "$SOURCE" install BUILD=here |
    grep -x 'cmake --install here *')"
check 'make install PREFIX=DIR DESTDIR=DIR' make -C "$SOURCE" -o all install BUILD="$BUILD" PREFIX=/opt/rapt DESTDIR="$WORK/stage"
check 'both are heeded' cmp "$WORK/stage/opt/rapt/bin/rapt" "$prefix/bin/rapt"
check 'every public header is installed' diff -r "$SOURCE/include" "$prefix/include"
check 'the installed program runs' "$prefix/bin/rapt" --version
if [ -e "$BUILD/rapt_serve.so" ]; then
    check 'the unit of systemd names the installed program' \
        grep -qx "ExecStart=$prefix/bin/rapt serve --config /etc/rapt/serve.yaml" "$prefix/lib/systemd/system/rapt.service"
fi
if [ -e "$BUILD/rapt_serve.so" ]; then # the page of the lesson, which a build can do without
    echo "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';\">a lesson" >page.html
    check 'no page is installed where none is built' test -e "$SOURCE/build-wasm/lesson.html" -o ! -e "$prefix/share/rapt/lesson.html"
    cmake -S "$SOURCE" -B with-lesson -DRAPT_LESSON=page.html >lesson.log 2>&1
    grep 'page.html' with-lesson/cmake_install.cmake >rule.cmake # the rest has not been built there
    check 'a page that is named is installed' cmake -DCMAKE_INSTALL_PREFIX="$prefix" -P rule.cmake
    check 'as share/rapt/lesson.html' cmp page.html "$prefix/share/rapt/lesson.html"
fi
if [ -e "$BUILD/rapt_draw.so" ]; then
    check 'and draws' "$prefix/bin/rapt" plot positions -o positions.svg
    check 'a picture' grep -q '<svg' positions.svg
    cp "$prefix/bin/rapt" alone
    ./alone plot positions -o alone.png 2>.err
    check 'a program without its module: status 1' test $? = 1 -a ! -e alone.png
    check 'a program without its module: one line' \
        grep -Eqx 'rapt: cannot draw alone.png: this rapt cannot draw a PNG, only an SVG: .*rapt_draw.so.*' .err
    check 'a program without its module draws an SVG' ./alone plot positions -o alone.svg
    check 'which is the same' cmp alone.svg positions.svg
else
    skip 'drawing (this build has no pango)'
fi
if [ -e "$BUILD/rapt_fetch.so" ]; then
    "$prefix/bin/rapt" fetch r50k_base --from file:///nowhere 2>.err
    check 'and has its module for downloads' grep -q 'rapt: cannot fetch file:///nowhere/r50k_base.tiktoken' .err
    cp "$prefix/bin/rapt" alone
    ./alone fetch r50k_base 2>.err
    check 'a program without it: status 1' test $? = 1
    check 'a program without it says what to do' grep -q 'rapt: this rapt cannot fetch: .*see `rapt fetch r50k_base --list`' .err
else
    skip 'downloading (this build has no libcurl)'
fi
if [ -e "$BUILD/rapt_serve.so" ]; then
    "$prefix/bin/rapt" serve no-model --port 0 2>.err
    check 'and has its module for serving' grep -q 'rapt: no-model: there is no such model folder' .err
    cp "$prefix/bin/rapt" alone
    ./alone serve no-model --port 0 2>.err
    check 'a program without it: status 1' test $? = 1
    check 'a program without it: one line' grep -Eqx 'rapt: this rapt cannot serve: .*rapt_serve.so.*' .err
else
    skip 'serving (this build has no libmicrohttpd)'
fi
for module in "$BUILD"/rapt_mpi_*.so; do
    [ ! -e "$module" ] || check "installed: lib/rapt/${module##*/}" test -s "$lib/rapt/${module##*/}"
done
check 'the program needs no library for drawing, downloads or MPI' test -z \
    "$(readelf -d "$prefix/bin/rapt" | grep -E 'NEEDED.*(cairo|pango|glib|curl|archive|nettle|mpi)')"
if grep -q '^RAPT_HARDENING:BOOL=ON' "$BUILD/CMakeCache.txt"; then
    hardened() {
        readelf -dW "$1" | grep -q '(FLAGS.*NOW' && readelf -lW "$1" | grep -q GNU_RELRO &&
            readelf --dyn-syms -W "$1" | grep -q __stack_chk_fail && readelf --dyn-syms -W "$1" | grep -Eq '__[a-z]+_chk'
    }
    for binary in "$prefix/bin/rapt" "$lib/librapt.so" "$lib"/rapt/rapt_{draw,fetch,serve}.so; do
        [ ! -e "$binary" ] || check "hardened: ${binary##*/}" hardened "$binary"
    done
    check 'the program can be loaded anywhere' sh -c "readelf -hW '$prefix/bin/rapt' | grep -q 'Type: *DYN'"
else
    skip 'hardening (this build is without)'
fi
version=$("$prefix/bin/rapt" --version | sed 's/rapt //')
numbers=${version%%-*} # 0.4.0 of 0.4.0-dev
abi=${numbers%.*} # before 1.0 a minor version may break what was linked
check 'the shared library has a SONAME with the minor version' \
    sh -c "readelf -d '$lib/librapt.so' | grep -q 'SONAME.*\[librapt.so.$abi\]'"
check 'and the links that go with it' test -L "$lib/librapt.so" -a -e "$lib/librapt.so.$abi" -a -e "$lib/librapt.so.$numbers"
grep -q "RAPT_VERSION \"$version\"" "$prefix/include/rapt/base.h"
check 'the headers are of that version' test $? = 0
check 'so is the manual' grep -Fqx ".Os rapt $version" "$prefix/share/man/man1/rapt-train.1"
check 'and the description of the HTTP interface' grep -Fq "\"version\": \"$version\"," "$SOURCE/src/serve/module/openapi.json"

# ---- what the library exports --------------------------------------------------------------------------------------
nm -D --defined-only "$lib/librapt.so" | awk '{ print $3 }' | LC_ALL=C sort >symbols
diff "$SOURCE/tools/exported-symbols.txt" symbols >symbols.diff || {
    cat symbols.diff
    echo 'where that is meant: nm -D --defined-only build/librapt.so | awk "{ print \$3 }" | LC_ALL=C sort >tools/exported-symbols.txt'
}
check 'it exports what tools/exported-symbols.txt lists' test ! -s symbols.diff
check 'which are names of rapt' test -z "$(grep -v '^rapt_' symbols)"
nm -g --defined-only "$lib/librapt.a" 2>nm.err | awk 'NF == 3 { print $3 }' | LC_ALL=C sort >static-symbols
check 'the static library, too, has names of rapt only' test -s static-symbols -a -z "$(grep -v '^rapt_' static-symbols)"
# The program is linked with the internal library: one that is static in all holds both sides of a shared name.
nm -g --defined-only "$BUILD/librapt_internal.a" 2>nm.err | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u >internal-symbols
for library in jansson yaml-0.1 libxxhash libpcre2-8 libmicrohttpd; do
    archive=$(pkg-config --variable=libdir "$library")/lib$(pkg-config --libs-only-l "$library" | sed 's/^-l//; s/ .*//').a
    [ -s "$archive" ] || { skip "names shared with $library (no static library)"; continue; }
    nm -g --defined-only "$archive" 2>nm.err | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u | LC_ALL=C comm -12 - internal-symbols >shared-symbols
    check "no name is shared with $library" test ! -s shared-symbols
done
check 'those that are exported and those that cannot be meant' test -z "$(grep -v '^rapt__' static-symbols | diff symbols -)"
check 'no call of its own functions can be replaced' test -z "$(readelf -rW "$lib/librapt.so" | grep JUMP_SLO | grep -E ' (rapt_|gemm|quote)')"
check 'the library holds no printf of its own, no exit' test -z "$(nm -D --undefined-only "$lib/librapt.so" |
    grep -Ew 'printf|puts|putchar|exit|_exit|abort|perror')"

# ---- a program of somebody else ------------------------------------------------------------------------------------
cat >user.c <<'C'
#include <rapt.h>
#include <stdio.h>

int main(void)
{
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err);
    rapt_tape *tape = rapt_tape_new(NULL, &err);
    rapt_linear layer;
    rapt_real x[2][3] = {{1, 2, 3}, {4, 5, 6}};
    rapt_linear_init(&layer, set, "demo.", 3, 2, NULL);
    for (int i = 0; i < 6; i++)
        layer.weight->value.data[i] = (rapt_real)(i - 2); /* [[-2, -1, 0], [1, 2, 3]] */
    for (int i = 0; i < 2; i++)
        layer.bias->value.data[i] = 10;
    rapt_tape_begin(tape, (rapt_pass){.record = true});
    rapt_tensor *in = rapt_tape_input(tape, 2, (size_t[]){2, 3}, &x[0][0], false);
    rapt_tensor *y = rapt_linear_forward(tape, &layer, in);
    if (rapt_backward(tape, rapt_op_sum(tape, y), &err) != RAPT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%g %g %g %g, %g\n", y->data[0], y->data[1], y->data[2], y->data[3], layer.weight->value.grad[0]);
    rapt_tape_free(tape);
    rapt_params_free(set);
    return 0;
}
C
echo '6 24 -3 42, 5' >wanted # x w^T + b, and the sum over rows of x[0]
cat >user.cpp <<'CPP'
#include <rapt.h>
#include <iostream>

int main()
{
    rapt_error err = {};
    const rapt_text hypothesis[] = {rapt_text_of("the cat sat on the mat")};
    const rapt_text *references[] = {hypothesis};
    const rapt_metric_texts texts = {hypothesis, references, 1, 1, {}};
    rapt_bleu bleu;
    if (rapt_bleu_corpus(nullptr, &texts, &bleu, &err) != RAPT_OK)
        return 1;
    rapt_recipe recipe;
    rapt_recipe_defaults(&recipe);
    const rapt_translate_options options = rapt_translate_options_default();
    if (options.size != sizeof options || options.n_best != 1)
        return 1;
    std::cout << bleu.score << ' ' << rapt_version() << '\n';
}
CPP
# runs NAME PROGRAM WANTED-FILE
runs() {
    check "$1" sh -c "LD_LIBRARY_PATH='$lib' '$2' | diff '$3' -"
}
export PKG_CONFIG_PATH=$lib/pkgconfig
check 'pkg-config knows the version' test "$(pkg-config --modversion rapt)" = "$version"
$CC -std=c11 -Wall -Wextra -Werror user.c -o user-shared $(pkg-config --cflags --libs rapt) && runs 'pkg-config, shared' ./user-shared wanted ||
    fail 'pkg-config, shared'
$CC -std=c11 user.c -o user-static $(pkg-config --cflags rapt) -Wl,-Bstatic -lrapt -Wl,-Bdynamic -L"$lib" \
    $(pkg-config --static --libs rapt | sed 's/-lrapt//') && runs 'pkg-config --static' ./user-static wanted ||
    fail 'pkg-config --static'
$CC -std=c11 user.c -o user-static-pc $(pkg-config --cflags --libs rapt-static) && runs 'rapt-static.pc' ./user-static-pc wanted ||
    fail 'rapt-static.pc'
check 'which needs no librapt.so either' sh -c '! readelf -d user-static-pc | grep -q "NEEDED.*librapt"'
check 'which needs no librapt.so' sh -c '! readelf -d user-static | grep -q "NEEDED.*librapt"'
echo "100 $version" >wanted.cpp
if command -v "$CXX" >/dev/null; then
    $CXX -std=c++17 -Wall -Wextra -Werror user.cpp -o user-cpp $(pkg-config --cflags --libs rapt) && runs 'a C++ program' ./user-cpp wanted.cpp ||
        fail 'a C++ program'
else
    skip 'a C++ program (no C++ compiler)'
fi

# One whose functions are called as some of the library's own are: neither calls the other's.
cat >own.c <<'C'
#include <rapt.h>
#include <stdio.h>

static int calls;
int gemm(void) { return ++calls; }
int quote(void) { return ++calls; }
int pool_run(void) { return ++calls; }
int arena_alloc(void) { return ++calls; }
double math_log(double x) { calls++; return x; }
int user_main(void);

int main(void)
{
    rapt_error err = {0};
    rapt_recipe recipe;
    rapt_recipe_defaults(&recipe);
    if (user_main() || rapt_recipe_set(&recipe, "train.lrr=1", &err) == RAPT_OK)
        return 1;
    rapt_recipe_free(&recipe);
    printf("%d of mine; ", calls);
    printf("%d\n", gemm() + quote() + pool_run() + arena_alloc() + (int)math_log(5));
    return 0;
}
C
(cat wanted; echo '0 of mine; 15') >wanted.own
for kind in shared static; do
    libraries=$(pkg-config --libs rapt)
    [ $kind = shared ] || libraries="$lib/librapt.a $(pkg-config --static --libs rapt | sed 's/-lrapt//')"
    $CC -std=c11 -Dmain=user_main -c user.c -o user.o $(pkg-config --cflags rapt) &&
        $CC -std=c11 -rdynamic own.c user.o -o own-$kind $(pkg-config --cflags rapt) $libraries &&
        runs "a program with functions gemm, quote, ...: $kind" ./own-$kind wanted.own ||
        fail "a program with functions gemm, quote, ...: $kind"
done

# What a program does not call is not in it.
cat >version.c <<'C'
#include <rapt.h>
#include <stdio.h>

int main(void) { return puts(rapt_version()) < 0; }
C
echo "$version" >wanted.version
$CC -s version.c -o version $(pkg-config --cflags rapt) "$lib/librapt.a" $(pkg-config --static --libs rapt | sed 's/-lrapt//') &&
    runs 'a program that asks for the version' ./version wanted.version || fail 'a program that asks for the version'
check 'is small with the static library' test "$(stat -c %s version)" -lt 50000
# What docs/embedding.md shows, as it stands there.
block() { sed -n "/^## Linking/,/^## /{/^\`\`\`$1$/,/^\`\`\`$/{/^\`\`\`/d;p}}" "$SOURCE/docs/embedding.md"; }
mkdir shown && cp user.c shown/app.c
block sh | sed '/-Iinclude/d' >shown/commands
check 'docs/embedding.md shows commands of pkg-config' grep -q 'pkg-config --cflags --libs rapt-static' shown/commands
check 'which build programs' sh -ec 'cd shown; . ./commands; test -s app'
runs 'that run' shown/app wanted
printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(shown C)' 'add_executable(app app.c)' "$(block cmake)" >shown/CMakeLists.txt
check 'its lines of CMake configure, with the version that they name' \
    cmake -S shown -B shown/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC"
check 'and build' cmake --build shown/build
runs 'a program that runs' shown/build/app wanted
mkdir cmake-user
cp user.c cmake-user
cat >cmake-user/CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(rapt $abi REQUIRED)
foreach(kind shared static)
    add_executable(cmake-\${kind} user.c)
    target_link_libraries(cmake-\${kind} PRIVATE rapt::rapt_\${kind})
endforeach()
CMAKE
check 'find_package: configures' cmake -S cmake-user -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC"
check 'find_package: builds' cmake --build cmake-build
runs 'find_package: rapt::rapt_shared' cmake-build/cmake-shared wanted
runs 'find_package: rapt::rapt_static' cmake-build/cmake-static wanted
for other in 0.2 0.3 9.4; do # as with the SONAME: another minor version is another library
    check "version $other is refused" sh -c "sed -i 's/rapt [0-9.]* REQ/rapt $other REQ/' cmake-user/CMakeLists.txt
        ! cmake -S cmake-user -B cmake-other -DCMAKE_PREFIX_PATH='$prefix' -DCMAKE_C_COMPILER='$CC'"
done

# ---- each header alone ---------------------------------------------------------------------------------------------
echo 'extern int of_the_unit;' >unit.c # C knows no empty one, and a header may have macros only
for header in "$prefix"/include/rapt.h "$prefix"/include/rapt/*.h; do
    name=${header#"$prefix"/include/}
    check "C11: $name" "$CC" -std=c11 -pedantic -Wall -Wextra -Wshadow -Werror -fsyntax-only -x c -I"$prefix/include" \
        -include "$header" unit.c
    if command -v "$CXX" >/dev/null; then
        check "C++17: $name" "$CXX" -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ -I"$prefix/include" \
            -include "$header" unit.c
    else
        skip "C++17: $name (no C++ compiler)"
    fi
done

# ---- the tensor core, with nothing but a compiler ------------------------------------------------------------------
flags=(-ffp-contract=off -I"$SOURCE/include" -I"$SOURCE/src")
simd=()
compiled=yes
# The kernels of a level, FILE FLAGS...: nothing else is included. Their code, which takes minutes to make, is what the build has
# compiled from the same file.
level() {
    $CC "${flags[@]}" "${@:2}" -fsyntax-only "$SOURCE/src/kernels/$1.c" || compiled=no
    simd+=("$BUILD/CMakeFiles/rapt_objects.dir/src/kernels/$1.c.o")
}
case $(uname -m) in
    x86_64)
        wide=(-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma)
        level x86/avx2 -mavx2 -mfma -mf16c
        level x86/avx_vnni -mavx2 -mfma -mf16c -mavxvnni
        level x86/avx512 "${wide[@]}"
        level x86/avx512_bf16 "${wide[@]}" -mavx512bf16
        level x86/avx512_vnni "${wide[@]}" -mavx512vnni
        level x86/amx "${wide[@]}" -mavx512bf16 -mamx-tile -mamx-bf16
        ;;
    aarch64)
        level arm/neon
        level arm/neon_dot -march=armv8.2-a+dotprod
        ;;
esac
$CC "${flags[@]}" user.c "$SOURCE"/src/{base,base/posix,kernels,tensor,tape,ops,nn}/*.c "${simd[@]}" -o user-core -lm -lpthread || compiled=no
if [ $compiled = yes ]; then
    runs 'cc -Iinclude -Isrc src/{base,base/posix,kernels,tensor,tape,ops,nn}/*.c' ./user-core wanted
else
    fail 'the tensor core compiles with cc alone'
fi
check 'it needs libc and libm only' sh -c '! readelf -d user-core | grep NEEDED | grep -Ev "libc\.so|libm\.so|ld-linux"'
finish
