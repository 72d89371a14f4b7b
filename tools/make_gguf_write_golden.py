#!/usr/bin/env python3
"""Write tests/golden/gguf_write.gguf, which tests/io/test_gguf_write.c writes as well: by GGUFWriter of gguf 0.19.0.

Not needed to build or test. Run with python3; needs numpy, gguf.
"""
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as Type, GGUFWriter
from gguf.quants import quantize


def main():
    path = Path(__file__).resolve().parent.parent / "tests" / "golden" / "gguf_write.gguf"
    w = GGUFWriter(path, "llama")  # the first key is general.architecture
    w.add_uint32("llama.block_count", 2)
    w.add_float32("llama.rope.freq_base", 500000.25)
    w.add_bool("tokenizer.ggml.add_bos_token", True)
    w.add_array("tokenizer.ggml.tokens", ["a", "", "b\n", "é"])
    w.add_array("tokenizer.ggml.token_type", [1, -3, 6])
    w.add_array("tokenizer.ggml.scores", [0.5, -1e10])
    w.add_array("llama.attention.sliding_window_pattern", [True, False, True])
    numbers = (np.arange(3 * 64, dtype=np.float32) - 90) / 7
    matrix = numbers.reshape(3, 64)
    w.add_tensor("a.weight", matrix)
    w.add_tensor("b.bias", numbers[:5])
    for name, kind in (("c", Type.F16), ("d", Type.BF16), ("e", Type.Q8_0), ("f", Type.Q4_0)):
        w.add_tensor(f"{name}.weight", quantize(matrix, kind), raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
