from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, Unpack, overload

from typing_extensions import Buffer

from ._explanation import Explanation
from ._rapt import Array
from ._results import Completion, Loss, PairScore, Prediction, Relevance, TextScore, Translation
from ._stream import Stream
from ._tokenizer import Tokenizer

_Path = str | PathLike[str]
_Texts = list[str] | tuple[str, ...]
_Prompt = str | Sequence[int] | Buffer
_Stops = str | list[str] | tuple[str, ...] | None
_Logits = Callable[[int, Array], None]

class Model:
    folder: str | PathLike[str]
    @staticmethod
    def load(folder: _Path, *, adapter: _Path | None = None, precision: Literal["fp32", "bf16", "q8_0", "q4_0"] | None = None,
             weights: str | None = None, kv_cache: Literal["fp32", "bf16", "q8_0"] | None = None, threads: int | None = None,
             trainable: bool = False) -> Any: ...
    @property
    def task(self) -> Literal["translation", "language_model", "encoder"]: ...
    @property
    def parameters(self) -> dict[str, Array]: ...
    @property
    def config(self) -> dict[str, Any]: ...
    def info(self) -> dict[str, Any]: ...
    def state_dict(self, *, names: Literal["rapt", "hf"] = "rapt") -> dict[str, Array]: ...
    def load_state_dict(self, values: Mapping[str, Any], *, strict: bool = True) -> None: ...
    def save(self, folder: _Path) -> None: ...
    def export(self, path: _Path, to: Literal["hf", "ctranslate2", "gguf", "rapt"], *,
               weights: Literal["fp32", "fp16", "bf16", "q8_0", "q4_0"] | None = None,
               on_progress: Callable[[int, int], object] | None = None) -> None: ...
    def explain(self, text: str, *, target: str | None = None, names: Sequence[str] = (), gradients: bool = False,
                lens: bool = False, strict: bool = False) -> Explanation: ...
    @property
    def heads(self) -> list[str]: ...
    @property
    def heads_off(self) -> list[str]: ...
    def without_heads(self, *names: str) -> Self: ...
    def close(self) -> None: ...
    def _repr_html_(self) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None: ...

class Translator(Model):
    @property
    def source_tokenizer(self) -> Tokenizer: ...
    @property
    def target_tokenizer(self) -> Tokenizer: ...
    @overload
    def translate(self, text: str, *, beam: int | None = None, n_best: int | None = None, length_penalty: float | None = None,
                  coverage_penalty: float | None = None, patience: float | None = None,
                  max_ratio: float | None = None, no_repeat_ngram: int | None = None,
                  min_length: int | None = None, suppress: _Texts | None = None, glossary: Mapping[str, str] | None = None,
                  prefix: str | None = None,
                  temperature: float | None = None, top_k: int | None = None, top_p: float | None = None,
                  min_p: float | None = None, typical_p: float | None = None, repetition_penalty: float | None = None,
                  seed: int | None = None, first_line: int = 0,
                  source: str | None = None, target: str | None = None, alignment: bool = False, tokens: bool = False,
                  alternatives: bool = False,
                  replace_unknown: bool = False, format: Literal["text", "html", "xml"] = "text",
                  ignore_tags: str | Sequence[str] | None = None, splitting_tags: str | Sequence[str] | None = None,
                  non_splitting_tags: str | Sequence[str] | None = None, outline_detection: bool = True,
                  ensemble: Sequence[Translator] = (),
                  split: Literal["as_trained", "long", "all"] | None = None, detokenize: bool = True,
                  should_stop: Callable[[], bool] | None = None) -> Translation: ...
    @overload
    def translate(self, text: _Texts, *, beam: int | None = None, n_best: int | None = None, length_penalty: float | None = None,
                  coverage_penalty: float | None = None, patience: float | None = None,
                  max_ratio: float | None = None, no_repeat_ngram: int | None = None,
                  min_length: int | None = None, suppress: _Texts | None = None, glossary: Mapping[str, str] | None = None,
                  prefix: str | Sequence[str | None] | None = None,
                  temperature: float | None = None, top_k: int | None = None, top_p: float | None = None,
                  min_p: float | None = None, typical_p: float | None = None, repetition_penalty: float | None = None,
                  seed: int | None = None, first_line: int = 0, source: str | None = None, target: str | None = None,
                  alignment: bool = False, tokens: bool = False, alternatives: bool = False,
                  replace_unknown: bool = False, format: Literal["text", "html", "xml"] = "text",
                  ignore_tags: str | Sequence[str] | None = None, splitting_tags: str | Sequence[str] | None = None,
                  non_splitting_tags: str | Sequence[str] | None = None, outline_detection: bool = True,
                  ensemble: Sequence[Translator] = (),
                  split: Literal["as_trained", "long", "all"] | None = None,
                  detokenize: bool = True, should_stop: Callable[[], bool] | None = None) -> list[Translation]: ...
    def translate_file(self, source: _Path, target: _Path, **options: Any) -> dict[str, float]: ...
    def score(self, sources: _Texts, targets: _Texts, *, strict: bool = False,
              should_stop: Callable[[], bool] | None = None) -> Loss: ...
    def score_pairs(self, sources: _Texts, targets: _Texts, *, strict: bool = False,
                    should_stop: Callable[[], bool] | None = None) -> list[PairScore | None]: ...

class _ChatOptions(TypedDict, total=False):
    temperature: float | None
    greedy: bool | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    typical_p: float | None
    repetition_penalty: float | None
    repetition_window: int | None
    presence_penalty: float | None
    frequency_penalty: float | None
    seed: int | None
    beam: int | None
    top_log_probs: int | None
    lookup: int | None
    json_schema: Mapping[str, object] | bool | str | None

class LanguageModel(Model):
    @property
    def tokenizer(self) -> Tokenizer: ...
    @overload
    def generate(self, prompt: _Prompt, *, stream: Literal[False] = False, max_tokens: int | None = None,
                 temperature: float | None = None,
                 greedy: bool | None = None, top_k: int | None = None, top_p: float | None = None, min_p: float | None = None,
                 typical_p: float | None = None, repetition_penalty: float | None = None, repetition_window: int | None = None,
                 presence_penalty: float | None = None, frequency_penalty: float | None = None, seed: int | None = None,
                 sample: int = 0, stop: _Stops = (), beam: int | None = None, top_log_probs: int | None = None,
                 logit_bias: Mapping[int, float] | None = None, lookup: int | None = None,
                 json_schema: Mapping[str, object] | bool | str | None = None, logits: _Logits | None = None,
                 should_stop: Callable[[], bool] | None = None) -> Completion: ...
    @overload
    def generate(self, prompt: _Prompt, *, stream: Literal[True], max_tokens: int | None = None,
                 temperature: float | None = None,
                 greedy: bool | None = None, top_k: int | None = None, top_p: float | None = None, min_p: float | None = None,
                 typical_p: float | None = None, repetition_penalty: float | None = None, repetition_window: int | None = None,
                 presence_penalty: float | None = None, frequency_penalty: float | None = None, seed: int | None = None,
                 sample: int = 0, stop: _Stops = (), beam: int | None = None, top_log_probs: int | None = None,
                 logit_bias: Mapping[int, float] | None = None, lookup: int | None = None,
                 json_schema: Mapping[str, object] | bool | str | None = None, logits: _Logits | None = None,
                 should_stop: None = None) -> Stream: ...
    @overload
    def chat(self, messages: Iterable[Mapping[str, Any]], *, stream: Literal[False] = False,
             variables: Mapping[str, Any] | None = None, tools: Iterable[Mapping[str, Any]] | None = None,
             max_tokens: int | None = 1024, sample: int = 0, stop: _Stops = (),
             logit_bias: Mapping[int, float] | None = None, logits: _Logits | None = None,
             should_stop: Callable[[], bool] | None = None,
             **options: Unpack[_ChatOptions]) -> Completion: ...
    @overload
    def chat(self, messages: Iterable[Mapping[str, Any]], *, stream: Literal[True],
             variables: Mapping[str, Any] | None = None, tools: Iterable[Mapping[str, Any]] | None = None,
             max_tokens: int | None = 1024, sample: int = 0, stop: _Stops = (),
             logit_bias: Mapping[int, float] | None = None, logits: _Logits | None = None, should_stop: None = None,
             **options: Unpack[_ChatOptions]) -> Stream: ...
    def chat_calls(self, reply: str, tools: Iterable[Mapping[str, Any]]) -> tuple[str | None, list[dict[str, str]]]: ...
    def chat_prompt(self, messages: Iterable[Mapping[str, Any]], *, variables: Mapping[str, Any] | None = None,
                    tools: Iterable[Mapping[str, Any]] | None = None, generation_prompt: bool = True) -> str: ...
    def next_token(self, prompt: _Prompt, *, top: int = 5) -> Prediction: ...
    def score(self, texts: list[str] | tuple[str, ...] | list[Sequence[int]] | tuple[Sequence[int], ...], *,
              should_stop: Callable[[], bool] | None = None) -> list[TextScore]: ...
    def perplexity(self, text: str, *, should_stop: Callable[[], bool] | None = None) -> float: ...

class Encoder(Model):
    @property
    def tokenizer(self) -> Tokenizer: ...
    def embed(self, texts: _Texts, *, prompt: str | None = None, pooling: Literal["stored", "mean", "cls", "max"] = "stored",
              normalize: bool | None = None, dimensions: int | None = None,
              should_stop: Callable[[], bool] | None = None) -> Array: ...

class CrossEncoder(Model):
    @property
    def tokenizer(self) -> Tokenizer: ...
    def score(self, pairs: Sequence[tuple[str, str] | list[str]], *,
              should_stop: Callable[[], bool] | None = None) -> list[Relevance]: ...
    def rank(self, query: str, documents: _Texts, *, top: int | None = None,
             should_stop: Callable[[], bool] | None = None) -> list[Relevance]: ...
