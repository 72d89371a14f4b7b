#!/bin/bash
# tests/base/check_links.sh: links, quotations and messages of the documents are sound, and tools/check_links.sh notices those that
# are not: in a copy of a few documents, all breaks at once.
# labels: not-sanitized not-emulated
root=$(cd "$(dirname "$0")/../.." && pwd)
passed=0 failed=0
tally() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "ok    $2"; else failed=$((failed + 1)); echo "FAIL  $2"; fi; }
"$root/tools/check_links.sh" "$(realpath "${RAPT:-$root/build/rapt}")"
tally $? 'the documents'

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root"/{examples,include,src,tools} "$copy"
mkdir "$copy/docs"
cp "$root/docs/troubleshooting.md" "$copy/docs"
cd "$copy" || exit 1
find . -name '*.md' -not -path ./docs/troubleshooting.md -delete
sed -i 's/\[\([^]]*\)\]([^)]*)/\1/g' docs/troubleshooting.md # no links, which lead to documents that are not here
tools/check_links.sh >out
tally $? 'the copy'
cat out

cat >docs/broken.md <<'END'
[a file that is gone](gone.md), [a heading that is gone](troubleshooting.md#gone),
[`gemm.c:no_such_function`](../src/tensor/gemm.c)
<!-- file: examples/translate.c -->
```c
int main(void);
```
END
sed -i 's/| `cannot listen on /| `cannot lisp on /' docs/troubleshooting.md
! tools/check_links.sh >out 2>&1
tally $? 'the breaks'
for pattern in 'broken.md: there is no gone.md' 'troubleshooting.md#gone: no such heading' 'gemm.c has no no_such_function' \
    'the quotation of examples/translate.c has changed' 'the sources do not say: cannot lisp on'; do
    grep -q "$pattern" out
    tally $? "noticed: $pattern"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
