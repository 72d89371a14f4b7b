"""rapt: Transformers on CPUs: train, run and look into them.

    import rapt
    with rapt.Model.load("models/quickstart") as model:
        print(model.translate("Where are my keys?"))

The package is a thin layer around the C library of the same name, and gives the same bytes as the program `rapt`. NumPy, PyTorch
and pandas are optional: arrays speak the buffer protocol and DLPack. The modules of the book are in `rapt.nn`.
"""
from ._rapt import (Array, Error, FormatError, InterruptedRunError, InvalidValueError, IOFailure, NotFiniteError, NotFoundError,
                    OutOfMemoryError, ShapeError, version as __version__)
from ._engine import Engine
from ._explanation import Explanation
from ._figures import array_heatmap, array_html
from ._html import Html
from ._metrics import (BLEU, CHRF, Score, book_bleu, corpus_bleu, corpus_chrf, sentence_bleu, sentence_chrf)
from ._model import Encoder, LanguageModel, Model, Translator
from ._process import average, convert, info, threads
from ._recipe import Recipe
from ._results import Completion, Hypothesis, Loss, Prediction, TextScore, TokenStep, Translation
from ._stream import Stream
from ._tokenizer import Encoding, Tokenizer
from ._train import Run, Step, train

__all__ = ["Array", "BLEU", "CHRF", "Completion", "Encoder", "Encoding", "Engine", "Error", "Explanation", "FormatError",
           "Html", "Hypothesis", "IOFailure", "InterruptedRunError", "InvalidValueError", "LanguageModel", "Loss", "Model",
           "NotFiniteError", "NotFoundError", "OutOfMemoryError", "Prediction", "Recipe", "Run", "Score", "ShapeError",
           "Step", "Stream", "TextScore", "TokenStep", "Tokenizer", "Translation", "Translator", "__version__", "average",
           "book_bleu", "convert", "corpus_bleu", "corpus_chrf", "info", "sentence_bleu", "sentence_chrf", "threads", "train"]

Array.heatmap = array_heatmap
Array._repr_html_ = array_html


def __getattr__(name):
    """rapt.nn and rapt.optim are imported when they are first used."""
    if name in ("nn", "optim"):
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'rapt' has no attribute {name!r}")
