#!/usr/bin/env python3
"""Times a training step of low-rank adapters by PEFT for the model of a folder; for bench/lora_step.sh. Prints JSON: the median of
the steps' milliseconds without the first, and the peak memory of the process.

Modes: fp32; autocast (weights in fp32, products in bf16); bf16 (frozen weights in bf16, adapters in fp32, as PEFT holds them);
compile_MODE: the same with torch.compile. Written for torch 2.x, transformers 5.23.0, peft 0.21.2."""
import argparse
import contextlib
import json
import resource
import statistics
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--mode", default="fp32")
for name, default in dict(batch=2, context=256, steps=6, threads=0).items():
    parser.add_argument(f"--{name}", type=int, default=default)
a = parser.parse_args()
if a.threads:
    torch.set_num_threads(a.threads)
torch.manual_seed(1)
kind = a.mode.removeprefix("compile_")
base = AutoModelForCausalLM.from_pretrained(a.folder, dtype=torch.bfloat16 if kind == "bf16" else torch.float32)
model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, target_modules="all-linear")).train()
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-4)
forward = torch.compile(model) if a.mode.startswith("compile") else model
precision = torch.autocast("cpu", torch.bfloat16) if kind == "autocast" else contextlib.nullcontext()
times = []
for step in range(a.steps):
    ids = torch.randint(0, model.config.vocab_size, (a.batch, a.context))
    begin = time.perf_counter()
    with precision:
        loss = forward(input_ids=ids, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(trained, 1)
    optimizer.step()
    optimizer.zero_grad()
    times.append(1000 * (time.perf_counter() - begin))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"ms": round(statistics.median(times[1:] or times), 1), "peak_mb": round(peak)}))
