#!/usr/bin/env python3
"""What a JSON schema adds to generation: milliseconds of the first use, and of each token, beside xgrammar and llguidance.

    PYTHONPATH=build/python PYTHON bench/constrained.py RANK_FILE [--tokens 400] [--rounds 5] [--peers]

RANK_FILE is o200k_base.tiktoken or cl100k_base.tiktoken. The model knows nothing (one step of training, one layer of width 32), so that
all that may come does come. Each text is generated with the schema and without, in turns, on one thread; what is printed is the
median of the difference a token, with the smallest and the largest. The first use lasts until eight tokens are there: it reads the
schema, makes the trie of the tokenizer, and has the first masks. Times are the processor's, on one thread, so that other programs
matter little.

--peers needs xgrammar, llguidance, tiktoken and torch beside rapt. A peer takes a random token of those that it allows; its time is
filling the mask, applying it to logits, and accepting the token. Its tokenizer is made once and listed apart.
"""
import argparse
import json
import pathlib
import random
import statistics
import tempfile
import time

import rapt

PERSON = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}, "hobby": {"enum": ["music", "chess", "sport"]},
                                           "age": {"type": "integer", "minimum": 0, "maximum": 150}},
          "required": ["name", "hobby", "age"]}
FIRST = 8  # tokens of the first use


def people(schema):
    """Many in one text, so that it is long."""
    return {"type": "array", "items": schema, "minItems": 1000}


SCHEMAS = {"objects": people(PERSON), "texts": people({"type": "string"}), "any JSON": people(True),
           "a pattern": people({"type": "string", "pattern": "^[a-z ]{20,60}$"}),
           "eight patterns": people({"anyOf": [{"type": "string", "pattern": f"^[^{c}]{{20,}}$"} for c in "abcdefgh"]})}


# ---- rapt ----------------------------------------------------------------------------------------------------------------


def model_of(rank_file, folder):
    text = pathlib.Path(folder, "text.txt")
    text.write_text("Hello, world. " * 200, encoding="utf-8")
    recipe = {"task": "language_model", "data": {"text": str(text), "validation_fraction": 0.2},
              "tokenizer": {"type": rank_file.stem, "path": str(rank_file)},
              "model": {"layers": 1, "d_model": 32, "heads": 2, "ffn": 32, "context": 64, "tied": True},
              "train": {"steps": 1, "batch": 1, "warmup": 1}}
    rapt.train(recipe, out=str(pathlib.Path(folder, "model")))
    return str(pathlib.Path(folder, "model"))


class Rapt:
    name = "rapt"

    def __init__(self, rank_file, folder):
        self.path = model_of(rank_file, folder)

    def tokenizer(self):
        """The trie of a tokenizer is made by the first use."""
        self.lm = rapt.Model.load(self.path, threads=1)
        return 0

    def seconds(self, tokens, seed, **options):
        begun = time.process_time()
        done = self.lm.generate("Hello", max_tokens=tokens, temperature=1.0, top_k=0, seed=seed, **options)
        return time.process_time() - begun, len(done.tokens)

    def first(self, schema, seed):
        plain = min(self.seconds(FIRST, i)[0] for i in range(3))
        return self.seconds(FIRST, seed, json_schema=schema)[0] - plain

    def each(self, schema, tokens, seed):
        free, count = self.seconds(tokens, seed)
        held, held_count = self.seconds(tokens, seed, json_schema=schema)
        return held / held_count - free / count


# ---- peers ---------------------------------------------------------------------------------------------------------------


class Peer:
    """Has vocab, tokenizer, begin(schema): a matcher, and step(matcher, row, random): fills, applies, chooses, accepts."""

    def __init__(self, rank_file, _folder):
        import tiktoken.load
        self.ranks = tiktoken.load.load_tiktoken_bpe(str(rank_file))
        self.end = len(self.ranks)
        self.vocab = self.end + 1

    def text(self, schema, tokens, seed):
        """Seconds in what the peer does; choosing is left out."""
        r, begun = random.Random(seed), time.process_time()
        matcher = self.begin(schema)
        read = time.process_time() - begun
        spent = 0.0
        for _ in range(tokens):
            x = self.zeros()
            begun = time.process_time()
            self.mask(matcher, x)
            spent += time.process_time() - begun
            allowed = (x.reshape(-1) == 0).nonzero()
            allowed = allowed[0] if isinstance(allowed, tuple) else allowed[:, 0]
            token = int(allowed[r.randrange(len(allowed))])
            begun = time.process_time()
            fine = self.accept(matcher, token)
            spent += time.process_time() - begun
            if not fine:
                raise SystemExit(f"{self.name} does not take token {token}, which it has allowed")
        return read + spent, spent / tokens

    def first(self, schema, seed):
        return self.text(schema, FIRST, seed)[0]

    def each(self, schema, tokens, seed):
        return self.text(schema, tokens, seed)[1]


class XGrammar(Peer):
    name = "xgrammar"

    def tokenizer(self):
        import torch
        import xgrammar
        torch.set_num_threads(1)
        self.x, self.torch = xgrammar, torch
        begun = time.process_time()
        words = [b""] * self.vocab
        for word, rank in self.ranks.items():
            words[rank] = word
        words[self.end] = b"<|endoftext|>"
        info = xgrammar.TokenizerInfo(words, xgrammar.VocabType.RAW, stop_token_ids=[self.end])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self.bits = xgrammar.allocate_token_bitmask(1, self.vocab)
        return time.process_time() - begun

    def zeros(self):
        return self.torch.zeros(1, self.vocab)

    def begin(self, schema):
        return self.x.GrammarMatcher(self.compiler.compile_json_schema(schema))

    def mask(self, matcher, x):
        matcher.fill_next_token_bitmask(self.bits)
        self.x.apply_token_bitmask_inplace(x, self.bits)

    def accept(self, matcher, token):
        return matcher.accept_token(token)


class LLGuidance(Peer):
    name = "llguidance"

    def tokenizer(self):
        import llguidance.numpy
        import numpy
        self.l, self.numpy = llguidance, numpy
        begun = time.process_time()
        self.words = llguidance.LLTokenizer.from_tiktoken(encoder=self.ranks, special_tokens={"<|endoftext|>": self.end},
                                                          pattern=r"\p{L}+|\s+|[^\s\p{L}]+", eos_token=self.end, n_vocab=self.vocab)
        self.bits = llguidance.numpy.allocate_token_bitmask(1, self.vocab)
        return time.process_time() - begun

    def zeros(self):
        return self.numpy.zeros((1, self.vocab), self.numpy.float32)

    def begin(self, schema):
        return self.l.LLMatcher(self.words, self.l.LLMatcher.grammar_from_json_schema(schema), log_level=0)

    def mask(self, matcher, x):
        self.l.numpy.fill_next_token_bitmask(matcher, self.bits, 0)
        self.l.numpy.apply_token_bitmask_inplace(x, self.bits)

    def accept(self, matcher, token):
        if matcher.is_error():
            raise SystemExit(f"llguidance: {matcher.get_error()}")
        return matcher.consume_token(token)


# ---- all of it -----------------------------------------------------------------------------------------------------------


def spread(values):
    values = [1e3 * v for v in values]
    return f"{statistics.median(values):.2f} ms ({min(values):.2f} to {max(values):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rank_file", type=pathlib.Path)
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = [side(a.rank_file.resolve(), folder) for side in ([Rapt, XGrammar, LLGuidance] if a.peers else [Rapt])]
        once, first, each = ({} for _ in range(3))
        for i in range(a.rounds):
            for name, schema in SCHEMAS.items():
                for side in sides:
                    key = side.name, name
                    once.setdefault(side.name, []).append(side.tokenizer())
                    first.setdefault(key, []).append(side.first(json.dumps(schema), i))
                    side.each(json.dumps(schema), 16, i)
                    each.setdefault(key, []).append(side.each(json.dumps(schema), a.tokens, i))
        for side in sides[1:]:
            print(f"{side.name}: tokenizer, once {spread(once[side.name])}")
        for name in SCHEMAS:
            for side in sides:
                print(f"{name}: {side.name}: first use {spread(first[side.name, name])}, a token {spread(each[side.name, name])}")


if __name__ == "__main__":
    main()
