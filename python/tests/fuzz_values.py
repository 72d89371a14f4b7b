"""Good and hostile values for fuzz_calls.py."""
import array
import ctypes
import math


class Boom(Exception):
    """Of a callback or a method of an argument."""


class Hostile:
    """An object whose special methods raise, lie, or call back into what is being called."""

    def __init__(self, world, honest):
        self._world, self._honest = world, honest

    def _act(self, lies):
        world = self._world
        kind = world.rng.randrange(4 if self._honest else 6)
        if kind == 0:
            raise world.rng.choice((Boom, ValueError, TypeError, IndexError, StopIteration, KeyError, MemoryError))("hostile")
        if kind == 1:
            world.disturb()
        return world.rng.choice(lies)

    def __len__(self):
        return self._act((0, 1, 3, 1 << 40, -1, 1 << 70))

    def __getitem__(self, key):
        if self._world.rng.random() < .3:
            raise IndexError(key)
        return self._act((0, 1, "a", None, [], -1))

    def __iter__(self):
        return iter(self._act(([1, 2], ["a"], [self], [])))

    def __index__(self):
        return self._act((0, 1, 2, -1, 1 << 31, 1 << 64))

    def __float__(self):
        return self._act((0.0, 1.5, math.nan, math.inf))

    def __array__(self, *_, **__):
        return self._act((array.array("f", [1, 2]), memoryview(b"ab"), 3, None, self))

    def __fspath__(self):
        return self._act(("x", b"x", "a\0b", "\ud800", ""))

    def __str__(self):
        return self._act(("x", "", "\ud800"))

    __repr__ = __str__

    def __eq__(self, other):
        return self._act((True, False))

    def __hash__(self):
        return self._act((0, 1))

    def __bool__(self):
        return self._act((True, False))

    def __call__(self, *_, **__):
        return self._act((None, True, False, 1, self))

    def keys(self):
        return self._act((["a"], ["task"], [1], 5))

    def items(self):
        return self._act(([("a", 1)], [(1, 1.0)], [1, 2], [(1,)], 5))


class Anything(Hostile):
    """Has every attribute, as a mock."""

    def __getattr__(self, name):
        if name.startswith("__") and name != "__array_priority__":
            raise AttributeError(name)
        return self


class OddInt(int):
    world = None

    def __eq__(self, other):
        self.world.disturb()
        return int.__eq__(self, other)

    __hash__ = int.__hash__

    def __float__(self):
        self.world.disturb()
        return 2.0

    def __index__(self):
        self.world.disturb()
        return 1


class OddStr(str):
    world = None

    def __eq__(self, other):
        self.world.disturb()
        return str.__eq__(self, other)

    __hash__ = str.__hash__

    def __str__(self):
        raise Boom("str")


class Shrinking:
    """A number that empties the list that it is in."""

    def __init__(self, of):
        self.of = of

    def __float__(self):
        self.of.clear()
        return 1.0

    def __index__(self):
        self.of.clear()
        return 1


def shrinking(depth):
    inner = []
    inner.extend(Shrinking(inner) for _ in range(3))
    outer = [inner, [1, 2, 3], inner]
    inner.append(Shrinking(outer)) if depth else None
    return inner if depth == 0 else outer


def deep(depth):
    value = [1]
    for _ in range(depth):
        value = [value]
    return value


def cyclic():
    loop, tree = [1], {}
    loop.append(loop)
    tree["a"] = tree
    return loop, tree


def buffers():
    floats, ints = array.array("f", [.5] * 24), array.array("i", [1, 2, 0, 1] * 6)
    view = memoryview(floats).cast("B").cast("f", (2, 3, 4))
    released = memoryview(b"abc")
    released.release()
    return [floats, ints, array.array("d", [math.nan, 1]), array.array("q", [1 << 62, -1]), array.array("f"), view,
            memoryview(ints)[::2], memoryview(floats)[::-1], memoryview(ints).cast("B").cast("i", (4, 6)), released,
            memoryview(bytearray(b"text"))[::2], bytearray(b"bytes \xff"), b"\xff\xfe\0", b"", memoryview(b""),
            (ctypes.c_float * 3)(1, 2, 3), (ctypes.c_int.__ctype_be__ * 2)(1, 2), ((ctypes.c_float * 2) * 3)(),
            (ctypes.c_char * 4)(), ctypes.c_int(1), ((((ctypes.c_float * 1) * 1) * 1 * 1) * 1)()]


SCALARS = (None, True, False, 0, 1, 2, 3, 4, 5, 8, -1, -2, 7, 255, 1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 63, (1 << 63) - 1,
           -(1 << 63), (1 << 64) - 1, 1 << 64, 1 << 80, 0.0, 0.5, 1.0, -1.0, 1e-30, 1e300, math.nan, math.inf, -math.inf, 1j)
TEXTS = ("", "a", "The cat wants to sing.", "To be, or not", "x", "\0", "a\0b", "\ud800", "\U0001f600", " \n\t", "cat " * 200,
         "q8_0", "fp32", "text", "hf", "gguf", "rapt", "mean", "exp", "none", "13a", "all", "best", "decoder.*", "*.weights",
         "<unk>")

# What parameters of these names take, mostly; only these where a larger value would take a long time.
GOOD = {"threads": (1, 2), "beam": (1, 2, 3), "n_best": (1, 2), "axis": (0, 1, -1), "dim": (0, 1, -1), "lr": (.01, .1),
        "dropout": (0.0, .1), "p": (0.0, .3), "eps": (1e-5,), "betas": ((.9, .99),), "max_norm": (1, 5.0),
        "to": ("hf", "gguf", "rapt", "ctranslate2"), "which": ("last", "best", "untrained", 4), "normalized_shape": (8, (2, 8)),
        "norm_shape": (8,), "weights": ("fp32", "q8_0"), "precision": ("fp32", "q8_0"), "kv_cache": ("q8_0",), "text": TEXTS,
        "prompt": (*TEXTS, [1, 2]), "seed": (1,), "valid_lens": (None, [1, 2], [3, 1]),
        "labels": ([[1, 0, 2], [2, 2, 1]], [1, 0]), "tokenize": ("13a", "zh", "char", "intl"),
        "references": ([["a b c"]], ["a b c d"]), "hypotheses": (["a b d"], ["a", "b"]),
        "texts": (["To be"], ["cat", ""], [[1, 2]]), "sources": (["The cat"],), "targets": (["Le chat"],),
        "lines": (["a b", "b c"],), "messages": ([{"role": "user", "content": "x"}],), "ids": ([1, 2, 0], [[1, 2, 3], [3, 2, 1]]),
        "specials": ((), ["<x>"], False, True), "logit_bias": ({1: 2.0}, None), "step": (None, 1), "state": (None,),
        "requires_grad": (True, False), "axes": ((0, 1),)}
SMALL = {"slots": (1, 2, 0, -1, 1 << 63, 1 << 64, "x"), "num_blks": (1, 2, 0, -1, "x"),
         "count": (1, 2, 0, -1, 257, None), "max_tokens": (0, 1, 3, -1, "x", None, 1 << 64),
         "num_hiddens": (8, 4, 0, -1, 7, 1 << 40), "ffn_num_hiddens": (8, 0, -1, 1 << 40), "num_heads": (2, 1, 0, 3, -1, 1 << 40),
         "vocab_size": (12, 300, 0, -1, 1 << 64, "x"), "max_len": (16, 1, 0, 1 << 40), "num_embeddings": (12, 1, 0, 1 << 40),
         "embedding_dim": (8, 1, 0), "num_inputs": (8, 4, 0, 1 << 40), "num_outputs": (8, 3, 0, 1 << 40),
         "word_order": (0, 2, -1, 16, 17, 1 << 31), "char_order": (6, 1, 0, 17, 1 << 31), "max_ratio": (0, 1, 1.5, -1, math.nan)}
