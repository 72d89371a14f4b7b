"""One pass of a model over a text, with all that it computed."""
from _collections_abc import Mapping # collections.abc, which costs two milliseconds more to import

from ._html import Html
from ._results import LensPrediction, Prediction


class Explanation(Mapping):
    """All named intermediates of a forward pass over a text: a mapping from names to Arrays of float32, read-only, in the order
    of computation. With gradients, "grad:NAME" is the gradient of the loss by the intermediate or parameter NAME.

    rapt/observe.h lists the names, formulas and axes. Arrays keep the pass in memory, and the model: Model.close raises
    BufferError while one is in use.
    """
    __slots__ = ("_handle", "_tokenizer", "_arrays", "_formulas")

    def __init__(self):
        raise TypeError("explanations are made by Model.explain")

    @classmethod
    def _of(cls, handle, tokenizer):
        e = object.__new__(cls)
        e._handle = handle
        e._tokenizer = tokenizer
        e._arrays = {}
        e._formulas = {}
        for name, formula, is_gradient, array in handle.items():
            key = "grad:" + name if is_gradient else name
            e._arrays[key] = array
            e._formulas[key] = formula
        return e

    def __getitem__(self, name):
        return self._arrays[name]

    def __iter__(self):
        return iter(self._arrays)

    def __len__(self):
        return len(self._arrays)

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        tokens = ", ".join(f"{len(labels)} tokens of {name}" for name, labels in self.sequences.items())
        return f"<rapt.Explanation: {len(self)} arrays, {tokens}>"

    @property
    def formulas(self):
        """A dict from the same names to how each is computed ("softmax(masked)"); None for gradients of parameters."""
        return dict(self._formulas)

    @property
    def sequences(self):
        """A dict from "source" and "target", or "text", to the labels of its tokens ("3 chat"), as axes of arrays count them. A
        space is written as an open box."""
        return {name: labels for name, _, labels, _ in self._handle.sequences()}

    @property
    def ids(self):
        """A dict from the same names to ids."""
        return {name: ids for name, ids, _, _ in self._handle.sequences()}

    @property
    def unknown_words(self):
        """Words of the texts that the model reads as <unk>, each once."""
        return [word for *_, unknown in self._handle.sequences() for word in unknown]

    @property
    def target(self):
        """The target of a translation model, as it was given or as the model wrote it; None for a language model."""
        return self._handle.summary()[1]

    @property
    def loss(self):
        """The mean loss over all labels in nats; None without gradients."""
        return self._handle.summary()[0] if any(name.startswith("grad:") for name in self) else None

    def predictions(self):
        """A list with a Prediction of five tokens after each token of the last sequence; the label is the token that follows."""
        return [Prediction(ids, texts_of(self._tokenizer, ids), probabilities, label, loss)
                for ids, probabilities, label, loss in self._handle.predictions()]

    def lens(self):
        """The logit lens: what the language model or the decoder would predict if it stopped after 0, 1, ... of its blocks. A
        list with a list for each of these depths, of a LensPrediction after each token of the last sequence. The last one has the
        model's own predictions. ValueError: Model.explain was called without `lens`."""
        depths = self._handle.lens()
        if not depths:
            raise ValueError("there is no logit lens: explain(..., lens=True)")
        return [[LensPrediction(ids, texts_of(self._tokenizer, ids), probabilities, label, loss, rank or None, *choice)
                 for (ids, probabilities, label, loss), rank, *choice in row] for row in depths]

    def attention(self, module=None):
        """The attention weights of a module ("decoder.1.cross_attention"): an Array [head, query, key]; by default of the last
        cross-attention, or else of the last attention. KeyError: there is none, or it was not kept."""
        if module is None:
            from ._explanation_html import last_attention
            name = last_attention(self)
            if name is None:
                raise KeyError("no attention weights were kept")
            return self[name][0]
        return self[module + ".weights"][0]

    def text(self, *, full=False, table=False, width=None, all_positions=False):
        """What `rapt explain` prints: all elements with `full`, matrices as tables of `width` columns with `table`, predictions
        (and the logit lens) after each token with `all_positions`."""
        return self._handle.written("text", {"full": full, "table": table, "width": width, "all_positions": all_positions})

    def json(self, *, full=False):
        """What `rapt explain --json` prints: statistics of each intermediate, and with `full` its elements."""
        return self._handle.written("json", {"full": full})

    def html(self, *, full=False, book=None):
        """The page of `rapt explain --html`, an Html of at most 3 MB, or of any size with `full`. It needs no network. It names
        chapters of the book, and links them if `book` is the address of docs/book: http://, https://, file://, or relative to
        the page. ValueError: another scheme."""
        return Html(self._handle.written("html", {"full": full, "book": book}))

    def save(self, path, *, full=False, book=None):
        """Writes the page to a file; a path that ends with .json or .txt gets JSON or text, for which `book` is an error."""
        import os
        kind = os.path.splitext(os.fsdecode(path))[1]
        if kind in (".json", ".txt"):
            if book is not None:
                raise ValueError(f"book: only a page has links, not a file that ends with {kind}")
            written = self.json(full=full) if kind == ".json" else self.text(full=full)
        else:
            written = self.html(full=full, book=book)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(written)

    def statistics(self):
        """A list with a dict for each array: name, gradient, formula, axes, shape, and min, mean, max and std of the finite
        elements (None where there are none)."""
        import json
        keys = ("name", "gradient", "formula", "axes", "shape", "min", "mean", "max", "std")
        return [{key: step.get(key) for key in keys} for step in json.loads(self.json())["steps"]]

    def frame(self):
        """statistics() as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(self.statistics())

    def _repr_html_(self):
        from ._explanation_html import page
        return page(self)


def texts_of(tokenizer, ids):
    """The text of each id; bytes that are no characters by themselves are U+FFFD."""
    return [(tokenizer.token(id) or b"").decode("utf-8", "replace") for id in ids]
