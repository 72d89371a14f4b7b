"""Golden cases of attention to a KV cache that is not stored in fp32. For tools/make_golden.py; needs gguf, too.

Queries, keys and values are the input itself: projected, a key would be rounded to another neighbor where two programs'
sums differ in the last bit. PyTorch rounds to bf16, the reference of GGUF (gguf.quants) to Q8_0; a head's last block is
filled up with zeros, which change nothing in it.
"""
import math

import numpy as np
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

STORAGES = {"fp32": 0, "bf16": 1, "q8_0": 2}  # rapt_type


def stored(x, storage):
    """Rows of x as a cache holds them, in float64."""
    if storage == "bf16":
        return x.to(torch.float32).to(torch.bfloat16).double()
    if storage == "fp32":
        return x
    width = x.shape[-1]
    rows = np.zeros((*x.shape[:-1], (width + 31) // 32 * 32), dtype=np.float32)
    rows[..., :width] = x.numpy()
    blocks = quantize(rows, GGMLQuantizationType.Q8_0)
    return torch.tensor(dequantize(blocks, GGMLQuantizationType.Q8_0)[..., :width]).double()


def kv_cache(new):
    for storage, number in STORAGES.items():
        for heads, width in ((1, 64), (2, 40), (1, 33), (3, 6)):
            c = new(f"{storage}_{width}")
            c.config(heads=heads, storage=number)
            x = c.normal(2, 5, heads * width, scale=2.0)
            c.keep("in", "x", x)
            q = x.view(2, 5, heads, width).transpose(1, 2)
            kv = stored(q, storage)
            scores = (q @ kv.transpose(-1, -2) / math.sqrt(width)).masked_fill(torch.ones(5, 5).triu(1) > 0, -math.inf)
            c.keep("out", "out", (scores.softmax(-1) @ kv).transpose(1, 2).reshape(x.shape))
            c.keep("out", "stored", kv.transpose(1, 2).reshape(x.shape))
            yield c


FILES = {"kv_cache": kv_cache}
