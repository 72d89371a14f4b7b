from collections.abc import Iterable

from ._explanation import Explanation

TOKENS: int
PREDICTIONS: int
ROWS: int
LABEL: int
TABLE: str

def last_attention(names: Iterable[str]) -> str | None: ...
def page(e: Explanation) -> str: ...
