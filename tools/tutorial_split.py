"""The code cells of tutorials that are stored as plain text, for tools/tutorial_cells.py. What a text has says how its cells are
found: lines "In [3]:" of a notebook, fences of Markdown, lines "py" above code, or nothing, where code is lines that look so."""
import ast
import re
import textwrap

# What cells print, or what stands behind them: a tensor, a shape, a number, a quoted text, perhaps behind a label.
OUTPUT = re.compile(r"^(?:[\w\- ]*:? ?(?:tensor\(|torch\.Size\()|[-\d.]+$|['\"]|Embedding\()", re.M)
CODE = re.compile(r"^ *(?:import |from \w+ import|class |def |for |if |return |@|[A-Za-z_][\w.]*(?:\[.*\])?(?:, \w+)* = )", re.M)
HAN = "[\u2e80-\u9fff\uff00-\uffef\u3000-\u303f]"


def parses(text):
    try:
        ast.parse(text)
        return True
    except SyntaxError:
        return False


def _notebook(lines):
    """Code ends where a block of lines, which empty lines part, is output or text."""
    found = []
    starts = [i for i, line in enumerate(lines) if re.fullmatch(r"In \[\d+\]:", line)]
    for start, end in zip(starts, starts[1:] + [len(lines)]):
        blocks = [block for block in re.split(r"\n(?: *\n)+", "\n".join(lines[start + 1:end]).strip("\n")) if block.strip()]
        code = blocks[:1]
        for block in blocks[1:]:
            so_far = "\n\n".join(code)
            if parses(so_far) and (not parses(f"{so_far}\n\n{block}") or OUTPUT.search(block) or re.match("##+ ", block)):
                break
            code.append(block)
        found.append((re.search(r"\d+", lines[start])[0], "\n\n".join(code)))
    return found


def _fences(lines):
    inside, block, blocks = False, [], []
    for line in lines:
        if line.startswith("```"):
            if inside:
                blocks.append(textwrap.dedent("\n".join(block)))
            inside, block = not inside, []
        elif inside:
            block.append(line)
    return [(str(i + 1), text) for i, text in enumerate(text for text in blocks if CODE.search(text))]


def _without_text(line):
    """Code up to the text that follows it on its line, and whether there is any; comments may be Chinese."""
    code = line.split("#")[0]
    han = re.search(HAN, code)
    if not han:
        return line, False
    kept = re.sub(r"[-\s]+$", "", code[:han.start()])
    return kept if parses(kept.strip()) or ")" not in kept else kept[:kept.rindex(")") + 1], True


def _marked(lines):
    found, taken, code = [], False, []
    for line in [*lines, "py"]:
        if line.strip() == "py":
            if code:
                found.append((str(len(found) + 1), "\n".join(code)))
            taken, code = True, []
        elif taken:
            kept, ends = _without_text(line)
            code.append(kept)
            taken = not ends
    return found


def _groups(lines):
    """Lines without empty ones between them, from the first that looks like code on."""
    groups = [block for block in re.split(r"\n(?: *\n)+", "\n".join(lines)) if CODE.search(block)]
    found = []
    for group in groups:
        rows = group.split("\n")
        first = next(i for i, row in enumerate(rows) if CODE.match(row) or row.startswith(('"""', "#")))
        for end in range(len(rows), first, -1):  # text may follow
            code = "\n".join(rows[first:end])
            if parses(code) or parses(restored(code)):
                found.append((str(len(found) + 1), code))
                break
    return found


def cells(text):
    """[(number, code)] of a tutorial."""
    lines = text.splitlines()
    if any(re.fullmatch(r"In \[\d+\]:", line) for line in lines):
        return _notebook(lines)
    if any(line.startswith("```") for line in lines):
        return _fences(lines)
    return _marked(lines) if any(line.strip() == "py" for line in lines) else _groups(lines)


# ---- code whose line breaks are lost ---------------------------------------------------------------------------------------

NAME = r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*"
STATEMENT = re.compile(rf"super\(|self\.\w+\(|self\.\w+ = |return |def \w+\(|if |print\(|plt\.|import |"
                       rf"{NAME}(?:\[[^\]#]*\])?(?:, [A-Za-z_]\w*)* = ")
CONTINUES = re.compile(r"\.\w+\(|[*/] [(A-Za-z]|\)|\[\d+\.\d")  # within brackets


def _code_behind(text, at, depth):
    """Where code goes on behind the comment at `at`."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    following = (CONTINUES if depth else STATEMENT).search(text, at + 1, end)
    other = text.find("#", at + 1, end)
    if following and (other < 0 or following.start() < other):
        return following.start()
    return other if other >= 0 else end


def _without_comments(text):
    out, at, depth, quote = [], 0, 0, ""
    while at < len(text):
        char = text[at]
        if quote or char in "'\"":
            quote = "" if char == quote else quote or char
        elif char == "#":
            at = _code_behind(text, at, depth)
            out.append(" " if depth else "\n")
            continue
        else:
            depth += (char in "([{") - (char in ")]}")
        out.append(char)
        at += 1
    return "".join(out)


def restored(text):
    """Code with line breaks where statements begin. Docstrings and comments go; the only statement of an `if` stays on its line."""
    text = re.sub(r'""".*?"""', "\n", text, flags=re.S)
    text = _without_comments(text)
    text = re.sub(r"(?<=[\w)])(?=class \w+\(|def \w+\(|import \w)", "\n", text)
    text = re.sub(r"(?<=[^\s:.(])(?=self\.\w+ = )", "\n", text)
    text = re.sub(rf"(?<=[)\]\w])(?=print\(|plt\.|else:|if __name__|return )|(?<=[)\]])(?=if |{NAME} = )", "\n", text)
    text = re.sub(r"(def \w+\(.*?\):|class \w+\(.*?\):)", r"\n\1\n", text)
    text = re.sub(r"(?<=\n)( *if [^\n]*:)\s*\n", r"\1 ", text)
    lines, level = [], 0
    for line in map(str.strip, text.split("\n")):
        if line.startswith("class ") or line.startswith("if __name__") or re.match(r"def \w+\((?!self)", line):
            level = 0
        elif line.startswith("def "):
            level = 1
        if line:
            lines.append("    " * level + line)
        level += line.startswith(("class ", "def "))
    return "\n".join(lines)
