#!/usr/bin/env python3
"""Times `rapt tokenizer train` and the package tokenizers in turns: a byte-level BPE learned from the same text, read from
its file and written to another, with the same number of threads; the best of the rounds.

    python3 bench/tokenizer_train.py TEXT [--vocab-size 8000] [--threads 2] [--rapt build/rapt] [--rounds 3]

Needs the package tokenizers. rapt's time is that of the whole program, the package's leaves out Python's start.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("text")
parser.add_argument("--vocab-size", type=int, default=8000)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rapt", default="build/rapt")
parser.add_argument("--rounds", type=int, default=3)
args = parser.parse_args()
os.environ["RAYON_NUM_THREADS"] = str(args.threads)  # read by the package when it first needs threads

import tokenizers
from tokenizers import models, pre_tokenizers, trainers


def peer(out):
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=args.vocab_size, min_frequency=2, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train([args.text], trainer)
    tokenizer.save(out)


def own(out):
    command = [args.rapt, "tokenizer", "train", args.text, "-o", out, "--quiet", "--threads", str(args.threads),
               "--vocab-size", str(args.vocab_size)]
    subprocess.run(command, check=True)


def seconds(work, out):
    before = time.perf_counter()
    work(out)
    return time.perf_counter() - before


with tempfile.TemporaryDirectory() as folder:
    paths = {name: os.path.join(folder, name + ".json") for name in ("tokenizers", "rapt")}
    best = dict.fromkeys(paths, float("inf"))
    for _ in range(args.rounds):
        for name, work in ("tokenizers", peer), ("rapt", own):
            best[name] = min(best[name], seconds(work, paths[name]))
    entries = {name: len(json.load(open(path, encoding="utf8"))["model"]["vocab"]) for name, path in paths.items()}
assert entries["tokenizers"] == entries["rapt"], f"vocabularies of different size: {entries}"
print(f"{args.text}: {os.path.getsize(args.text) / 1e6:.2f} MB, {entries['rapt']} entries, {args.threads} threads; "
      f"tokenizers {tokenizers.__version__} {best['tokenizers']:.2f} s   rapt {best['rapt']:.2f} s   "
      f"ratio {best['tokenizers'] / best['rapt']:.1f}")
