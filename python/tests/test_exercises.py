"""The answers to the exercises of docs/book, in both languages: what docs/book/answers/NN-name.py prints stands in them."""
import re
import unittest

import support
from test_notebooks import BUILD, notebooks

BOOK = support.SOURCE / "docs" / "book"
HEADINGS = {"": "Exercises", ".zh-CN": "练习"}


def answers(page, heading):
    """The folded answers of a page, by the number of the exercise: texts in which spaces count as one and backticks do not."""
    section = page.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    parts = re.split(r"(?m)^(\d)\. ", section)
    exercises = zip(parts[1::2], parts[2::2])
    folded = {number: re.findall(r"<details>(.*?)</details>", text, re.S) for number, text in exercises}
    return {number: " ".join("".join(texts).replace("`", "").split()) for number, texts in folded.items() if texts}


def lacking(cells, printed, texts):
    """(exercise, line) of each line that a cell prints and its answer does not have."""
    for cell, out in zip(cells, printed):
        for line in map(notebooks.one_space, out.splitlines()):
            if line and not re.search(notebooks.whole(line), texts.get(cell.name, ""), re.ASCII):
                yield cell.name, line


class Exercises(unittest.TestCase):
    """A test for each file of answers: its cells have the numbers of the exercises, and run after the cells of the page."""

    def check(self, path):
        cells, own = notebooks.read_cells(BOOK / path.name), notebooks.read_cells(path)
        printed = notebooks.run_cells(cells + own, BOOK / path.name, BUILD)[len(cells):]
        for page in notebooks.pages_of(BOOK / path.name):
            texts = answers(page, HEADINGS[page.name.removeprefix(path.stem).removesuffix(".md")])
            self.assertEqual(sorted(texts), ["1", "2", "3"], page.name)
            self.assertEqual(list(lacking(own, printed, texts)), [], page.name)

    def test_every_page_with_exercises_has_answers_that_are_run(self):
        """By a file of answers, or by a cell of the page."""
        texts = {page: page.read_text(encoding="utf-8") for page in BOOK.glob("[0-9]*[a-z0-9].md")}
        pages = [page for page, text in texts.items() if "\n## Exercises\n" in text and "<!-- cell answers -->" not in text]
        self.assertEqual([page.name for page in pages if not (BOOK / "answers" / f"{page.stem}.py").exists()], [])

    def test_a_number_that_the_answer_lacks_is_found(self):
        cell = notebooks.Cell("1", "", 0, False)
        self.assertEqual(list(lacking([cell], ["12  tokens\n7\n"], {"1": "共12 tokens，即7个"})), [])
        self.assertEqual(list(lacking([cell], ["12\n"], {"1": "3.12, 12.5, 112", "2": "12"})), [("1", "12")])


for path in sorted((BOOK / "answers").glob("*.py")):
    setattr(Exercises, f"test_{path.stem.replace('-', '_')}", lambda self, path=path: self.check(path))

if __name__ == "__main__":
    unittest.main()
