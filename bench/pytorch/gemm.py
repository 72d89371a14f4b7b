#!/usr/bin/env python3
"""GFLOP/s of PyTorch's fp32 matrix products on the shapes and forms of `rapt bench kernels`, for comparison.

    python bench/pytorch_gemm.py [--threads 2]      needs torch; a line a shape, then the geometric means

NT is Y = X W^T, NN is dX = dY W, TN is dW += dY^T X; the best of five bursts of 0.15 s.
"""
import argparse
import math
import time

import torch

SHAPES = ((2048, 512, 512), (2048, 2048, 512), (2048, 512, 2048), (4096, 128, 128), (4096, 256, 128), (768, 384, 384),
          (16384, 1536, 384), (1024, 1024, 1024), (64, 512, 512), (4096, 10000, 128))  # M, N, K


def burst(product):
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < 0.15:
        product()
        count += 1
    return count / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    torch.set_num_threads(parser.parse_args().threads)
    logs = {"NT": 0.0, "NN": 0.0, "TN": 0.0}
    for m, n, k in SHAPES:
        x, w, dy, dw = (torch.randn(rows, columns) for rows, columns in ((m, k), (n, k), (m, n), (n, k)))
        forms = {"NT": lambda: nn_linear(x, w), "NN": lambda: dy @ w, "TN": lambda: dw.addmm_(dy.t(), x)}
        for name, product in forms.items():
            product()
            rate = max(burst(product) for _ in range(5)) * 2e-9 * m * n * k
            logs[name] += math.log(rate)
            print(f"{name}  {m:5} x {n:5} x {k:4}  {rate:7.1f} GFLOP/s", flush=True)
    print("geometric means:", ", ".join(f"{name} {math.exp(v / len(SHAPES)):.1f}" for name, v in logs.items()), "GFLOP/s")


nn_linear = torch.nn.functional.linear
if __name__ == "__main__":
    with torch.no_grad():
        main()
