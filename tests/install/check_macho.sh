#!/bin/bash
# tests/install/check_macho.sh: what tools/ knows of macOS, whose programs run nowhere here: hidden symbols of a static library get
# other names, in all objects; what tools/portable.sh has left in dist of this commit for macOS is right by LLVM's tools, too; and
# a file that is not right is refused.
# labels: not-sanitized not-emulated
. "$(dirname "$0")/../cli/lib.sh"
llvm() { command -v "llvm-$1" || ls "/usr/bin/llvm-$1"-[0-9]* 2>/dev/null | tail -1; }
nm=$(llvm nm) objdump=$(llvm objdump)

# ---- objects -------------------------------------------------------------------------------------------------------
cat >a.c <<'END'
__attribute__((visibility("hidden"))) int gemm(int x);
int gemm(int x) { return x + 1; }
static int own(int x) { return 2 * gemm(x); }
int offered(int x) { return own(x) + own(x + 1); }
END
echo 'int gemm(int x); int puts(const char *); int other(int x) { return gemm(x) + puts(""); }' >b.c
if ! command -v clang >/dev/null || [ -z "$nm" ]; then
    skip 'hidden symbols (no clang, or no llvm-nm)'
else
    clang -target arm64-apple-macos11 -c a.c b.c && ar rc lib.a a.o b.o && "$nm" -g lib.a >before
    check 'the objects share a symbol' grep -q ' T _gemm$' before
    check 'hiding it' python3 "$SOURCE/tools/macho_hide.py" lib.a ar
    "$nm" -g lib.a | awk 'NF > 1 { print $(NF - 1), $NF }' | sort >names
    printf '%s\n' 'T _offered' 'T _other' 'T _rapt__gemm' 'U _puts' 'U _rapt__gemm' >wanted
    check 'it has another name where it is and where it is asked for; others keep theirs' diff names wanted
    echo nothing >c.o
    ar rc lib.a c.o
    check 'no library is left where one object is none' eval '! python3 "$SOURCE/tools/macho_hide.py" lib.a ar && [ ! -e lib.a ]'
fi

# ---- what dist has -------------------------------------------------------------------------------------------------
judge() { python3 "$SOURCE/tools/macho_check.py" "$@"; }
found='' moment=$(git -C "$SOURCE" log -1 --format=%ct 2>/dev/null)
for file in "$SOURCE"/dist/rapt-*-macos-*.tar.xz; do
    [ -e "$file" ] && [ "$(python3 -c 'import sys, tarfile; print(tarfile.open(sys.argv[1]).next().mtime)' "$file")" = "$moment" ] || continue
    found=yes processor=${file##*-macos-} processor=${processor%.tar.xz} folder=$(basename "$file" .tar.xz)
    tar -xf "$file"
    library=$folder/lib/librapt.dylib
    check "$processor: the program" judge "$processor" "$folder/bin/rapt"
    check "$processor: the library" judge "$processor" "$library" --exports "@$SOURCE/tools/exported-symbols.txt"
    check "$processor: not for another processor" eval '! judge mips "$folder/bin/rapt" >said && grep -q " is for $processor$" said'
    check "$processor: not without what it exports" eval '! judge "$processor" "$library" >said && grep -q " exports rapt_" said'
    check "$processor: not with a library that it does not need" \
        eval '! judge "$processor" "$folder/bin/rapt" libz.dylib >said && grep -q " needs /usr/lib/libSystem.B.dylib$" said'
    printf x | dd of="$folder/bin/rapt" bs=1 seek=500000 conv=notrunc 2>dd.log
    if [ "$processor" = arm64 ]; then
        check 'not with a byte that was not signed' eval '! judge arm64 "$folder/bin/rapt" >said && grep -q " signature" said'
    fi
    if [ -z "$objdump" ]; then
        skip "$processor: what LLVM reads (no llvm-objdump)"
    else
        "$objdump" --macho --exports-trie "$library" | sed -n 's/^0x[0-9A-F]*  _//p' | sort >exports
        check "$processor: LLVM finds the exported names, and two of the linker" \
            diff exports <(sort "$SOURCE/tools/exported-symbols.txt" - <<<$'_mh_dylib_header\n__dso_handle')
        "$objdump" --macho --private-headers "$folder/bin/rapt" >headers
        check "$processor: and the oldest system" grep -Eq '^ *minos 11\.0$' headers
        check "$processor: and the needed library" test "$(grep -c 'cmd LC_LOAD_DYLIB$' headers)" = 1
    fi
done
[ "$found" ] || skip 'what is for macOS (no tools/portable.sh macos-arm64 of this commit)'
finish
