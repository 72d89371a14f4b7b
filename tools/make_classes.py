#!/usr/bin/env python3
"""Makes src/text/split/classes_table.h: the classes of code points that split patterns tell apart, as Unicode 16.0 has them.

tiktoken and tokenizers carry the same tables, so they don't depend on what version of Unicode is installed; nor do ours.
Run it with a Python whose unicodedata is version 16.0, or with the package unicodedata2==16.0.0 installed:
    python3 tools/make_classes.py >src/text/split/classes_table.h
"""
try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

VERSION = "16.0.0"
CLASSES = ["OTHER", "UPPER", "LOWER", "CASELESS", "MARK", "NUMBER", "SPACE", "NEWLINE"]
ALTERNATING = 8  # capital and small letters in turns, a capital one first
WHITE_SPACE = [*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
OF_CATEGORY = dict(Lu="UPPER", Lt="UPPER", Ll="LOWER", Lm="CASELESS", Lo="CASELESS", Mn="MARK", Mc="MARK", Me="MARK",
                   Nd="NUMBER", Nl="NUMBER", No="NUMBER")


def class_of(code):
    if code in (0xA, 0xD):
        return CLASSES.index("NEWLINE")
    if code in WHITE_SPACE:
        return CLASSES.index("SPACE")
    return CLASSES.index(OF_CATEGORY.get(unicodedata.category(chr(code)), "OTHER"))


def runs():
    """(first code, class) of each run of one class."""
    last = None
    for code in range(0x110000):
        if class_of(code) != last:
            last = class_of(code)
            yield code, last


def alternating(runs):
    """The same, with three and more runs of one letter each, capital and small in turns, taken together."""
    i = 0
    while i < len(runs):
        j = i
        while j + 1 < len(runs) and runs[j + 1][0] == runs[j][0] + 1 and runs[j][1] == 1 + (j - i) % 2:
            j += 1
        yield (runs[i][0], ALTERNATING) if j - i >= 3 else runs[i]
        i = j if j - i >= 3 else i + 1


def main():
    if unicodedata.unidata_version != VERSION:
        raise SystemExit(f"this Python knows Unicode {unicodedata.unidata_version}, not {VERSION}")
    numbers = [f"0x{first << 4 | kind:x}," for first, kind in alternating(list(runs()))]
    print("/* text/split/classes_table.h: made by tools/make_classes.py from Unicode " + VERSION + "; not to be edited.\n"
          " * Each number is the first code point of a run, times 16, and the class of the run; it ends where the next begins.\n"
          " * Classes: " + ", ".join(f"{i} {name}" for i, name in enumerate(CLASSES)) + ", 8 UPPER and LOWER\n"
          " * in turns. For classes.c only. */\nstatic const uint32_t RUNS[] = {")
    line = "   "
    for number in numbers:
        if len(line) + 1 + len(number) > 118:
            print(line)
            line = "   "
        line += " " + number
    print(line + "\n};")


main()
