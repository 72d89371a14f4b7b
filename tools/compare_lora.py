#!/usr/bin/env python3
"""Compares the loss of a text with low-rank adapters that rapt trained for a Hugging Face folder, as `rapt eval` and PEFT compute it.

    tools/compare_lora.py RAPT ADAPTER TEXT      TEXT: a file shorter than the model's context

Needs peft and transformers; run with 0.21.2 and 5.23.0.
"""
import json
import subprocess
import sys
from pathlib import Path

import torch
from peft import PeftModel
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

rapt, adapter, text = sys.argv[1:]
ours = json.loads(subprocess.run([rapt, "eval", adapter, text, "--json"], capture_output=True, check=True).stdout)["loss"]
base = json.loads((Path(adapter) / "adapter_config.json").read_text())["base_model_name_or_path"]
ids = torch.tensor([Tokenizer.from_file(f"{base}/tokenizer.json").encode(Path(text).read_text(), add_special_tokens=False).ids])
model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32), adapter).eval().double()
with torch.no_grad():
    theirs = model(ids, labels=ids).loss.item()
    with model.disable_adapter():
        without = model(ids, labels=ids).loss.item()
print(f"rapt {ours:.7f}, PEFT in float64 {theirs:.7f}; without adapters {without:.7f}")
sys.exit(abs(ours - theirs) > 1e-5 or abs(theirs - without) < 1e-3)
