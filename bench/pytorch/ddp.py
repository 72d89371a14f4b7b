#!/usr/bin/env python3
"""Data parallelism in PyTorch on CPUs: DistributedDataParallel over gloo, a case of train.py, for comparison with `mpirun rapt`.

    python bench/pytorch/ddp.py [--case a3] [--batches 4] [--steps 5] [--threads 1]      needs torch

A step has BATCHES batches, whatever the number of processes: each takes its share of them, and gradients are exchanged during
the backward pass of the last one. Batch i is the same ids in each run and dropout is off, so losses and parameters of runs with
1, 2, 4 processes may be compared digit by digit. Started by torchrun, or by anything that sets RANK, WORLD_SIZE, MASTER_ADDR and
MASTER_PORT (tools/cluster/namespaces.sh -m each); alone it is one process without DDP. The first process prints one JSON object:
`ms` is the median step without the first one, `waited` the share of a step that the exchange adds, measured by steps that leave
it out.
"""
import argparse
import contextlib
import hashlib
import json
import os
import time

import torch
from torch import distributed, nn

from train import CASES, optimizer_of, random_batch


class Training:
    def __init__(self, options, rank, ranks):
        c = CASES[options.case]._replace(dropout=0)
        self.case = c._replace(layers=options.layers or c.layers, batch=options.batch or c.batch)
        self.rank, self.ranks, self.batches = rank, ranks, options.batches
        torch.manual_seed(1)
        self.model = c.model(self.case)
        self.parameters = list(self.model.parameters())
        self.optimizer = optimizer_of(self.case, self.parameters, "fused")
        self.wrapped = nn.parallel.DistributedDataParallel(self.model) if ranks > 1 else self.model

    def batch(self, index):
        torch.manual_seed(1000 + index)
        return random_batch(self.case)

    def step(self, number, exchange=True):
        """The mean loss of the batches of this process."""
        first, end = (r * self.batches // self.ranks for r in (self.rank, self.rank + 1))
        self.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for i in range(first, end):
            quiet = self.ranks > 1 and (i < end - 1 or not exchange)
            with self.wrapped.no_sync() if quiet else contextlib.nullcontext():
                loss = self.wrapped(*self.batch(number * self.batches + i))
                (loss * (self.ranks / self.batches)).backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        return total / (end - first)

    def mean_loss(self, own):
        if self.ranks == 1:
            return own
        value = torch.tensor([own], dtype=torch.float64)
        distributed.all_reduce(value)
        return value.item() / self.ranks

    def parameters_hash(self):
        h = hashlib.sha256()
        for p in self.parameters:
            h.update(p.detach().numpy().tobytes())
        return h.hexdigest()[:16]


def median_ms(training, first, steps, exchange):
    times, losses = [], []
    for number in range(first, first + steps):
        if training.ranks > 1:
            distributed.barrier()
        before = time.perf_counter()
        losses.append(training.step(number, exchange))
        times.append(1e3 * (time.perf_counter() - before))
    return sorted(times[1:])[(steps - 1) // 2], losses[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", choices=CASES, default="a3")
    parser.add_argument("--layers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        distributed.init_process_group("gloo")
    training = Training(options, rank, ranks)
    ms, own = median_ms(training, 0, options.steps, True)
    loss, digest = training.mean_loss(own), training.parameters_hash()
    alone = median_ms(training, options.steps, options.steps, False)[0] if ranks > 1 else ms
    c = training.case
    if rank == 0:
        print(json.dumps({"sys": "torch " + torch.__version__, "case": options.case, "ranks": ranks, "threads": options.threads,
                          "batches": options.batches, "params": sum(p.numel() for p in training.parameters),
                          "ms": round(ms, 1), "tok_pad_s": round(1e3 * c.batch * c.time * options.batches / ms),
                          "waited": round(1 - alone / ms, 4), "steps": options.steps, "loss": repr(loss),
                          "parameters": digest}))
    if ranks > 1:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
