"""check_strings.py FOLDER [SCRIPT...]: the texts of a page in FOLDER: of rapt explain (src/explain/page), of rapt serve
(src/serve/module/page) or of the lesson (src/lesson/page), which have the SCRIPTs from elsewhere. Its tables: strings*.js.
Each text is there in English and in Chinese, with the same places for values; each is used, none is missing, no key is in two
tables, a key with the same words in two pages is in a table that they share, lines of an English text end at a blank, and no
other file of the page has texts of its own.
Terms: tools/check_chinese.sh. For check_strings.sh. The last line: "N passed, N failed, N skipped"."""
import glob
import json
import re
import sys
from html.parser import HTMLParser

FOLDER, SHARED = sys.argv[1], sys.argv[2:]
PAGES = {"src/explain/page", "src/serve/module/page", "src/lesson/page"}
SCRIPTS = sorted(glob.glob(FOLDER + "/*.js")) + SHARED
IS_TABLE = re.compile(r"/strings(_\w+)?[.]js$")
OTHER = {"page.other", "page.other.title"}  # these are in the language that the page can change to
PLAIN = {"rapt", "explain", "serve", "lesson", "←", "→", "@blobs@", "@licenses@"}  # in no language
HAN = re.compile(r"[\u4e00-\u9fff]")
failures = []


def fail(*what):
    failures.append(" ".join(str(w) for w in what))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def texts(path):
    """[key, [English, Chinese]] of a table, in its order."""
    script = read(path)
    return json.loads(script[script.index("{\n"):script.rindex("}") + 1], object_pairs_hook=list)


def read_tables():
    table, home = {}, {}
    for path in filter(IS_TABLE.search, SCRIPTS):
        for key, value in texts(path):
            if key in home:
                fail(key, "is there twice:", home[key], path)
            table[key], home[key] = value, path
    return table, home


def check_pages(table, home):
    for page in PAGES - {FOLDER}:
        for path in filter(IS_TABLE.search, glob.glob(page + "/*.js")):
            for key, value in [] if path in home.values() else texts(path):
                if key in table and list(map(joined, value)) == list(map(joined, table[key])):
                    fail(key, "has the same text in", home[key], "and", path)


def joined(value):
    return "".join(value) if isinstance(value, list) else value


def check_lines(key, english):
    """A word that two lines share cannot be found in the source, and a blank is easily lost between them."""
    for line in english[:-1] if isinstance(english, list) else []:
        if not line.endswith(" "):
            fail(key, "has a line that does not end at a blank:", line)


def check_text(key, english, chinese):
    if not english.strip() or not chinese.strip():
        return fail(key, "lacks a language")
    if sorted(re.findall(r"{\w+}", english)) != sorted(re.findall(r"{\w+}", chinese)):
        fail(key, "has other places for values in Chinese")
    if key in OTHER:
        english, chinese = chinese, english
    words = re.sub(r"{\w+}", "", chinese)
    if HAN.search(english):
        fail(key, "has Chinese in its English text")
    if not HAN.search(chinese) and re.search(r"\w", words):
        fail(key, "has no Chinese text")
    if re.search(r"[\u4e00-\u9fff][,.;:?!()]|[\u4e00-\u9fff] [A-Za-z0-9{]|[A-Za-z0-9}] [\u4e00-\u9fff]", chinese):
        fail(key, "has punctuation or spaces of English in Chinese:", chinese)


def without_comments(script):
    return re.sub(r"/\*.*?\*/", "", script, flags=re.S)


def check_scripts(table):
    used, prefixes = set(), set()
    for name in SCRIPTS:
        if IS_TABLE.search(name) or name.endswith(("/examples.js", "/recipe.js")):  # of the latter the texts are for models and programs
            continue
        script = without_comments(read(name))
        literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"', script)
        used |= {text for text in literals if text in table}
        prefixes |= set(re.findall(r"`([a-z_.]+\.)\$\{", script))
        for key in re.findall(r'\b(?:t|pieces|has|textFor)\("([^"]*)"', script):
            if key not in table:
                fail(name, "asks for", key, "which is not there")
        templates = [re.sub(r"\$\{[^{}]*\}", "", text) for text in re.findall(r"`([^`]*)`", script)]
        for text in literals + templates:
            if HAN.search(text) or re.search(r"[A-Z][a-z]+[ ,.]|[a-z]{3,} [a-z]{2,} [a-z]{2,}|[a-z]{2,}[.,:;] ", text):
                if not re.search(r"^(rapt: (language|key)$|out of memory$|Bearer $|.*(serif|monospace)|[(]prefers-|color-mix|row running)", text):
                    fail(name, "has a text of its own:", repr(text))
    return used, prefixes


class Frame(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.used = [], set()

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)
        for name, value in attributes:
            if name.startswith("data-t"):
                self.used.add(value)
            elif name in ("aria-label", "title", "placeholder", "alt"):
                fail("page.html has a text of its own:", value)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, text):
        bare = text.strip()
        if bare and not {"title", "style", "script", "noscript"} & set(self.open) and bare not in PLAIN:
            fail("page.html has a text of its own:", bare)


def main():
    table, home = read_tables()
    check_pages(table, home)
    for key, value in table.items():
        if not isinstance(value, list) or len(value) != 2:
            fail(key, "is not a pair")
        else:
            check_text(key, *map(joined, value))
            check_lines(key, value[key in OTHER])
    used, prefixes = check_scripts(table)
    frame = Frame()
    frame.feed(read(FOLDER + "/page.html"))
    for key in sorted(frame.used - set(table)):
        fail("page.html asks for", key, "which is not there")
    for key in table:
        if key not in used | frame.used and not any(key.startswith(prefix) for prefix in prefixes):
            fail(key, "is not used")
    for what in failures:
        print("FAIL ", what)
    if len(table) < 40 or not prefixes:
        failures.append("the table has not been read")
    print(f"{len(table)} texts in two languages\n{int(not failures)} passed, {int(bool(failures))} failed, 0 skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
