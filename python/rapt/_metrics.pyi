from collections.abc import Iterable
from typing import Literal

from ._results import Result

_Texts = list[str] | tuple[str, ...]
_Tokenize = Literal["13a", "none", "intl", "char", "zh"]
_Smooth = Literal["exp", "none", "floor", "add-k"]

class Score(Result):
    name: str
    score: float
    signature: str
    counts: list[float] | None
    totals: list[float] | None
    precisions: list[float] | None
    bp: float | None
    sys_len: int | None
    ref_len: int | None
    def __float__(self) -> float: ...

class _Metric:
    def corpus_score(self, hypotheses: _Texts, references: Iterable[_Texts]) -> Score: ...
    def sentence_score(self, hypothesis: str, references: Iterable[str]) -> Score: ...

class BLEU(_Metric):
    def __init__(self, *, lowercase: bool = False, tokenize: _Tokenize = "13a", smooth_method: _Smooth = "exp",
                 smooth_value: float | None = None, effective_order: bool = False) -> None: ...

class CHRF(_Metric):
    def __init__(self, *, char_order: int = 6, word_order: int = 0, beta: float = 2, lowercase: bool = False,
                 whitespace: bool = False, eps_smoothing: bool = False) -> None: ...

def corpus_bleu(hypotheses: _Texts, references: Iterable[_Texts], *, smooth_method: _Smooth = "exp",
                smooth_value: float | None = None, lowercase: bool = False, tokenize: _Tokenize = "13a",
                use_effective_order: bool = False) -> Score: ...
def sentence_bleu(hypothesis: str, references: Iterable[str], *, smooth_method: _Smooth = "exp",
                  smooth_value: float | None = None, lowercase: bool = False, tokenize: _Tokenize = "13a",
                  use_effective_order: bool = True) -> Score: ...
def corpus_chrf(hypotheses: _Texts, references: Iterable[_Texts], *, char_order: int = 6, word_order: int = 0,
                beta: float = 2, remove_whitespace: bool = True, eps_smoothing: bool = False) -> Score: ...
def sentence_chrf(hypothesis: str, references: Iterable[str], *, char_order: int = 6, word_order: int = 0,
                  beta: float = 2, remove_whitespace: bool = True, eps_smoothing: bool = False) -> Score: ...
def book_bleu(prediction: str, label: str, k: int = 2) -> float: ...
