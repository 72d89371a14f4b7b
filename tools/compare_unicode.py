#!/usr/bin/env python3
"""Compares the ids of `rapt tokenizer` with those of the package `tokenizers` wherever Unicode decides: fifty tokenizers, one for
each normalizer, pre-tokenizer and split pattern that models in use have, over

  * each assigned code point, alone and between letters, digits, spaces and signs,
  * before one mark of each combining class: each code point that a normalization form or a mark changes, and a sample of others.

Their vocabularies are bytes, and pairs of the last byte of a character and the first one of the next, so that each cut and each
character of a normalized text shows in the ids. Prints a line a tokenizer; ends with status 1 where an id differs.

Run it at the root of the project, with the packages tokenizers==0.23.3 and unicodedata2==16.0.0 installed:
    python3 tools/compare_unicode.py build/rapt [--only NAME...] [--sample N]
    python3 tools/compare_unicode.py --golden tests/golden/unicode.json
--sample takes each N-th text alone. --golden writes what tests/text/test_unicode.c compares with: checksums (CRC-32) of what
`tokenizers` makes of all code points.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import zlib

import golden_pipelines
import tokenizers
import unicodedata2 as unicodedata
from code_spans import spans

PER_TEXT, STEP = 24, 31
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORDS = r"[^\r\n\p{L}\p{N}]?%s*%s+{0}|[^\r\n\p{L}\p{N}]?%s+%s*{0}" % (UPPER, LOWER, UPPER, LOWER)
O200K = WORDS.replace("{0}", CONTRACTIONS + "?") + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = WORDS.replace("{0}", "") + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ASCII_SIGNS = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
PATTERNS = {
    "gpt2": [GPT2],
    "llama3": [LLAMA3],
    "qwen2": [LLAMA3.replace("{1,3}", "")],
    "o200k": [O200K],
    "tekken": [TEKKEN],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0e00-\u0e7f]+", r"\p{N}"],
    "deepseek-llm": [r"[\r\n]", r"\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
                     r"\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5]+",
                     r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}+"],
    "deepseek-v3": [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                    ASCII_SIGNS + r"[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "bloom": [" ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"],
    "poro": [" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"],
    "falcon3-digits": [r"[0-9][0-9][0-9]", GPT2],
    "clip": [r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"],
    "kimi": [r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
             r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
             r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
             r"|\s+(?!\S)|\s+"],
    "exaone": [r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]"
               r"|\s+(?!\S)|\s+"],
    "glm4": [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "hunyuan": [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", LLAMA3],
    "mpt-words": [r"\w+|[^\w\s]+"],
    "word-edges": [r"\b\w+\b|\s+|."],
    "folded": [r"(?i:stra\u00dfe|\u03c3\u03ae\u03bc\u03b1|[k-s\u00e5]+)|\p{Lu}\p{Ll}*|\p{Sc}|\p{Nd}+|\p{Pd}|\p{Greek}+|\P{L}"],
    "marks": [r"\p{M}+|\p{Mn}|[\p{Sk}\p{Lm}]+|\p{C}|\p{Z}"],
    "scripts": [r"\p{Cyrillic}+|\p{Hiragana}+|\p{Katakana}+|\p{Hangul}+|\p{Arabic}+|\p{Thai}+|\p{Latin}+|\d+|\S"],
}
NORMALIZERS = {
    "nfc": dict(type="NFC"), "nfd": dict(type="NFD"), "nfkc": dict(type="NFKC"), "nfkd": dict(type="NFKD"),
    "lowercase": dict(type="Lowercase"), "nmt": dict(type="Nmt"), "strip-accents": dict(type="StripAccents"),
    "bert": dict(type="BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True),
    "bert-cased": dict(type="BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=False),
    "albert": dict(type="Sequence", normalizers=[
        dict(type="Replace", pattern=dict(String="``"), content='"'), dict(type="NFKD"), dict(type="StripAccents"),
        dict(type="Lowercase")]),
    "nfkc-lowercase": dict(type="Sequence", normalizers=[dict(type="NFKC"), dict(type="Lowercase")]),
    "nmt-nfkc": dict(type="Sequence", normalizers=[dict(type="Nmt"), dict(type="NFKC"),
                                                   dict(type="Replace", pattern=dict(Regex=" {2,}"), content=" ")]),
    "clip-spaces": dict(type="Sequence", normalizers=[
        dict(type="NFC"), dict(type="Replace", pattern=dict(Regex=r"\s+"), content=" "), dict(type="Lowercase")]),
    "strip": dict(type="Strip", strip_left=True, strip_right=True),
}
CUTTERS = {
    "bert-words": [dict(type="BertPreTokenizer")],
    "whitespace": [dict(type="Whitespace")],
    "whitespace-split": [dict(type="WhitespaceSplit")],
    "punctuation": [dict(type="Punctuation", behavior="Isolated")],
    "starcoder": [dict(type="Digits", individual_digits=True), dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True,
                                                                   use_regex=True)],
    "falcon": [dict(type="Punctuation", behavior="Contiguous"),
               dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True),
               dict(type="Digits", individual_digits=False),
               dict(type="Split", pattern=dict(Regex="[0-9][0-9][0-9]"), behavior="Isolated", invert=False)],
    "digits": [dict(type="Digits", individual_digits=False)],
}
BYTES = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=False)


def letters():
    """The letter of each byte, as GPT-2 has them."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return {b: chr(b) if b in shown else chr(256 + [c for c in range(256) if c not in shown].index(b)) for b in range(256)}


def model():
    letter = letters()
    lasts, firsts = range(0xC0), [*range(0x80), *range(0xC2, 0xF5)]
    merges = [(letter[a], letter[b]) for a in lasts for b in firsts]
    vocab = {**{letter[b]: b for b in range(256)}, **{a + b: 256 + i for i, (a, b) in enumerate(merges)}}
    return dict(type="BPE", dropout=None, unk_token=None, continuing_subword_prefix=None, end_of_word_suffix=None, fuse_unk=False,
                byte_fallback=False, ignore_merges=False, vocab=vocab, merges=[f"{a} {b}" for a, b in merges])


def document(normalizer, cutters):
    ends = any(c["type"] == "ByteLevel" for c in cutters)
    before = cutters if ends else [*cutters, BYTES]
    return dict(version="1.0", truncation=None, padding=None, added_tokens=[], normalizer=normalizer,
                pre_tokenizer=before[0] if len(before) == 1 else dict(type="Sequence", pretokenizers=before),
                post_processor=None, decoder=dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
                model=model())


def splits(patterns):
    return [dict(type="Split", pattern=dict(Regex=p), behavior="Isolated", invert=False) for p in patterns]


def files():
    for name, normalizer in NORMALIZERS.items():
        yield name, document(normalizer, [])
    for name, patterns in PATTERNS.items():
        yield name, document(None, splits(patterns))
    for name, cutters in CUTTERS.items():
        yield name, document(None, cutters)
    for name, form, patterns in (("qwen", "nfc", "qwen2"), ("nfd-o200k", "nfd", "o200k"), ("nfkc-tekken", "nfkc", "tekken"),
                                 ("lower-llama3", "lowercase", "llama3"), ("clip-whole", "clip-spaces", "clip"),
                                 ("nfkd-deepseek", "nfkd", "deepseek-v3")):
        yield name, document(NORMALIZERS[form], splits(PATTERNS[patterns]))
    yield "bert-whole", document(NORMALIZERS["bert"], CUTTERS["bert-words"])
    yield "albert-whole", document(NORMALIZERS["albert"], CUTTERS["whitespace-split"])


def joined(parts):
    for i in range(0, len(parts), PER_TEXT):
        yield "".join(parts[i:i + PER_TEXT])


def texts(sample):
    codes = [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    codes += [0xE000, 0xF8FF, 0xF0000, 0x10FFFD, 0x378, 0xFFFE, 0xFFFF, 0x2FFFE]
    marks = {}
    for code in codes:
        marks.setdefault(unicodedata.combining(chr(code)), chr(code))
    del marks[0]
    marks = [*marks.values(), "\u3099", "\u1161", "\u11a8", "\u0338", "\u0bbe"]
    changed = [c for c in codes if any(unicodedata.normalize(f, t) != t for f in ("NFC", "NFD", "NFKC", "NFKD")
                                       for t in (chr(c), chr(c) + "\u0301", chr(c) + "\u0308", chr(c) + "\u0338"))
               or unicodedata.combining(chr(c))]
    changed = [c for i, c in enumerate(changed) if not 0xAC00 <= c < 0xD7A4 or i % 97 == 0] + codes[::151]
    yield from (chr(c) for c in codes[::sample])
    for around in ("a%sa 1%s1 ", " %s.%s, ", "\n%s'%s\t ", "A%s\u4e00%s\u00e9 "):
        yield from joined([around % (chr(c), chr(c)) for c in codes])
    for mark in marks:
        yield from joined([chr(c) + mark + "x " for c in changed])
        yield from joined([chr(c) + "\u0327" + mark + "\u0323x " for c in changed[::7]])


def checksum(text):
    return zlib.crc32(text.encode())


def golden(path):
    """Of each form: every code point alone, and each STEP-th before each mark; of each pattern: how long the pieces are, in bytes."""
    codes = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    marks = [0x300, 0x301, 0x308, 0x316, 0x323, 0x327, 0x334, 0x338, 0x345, 0x360, 0x5B0, 0x64E, 0x94D, 0xF71, 0x1161, 0x11A8, 0x3099]
    alone = "".join(chr(c) + "\n" for c in codes)
    marked = "".join(f"{chr(c)}{chr(m)}{chr(n)}\n" for c in codes[::STEP] for m in marks for n in marks[::4])
    assigned = [c for c in codes if unicodedata.category(chr(c)) not in ("Cn", "Co")]
    around = "".join("a%s1%s %s." % (chr(c), chr(c), chr(c)) for c in assigned)
    forms, patterns = {}, {}
    for name in ("NFC", "NFD", "NFKC", "NFKD"):
        form = getattr(tokenizers.normalizers, name)().normalize_str
        forms[name] = [checksum(form(alone)), checksum(form(marked))]
    for pattern in dict.fromkeys(p for listed in PATTERNS.values() for p in listed):
        cutter = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        patterns[pattern] = checksum("".join(f"{len(piece.encode())} " for piece, _ in cutter.pre_tokenize_str(around)))
    lower = checksum(tokenizers.normalizers.Lowercase().normalize_str(alone))
    assigned = [[first, last] for first, last in spans(assigned)]
    made = dict(tokenizers=tokenizers.__version__, step=STEP, marks=marks, forms=forms, lower=lower, assigned=assigned, patterns=patterns)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in made.items())
    pathlib.Path(path).write_text("{" + lines + "}\n")


def compare(rapt, name, made, lines, all_texts):
    tokenizer = golden_pipelines.load(made)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(made))
        done = subprocess.run([rapt, "tokenizer", "encode", "--jsonl", str(path)], input=lines, capture_output=True)
    if done.returncode:
        print(f"{name}: {done.stderr.decode().strip()}", flush=True)
        return 1
    wrong = 0
    answers = done.stdout.decode().split("\n")[:len(all_texts)]
    for at in range(0, len(all_texts), 4096):
        part = all_texts[at:at + 4096]
        for text, one, line in zip(part, tokenizer.encode_batch_fast(part, add_special_tokens=False), answers[at:at + 4096], strict=True):
            ids = json.loads(line)["ids"]
            wrong += ids != one.ids
            if ids != one.ids and wrong <= 2:
                print(f"  {text[:60]!r} {[hex(ord(c)) for c in text[:4]]}\n  {one.ids[:24]}\n  {ids[:24]}")
    print(f"{name}: {len(all_texts)} texts, ids differ in {wrong}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rapt", nargs="?")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--golden")
    arguments = parser.parse_args()
    if arguments.golden:
        golden(arguments.golden)
        return
    all_texts = list(texts(arguments.sample))
    lines = "".join(json.dumps({"text": text}) + "\n" for text in all_texts).encode()
    made = [(name, made) for name, made in files() if not arguments.only or name in arguments.only]
    wrong = [name for name, one in made if compare(arguments.rapt, name, one, lines, all_texts)]
    print(f"tokenizers {tokenizers.__version__}: {len(made)} tokenizers, {len(wrong)} with other ids {' '.join(wrong)}")
    raise SystemExit(len(wrong) > 0)


main()
