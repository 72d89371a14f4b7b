#!/usr/bin/env python3
"""A training step in PyTorch: the cases of `rapt-bench train`, the same work, for comparison.

    python bench/pytorch/train.py [--case a1] [--mode eager] [--adam fused] [--threads 2] [--seconds 5]      needs torch

Prints one JSON object. Random sentences or tokens; loss, backward, clipping to norm 1, Adam: fused, or stock, which is what
PyTorch takes on a CPU where nothing is said. Modes: eager, compile (torch.compile), bf16 (autocast), compile_bf16. A third
of the time warms up; then `ms` is the median of all steps. `first_step_s` has the compiler's time in it.
"""
import argparse
import contextlib
import json
import resource
import time
from typing import NamedTuple

import torch
from torch import nn

from models import LanguageModel, Translator


class Case(NamedTuple):
    model: type
    vocab: int
    width: int
    ffn: int
    heads: int
    layers: int
    time: int  # tokens of a row
    batch: int
    dropout: float
    lr: float
    tied: bool  # the output matrix is the embedding; else it is its own, with a bias
    shortest: int = 0  # sentences: tokens at least
    smoothing: float = 0
    book: bool = False  # modules as the book writes them
    context: int = 0  # language models: positions
    bias: bool = True


CASES = {
    "a1": Case(Translator, 200, 32, 64, 4, 2, 10, 64, 0.1, 0.005, False, shortest=4, book=True),
    "a2": Case(Translator, 10000, 128, 256, 4, 4, 16, 256, 0.3, 0.001, True, shortest=12, smoothing=0.1),
    "a3": Case(Translator, 10000, 512, 2048, 8, 6, 32, 64, 0.1, 0.0001, True, shortest=26, smoothing=0.1),
    "a4n": Case(LanguageModel, 65, 128, 512, 4, 4, 64, 12, 0.0, 0.001, True, context=64, bias=False),
    "a4b": Case(LanguageModel, 65, 384, 1536, 6, 6, 256, 8, 0.2, 0.001, True, context=256, bias=False),
    "a5": Case(LanguageModel, 100069, 64, 256, 4, 8, 16, 4, 0.1, 0.001, False, context=16),
    "a6": Case(LanguageModel, 50257, 768, 3072, 12, 12, 64, 4, 0.0, 0.0001, True, context=1024),
}


def random_batch(c):
    if c.model is LanguageModel:
        ids = torch.randint(c.vocab, (c.batch, c.time + 1))
        return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    ids = [torch.randint(4, c.vocab, (c.batch, c.time)) for _ in range(3)]
    return (*ids, *(torch.randint(c.shortest, c.time + 1, (c.batch,)) for _ in range(2)))


def optimizer_of(c, parameters, adam):
    if c.model is Translator:
        return torch.optim.Adam(parameters, lr=c.lr, fused=adam == "fused" or None)
    return torch.optim.AdamW(parameters, lr=c.lr, weight_decay=0.01, fused=adam == "fused" or None)


def step(loss_of, parameters, optimizer, batch, precision):
    """Milliseconds of one step, with a look at the loss."""
    before = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    with precision():
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
    parser.add_argument("--case", choices=CASES, default="a1")
    parser.add_argument("--mode", choices=("eager", "compile", "bf16", "compile_bf16"), default="eager")
    parser.add_argument("--adam", choices=("fused", "stock"), default="fused")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    c = CASES[options.case]
    model, batches = c.model(c), [random_batch(c) for _ in range(8)]
    parameters = list(model.parameters())
    optimizer = optimizer_of(c, parameters, options.adam)
    loss_of = torch.compile(model) if "compile" in options.mode else model
    precision = (lambda: torch.autocast("cpu", torch.bfloat16)) if "bf16" in options.mode else contextlib.nullcontext
    first, times = measure(options.seconds,
                           lambda i: step(loss_of, parameters, optimizer, batches[i % len(batches)], precision))
    print(json.dumps({"sys": "torch " + torch.__version__, "case": options.case, "mode": options.mode, "adam": options.adam,
                      "threads": options.threads, "params": sum(p.numel() for p in parameters),
                      "ms": round(times[len(times) // 2], 3), "p10": round(times[len(times) // 10], 3),
                      "p90": round(times[len(times) * 9 // 10], 3), "steps": len(times),
                      "first_step_s": round(first / 1e3, 2),
                      "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
