"""Texts that are hard for a SentencePiece tokenizer, and models to try them with. For golden_spm.py and compare_spm.py."""
import io
import random

import sentencepiece

# Bytes, as a text need not be UTF-8.
HARD = [text.encode() for text in [
    "", " ", "   ", "\t", "\n", "a", " a", "a ", "  a  b  ", "Hello, world!", "The quick brown fox jumps over the lazy dog.",
    "ＦＵＬＬ　ｗｉｄｔｈ　１２３", "ﾊﾝｶｸ ｶﾞｷﾞｸﾞ ﾊﾟﾋﾟ", "ガ ガ", "ﬁne ﬂow oﬃce", "café café naïve", "Ångström Å Å",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽", "ﻣﺮﺣﺒﺎ ﷺ ﷽", "soft\u00adhyphen", "no\u00a0break\u202fspace\u2009thin\u3000wide", "tab\tcr\rlf\ncrlf\r\nend", "\r\n\r\n",
    "\u0301\u0308", "e\u0301\u0323\u0302", "\u200b\u200c\u200d\ufeff", "\u2028\u2029\u0085", "zero\u0000byte", "\u0000", "a\u0000\u0000b ",
    "\u0001\u0002\u001f\u007f\u0080\u009f", "</s>", "<s> a </s> <unk> <pad>", "<0x41><0x0A>", "<|endoftext|>", "<ent>", "a<ent>b <ent><ent>",
    "<en", "<entt>", "#NAME# and #NAME##NAME#", "ﬁx", "aﬁxb ﬁx", "▁", "▁▁", " ▁ ", "▁a▁b▁", "a ▁", "a▁", "  ▁▁  ▁ x ▁ ",
    "x" * 300, "ab" * 200, "a" * 65 + " " + "a" * 64, "ſ K Å Ω ℡ ㎏ ㍿ ½ ² ①", "㌀ ㍻ 株式会社 ㈱", "İstanbul ıI ǅ ß ẞ ς Σ",
    "你好，世界！我们今天学习。", "Привет, мир", "हिन्दी தமிழ் ไทย", "\ud7ff\ue000\ufffd\uffff\U00010000\U0010ffff", "�", "a�b��c",
    "\U0001f600\U0001d518\U0001d52b", "１/２ ⅔ …‥ ー〜～", "“quotes” ‘single’ – — ―", "     leading", "trailing     ", "a  b   c    d",
    "0123456789" * 8, "don't can't I'll", "e.g. U.S.A. 3.14 -5", "http://a.b/c?d=e&f=%20#g", "word\u3000\u3000word", "\u3000", "\u3000 \u00a0",
]] + [b"\xff", b"\x80", b"a\xc3", b"\xc3(", b"\xe2\x96", b"\xe2\x96\x81\xe2", b"\xf0\x9f\x98", b"\xc0\x80\xe0\x80\x80", b"\xed\xa0\x80",
      b"\xf4\x90\x80\x80\xf8\x88\x80\x80\x80", b"ok \xff\xfe \x80\x81 end", b"\xef\xbf\xbd\xbf\xef", b" \xff ", b"\xff \xff"]

USER_DEFINED = ["<ent>", "#NAME#", "ﬁx"]
# What a rule maps to: nothing, a space, several characters, part of itself.
RULES = "\n".join(["41\t61", "41 42\t78 79 20", "AD\t", "A0\t20", "3000\t20 20", "E9\t65 301", "2581 2581\t5F", "FF21\t41 41"]) + "\n"


def unspaced(size=100000):
    return "".join(chr(97 + (i * i + i // 3) % 26) for i in range(size)).encode()


def code_points():
    return "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000).encode()


def train(lines, **options):
    """The bytes of a model."""
    out = io.BytesIO()
    options = {"num_threads": 1, "minloglevel": 2, "hard_vocab_limit": False, "character_coverage": 0.995, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=out, **options)
    return out.getvalue()


def hard_line(rng, words):
    """Bytes without a line feed: words, hard texts, characters of all planes, broken UTF-8."""
    parts = []
    for _ in range(rng.randint(0, 12)):
        kind = rng.random()
        if kind < 0.5:
            parts.append(rng.choice(words).encode())
        elif kind < 0.7:
            parts.append(rng.choice(HARD))
        elif kind < 0.85:
            low, high = rng.choice([(1, 0x250), (0x300, 0x370), (0x2000, 0x2100), (0x3000, 0x3400), (0xF900, 0xD800 + 0x2800), (0x1F300, 0x1FAFF)])
            parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 6))).encode("utf-8", "ignore"))
        elif kind < 0.95:
            parts.append(rng.choice([b" ", b"  ", b"\t", b"\xe2\x96\x81", b"\xc2\xa0", b"\xe3\x80\x80"]))
        else:
            parts.append(bytes(rng.randrange(256) for _ in range(rng.randint(1, 4))))
        if rng.random() < 0.5:
            parts.append(b" ")
    return b"".join(parts).replace(b"\n", b"")


# ---- models by hand: protobuf's wire format ------------------------------------------------------------------------

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """A number, bytes, or (as a float) 32 bits."""
    import struct
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def model(pieces, trainer=(), normalizer=(), denormalizer=()):
    """A model of (text, score, type), and of (number, value) for the settings."""
    out = b"".join(field(1, field(1, text.encode()) + field(2, float(score)) + field(3, kind)) for text, score, kind in pieces)
    for number, settings in ((2, trainer), (3, normalizer), (5, denormalizer)):
        if settings:
            out += field(number, b"".join(field(n, v) for n, v in settings))
    return out


SPECIALS = [("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL), ("</s>", 0, CONTROL)]
AS_IS = [(3, 0), (4, 0)]  # no dummy prefix, spaces as they are


def strings(letters, longest):
    found = [""]
    out = []
    for _ in range(longest):
        found = [a + b for a in found for b in letters]
        out += found
    return out


def ties(kind, scores, unused=0.0, seed=1):
    """All strings of three letters up to length 4, with few different scores: nearly every cut is one of several best ones."""
    rng = random.Random(seed)
    pieces = list(SPECIALS) + [("b▁", rng.choice(scores), NORMAL), ("▁", rng.choice(scores), NORMAL), ("cab", 0, USER)]
    if unused:
        pieces.append(("d", 0, UNUSED))
    for text in strings("abc", 4):
        if text != "cab" and (len(text) == 1 or rng.random() < 0.6):
            pieces.append((text, rng.choice(scores), UNUSED if len(text) > 1 and rng.random() < unused else NORMAL))
    return model(pieces, [(3, kind)], AS_IS)


def runs(kind, of, most):
    """Pieces of one letter again and again: more than SentencePiece's limits of nested matches and of pieces within pieces."""
    return model(SPECIALS + [("x", -1, NORMAL)] + [("x" * n, n, of) for n in range(2, most)], [(3, kind)], AS_IS)


def made():
    """Models by hand, by name."""
    thirds = [-1 / 3, -2 / 3, -1.0, -4 / 3]
    return {
        "ties": ties(1, thirds),
        "ties_large": ties(1, [-1e6 / 3, -1e6 * 2 / 3, -1e6], seed=2),
        "ties_positive": ties(1, [0.1, 0.2, 0.30000001192092896, 3.0], seed=3),
        "ties_unused": ties(1, thirds, 0.3, seed=4),
        "characters_unused": ties(4, thirds, 0.3, seed=7),
        "kept_long": runs(1, USER, 80),
        "bpe_kept_long": runs(2, USER, 80),
        "bpe_deep": runs(2, UNUSED, 150),
        "bpe_ties": ties(2, [-1.0, -2.0, -3.0], seed=5),
        "bpe_unused": ties(2, [-1.0, -2.0, -3.0], 0.5, seed=6),
    }


def tie_lines(rng, count):
    return ["".join(rng.choice(["a", "b", "c", "a", "b", "c", " ", "d"]) for _ in range(rng.randint(0, 60))).encode() for _ in range(count)]
