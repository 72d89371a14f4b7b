#!/usr/bin/env python3
"""Compares rapt with sentencepiece: ids and decoded texts, for models of all types and settings, trained here.

    pip install sentencepiece==0.2.3
    python tools/compare_spm.py [--rapt build/rapt] [--lines 20000] [--seed 1] TEXT...

The TEXTs are what models are trained on (their first 20,000 lines). They are compared line by line and as one text, then as many
random lines: words of the TEXTs, characters of all planes, odd spaces, broken UTF-8. Prints a line a model; exit status 1 where
anything differs."""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import sentencepiece

import spm_texts


def settings():
    """Options of the trainer, by name."""
    found = {}
    for kind in ("unigram", "bpe"):
        for rules in ("nmt_nfkc", "nmt_nfkc_cf", "nfkc", "identity"):
            found[f"{kind} {rules}"] = {"model_type": kind, "normalization_rule_name": rules}
            found[f"{kind} {rules} bytes"] = {"model_type": kind, "normalization_rule_name": rules, "byte_fallback": True,
                                              "vocab_size": 8000}
        found[f"{kind} kept"] = {"model_type": kind, "user_defined_symbols": spm_texts.USER_DEFINED + ["the", "▁of", "a b"]}
        found[f"{kind} suffix"] = {"model_type": kind, "treat_whitespace_as_suffix": True}
        found[f"{kind} no prefix"] = {"model_type": kind, "add_dummy_prefix": False}
        found[f"{kind} spaces"] = {"model_type": kind, "remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True}
        found[f"{kind} as is"] = {"model_type": kind, "normalization_rule_name": "identity", "add_dummy_prefix": False,
                                  "remove_extra_whitespaces": False, "byte_fallback": True, "split_by_whitespace": False}
        found[f"{kind} small"] = {"model_type": kind, "vocab_size": 500}
    found["char"] = {"model_type": "char"}
    found["word"] = {"model_type": "word"}
    return found


def rapt(arguments, data):
    done = subprocess.run(arguments, input=data, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    return done.stdout


def id_lines(lists):
    return "".join(" ".join(map(str, ids)) + "\n" for ids in lists).encode()


def compare_lines(program, path, processor, lines):
    """How many lines differ in their ids, and how many decoded texts."""
    wanted = [processor.encode(line) for line in lines]
    got = rapt([program, "tokenizer", "encode", "--lines", path], b"\n".join(lines) + b"\n").decode().splitlines()
    ids = sum(" ".join(map(str, a)) != b for a, b in zip(wanted, got)) + abs(len(wanted) - len(got))
    if ids:
        at = next(i for i, (a, b) in enumerate(zip(wanted, got)) if " ".join(map(str, a)) != b)
        print(f"  {lines[at]!r}\n  {wanted[at]}\n  {got[at]}")
    whole = [ids for ids in wanted if b"\n" not in processor.decode(ids).encode()]
    texts = rapt([program, "tokenizer", "decode", "--lines", path], id_lines(whole)).split(b"\n")[:-1]
    decoded = sum(processor.decode(a).encode() != b for a, b in zip(whole, texts)) + abs(len(whole) - len(texts))
    return ids, decoded


def compare_text(program, path, processor, text):
    wanted = processor.encode(text)
    got = rapt([program, "tokenizer", "encode", path], text)
    back = rapt([program, "tokenizer", "decode", path], got)
    return got.decode().strip() != " ".join(map(str, wanted)), back != processor.decode(wanted).encode()


def compare_model(a, name, data, lines, text, folder):
    path = f"{folder}/t.model"
    pathlib.Path(path).write_bytes(data)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    ids, decoded = compare_lines(a.rapt, path, processor, lines)
    whole = compare_text(a.rapt, path, processor, text)
    print(f"{name:28} {processor.get_piece_size():6} pieces, {len(lines)} lines: {ids} differ in ids, {decoded} in text; "
          f"one text of {len(text)} bytes: {'differs' if any(whole) else 'equal'}", flush=True)
    return ids + decoded + sum(whole)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rapt", default="build/rapt")
    parser.add_argument("--lines", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="models whose names have this in them")
    parser.add_argument("texts", nargs="+")
    a = parser.parse_args()
    rng = random.Random(a.seed)
    text = b"\n".join(pathlib.Path(path).read_bytes() for path in a.texts)
    plain = text.decode(errors="ignore").splitlines()
    words = text.decode(errors="ignore").split()
    lines = [line.encode().replace(b"\n", b"") for line in plain]
    lines += [spm_texts.hard_line(rng, words) for _ in range(a.lines)] + [t for t in spm_texts.HARD if b"\n" not in t]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, options in settings().items():
            if a.only in name:
                data = spm_texts.train(plain[:20000], **{"vocab_size": 4000, **options})
                wrong += compare_model(a, name, data, lines, text, folder)
        for name, data in spm_texts.made().items():
            if a.only in name:
                wrong += compare_model(a, name, data, spm_texts.tie_lines(rng, a.lines), b" ".join(spm_texts.tie_lines(rng, 5000)), folder)
    print(f"sentencepiece {sentencepiece.__version__}: {'equal' if wrong == 0 else f'{wrong} differences'}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
