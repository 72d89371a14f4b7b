#!/bin/bash
# tests/base/check_lint.sh: the sources keep the rules of tools/lint.sh, and the rules notice what breaks them.
# labels: not-sanitized not-emulated
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0
tally() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "ok    $2"; else failed=$((failed + 1)); echo "FAIL  $2"; fi; }
tools/lint.sh
tally $? 'the sources'

# A copy with a break for each rule, each in words that lint says of no other.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/t"
cp -r src include tests tools "$copy/t"
names=() patterns=()
# breaks NAME PATTERN (FILE TEXT)...: TEXT at the end of FILE, of which lint is to say PATTERN.
breaks() {
    names+=("$1") patterns+=("$2")
    shift 2
    for (( ; $# > 0; )); do
        printf "$2" >>"$copy/t/$1"
        shift 2
    done
}
tools/lint.sh "$copy/t" >"$copy/out"
tally $? 'the copy'
breaks 'an include of a lower layer' 'src/ops/linear_op.c:.*nn includes\|ops includes .*nn' src/ops/linear_op.c '#include "nn/names.h"\n'
breaks 'a public header of a lower layer' 'tensor includes' src/tensor/gemm.c '#include "rapt/io.h"\n'
breaks 'kernels that know tensors' 'src/kernels/scalar.c' src/kernels/scalar.c '#include "rapt/tensor.h"\n'
breaks 'a header of the system' 'names.c:.*: includes <unistd.h>, which src/base alone does' src/nn/names.c '#include <unistd.h>\n'
breaks 'a macro that asks for more than ISO C' 'pack.c:.*: asks the C library for more' src/nn/pack.c '#define _GNU_SOURCE\n'
breaks 'a tab' 'linear.c:.*a tab' src/nn/linear.c '\tint x;\n'
breaks 'a note to self' 'linear.c:.*finish it' src/nn/linear.c '/* TO''DO: more */\n'
breaks 'a wide line' 'linear.c:.*columns' src/nn/linear.c "/* $(printf 'wide %.0s' {1..40}) */\n"
breaks 'a long file' 'linear.c: .*lines; at most 500' src/nn/linear.c "$(printf '\\n%.0s' {1..500})"
breaks 'a long script of a page' 'strings.js: .*lines; at most 500' src/explain/page/strings.js "$(printf '\\n%.0s' {1..500})"
breaks 'a wide line of the lesson' 'src/lesson/page/main.js:.*columns' src/lesson/page/main.js "// $(printf 'wide %.0s' {1..40})\n"
breaks 'a long test' 'test_adam.c: .*lines; at most 700' tests/train/test_adam.c "$(printf '\\n%.0s' {1..700})"
breaks 'a long script' 'lib.sh: .*lines; at most 700' tests/cli/lib.sh "$(printf '\\n%.0s' {1..700})"
breaks 'a file without a comment' 'bare.c:1' src/nn/bare.c 'int bare;\n'
breaks 'two files of one name' 'src/text/main.c: src/cli/main.c has the same name' src/text/main.c '/* text/main.c: a second one. */\n'
breaks 'a header without extern "C"' 'bare.h' include/rapt/bare.h '#pragma once\n'
breaks 'a long function' 'function at src/nn/linear.c:.*at most 60' src/nn/linear.c \
    "int f(void)\n{\n$(printf '    ;\\n%.0s' {1..61})}\n"
breaks 'a function of any name' 'linear.c:.*: backward: a name' src/nn/linear.c 'static void backward(void)\n{\n}\n'
breaks 'two functions of one name' 'norm.c:.*: linear_any: src/nn/linear.c has the same' src/nn/linear.c 'static int linear_any(void)\n{\n}\n' \
    src/nn/norm.c 'static int linear_any(void)\n{\n}\n'
breaks 'a static function of a name that another file exports' 'norm.c:.*: arena_release: src/base/arena.c has the same' \
    src/nn/norm.c 'static int arena_release(void)\n{\n}\n'
breaks 'two functions of one name, in two parts of the program' 'report.c:.*: linear_other: src/nn/linear.c has the same' \
    src/nn/linear.c 'int linear_other(void)\n{\n}\n' src/train/report.c 'int linear_other(void)\n{\n}\n'
breaks 'two macros of one name' 'norm.c:.*: MIN: src/base/min.h has the same macro' src/nn/norm.c '#define MIN(a, b) (a)\n'
breaks 'a turn of phrase' 'nn.h:.*"that of": the noun again' include/rapt/nn.h '/* The shape is that\n * of a matrix. */\n'
breaks 'a comment without a subject' 'nn.h:.*"Of a matrix": a noun' include/rapt/nn.h 'const char *const no_comment = "/* that of */"; /* Of a matrix. */\n'
breaks 'a public function that is not exported' 'nn.h:.*: rapt_new has no RAPT_API' include/rapt/nn.h 'int rapt_new(void);\n'
breaks 'another version' 'openapi.json: version 9.9; ' src/serve/module/openapi.json '  "version": "9.9",\n'
breaks 'a test with threads, without the label' 'tests/nn/test_bare.c: .*lacks the label threads' \
    tests/nn/test_bare.c '/* nn/test_bare.c: a break. */\nstatic pool *bare(void) { return pool_new(2, NULL); }\n'
breaks 'one that a header starts' 'tests/group/test_bare_group.c: .*lacks the label threads' \
    tests/group/test_bare_group.c '/* group/test_bare_group.c: a break.\n * labels: arm-first */\n#include "group_case.h"\n'
breaks 'a test of levels, without the label' 'tests/ops/test_bare_levels.c: .*lacks the label levels|each-level' \
    tests/ops/test_bare_levels.c '/* ops/test_bare_levels.c: a break. */\n#include "levels.h"\n'
breaks 'a script of levels, without the label' 'tests/cli/check_bare.sh: .*lacks the label levels|each-level' \
    tests/cli/check_bare.sh 'for isa in $''(levels); do :; done\n'
! tools/lint.sh "$copy/t" >"$copy/out"
tally $? 'the breaks'
for i in "${!names[@]}"; do
    grep -q "${patterns[i]}" "$copy/out"
    tally $? "noticed: ${names[i]}"
done

# Calls are read from objects: a tree of few files, with the objects of a build.
tree=$copy/tree objects=$copy/tree/build/CMakeFiles/rapt_objects.dir
mkdir -p "$tree"/{include/rapt,src/ops,src/nn,tests,tools} "$objects"/src/{ops,nn}
echo '/* rapt/any.h: extern "C" */' >"$tree/include/rapt/any.h"
# built FILE TEXT: writes a source of the tree and compiles it.
built() {
    printf '/* %s: a part of a test. */\n%s\n' "$1" "$2" >"$tree/src/$1"
    ${CC:-cc} -c "$tree/src/$1" -o "$objects/src/$1.o" && touch -d '+1 second' "$objects/src/$1.o"
}
# calls NAME PATTERN: lint says PATTERN of the tree.
calls() {
    tools/lint.sh "$tree" >"$copy/out"
    grep -q "$2" "$copy/out"
    tally $? "noticed: $1"
}
built nn/upper.c 'void upper(void) { }'
built ops/first.c 'void upper(void); void second(void); void first(void) { upper(); second(); }'
built ops/second.c 'void third(void); void second(void) { third(); }'
built ops/third.c 'void third(void) { }'
calls 'a call of a lower layer' 'src/ops/first.c: calls upper of src/nn/upper.c, a layer below it'
! grep -q circle "$copy/out"
tally $? 'calls in a line are no circle'
built ops/third.c 'void first(void); void third(void) { first(); }'
calls 'a circle of calls' 'in a circle of calls:.* src/ops/third.c calls first of src/ops/first.c'
touch -d '+1 minute' "$tree/src/ops/third.c"
calls 'the call, still' 'src/ops/first.c: calls upper'
! grep -q circle "$copy/out"
tally $? 'an object that is older than its source says nothing'
rm -r "$tree/build"
calls 'that there is no build' 'calls are not checked'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
