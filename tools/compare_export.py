#!/usr/bin/env python3
"""Compare models that `rapt convert` wrote with what the other programs make of them.

For whoever changes src/io/export. Not needed to build or test. Trains a small model of each shape with rapt, writes it for the
other programs, and prints a table, that of docs/results/export.md.

    python3 tools/compare_export.py [-o FOLDER] [--ranks FOLDER] [NAME...]    needs build/, torch, transformers, ctranslate2

Models that are in FOLDER are kept. --ranks: where tiktoken's rank files are, whose tokenizers are compared then. Exit status 1 if something differs. Columns of a language model: the largest distance of
transformers' float32 logits and of rapt's from transformers' float64 ones (to the largest logit), greedy ids, and texts on which ids
of the tokenizers are equal.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import ctranslate2
import torch
import transformers
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

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
    "gpt2_table": ("type: characters", PRE + ", ffn: 192, ffn_kind: silu, norm_kind: layer, positions: sinusoidal, bias: true, "
                   "tied: false, output_bias: false, scale_embedding: false", "GPT2LMHeadModel"),
    "neox": ("type: bpe, vocab_size: 400", PRE + ", ffn: 100, ffn_kind: gelu, norm_kind: layer, positions: rotary, bias: true, "
             "tied: false, output_bias: false, scale_embedding: false", "GPTNeoXForCausalLM"),
    "gpt": ("type: characters", PRE.replace("pre", "post") + ", ffn: 192, ffn_kind: gelu_tanh, norm_kind: layer, positions: learned, "
            "bias: true, tied: true, scale_embedding: false", "OpenAIGPTLMHeadModel"),
}
TRANSLATE = "layers: 2, d_model: 48, ffn: 96, heads: 3, dropout: 0, "
TRANSLATORS = {  # name: tokenizer, model, class
    "words_post": ("type: words, lowercase: true", TRANSLATE.replace("48", "45") + "norm_place: post, tied: false", "MarianMTModel"),
    "bpe_post": ("type: bpe, vocab_size: 700, shared: true, normalize: plain", TRANSLATE + "norm_place: post, tied: true, bias: true",
                 "MarianMTModel"),
    "bpe_pre": ("type: bpe, vocab_size: 700, shared: true", TRANSLATE + "norm_place: pre, tied: true, ffn_kind: gelu",
                "PegasusForConditionalGeneration"),
    "chars_pre": ("type: characters", TRANSLATE + "norm_place: pre, tied: false, positions: learned, ffn_kind: swiglu, norm_kind: rms", None),
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
    generated, end = generator_ids(model, ids)
    until = ours["greedy"].index(end) if end in ours["greedy"] else GREEDY
    same_ct2 = generated == ours["greedy"][:until]
    print(f"| {name} | {wanted} | {b:.1e} | {a:.1e} | {'equal' if same else 'DIFFER'} | {texts} of {len(HOSTILE + lines)} | "
          f"{'equal' if same_ct2 else 'DIFFER'} |")
    return same and same_ct2 and texts == len(HOSTILE + lines)


def generator_ids(model, ids):
    """Greedy ids of CTranslate2, which ends at the token that ends a text."""
    out = convert(model, "ctranslate2")
    tokens = json.loads((out / "vocabulary.json").read_text())
    end = json.loads((out / "config.json").read_text())["eos_token"]
    net = ctranslate2.Generator(str(out), inter_threads=1, intra_threads=1)
    result = net.generate_batch([[tokens[i] for i in ids]], max_length=GREEDY, sampling_topk=1, include_prompt_in_result=False)
    return result[0].sequences_ids[0], tokens.index(end) if end in tokens else -1


def translator(helper, folder, name):
    tokenizer_yaml, model_yaml, wanted = TRANSLATORS[name]
    model = train(folder, name, f"""task: translation
seed: 1
data: {{pairs: {ROOT / "data" / "en-fr.tsv"}, validation_fraction: 0.02, max_len: 60}}
tokenizer: {{{tokenizer_yaml}}}
model: {{{model_yaml}}}
train: {{steps: 400, batch: 32, lr: 0.004, schedule: cosine, warmup: 40, clip: 1, label_smoothing: 0}}
""")
    lines = (folder / "text.txt").read_text().splitlines()[7::120]
    shares = []
    out = convert(model, "ctranslate2")
    target = next(out / f"{side}_vocabulary.json" for side in ("target", "shared") if (out / f"{side}_vocabulary.json").exists())
    source = next(out / f"{side}_vocabulary.json" for side in ("source", "shared") if (out / f"{side}_vocabulary.json").exists())
    source, target = json.loads(source.read_text()), json.loads(target.read_text())
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    net = ctranslate2.Translator(str(out), inter_threads=1, intra_threads=1)
    for beam in 1, 4:
        ours = [json.loads(line) for line in run(helper, "mt", model, beam, 0, text="\n".join(lines) + "\n").splitlines()]
        texts = [tokenizer.encode(line, add_special_tokens=False).ids for line in lines]
        same_source = sum(a + [3] == b["source"] for a, b in zip(texts, ours))
        theirs = []
        for ids in texts:  # one by one, for rapt's limit of the length
            result = net.translate_batch([[source[i] for i in ids]], beam_size=beam, length_penalty=0,
                                         max_decoding_length=2 * (len(ids) + 1) + 10)
            theirs.append([target.index(token) for token in result[0].hypotheses[0]])
        shares.append(sum(a == b["target"] for a, b in zip(theirs, ours)))
    print(f"| {name} | {same_source} of {len(lines)} | {shares[0]} of {len(lines)} | {shares[1]} of {len(lines)} |")
    return same_source == shares[0] == len(lines)


def scores_of(folder, name):
    """The largest difference of the log-probabilities of given tokens: `rapt eval --each --tokens`, and CTranslate2's score_batch."""
    model = folder / name
    out = convert(model, "ctranslate2")
    source, target = (json.loads(next(out / f"{which}_vocabulary.json" for which in (side, "shared")
                                      if (out / f"{which}_vocabulary.json").exists()).read_text()) for side in ("source", "target"))
    lines = (ROOT / "data" / "en-fr.tsv").read_text().splitlines()[7::120]
    (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    ours = [json.loads(line) for line in run(RAPT, "eval", model, folder / f"{name}.tsv", "--each", "--json", "--tokens").splitlines()]
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    sources = [[source[i] for i in tokenizer.encode(line.split("\t")[0], add_special_tokens=False).ids] for line in lines]
    net = ctranslate2.Translator(str(out), inter_threads=1, intra_threads=1)
    theirs = net.score_batch(sources, [[target[i] for i in pair["tokens"]["ids"][:-1]] for pair in ours])
    counts = [len(pair["token_log_probs"]) == len(result.log_probs) for pair, result in zip(ours, theirs)]
    worst = max(abs(a - b) for pair, result in zip(ours, theirs) for a, b in zip(pair["token_log_probs"], result.log_probs))
    print(f"| {name} | {sum(pair['token_count'] for pair in ours)} | {worst:.1e} |")
    return all(counts) and worst < 1e-4


def translator_of_transformers(helper, folder, name):
    """Logits of rapt's translations, and greedy search."""
    model, wanted = folder / name, TRANSLATORS[name][2]
    out = convert(model, "hf")
    config = json.loads((out / "config.json").read_text())
    if transformers.__version__ < "5" and config.get("decoder_vocab_size", config["vocab_size"]) != config["vocab_size"]:
        print(f"| {name} | {wanted} | vocabularies of different sizes: read from version 5 on | | | |")
        return True
    tokenizer = AutoTokenizer.from_pretrained(out)
    load = AutoModelForSeq2SeqLM.from_pretrained
    net, exact = (load(out, dtype=t, attn_implementation="eager").eval() for t in (torch.float32, torch.float64))
    assert type(net).__name__ == wanted
    lines = (folder / "text.txt").read_text().splitlines()[7::120]
    ours = [json.loads(line) for line in run(helper, "mt", model, 1, 0, text="\n".join(lines) + "\n").splitlines()]
    worst, sources, greedy = [0, 0], 0, 0
    for line, own in zip(lines, ours):
        ids = tokenizer(line)["input_ids"]
        sources += ids == own["source"]
        with torch.no_grad():
            text = dict(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
            theirs, double = (m(**text, decoder_input_ids=torch.tensor([[2] + own["target"]])).logits[0] for m in (net, exact))
            found = net.generate(**text, do_sample=False, num_beams=1, max_new_tokens=2 * len(ids) + 10)[0, 1:].tolist()
        mine = torch.tensor(own["logits"], dtype=torch.float64).reshape(double.shape)
        worst = [max(a, b) for a, b in zip(worst, distances(mine, theirs.double(), double))]
        found = found[:found.index(3)] if 3 in found else found
        greedy += found == own["target"]
    count = len(lines)
    print(f"| {name} | {wanted} | {worst[1]:.1e} | {worst[0]:.1e} | {sources} of {count} | {greedy} of {count} |")
    return sources == greedy == count


def rank_file(folder, ranks, name):
    """Ids of a public encoding, which a model of next to nothing carries there."""
    model = train(folder, name, f"""task: language_model
seed: 1
data: {{text: {folder / "text.txt"}, validation_fraction: 0.05}}
tokenizer: {{type: {name}, path: {ranks / name}.tiktoken}}
model: {{layers: 1, d_model: 8, heads: 1, ffn: 32, ffn_kind: gelu, norm_place: pre, norm_kind: layer, positions: learned, bias: true,
  tied: true, scale_embedding: false, context: 16, init: gpt2}}
train: {{steps: 2, batch: 1}}
""")
    texts = HOSTILE + (folder / "text.txt").read_text().splitlines()[::100] + [
        (ROOT / "docs" / "glossary.md").read_text(), (ROOT / "src" / "io" / "place" / "place_tensors.c").read_text()]
    same = equal_texts(AutoTokenizer.from_pretrained(convert(model, "hf")), model, texts)
    print(f"{name}: {same} of {len(texts)} texts")
    return same == len(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("/tmp/compare_export"))
    parser.add_argument("--ranks", type=Path)
    parser.add_argument("names", nargs="*", default=[*LANGUAGE, *TRANSLATORS])
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
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, ctranslate2 {ctranslate2.__version__}\n")
    print("| model | class | transformers, fp32 | rapt | greedy ids | tokenizer | greedy ids of CTranslate2 |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    ok = all([language_model(helper, folder, name) for name in arguments.names if name in LANGUAGE])
    print("\n| model | source ids | greedy | beam 4 |\n| --- | --- | --- | --- |")
    translators = [name for name in arguments.names if name in TRANSLATORS]
    ok = all([ok] + [translator(helper, folder, name) for name in translators])
    print("\n| model | tokens | largest difference |\n| --- | --- | --- |")
    ok = all([ok] + [scores_of(folder, name) for name in translators])
    print("\n| model | class | transformers, fp32 | rapt | source ids | greedy |\n| --- | --- | --- | --- | --- | --- |")
    ok = all([ok] + [translator_of_transformers(helper, folder, name) for name in translators if TRANSLATORS[name][2]])
    names = ["r50k_base", "cl100k_base", "o200k_base"] if arguments.ranks else []
    return not all([ok] + [rank_file(folder, arguments.ranks, name) for name in names])


if __name__ == "__main__":
    sys.exit(main())
