#!/bin/bash
# tests/base/check_lint.sh: the sources keep the rules of tools/lint.sh, and the rules notice what breaks them.
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0
tally() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "ok    $2"; else failed=$((failed + 1)); echo "FAIL  $2"; fi; }
tools/lint.sh
tally $? 'the sources'

# One break at a time, in a copy.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# noticed NAME PATTERN FILE TEXT: with TEXT at the end of FILE, lint fails and says PATTERN.
noticed() {
    rm -rf "$copy/t"
    mkdir "$copy/t"
    cp -r src include tests tools "$copy/t"
    printf "$4" >>"$copy/t/$3"
    ! tools/lint.sh "$copy/t" >"$copy/out" && grep -q "$2" "$copy/out"
    tally $? "noticed: $1"
}
noticed 'an include of a lower layer' 'src/ops/linear_op.c:.*nn includes\|ops includes .*nn' src/ops/linear_op.c '#include "nn/names.h"\n'
noticed 'a public header of a lower layer' 'tensor includes' src/tensor/gemm.c '#include "rapt/io.h"\n'
noticed 'kernels that know tensors' 'src/kernels/scalar.c' src/kernels/scalar.c '#include "rapt/tensor.h"\n'
noticed 'a tab' 'linear.c:.*a tab' src/nn/linear.c '\tint x;\n'
noticed 'a note to self' 'linear.c:.*finish it' src/nn/linear.c '/* TO''DO: more */\n'
noticed 'a wide line' 'linear.c:.*columns' src/nn/linear.c "/* $(printf 'wide %.0s' {1..40}) */\n"
noticed 'a long file' 'linear.c: .*lines; at most 700' src/nn/linear.c "$(printf '\\n%.0s' {1..700})"
noticed 'a file without a comment' 'bare.c:1' src/nn/bare.c 'int bare;\n'
noticed 'two files of one name' 'src/text/main.c: src/cli/main.c has the same name' src/text/main.c '/* text/main.c: a second one. */\n'
noticed 'a header without extern "C"' 'bare.h' include/rapt/bare.h '#pragma once\n'
noticed 'long functions' 'more than 2 %' src/nn/long.c \
    "/* nn/long.c: long functions. */\n$(for i in {1..99}; do printf 'int f%d(void)\\n{\\n%s}\\n' "$i" "$(printf '    ;\\n%.0s' {1..61})"; done)"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
