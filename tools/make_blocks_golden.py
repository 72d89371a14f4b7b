#!/usr/bin/env python3
"""Write tests/golden/blocks.safetensors: blocks of quantized numbers, and the numbers that the gguf package makes of them.

For whoever changes src/tensor/blocks.c. Not needed to build or test: the file is in the project.

    python3 tools/make_blocks_golden.py [-o FILE]     needs gguf, numpy and safetensors

    FORMAT.bytes    [blocks, bytes of a block] U8
    FORMAT.numbers  [blocks, elements] F32

The first blocks have all bits of an element, one after the other; the next have scales that are zero, subnormal, the largest,
infinite, NaN, and each of them negative; the others are random bytes.
"""
import argparse
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, quants
from gguf.constants import GGML_QUANT_SIZES
from safetensors.numpy import save_file

FILE = Path(__file__).resolve().parent.parent / "tests" / "golden" / "blocks.safetensors"
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
HOSTILE = [0x0000, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x7C00, 0x7E00]
PLAIN = 0x2E66  # 0.1, rounded


def blocks_of(name, size, generator):
    """Rows of bytes, as the comment above says."""
    rows = []
    for byte in range(0, 256, 64 if size > 100 else 16):  # so that all bytes come, each block beginning with another
        row = (np.arange(size) * 7 + byte).astype(np.uint8)
        for at in SCALES[name]:
            row[at:at + 2] = np.array([PLAIN], dtype="<u2").view(np.uint8)
        rows.append(row)
    for scale in HOSTILE:
        for sign in (0, 0x8000):
            row = generator.integers(0, 256, size).astype(np.uint8)
            for at in SCALES[name]:
                row[at:at + 2] = np.array([scale | sign], dtype="<u2").view(np.uint8)
            rows.append(row)
    rows += [generator.integers(0, 256, size).astype(np.uint8) for _ in range(4 if size > 100 else 16)]
    return np.stack(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", default=FILE, type=Path, metavar="FILE")
    args = parser.parse_args()
    generator = np.random.default_rng(7)
    tensors = {}
    for name in SCALES:
        kind = GGMLQuantizationType[name]
        tensors[f"{name}.bytes"] = blocks_of(name, GGML_QUANT_SIZES[kind][1], generator)
        with np.errstate(all="ignore"):
            tensors[f"{name}.numbers"] = quants.dequantize(tensors[f"{name}.bytes"], kind)
    save_file(tensors, args.o)


if __name__ == "__main__":
    main()
