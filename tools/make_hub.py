#!/usr/bin/env python3
"""Write tests/golden/hub/: small language models of Hugging Face's families, and what they compute, for tests/io/test_hub*.c.

For whoever adds a family. Not needed to build or test: the folders are in the project.

    python3 tools/make_hub.py [-o FOLDER] [NAME...]     needs torch, transformers (4.57 and 5 write different config.json) and
                                                       tokenizers

Each NAME/ (NAME_4/ by version 4) is a model folder as save_pretrained leaves it: random weights of a wide range, so that no logit decides by noise,
random norms and biases, so that one that is dropped shows. NAME/expected.safetensors has
    ids [64]                 a text
    logits [16, vocab]       of its end, computed in float64
    error []                 the largest distance of the float32 model from them
    greedy [16]              the ids that generate(do_sample=False) adds to the first 8
    margin []                the least distance of the best two logits on the way, in float64
"""
import argparse
import json
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (AutoModelForCausalLM, BloomConfig, Gemma2Config, Gemma3TextConfig, GemmaConfig, GPT2Config,
                          GPTNeoXConfig, GraniteConfig, LlamaConfig, MistralConfig, MptConfig, Olmo2Config, Phi3Config,
                          Qwen2Config, Qwen3Config, SmolLM3Config, Starcoder2Config)

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden" / "hub"
TEXT, LAST, PROMPT, GREEDY, VOCAB = 64, 16, 8, 16, 259

LLAMA = dict(vocab_size=VOCAB, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=6,
             num_key_value_heads=2, max_position_embeddings=96, bos_token_id=256, eos_token_id=257, pad_token_id=None)
TINY = {**LLAMA, "hidden_size": 24, "intermediate_size": 40, "num_attention_heads": 3, "num_key_value_heads": 1}
GEMMA3_ROPE = (dict(rope_theta=50000.0, rope_local_base_freq=300.0, rope_scaling=dict(rope_type="linear", factor=8.0))
               if transformers.__version__.startswith("4.") else
               dict(rope_parameters=dict(full_attention=dict(rope_type="linear", factor=8.0, rope_theta=50000.0),
                                         sliding_attention=dict(rope_type="default", rope_theta=300.0))))
NEOX = dict(vocab_size=VOCAB, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=3,
            max_position_embeddings=96, bos_token_id=256, eos_token_id=257)
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)

MODELS = {
    "gpt2": (GPT2Config(vocab_size=VOCAB, n_positions=64, n_embd=48, n_layer=2, n_head=3, n_inner=80, bos_token_id=256,
                        eos_token_id=257), torch.float32),
    "gpt2_exact": (GPT2Config(vocab_size=VOCAB, n_positions=64, n_embd=32, n_layer=1, n_head=2, activation_function="gelu",
                              tie_word_embeddings=False, bos_token_id=256, eos_token_id=257), torch.float16),
    "llama": (LlamaConfig(**LLAMA, tie_word_embeddings=True), torch.bfloat16),
    "llama3": (LlamaConfig(**{**LLAMA, "eos_token_id": [257, 258]}, rope_theta=500000.0, rope_scaling=LLAMA3), torch.bfloat16),
    "llama_linear": (LlamaConfig(**LLAMA, attention_bias=True, rope_scaling=dict(rope_type="linear", factor=2.5)), torch.float16),
    "llama_heads": (LlamaConfig(**TINY, head_dim=10, tie_word_embeddings=True), torch.bfloat16),
    "mistral": (MistralConfig(**LLAMA, sliding_window=None, rope_theta=1e6), torch.bfloat16),
    "qwen2": (Qwen2Config(**LLAMA, tie_word_embeddings=True, rope_theta=1e6), torch.bfloat16),
    "qwen3": (Qwen3Config(**TINY, head_dim=10, tie_word_embeddings=True, rope_theta=1e6), torch.bfloat16),
    "smollm3": (SmolLM3Config(**{**TINY, "num_hidden_layers": 3}, no_rope_layers=[1, 0, 1]), torch.bfloat16),
    "granite": (GraniteConfig(**TINY, tie_word_embeddings=True, embedding_multiplier=3.5, residual_multiplier=0.6,
                              attention_multiplier=0.6, logits_scaling=1.7), torch.bfloat16),
    "mistral_window": (MistralConfig(**{**TINY, "head_dim": 6}, sliding_window=7, tie_word_embeddings=True), torch.bfloat16),
    "qwen2_window": (Qwen2Config(**TINY, use_sliding_window=True, sliding_window=5, max_window_layers=1,
                                 tie_word_embeddings=True), torch.bfloat16),
    "gemma": (GemmaConfig(**TINY, head_dim=10, hidden_act="gelu"), torch.bfloat16),
    "gemma2": (Gemma2Config(**TINY, head_dim=10, sliding_window=9, query_pre_attn_scalar=17, attn_logit_softcapping=2.0,
                            final_logit_softcapping=3.0), torch.bfloat16),
    "gemma3": (Gemma3TextConfig(**TINY, head_dim=10, sliding_window=9, query_pre_attn_scalar=17,
                                layer_types=["sliding_attention", "full_attention"], **GEMMA3_ROPE), torch.bfloat16),
    "phi3": (Phi3Config(**{**TINY, "hidden_size": 36}, sliding_window=11, rope_parameters=dict(
        rope_type="default", rope_theta=5000.0, partial_rotary_factor=0.7)), torch.bfloat16),
    "phi3_long": (Phi3Config(**{**TINY, "max_position_embeddings": 400}, tie_word_embeddings=True,
                             original_max_position_embeddings=90, rope_parameters=dict(
        rope_type="longrope", rope_theta=10000.0, short_factor=[1.0, 1.3, 2.2, 3.1], long_factor=[1.5, 2.3, 9.0, 9.5])),
        torch.bfloat16),
    "llama_yarn": (LlamaConfig(**TINY, head_dim=16, tie_word_embeddings=True, rope_parameters=dict(
        rope_type="yarn", rope_theta=500.0, factor=4.0, original_max_position_embeddings=24, beta_fast=4.0)), torch.bfloat16),
    "starcoder2": (Starcoder2Config(**TINY, rope_theta=5000.0), torch.bfloat16),
    "starcoder2_window": (Starcoder2Config(**TINY, head_dim=10, sliding_window=7, use_bias=False, hidden_act="gelu",
                                           tie_word_embeddings=False), torch.float16),
    "olmo2": (Olmo2Config(**TINY, tie_word_embeddings=True), torch.bfloat16),
    "gpt_neox": (GPTNeoXConfig(**NEOX, rotary_pct=0.5, rotary_emb_base=5000), torch.float16),
    "gpt_neox_serial": (GPTNeoXConfig(**NEOX, use_parallel_residual=False, rotary_pct=1.0, hidden_act="relu"), torch.float16),
    "bloom": (BloomConfig(vocab_size=VOCAB, hidden_size=48, n_layer=2, n_head=6, seq_length=96, bos_token_id=256, eos_token_id=257,
                          pad_token_id=None), torch.float16),
    "mpt": (MptConfig(vocab_size=VOCAB, d_model=24, n_heads=3, n_layers=2, max_seq_len=96, bos_token_id=256, eos_token_id=257),
            torch.bfloat16),
}


def randomize(model, seed):
    """Norms around 1, biases around 0, matrices with a deviation of 0.2."""
    generator = torch.Generator().manual_seed(seed)
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator)
        p.data = 1 + 0.2 * noise if "norm" in name.split(".")[-2] or ".ln_" in name and name.endswith("weight") else 0.2 * noise


def write_tokenizer(folder):
    """Bytes, and three special tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|begin|>", "<|end|>", "<|turn|>"])
    tokenizer.save(str(folder / "tokenizer.json"))


def expected(model, seed):
    ids = torch.randint(0, 256, (TEXT,), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        single = model.float()(ids[None]).logits[0].double()
        model.double()
        logits = model(ids[None]).logits[0]
        model.generation_config.eos_token_id = None
        text, margin = ids[:PROMPT], float("inf")
        for _ in range(GREEDY):
            best = model(text[None]).logits[0, -1].topk(2)
            margin = min(margin, float(best.values[0] - best.values[1]))
            text = torch.cat([text, best.indices[:1]])
    return {"ids": ids.int(), "logits": logits[-LAST:], "error": (single - logits).abs()[-LAST:].max(),
            "greedy": text[PROMPT:].int(), "margin": torch.tensor(margin, dtype=torch.float64)}


def write(name, folder):
    config, dtype = MODELS[name]
    target = folder / (name + ("_4" if transformers.__version__.startswith("4.") else ""))
    shutil.rmtree(target, ignore_errors=True)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    randomize(model, len(name))
    model.to(dtype).save_pretrained(target)
    write_tokenizer(target)
    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32, attn_implementation="eager").eval()
    save_file({k: v.contiguous() for k, v in expected(model, 7).items()}, target / "expected.safetensors")
    for file in target.iterdir():
        file.chmod(0o644)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=FOLDER)
    parser.add_argument("names", nargs="*", default=list(MODELS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in arguments.names:
        target = write(name, arguments.o)
        size = sum(f.stat().st_size for f in target.iterdir())
        print(target.name, json.dumps({"bytes": size, "transformers": transformers.__version__}))


if __name__ == "__main__":
    main()
