#!/usr/bin/env python3
"""Makes the tables of Unicode that the sources have, so that no id of a text depends on what is installed:

    src/text/unicode/category_table.h           general categories, Unicode 16.0
    src/text/unicode/script_table.h             scripts, Unicode 16.0
    src/text/unicode/width_table.h              characters of two columns, Unicode 16.0
    src/text/unicode/case_table.h               lower, upper and title case, Unicode 17.0
    src/text/unicode/form_table.h               combining classes, and what normalization forms change, Unicode 9.0
    src/text/unicode/form_pairs_table.h         canonical decompositions and compositions, Unicode 9.0
    src/text/unicode/compatible_table.h         compatibility decompositions to one character, Unicode 9.0
    src/text/unicode/compatible_texts_table.h   those to several
    src/text/pipeline/char_classes_table.h      classes of `tokenizers`' components

The package `tokenizers` carries tables of several versions of Unicode: those of its regular expressions, of Rust's library and of
two crates with tables of their own. So everything that ids depend on is asked of the package itself, character by character;
what is written down is what it answers, and the versions above are those that its answers agree with. Run it with the packages
tokenizers==0.23.3 and unicodedata2==16.0.0 installed (some minutes):
    python3 tools/make_unicode.py [categories|scripts|widths|cases|forms|compatible|components ...]
Upper and title case, of which `tokenizers` knows nothing, are the one-to-one mappings of any Python from 3.8 on; for letters that
it does not know yet, the letter that they are the lower case of.
"""
import pathlib
import sys
import textwrap

import golden_pipelines
import tokenizers
import unicodedata2
from code_spans import spans
from tokenizers import Regex, normalizers, pre_tokenizers

VERSION, UNICODE = "0.23.3", "16.0.0"
SRC = pathlib.Path(__file__).resolve().parent.parent / "src" / "text"
END = 0x110000
CODES = [c for c in range(END) if not 0xD800 <= c <= 0xDFFF]
KNOWN = [c for c in CODES if unicodedata2.category(chr(c)) not in ("Cn", "Co")]
CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()
ALTERNATING = len(CATEGORIES) # upper case and lower case in turns, upper case first
SCRIPTS = """Common Inherited Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil
    Telugu Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Khmer Mongolian Han Hiragana Katakana
    Bopomofo Yi Tifinagh Nko Javanese Balinese""".split()
BLOCK, BLOCKED = 256, 0x20000 # code points of a block, and how many have an index
FORMS = {name: getattr(normalizers, name)().normalize_str for name in ("NFC", "NFD", "NFKC", "NFKD")}
WORD, PUNCTUATION, NUMERIC, NONSPACING, COMBINING, CONTROL, ALONE, ATTACHED = (1 << i for i in range(8))
HANGUL = range(0xAC00, 0xD7A4)


# ---- writing ---------------------------------------------------------------------------------------------------------------

def write(name, comment, arrays):
    """arrays: (declaration, elements as texts)."""
    text = f"/* text/{name}: made by tools/make_unicode.py from tokenizers {VERSION}; not to be edited. " + comment + " */"
    out = textwrap.wrap(text, 126, subsequent_indent=" * ") + ["#include <stdint.h>"]
    for declaration, elements in arrays:
        out += ["", "static const " + declaration + " = {"]
        line = "   "
        for element in elements:
            if len(line) + len(element) + 2 > 128:
                out.append(line)
                line = "   "
            line += f" {element},"
        out += [line, "};"]
    (SRC / name).write_text("\n".join(out) + "\n")


def hexes(row):
    return "{" + ", ".join(hex(n) for n in row) + "}"


def runs_of(values):
    """(first, value) of each run of one value."""
    last = None
    for code in range(END):
        if values[code] != last:
            last = values[code]
            yield code, last


def run_arrays(name, runs, bits):
    """Runs as numbers, and for each block of the first code points the run that it begins in."""
    firsts = [first for first, _ in runs]
    index, at = [], 0
    for block in range(0, BLOCKED + BLOCK, BLOCK):
        while at + 1 < len(firsts) and firsts[at + 1] <= block:
            at += 1
        index.append(at)
    return [(f"uint32_t {name}_RUNS[]", [hex(first << bits | value) for first, value in runs]),
            (f"uint16_t {name}_BLOCKS[]", map(str, index))]


# ---- categories, scripts, widths -------------------------------------------------------------------------------------------

def matched(pattern, codes):
    """Those of the code points that a pattern of `tokenizers` matches."""
    kept = pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str("".join(map(chr, codes)))
    inside = bytearray(b"\1") * len(codes)
    for _, (first, end) in kept:
        inside[first:end] = bytes(end - first)
    return [code for code, within in zip(codes, inside) if within]


def classified(names, codes):
    """For each code point the number of the name whose property it has; 0 for none."""
    values = [0] * END
    for i, name in enumerate(names):
        for code in matched(r"\p{%s}" % name, codes):
            values[code] = i
    return values


def alternating(runs):
    """The same, with three and more runs of one letter each, capital and small in turns, taken together."""
    i = 0
    while i < len(runs):
        j = i
        while j + 1 < len(runs) and runs[j + 1][0] == runs[j][0] + 1 and runs[j][1] == 1 + (j - i) % 2:
            j += 1
        yield (runs[i][0], ALTERNATING) if j - i >= 3 else runs[i]
        i = j if j - i >= 3 else i + 1


def categories():
    values = [CATEGORIES.index(unicodedata2.category(chr(c))) for c in range(END)]
    known = classified(CATEGORIES, KNOWN)
    if any(values[c] != known[c] for c in KNOWN) or matched(r"\P{Cn}", CODES) != [c for c in CODES if values[c]]:
        raise SystemExit("tokenizers' categories are not those of Unicode " + UNICODE)
    write("unicode/category_table.h", "The general categories of Unicode 16.0, as in its regular expressions. Each number is the "
          "first code point of a run, times 32, and its category, in the order of unicode.h, or 30: upper and lower case in "
          "turns. For each block of 256 code points the run that it begins in. For unicode.c only.",
          run_arrays("CATEGORY", list(alternating(list(runs_of(values)))), 5))


def scripts():
    write("unicode/script_table.h", "Scripts of Unicode 16.0, as in its regular expressions. Each number is the first code point "
          "of a run, times 64, and its script, a number of SCRIPTS; 0: another one. For each block of 256 code points the run that it "
          "begins in. For unicode_script.c only.",
          [("char *const SCRIPTS[]", ['""'] + [f'"{name}"' for name in SCRIPTS])] +
          run_arrays("SCRIPT", list(runs_of(classified(["Unknown"] + SCRIPTS, KNOWN))), 6))


def widths():
    wide = spans(c for c in CODES if unicodedata2.east_asian_width(chr(c)) in "WF")
    write("unicode/width_table.h", "First and last code points of runs of characters that take two columns: East_Asian_Width of "
          "Unicode 16.0. For unicode.c only.", [("uint32_t WIDE[][2]", map(hexes, wide))])



# ---- case ------------------------------------------------------------------------------------------------------------------

def case_runs(mapping):
    """first, last, what the first becomes, and 1 or 2: how far the letters of the run are apart."""
    found = []
    for code, to in sorted(mapping.items()):
        for run in reversed(found[-2:]):
            step = code - run[1]
            if to - code == run[2] - run[0] and (step == run[3] or (run[0] == run[1] and step in (1, 2))):
                run[1], run[3] = code, step
                break
        else:
            found.append([code, code, to, 1])
    for run, after in zip(found, found[1:]): # a lookup looks at one run
        assert run[1] < after[0], (run, after)
    return found


def cases():
    small = normalizers.Lowercase().normalize_str
    lower = {c: ord(small(chr(c))[0]) for c in CODES if small(chr(c)) != chr(c)}
    upper, title = ({c: ord(to) for c in CODES if len(to := change(chr(c))) == 1 and to != chr(c)} for change in (str.upper, str.title))
    for capital, code in lower.items():
        if chr(code).upper() == chr(code) == chr(code).title() and chr(capital).lower() == chr(capital):
            upper[code] = title[code] = capital
    # what str changes to several letters has a mapping of its own in some cases
    for code in (c for c in CODES if len(chr(c).upper()) > 1):
        capital = next((k for k, small in lower.items() if small == code and len(chr(code).title()) == 1), None)
        upper.update({code: capital} if capital else {})
    other = {c: title.get(c, c) for c in {*upper, *title} if title.get(c, c) != upper.get(c, c)}
    write("unicode/case_table.h", "Runs of letters: first, last, what the first becomes, and how far they are apart. Lower case is "
          "its own, Rust's (Unicode 17.0). Mappings to one code point alone. For unicode_case.c only.",
          [("uint32_t LOWER[][4]", map(hexes, case_runs(lower))), ("uint32_t UPPER[][4]", map(hexes, case_runs(upper))),
           ("uint32_t TITLE[][4]", map(hexes, case_runs(other)))])


# ---- normalization forms -----------------------------------------------------------------------------------------------------

def combining_classes():
    """For each code point the rank of its combining class among those that there are; 0: a starter. Two marks keep their order
    where the first one's class is not higher."""
    nfd = FORMS["NFD"]
    guess = {c: unicodedata2.combining(chr(c)) for c in CODES}
    first = {}
    for code, value in guess.items():
        if value and nfd(chr(code)) == chr(code) and nfd(f"{chr(0x345)}{chr(code)}") != f"{chr(0x345)}{chr(code)}":
            first.setdefault(value, code)
    first[240] = 0x345
    ordered = [first[k] for k in sorted(first)]
    ranks = [0] * END
    for code in (c for c, value in guess.items() if value and nfd(chr(c)) == chr(c)):
        text = chr(code)
        below = [i for i, rep in enumerate(ordered) if nfd(text + chr(rep)) == chr(rep) + text != text + chr(rep)]
        above = [i for i, rep in enumerate(ordered) if nfd(chr(rep) + text) == text + chr(rep) != chr(rep) + text]
        equal = set(range(len(ordered))) - set(below) - set(above)
        if len(equal) == 1: # more: it moves past none, so that it is a starter for these tables
            ranks[code] = 1 + equal.pop()
    return ranks, len(ordered)


def canonical():
    """Pairs and singles: what a character is made of by one step."""
    nfc, nfd = FORMS["NFC"], FORMS["NFD"]
    pairs, singles = {}, {}
    for code in CODES:
        parts = nfd(chr(code))
        if parts == chr(code) or code in HANGUL:
            continue
        if len(parts) == 1:
            singles[code] = ord(parts)
            continue
        head = parts[0] if len(parts) == 2 else nfc(parts[:-1])
        if len(head) == 1:
            pairs[code] = (ord(head), ord(parts[-1]))
        else: # it is never composed: what the same letter with one part less is
            head = next(chr(c) for c in CODES if nfd(chr(c)) == parts[:-1] and c != code)
            pairs[code] = (ord(head), ord(parts[-1]))
    by_text = {}
    for code, pair in pairs.items(): # of several with one decomposition, singles are the others
        by_text.setdefault(nfd(chr(code)), []).append(code)
    for text, codes in by_text.items():
        composed = nfc(text)
        for code in codes:
            if len(codes) > 1 and len(composed) == 1 and code != ord(composed):
                singles[code] = ord(composed)
                del pairs[code]
    return pairs, singles


def forms():
    nfc, nfd, nfkd = FORMS["NFC"], FORMS["NFD"], FORMS["NFKD"]
    ranks, count = combining_classes()
    pairs, singles = canonical()
    rows = [(code, *pair) for code, pair in sorted(pairs.items())]
    composed = [i for i, row in enumerate(rows) if nfc(chr(row[1]) + chr(row[2])) == chr(row[0])]
    seconds = {rows[i][2] for i in composed} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    values = [0] * END
    for code in CODES:
        text = chr(code)
        values[code] = (ranks[code] | (nfd(text) != text) << 6 | (nfkd(text) != nfd(text)) << 7 | (nfc(text) != text) << 8 |
                        (code in seconds) << 9)
    composed.sort(key=lambda i: rows[i][1:])
    assert count < 64
    write("unicode/form_table.h", "Unicode's normalization forms (Unicode 9.0): the first code point of a run, times 1024, and what "
          "its characters are: the rank of the combining class, and bits of unicode_forms.c. For each block of 256 code points the run "
          "that it begins in. For unicode_forms.c only.", run_arrays("FORM", list(runs_of(values)), 10))
    write("unicode/form_pairs_table.h", "Canonical decompositions (Unicode 9.0). PAIRS: a character and the two that it is made of; "
          "COMPOSED: the rows that are composed, in the order of the two; SINGLES: a character and another that it always becomes. For "
          "unicode_forms.c only.",
          [("uint32_t PAIRS[][3]", map(hexes, rows)), ("uint16_t COMPOSED[]", map(str, composed)),
           ("uint32_t SINGLES[][2]", map(hexes, sorted(singles.items())))])


def compatible():
    nfd, nfkd = FORMS["NFD"], FORMS["NFKD"]
    texts = {c: nfkd(chr(c)) for c in CODES if nfkd(chr(c)) != nfd(chr(c))}
    ones = []
    for code, to in sorted((c, ord(text)) for c, text in texts.items() if len(text) == 1):
        if ones and ones[-1][1] == code - 1 and to - code == ones[-1][2] - ones[-1][0]:
            ones[-1][1] = code
        else:
            ones.append([code, code, to])
    pool, places = "", {}
    longer = {c: text for c, text in texts.items() if len(text) > 1}
    for text in sorted(set(longer.values()), key=lambda t: (-len(t), t)):
        if text not in pool:
            pool += text
        places[text] = pool.index(text)
    write("unicode/compatible_table.h", "Compatibility decompositions to one character (Unicode 9.0): first and last of a run, and "
          "what the first becomes. For unicode_forms.c only.",
          [("uint32_t COMPATIBLE[][3]", map(hexes, ones))])
    write("unicode/compatible_texts_table.h", "Compatibility decompositions to several characters (Unicode 9.0): a character times "
          "2^18, where its text begins in COMPATIBLE_POOL times 32, and how long it is. For unicode_forms.c only.",
          [("uint64_t COMPATIBLE_TEXTS[]", [hex(c << 18 | places[t] << 5 | len(t)) for c, t in sorted(longer.items())]),
           ("uint32_t COMPATIBLE_POOL[]", [hex(ord(c)) for c in pool])])
    assert len(pool) < 1 << 13 and max(map(len, longer.values())) < 32


# ---- classes of components ---------------------------------------------------------------------------------------------------

def cuts(cutter, text):
    return [piece for piece, _ in cutter.pre_tokenize_str(text)]


def grapheme_alone(code):
    """Whether a mark behind the character is a grapheme of its own."""
    known = normalizers.Precompiled(golden_pipelines.charsmap({chr(code): "x"})) if code else None
    return code == 0 or known.normalize_str(chr(code) + "\u0301") == "x\u0301"


def grapheme_before(code):
    """Whether it belongs to the grapheme of the character behind it."""
    return normalizers.Precompiled(golden_pipelines.charsmap({chr(code): "x"})).normalize_str(chr(code) + "a") == "x"


def component_classes():
    words, digits = pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False)
    punctuation = pre_tokenizers.Punctuation()
    accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    combining = normalizers.StripAccents()
    graphemes = normalizers.Precompiled(golden_pipelines.charsmap({"a": "b"})) # which replaces what belongs to an a along with it
    result = bytearray(END)
    for code in CODES:
        text, category = chr(code), unicodedata2.category(chr(code))
        bits = WORD * (cuts(words, "a" + text) == ["a" + text])
        bits |= PUNCTUATION * (len(cuts(punctuation, "a" + text)) == 2)
        bits |= NUMERIC * (len(cuts(digits, "a" + text)) == 2)
        bits |= NONSPACING * (FORMS["NFD"](text) == text and accents.normalize_str("a" + text) == "a")
        bits |= COMBINING * (combining.normalize_str(text) == "")
        bits |= CONTROL * (code not in (0, 0xFFFD) and clean.normalize_str(text) == "")
        bits |= ATTACHED * (graphemes.normalize_str("a" + text) == "b")
        bits |= ALONE * ((category in ("Cc", "Cf", "Zl", "Zp") or (category == "Cn" and (code < 0x10000 or code >= 0xE0000) and
                                                                  code < 0xE1000)) and grapheme_alone(code))
        result[code] = bits
    return result


def components():
    before = spans(c for c in CODES if unicodedata2.category(chr(c)) in ("Cf", "Lo", "Mc") and not 0x3400 <= c < 0xA000
                   and c < 0x20000 and c not in HANGUL and grapheme_before(c))
    write("pipeline/char_classes_table.h", "What its components tell apart. Each number is the first code point of a run, times 256, "
          "and the classes of the run, bits of char_classes.h; it ends where the next begins. PREPENDED: characters that belong to the "
          "grapheme of the one behind them. For char_classes.c only.",
          [("uint32_t CHAR_RUNS[]", [hex(first << 8 | bits) for first, bits in runs_of(component_classes())]),
           ("uint32_t PREPENDED[][2]", map(hexes, before))])


def main():
    if tokenizers.__version__ != VERSION or unicodedata2.unidata_version != UNICODE:
        raise SystemExit(f"this is tokenizers {tokenizers.__version__}, not {VERSION}, or Unicode is not {UNICODE}")
    for make in (categories, scripts, widths, cases, forms, compatible, components):
        if make.__name__ in sys.argv[1:] or len(sys.argv) == 1:
            make()


main()
