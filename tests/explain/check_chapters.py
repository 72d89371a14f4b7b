"""check_chapters.py: the chapters that the page of rapt explain names: each has its file in docs/book in both languages, and its
title; each name of rapt/observe.h has a chapter, the right one where a word of the name says which. For check_chapters.sh. The
last line: "N passed, N failed, N skipped"."""
import json
import os
import re
import sys

PAGE, BOOK = "src/explain/page/", "docs/book/"
# What each step must lead to; the names as the page has them.
WANTED = {
    "embedding": "01-embedding", "encoder.embedding.scaled": "01-embedding", "decoder.positions": "02-positions",
    "input": "02-positions", "blocks.0.attention.q": "03-queries-keys-values", "decoder.1.cross_attention.v.heads": "04-heads",
    "blocks.0.attention.scores": "05-scores", "blocks.0.attention.scaled": "05-scores", "encoder.0.attention.masked": "05-scores",
    "decoder.0.self_attention.weights": "06-softmax", "decoder.0.self_attention.heads": "07-weighted-sum",
    "blocks.3.attention.concat": "08-concat-projection", "blocks.3.attention.output": "08-concat-projection",
    "blocks.0.attention.k.rotated": "17-rotary", "blocks.0.attention.biased": "17-rotary", "encoder.0.ffn.hidden": "09-ffn",
    "encoder.0.ffn.activation": "09-ffn", "blocks.0.ffn.gate": "17-swiglu", "blocks.0.ffn.product": "17-swiglu",
    "blocks.0.ffn.output": "09-ffn", "blocks.0.norm2.sum": "10-add-norm", "blocks.0.norm2.scaled": "10-add-norm",
    "norm.output": "10-add-norm", "norm.scaled": "10-add-norm", "embedding_norm.output": "10-add-norm",
    "decoder.output": "13-sales-textbook", "output": "13-sales-textbook", "probabilities": "15-prediction",
    "blocks.0.attention.weights.dropped": "14-training",
}
failures = []


def fail(*what):
    failures.append(" ".join(map(str, what)))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def table():
    """[(pattern, chapter, what the formula must have)] of chapters.js."""
    rows = re.findall(r'\[/((?:[^/\\\n]|\\.)+)/, "([\w-]+)"(?:, "([^"]+)")?\]', read(PAGE + "chapters.js"))
    return [(re.compile(pattern), chapter, formula) for pattern, chapter, formula in rows]


def observed():
    """The names of rapt/observe.h, with a module in place of its letter."""
    lines = re.findall(r"^ [*]   (\S.*)$", read("include/rapt/observe.h"), re.M)
    names = [name for line in lines for name in re.findall(r"(?<!\S)((?:[PANF](?=[a-z.]))?[a-z][a-z_.]*|[ANF]\.\S+)",
                                                           re.split(r" {2,}(?![PANF][a-z.])", line)[0])]
    modules = {"P": "decoder.", "A": "blocks.0.attention", "N": "blocks.0.norm1", "F": "blocks.0.ffn"}
    return {modules.get(name[0], "") + name[1:] if name[0] in modules else name for name in names} - {"name", "in", "their"}


def chapter_of(rows, name, formula=""):
    return next((chapter for pattern, chapter, having in rows if pattern.search(name) and having in formula), None)


def check_titles(chapters):
    text = read(PAGE + "strings_chapters.js")
    strings = json.loads(text[text.index("{\n"):text.rindex("}") + 1])
    titles = {key[len("chapter."):]: value for key, value in strings.items() if key.startswith("chapter.")}
    for chapter in sorted(chapters | titles.keys()):
        for language, ending in enumerate((".md", ".zh-CN.md")):
            path = BOOK + chapter + ending
            if not os.path.exists(path):
                fail(path, "does not exist")
                continue
            number, title = re.match(r"# ([\d.]*\d)\.? (.+)", read(path)).groups()
            wanted = f"Chapter {number}. {title}" if language == 0 else f"第{number}{'节' if '.' in number else '章'}\u3000{title}"
            if titles.get(chapter, [None] * 2)[language] != wanted:
                fail(chapter, "is called", titles.get(chapter), "not", wanted)
    return titles


def main():
    rows, names = table(), observed()
    if len(rows) < 20 or len(names) < 35:
        fail("only", len(rows), "rows and", len(names), "names have been read")
    for name in sorted(names):
        if not chapter_of(rows, name):
            fail(name, "of rapt/observe.h has no chapter")
    for name, chapter in WANTED.items():
        if chapter_of(rows, name) != chapter:
            fail(name, "leads to", chapter_of(rows, name), "not", chapter)
    for name in ("norm.output", "blocks.0.norm1.output.output", "blocks.0.attention.q.normed"):
        if chapter_of(rows, name, "x / sqrt(mean(x^2) + eps) * gamma") != "17-rms-norm":
            fail(name, "of a root mean square leads to", chapter_of(rows, name, "mean(x^2)"))
    named = set(re.findall(r'"(\d\d-[\w-]+)"', read(PAGE + "chapters.js"))) | set(
        re.findall(r'data-chapter="([\w-]+)"', read(PAGE + "page.html")))
    titles = check_titles(named)
    files = {name[:-3] for name in os.listdir(BOOK) if re.match(r"\d\d-.*\.md$", name) and not name.endswith(".zh-CN.md")}
    if files != titles.keys():
        fail("chapters without a title, or titles without a chapter:", sorted(files ^ titles.keys()))
    for what in failures:
        print("FAIL ", what)
    print(f"{len(rows)} rows, {len(names)} names, {len(titles)} chapters\n{int(not failures)} passed, {int(bool(failures))} failed, 0 skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
