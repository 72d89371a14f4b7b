"""The code of docs/python.md and of the Python section of README.md runs as it stands."""
import contextlib
import io
import os
import re
import tempfile
import unittest

import support


def blocks(page):
    """The Python code of a page, with the line on which each block begins."""
    text = (support.SOURCE / page).read_text(encoding="utf-8")
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start(1)), block[1]


class Pages(unittest.TestCase):
    def setUp(self):
        here = os.getcwd()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, here)
        os.chdir(folder.name)
        os.mkdir("models")
        os.symlink(support.translator(), "models/quickstart")
        os.symlink(support.language_model(), "models/shakespeare")

    def run_page(self, page):
        names = {"__name__": page}
        count = 0
        for line, code in blocks(page):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile("\n" * line + code, page, "exec"), names)
            count += 1
        self.assertGreater(count, 0)

    def test_python(self):
        self.run_page("docs/python.md")

    def test_readme(self):
        self.run_page("README.md")

    def test_chinese_readme(self):
        self.run_page("README.zh-CN.md")
