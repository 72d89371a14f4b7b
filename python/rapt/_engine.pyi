from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Literal, Self, overload

from ._model import Model, _Prompt, _Stops, _Texts
from ._results import Completion, Translation

class Engine:
    def __init__(self, *, threads: int | None = None) -> None: ...
    def add(self, model: Model, *, slots: int | None = None, kv_memory: int | None = None, source: str | None = None,
            target: str | None = None, split: Literal["as_trained", "long", "all"] | None = None,
            detokenize: bool = True) -> int: ...
    async def generate(self, model: int, prompt: _Prompt, *, max_tokens: int | None = None, temperature: float | None = None,
                       greedy: bool | None = None, top_k: int | None = None, top_p: float | None = None,
                       min_p: float | None = None, typical_p: float | None = None, repetition_penalty: float | None = None,
                       repetition_window: int | None = None, presence_penalty: float | None = None,
                       frequency_penalty: float | None = None, seed: int | None = None, sample: int = 0, stop: _Stops = (),
                       logit_bias: Mapping[int, float] | None = None,
                       json_schema: Mapping[str, object] | bool | str | None = None) -> Completion: ...
    @overload
    async def translate(self, model: int, text: str, *, beam: int | None = None, n_best: int | None = None,
                        length_penalty: float | None = None, coverage_penalty: float | None = None,
                        patience: float | None = None, max_ratio: float | None = None, no_repeat_ngram: int | None = None,
                        min_length: int | None = None, suppress: _Texts | None = None, glossary: Mapping[str, str] | None = None,
                        prefix: str | None = None, temperature: float | None = None, top_k: int | None = None,
                        top_p: float | None = None, min_p: float | None = None, typical_p: float | None = None,
                        repetition_penalty: float | None = None, seed: int | None = None,
                        alignment: bool = False, tokens: bool = False, alternatives: bool = False,
                        replace_unknown: bool = False, format: Literal["text", "html", "xml"] = "text",
                        ignore_tags: str | Sequence[str] | None = None, splitting_tags: str | Sequence[str] | None = None,
                        non_splitting_tags: str | Sequence[str] | None = None, outline_detection: bool = True) -> Translation: ...
    @overload
    async def translate(self, model: int, text: _Texts, *, beam: int | None = None, n_best: int | None = None,
                        length_penalty: float | None = None, coverage_penalty: float | None = None,
                        patience: float | None = None, max_ratio: float | None = None, no_repeat_ngram: int | None = None,
                        min_length: int | None = None, suppress: _Texts | None = None, glossary: Mapping[str, str] | None = None,
                        prefix: str | None = None, temperature: float | None = None, top_k: int | None = None,
                        top_p: float | None = None, min_p: float | None = None, typical_p: float | None = None,
                        repetition_penalty: float | None = None, seed: int | None = None,
                        alignment: bool = False, tokens: bool = False, alternatives: bool = False,
                        replace_unknown: bool = False, format: Literal["text", "html", "xml"] = "text",
                        ignore_tags: str | Sequence[str] | None = None, splitting_tags: str | Sequence[str] | None = None,
                        non_splitting_tags: str | Sequence[str] | None = None,
                        outline_detection: bool = True) -> list[Translation]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None: ...
