"""What tests share: the program, and small models that they train with it."""
import atexit
import functools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import rapt

for name in rapt.__all__: # loads all modules now: a test that restores sys.modules would have later ones loaded twice
    getattr(rapt, name)

signal.signal(signal.SIGINT, signal.default_int_handler) # a shell ignores it for background jobs: tests of Ctrl-C would wait

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = os.environ.get("RAPT_SHARED")
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="rapt-python-"))
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)

PAIRS = 400 # of data/en-fr.tsv
# Sizes at which a step takes some milliseconds.
SMALL = {"model.layers": 1, "model.d_model": 16, "model.heads": 2, "model.ffn": 32, "train.steps": 8, "train.report_every": 4,
         "train.checkpoint_every": 4, "train.warmup": 2}


def program():
    """The program rapt: $RAPT_PROGRAM, the package's own, or the one beside the package's build."""
    package = pathlib.Path(rapt.__file__).parent
    for path in (os.environ.get("RAPT_PROGRAM"), package / "bin" / "rapt", pathlib.Path(rapt._rapt.__file__).parents[2] / "rapt"):
        if path and os.path.exists(path):
            return str(path)
    raise unittest.SkipTest("the program rapt is not there")


def run(*arguments, text=None):
    """What the program prints."""
    done = subprocess.run([program(), *map(str, arguments)], input=text, capture_output=True, text=True, encoding="utf-8",
                          timeout=300, env={**os.environ, "RAPT_THREADS": "2"})
    if done.returncode:
        raise AssertionError(f"rapt {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


@functools.cache
def translator():
    """The folder of a translation model that has learned a little."""
    out = SCRATCH / "translator"
    run("train", SOURCE / "recipes" / "quickstart.yaml", "--quiet", "--out", out, f"--set=data.limit={PAIRS}",
        *(f"--set={key}={value}" for key, value in SMALL.items()))
    return out


@functools.cache
def language_model():
    """The folder of a language model of characters that has learned a little."""
    out, text = SCRATCH / "language-model", SCRATCH / "text.txt"
    text.write_text("To be, or not to be, that is the question.\n" * 200, encoding="utf-8")
    small = {**SMALL, "task": "language_model", "data.text": text, "tokenizer.type": "characters", "model.context": 16}
    recipe = SCRATCH / "language-model.yaml"
    recipe.write_text("task: language_model\n", encoding="utf-8")
    run("train", recipe, "--quiet", "--out", out, *(f"--set={key}={value}" for key, value in small.items()))
    return out
