#!/bin/bash
# tests/base/check_glossary.sh: documents and help texts keep to the words of docs/glossary.md, and tools/check_words.sh
# notices a text that doesn't: in a copy of the documents, one break at a time.
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${RAPT:-$root/build/rapt}")
passed=0 failed=0
tally() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "ok    $2"; else failed=$((failed + 1)); echo "FAIL  $2"; fi; }
"$root/tools/check_words.sh" "$program"
tally $? 'the documents'

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root"/{bench,data,docs,examples,include,recipes,src,tools} "$root"/*.md "$copy"
cd "$copy" || exit 1
# noticed NAME PATTERN FILE TEXT: with TEXT behind FILE, check_words.sh fails and says PATTERN; without it, nothing is said.
noticed() {
    cp "$3" kept
    printf "$4" >>"$3"
    ! tools/check_words.sh >out && grep -q "$2" out
    tally $? "noticed: $1"
    mv kept "$3"
}
tools/check_words.sh >out
tally $? 'the copy'
noticed 'a retired term' '^README.md:.*"held out" is retired; write: validation' README.md 'A part is held out.\n'
noticed 'one with a hyphen and capitals' '"held-out" is retired' README.md 'Held-Out pairs.\n'
noticed 'one over two lines' '^docs/tour.md:.*"starting values" is retired' docs/tour.md 'of starting\nvalues\n'
noticed 'one over two lines of a comment' '^examples/generate.c:.*"goes on" is retired' examples/generate.c '/* It goes\n * on. */\n'
noticed 'one in a header' '^include/rapt/nn.h:.*"walks back"' include/rapt/nn.h '/* It walks back. */\n'
noticed 'one in a message' '^src/nn/linear.c:.*"no memory"' src/nn/linear.c 'static const char *const TEXT = "no memory for it";\n'
noticed 'one over two lines of a recipe' '"kept aside" is retired' recipes/quickstart.yaml '# a tenth is kept\n# aside\n'
noticed 'one in the manual page' '^docs/rapt.1:.*"goes on"' docs/rapt.1 'The run goes on.\n'
noticed 'one in the README of a folder' '^src/nn/README.md:.*"walk back"' src/nn/README.md 'the walk back\n'
# Names of the other tables.
sed -i '0,/^| Transformer,/s//| frobnication | 无 | `rapt_frobnicate`, `--frobnicate`, `train.frob` | nowhere |\n&/' docs/glossary.md
for name in rapt_frobnicate --frobnicate train.frob; do
    ! tools/check_words.sh >out && grep -q "the sources have no $name" out
    tally $? "noticed: a name in the glossary that the sources lack: $name"
done
printf '| `walrus word` | tusk | `a walrus word` |\n' >>docs/glossary.md
printf 'a walrus word, the walrus word\n' >>README.md
! tools/check_words.sh >out && [ "$(grep -c '"walrus word" is retired; write: tusk' out)" = 1 ]
tally $? 'a new row is heeded, and what it allows'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
