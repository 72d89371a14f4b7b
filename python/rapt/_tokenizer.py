"""Tokenizers: from texts to ids and back."""
from . import _rapt
from ._results import Result


class Encoding(Result):
    """A text as tokens.

    ids      Array [time] of int32
    tokens   the text of each; bytes that are no characters by themselves are U+FFFD (Tokenizer.token returns the bytes)
    offsets  (begin, end) of each in the text, in characters; (0, 0) for tokens that do not come from the text
    """
    __slots__ = ("ids", "tokens", "offsets")

    def __len__(self):
        return len(self.tokens)


class Tokenizer:
    """A tokenizer of any kind. It never changes: threads can share it. Two that do the same are equal."""
    __slots__ = ("_handle", "__weakref__")

    def __init__(self):
        raise TypeError("tokenizers are made by Tokenizer.load, from_bytes, train_bpe, train_words and train_characters")

    @classmethod
    def _of(cls, handle):
        tokenizer = object.__new__(cls)
        tokenizer._handle = handle
        return tokenizer

    @classmethod
    def load(cls, path):
        """Loads a tokenizer file of rapt, a Hugging Face tokenizer.json, a SentencePiece model, a rank file of tiktoken
        ("cl100k_base:PATH", or PATH alone of a file that OpenAI publishes), the tokenizer of a folder, or of a GGUF file.

        NotFoundError, IOFailure; FormatError: a damaged file; InvalidValueError: a component that rapt lacks, by name."""
        return cls._of(_rapt.tokenizer_load(path))

    @classmethod
    def from_bytes(cls, data):
        """Makes the tokenizer of a file's bytes: what to_bytes returns, a tokenizer.json, a SentencePiece model or a published
        rank file, up to 1 GiB."""
        return cls._of(_rapt.tokenizer_from_bytes(data))

    @classmethod
    def train_bpe(cls, text, vocab_size, *, min_freq=None, specials=(), normalization=None, pattern=None, specials_first=False,
                  threads=None):
        """Learns byte-pair encoding: the most frequent pair of tokens is merged until the vocabulary is full.

        text            a str, bytes, or an iterable of lines
        vocab_size      entries to reach: 256 bytes, merges, special tokens
        min_freq        pairs that occur less often are not merged; default 2
        specials        tokens that no merge makes ("<|endoftext|>"), with ids after all others
        normalization   "none", "nfc", "plain" or "plain_lowercase"
        pattern         a PCRE2 expression that splits the text; default: GPT-2's
        specials_first  for translation, instead of `specials`: <unk> <pad> <bos> <eos> have the ids 0 to 3
        threads         1 to 256; the result does not depend on them

        InvalidValueError: an empty text, a pattern that does not compile, an option out of range."""
        options = {"vocab_size": vocab_size, "min_freq": min_freq, "normalization": normalization, "pattern": pattern,
                   "specials_first": specials_first, "threads": threads}
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            text = "\n".join(text)
        return cls._of(_rapt.train_bpe(text, specials, options))

    @classmethod
    def train_words(cls, lines, *, lowercase=False, min_freq=None, max_size=None):
        """A vocabulary of whole words and punctuation marks, by falling frequency, after <unk> <pad> <bos> <eos>.

        lines     an iterable of str
        min_freq  words that occur less often are <unk>; default 1
        max_size  the most entries, special tokens included; default: no limit"""
        if isinstance(lines, str):
            raise TypeError("lines must be an iterable of str, not a str")
        return cls._of(_rapt.train_words(tuple(lines), {"lowercase": lowercase, "min_freq": min_freq, "max_size": max_size}))

    @classmethod
    def train_characters(cls, text, *, specials_first=False):
        """A vocabulary of the characters that occur in `text` (a str, or UTF-8 as bytes), in numeric order.

        specials_first  for translation: <unk> <pad> <bos> <eos> come first, and characters that the text lacks become <unk>"""
        return cls._of(_rapt.train_characters(text, {"specials_first": specials_first}))

    def encode(self, text, *, specials=False):
        """The ids of a text: a str, or bytes (of UTF-8, unless the tokenizer is one of bytes).

        specials  texts of special tokens become those tokens, and the tokens that a tokenizer.json puts before and after a text
                  are added; False: such texts are texts like any other

        ValueError (InvalidValueError, FormatError): a character that the tokenizer does not have, or bytes that are not UTF-8."""
        return self._handle.encode(text, specials)

    def encode_batch(self, texts, *, specials=False, threads=0):
        """The ids of each text of a list or tuple, computed on `threads` threads (0: RAPT_THREADS, or else the CPUs that this
        process may use)."""
        return self._handle.encode_batch(texts, specials, threads)

    def encoding(self, text, *, specials=False):
        """The Encoding of a str: ids, tokens and their offsets, in characters of the text as it was given."""
        return Encoding(*self._handle.encoding(text, specials))

    def decode(self, ids):
        """The text of ids: a list, an Array, an array of NumPy or any other sequence of int. Bytes that are not UTF-8 become
        U+FFFD; ids outside the vocabulary are left out."""
        return self._handle.decode(ids, False)

    def decode_bytes(self, ids):
        """The bytes of ids, as the tokens have them."""
        return self._handle.decode(ids, True)

    def save(self, path):
        """Writes one file, whole or not at all: JSON, or a SentencePiece model if the path ends in .model or .spm."""
        self._handle.save(path)

    def to_bytes(self):
        """What `save` writes as JSON; from_bytes makes the same tokenizer of it."""
        return self._handle.to_bytes()

    def token(self, id):
        """The bytes of a token as they stand in a text; None: there is no such id."""
        return self._handle.token(id)

    def special(self, text):
        """The id of a special token ("<|endoftext|>"), or None."""
        return self._handle.special(text)

    @property
    def kind(self):
        """"words", "characters", "byte_bpe", "sentencepiece" or "pipeline" (the components of a tokenizer.json)."""
        return self._handle.kind()

    @property
    def hash(self):
        """A fingerprint in 64 bits of everything that the tokenizer does."""
        return self._handle.hash()

    def __len__(self):
        """The size of the vocabulary: the largest id + 1."""
        return self._handle.size()

    def __bool__(self):
        return True

    def __eq__(self, other):
        return self.hash == other.hash if isinstance(other, Tokenizer) else NotImplemented

    def __hash__(self):
        return self.hash

    def __reduce__(self):
        return (type(self).from_bytes, (self.to_bytes(),))

    def __repr__(self):
        return f"<rapt.Tokenizer {self.kind}, {len(self)} tokens>"
