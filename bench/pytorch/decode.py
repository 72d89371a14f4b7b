#!/usr/bin/env python3
"""GPT-2 124M with random weights that writes in PyTorch, greedily, for comparison with `rapt-bench decode`.

    python bench/pytorch/decode.py [--batch 1] [--dtype fp32] [--prompt 32] [--new 128] [--compile] [--threads 2]
        [--seconds 5]      needs torch; --compile a C++ compiler, too

A prompt of random tokens, and new ones; keys and values are kept in memory made once, attention is PyTorch's own. Prints
one JSON object: of the median of all rows, `tok_s` (the prompt's time is in it), and the median of all `step_ms`.
"""
import argparse
import json
import resource
import time

import torch
from torch.nn import functional

VOCAB, WIDTH, HEADS, LAYERS, CONTEXT = 50257, 768, 12, 12, 1024


class Layer:
    def __init__(self, dtype):
        def linear(inputs, outputs):
            return (torch.randn(outputs, inputs) * 0.02).to(dtype), torch.zeros(outputs, dtype=dtype)

        self.norm1, self.norm2 = (norm_parameters(dtype) for _ in range(2))
        self.qkv, self.o = linear(WIDTH, 3 * WIDTH), linear(WIDTH, WIDTH)
        self.dense1, self.dense2 = linear(WIDTH, 4 * WIDTH), linear(4 * WIDTH, WIDTH)

    def start(self, batch, length, dtype):
        self.kept = torch.zeros(2, batch, HEADS, length, WIDTH // HEADS, dtype=dtype)

    def attend(self, x, past):
        end = past + x.shape[1]
        q, k, v = functional.linear(x, *self.qkv).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        self.kept[0, :, :, past:end], self.kept[1, :, :, past:end] = k, v
        y = functional.scaled_dot_product_attention(q, self.kept[0, :, :, :end], self.kept[1, :, :, :end],
                                                    is_causal=x.shape[1] > 1)
        return functional.linear(y.transpose(1, 2).flatten(2), *self.o)

    def forward(self, x, past):
        x = x + self.attend(functional.layer_norm(x, (WIDTH,), *self.norm1), past)
        hidden = functional.linear(functional.layer_norm(x, (WIDTH,), *self.norm2), *self.dense1)
        return x + functional.linear(functional.gelu(hidden, approximate="tanh"), *self.dense2)


def norm_parameters(dtype):
    return torch.ones(WIDTH, dtype=dtype), torch.zeros(WIDTH, dtype=dtype)


class Writer:
    def __init__(self, dtype):
        self.dtype = dtype
        self.embedding, self.positions = ((torch.randn(n, WIDTH) * 0.02).to(dtype) for n in (VOCAB, CONTEXT))
        self.layers, self.norm = [Layer(dtype) for _ in range(LAYERS)], norm_parameters(dtype)

    def start(self, batch, length):
        for layer in self.layers:
            layer.start(batch, length, self.dtype)

    def next(self, ids, past):
        x = self.embedding[ids] + self.positions[past:past + ids.shape[1]]
        for layer in self.layers:
            x = layer.forward(x, past)
        return functional.linear(functional.layer_norm(x[:, -1], (WIDTH,), *self.norm), self.embedding).argmax(-1, keepdim=True)

    def row(self, prompt, new):
        """Milliseconds of the prompt and of each step."""
        times, ids, past, length = [], prompt, 0, prompt.shape[1] + new
        self.start(prompt.shape[0], length)
        while past < length - 1:
            before = time.perf_counter()
            count = ids.shape[1]
            ids = self.next(ids, past)
            past += count
            times.append(1e3 * (time.perf_counter() - before))
        return times


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--prompt", type=int, default=32)
    parser.add_argument("--new", type=int, default=128)
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    writer = Writer(torch.bfloat16 if options.dtype == "bf16" else torch.float32)
    prompt = torch.randint(VOCAB, (options.batch, options.prompt))
    if options.compile:
        writer.next = torch.compile(writer.next)
    writer.row(prompt, options.new)
    rows, start = [], time.perf_counter()
    while not rows or time.perf_counter() - start < options.seconds:
        rows.append(writer.row(prompt, options.new))
    print(json.dumps({"sys": "torch " + torch.__version__, "case": "gpt2", "dtype": options.dtype, "threads": options.threads,
                      "batch": options.batch, "tok_s": round(1e3 * options.batch * options.new / median([sum(r) for r in rows]), 1),
                      "compiled": options.compile, "prompt": options.prompt,
                      "step_ms": round(median([t for r in rows for t in r[1:]] or [0]), 3),
                      "prompt_ms": round(median([r[0] for r in rows]), 1), "rows": len(rows),
                      "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    with torch.inference_mode():
        main()
