#!/usr/bin/env python3
"""Times tiktoken and rapt in turns on the same text with the same rank file, one thread each: MB/s of encoding the whole
text, and line by line; checks that both count the same tokens. rapt keeps pieces from text to text, so its first pass over the text
is a line of its own, beside tiktoken's best.

    python3 bench/tokenizer.py ENCODING RANK_FILE TEXT [--rapt build/rapt] [--rounds 3]

ENCODING is cl100k_base, o200k_base or r50k_base. Needs the package tiktoken; nothing is downloaded.
"""
import argparse
import base64
import json
import subprocess
import time

import tiktoken
import tiktoken_ext.openai_public as public

parser = argparse.ArgumentParser()
parser.add_argument("encoding")
parser.add_argument("ranks")
parser.add_argument("text")
parser.add_argument("--rapt", default="build/rapt")
parser.add_argument("--rounds", type=int, default=3)
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
    best = min(timed(work) for _ in range(3))
    return mb / best


def timed(work):
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def peer():
    return dict(encode_mb_s=mb_s(lambda: encoding.encode_ordinary(text)),
                lines_mb_s=mb_s(lambda: [encoding.encode_ordinary(line) for line in lines]))


def own():
    command = [f"{args.rapt}-bench", "tokenizer", f"{args.encoding}:{args.ranks}", args.text, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


best = {"tiktoken": {}, "rapt": {}}
for _ in range(args.rounds):
    for name, run in ("tiktoken", peer), ("rapt", own):
        result = run()
        best[name] = {key: (min if key == "load_s" else max)(result[key], best[name].get(key, result[key])) for key in result}
tokens = len(encoding.encode_ordinary(text))
assert tokens == best["rapt"]["tokens"], f"tiktoken: {tokens} tokens, rapt: {best['rapt']['tokens']}"
print(f"{args.text}: {mb:.2f} MB, {tokens} tokens of {args.encoding}; tiktoken {tiktoken.__version__} loaded it in {load_s:.2f} s, "
      f"rapt in {best['rapt']['load_s']:.2f} s")
best["tiktoken"]["first_mb_s"] = best["tiktoken"]["encode_mb_s"]
for key, name in ("first_mb_s", "first pass"), ("encode_mb_s", "encode"), ("lines_mb_s", "line by line"):
    theirs, ours = best["tiktoken"][key], best["rapt"][key]
    print(f"{name:13} tiktoken {theirs:6.1f} MB/s   rapt {ours:6.1f} MB/s   ratio {ours / theirs:.1f}")
