from typing import Any, Literal

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
    def __init__(self, text: str, score: float, log_prob: float, tokens: list[int] | None,
                 token_log_probs: list[float] | None, alignment: Array | None) -> None: ...

class Translation(Result):
    hypotheses: list[Hypothesis]
    cut: bool
    source_tokens: list[int] | None
    unknown_words: list[str]
    lacks_terms: bool
    def __init__(self, hypotheses: list[Hypothesis], cut: bool, source_tokens: list[int] | None,
                 unknown_words: list[str], lacks_terms: bool = False) -> None: ...
    @property
    def text(self) -> str: ...
    def _repr_html_(self) -> str: ...

class Completion(Result):
    text: str
    tokens: list[int]
    log_probs: list[float] | None
    prompt_tokens: int
    finish_reason: Literal["length", "stop", "end_of_text"]
    score: float

class TokenStep(Result):
    id: int | None
    text: str
    log_prob: float
    top: list[tuple[int, float]]

class Prediction(Result):
    ids: list[int]
    tokens: list[str]
    probabilities: list[float]
    label: int | None
    loss: float | None

class LensPrediction(Result):
    ids: list[int]
    tokens: list[str]
    probabilities: list[float]
    label: int | None
    loss: float | None
    label_rank: int | None
    choice_rank: int
    choice_probability: float

class _Score(Result):
    tokens: list[int]
    log_probs: list[float]
    @property
    def log_prob(self) -> float: ...

class PairScore(_Score): ...
class TextScore(_Score): ...

class Relevance(Result):
    index: int
    score: float
    logit: float
    cut: bool

class Loss(Result):
    nll: float
    tokens: int
    skipped: int
    loss: float
    perplexity: float
