#!/usr/bin/env python3
"""A training step of the book's translation model in PyTorch: what `rapt bench train --case a1` does, for comparison.

    python bench/pytorch_step.py [--threads 2] [--seconds 5]      needs torch; prints one JSON object

64 random sentences of 4 to 10 tokens, 200 words, d_model 32, 4 heads, FFN 64, 2 + 2 layers, dropout 0.1, masked
cross-entropy, clipping to norm 1, Adam: eager fp32, modules written out as the book has them.
"""
import argparse
import json
import math
import resource
import time

import torch
from torch import nn

VOCAB, D, FFN, HEADS, LAYERS, BATCH, TIME, DROPOUT = 200, 32, 64, 4, 2, 64, 10, 0.1


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, memory, keep):
        q, k, v = (w(t).unflatten(2, (HEADS, -1)).transpose(1, 2)
                   for w, t in ((self.q, x), (self.k, memory), (self.v, memory)))
        scores = q @ k.transpose(2, 3) / math.sqrt(D // HEADS)
        weights = self.dropout(torch.softmax(scores.masked_fill(~keep, -1e6), dim=-1))
        return self.o((weights @ v).transpose(1, 2).flatten(2))


class AddNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout, self.norm = nn.Dropout(DROPOUT), nn.LayerNorm(D)

    def forward(self, x, y):
        return self.norm(x + self.dropout(y))


class Block(nn.Module):
    def __init__(self, crosses):
        super().__init__()
        self.attention, self.norm1 = Attention(), AddNorm()
        self.cross, self.norm2 = (Attention(), AddNorm()) if crosses else (None, None)
        self.ffn, self.norm3 = nn.Sequential(nn.Linear(D, FFN), nn.ReLU(), nn.Linear(FFN, D)), AddNorm()

    def forward(self, x, keep, memory=None, memory_keep=None):
        x = self.norm1(x, self.attention(x, x, keep))
        if self.cross:
            x = self.norm2(x, self.cross(x, memory, memory_keep))
        return self.norm3(x, self.ffn(x))


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(VOCAB, D), nn.Embedding(VOCAB, D)
        angle = torch.arange(TIME)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
        self.register_buffer("positions", torch.stack((angle.sin(), angle.cos()), 2).flatten(1))
        self.dropout = nn.Dropout(DROPOUT)
        self.encoder = nn.ModuleList(Block(False) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(Block(True) for _ in range(LAYERS))
        self.output = nn.Linear(D, VOCAB)

    def embed(self, table, ids):
        return self.dropout(table(ids) * math.sqrt(D) + self.positions)

    def forward(self, source, source_lens, inputs):
        valid = (torch.arange(TIME) < source_lens[:, None])[:, None, None, :]
        causal = torch.ones(TIME, TIME, dtype=torch.bool).tril()
        memory = self.embed(self.source, source)
        for block in self.encoder:
            memory = block(memory, valid)
        x = self.embed(self.target, inputs)
        for block in self.decoder:
            x = block(x, causal, memory, valid)
        return self.output(x)


def random_batch():
    ids = [torch.randint(4, VOCAB, (BATCH, TIME)) for _ in range(3)]
    return (*ids, torch.randint(4, TIME + 1, (BATCH,)), torch.randint(4, TIME + 1, (BATCH,)))


def step(model, optimizer, batch):
    source, inputs, labels, source_lens, target_lens = batch
    optimizer.zero_grad(set_to_none=True)
    logits = model(source, source_lens, inputs)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    counts = (torch.arange(TIME) < target_lens[:, None]).flatten()
    ((loss * counts).sum() / counts.sum()).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model, batches = Translator(), [random_batch() for _ in range(8)]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < options.seconds:
        before = time.perf_counter()
        step(model, optimizer, batches[len(times) % len(batches)])
        times.append(1e3 * (time.perf_counter() - before))
    measured = sorted(times[len(times) // 4:])  # the first quarter warms up
    print(json.dumps({"sys": "torch " + torch.__version__, "case": "a1", "threads": options.threads,
                      "ms": round(measured[len(measured) // 2], 3), "steps": len(measured),
                      "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
