#!/usr/bin/env python3
"""Writes a folder of Qwen2.5-0.5B's, GPT-2's or OPUS-MT's shape with random weights, to time how a model is loaded or runs.

    bench/make_hub_shape.py qwen2|gpt2|marian F32|BF16 DIR [TOKENIZER_FOLDER]

Needs PyTorch and transformers (made with 2.15.0 and 5.23.0). The tokenizer is that of a folder, by default
tests/golden/hub/qwen2 or gpt2: its few ids are enough to generate with; gpt2's gets more words that no text has, so that each
token has a text. That of marian is of tests/text/marian, with more such words; its translations have 16 tokens."""
import json
import pathlib
import shutil
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, MarianConfig, MarianMTModel, Qwen2Config, Qwen2ForCausalLM

shape, dtype, folder = sys.argv[1:4]
default = {"marian": "tests/text/marian"}.get(shape, f"tests/golden/hub/{shape}")
tokens = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else default)
torch.manual_seed(1)
torch.set_default_dtype({"F32": torch.float32, "BF16": torch.bfloat16}[dtype])
if shape == "qwen2":
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
                                         num_attention_heads=14, num_key_value_heads=2, max_position_embeddings=32768,
                                         rope_theta=1e6, tie_word_embeddings=True, rms_norm_eps=1e-6))
elif shape == "marian":
    sizes = {f"{side}_{name}": value for side in ("encoder", "decoder")
             for name, value in dict(layers=6, attention_heads=8, ffn_dim=2048).items()}
    model = MarianMTModel(MarianConfig(vocab_size=58101, d_model=512, **sizes, max_position_embeddings=512,
                                       scale_embedding=True, static_position_embeddings=True,
                                       activation_function="swish", init_std=0.05,
                                       pad_token_id=58100, eos_token_id=0, decoder_start_token_id=58100,
                                       forced_eos_token_id=None))
    model.generation_config.update(max_length=17, min_length=17, num_beams=1, bad_words_ids=[[58100]])
else:
    model = GPT2LMHeadModel(GPT2Config())
model.save_pretrained(folder)
for file in tokens.glob("tokenizer*"):
    shutil.copy(file, folder)
path = pathlib.Path(folder) / "tokenizer.json"
if shape == "gpt2" and path.exists():
    tokenizer = json.loads(path.read_text())
    words = tokenizer["model"]["vocab"]
    words.update({added["content"]: added["id"] for added in tokenizer["added_tokens"]})
    words.update({f"\u0120filler{i}": i for i in range(len(words), model.config.vocab_size)})
    path.write_text(json.dumps(tokenizer))
if shape == "marian":
    for file in tokens.glob("*.spm"):
        shutil.copy(file, folder)
    words = [word for word in json.loads((tokens / "vocab.json").read_text()) if word != "<pad>"]
    words += [f"\u2581filler{i}" for i in range(58100 - len(words))] + ["<pad>"]
    (pathlib.Path(folder) / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    sides = dict(tokenizer_class="MarianTokenizer", source_lang="en", target_lang="de")
    (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(sides))
