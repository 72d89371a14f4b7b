#!/usr/bin/env python3
"""tools/notebooks.py: the Python cells of the pages of docs/book and docs/tutorials, and the pages as Jupyter notebooks.

    tools/notebooks.py fill [PAGE...]      runs the cells and writes code and output into the pages
    tools/notebooks.py check [PAGE...]     the same, but says what differs (status 1) and writes nothing
    tools/notebooks.py write [PAGE...]     runs the cells and writes docs/notebooks/PAGE.ipynb
    tools/notebooks.py text [PAGE...]      the same with the output that the notebooks have: for pages whose text has changed
    --build BUILD                          a build folder (default build: `make all`, with Python's headers)

PAGE is a name such as 05-scores or shapes; default: all pages that have cells. The cells of NAME.md, and of NAME.zh-CN.md, are in
NAME.py beside it, which is a program as well: `PYTHONPATH=build/python python3 docs/book/05-scores.py`. A cell begins with a line
    # %% NAME           or, if the page's program prints other things,
    # %% NAME (own)
In a page a cell is the two lines
    <!-- cell NAME -->
    <!-- end -->
and all that stands between them is made here: the code and, if it prints something, its output. The cells of a page run in their
order in one namespace, in a folder that has build, docs, examples, recipes and data as the root of the sources has them. The
lines with a digit that a cell prints also stand, in their order, in what the commands of the page print, so that a page has its
numbers once: in the lines below a "$ " line of a plain fence. Rows of a tensor follow one another there, too. Lines of a cell
that is marked "(own)" need not. A page is read on its own, so a helper such as split_heads() stands again in each that uses it.

A notebook has the page's text, with links to chapters and tutorials that lead to their notebooks, and the cells with their
output. A last expression, without print, is for figures: the notebook shows it when it is run, the page does not.
"""
import argparse
import ast
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

SOURCE = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("docs/book", "docs/tutorials")
NOTEBOOKS = "docs/notebooks"
LARGEST = 100_000  # bytes of a notebook
CELL = re.compile(r"<!-- cell ([a-z0-9-]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


class Wrong(Exception):
    """What is wrong with a page, for the person who writes it."""


class Cell:
    """A cell of a file: its name, its code, the line of the file before its first one, and whether what it prints is its own."""

    def __init__(self, name, code, line, own):
        self.name, self.code, self.line, self.own = name, code, line, own


def read_cells(path):
    """The cells of a file of cells, in their order."""
    cells = []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.startswith("# %%")] + [len(lines)]
    for begin, end in zip(starts, starts[1:]):
        head = re.fullmatch(r"# %% ([a-z0-9-]+)( \(own\))?\n", lines[begin])
        if not head:
            raise Wrong(f"{path.name}:{begin + 1}: a cell begins with \"# %% name\" or \"# %% name (own)\"")
        if head[1] in (cell.name for cell in cells):
            raise Wrong(f"{path.name}: two cells are called {head[1]}")
        cells.append(Cell(head[1], "".join(lines[begin + 1:end]).strip("\n") + "\n", begin + 1, bool(head[2])))
    if not cells:
        raise Wrong(f"{path.name} has no cells")
    return cells


def cell_files():
    """The files of cells by the name of their page."""
    return {path.stem: path for folder in FOLDERS for path in sorted((SOURCE / folder).glob("*.py"))}


def is_page(path):
    """Whether a file is a page that is a notebook, too: a chapter or a tutorial."""
    if path.suffix != ".md" or path.parent not in [SOURCE / folder for folder in FOLDERS]:
        return False
    return path.name[:2].isdigit() or path.with_name(path.name.split(".")[0] + ".blocks").exists()


def pages_of(path):
    """The pages of a file of cells, one in each language."""
    pages = [page for page in (path.with_suffix(".md"), path.with_suffix(".zh-CN.md")) if page.exists()]
    if not pages:
        raise Wrong(f"{path.name} has no page {path.stem}.md")
    return pages


# ---- running ------------------------------------------------------------------------------------------------------------

def run_code(code, line, path, names):
    """Runs a cell as a notebook does; returns what it prints. A last expression has to be a figure."""
    tree = ast.parse("\n" * line + code, path)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, path, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path, "eval"), names)
            if value is not None and not hasattr(value, "_repr_html_"):
                raise Wrong(f"{path}:{last.lineno}: a last expression is shown as a figure; print() this one")
            if value is not None and not value._repr_html_():
                raise Wrong(f"{path}:{last.lineno}: the figure is empty")
    return out.getvalue()


def run_here(path):
    """Runs [code, line] of the cells that stdin has as JSON, in this process; prints what each prints as JSON."""
    names, printed = {"__name__": "__main__"}, []
    sys.argv = [path]
    for code, line in json.load(sys.stdin):
        try:
            printed.append(run_code(code, line, path, names))
        except Wrong as error:
            sys.exit(str(error))
        except Exception:
            traceback.print_exc()
            sys.exit(f"{path}: the cell fails that begins with\n{code.partition(chr(10))[0]}")
    json.dump(printed, sys.stdout)


def make_folder(folder, build):
    """A folder in which commands and files have the names that they have in the root of the sources. Of data it has the files that
    come with them, and no folder that `rapt fetch` has made: what a page shows must not depend on it."""
    for name in ("docs", "examples"):
        os.symlink(SOURCE / name, folder / name)
    os.symlink(build, folder / "build")
    shutil.copytree(SOURCE / "recipes", folder / "recipes")
    (folder / "data").mkdir()
    for path in (SOURCE / "data").iterdir():
        if path.is_file():
            os.symlink(path, folder / "data" / path.name)


def run_cells(cells, path, build, interpreter=sys.executable):
    """What each cell prints, run in their order in a process of their own."""
    package = [str(build / "python")] if (build / "python" / "rapt").is_dir() else []
    before = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(package + ([before] if before else [])),
                   "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as folder:
        make_folder(pathlib.Path(folder), build)
        done = subprocess.run([interpreter, "-W", "error", __file__, "run", str(path)], cwd=folder, env=environment, text=True,
                              input=json.dumps([[cell.code, cell.line] for cell in cells]), encoding="utf-8",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Wrong(done.stderr.strip())
    return json.loads(done.stdout)


# ---- pages --------------------------------------------------------------------------------------------------------------

def fill_page(text, cells, printed, name):
    """The text of a page with its cells as they are now."""
    there = CELL.findall(text)
    if [cell for cell, _ in there] != [cell.name for cell in cells]:
        raise Wrong(f"{name}: its cells are not those of the file of cells, in their order: "
                    f"{', '.join(cell for cell, _ in there) or 'none'}")
    shown = {cell.name: f"```python\n{cell.code}```\n" + (f"```\n{out.rstrip(chr(10))}\n```\n" if out else "")
             for cell, out in zip(cells, printed)}
    return CELL.sub(lambda found: f"<!-- cell {found[1]} -->\n{shown[found[1]]}<!-- end -->\n", text)


def fences(text):
    """(language, lines) of the fences of a page outside of its cells."""
    fence = None
    for line in CELL.sub("", text).splitlines():
        if fence is None and line.startswith("```"):
            fence = (line[3:], [])
        elif fence is not None and line == "```":
            yield fence
            fence = None
        elif fence is not None:
            fence[1].append(line)


def one_space(line):
    """A line in which the width of columns makes no difference."""
    return re.sub(r"\[ ", "[", re.sub(r"\s+", " ", line.strip()))


def output_of_commands(text):
    """What the commands of a page print, one text; a line "$" keeps what two commands print apart."""
    lines = []
    for language, fence in fences(text):
        commands = [i for i, line in enumerate(fence) if line.startswith("$ ")] if not language else []
        lines += ["$" if i in commands else one_space(fence[i]) for i in range(min(commands, default=len(fence)), len(fence))]
        lines += ["$"]
    return "\n".join(line for line in lines if line)


def groups(out):
    """The lines with a digit that a cell prints, in lists: a line that ends with a comma, as a tensor's row, and the next are one."""
    made, more = [], False
    for line in filter(None, map(one_space, out.splitlines())):
        made += [] if more else [[]]
        made[-1].append(line)
        more = line.endswith(",")
    return [lines for lines in made if re.search(r"\d", "".join(lines))]


def whole(line):
    """The expression of a line that is not a part of a longer word, number, share or date."""
    return r"(?<![\w.,/-])(?<!\d:)" + re.escape(line) + r"(?!\w|%|[.,/:-]\d)"


def not_on_page(text, cells, printed):
    """(cell, line) of each line with a digit that no command of the page prints after the lines before it."""
    there = output_of_commands(text)
    for cell, out in zip(cells, printed):
        end = 0
        for lines in groups(out) if not cell.own else ():
            found = [re.compile(r"[^\n]*\n[^\n]*?".join(map(whole, lines[:count]))).search(there, end)
                     for count in range(1, len(lines) + 1)]
            if None in found:
                yield cell.name, lines[found.index(None)]
            else:
                end = found[-1].end()


# ---- notebooks ----------------------------------------------------------------------------------------------------------

def heading_anchor(heading):
    """The anchor that the pages use for a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def moved_link(target, page, text):
    """A relative link of a page, from the folder of notebooks."""
    path, _, part = target.partition("#")
    if "://" in target or target.startswith("mailto:"):
        return target
    if not path:
        headings = {heading_anchor(heading): heading for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        return "#" + headings[part].replace(" ", "-")  # Jupyter's anchors keep case and punctuation
    to = (page.parent / path).resolve()
    if is_page(to):
        return f"{to.stem}.ipynb"
    return os.path.relpath(to, SOURCE / NOTEBOOKS) + (f"#{part}" if part else "")


def markdown_cells(text, page, whole):
    """The Markdown between two cells: a cell for each section."""
    parts, fence = [[]], False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            fence = not fence
        if not fence and re.match(r"<!-- .* -->$", line):
            continue
        if not fence and re.match(r"##+ ", line):
            parts.append([])
        moved = line if fence else LINK.sub(lambda found: found[1] + moved_link(found[2], page, whole) + found[3], line)
        parts[-1].append(moved)
    return ["".join(part).strip("\n") for part in parts if "".join(part).strip()]


def source_lines(text):
    return text.rstrip("\n").splitlines(keepends=True)


def make_notebook(page, cells, printed):
    """A page as a notebook, format 4.5: the text of its file."""
    text = page.read_text(encoding="utf-8")
    pieces, made, texts, codes = CELL.split(text), [], 0, 0
    by_name = {cell.name: (cell, out) for cell, out in zip(cells, printed)}
    for i, piece in enumerate(pieces):
        if i % 3 == 0:
            for markdown in markdown_cells(piece, page, text):
                texts += 1
                made.append({"cell_type": "markdown", "id": f"text-{texts}", "metadata": {}, "source": source_lines(markdown)})
        elif i % 3 == 1:
            cell, out = by_name[piece]
            codes += 1
            outputs = [{"name": "stdout", "output_type": "stream", "text": out.splitlines(keepends=True)}] if out else []
            made.append({"cell_type": "code", "execution_count": codes, "id": cell.name, "metadata": {}, "outputs": outputs,
                         "source": source_lines(cell.code)})
    notebook = {"cells": made, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                            "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    made_text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    if len(made_text.encode()) >= LARGEST:
        raise Wrong(f"{page.name}: the notebook has {len(made_text.encode()):,} bytes; {LARGEST:,} are too many")
    return made_text


def notebook_of(page):
    return SOURCE / NOTEBOOKS / f"{page.name.removesuffix('.md')}.ipynb"


def printed_before(path):
    """What each cell printed when the notebook was written."""
    notebook = json.loads(notebook_of(pages_of(path)[0]).read_text(encoding="utf-8"))
    return ["".join(text for output in cell["outputs"] for text in output["text"])
            for cell in notebook["cells"] if cell["cell_type"] == "code"]


# ---- commands -----------------------------------------------------------------------------------------------------------

def check_page(path, cells, printed):
    """What is wrong with the pages of a file of cells, and with their notebooks, a line each."""
    for page in pages_of(path):
        text = page.read_text(encoding="utf-8")
        if fill_page(text, cells, printed, page.name) != text:
            yield f"{page.name}: what its cells show is not what they print now (tools/notebooks.py fill)"
        for cell, line in not_on_page(text, cells, printed):
            yield f"{page.name}, cell {cell}: no command of the page prints, in this order: {line}"
        notebook = notebook_of(page)
        if not notebook.exists() or notebook.read_text(encoding="utf-8") != make_notebook(page, cells, printed):
            yield f"{notebook.name} is not what its page gives (tools/notebooks.py write)"


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(SOURCE))


def do_page(command, path, build):
    """Runs a command for a file of cells; yields what is wrong."""
    cells = read_cells(path)
    printed = printed_before(path) if command == "text" else run_cells(cells, path, build)
    if command == "check":
        yield from check_page(path, cells, printed)
        return
    for page in pages_of(path):
        text = page.read_text(encoding="utf-8")
        if command == "fill":
            write_if_changed(page, fill_page(text, cells, printed, page.name))
            yield from (f"{page.name}, cell {cell}: no command of the page prints, in this order: {line}"
                        for cell, line in not_on_page(text, cells, printed))
        else:
            write_if_changed(notebook_of(page), make_notebook(page, cells, printed))


def main():
    parser = argparse.ArgumentParser(usage="tools/notebooks.py fill|check|write|text [--build BUILD] [PAGE...]")
    parser.add_argument("command", choices=("fill", "check", "write", "text", "run"))
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    arguments = parser.parse_intermixed_args()
    if arguments.command == "run":  # in the folder of a page: see run_cells
        return run_here(arguments.pages[0])
    files, status = cell_files(), 0
    for name in arguments.pages or files:
        try:
            if name not in files:
                raise Wrong(f"{name} has no cells: there is no file {name}.py in {' or '.join(FOLDERS)}")
            for wrong in do_page(arguments.command, files[name], arguments.build.resolve()):
                print(wrong, file=sys.stderr)
                status = 1
        except (Wrong, SyntaxError) as error:
            print(error, file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
