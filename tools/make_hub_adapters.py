#!/usr/bin/env python3
"""Writes tests/golden/adapters: low-rank adapters (LoRA) that PEFT saved for models of tests/golden/hub, with random matrices, and
what PEFT computes with them. For tests/io/test_adapter.c; made with peft 0.21.2 and transformers 5.23.0.

    tools/make_hub_adapters.py [-o FOLDER] [NAME ...]
"""
import argparse
import shutil
from pathlib import Path

import torch
from make_hub import expected
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
# Matrices of their own, [in, out] with three in one, three in one by heads, and joint ones.
ADAPTERS = {
    "qwen2": dict(r=3, lora_alpha=5, target_modules=["q_proj", "v_proj", "down_proj"]),
    "gpt2": dict(r=2, lora_alpha=6, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True),
    "gpt_neox": dict(r=2, lora_alpha=2, target_modules=["query_key_value", "dense"]),
    "phi3": dict(r=4, lora_alpha=3, target_modules="all-linear"),
}


def load(name):
    return AutoModelForCausalLM.from_pretrained(GOLDEN / "hub" / name, dtype=torch.float32, attn_implementation="eager").eval()


def merged_error(name, target, numbers):
    """How far logits in float32 are with adapters that were merged, as rapt does it, from those in float64."""
    model = PeftModel.from_pretrained(load(name), target).merge_and_unload().eval()
    with torch.no_grad():
        logits = model(numbers["ids"][None].long()).logits[0].double()
    return (logits[-len(numbers["logits"]):] - numbers["logits"]).abs().max()


def write(name, folder):
    target = folder / name
    shutil.rmtree(target, ignore_errors=True)
    config = LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.1, **ADAPTERS[name])
    model = get_peft_model(load(name), config)
    generator = torch.Generator().manual_seed(len(name))
    for key, p in model.named_parameters():
        if ".lora_" in key:
            p.data = 0.3 * torch.randn(p.shape, generator=generator)
    model.peft_config["default"].base_model_name_or_path = f"tests/golden/hub/{name}"
    model.save_pretrained(target)
    (target / "README.md").unlink(missing_ok=True)
    numbers = expected(PeftModel.from_pretrained(load(name), target).eval(), 7)
    numbers["error"] = torch.maximum(numbers["error"], merged_error(name, target, numbers))
    save_file({k: v.contiguous() for k, v in numbers.items()}, target / "expected.safetensors")
    for file in target.iterdir():
        file.chmod(0o644)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=GOLDEN / "adapters")
    parser.add_argument("names", nargs="*", default=list(ADAPTERS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in arguments.names:
        write(name, arguments.o)
        print(name)


if __name__ == "__main__":
    main()
