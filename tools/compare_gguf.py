#!/usr/bin/env python3
"""Compare GGUF files that `rapt convert` wrote with the models they were made of, and with what other programs make of them.

For whoever changes src/io/gguf or src/io/export/export_gguf*. Not needed to build or test. Trains small models with rapt, makes
others with transformers, and takes those of tests/golden/hub; prints a table, that of docs/results/gguf-write.md.

    python3 tools/compare_gguf.py [-o FOLDER] [--ranks FOLDER] [NAME...]    needs build/, torch, transformers, gguf

Models that are in FOLDER are kept. llama.cpp is compared as well where llama_cpp (llama-cpp-python) can be imported. --ranks: where
tiktoken's rank files are, whose tokenizers are compared then. Exit status 1 if something differs. Columns: the architecture; tensors
whose numbers are those of the model, bit for bit, in F32, and those whose bytes are what gguf's quantize() makes of them in each
other format; the largest distance of logits from rapt's (to the largest logit), as transformers and llama.cpp compute them from
the file; greedy ids of llama.cpp that are rapt's, up to the first that differs; texts on which ids of its tokenizer are rapt's.
"""
import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import gguf
import numpy
import torch
import transformers
from gguf.quants import quantize
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM

from compare_export import HOSTILE, PRE, run, train

try:
    import llama_cpp
except ImportError:
    llama_cpp = None

ROOT = Path(__file__).resolve().parent.parent
RAPT = ROOT / "build" / "rapt"
HUB = ROOT / "tests" / "golden" / "hub"
GREEDY, PROMPT, CLOSE = 64, 24, 2e-5
GELU_CLOSE = 5e-3  # llama.cpp reads GELU, with tanh, from a table of fp16
WEIGHTS = {"f16": "F16", "bf16": "BF16", "q8_0": "Q8_0", "q4_0": "Q4_0"}

SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
          r"\s+(?!\S)|\s")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SUFFIX}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SUFFIX}?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def bpe(size, pattern):
    return f"type: bpe, vocab_size: {size}, pattern: '" + pattern.replace("'", "''") + "'"


LLAMA = ", ffn: 128, ffn_kind: swiglu, norm_kind: rms, positions: rotary"
GPT = ", ffn: 192, ffn_kind: gelu_tanh, norm_kind: layer, tied: true, scale_embedding: false"
PRE = PRE.replace("d_model: 48", "d_model: 64").replace("heads: 3", "heads: 4").replace("context: 64", "context: 128")
TRAINED = {  # name: tokenizer, model
    "rapt_llama": ("type: bpe, vocab_size: 500", PRE + LLAMA + ", kv_heads: 2, bias: false, tied: false, scale_embedding: false"),
    "rapt_llama3": (bpe(500, LLAMA3), PRE + LLAMA + ", kv_heads: 4, bias: false, tied: true, scale_embedding: false"),
    "rapt_llama_bias": ("type: characters", PRE + LLAMA + ", bias: true, rotary_base: 500, tied: true, scale_embedding: false"),
    "rapt_spm": ("type: file, path: PIECES", PRE + LLAMA + ", kv_heads: 1, bias: false, tied: true, scale_embedding: false"),
    "rapt_granite": (bpe(400, O200K), PRE + LLAMA + ", kv_heads: 1, bias: false, tied: true, scale_embedding: true"),
    "rapt_gpt2": (bpe(400, CL100K), PRE + GPT + ", positions: learned, bias: true"),
    "rapt_gpt2_bare": ("type: characters", PRE + GPT + ", positions: sinusoidal, bias: false"),
    "rapt_neox": ("type: bpe, vocab_size: 400", PRE + ", ffn: 96, ffn_kind: gelu_tanh, norm_kind: layer, positions: rotary, bias: true, "
                  "tied: true, scale_embedding: false"),
}
STORED = ["gpt2", "gpt_neox", "llama", "llama3", "llama_heads", "llama_linear", "mistral", "qwen2", "qwen3", "granite", "olmo2", "gemma",
          "starcoder2"]
MADE = {  # name: the folder whose configuration it has but for these values
    "llama_pieces": ("llama", {"vocab_size": 700}),
    "llama_digits": ("llama", {"vocab_size": 340}),
    "gemma2": ("gemma2", {"query_pre_attn_scalar": "head_dim"}),
    "gemma3": ("gemma3", {"query_pre_attn_scalar": "head_dim"}),
    "phi3": ("phi3", {"sliding_window": None, "pad_token_id": 0}),
    "smollm3": ("smollm3", {"num_hidden_layers": 5, "no_rope_layers": [1, 1, 1, 0, 1]}),
}


# ---- models ------------------------------------------------------------------------------------------------------

def pieces(folder):
    """A SentencePiece model as llama.cpp can have it: BPE, with bytes for what is unknown, and texts as they are."""
    import sentencepiece
    path = folder / "pieces.model"
    if not path.exists():
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text.txt"), model_prefix=str(path.with_suffix("")), model_type="bpe", vocab_size=700, byte_fallback=True,
            normalization_rule_name="identity", remove_extra_whitespaces=False, minloglevel=2)
    return path


def pieces_as_json(path):
    """The model as a tokenizer.json, as that of Llama 2 is: a pair merges that makes a piece, those of the best score first."""
    import sentencepiece
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    vocab = {model.id_to_piece(i): i for i in range(model.get_piece_size())}
    pairs = [(-model.get_score(i), vocab[piece[:k]], vocab[piece[k:]], piece[:k] + " " + piece[k:]) for piece, i in vocab.items()
             for k in range(1, len(piece)) if not model.is_byte(i) and piece[:k] in vocab and piece[k:] in vocab]
    special = dict(single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
    begin = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    text = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    return {
        "version": "1.0", "truncation": None, "padding": None, "pre_tokenizer": None,
        "added_tokens": [{"id": i, "content": model.id_to_piece(i), **special} for i in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
        "post_processor": {"type": "TemplateProcessing", "single": [begin, text[0]], "pair": [begin, text[0], begin, text[1]],
                           "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": True, "byte_fallback": True, "vocab": vocab, "merges": [pair[3] for pair in sorted(pairs)]}}


def trained(folder, name):
    tokenizer, model = TRAINED[name]
    tokenizer = tokenizer.replace("PIECES", str(pieces(folder))) if "PIECES" in tokenizer else tokenizer
    return train(folder, name, f"""task: language_model
seed: 1
data: {{text: {folder / "text.txt"}, validation_fraction: 0.05}}
tokenizer: {{{tokenizer}}}
model: {{{model}}}
train: {{steps: 200, batch: 8, lr: 0.004, schedule: cosine, warmup: 20, clip: 1}}
""")


def made(folder, name):
    of, values = MADE[name]
    config = AutoConfig.from_pretrained(HUB / of)
    for key, value in values.items():
        setattr(config, key, getattr(config, value) if isinstance(value, str) else value)
    if hasattr(config, "layer_types") and len(config.layer_types or []) != config.num_hidden_layers:
        config.layer_types = ["full_attention"] * config.num_hidden_layers
    torch.manual_seed(1)
    net = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    for p in net.parameters():  # of a wide range, so that one that is dropped or exchanged shows
        torch.nn.init.normal_(p, mean=0.1 if p.ndim == 1 else 0, std=0.2)
    net.save_pretrained(folder / name)
    if name == "llama_pieces":
        shutil.copy(pieces(folder), folder / name / "tokenizer.model")
        (folder / name / "tokenizer.json").write_text(json.dumps(pieces_as_json(pieces(folder))))
    elif name == "llama_digits":
        digits = json.loads((ROOT / "tests" / "text" / "pipeline" / "smollm.json").read_text())["tokenizer"]
        (folder / name / "tokenizer.json").write_text(json.dumps(digits))
    else:
        shutil.copy(HUB / of / "tokenizer.json", folder / name)
    return folder / name


def convert(model, folder, to, *options):
    out = folder / f"{model.name}.{to}"
    shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
    run(RAPT, "convert", model, "--to", "hf" if to == "hf" else "gguf", "-o", out, *options)
    return out


# ---- tensors -----------------------------------------------------------------------------------------------------

def interleaved(w, heads):
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def apart(w, heads):
    """[heads, 3, features] as [3, heads, features]."""
    return w.reshape(heads, 3, w.shape[0] // heads // 3, *w.shape[1:]).swapaxes(0, 1).reshape(w.shape)


def expected(folder, arch):
    """The tensors of a Hugging Face folder by GGUF's names, as llama.cpp's converters change them."""
    c = json.loads((folder / "config.json").read_text())
    heads = c.get("num_attention_heads") or c.get("n_head")
    layers = c.get("num_hidden_layers") or c.get("n_layer")
    kind = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == arch)
    names, found = gguf.get_tensor_name_map(kind, layers), {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        theirs, w = names.get_name(name, try_suffixes=(".weight", ".bias")), tensor.float().numpy()
        if arch in ("llama", "granite", "smollm3") and ".q_proj." in name:
            w = interleaved(w, heads)
        elif arch in ("llama", "granite", "smollm3") and ".k_proj." in name:
            w = interleaved(w, c["num_key_value_heads"])
        elif arch == "gptneox" and "query_key_value" in name:
            w = apart(w, heads)
        elif arch == "gpt2" and w.ndim == 2 and (".c_" in name):
            w = w.T
        elif arch.startswith("gemma") and w.ndim == 1:
            w = w + numpy.float32(1)
        found[theirs] = w
    return found


def same_tensors(model, folder, wanted):
    """How many tensors there are, in how many formats, and what differs."""
    wrong, count = [], 0
    fits = any(w.ndim == 2 and w.shape[1] % 32 == 0 for w in wanted.values())
    for weights in (None, *WEIGHTS):
        if weights in ("q8_0", "q4_0") and not fits:  # which rapt refuses
            continue
        path = convert(model, folder, f"{weights or 'f32'}.gguf", *(["--weights", weights] if weights else []))
        tensors = {t.name: t for t in gguf.GGUFReader(path).tensors}
        tensors.pop("rope_freqs.weight", None)
        missing = set(wanted) - set(tensors) - {"output.weight"}  # a tied one may be left out
        wrong += [f"{weights}: {name} is missing" for name in missing]
        for name, t in tensors.items():
            w = wanted.get(name, wanted.get("token_embd.weight") if name == "output.weight" else None)
            if w is None and name.endswith(".bias"):
                w = numpy.zeros(t.shape[0], numpy.float32)
            rounded = weights and len(t.shape) == 2 and name != "position_embd.weight"
            kind = gguf.GGMLQuantizationType[WEIGHTS[weights]] if rounded else gguf.GGMLQuantizationType.F32
            if kind in (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q4_0) and t.shape[0] % 32:
                kind = gguf.GGMLQuantizationType.F32
            data = quantize(numpy.ascontiguousarray(w), kind)
            count += 1
            if t.tensor_type != kind or data.tobytes() != t.data.tobytes():
                wrong.append(f"{weights}: {name}")
    return count, wrong


# ---- other programs ----------------------------------------------------------------------------------------------

def distance(theirs, ours):
    return (torch.as_tensor(theirs).double() - ours).abs().max().item() / ours.abs().max().item()


def by_transformers(path, arch, ids, ours):
    """None: transformers does not read the architecture from GGUF, nor scaled rotary positions, nor Llama's biases, nor, of some, the
    features of a head and those that are rotated."""
    fields = gguf.GGUFReader(path).fields
    size = {key: fields[f"{arch}.{key}"].contents() for key in ("attention.key_length", "attention.head_count", "embedding_length")}
    scaled = f"{arch}.rope.scaling.type" in fields or any(t.name == "rope_freqs.weight" for t in gguf.GGUFReader(path).tensors)
    own_size = size["attention.key_length"] * size["attention.head_count"] != size["embedding_length"]
    turned = fields[f"{arch}.rope.dimension_count"].contents() if f"{arch}.rope.dimension_count" in fields else None
    own_size = own_size or (arch == "phi3" and turned != size["attention.key_length"])
    biased = arch == "llama" and any(t.name.endswith("attn_q.bias") for t in gguf.GGUFReader(path).tensors)
    unread = ("gptneox", "granite", "olmo2", "smollm3", "gemma", "starcoder2")  # the last with positions of another base
    if arch in unread or scaled or biased or (arch != "llama" and own_size):
        return None
    options = {"config": AutoConfig.from_pretrained(path.parent / f"{path.name.split('.')[0]}.hf")} if arch == "gpt2" else {}
    net = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32, attn_implementation="eager",
                                               **options).eval()
    with torch.no_grad():
        return distance(net(torch.tensor([ids])).logits[0], ours)


def by_llama_cpp(path, ids, own, ours):
    """The largest distance of logits, and how many greedy ids are the same from the first on."""
    net = llama_cpp.Llama(str(path), n_ctx=len(ids) + len(own), logits_all=True, type_k=0, type_v=0, flash_attn=False, n_threads=1,
                          verbose=False)
    net.eval(ids)
    logits, found = numpy.array(net.scores[:len(ids)]), []
    for _ in own:
        found.append(int(net.scores[net.n_tokens - 1].argmax()))
        net.eval(found[-1:])
    same = next((i for i, (a, b) in enumerate(zip(found, own)) if a != b), len(own))
    return distance(logits, ours), same, net


def same_texts(net, model, texts):
    """On how many texts ids are equal, of those that rapt encodes."""
    same = []
    for text in texts:
        done = subprocess.run([str(RAPT), "tokenizer", "encode", str(model), "--jsonl"], input=json.dumps({"text": text}) + "\n",
                              capture_output=True, text=True)
        if done.returncode == 0:
            ids = json.loads(done.stdout)["ids"]
            same.append(ids == net.tokenize(text.encode(), add_bos=False, special=False))
            if not same[-1]:
                print(f"  differs: {model.name} {text[:40]!r}", file=sys.stderr)
    return sum(same), len(same)


# ---- the table ---------------------------------------------------------------------------------------------------

def compare(helper, folder, name, texts):
    model = trained(folder, name) if name in TRAINED else made(folder, name) if name in MADE else HUB / name
    path = convert(model, folder, "f32.gguf")
    arch = gguf.GGUFReader(path).fields["general.architecture"].contents()
    steps = min(GREEDY, gguf.GGUFReader(path).fields[f"{arch}.context_length"].contents() - PROMPT)
    # A SentencePiece model has no tokenizer.json, so that there is no folder to compare tensors with.
    count, wrong = (0, []) if name == "rapt_spm" else same_tensors(model, folder, expected(convert(model, folder, "hf"), arch))
    path = convert(model, folder, "f32.gguf")
    encoded = run(RAPT, "tokenizer", "encode", model, "--jsonl", text=json.dumps({"text": texts[-1]}) + "\n")
    ids = json.loads(encoded)["ids"][:PROMPT]
    out = json.loads(run(helper, "lm", model, steps, text=" ".join(map(str, ids)) + "\n"))
    ours = torch.tensor(out["logits"], dtype=torch.float64).reshape(len(ids), -1)
    transformed = by_transformers(path, arch, ids, ours)
    close = GELU_CLOSE if arch in ("gpt2", "gptneox") or arch.startswith("gemma") else CLOSE
    ok = not wrong and (transformed is None or transformed < CLOSE)
    row = [name, arch, f"{count - len(wrong)} of {count}" if count else "-", "-" if transformed is None else f"{transformed:.1e}", "-", "-", "-"]
    if llama_cpp:
        far, same, net = by_llama_cpp(path, ids, out["greedy"], ours)
        equal, all_texts = same_texts(net, model, texts)
        row[4:] = [f"{far:.1e}", f"{same} of {steps}", f"{equal} of {all_texts}"]
        ok = ok and far < close and same == steps and equal == all_texts
    print("| " + " | ".join(row) + " |", flush=True)
    for what in wrong:
        print("  differs: " + what, file=sys.stderr)
    return ok


def rank_file(folder, ranks, name, texts):
    """Ids of a public encoding, which a model of next to nothing carries."""
    model = train(folder, name, f"""task: language_model
seed: 1
data: {{text: {folder / "text.txt"}, validation_fraction: 0.05}}
tokenizer: {{type: {name}, path: {ranks / name}.tiktoken}}
model: {{layers: 1, d_model: 8, heads: 1, ffn: 32, ffn_kind: gelu_tanh, norm_place: pre, norm_kind: layer, positions: learned,
  bias: true, tied: true, scale_embedding: false, context: 16, init: gpt2}}
train: {{steps: 2, batch: 1}}
""")
    net = llama_cpp.Llama(str(convert(model, folder, "f32.gguf")), vocab_only=True, verbose=False)
    equal, count = same_texts(net, model, texts)
    print(f"\n{name}: {equal} of {count} texts")
    return equal == count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("/tmp/compare_gguf"))
    parser.add_argument("--ranks", type=Path)
    parser.add_argument("names", nargs="*", default=[*TRAINED, *STORED, *MADE])
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
    texts = HOSTILE + (folder / "text.txt").read_text().splitlines()[::200] + [(folder / "text.txt").read_text()[1000:3000]]
    version = f", llama-cpp-python {llama_cpp.__version__}" if llama_cpp else ""
    print(f"transformers {transformers.__version__}, torch {torch.__version__}{version}\n")
    print("| model | architecture | tensors | logits, transformers | logits, llama.cpp | greedy ids | texts |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    ok = all([compare(helper, folder, name, texts) for name in arguments.names])
    ranks = ["r50k_base", "cl100k_base", "o200k_base"] if arguments.ranks and llama_cpp else []
    return not all([ok] + [rank_file(folder, arguments.ranks, name, texts) for name in ranks])


if __name__ == "__main__":
    sys.exit(main())
