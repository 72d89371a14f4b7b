#!/bin/bash
# tests/install/check_moved.sh: `make` in a checkout that was moved or copied builds what lies there, and says so in one line; a
# build says little where it goes well, and all that a compiler says. With the Makefile and the scripts of rapt and a program of
# two files, as rapt itself takes minutes to build twice.
# labels: not-sanitized not-emulated late
. "$(dirname "$0")/../cli/lib.sh"
unset MAKEFLAGS MAKELEVEL JOBS BUILD
mkdir -p first/tools first/src
cp "$SOURCE/Makefile" first
cp "$SOURCE"/tools/{configure,build,help}.sh first/tools
cat >first/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES C)
file(GLOB PARTS src/part*.c)
add_library(rapt_static STATIC ${PARTS})
add_library(rapt_shared SHARED ${PARTS})
add_custom_command(OUTPUT page COMMAND ${CMAKE_COMMAND} -E touch page)
add_custom_target(rapt_pages DEPENDS page)
add_executable(rapt src/main.c)
target_compile_options(rapt PRIVATE -Wall)
target_link_libraries(rapt PRIVATE rapt_static)
END
for i in {1..30}; do echo "int part$i(void) { return $i; }" >first/src/part$i.c; done
cat >first/src/main.c <<'END'
#include <stdio.h>
int part7(void);
int main(void) { return printf("%s %d\n", __FILE__, part7()) < 0; }
END

# made FOLDER: its program is of its own sources.
made() { [ "$("$1/build/rapt")" = "$PWD/$1/src/main.c 7" ]; }
# lines COUNT: the last make has printed this many lines.
lines() { [ "$(wc -l <out)" = "$1" ] || { cat out; return 1; }; }

check 'make' sh -c 'make -C first >out 2>&1'
check 'the program' made first
check 'what is there is built' sh -c 'make -C first --no-print-directory >out 2>&1'
check 'in one line' lines 1
check 'of the folder and the time' grep -Exq 'build: built in [0-9]+ s' out

mv first second
check 'moved: make' sh -c 'make -C second --no-print-directory >out 2>&1'
check 'moved: the program is built anew' made second
check 'moved: two lines' lines 2
check 'moved: where it was' grep -q "^build: made in $PWD/first/build, of $PWD/first: building anew$" out
check 'moved: once' sh -c 'make -C second --no-print-directory >out 2>&1'
check 'moved: one line then' lines 1

cp -a second third
sed -i 's/return 7/return 8/' second/src/part7.c
check 'copied: make' sh -c 'make -C third --no-print-directory >out 2>&1'
check 'copied: the program is that of the copy' made third
check 'copied: where it was' grep -q "^build: made in $PWD/second/build, of $PWD/second: building anew$" out
ln -s third link
check 'by a link: make' sh -c 'make -C link --no-print-directory >out 2>&1'
check 'by a link: nothing is built anew' lines 1

# A compiler's words.
sed -i 's/^int main(void) {/& int unused;/' third/src/main.c
check 'a warning: make' sh -c 'make -C third --no-print-directory >out 2>&1'
check 'a warning is printed' grep -q "main.c:.*warning: unused variable .unused" out
sed -i 's/int unused;/int unused/' third/src/main.c
check 'an error: make fails' sh -c '! make -C third --no-print-directory >out 2>&1'
check 'an error is printed' grep -q 'main.c:.*error: expected' out
check 'and that it failed' grep -qx 'build: the build failed' out
echo 'project(' >>third/CMakeLists.txt
check 'a wrong CMakeLists.txt: make fails' sh -c '! make -C third --no-print-directory >out 2>&1'
check 'and says why' grep -q 'CMake Error' out

# On a terminal: how far it is, in one line that is written over.
if script -qec true /dev/null >/dev/null 2>&1; then
    sed -i '$d' third/CMakeLists.txt
    sed -i 's/ int unused//' third/src/main.c
    touch third/src/*.c
    check 'on a terminal: make' script -qec 'make -C third --no-print-directory' typescript
    check 'on a terminal: how far it is' grep -q $'\r\033\\[Kbuild: \\[ *[0-9]*%\\]\r\033\\[K' typescript
    check 'on a terminal: nothing of it stays' grep -Eq $'(^|\033\\[K)build: built in [0-9]+ s' typescript
else
    skip 'a terminal (there is no program script)'
fi
finish
