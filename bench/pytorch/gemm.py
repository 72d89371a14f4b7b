#!/usr/bin/env python3
"""GFLOP/s of PyTorch's matrix products in the forms of `rapt-bench kernels`, for comparison.

    python bench/pytorch/gemm.py --case 2048x512x512 [--dtype fp32] [--threads 2] [--seconds 1]      needs torch

NT is Y = X W^T, NN is dX = dY W, TN is dW += dY^T X; M x N x K are the rows, outputs and inputs of a linear layer. Prints a
JSON object for each form: the best of five bursts.
"""
import argparse
import json
import time

import torch

BURSTS = 5


def burst(product, seconds):
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        product()
        count += 1
    return count / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", required=True)
    parser.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    m, n, k = (int(size) for size in options.case.split("x"))
    dtype = torch.bfloat16 if options.dtype == "bf16" else torch.float32
    x, w, dy, dw = (torch.randn(*shape).to(dtype) for shape in ((m, k), (n, k), (m, n), (n, k)))
    forms = {"NT": lambda: torch.nn.functional.linear(x, w), "NN": lambda: dy @ w, "TN": lambda: dw.addmm_(dy.t(), x)}
    for form, product in forms.items():
        product()
        rate = max(burst(product, options.seconds / BURSTS) for _ in range(BURSTS)) * 2e-9 * m * n * k
        print(json.dumps({"sys": "torch " + torch.__version__, "dtype": options.dtype, "threads": options.threads, "form": form,
                          "m": m, "n": n, "k": k, "gflops": round(rate, 1)}), flush=True)


if __name__ == "__main__":
    with torch.no_grad():
        main()
