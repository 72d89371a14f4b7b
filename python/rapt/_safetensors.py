"""The tensors of an exported folder."""
import os

from . import _rapt


def exported(model):
    """The tensors of the Hugging Face folder that a model exports, as Arrays of its file, which is removed from the disk but
    stays readable; on Windows, which keeps what is mapped, Arrays of a copy."""
    import json
    import mmap
    import tempfile
    with tempfile.TemporaryDirectory(prefix="rapt-") as folder:
        path = os.path.join(folder, "hf")
        model.export(path, "hf")
        with open(os.path.join(path, "model.safetensors"), "rb") as file:
            data = file.read() if os.name == "nt" else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    return {name: _rapt.array_of(data, begin + entry["data_offsets"][0], tuple(entry["shape"]), name, None, False)
            for name, entry in header.items() if name != "__metadata__"}
