"""rapt: Transformers on CPUs: train, run and look into them.

    import rapt
    with rapt.Model.load("models/quickstart") as model:
        print(model.translate("Where are my keys?"))

The package is a thin layer around the C library of the same name, and gives the same bytes as the program `rapt`. NumPy, PyTorch
and pandas are optional: arrays speak the buffer protocol and DLPack. The modules of the book are in `rapt.nn`.
"""
from . import _rapt
from ._rapt import (Array, Error, FormatError, InterruptedRunError, InvalidValueError, IOFailure, NotFiniteError, NotFoundError,
                    OutOfMemoryError, ShapeError, version as __version__)

# Where each name is; a module is imported when one of its names is first used, so that `import rapt` costs no more than a file.
_PLACES = {name: place for place, names in {
    "_engine": "Engine", "_explanation": "Explanation", "_html": "Html", "_recipe": "Recipe", "_stream": "Stream",
    "_metrics": "BLEU CHRF Score book_bleu corpus_bleu corpus_chrf sentence_bleu sentence_chrf",
    "_model": "CrossEncoder Encoder LanguageModel Model Translator", "_process": "average convert info threads",
    "_results": "Completion Hypothesis LensPrediction Loss PairScore Prediction Relevance TextScore TokenStep Translation",
    "_tokenizer": "Encoding Tokenizer", "_train": "Run Step train"}.items() for name in names.split()}

__all__ = ["Array", "Error", "FormatError", "IOFailure", "InterruptedRunError", "InvalidValueError", "NotFiniteError",
           "NotFoundError", "OutOfMemoryError", "ShapeError", "__version__", *_PLACES]


def __getattr__(name):
    if name in ("nn", "optim"):
        return __import__(f"{__name__}.{name}", fromlist=("*",))
    if name not in _PLACES:
        raise AttributeError(f"module 'rapt' has no attribute {name!r}")
    value = getattr(__import__(f"{__name__}.{_PLACES[name]}", fromlist=(name,)), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*__all__, "nn", "optim"])


def _heatmap(self, rows=None, columns=None):
    """A heat map of a matrix, with names for its rows and columns: an Html, which a notebook shows and `save` writes. ValueError:
    the array does not have 2 dimensions, or another number of names."""
    from ._figures import array_heatmap
    return array_heatmap(self, rows, columns)


def _array_html(self):
    from ._figures import array_html
    return array_html(self)


def _format(self, spec):
    return format(float(self), spec) if spec else str(self)


def _unpickled(data, shape, name, axes, is_int):
    return _rapt.array_of(data, 0, shape, name, axes, is_int).copy()


def _reduce(self, protocol):
    """A pickle has a copy of the elements."""
    if type(self) is not Array:
        raise TypeError(f"cannot pickle a {type(self).__name__}: pickle the state_dict() of its module, or detach().tolist()")
    return _unpickled, (memoryview(self).tobytes(), self.shape, self.name, " ".join(self.axes), self.dtype == "int32")


Array.__format__ = _format
Array.__reduce_ex__ = _reduce
Array.heatmap = _heatmap
Array._repr_html_ = _array_html
