#!/usr/bin/env python3
"""Compare the losses of fine-tuning a Hugging Face folder by `rapt train` with those of PyTorch, and the folders that come out.

For whoever changes the training of such models, or adds a type to those that are trained. Not needed to build or test.

    python3 tools/compare_finetune.py [--steps N] [--write] [NAME...]      needs build/rapt, torch, transformers, safetensors

NAME: folders of tests/golden/hub and hub_translation; all types that are trained without one. Every step sees the same batch: one
window of a text, or a handful of pairs of unequal lengths. AdamW with weight decay on matrices, no dropout, no clipping. A line for each:
    rapt - float64      the largest difference of rapt's losses from those of PyTorch in float64
    float32 - float64   that of PyTorch in float32
    written             difference of the loss that transformers computes with the folder that rapt has written, from the loss of
                        one more step in float64
--write puts float64's losses and float32's largest difference into tests/golden/hub_training.json, which tests/train/test_hub_training.c
compares with rapt's, and leaves what is there of other models. The file has 20 steps of each.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parent.parent
RAPT, GOLDEN = ROOT / "build" / "rapt", ROOT / "tests" / "golden"
NAMES = ["gpt2", "gpt2_exact", "llama", "llama3", "llama_heads", "llama_linear", "mistral", "mistral_window", "qwen2", "qwen2_window",
         "qwen3", "smollm3", "granite", "olmo2", "gpt_neox", "gpt_neox_serial", "gemma", "gemma2", "gemma3", "phi3", "starcoder2",
         "starcoder2_window", "bloom", "mpt", "marian", "marian_4", "pegasus"]
CONTEXT, LR, DECAY = 48, 1e-3, 0.1
TEXT = "It was a bright cold day in April, and the clocks were striking."[:CONTEXT + 1]  # a byte is a token
PAIRS = [("a cold day", "ein kalter Tag"), ("the cat", "die Katze"), ("go", "geh")]
RECIPE = """task: %s
data: {%s, validation_fraction: 0}
model: {dropout: 0%s}
train: {steps: %d, batch: %d, lr: %r, weight_decay: %r, beta1: 0.9, beta2: 0.999, clip: 0, report_every: 1, schedule: constant,
  warmup: 0, label_smoothing: 0, checkpoint_every: 1000}
"""


def folder_of(name):
    return next(f for f in (GOLDEN / "hub" / name, GOLDEN / "hub_translation" / name) if f.is_dir())


def padded(rows, filling):
    return torch.tensor([row + [filling] * (max(map(len, rows)) - len(row)) for row in rows])


def batch_of(folder, pair):
    """What the reference's model is called with."""
    if not pair:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
        ids = torch.tensor([tokenizer(TEXT, add_special_tokens=False).input_ids])
        assert ids.shape[1] == CONTEXT + 1
        return {"input_ids": ids, "labels": ids}
    if (folder / "tokenizer.json").exists():
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
        sources, targets = ([tokenizer(pair[side]).input_ids for pair in PAIRS] for side in (0, 1))
    else:
        tokenizer = AutoTokenizer.from_pretrained(folder, separate_vocabs=(folder / "target_vocab.json").exists())
        sources = [tokenizer(source).input_ids for source, _ in PAIRS]
        targets = [tokenizer(text_target=target).input_ids for _, target in PAIRS]
    padding = AutoConfig.from_pretrained(folder).pad_token_id
    return {"input_ids": padded(sources, padding), "attention_mask": padded([[1] * len(ids) for ids in sources], 0),
            "labels": padded(targets, -100)}


def load(folder, pair, dtype):
    kind = AutoModelForSeq2SeqLM if pair else AutoModelForCausalLM
    model = kind.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()  # eval: without dropout
    for name, p in model.named_parameters():
        if pair and "embed_positions" in name: # of sines and cosines, which version 5.24 forgets to hold fixed where it loads them
            p.requires_grad = False
    return model


def torch_losses(folder, pair, dtype, steps):
    """Of `steps` steps, and what the loss is then."""
    model, batch, losses = load(folder, pair, dtype), batch_of(folder, pair), []
    groups = [{"params": [p for p in model.parameters() if (p.dim() >= 2) == matrices], "weight_decay": DECAY * matrices}
              for matrices in (False, True)]
    adam = torch.optim.AdamW(groups, lr=LR, betas=(0.9, 0.999), eps=1e-8)
    for _ in range(steps + 1):
        adam.zero_grad()
        loss = model(**batch).loss
        losses.append(loss.item())
        loss.backward()
        adam.step()
    return losses


def rapt_losses(folder, pair, steps, out):
    data, task = (out / "pairs.tsv", "translation") if pair else (out / "text.txt", "language_model")
    data.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS) if pair else TEXT)
    recipe = out / "recipe.yaml"
    recipe.write_text(RECIPE % (task, f"{'pairs' if pair else 'text'}: {data}", "" if pair else f", context: {CONTEXT}", steps,
                                len(PAIRS) if pair else 1, LR, DECAY))
    subprocess.run([RAPT, "train", recipe, "--init", folder, "--out", out / "model", "--quiet"], check=True)
    return [json.loads(line)["loss"] for line in (out / "model" / "train.jsonl").read_text().splitlines()]


def compare(name, steps):
    folder = folder_of(name)
    pair = folder.parent.name == "hub_translation"
    exact, single = (torch_losses(folder, pair, dtype, steps) for dtype in (torch.float64, torch.float32))
    with tempfile.TemporaryDirectory() as out:
        ours = rapt_losses(folder, pair, steps, Path(out))
        with torch.no_grad():
            written = load(Path(out) / "model", pair, None)(**batch_of(folder, pair)).loss.item()
    assert len(ours) == steps
    far, error = (max(abs(a - b) for a, b in zip(losses, exact[:steps])) for losses in (ours, single))
    print(f"{name:16} {exact[0]:.4f} to {exact[-1]:.4f}   {far:.1e}   {error:.1e}   {abs(written - exact[-1]):.1e}", flush=True)
    return far, {"losses": exact[:steps], "error": error}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", default=NAMES)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, {args.steps} steps")
    print("                 loss                rapt - float64   float32 - float64   written")
    results = {name: compare(name, args.steps) for name in args.names}
    if args.write:
        file = GOLDEN / "hub_training.json"
        models = json.loads(file.read_text())["models"]
        models |= {f"{folder_of(name).parent.name}/{name}": golden for name, (_, golden) in results.items()}
        file.write_text(json.dumps({"text": TEXT, "pairs": PAIRS, "models": models}, indent=1) + "\n")
    # Where a ReLU is near its kink, float32 itself goes another way than float64.
    sys.exit(any(far > max(1e-3, 2 * golden["error"]) for far, golden in results.values()))


if __name__ == "__main__":
    main()
