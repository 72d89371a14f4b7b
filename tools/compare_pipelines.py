#!/usr/bin/env python3
"""Compares the ids and the texts of `rapt tokenizer` with those of the package `tokenizers`, on the tokenizer files of
tools/golden_pipelines.py: for each file, all code points in turn, texts that are hard to tokenize, random ones, a long one without
spaces, and a megabyte of plain text. Prints a line a file; ends with status 1 where an id differs.

Run it at the root of the project, with the package tokenizers==0.23.3 installed:
    python3 tools/compare_pipelines.py build/rapt TEXT... [--only NAME] [--charsmap FILE]
"""
import argparse
import json
import pathlib
import random
import subprocess
import tempfile

import golden_pipelines

BYTES = 1 << 20


def hard_texts():
    choice = random.Random(7)
    codes = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    yield from golden_pipelines.TEXTS
    for i in range(0, len(codes), 512):
        yield "".join(codes[i:i + 512])
        yield " ".join("a" + c for c in codes[i:i + 512])
    yield "".join(choice.choice("abcdefgh") for _ in range(100_000))
    for _ in range(3000):
        yield "".join(choice.choice([chr(choice.randrange(0x20, 0x250)), choice.choice(golden_pipelines.TEXTS)[:5],
                                     choice.choice(codes[:0x3000]), " ", choice.choice(" -.,'\n\u2581\u0301")])
                      for _ in range(choice.randrange(40)))


def run(*command, input):
    return subprocess.run(command, input=input.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()


def objects(lines):
    return [json.loads(line) for line in lines.split("\n") if line]


def compare(rapt, name, document, texts):
    """Texts whose ids differ, with special tokens and without, and texts that decode to something else."""
    tokenizer = golden_pipelines.load(document)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(document))
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        special = objects(run(rapt, "tokenizer", "encode", "--jsonl", "--specials", str(path), input=lines))
        plain = objects(run(rapt, "tokenizer", "encode", "--jsonl", str(path), input=lines))
        wrong = [0, 0, 0]
        for text, one, two in zip(texts, special, plain, strict=True):
            ids, others = golden_pipelines.encoded(tokenizer, text)
            for i, same in enumerate((one["ids"] == ids, two["ids"] == others)):
                wrong[i] += not same
                if not same and sum(wrong) <= 3:
                    print(f"  {text[:70]!r}\n  {(ids, others)[i][:30]}\n  {(one, two)[i]['ids'][:30]}")
            if len(ids) < 100_000 and len(text) < 2000 or len(text) > BYTES // 2:
                decoded = run(rapt, "tokenizer", "decode", str(path), input=" ".join(map(str, ids)) + "\n") if len(
                    text) > BYTES // 2 else None
                if decoded is not None and decoded.rstrip("\n") != tokenizer.decode(ids, skip_special_tokens=False).rstrip("\n"):
                    wrong[2] += 1
    print(f"{name}: {len(texts)} texts; ids differ in {wrong[0]} with special tokens, {wrong[1]} without; {wrong[2]} decode otherwise",
          flush=True)
    return sum(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rapt")
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--only")
    parser.add_argument("--charsmap", help="a precompiled_charsmap of a SentencePiece model, in the place of the golden's")
    arguments = parser.parse_args()
    texts = [*hard_texts(), *(pathlib.Path(p).read_text(encoding="utf-8")[:BYTES] for p in arguments.texts)]
    if arguments.charsmap:
        charsmap = pathlib.Path(arguments.charsmap).read_bytes()
        golden_pipelines.charsmap = lambda rules: charsmap
    wrong = sum(compare(arguments.rapt, name, make(), texts) for name, make in golden_pipelines.FILES.items()
                if arguments.only in (None, name))
    raise SystemExit(wrong > 0)


main()
