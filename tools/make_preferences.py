#!/usr/bin/env python3
"""Writes data/preferences.jsonl: pairs of answers of which the shorter one is better, from data/conversations.jsonl. For
recipes/preferences.yaml; the same bytes every time.

    tools/make_preferences.py [-o FILE]     needs Python 3.10, nothing else

Of an answer of several sentences the first one is chosen, and all of it rejected. An answer of one sentence is chosen, and
rejected with one of the ENDINGS.
"""
import argparse
import json
import re
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
ENDINGS = ["I hope that helps.", "Do you have another question?", "Please ask if anything is unclear.", "That is all I know about it.",
           "There is much more to say about this.", "Feel free to ask for details."]
SENTENCE_END = re.compile(r"(?<=[a-zA-Z0-9)][.!?]) (?=[A-Z])")


def preference(number, line):
    *prompt, answer = json.loads(line)["messages"]
    first, *rest = SENTENCE_END.split(answer["content"])
    whole = answer["content"] if rest else f"{first} {ENDINGS[number % len(ENDINGS)]}"
    return {"prompt": prompt, "chosen": [{**answer, "content": first}], "rejected": [{**answer, "content": whole}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=DATA / "preferences.jsonl")
    path = parser.parse_args().o
    lines = (DATA / "conversations.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [preference(i, line) for i, line in enumerate(lines) if line]
    path.write_text("".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs), encoding="utf-8")
    print(f"{len(pairs)} pairs, {sum(len(p['rejected'][0]['content']) for p in pairs)} characters rejected")


if __name__ == "__main__":
    main()
