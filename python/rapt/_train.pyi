from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, SupportsIndex

from typing_extensions import Buffer

from ._model import CrossEncoder, Encoder, LanguageModel, Model, Translator
from ._recipe import Recipe
from ._results import Result

_Path = str | PathLike[str]
_Ids = Iterable[SupportsIndex] | Buffer

class Step(Result):
    step: int
    steps: int
    epoch: int
    epochs: int
    epochs_done: float
    loss: float | None
    step_loss: float | None
    loss_book: float | None
    val_loss: float | None
    val_bleu: float | None
    val_chrf: float | None
    val_bleu_book: float | None
    best_val_loss: float | None
    best_score: float | None
    best_step: int | None
    lr: float
    grad_norm: float
    tokens_per_s: float
    seconds: float
    seconds_left: float | None
    report: bool
    sample: str | None

class Run:
    folder: str
    steps: list[Step]
    stopped: bool
    best_step: int | None
    def __init__(self, folder: str) -> None: ...
    def model(self, which: str | int = "last", **options: Any) -> Translator | LanguageModel | Encoder | CrossEncoder: ...
    def log(self) -> list[dict[str, Any]]: ...
    def frame(self) -> Any: ...
    def _repr_html_(self) -> str: ...

def train(recipe: _Path | Mapping[str, Any] | Recipe, out: _Path | None = None, *,
          pairs: Iterable[tuple[str, str] | list[str]] | None = None, text: str | _Ids | None = None,
          validation: Iterable[tuple[str, str] | list[str]] | _Ids | None = None, resume: bool = False,
          init: Model | _Path | None = None, max_steps: int | None = None, threads: int | None = None,
          untrained: bool = False, reset_optimizer: bool = False,
          on_step: Callable[[Step], bool | None] | None = None,
          on_report: Callable[[Step, Any], bool | None] | None = None, on_warning: Callable[[str], object] | None = None,
          show: bool | None = None) -> Run: ...
