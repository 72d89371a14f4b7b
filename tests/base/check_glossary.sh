#!/bin/bash
# tests/base/check_glossary.sh: documents and help texts keep to the words of docs/glossary.md, in English and in Chinese, and
# tools/check_words.sh and tools/check_chinese.sh notice a text that doesn't: in a copy of the documents, one break at a time.
# labels: not-sanitized
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${RAPT:-$root/build/rapt}")
passed=0 failed=0
tally() { if [ "$1" = 0 ]; then passed=$((passed + 1)); echo "ok    $2"; else failed=$((failed + 1)); echo "FAIL  $2"; fi; }
"$root/tools/check_words.sh" "$program"
tally $? 'the documents'
"$root/tools/check_chinese.sh"
tally $? 'the Chinese pages'

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root"/{bench,data,docs,examples,include,recipes,src,tools} "$root"/*.md "$copy"
cd "$copy" || exit 1
# noticed NAME PATTERN FILE TEXT: with TEXT behind FILE, the checker fails and says PATTERN; without it, nothing is said.
checker=tools/check_words.sh
noticed() {
    cp "$3" kept
    printf "$4" >>"$3"
    ! $checker >out && grep -q "$2" out
    tally $? "noticed: $1"
    mv kept "$3"
}
# allowed NAME FILE TEXT: with TEXT behind FILE, the checker says nothing.
allowed() {
    cp "$2" kept
    printf "$3" >>"$2"
    $checker >out
    tally $? "allowed: $1"
    mv kept "$2"
}
tools/check_words.sh >out
tally $? 'the copy'
# Breaks of different words, in different files: breaks NAME PATTERN FILE TEXT.
names=() patterns=()
breaks() {
    names+=("$1") patterns+=("$2")
    cp --parents "$3" kept_files
    printf "$4" >>"$3"
}
mkdir kept_files
breaks 'a retired term' '^README.md:.*"held out" is retired; write: validation' README.md 'A part is held out.\n'
breaks 'one with a hyphen and capitals' '"held-out" is retired' README.md 'Held-Out pairs.\n'
breaks 'one over two lines' '^docs/tour.md:.*"starting values" is retired' docs/tour.md 'of starting\nvalues\n'
breaks 'one over two lines of a comment' '^examples/generate.c:.*"goes on" is retired' examples/generate.c '/* It goes\n * on. */\n'
breaks 'one in a header' '^include/rapt/nn.h:.*"walks back"' include/rapt/nn.h '/* It walks back. */\n'
breaks 'one in a message' '^src/nn/linear.c:.*"no memory"' src/nn/linear.c 'static const char *const TEXT = "no memory for it";\n'
breaks 'one over two lines of a recipe' '"kept aside" is retired' recipes/quickstart.yaml '# a tenth is kept\n# aside\n'
breaks 'one in the manual' '^docs/man/train.mdoc:.*"goes on"' docs/man/train.mdoc 'The run goes on.\n'
breaks 'one in the README of a folder' '^src/nn/README.md:.*"walk back"' src/nn/README.md 'the walk back\n'
! tools/check_words.sh >out
tally $? 'the breaks'
for i in "${!names[@]}"; do
    grep -q "${patterns[i]}" out
    tally $? "noticed: ${names[i]}"
done
cp -r kept_files/. .
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

# Chinese.
cp "$root/docs/glossary.md" docs/glossary.md
mkdir -p src/explain/page
checker=tools/check_chinese.sh
page=docs/test.zh-CN.md
printf '# 测试\n\n词元\n\n' >$page
$checker >out
tally $? 'the copy, in Chinese'
noticed 'a Chinese variant' '^docs/test.zh-CN.md:5: 令牌; write: 词元' $page '每个令牌有一个编号。\n'
noticed 'one over two lines' '^docs/test.zh-CN.md:6: 归一化; write: 规范化' $page '先做归一\n化。\n'
noticed 'one after code' '^docs/test.zh-CN.md:5: 贪婪' $page '`--greedy`是贪婪搜索\n'
noticed 'one after a fenced block' '^docs/test.zh-CN.md:8: 遮罩' $page '```\n词典\n```\n遮罩\n'
noticed 'one in the page' '^src/explain/page/main.js:.*丢弃法' src/explain/page/main.js '"丢弃法"\n'
noticed 'a line break within a paragraph' '^docs/test.zh-CN.md:6: a line break' $page '词表\n词元\n'
allowed 'lists and paragraphs' $page '\n* 词表\n* 词元\n\n词表\n\n词元\n'
allowed 'code' $page '`层归一化`\n```\n批次\n```\n'
allowed 'a quotation, a title' $page '教程称之为“层归一化”，见《词汇表》。\n'
allowed 'a phrase of the last column' $page '大部分词元；一阶矩阵。\n'
# A page in both languages.
noticed 'another fenced block' '^README.zh-CN.md: not as in README.md: > make$' README.zh-CN.md '```\nmake\n```\n'
noticed 'an answer that is not folded' '^docs/start.zh-CN.md: not as in docs/start.md: < </details>' docs/start.md \
    '\n<details><summary>Answer</summary>2</details>\n'
noticed 'a link that is missing' '^docs/start.zh-CN.md: not as in docs/start.md: < 9.models.md$' docs/start.md '\n[all](models.md)\n'
noticed 'a link to an English page that is there in Chinese' '^docs/start.zh-CN.md: not as in docs/start.md: > 9.tuning.md$' \
    docs/start.zh-CN.md '\n[微调](tuning.md)\n'
cp docs/start.md english.kept
cp docs/start.zh-CN.md chinese.kept
printf '\n[a part](tuning.md#a-tiny-model-that-answers), [install](install.md)\n' >>docs/start.md
printf '\n[一节](tuning.md#a-tiny-model-that-answers)（英文）、[安装](install.zh-CN.md)\n' >>docs/start.zh-CN.md
$checker --mend >out && tail -1 docs/start.zh-CN.md | grep -qxF '[一节](tuning.zh-CN.md#会回答的小模型)、[安装](install.zh-CN.md)'
tally $? 'mended: a link to a heading of a page that is there in Chinese'
sed -i '3s/start/tuning/' docs/start.zh-CN.md
! $checker >out && grep -qF 'docs/start.zh-CN.md:3: write: [English](start.md) | 简体中文' out
tally $? 'noticed: a page that does not lead to its English one'
mv english.kept docs/start.md
mv chinese.kept docs/start.zh-CN.md
noticed 'a section that is missing' '^README.zh-CN.md: not as in README.md: < ##$' README.md '\n## More\n'
sed -i 's/31 s之后/30 s之后/' README.zh-CN.md
! $checker >out && grep -q 'README.md: > row .* 30 95.2 ' out
tally $? 'noticed: another number in a table'
cp "$root/README.zh-CN.md" README.zh-CN.md
sed -i 's/^| autoregressive | 自回归 |/| autoregressive | 自回归，自动回归 |/' docs/glossary.md
! $checker >out && grep -q 'glossary.md:[0-9]*: 1 English terms, but 2 Chinese ones: 自回归，自动回归' out
tally $? 'noticed: a row with a Chinese term too many'
sed -i 's/^| autoregressive | 自回归，自动回归 |/| autoregressive | 词元 |/' docs/glossary.md
! $checker >out && grep -q 'glossary.md:[0-9]*: 词元 stands in line [0-9]*, too' out
tally $? 'noticed: a Chinese term of two rows'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
