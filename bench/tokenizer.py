#!/usr/bin/env python3
"""Times tiktoken and rapt in turns on the same text with the same rank file, one thread each: MB/s of encoding the whole
text, and line by line, medians; checks that both count the same tokens. rapt keeps pieces from text to text, so its first pass over
the text is a line of its own, beside tiktoken's best.

    python3 bench/tokenizer.py ENCODING RANK_FILE TEXT [--rapt build/rapt] [--rounds 3] [--json]

ENCODING is cl100k_base, o200k_base or r50k_base. Needs the package tiktoken; nothing is downloaded.
"""
import argparse
import base64
import json
import subprocess
import time

import tiktoken
import tiktoken_ext.openai_public as public

from turns import Figure, in_turns, print_json, seconds

parser = argparse.ArgumentParser()
parser.add_argument("encoding")
parser.add_argument("ranks")
parser.add_argument("text")
parser.add_argument("--rapt", default="build/rapt")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--json", action="store_true")
args = parser.parse_args()


def read_ranks(*_, **__):
    with open(args.ranks, "rb") as lines:
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line.strip())}


public.load_tiktoken_bpe = read_ranks  # which would download the file
started = time.perf_counter()
encoding = tiktoken.Encoding(**getattr(public, args.encoding)())
load_s = time.perf_counter() - started
text = open(args.text, encoding="utf8", newline="").read()
lines = text.split("\n")
mb = len(text.encode()) / 1e6


def mb_s(work):
    return mb / min(seconds(work) for _ in range(3))


def peer():
    whole = mb_s(lambda: encoding.encode_ordinary(text))
    return dict(first_mb_s=whole, encode_mb_s=whole,
                lines_mb_s=mb_s(lambda: [encoding.encode_ordinary(line) for line in lines]))


def own():
    command = [f"{args.rapt}-bench", "tokenizer", f"{args.encoding}:{args.ranks}", args.text, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


runs = in_turns(args.rounds, tiktoken=peer, rapt=own)
load_own, counted = min(run["load_s"] for run in runs["rapt"]), runs["rapt"][0]["tokens"]
figures = [Figure(name, "MB/s", *([run[key] for run in runs[side]] for side in ("rapt", "tiktoken")),
                  f"tiktoken {tiktoken.__version__}") for key, name in (("first_mb_s", "first pass"), ("encode_mb_s", "whole"),
                                                               ("lines_mb_s", "line by line"))]
tokens = len(encoding.encode_ordinary(text))
assert tokens == counted, f"tiktoken: {tokens} tokens, rapt: {counted}"
if args.json:
    print_json(figures)
else:
    print(f"{args.text}: {mb:.2f} MB, {tokens} tokens of {args.encoding}; tiktoken {tiktoken.__version__} loaded it in {load_s:.2f} s, "
          f"rapt in {load_own:.2f} s")
    for row in (figure.summary() for figure in figures):
        print(f"{row['name']:13} tiktoken {row['other']:6.1f} MB/s   rapt {row['rapt']:6.1f} MB/s   ratio {row['times']:.1f} "
              f"({row['least']:.1f} to {row['most']:.1f})")
