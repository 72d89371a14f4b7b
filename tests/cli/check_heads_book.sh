#!/bin/bash
# tests/cli/check_heads_book.sh: what chapter 8 of the book quotes of the quickstart's translator without some of its heads is what rapt
# prints: trains that model, which takes a minute.
# labels: not-sanitized not-emulated late
. "$(dirname "$0")/lib.sh"
mkdir -p build models
ln -s "$RAPT" build/rapt
# block PAGE NUMBER: the NUMBER-th block from the one on that begins with "for head in".
block() {
    awk -v number="$2" '/^```/ { open = !open; begins = open; n += on && open; next }
        begins && /^for head in/ { on = n = 1 } { begins = 0 } on && open && n == number' "$1"
}
page=$SOURCE/docs/book/08-concat-projection
block "$page.md" 1 >commands
block "$page.md" 2 >expected
check 'the chapter has commands' grep -q 'without-head' commands
check 'and what they print' test "$(wc -l <expected)" = 10
check 'so it is in Chinese' diff <(cat commands expected) <(block "$page.zh-CN.md" 1; block "$page.zh-CN.md" 2)
"$RAPT" train "$SOURCE/recipes/quickstart.yaml" --quiet --out models/quickstart || fail 'the model is trained' ''
bash commands >printed 2>messages
check 'it is what they print now' diff expected printed
check 'without a message' test ! -s messages
whole=$("$RAPT" eval models/quickstart models/quickstart/validation.tsv --loss-only | tail -1)
alone=$("$RAPT" eval models/quickstart models/quickstart/validation.tsv --loss-only --without-head 'decoder.1.cross_attention.[!2]' | tail -1)
for language in .md .zh-CN.md; do
    check "the loss of the whole model, $language" grep -qF "$(cut -d' ' -f2 <<<"$whole")" "$page$language"
    check "and of head 2 alone, $language" grep -qF "$(cut -d' ' -f2 <<<"$alone")" "$page$language"
done
finish
