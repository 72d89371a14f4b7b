#!/usr/bin/env python3
"""Compare models that `rapt convert` wrote with what the other programs make of them.

For whoever changes src/io/export. Not needed to build or test. Trains a small model of each shape with rapt, writes it for the
other programs, and prints a table, that of docs/results/export.md.

    python3 tools/compare_export.py [-o FOLDER] [NAME...]      needs build/, torch, transformers, ctranslate2

Models that are in FOLDER are kept. Exit status 1 if something differs. Columns of a language model: the largest distance of
transformers' float32 logits and of rapt's from transformers' float64 ones (to the largest logit), greedy ids, and texts on which ids
of the tokenizers are equal.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parent.parent
RAPT = ROOT / "build" / "rapt"
GREEDY, TEXT = 24, 40

PRE = "layers: 2, d_model: 48, heads: 3, dropout: 0, norm_place: pre, init: gpt2, context: 64"
LANGUAGE = {  # name: tokenizer, model, class
    "llama": ("type: bpe, vocab_size: 500", PRE + ", kv_heads: 1, ffn: 112, ffn_kind: swiglu, norm_kind: rms, positions: rotary, "
              "bias: false, tied: false, scale_embedding: false", "LlamaForCausalLM"),
    "llama_tied": ("type: characters", PRE + ", ffn: 112, ffn_kind: swiglu, norm_kind: rms, positions: rotary, bias: true, "
                   "rotary_base: 500, tied: true, scale_embedding: false", "LlamaForCausalLM"),
    "granite": ("type: bpe, vocab_size: 400", PRE + ", kv_heads: 1, ffn: 112, ffn_kind: swiglu, norm_kind: rms, positions: rotary, "
                "bias: false, tied: true, scale_embedding: true", "GraniteForCausalLM"),
    "gpt2": ("type: bpe, vocab_size: 400, pattern: cl100k", PRE + ", ffn: 80, ffn_kind: gelu_tanh, norm_kind: layer, positions: learned, bias: true, "
             "tied: true, scale_embedding: false", "GPT2LMHeadModel"),
    "gpt2_bare": ("type: characters", PRE + ", ffn: 192, ffn_kind: gelu, norm_kind: layer, positions: learned, bias: false, "
                  "tied: true, scale_embedding: false", "GPT2LMHeadModel"),
    "gpt2_table": ("type: characters", PRE + ", ffn: 192, ffn_kind: relu, norm_kind: layer, positions: sinusoidal, bias: true, "
                   "tied: false, output_bias: false, scale_embedding: false", "GPT2LMHeadModel"),
    "neox": ("type: bpe, vocab_size: 400", PRE + ", ffn: 100, ffn_kind: gelu, norm_kind: layer, positions: rotary, bias: true, "
             "tied: false, output_bias: false, scale_embedding: false", "GPTNeoXForCausalLM"),
    "gpt": ("type: characters", PRE.replace("pre", "post") + ", ffn: 192, ffn_kind: gelu_tanh, norm_kind: layer, positions: learned, "
            "bias: true, tied: true, scale_embedding: false", "OpenAIGPTLMHeadModel"),
}
HOSTILE = ["", " ", "  two  spaces ", "tab\tand\r\nline\n\nends", "naïve café, coöperate.", "e\u0301 n\u0303 \u212b", "ﬁ ﬂ ＡＢ１２ ｶﾞ",
           "a\u00a0b\u202fc\u2009d\u200be", "日本語のテキスト。한국어", "👩‍👩‍👧‍👦 👍🏽", "x" * 3000, "1234567890 3.14 -7", "don't I'LL we'Ve",
           "...a..b.,!?c d ,e", "ΟΔΟΣ ΣΑΣ ΑΣ. Σ ΑΣ'Β Α\u0301Σ", "İstanbul IĞDIR ẞ ǅ Ⅷ", "مرحبا ﷺ", "\u0000 nul", "line\u2028sep\u2029par", "“q” ‘s’ – — …"]


def run(*command, text=None):
    return subprocess.run([str(c) for c in command], check=True, input=text, capture_output=True, text=True).stdout


def train(folder, name, recipe):
    model = folder / name
    if not (model / "model.safetensors").exists():
        (folder / f"{name}.yaml").write_text(recipe)
        run(RAPT, "train", folder / f"{name}.yaml", "--out", model, "--quiet")
    return model


def convert(model, to):
    out = model.parent / f"{model.name}.{to}"
    if out.exists():
        for path in sorted(out.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        out.rmdir()
    run(RAPT, "convert", model, "--to", to, "-o", out)
    return out


def equal_texts(tokenizer, model, texts):
    """On how many of the texts rapt's ids are those of the tokenizer; None counts where both refuse."""
    same = []
    for text in texts:
        done = subprocess.run([str(RAPT), "tokenizer", "encode", str(model), "--jsonl"], input=json.dumps({"text": text}) + "\n",
                              capture_output=True, text=True)
        ours = json.loads(done.stdout)["ids"] if done.returncode == 0 else None
        try:
            theirs = tokenizer(text, add_special_tokens=False)["input_ids"]
        except Exception:
            theirs = None
        same.append(ours == theirs)
    for text, ok in zip(texts, same):
        if not ok:
            print(f"  differs: {model} {text[:40]!r}", file=sys.stderr)
    return sum(same)


def distances(ours, theirs, exact):
    most = exact.abs().max()
    return ((ours - exact).abs().max() / most).item(), ((theirs - exact).abs().max() / most).item()


def language_model(helper, folder, name):
    tokenizer_yaml, model_yaml, wanted = LANGUAGE[name]
    model = train(folder, name, f"""task: language_model
seed: 1
data: {{text: {folder / "text.txt"}, validation_fraction: 0.05}}
tokenizer: {{{tokenizer_yaml}}}
model: {{{model_yaml}}}
train: {{steps: 200, batch: 8, lr: 0.004, schedule: cosine, warmup: 20, clip: 1}}
""")
    out = convert(model, "hf")
    tokenizer = AutoTokenizer.from_pretrained(out)
    net = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32, attn_implementation="eager").eval()
    exact = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float64, attn_implementation="eager").eval()
    assert type(net).__name__ == wanted
    lines = (folder / "text.txt").read_text().splitlines()[::200]
    ids = tokenizer((folder / "text.txt").read_text()[1000:3000], add_special_tokens=False)["input_ids"][:TEXT]
    ours = json.loads(run(helper, "lm", model, GREEDY, text=" ".join(map(str, ids)) + "\n"))
    with torch.no_grad():
        theirs, double = net(torch.tensor([ids])).logits[0], exact(torch.tensor([ids])).logits[0]
        greedy = net.generate(torch.tensor([ids]), attention_mask=torch.ones(1, TEXT, dtype=torch.long), do_sample=False,
                              max_new_tokens=GREEDY, eos_token_id=None)
    mine = torch.tensor(ours["logits"], dtype=torch.float64).reshape(double.shape)
    a, b = distances(mine, theirs.double(), double)
    same = greedy[0, TEXT:].tolist() == ours["greedy"]
    texts = equal_texts(tokenizer, model, HOSTILE + lines)
    print(f"| {name} | {wanted} | {b:.1e} | {a:.1e} | {'equal' if same else 'DIFFER'} | {texts} of {len(HOSTILE + lines)} |")
    return same and texts == len(HOSTILE + lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("/tmp/compare_export"))
    parser.add_argument("names", nargs="*", default=list(LANGUAGE))
    arguments = parser.parse_args()
    folder = arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    pairs = [line.split("\t")[:2] for line in (ROOT / "data" / "en-fr.tsv").read_text().splitlines()]
    (folder / "text.txt").write_text("\n".join(pair[0] for pair in pairs) + "\n")
    helper = folder / "compare_export"
    run("cc", "-O1", "-I", ROOT / "include", ROOT / "tools" / "compare_export.c", "-o", helper, "-L", ROOT / "build", "-lrapt",
        f"-Wl,-rpath,{ROOT / 'build'}")
    print(f"transformers {transformers.__version__}, torch {torch.__version__}\n")
    print("| model | class | theirs, fp32 | rapt | greedy ids | tokenizer |\n| --- | --- | --- | --- | --- | --- |")
    return not all([language_model(helper, folder, name) for name in arguments.names])


if __name__ == "__main__":
    sys.exit(main())
