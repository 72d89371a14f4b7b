#!/usr/bin/env python3
"""Write tests/golden/weights/: files of tensors by the libraries that users have them from, for tests/io/test_weights*.c.

For whoever changes a reader of such files. Not needed to build or test: the files are in the project.

    python3 tools/make_weights.py [-o FOLDER]     needs torch, numpy, safetensors and huggingface_hub; a second

    model.safetensors      one tensor or more of each element type and kind of shape, by safetensors
    pytorch_model.bin      the same and some views and parameters, by torch.save
    before_1_6.bin         the same by torch.save in its format before PyTorch 1.6
    values.safetensors     what .float() makes of the floating-point ones of both, contiguous, F32
    shards/, shards_bin/   the floating-point ones in several files with an index, by huggingface_hub
    refused/NAME.bin       what torch.save writes of things that are not a dict of plain tensors
    headers.txt            headers of safetensors files, and whether safetensors accepts them: lines of
                           "accepted" or "refused", TAB, bytes of data behind the header, TAB, the header
"""
import argparse
import json
import os
import shutil
import struct
from collections import OrderedDict
from pathlib import Path

import torch
from huggingface_hub import save_torch_state_dict
from safetensors import deserialize
from safetensors.torch import save_file
from torch import nn

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden" / "weights"


def reals(generator):
    """Floating-point tensors: usual values, the ends of their ranges, subnormal numbers, signed zeros."""
    ends = {torch.float16: [65504.0, -65504.0, 6.103515625e-05, 5.960464477539063e-08, -0.0, 0.0, 0.333251953125],
            torch.bfloat16: [3.3895313892515355e38, 1.1754943508222875e-38, 9.183549615799121e-41, -0.0, 0.0, 1 / 3],
            torch.float32: [3.4028234663852886e38, 1.1754943508222875e-38, 1.401298464324817e-45, -0.0, 0.0, 1 / 3],
            torch.float64: [1 / 3, -2 / 3, 1e-310, 1 + 2.0**-24, 1 + 3 * 2.0**-24, -0.0]}
    for dtype, values in ends.items():
        name = str(dtype).split(".")[1]
        yield f"{name}.ends", torch.tensor(values, dtype=torch.float64).to(dtype)
        yield f"{name}.matrix", torch.randn(7, 5, generator=generator, dtype=torch.float64).to(dtype)
    yield "scalar", torch.tensor(2.5, dtype=torch.float16)
    yield "empty", torch.zeros(3, 0, 2, dtype=torch.bfloat16)
    yield "odd.name \"with\" ünicode", torch.arange(3, dtype=torch.float32)


def others():
    yield "int64", torch.tensor([2**40, -1])
    yield "int32", torch.tensor([[7], [-8]], dtype=torch.int32)
    yield "int16", torch.tensor([-300], dtype=torch.int16)
    yield "int8", torch.tensor([-3, 3, 1], dtype=torch.int8)
    yield "uint8", torch.tensor([255], dtype=torch.uint8)
    yield "bool", torch.tensor([True, False])


def views(generator):
    """What torch.save writes as it is, and safetensors as copies: strides, shared storages, parameters."""
    base = torch.randn(4, 6, generator=generator)
    return {"view.whole": base, "view.transposed": base.t(), "view.rows": base[1:3], "view.columns": base[:, 2:5],
            "view.every_second": base[::2, 1::2], "view.permuted": torch.randn(2, 3, 4, generator=generator).half().permute(2, 0, 1),
            "parameter": nn.Parameter(torch.randn(3, generator=generator).bfloat16()), "tied": base}


class Program:
    """A pickle that runs a command where it is loaded."""

    def __reduce__(self):
        return os.system, ("echo never",)


def save_refused(folder):
    folder.mkdir()
    w = {"w": torch.ones(2)}
    cases = {"command": {"w": torch.ones(2), "x": Program()}, "checkpoint": {"epoch": 3, "state_dict": w}, "list": [torch.ones(2)],
             "nested": {"model": w}, "complex": {"w": torch.ones(2, dtype=torch.complex64)},
             "float8": {"w": torch.ones(2).to(torch.float8_e4m3fn)}, "sparse": {"w": torch.ones(2).to_sparse()},
             "quantized": {"w": torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8)}, "module": {"w": nn.Linear(1, 1)}}
    for name, value in cases.items():
        torch.save(value, folder / f"{name}.bin")
    torch.save(w, folder / "protocol_4.bin", pickle_protocol=4)


def entry(dtype="F32", shape=(1,), offsets=(0, 4), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


def headers():
    """(header, bytes of data). Space before the header is left out: the format forbids it, the library accepts it."""
    one, text = {"a": entry()}, json.dumps
    yield from ((text(one), n) for n in (4, 3, 5, 0))
    yield from (("{}", 0), ("{}", 1), ("", 0), ("{} ", 0), ("{}x", 0), ("[]", 0), ("{", 0), ("null", 0))
    for dtype, size in (("F64", 8), ("F16", 2), ("BF16", 2), ("I64", 8), ("I32", 4), ("I16", 2), ("I8", 1), ("U8", 1), ("BOOL", 1)):
        for n in (size, size - 1, size + 1):
            yield text({"a": entry(dtype, (1,), (0, n))}), n
    yield text({"a": entry("F5")}), 4
    yield text({"a": entry("f32")}), 4
    yield text({"a": entry(shape=(), offsets=(0, 4))}), 4
    yield text({"a": entry(shape=(0,), offsets=(0, 0))}), 0
    yield text({"a": entry(shape=(-1,))}), 4
    yield text({"a": entry(shape=(1.0,))}), 4
    yield text({"a": entry(shape=(2**32, 2**32), offsets=(0, 0))}), 0
    yield text({"a": entry(shape=(2**62,), offsets=(0, 0))}), 0
    yield text({"a": entry(shape=(2**64,), offsets=(0, 0))}), 0
    yield text({"a": entry(offsets=(4, 0))}), 4
    yield text({"a": entry(offsets=(-4, 0))}), 4
    yield text({"a": entry(offsets=(4, 8))}), 8
    yield text({"a": entry(offsets=(0, 8))}), 8
    yield text({"a": entry(offsets=(0,))}), 4
    yield text({"a": entry(offsets=(0, 4, 8))}), 4
    yield text({"a": entry(note="more")}), 4
    for name in ("dtype", "shape", "data_offsets"):
        less = entry()
        del less[name]
        yield text({"a": less}), 4
    yield text({"a": entry(), "b": entry(offsets=(4, 8))}), 8
    yield text({"b": entry(offsets=(4, 8)), "a": entry()}), 8
    yield text({"a": entry(), "b": entry(offsets=(8, 12))}), 12
    yield text({"a": entry(), "b": entry(offsets=(2, 6))}), 8
    yield text({"a": entry(), "b": entry()}), 4
    yield text({"a": entry(), "b": entry(shape=(0,), offsets=(4, 4))}), 4
    yield text({"a": entry(), "b": entry(shape=(0,), offsets=(0, 0))}), 4
    yield text({"a": entry(shape=(2,), offsets=(0, 8)), "b": entry(shape=(0,), offsets=(4, 4))}), 8
    yield text({"a": 1}), 0
    yield text({"__metadata__": {"format": "pt"}, **one}), 4
    yield text({"__metadata__": {"format": 1}, **one}), 4
    yield text({"__metadata__": [], **one}), 4
    yield '{"a":' + text(entry()) + ',"a":' + text(entry(offsets=(4, 8))) + "}", 8
    yield '{"a":' + "[" * 10000, 0


def accepts(header, size):
    try:
        deserialize(struct.pack("<Q", len(header)) + header.encode() + bytes(size))
        return True
    except Exception:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("-o", type=Path, default=FOLDER, metavar="FOLDER")
    folder = parser.parse_args().o
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(19)
    real, other, view = dict(reals(generator)), dict(others()), views(generator)
    save_file({**real, **other}, folder / "model.safetensors", {"format": "pt"})
    state = OrderedDict({**real, **other, **view})
    state._metadata = OrderedDict({"": {"version": 1}})  # as Module.state_dict() has it
    torch.save(state, folder / "pytorch_model.bin")
    torch.save(state, folder / "before_1_6.bin", _use_new_zipfile_serialization=False)
    save_file({n: t.detach().float().contiguous().clone() for n, t in {**real, **view}.items()}, folder / "values.safetensors")
    for name, safe in (("shards", True), ("shards_bin", False)):
        (folder / name).mkdir()
        save_torch_state_dict(real, folder / name, max_shard_size=300, safe_serialization=safe)
    save_refused(folder / "refused")
    lines = [f"{'accepted' if accepts(h, n) else 'refused'}\t{n}\t{h}\n" for h, n in headers()]
    (folder / "headers.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
