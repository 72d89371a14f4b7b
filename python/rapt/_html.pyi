from os import PathLike

SUMMARY: str

class Html(str):
    def _repr_html_(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
