#!/usr/bin/env python3
"""Makes src/decode/markup/entities_table.h: the named character references of HTML, from Python's html.entities, which has them
from the HTML standard (section 13.5).
    python3 tools/make_entities.py
"""
import html.entities
import pathlib
import string
import textwrap

OUT = pathlib.Path(__file__).resolve().parent.parent / "src" / "decode" / "markup" / "entities_table.h"
LETTERS = string.ascii_uppercase + string.ascii_lowercase
names = {letter: sorted(name for name in html.entities.html5 if name[0] == letter) for letter in LETTERS}
assert not any(name[1] in string.digits for name in html.entities.html5)  # which would continue an escape of C
assert sum(map(len, names.values())) == len(html.entities.html5)


def wrapped(elements, begin="    "):
    return textwrap.wrap(" ".join(elements), 126, initial_indent=begin, subsequent_indent=begin)


def strings(group):
    """A C string of names without their first letters, each ended by a NUL, on lines of one string each."""
    text, lines = "", []
    for name in group:
        if len(text) + len(name) > 118:
            lines.append(f'    "{text}"')
            text = ""
        text += name[1:] + "\\0"
    return lines + [f'    "{text}"']


codes, firsts = [], [0]
for letter in LETTERS:
    for name in names[letter]:
        characters = [ord(c) for c in html.entities.html5[name]]
        codes.append(f"{{{', '.join(f'0x{c:x}' for c in characters)}}},")
    firsts.append(len(codes))
out = ["/* decode/markup/entities_table.h: made by tools/make_entities.py; not to be edited. Named character references of HTML (WHATWG",
       " * HTML standard, section 13.5), sorted, by their first letter: A to Z, then a to z. For entities.c only. */",
       "#include <stdint.h>", "",
       "/* Names without the first letter, with the semicolon of those that have one, each ended by a NUL; the last by two. */",
       f"static const char *const ENTITY_NAMES[{len(LETTERS)}] = {{"]
for letter in LETTERS:
    lines = strings(names[letter]) if names[letter] else ['    ""']
    lines[-1] += ","
    out += lines
out += ["};", "", "/* The index of the first name of each letter in ENTITY_CODES, and of the end. */",
        f"static const uint16_t ENTITY_FIRST[{len(firsts)}] = {{"] + wrapped(f"{f}," for f in firsts) + ["};", "",
        "/* The characters of each name; one, or two. */", f"static const uint32_t ENTITY_CODES[{len(codes)}][2] = {{"]
out += wrapped(codes) + ["};"]
OUT.write_text("\n".join(out) + "\n")
