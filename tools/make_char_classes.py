#!/usr/bin/env python3
"""Makes src/text/pipeline/char_classes_table.h: the classes of code points that the components of a tokenizer.json tell apart.

`tokenizers` carries tables of several versions of Unicode: those of its regular expressions, of Rust's library and of two crates
with tables of their own. So each class is asked of the package itself, character by character; what is written down is what it
answers. Run it with the package tokenizers==0.23.3 installed, where libutf8proc is found:
    python3 tools/make_char_classes.py >src/text/pipeline/char_classes_table.h
"""
import ctypes
import ctypes.util

import golden_pipelines
import tokenizers
from tokenizers import normalizers, pre_tokenizers

VERSION = "0.23.3"
CODES = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
WORD, PUNCTUATION, NUMERIC, NONSPACING, COMBINING, CONTROL, OPAQUE, ATTACHED = (1 << i for i in range(8))
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

utf8proc = ctypes.CDLL(ctypes.util.find_library("utf8proc"))
for name in FORMS:
    getattr(utf8proc, "utf8proc_" + name).restype = ctypes.c_void_p
libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


def installed(name, text):
    """A normalization form as libutf8proc has it; NUL, which ends its texts, is not asked of it."""
    result = getattr(utf8proc, "utf8proc_" + name)(text.encode())
    text = ctypes.string_at(result).decode()
    libc.free(result)
    return text


def cuts(cutter, text):
    return [piece for piece, _ in cutter.pre_tokenize_str(text)]


def opaque(code, forms):
    """Whether a form makes something else of the character than libutf8proc does, alone, or where it stands behind marks of the
    lowest and the highest class, or before one; and whether the library doesn't know it."""
    if code == 0:
        return False
    text = chr(code)
    around = (text, "a\u0345" + text, "a" + text + "\u0334", "\u1112\u1161" + text)
    return utf8proc.utf8proc_category(code) == 0 or any(forms[name].normalize_str(t) != installed(name, t)
                                                        for name in FORMS for t in around)


def classes():
    words, digits = pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False)
    punctuation = pre_tokenizers.Punctuation()
    accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    combining = normalizers.StripAccents()
    graphemes = normalizers.Precompiled(golden_pipelines.charsmap({"a": "b"})) # which replaces what belongs to an a along with it
    forms = {name: getattr(normalizers, name)() for name in FORMS}
    result = bytearray(0x110000)
    for code in CODES:
        text = chr(code)
        bits = WORD * (cuts(words, "a" + text) == ["a" + text])
        bits |= PUNCTUATION * (len(cuts(punctuation, "a" + text)) == 2)
        bits |= NUMERIC * (len(cuts(digits, "a" + text)) == 2)
        bits |= NONSPACING * (forms["NFD"].normalize_str(text) == text and accents.normalize_str("a" + text) == "a")
        bits |= COMBINING * (combining.normalize_str(text) == "")
        bits |= CONTROL * (code not in (0, 0xFFFD) and clean.normalize_str(text) == "")
        bits |= ATTACHED * (graphemes.normalize_str("a" + text) == "b")
        bits |= OPAQUE * opaque(code, forms)
        result[code] = bits
    for code in CODES: # what a younger character is composed of, which is as young in its script
        parts = installed("NFD", chr(code)) if code > 0x11000 and result[code] & OPAQUE else ""
        if forms["NFC"].normalize_str(parts) != (installed("NFC", parts) if parts else ""):
            for part in parts:
                result[ord(part)] |= OPAQUE
    return result


def lower():
    """(first, last, lower case of the first) of runs that libutf8proc doesn't have."""
    small, runs = normalizers.Lowercase(), []
    for code in CODES:
        text = small.normalize_str(chr(code))
        if code == 0x130 or ord(text) == utf8proc.utf8proc_tolower(code):
            continue
        if runs and code == runs[-1][1] + 1 and ord(text) - code == runs[-1][2] - runs[-1][0]:
            runs[-1][1] = code
        else:
            runs.append([code, code, ord(text)])
    return runs


def lines(words):
    line = "   "
    for word in words:
        if len(line) + 1 + len(word) > 118:
            print(line)
            line = "   "
        line += " " + word
    print(line + "\n};")


def main():
    if tokenizers.__version__ != VERSION:
        raise SystemExit(f"this is tokenizers {tokenizers.__version__}, not {VERSION}")
    table, runs, last = classes(), [], -1
    for code in CODES:
        if table[code] != last:
            last = table[code]
            runs.append(code << 8 | last)
    print("/* text/pipeline/char_classes_table.h: made by tools/make_char_classes.py from tokenizers " + VERSION + "; not to be\n"
          " * edited. Each number is the first code point of a run, times 256, and the classes of the run, bits of char_classes.h;\n"
          " * it ends where the next begins. For char_classes.c only. */\n"
          "#include <stdint.h>\n\nstatic const uint32_t CHAR_RUNS[] = {")
    lines([f"0x{run:x}," for run in runs])
    print("\n/* Lower case that an older libutf8proc lacks: first and last code point of a run, and what the first becomes. */\n"
          "static const uint32_t NEW_LOWER[][3] = {")
    lines(["{0x%x, 0x%x, 0x%x}," % tuple(run) for run in lower()])


main()
