"""Files, and the machine."""
import os

from . import _rapt
from ._model import Model

LINES = 1024 # of a file, that are translated by one call


def threads():
    """The number of threads with which models compute unless told otherwise: RAPT_THREADS, or else the CPUs that this process may
    use."""
    return _rapt.compute()[0]


def info(path=None):
    """What `rapt info --json` says about this machine (version, cpu, cpus, threads, isa, levels), or about a model or recipe."""
    import json
    import subprocess
    if path is not None and not os.path.exists(path):
        raise _rapt.NotFoundError(f"{os.fsdecode(path)}: there is no such file or folder")
    from .__main__ import path as program
    done = subprocess.run([program(), "info", "--json", *([] if path is None else ["--", os.fspath(path)])], capture_output=True,
                          check=False)
    if done.returncode:
        raise _rapt.Error(done.stderr.decode("utf-8", "replace").strip().removeprefix("rapt: "))
    return json.loads(done.stdout)


def config(model):
    """Model.config."""
    import json
    import tempfile
    with tempfile.TemporaryDirectory(prefix="rapt-") as folder:
        path = os.path.join(os.fsdecode(model.folder), "config.json")
        if not os.path.exists(path): # a GGUF file, or the folder has been removed
            model._handle.save_config(folder)
            path = os.path.join(folder, "config.json")
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def average(run, out, count=0):
    """Checkpoint averaging: writes a model folder with the mean of the parameters of the last `count` checkpoints of a Run or its
    folder (0: all that are kept)."""
    _rapt.average(getattr(run, "folder", run), out, count)


def convert(source, out, to, *, adapter=None, weights=None, on_progress=None):
    """Loads a model (with a folder of low-rank adapters added to it) and exports it; `to`, `weights` and `on_progress`: of
    Model.export."""
    with Model.load(source, adapter=adapter, trainable=True) as model:
        model.export(out, to, weights=weights, on_progress=on_progress)


def translate_file(model, source, target, options):
    """Translator.translate_file."""
    import itertools
    import time
    start, count = time.perf_counter(), 0
    target = os.fsdecode(target)
    part = f"{target}.{os.getpid()}.part"
    with open(os.fspath(source), encoding="utf-8", newline="\n") as lines:
        if os.path.exists(target) and os.path.samefile(source, target):
            raise _rapt.InvalidValueError(f"{target} is the source")
        with open(part, "x", encoding="utf-8", newline="\n") as out:
            try:
                if options.get("format", "text") != "text": # one document
                    document = lines.read()
                    count = document.count("\n")
                    out.write(model.translate(document, **options).text)
                while batch := [line.removesuffix("\n").removesuffix("\r") for line in itertools.islice(lines, LINES)]:
                    translations = model.translate(batch, first_line=count, **options)
                    out.writelines(f"{translation.text}\n" for translation in translations)
                    count += len(batch)
                out.close()
                os.replace(part, target)
            except BaseException:
                out.close() # Windows removes no open file
                os.unlink(part)
                raise
    return {"lines": count, "seconds": time.perf_counter() - start}
