#!/usr/bin/env python3
"""A training step of a language model in PyTorch: what `rapt bench train --case a4n` and `--case a5` do, for comparison.

    python bench/pytorch_lm.py [--case a4n] [--compile] [--adam fused] [--threads 2] [--seconds 10]      needs torch

Prints one JSON object. Random tokens; pre-norm blocks with GELU and learned positions, cross-entropy over all positions,
clipping to norm 1, AdamW: fused, or stock, which is what PyTorch takes on a CPU where nothing is said. --compile passes
model and loss through torch.compile. A third of the time warms up; then `ms` is the median of all steps. `first_step_s`
has the compiler's time in it.
"""
import argparse
import json
import resource
import time
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional


class Case(NamedTuple):
    vocab: int
    width: int
    heads: int
    layers: int
    time: int
    batch: int
    dropout: float
    bias: bool  # of linear layers and norms
    tied: bool  # the output matrix is the embedding; else it is its own, with a bias


CASES = {"a4n": Case(65, 128, 4, 4, 64, 12, 0.0, False, True), "a5": Case(100069, 64, 4, 8, 16, 4, 0.1, True, False)}


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.case = c
        self.norm1, self.norm2 = (nn.LayerNorm(c.width, bias=c.bias) for _ in range(2))
        self.qkv = nn.Linear(c.width, 3 * c.width, bias=c.bias)
        self.o = nn.Linear(c.width, c.width, bias=c.bias)
        self.ffn = nn.Sequential(nn.Linear(c.width, 4 * c.width, bias=c.bias), nn.GELU(),
                                 nn.Linear(4 * c.width, c.width, bias=c.bias))
        self.dropout = nn.Dropout(c.dropout)

    def attend(self, x):
        q, k, v = (part.unflatten(2, (self.case.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.case.dropout)
        return self.o(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.dropout(self.attend(self.norm1(x)))
        return x + self.dropout(self.ffn(self.norm2(x)))


class LanguageModel(nn.Module):
    """Gives the loss, so that it is compiled together with the rest."""

    def __init__(self, c):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(c.vocab, c.width), nn.Embedding(c.time, c.width)
        for table in self.embedding, self.positions:
            nn.init.normal_(table.weight, std=0.02)
        self.dropout, self.norm = nn.Dropout(c.dropout), nn.LayerNorm(c.width, bias=c.bias)
        self.blocks = nn.Sequential(*(Block(c) for _ in range(c.layers)))
        self.output = nn.Linear(c.width, c.vocab, bias=not c.tied)
        if c.tied:
            self.output.weight = self.embedding.weight

    def forward(self, inputs, labels):
        x = self.blocks(self.dropout(self.embedding(inputs) + self.positions.weight))
        return functional.cross_entropy(self.output(self.norm(x)).flatten(0, 1), labels.flatten())


def random_batch(c):
    ids = torch.randint(c.vocab, (c.batch, c.time + 1))
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def step(loss_of, parameters, optimizer, batch):
    """Milliseconds of one step, with a look at the loss."""
    before = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(*batch)
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    loss.item()
    return 1e3 * (time.perf_counter() - before)


def measure(seconds, run):
    """Times of the first step, and of those after a third of the time; `run` makes the step of a number."""
    first, number, times = run(0), 1, []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds / 3 or number < 4:
        run(number)
        number += 1
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times) < 5:
        times.append(run(number))
        number += 1
    return first, sorted(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", choices=CASES, default="a4n")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--adam", choices=("fused", "stock"), default="fused")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    c = CASES[options.case]
    model, batches = LanguageModel(c), [random_batch(c) for _ in range(8)]
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=0.001, weight_decay=0.01, fused=options.adam == "fused" or None)
    loss_of = torch.compile(model) if options.compile else model
    first, times = measure(options.seconds, lambda i: step(loss_of, parameters, optimizer, batches[i % len(batches)]))
    print(json.dumps({"sys": "torch " + torch.__version__, "case": options.case, "compiled": options.compile,
                      "adam": options.adam, "threads": options.threads, "params": sum(p.numel() for p in parameters),
                      "ms": round(times[len(times) // 2], 3), "p10": round(times[len(times) // 10], 3),
                      "p90": round(times[len(times) * 9 // 10], 3), "steps": len(times),
                      "first_step_s": round(first / 1e3, 2),
                      "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
