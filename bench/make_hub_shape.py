#!/usr/bin/env python3
"""Writes a folder of Qwen2.5-0.5B's or GPT-2's shape with random weights, to time how a model is loaded.

    bench/make_hub_shape.py qwen2|gpt2 F32|BF16 DIR [TOKENIZER_FOLDER]

Needs PyTorch and transformers (made with 2.15.0 and 5.23.0). The tokenizer is that of a folder, by default
tests/golden/hub/qwen2 or gpt2: its few ids are enough to generate with."""
import pathlib
import shutil
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Qwen2Config, Qwen2ForCausalLM

shape, dtype, folder = sys.argv[1:4]
tokens = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else f"tests/golden/hub/{shape}")
torch.manual_seed(1)
torch.set_default_dtype({"F32": torch.float32, "BF16": torch.bfloat16}[dtype])
if shape == "qwen2":
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
                                         num_attention_heads=14, num_key_value_heads=2, max_position_embeddings=32768,
                                         rope_theta=1e6, tie_word_embeddings=True, rms_norm_eps=1e-6))
else:
    model = GPT2LMHeadModel(GPT2Config())
model.save_pretrained(folder)
for file in tokens.glob("tokenizer*"):
    shutil.copy(file, folder)
