from ._rapt import (Array as Array, Error as Error, FormatError as FormatError, InterruptedRunError as InterruptedRunError,
                    InvalidValueError as InvalidValueError, IOFailure as IOFailure, NotFiniteError as NotFiniteError,
                    NotFoundError as NotFoundError, OutOfMemoryError as OutOfMemoryError, ShapeError as ShapeError,
                    version as __version__)
from ._engine import Engine as Engine
from ._explanation import Explanation as Explanation
from ._html import Html as Html
from ._metrics import (BLEU as BLEU, CHRF as CHRF, Score as Score, book_bleu as book_bleu, corpus_bleu as corpus_bleu,
                       corpus_chrf as corpus_chrf, sentence_bleu as sentence_bleu, sentence_chrf as sentence_chrf)
from ._model import (CrossEncoder as CrossEncoder, Encoder as Encoder, LanguageModel as LanguageModel, Model as Model,
                     Translator as Translator)
from ._process import average as average, convert as convert, info as info, threads as threads
from ._recipe import Recipe as Recipe
from ._results import (Completion as Completion, Hypothesis as Hypothesis, LensPrediction as LensPrediction, Loss as Loss,
                       PairScore as PairScore, Prediction as Prediction, Relevance as Relevance, TextScore as TextScore,
                       TokenStep as TokenStep, Translation as Translation)
from ._stream import Stream as Stream
from ._tokenizer import Encoding as Encoding, Tokenizer as Tokenizer
from ._train import Run as Run, Step as Step, train as train

__all__ = ["Array", "BLEU", "CHRF", "Completion", "CrossEncoder", "Encoder", "Encoding", "Engine", "Error", "Explanation",
           "FormatError", "Html", "Hypothesis", "IOFailure", "InterruptedRunError", "InvalidValueError", "LanguageModel",
           "LensPrediction", "Loss", "Model", "NotFiniteError", "NotFoundError", "OutOfMemoryError", "PairScore",
           "Prediction", "Recipe", "Relevance", "Run", "Score", "ShapeError", "Step", "Stream", "TextScore", "TokenStep",
           "Tokenizer", "Translation", "Translator", "__version__", "average", "book_bleu", "convert", "corpus_bleu",
           "corpus_chrf", "info", "sentence_bleu", "sentence_chrf", "threads", "train"]
