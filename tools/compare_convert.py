#!/usr/bin/env python3
"""tools/compare_convert.py RAPT: rapt convert --to hf of the Hugging Face folders of tests/golden, against transformers: the folder
that is written gives the logits of the first one, bit for bit. Made with transformers 5.23.0. Not part of the tests, which need no
Python: tests/cli/check_convert.sh compares what rapt computes with both."""
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

LANGUAGE, PAIRS = (sorted(Path("tests/golden", folder).iterdir()) for folder in ("hub", "hub_translation"))


def difference(folder, kind, inputs):
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.argv[1], "convert", folder, "--to", "hf", "-o", made + "/new"], check=True)
        nets = [kind.from_pretrained(path, dtype=torch.float32).eval() for path in (folder, made + "/new")]
        with torch.no_grad():
            first, second = (net(**inputs).logits for net in nets)
        return (first - second).abs().max().item()


torch.manual_seed(0)
ids = torch.randint(3, 200, (1, 20))
worst = 0.0
for folder in LANGUAGE:
    worst = max(worst, difference(folder, AutoModelForCausalLM, {"input_ids": ids}))
for folder in PAIRS:
    inputs = {"input_ids": ids, "decoder_input_ids": ids[:, :9]}
    worst = max(worst, difference(folder, AutoModelForSeq2SeqLM, inputs))
print(f"{len(LANGUAGE) + len(PAIRS)} folders, largest difference of logits {worst}")
sys.exit(worst != 0)
