#!/usr/bin/env python3
"""Write tests/golden/blocks_write.safetensors: numbers, and the bytes that quantize() of gguf 0.19.0 makes of them.

Not needed to build or test. Run with python3; needs numpy, gguf, safetensors.
"""
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import quantize
from safetensors.numpy import save_file

BLOCK = 32
rng = np.random.default_rng(20)


def blocks():
    for scale in (1e-30, 1e-7, 0.02, 1, 300, 60000):
        yield from rng.standard_normal((6, BLOCK)) * scale
    yield np.zeros(BLOCK)
    yield -np.zeros(BLOCK)
    yield np.full(BLOCK, -0.7)
    yield np.where(np.arange(BLOCK) % 2, 5.5, -5.5)  # which of two largest is the first
    yield np.where(np.arange(BLOCK) % 2, -5.5, 5.5)
    yield np.concatenate([np.arange(-15, 16) + 0.5, [127]])  # ties of q8_0, whose scale is 1
    yield np.concatenate([np.arange(BLOCK - 1) / 4 - 3.75, [-8]])  # and of q4_0
    yield np.concatenate([np.zeros(BLOCK - 1), [3.0]])
    yield np.concatenate([[8.0], np.linspace(-8, 8, BLOCK - 1)])


def halves():
    """Numbers about each place where rounding to binary16 changes its rule, and of all its exponents."""
    edges = [0.0, -0.0, 65504.0, 65519.99, 65520.0, 65536.0, 1e30, 2.0**-14, 2.0**-24, 2.0**-25, 3 * 2.0**-26, 2.0**-26, 1e-40]
    for x in edges:
        yield from (x, -x, np.nextafter(np.float32(x), np.float32(np.inf)), np.nextafter(np.float32(x), np.float32(-np.inf)))
    for exponent in range(-27, 17):
        for step in (0, 1, 2, 3, 1022, 1023):  # ties, with the last place even and odd
            yield (1 + (step + 0.5) / 1024) * 2.0**exponent
            yield -(1 + step / 1024 + 2.0**-20) * 2.0**exponent
    yield from (np.inf, -np.inf)


def main():
    rows = np.array(list(blocks()), np.float32)
    numbers = np.array(list(halves()), np.float32)
    more = np.concatenate([numbers, rows.ravel(), np.array([np.finfo(np.float32).max, 1.00390625, 1.01171875], np.float32),
                           np.array([0x7F800001, 0xFFC00000, 0x7FFFFFFF], np.uint32).view(np.float32)])  # the last: no numbers
    with np.errstate(over="ignore"):
        tensors = {"blocks": rows, "q8_0": quantize(rows, Type.Q8_0), "q4_0": quantize(rows, Type.Q4_0), "halves": numbers,
                   "f16": quantize(numbers, Type.F16).view(np.uint8), "more": more, "bf16": quantize(more, Type.BF16).view(np.uint8)}
    path = Path(__file__).resolve().parent.parent / "tests" / "golden" / "blocks_write.safetensors"
    save_file({name: np.ascontiguousarray(t) for name, t in tensors.items()}, path)
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
