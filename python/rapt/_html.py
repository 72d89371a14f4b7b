"""Pieces of HTML that notebooks show."""
import os

SUMMARY = '<summary style="display:list-item">'  # the classic notebook leaves out its triangle otherwise


class Html(str):
    """HTML as text: a notebook shows it, `save` writes it to a file."""
    __slots__ = ()

    def _repr_html_(self):
        return str(self)

    def save(self, path):
        """Writes the page to a file, in UTF-8."""
        with open(os.fspath(path), "w", encoding="utf-8", newline="\n") as file:
            file.write(self)
