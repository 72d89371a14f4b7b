#!/usr/bin/env python3
"""Compares rapt with transformers' MarianTokenizer, for both sides of a folder: ids with </s>, and decoded texts without special tokens.

    pip install transformers==5.23.0 sentencepiece==0.2.3
    python tools/compare_marian.py [--rapt build/rapt] [--folder tests/text/marian] [--lines 10000] [--seed 1] TEXT...

Lines of the TEXTs, and as many random ones as --lines says, of which some begin with a language code. Left out are lines with the
text of a special token. Exit status 1 where anything differs."""
import argparse
import pathlib
import random
import subprocess
import sys

from transformers import MarianTokenizer

import spm_texts


def lines_of(a, rng):
    text = "\n".join(pathlib.Path(path).read_text(errors="ignore") for path in a.texts)
    words, codes = text.split(), [">>deu<<", ">>fra<< ", ">>x<<", ">>", "<<"]
    made = [spm_texts.hard_line(rng, words).decode(errors="ignore") for _ in range(a.lines)]
    made = [rng.choice(codes) + line if rng.random() < 0.2 else line for line in made]
    return [line for line in text.split("\n") + made if not any(t in line for t in ("</s>", "<unk>", "<pad>"))]


def rapt(*arguments, data):
    return subprocess.run(arguments, input=data.encode(), capture_output=True, check=True).stdout.decode()


def compare_side(a, tokenizer, side, lines):
    wanted = [tokenizer(line).input_ids if side == "source" else tokenizer(text_target=line).input_ids for line in lines]
    path = f"{a.folder}/{side}.spm"
    got = rapt(a.rapt, "tokenizer", "encode", "--specials", "--lines", path, data="".join(line + "\n" for line in lines)).split("\n")[:-1]
    ids = sum(" ".join(map(str, w)) != g for w, g in zip(wanted, got)) + abs(len(wanted) - len(got))
    texts = [tokenizer.decode(w, skip_special_tokens=True) for w in wanted]
    whole = [(w, t) for w, t in zip(wanted, texts) if "\n" not in t]
    decoded = rapt(a.rapt, "tokenizer", "decode", "--lines", path, data="".join(" ".join(map(str, w)) + "\n" for w, _ in whole))
    wrong = sum(t != g for (_, t), g in zip(whole, decoded.split("\n")))
    print(f"{side}: {len(lines)} lines: {ids} differ in ids, {wrong} of {len(whole)} in text")
    return ids + wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rapt", default="build/rapt")
    parser.add_argument("--folder", default="tests/text/marian")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("texts", nargs="+")
    a = parser.parse_args()
    lines = lines_of(a, random.Random(a.seed))
    tokenizer = MarianTokenizer(*(f"{a.folder}/{name}" for name in ("source.spm", "target.spm", "vocab.json")))
    return sum(compare_side(a, tokenizer, side, lines) for side in ("source", "target")) > 0


if __name__ == "__main__":
    sys.exit(main())
