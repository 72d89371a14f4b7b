#!/usr/bin/env python3
"""Times `rapt tokenizer train` and the package tokenizers in turns: a byte-level BPE learned from the same text, read from
its file and written to another, with the same number of threads; medians.

    python3 bench/tokenizer_train.py TEXT [--vocab-size 8000] [--threads 2] [--rapt build/rapt] [--rounds 3] [--json]

Needs the package tokenizers. rapt's time is that of the whole program, the package's leaves out Python's start.
"""
import argparse
import json
import os
import subprocess
import tempfile

from turns import Figure, in_turns, print_json, seconds

parser = argparse.ArgumentParser()
parser.add_argument("text")
parser.add_argument("--vocab-size", type=int, default=8000)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rapt", default="build/rapt")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--json", action="store_true")
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


with tempfile.TemporaryDirectory() as folder:
    paths = {name: os.path.join(folder, name + ".json") for name in ("tokenizers", "rapt")}
    runs = in_turns(args.rounds, tokenizers=lambda: seconds(peer, paths["tokenizers"]), rapt=lambda: seconds(own, paths["rapt"]))
    entries = {name: len(json.load(open(path, encoding="utf8"))["model"]["vocab"]) for name, path in paths.items()}
assert entries["tokenizers"] == entries["rapt"], f"vocabularies of different size: {entries}"
figure = Figure("byte-level BPE learned", "s", runs["rapt"], runs["tokenizers"], f"tokenizers {tokenizers.__version__}",
                more_is_better=False)
if args.json:
    print_json([figure])
else:
    row = figure.summary()
    print(f"{args.text}: {os.path.getsize(args.text) / 1e6:.2f} MB, {entries['rapt']} entries, {args.threads} threads; "
          f"{row['beside']} {row['other']:.2f} s   rapt {row['rapt']:.2f} s   ratio {row['times']:.1f}")
