"""Models: a folder of rapt or Hugging Face, or a GGUF file, loaded for inference or training."""
from . import _rapt
from ._results import Hypothesis, Loss, Translation
from ._tokenizer import Tokenizer


class Model:
    """A loaded model. `Model.load` returns a Translator, a LanguageModel or an Encoder."""
    __slots__ = ("_handle", "folder", "__weakref__")

    def __init__(self):
        raise TypeError("models are made by Model.load")

    @staticmethod
    def load(folder, *, adapter=None, precision=None, weights=None, kv_cache=None, threads=None, trainable=False):
        """Loads a model folder of rapt or Hugging Face, or a GGUF file.

        adapter    a folder of low-rank adapters (PEFT's), which are added to the model
        precision  "fp32", "bf16", "q8_0" or "q4_0": the numeric type of matrix products and held weights
        weights    types by patterns of names, "q8_0,blocks.0.*=fp32"
        kv_cache   "fp32", "bf16" or "q8_0": the type of cached keys and values
        threads    1 to 256; default: RAPT_THREADS, or else the CPUs that this process may use
        trainable  read all parameters into memory now, writable, and pack them in each call anew; if false, matrices stay in
                   their files, which must not be overwritten meanwhile

        Raises NotFoundError, IOFailure, FormatError (damaged files) or InvalidValueError (an option out of range).
        """
        options = {"precision": precision, "weights": weights, "kv_cache": kv_cache, "threads": threads}
        return Model._of(_rapt.load(folder, adapter, trainable, options, None), folder)

    @staticmethod
    def _of(handle, folder):
        model = object.__new__(_CLASSES[handle.task()])
        model._handle = handle
        model.folder = folder
        return model

    @property
    def task(self):
        """"translation", "language_model" or "encoder"."""
        return self._handle.task()

    @property
    def parameters(self):
        """A dict of all parameters by name, each an Array of float32 in place: no copy is made. They can be written if the model
        was loaded with trainable=True."""
        return self._handle.parameters()

    @property
    def config(self):
        """The folder's config.json: sizes, kinds of layers, special tokens. InvalidValueError: a GGUF file that was loaded
        without trainable=True."""
        from ._process import config
        return config(self)

    def info(self):
        """What `rapt info --json` says about the model's folder: config.json with the number of parameters and the memory that it
        takes."""
        from ._process import info
        return info(self.folder)

    def state_dict(self, *, names="rapt"):
        """All parameters by name, each an Array of float32.

        names  "rapt": as `parameters`, in place; "hf": as in a Hugging Face folder of the model, read-only, which takes what
               `export` to "hf" takes, and room on the disk for the model meanwhile
        """
        if names == "rapt":
            return self.parameters
        if names != "hf":
            raise ValueError(f"names is {names!r}; it can be: 'rapt', 'hf'")
        from ._safetensors import exported
        return exported(self)

    def load_state_dict(self, values, *, strict=True):
        """Writes parameters of a model that was loaded with trainable=True, all or none: a mapping from names of `parameters` to
        arrays of NumPy, PyTorch or another package, Arrays, or nested lists, whose numbers are rounded to float32. Do not call it
        while another thread uses the model.

        strict  all parameters must be there

        ShapeError: an array of another shape; ValueError: an unknown name, or a parameter that is missing."""
        self._handle.load_state(dict(values), strict)

    def save(self, folder):
        """Writes a folder that Model.load reads; a model of a Hugging Face folder becomes such a folder again. InvalidValueError:
        a Hugging Face model that was loaded without trainable=True."""
        self._handle.save(folder)

    def export(self, path, to, *, weights=None, on_progress=None):
        """Writes the model for another program: a new folder or file, whole or not at all.

        to           "hf" (a folder that transformers reads), "ctranslate2" (a folder), "gguf" (a file for llama.cpp) or "rapt" (a
                     folder with weights in fewer bits, for inference)
        weights      of "gguf" and "rapt", the type of matrices: "fp32", "fp16", "bf16", "q8_0" or "q4_0"
        on_progress  called with (tensor, tensors) while tensors are written

        InvalidValueError, before anything is written: the path exists, or the other program would compute something else; the
        message says what it lacks."""
        self._handle.export(path, {"to": to, "weights": weights}, on_progress)

    def close(self):
        """Frees the model's memory. BufferError while arrays of it are in use, or a call in another thread. Once it is closed,
        every other method raises ValueError; closing again does nothing."""
        self._handle.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def __repr__(self):
        return f"<rapt.{type(self).__name__} {str(self.folder)!r}>"


class Translator(Model):
    """A translation model."""
    __slots__ = ()

    @property
    def source_tokenizer(self):
        """The Tokenizer of sources, part of the model: it keeps the model's memory alive."""
        return Tokenizer._of(self._handle.tokenizer(False))

    @property
    def target_tokenizer(self):
        """The Tokenizer of translations, likewise; equal to source_tokenizer if the model has one vocabulary."""
        return Tokenizer._of(self._handle.tokenizer(True))

    def translate(self, text, *, beam=None, n_best=None, length_penalty=None, max_ratio=None, no_repeat_ngram=None, prefix=None,
                  source=None, target=None, alignment=False, tokens=False, split=None, detokenize=True, should_stop=None):
        """Translates a str to a Translation, or a list or tuple of str to a list of them.

        beam             1 is greedy search; default: as the model says, greedy for models of rapt
        n_best           how many hypotheses to return, 1 to beam
        length_penalty   the exponent of the score, -10 to 10
        max_ratio        a translation has at most 10 tokens plus this many times the tokens of its source
        no_repeat_ngram  no n-gram of this many tokens is repeated
        prefix           a text that the translation begins with; a list of texts or None for a list of lines
        source, target   codes of languages, of models that have tokens for them ("deu_Latn")
        alignment        also return attention weights between tokens; costs a pass for each hypothesis
        tokens           also return tokens and their log-probabilities
        split            "as_trained", "long" or "all": which lines are translated sentence by sentence
        detokenize       False: tokens as the model writes them, joined
        should_stop      a callable without arguments, asked some 50 times a second: true ends the call with InterruptedRunError

        A line's result depends on the line and these options alone. TypeError: text is neither; ValueError: an option is out of
        its range, or a line has a character U+0000; FormatError: a line that the tokenizer cannot read.
        """
        options = {"beam": beam, "n_best": n_best, "length_penalty": length_penalty, "max_ratio": max_ratio,
                   "no_repeat_ngram": no_repeat_ngram, "source": source, "target": target, "alignment": alignment,
                   "tokens": tokens, "split": split, "as_tokens": None if detokenize else True}
        single = isinstance(text, str)
        prefixes = None
        if prefix is None or isinstance(prefix, str):
            options["prefix"] = prefix
        else:
            prefixes = tuple(prefix)
        results = self._handle.translate((text,) if single else text, options, prefixes, should_stop)
        translations = [Translation([Hypothesis(*h) for h in hypotheses], *rest) for hypotheses, *rest in results]
        return translations[0] if single else translations

    def translate_file(self, source, target, **options):
        """Translates the lines of a file of UTF-8 into another, which appears whole or not at all; options: of `translate`.
        Returns a dict: lines, and seconds that it took. The same path for both is refused."""
        from ._process import translate_file
        return translate_file(self, source, target, options)

    def score(self, sources, targets, *, strict=False):
        """The Loss of given translations: lists or tuples of str of equal length.

        strict  a sentence that is too long is an error; False: it is truncated, as in training
        """
        return Loss(*self._handle.score_pairs(sources, targets, strict))


class LanguageModel(Model):
    """A language model, which continues texts."""
    __slots__ = ()

    @property
    def tokenizer(self):
        """The model's Tokenizer, part of it: it keeps the model's memory alive."""
        return Tokenizer._of(self._handle.tokenizer(False))


class Encoder(Model):
    """An encoder, which makes vectors of texts."""
    __slots__ = ()

    @property
    def tokenizer(self):
        """The model's Tokenizer, part of it: it keeps the model's memory alive."""
        return Tokenizer._of(self._handle.tokenizer(False))


_CLASSES = {"translation": Translator, "language_model": LanguageModel, "encoder": Encoder}
