#!/usr/bin/env python3
"""What a JSON schema adds to generation: milliseconds of the first use, and of each token.

    PYTHONPATH=build/python PYTHON bench/constrained.py RANK_FILE [--tokens 400] [--rounds 5]

RANK_FILE is o200k_base.tiktoken or cl100k_base.tiktoken. The model knows nothing (one step of training, one layer of width 32), so that
all that may come does come. Each text is generated with the schema and without, in turns, on one thread; what is printed is the
difference a token, with the smallest and the largest. The first use reads the schema and makes the trie of the tokenizer.
"""
import argparse
import json
import pathlib
import statistics
import tempfile
import time

import rapt

PERSON = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}, "hobby": {"enum": ["music", "chess", "sport"]},
                                           "age": {"type": "integer", "minimum": 0, "maximum": 150}},
          "required": ["name", "hobby", "age"]}


def people(schema):
    """Many in one text, so that it is long."""
    return {"type": "array", "items": schema, "minItems": 1000}


SCHEMAS = {"objects": people(PERSON), "texts": people({"type": "string"}), "any JSON": people(True),
           "a pattern": people({"type": "string", "pattern": "^[a-z ]{20,60}$"}),
           "eight patterns": people({"anyOf": [{"type": "string", "pattern": f"^[^{c}]{{20,}}$"} for c in "abcdefgh"]})}


def model_of(rank_file, folder):
    text = pathlib.Path(folder, "text.txt")
    text.write_text("Hello, world. " * 200, encoding="utf-8")
    recipe = {"task": "language_model", "data": {"text": str(text), "validation_fraction": 0.2},
              "tokenizer": {"type": rank_file.stem, "path": str(rank_file)},
              "model": {"layers": 1, "d_model": 32, "heads": 2, "ffn": 32, "context": 64, "tied": True},
              "train": {"steps": 1, "batch": 1, "warmup": 1}}
    rapt.train(recipe, out=str(pathlib.Path(folder, "model")))
    return str(pathlib.Path(folder, "model"))


def seconds(lm, tokens, **options):
    begun = time.perf_counter()
    done = lm.generate("Hello", max_tokens=tokens, temperature=1.0, top_k=0, **options)
    return time.perf_counter() - begun, len(done.tokens)


def added(lm, schema, tokens, rounds):
    """Milliseconds a token, once all is warm."""
    found = []
    for i in range(rounds + 1):
        free, count = seconds(lm, tokens, seed=i)
        held, held_count = seconds(lm, tokens, seed=i, json_schema=schema)
        found.append(1e3 * (held / held_count - free / count))
    return found[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rank_file", type=pathlib.Path)
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = model_of(a.rank_file.resolve(), folder)
        for name, schema in SCHEMAS.items():
            lm = rapt.Model.load(path, threads=1) # its tokenizer has no trie yet
            plain = min(seconds(lm, 1, seed=i)[0] for i in range(3))
            first = seconds(lm, 1, seed=1, json_schema=json.dumps(schema))[0] - plain
            each = added(lm, schema, a.tokens, a.rounds)
            print(f"{name}: first use {1e3 * first:.1f} ms, a token {statistics.median(each):.3f} ms ({min(each):.3f} to {max(each):.3f})")


if __name__ == "__main__":
    main()
