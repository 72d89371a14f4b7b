"""The Python cells of the pages, and their notebooks: tools/notebooks.py."""
import ast
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import rapt
import support

try:
    import ipykernel
    import nbclient
    import nbformat
except ImportError:
    nbclient = ipykernel = None

spec = importlib.util.spec_from_file_location("notebooks", support.SOURCE / "tools" / "notebooks.py")
notebooks = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
spec.loader.exec_module(notebooks)
sys.dont_write_bytecode = before
BUILD = pathlib.Path(rapt._rapt.__file__).parents[2] # pages need its programs only where their cells say so


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code_of(path):
    """The code of the cells of a notebook."""
    return ["".join(cell["source"]) for cell in read(path)["cells"] if cell["cell_type"] == "code"]


def printed_by(path):
    """What the code cells of a notebook have printed, as its file says."""
    return ["".join(text for output in cell["outputs"] for text in output["text"])
            for cell in read(path)["cells"] if cell["cell_type"] == "code"]


class Pages(unittest.TestCase):
    """A test for each file of cells: the page shows what they print, the notebook has their code and what they print."""

    def check(self, path):
        cells = notebooks.read_cells(path)
        made = [notebooks.notebook_of(page) for page in notebooks.pages_of(path)]
        for notebook in made:
            self.assertEqual(code_of(notebook), [cell.code.rstrip("\n") for cell in cells], notebook.name)
        self.assertEqual(list(notebooks.check_page(path, cells, notebooks.run_cells(cells, path, BUILD))), [])


def add_test(name, path):
    setattr(Pages, f"test_{re.sub('[^a-z0-9]', '_', name)}", lambda self: self.check(path))


for name, path in notebooks.cell_files().items():
    add_test(name, path)


@unittest.skipUnless(nbclient and ipykernel, "needs nbclient, nbformat and ipykernel")
class FrontEnd(unittest.TestCase):
    """The notebooks as a front end runs them."""

    def run_notebook(self, path):
        """In a kernel of its own: this Python, whatever "python3" is elsewhere."""
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        with tempfile.TemporaryDirectory() as folder:
            notebooks.make_folder(pathlib.Path(folder), BUILD)
            kernel = pathlib.Path(folder) / "jupyter/kernels/rapt/kernel.json"
            kernel.parent.mkdir(parents=True)
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            kernel.write_text(json.dumps({"argv": command, "display_name": "rapt", "language": "python"}), encoding="utf-8")
            with mock.patch.dict(os.environ, JUPYTER_PATH=f"{folder}/jupyter", PYTHONPATH=os.pathsep.join(sys.path)):
                nbclient.NotebookClient(notebook, kernel_name="rapt", resources={"metadata": {"path": folder}}).execute()
        return notebook

    def test_the_kernel_is_this_python(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "which.ipynb"
            nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import sys\nprint(sys.executable)")]), path)
            self.assertEqual(self.run_notebook(path)["cells"][0]["outputs"][0]["text"], sys.executable + "\n")

    def test_they_print_what_their_files_say(self):
        for path in (notebooks.notebook_of(notebooks.pages_of(cells)[0]) for cells in notebooks.cell_files().values()):
            with self.subTest(path.name):
                printed = ["".join(output["text"] for output in cell["outputs"] if output["output_type"] == "stream")
                           for cell in self.run_notebook(path)["cells"] if cell["cell_type"] == "code"]
                self.assertEqual(printed, printed_by(path))


class Notebooks(unittest.TestCase):
    def test_every_notebook_has_a_page(self):
        files = notebooks.cell_files().values()
        pages = {notebooks.notebook_of(page).name for path in files for page in notebooks.pages_of(path)}
        self.assertEqual({path.name for path in (support.SOURCE / notebooks.NOTEBOOKS).glob("*.ipynb")}, pages)
        self.assertGreater(len(pages), 0)

    def test_every_page_is_a_notebook(self):
        """Each chapter and each tutorial, in every language."""
        files = [path for folder in notebooks.FOLDERS for path in (support.SOURCE / folder).glob("*.md")]
        pages = [page for page in files if notebooks.is_page(page)]
        self.assertEqual([page.name for page in pages if not notebooks.notebook_of(page).exists()], [])
        self.assertGreaterEqual(len(pages), 18)

    def test_links_lead_somewhere(self):
        for path in (support.SOURCE / notebooks.NOTEBOOKS).glob("*.ipynb"):
            notebook = read(path)
            text = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
            links = [link[2] for link in notebooks.LINK.finditer(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))]
            self.assertGreater(len(links), 0, path.name)
            for link in links:
                if "://" not in link and not link.startswith("#"):
                    self.assertTrue((path.parent / link.partition("#")[0]).exists(), f"{path.name}: {link}")

    def test_outside_of_the_sources_they_say_so(self):
        """A loop that climbs to the root of the sources ends at the root of the file system."""
        found = 0
        for path in notebooks.cell_files().values():
            for statement in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(statement, ast.While) and "chdir" in ast.unparse(statement):
                    code = "import os\n" + ast.unparse(statement).replace("exists('recipes')", "exists('no-such-folder')")
                    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
                    self.assertIn("FileNotFoundError: no folder above", ended.stderr, path.name)
                    found += 1
        self.assertGreaterEqual(found, 5)

    def test_identifiers_are_valid(self):
        """nbformat 4.5: each cell has an id of its own, of letters, digits, - and _, at most 64."""
        for path in (support.SOURCE / notebooks.NOTEBOOKS).glob("*.ipynb"):
            notebook = read(path)
            ids = [cell["id"] for cell in notebook["cells"]]
            self.assertEqual(len(set(ids)), len(ids), path.name)
            for name in ids:
                self.assertRegex(name, r"\A[A-Za-z0-9_-]{1,64}\Z")


PAGE = """# Try

<!-- file: nothing -->
See [this](../start.md#more), [that](02-try.md), [below](#all-of-it) and [elsewhere](https://example.org/a.md).

```
$ build/examples/try
weights: [2, 3]
tensor([[ 1.,  2.]])
12.5
```

## All of it

<!-- cell one -->
<!-- end -->
text
<!-- cell two -->
<!-- end -->
"""
CELLS = """# %% one
x = 2
print("weights: [2,", "3]")

# %% two (own)
print(x + 40)
"""


RULE = """# Rule

```
inputs: 4 6
```

```
read: 31
$ build/examples/rule --set x=77
tensor([[1., 2.],
        [3., 4.],

        [5., 6.]])
loss 17,000 at 12:30 of 2024-11-05: 35/37 or 71%
from 0.25 to 0.75
$ build/examples/rule again
        [8., 9.]])
a:  10
b:  20
```

```sh
$ build/examples/rule --seed
seed 41
```
"""


class Rule(unittest.TestCase):
    """What a cell prints stands in what the commands of the page print."""

    def refused(self, *printed):
        cells = [notebooks.Cell("one", "", 0, False)]
        return [line for _, line in notebooks.not_on_page(RULE, cells, ["\n".join(printed) + "\n"])]

    def test_only_what_commands_print_counts(self):
        for line in ("inputs: 4 6", "read: 31", "77", "x=77", "seed 41"):
            self.assertEqual(self.refused(line), [line])
        self.assertEqual(self.refused("a: 10"), [])

    def test_a_part_of_a_number_is_none(self):
        for line in ("17", "000", "loss 17", "12", "30", "2024", "11", "05", "35", "37", "71", "0.2", "25", "75", "from 0"):
            self.assertEqual(self.refused(line), [line])
        for line in ("loss 17,000", "17,000", "12:30", "2024-11-05", "35/37", "71%", "0.25", "0.75"):
            self.assertEqual(self.refused(line), [])

    def test_lines_in_their_order(self):
        self.assertEqual(self.refused("from 0.25", "to 0.75", "a: 10", "text", "b: 20"), [])
        self.assertEqual(self.refused("b: 20", "a: 10"), ["a: 10"])
        self.assertEqual(self.refused("to 0.75", "from 0.25"), ["from 0.25"])
        self.assertEqual(self.refused("a: 10", "a: 10"), ["a: 10"])

    def test_rows_follow_one_another(self):
        self.assertEqual(self.refused("tensor([[1., 2.],", "        [3., 4.],", "        [5., 6.]])"), [])
        self.assertEqual(self.refused("tensor([[1., 2.],", "", "        [3., 4.]"), [])
        self.assertEqual(self.refused("[3., 4.],", "[1., 2.],"), ["[1., 2.],"])
        self.assertEqual(self.refused("[1., 2.],", "[5., 6.]])"), ["[5., 6.]])"])
        self.assertEqual(self.refused("from 0.25,", "a: 10"), ["from 0.25,"])
        self.assertEqual(self.refused("[1., 2.],", "...,", "[5., 6.]])"), ["...,"])


class Tool(unittest.TestCase):
    """The tool itself, on a page that is known."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name in (*notebooks.FOLDERS, notebooks.NOTEBOOKS, "examples", "recipes", "data", "build"):
            (self.root / name).mkdir(parents=True)
        for name in ("docs/start.md", "docs/book/02-try.md"):
            (self.root / name).touch()
        self.addCleanup(setattr, notebooks, "SOURCE", notebooks.SOURCE)
        notebooks.SOURCE = self.root
        self.path, self.page = self.root / "docs/book/01-try.py", self.root / "docs/book/01-try.md"
        self.path.write_text(CELLS, encoding="utf-8")
        self.page.write_text(PAGE, encoding="utf-8")

    def do(self, command):
        with contextlib.redirect_stdout(io.StringIO()):
            return list(notebooks.do_page(command, self.path, self.root / "build"))

    def edit(self, path, before, after):
        text = path.read_text(encoding="utf-8")
        self.assertIn(before, text)
        path.write_text(text.replace(before, after), encoding="utf-8")

    def make(self):
        self.assertEqual((self.do("fill"), self.do("write"), self.do("check")), ([], [], []))

    def test_fills_and_finds_what_differs(self):
        self.assertEqual(len(self.do("check")), 2)
        self.make()
        shown = self.page.read_text(encoding="utf-8")
        self.assertIn('<!-- cell one -->\n```python\nx = 2\nprint("weights: [2,", "3]")\n```\n```\nweights: [2, 3]\n```\n'
                      "<!-- end -->\ntext\n", shown)
        self.assertIn("```python\nprint(x + 40)\n```\n```\n42\n```\n", shown)
        self.edit(self.page, "\n42\n", "\n43\n")
        self.assertRegex(self.do("check")[0], "not what they print now")
        self.make()
        self.edit(self.page, "\ntext\n", "\nother text\n")
        self.assertEqual(self.do("check"), ["01-try.ipynb is not what its page gives (tools/notebooks.py write)"])
        self.assertEqual((self.do("text"), self.do("check")), ([], []))

    def test_both_languages(self):
        self.make()
        chinese = self.root / "docs/book/01-try.zh-CN.md"
        chinese.write_text(PAGE.replace("[that](02-try.md)", "[那](02-try.zh-CN.md)").replace("## All of it", "## 全部"
                           ).replace("#all-of-it", "#全部"), encoding="utf-8")
        self.assertEqual(len(self.do("check")), 2)
        self.make()
        path = self.root / notebooks.NOTEBOOKS / "01-try.zh-CN.ipynb"
        self.assertIn("[那](02-try.zh-CN.ipynb), [below](#全部)", "".join(read(path)["cells"][0]["source"]))
        self.assertEqual(printed_by(path), ["weights: [2, 3]\n", "42\n"])

    def test_notebook(self):
        self.make()
        path = self.root / notebooks.NOTEBOOKS / "01-try.ipynb"
        notebook = read(path)
        self.assertEqual([cell["cell_type"] for cell in notebook["cells"]], ["markdown", "markdown", "code", "markdown", "code"])
        text = "".join(notebook["cells"][0]["source"])
        self.assertNotIn("<!--", text)
        self.assertIn("[this](../start.md#more), [that](02-try.ipynb), [below](#All-of-it)", text)
        self.assertIn("[elsewhere](https://example.org/a.md)", text)
        self.assertEqual(printed_by(path), ["weights: [2, 3]\n", "42\n"])
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))

    def test_other_numbers_than_the_page_are_found(self):
        self.make()
        for line, found in (('print("weights: [2, 4]")', True), ('print("12.5")', False), ('print("2.5")', True),
                            ('print("12")', True), ('print("eights: [2, 3]")', True), ('print("text alone")', False)):
            self.path.write_text(f"# %% one\n{line}\n# %% two (own)\nprint(7)\n", encoding="utf-8")
            self.assertEqual(bool([wrong for wrong in self.do("fill") if "no command" in wrong]), found, line)

    def test_refuses(self):
        for cells, message in (("print(1)\n", "no cells"), ("# %% One\n", "a cell begins with"),
                               ("# %% one\n# %% one\n", "two cells are called one"),
                               ("# %% two\nx = 1\n# %% one\ny = 1\n", "in their order: one, two"),
                               ("# %% one\nx = 1\n", "in their order: one, two"),
                               ("# %% one\nx = 2\nx\n# %% two\nprint(x)\n", "print\\(\\) this one"),
                               ("# %% one\nx = 2\n# %% two\nx = 1 / 0\n", "01-try.py\", line 4.*ZeroDivisionError"),
                               ("# %% one\nx = 2\n# %% two\nprint('x' * 200000)\n", "are too many")):
            self.path.write_text(cells, encoding="utf-8")
            with self.assertRaisesRegex(notebooks.Wrong, f"(?s){message}", msg=cells):
                self.do("fill")
                self.do("write")


if __name__ == "__main__":
    unittest.main()
