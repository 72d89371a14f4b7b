from typing import Any

from ._rapt import Array

class Result:
    def __init__(self, *values: Any) -> None: ...
    def __eq__(self, other: object) -> bool: ...

class Hypothesis(Result):
    text: str
    score: float
    log_prob: float
    tokens: list[int] | None
    token_log_probs: list[float] | None
    alignment: Array | None

class Translation(Result):
    hypotheses: list[Hypothesis]
    cut: bool
    source_tokens: list[int] | None
    unknown_words: list[str]
    @property
    def text(self) -> str: ...
    def _repr_html_(self) -> str: ...

class Loss(Result):
    nll: float
    tokens: int
    skipped: int
    loss: float
    perplexity: float
