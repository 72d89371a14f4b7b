#!/usr/bin/env python3
"""Writes tests/golden/adapters: low-rank adapters (LoRA) that PEFT saved for models of tests/golden/hub, with random matrices, and
what PEFT computes with them: logits, tokens, and the gradients of a loss. For tests/io/test_adapter.c and test_lora_gradients.c;
made with peft 0.21.2 and transformers 5.23.0, names of BASES with 5.24.0.

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
    "patterns": dict(r=3, lora_alpha=5, target_modules=["q_proj", "v_proj", "down_proj"], use_rslora=True,
                     rank_pattern={"layers.0.self_attn.q_proj": 5, r".*\.[1-9]\.mlp\.down_proj": 2},
                     alpha_pattern={"v_proj": 7.5, "^model.layers.1.self_attn.q_proj": 4}),
    "dora": dict(r=3, lora_alpha=5, target_modules=["q_proj", "v_proj", "down_proj"], use_dora=True),
    "dora_joint": dict(r=2, lora_alpha=6, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True, use_dora=True),
    "tied": dict(r=2, lora_alpha=4, target_modules=["q_proj", "up_proj"], modules_to_save=["embed_tokens"], ensure_weight_tying=True),
    "saved": dict(r=2, lora_alpha=4, target_modules=["q_proj", "up_proj"], modules_to_save=["embed_tokens", "lm_head"]),
}
# Models of adapters that have other names.
BASES = {"patterns": "qwen2", "dora": "qwen2", "dora_joint": "gpt2", "saved": "llama3", "tied": "qwen2"}
# Adapters that are saved as adapter_model.bin as well, and whose gradients are kept.
TORCH, GRADIENTS = ["patterns"], ["patterns", "saved", "gpt2", "dora", "dora_joint", "tied"]
ROWS = 64  # of the gradient of a whole matrix that are kept


def base(name):
    return GOLDEN / "hub" / BASES.get(name, name)


def load(name):
    return AutoModelForCausalLM.from_pretrained(base(name), dtype=torch.float32, attn_implementation="eager").eval()


def merged_error(name, target, numbers):
    """How far logits in float32 are with adapters that were merged, as rapt does it, from those in float64."""
    model = PeftModel.from_pretrained(load(name), target).merge_and_unload().eval()
    with torch.no_grad():
        logits = model(numbers["ids"][None].long()).logits[0].double()
    return (logits[-len(numbers["logits"]):] - numbers["logits"]).abs().max()


def file_name(key):
    """The name that PEFT gives a parameter in the file."""
    key = key.replace(".default", "").replace(".modules_to_save", "")
    return key.removesuffix(".weight") if "magnitude" in key else key


def gradients(name, target, ids, dtype):
    """The loss of the text, and the gradients of what is trained, under the names of the file."""
    model = PeftModel.from_pretrained(load(name), target, is_trainable=True).eval().to(dtype)
    loss = model(ids[None].long(), labels=ids[None].long()).loss
    loss.backward()
    found = {file_name(key): p.grad.double() for key, p in model.named_parameters() if p.requires_grad}
    return loss.detach().double(), found


def loss_and_gradients(name, target, ids):
    """In float64, with the distances of float32."""
    loss, exact = gradients(name, target, ids, torch.float64)
    single_loss, single = gradients(name, target, ids, torch.float32)
    error = max((exact[k] - single[k]).abs().max() for k in exact)
    return {"loss": loss, "loss_error": (loss - single_loss).abs(), "gradient_error": error,
            **{k: v if ".lora_" in k else v[:ROWS] for k, v in exact.items()}}


def write(name, folder):
    target = folder / name
    shutil.rmtree(target, ignore_errors=True)
    config = LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.1, **ADAPTERS[name])
    model = get_peft_model(load(name), config)
    generator = torch.Generator().manual_seed(len(name))
    for key, p in model.named_parameters():
        if "magnitude" in key:  # one that has moved from the norms of the rows
            p.data = p.data * (1 + 0.3 * torch.randn(p.shape, generator=generator))
        elif ".modules_to_save." in key:
            p.data = p.data + 0.1 * torch.randn(p.shape, generator=generator)
        elif ".lora_" in key:
            p.data = 0.3 * torch.randn(p.shape, generator=generator)
    model.peft_config["default"].base_model_name_or_path = f"tests/golden/hub/{BASES.get(name, name)}"
    model.save_pretrained(target)
    if name in TORCH:
        model.save_pretrained(target, safe_serialization=False)
    (target / "README.md").unlink(missing_ok=True)
    numbers = expected(PeftModel.from_pretrained(load(name), target).eval(), 7)
    numbers["error"] = torch.maximum(numbers["error"], merged_error(name, target, numbers))
    save_file({k: v.contiguous() for k, v in numbers.items()}, target / "expected.safetensors")
    if name in GRADIENTS:
        save_file({k: v.contiguous() for k, v in loss_and_gradients(name, target, numbers["ids"]).items()},
                  target / "gradients.safetensors")
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
