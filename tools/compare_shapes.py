#!/usr/bin/env python3
"""Compare models of published sizes with transformers: logits to 4,096 tokens, greedy search and beam search.

For whoever changes what models of Hugging Face compute. Not needed to build or test, whose models are tiny. Makes a folder of each
shape with random weights from a seed, and prints the tables of docs/results/models.md.

    python3 tools/compare_shapes.py [-o FOLDER] [NAME...]    needs build/, torch, transformers, 5 GB of disk and 20 GB of memory

Distances are the largest of the logits of the last 16 tokens from those that transformers computes in float64, of rapt and of
transformers in float32, which may be half as far at most. Ids are those of 64 steps in float64; where they differ, the margin of
the best two logits there decides: at most 1e-3. Exit status 1 if something differs. Made with PyTorch 2.15.0 and transformers 5.24.0.
"""
import argparse
import gc
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from transformers import (AutoModelForCausalLM, AutoModelForSeq2SeqLM, BartConfig, Gemma3TextConfig, GPT2Config, GPTNeoXConfig,
                          LlamaConfig, M2M100Config, Qwen2Config, Qwen3Config, T5Config)

import make_hub
import make_hub_translation

ROOT = Path(__file__).resolve().parent.parent
LONG, LAST, SHORT, STEPS, BEAM = 4096, 16, 64, 64, 4
MARGIN, SCORE = 1e-3, 1e-4
GERMAN = 261 # de_DE of make_hub_translation.py

LLAMA3 = dict(rope_type="llama3", rope_theta=500000.0, factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=8192)
LANGUAGE = {
    "gpt2": GPT2Config(),
    "pythia-70m": GPTNeoXConfig(vocab_size=50304, hidden_size=512, intermediate_size=2048, num_hidden_layers=6, num_attention_heads=8,
                                max_position_embeddings=2048),
    "SmolLM2-135M": LlamaConfig(vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
                                num_attention_heads=9, num_key_value_heads=3, max_position_embeddings=8192, tie_word_embeddings=True,
                                rope_parameters=dict(rope_type="default", rope_theta=100000.0)),
    "Qwen2.5-0.5B": Qwen2Config(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
                                num_attention_heads=14, num_key_value_heads=2, max_position_embeddings=32768,
                                tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1e6)),
    "Qwen3-0.6B": Qwen3Config(vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28,
                              num_attention_heads=16, num_key_value_heads=8, head_dim=128, max_position_embeddings=40960,
                              tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1e6)),
    "Llama-3.2-1B, 2 of 16 layers": LlamaConfig(vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=2,
                                                num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=131072,
                                                tie_word_embeddings=True, rope_parameters=LLAMA3),
    "gemma-3-270m, vocabulary of 32768": Gemma3TextConfig(vocab_size=32768, hidden_size=640, intermediate_size=2048,
                                                          num_hidden_layers=18, num_attention_heads=4, num_key_value_heads=1,
                                                          head_dim=256, sliding_window=512, max_position_embeddings=32768),
}
WIDE = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in dict(layers=2, attention_heads=16, ffn_dim=4096).items()}
TRANSLATORS = {  # name: configuration, kind of tokenizer
    "opus-mt-en-de": (None, "marian"), # bench/make_hub_shape.py
    "t5-small": (T5Config(vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, pad_token_id=1, eos_token_id=2,
                          decoder_start_token_id=1), "$A </s>"),
    "bart-base": (BartConfig(vocab_size=50265, d_model=768, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=3072, decoder_ffn_dim=3072,
                             encoder_attention_heads=12, decoder_attention_heads=12), "<s> $A </s>"),
    "nllb-200-distilled-600M, 2 of 12 layers": (M2M100Config(vocab_size=256206, d_model=1024, scale_embedding=True, **WIDE), "en_XX $A </s>"),
}


def run(*command, text=None):
    return subprocess.run([str(c) for c in command], check=True, cwd=ROOT, input=text, stdout=subprocess.PIPE, text=True).stdout


def perturb(model):
    """Norms around 1 and biases around 0, as a trained model has them; the rest is as transformers draws it."""
    generator = torch.Generator().manual_seed(1)
    for name, p in model.named_parameters():
        if p.ndim == 1:
            p.data += 0.1 * torch.randn(p.shape, generator=generator)


def load(kind, folder, dtype):
    return kind.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()


def furthest(ours, exact):
    return (ours.double() - exact).abs().max().item()


def steps_alone(model, ids):
    """The ids of greedy search behind `ids`, and the margin of the best two logits at each."""
    past, found, margins, given = None, [], [], torch.tensor([ids])
    for _ in range(STEPS):
        out = model(given, past_key_values=past, use_cache=True)
        best, past = out.logits[0, -1].topk(2), out.past_key_values
        margins.append(float(best.values[0] - best.values[1]))
        found.append(int(best.indices[0]))
        given = best.indices[None, :1]
    return found, margins


def same_until_margin(ours, theirs, margins):
    differs = next((i for i in range(STEPS) if ours[i] != theirs[i]), None)
    return "equal" if differs is None else f"equal for {differs}" if margins[differs] < MARGIN else "DIFFER"


def language_model(helper, folder, name):
    config = LANGUAGE[name]
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config)
    perturb(model)
    model.save_pretrained(folder)
    make_hub.write_tokenizer(folder)
    del model
    count = min(LONG, config.max_position_embeddings)
    ids = torch.randint(0, config.vocab_size, (count,), generator=torch.Generator().manual_seed(2))
    texts = {SHORT: STEPS, count: 0}
    ours = {n: json.loads(run(helper, "lm", folder, steps, LAST, text=" ".join(map(str, ids[:n].tolist())) + "\n"))
            for n, steps in texts.items()}
    logits = {}
    for dtype in torch.float32, torch.float64:
        net = load(AutoModelForCausalLM, folder, dtype)
        for n in texts:
            logits[dtype, n] = net(ids[None, :n], logits_to_keep=LAST, use_cache=False).logits[0]
        if dtype == torch.float64:
            found, margins = steps_alone(net, ids[:SHORT].tolist())
        del net
        gc.collect()
    same, row, ok = same_until_margin(ours[SHORT]["greedy"], found, margins), f"| {name} |", True
    for n in texts:
        exact = logits[torch.float64, n]
        mine = furthest(torch.tensor(ours[n]["logits"], dtype=torch.float64).reshape(exact.shape), exact)
        theirs = furthest(logits[torch.float32, n], exact)
        row += f" {n:,}: {mine:.1e} | {theirs:.1e} | {mine / theirs:.2f} |"
        ok = ok and mine <= 2 * theirs
    print(f"{row} {same}, least margin {min(margins):.0e} |", flush=True)
    return ok and same != "DIFFER"


def make_translator(folder, name):
    config, kind = TRANSLATORS[name]
    if config is None:
        run(sys.executable, ROOT / "bench" / "make_hub_shape.py", "marian", "F32", folder)
    else:
        torch.manual_seed(1)
        if hasattr(config, "init_std"): # not T5, which scales what it draws by the width
            config.init_std = 0.05
        AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
        make_hub_translation.write_tokenizer(folder, kind, config)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    perturb(model)
    model.generation_config.update(max_length=STEPS + 1, min_length=None, num_beams=BEAM, length_penalty=1.0, early_stopping=False,
                                   forced_eos_token_id=None, forced_bos_token_id=GERMAN if "en_XX" in kind else None)
    model.save_pretrained(folder)


def translator(helper, folder, name):
    make_translator(folder, name)
    lines = [line.split("\t")[0] for line in (ROOT / "data" / "en-fr.tsv").read_text().splitlines()[7::4000]][:3]
    ours = {beam: [json.loads(line) for line in run(helper, "mt", folder, beam, 1, text="\n".join(lines) + "\n").splitlines()]
            for beam in (1, BEAM)}
    nets = {dtype: load(AutoModelForSeq2SeqLM, folder, dtype) for dtype in (torch.float32, torch.float64)}
    mine = theirs = score = 0.0
    same = {1: 0, BEAM: 0}
    for i in range(len(lines)):
        source, target = ours[1][i]["source"], ours[1][i]["target"]
        start = nets[torch.float64].generation_config.decoder_start_token_id
        if start is None:
            start = nets[torch.float64].config.decoder_start_token_id
        text = dict(input_ids=torch.tensor([source]), attention_mask=torch.ones(1, len(source), dtype=torch.long))
        single, exact = (nets[d](**text, decoder_input_ids=torch.tensor([[start] + target])).logits[0] for d in nets)
        mine = max(mine, furthest(torch.tensor(ours[1][i]["logits"], dtype=torch.float64).reshape(exact.shape), exact))
        theirs = max(theirs, furthest(single, exact))
        for beam in ours:
            out = nets[torch.float64].generate(**text, num_beams=beam, do_sample=False, return_dict_in_generate=True, output_scores=True)
            end = nets[torch.float64].config.eos_token_id
            found = [t for t in out.sequences[0, 1:].tolist() if t != end]
            same[beam] += found == ours[beam][i]["target"]
            if beam > 1:
                score = max(score, abs(float(out.sequences_scores[0]) - ours[beam][i]["score"]))
    n = len(lines)
    print(f"| {name} | {mine:.1e} | {theirs:.1e} | {mine / theirs:.2f} | {same[1]} of {n} | {same[BEAM]} of {n} | {score:.0e} |", flush=True)
    return mine <= 2 * theirs and same[1] == same[BEAM] == n and score < SCORE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join([*LANGUAGE, *TRANSLATORS])}")
    parser.add_argument("-o", metavar="FOLDER", help="where to make the folders; default: a temporary one")
    arguments = parser.parse_args()
    names = arguments.names or [*LANGUAGE, *TRANSLATORS]
    work = Path(tempfile.mkdtemp(dir=arguments.o)).resolve()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    helper, ok = work / "compare_export", True
    try:
        run("cc", "-O1", "-I", ROOT / "include", ROOT / "tools" / "compare_export.c", "-o", helper, "-L", ROOT / "build", "-lrapt",
            "-Wl,-rpath," + str(ROOT / "build"))
        with torch.no_grad():
            for name in names:
                ok &= (language_model if name in LANGUAGE else translator)(helper, work / "model", name)
                shutil.rmtree(work / "model")
                gc.collect()
    finally:
        shutil.rmtree(work)
    sys.exit(not ok)


if __name__ == "__main__":
    main()
