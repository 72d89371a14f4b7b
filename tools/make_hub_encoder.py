#!/usr/bin/env python3
"""Write tests/golden/hub_encoder/: small encoders of Hugging Face's families, and what they compute, for
tests/io/test_hub_encoder.c.

For whoever adds a family. Not needed to build or test: the folders are in the project.

    python3 tools/make_hub_encoder.py [-o FOLDER] NAME...     needs torch, transformers and tokenizers. Names that end in _4 are
                                                              made by transformers 4.57, the others by 5.23

Each NAME/ is a model folder: random weights of a wide range, random norms and biases, so that one that is dropped shows.
NAME/expected.safetensors has, for each text I = 0 .. 4,
    ids.I [n]        its tokens, cut to LIMIT
    hidden.I [n, d]  last_hidden_state, computed in float64
    mean.I, max.I [d]  the mean and the maximum over the tokens of hidden.I, the first row of which is that of CLS pooling
    unit.I [d]       the mean divided by its Euclidean norm, at least 1e-12
and
    error []         the largest distance of the float32 model from hidden.I
Folders with the settings of sentence-transformers, written here by hand, have instead
    vector.I, query.I [d]  what their pooling makes of hidden.I, with their default prompt, and with that named query
NAME/expected.json has the texts, LIMIT, the tokens that the tokenizer and the positions allow, and which texts were cut.
"""
import argparse
import json
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (AutoModel, AutoTokenizer, BertConfig, BertForPreTraining, BertModel, BertTokenizer, DistilBertConfig,
                          DistilBertForMaskedLM, DistilBertModel, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForSequenceClassification, RobertaModel, XLMRobertaConfig, XLMRobertaForMaskedLM)

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "golden" / "hub_encoder"
TEXTS = ["The cat wants to sing.", "Änne ging in das Café; 中文 cats!", "", "cat",
         "Sing, cat, sing: the wind wants a song of all the things that the cats have ever sung in the inns of the town of Ning."]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "##ing", "want", "sing", "of", "中", "文", ".", ",", ":", ";", "!", "The", "Sing"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = SPECIALS + WORDS + list(LETTERS + "TCSNÄé") + ["##" + c for c in LETTERS + "é"]

BERT = dict(vocab_size=len(VOCABULARY), hidden_size=12, num_hidden_layers=3, num_attention_heads=3, intermediate_size=20,
            max_position_embeddings=40)
ROBERTA = {**BERT, "vocab_size": 300, "max_position_embeddings": 38, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
           "layer_norm_eps": 1e-5}
DISTILBERT = dict(vocab_size=len(VOCABULARY), dim=15, n_layers=2, n_heads=5, hidden_dim=28, max_position_embeddings=64)

MODELS = {
    "bert": dict(make=lambda: BertModel(BertConfig(**BERT)), tokenizer="uncased", limit=40),
    "bert_4": dict(make=lambda: BertForPreTraining(BertConfig(**{**BERT, "hidden_act": "gelu_new", "type_vocab_size": 3})),
                   tokenizer="vocab.txt", limit=24, bin=True),
    # Its head is in the file, and the class without it in config.json.
    "roberta": dict(make=lambda: RobertaForSequenceClassification(RobertaConfig(**ROBERTA, type_vocab_size=1, num_labels=3)),
                    named="RobertaModel",
                    tokenizer="bytes", limit=36),
    "xlm_roberta_4": dict(make=lambda: XLMRobertaForMaskedLM(XLMRobertaConfig(**{**ROBERTA, "num_hidden_layers": 1},
                                                                              type_vocab_size=1, hidden_act="relu")),
                          tokenizer="unigram", limit=30),
    "distilbert": dict(make=lambda: DistilBertModel(DistilBertConfig(**DISTILBERT)), tokenizer="cased", limit=64),
    "distilbert_4": dict(make=lambda: DistilBertForMaskedLM(DistilBertConfig(**DISTILBERT, activation="relu")),
                         tokenizer="vocab.txt cased", limit=20),
    "bert_sentence": dict(make=lambda: BertModel(BertConfig(**{**BERT, "num_hidden_layers": 1})), tokenizer="uncased", limit=40,
                          sentence=dict(pooling={"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, normalize=True,
                                        prompts={"query": "sing of: ", "passage": ""}, default=None, most=14)),
    "roberta_sentence": dict(make=lambda: RobertaModel(RobertaConfig(**{**ROBERTA, "num_hidden_layers": 1}, type_vocab_size=1)),
                             tokenizer="bytes", limit=30,
                             sentence=dict(pooling={"pooling_mode": "max"}, normalize=False,
                                           prompts={"query": "query: ", "passage": "passage: "}, default="passage", most=None)),
}


def randomize(model, seed):
    """Norms around 1, biases around 0, no padding."""
    generator = torch.Generator().manual_seed(seed)
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator)
        norm = "norm" in name.lower() and name.endswith("weight")
        p.data = 1 + 0.3 * noise if norm else (0.3 if noise.ndim == 1 else 0.5) * noise


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=290, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    return tokenizer


def unigram():
    pieces = [(t, 0.0) for t in ("<s>", "<pad>", "</s>", "<unk>")]
    pieces += [(t, -2.0 - i / 7) for i, t in enumerate(["\u2581the", "\u2581cat", "ing", "\u2581want", "\u2581", "\u2581s", "中文"])]
    pieces += [(t, -5.0 - i / 9) for i, t in enumerate(LETTERS + "TCSN.,:;!éÄ")]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


def write_tokenizer(folder, kind, limit):
    """tokenizer.json, or vocab.txt alone; tokenizer_config.json as save_pretrained writes its main keys."""
    settings = {"model_max_length": limit, "tokenizer_class": "PreTrainedTokenizerFast"}
    if kind in ("bytes", "unigram"):
        tokenizer = byte_level() if kind == "bytes" else unigram()
        tokenizer.save(str(folder / "tokenizer.json"))
        settings |= {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    else:
        settings |= {"tokenizer_class": "BertTokenizer", "do_lower_case": "cased" != kind.split()[-1]}
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")
    if kind in ("cased", "uncased"):
        tokenizer = BertTokenizer.from_pretrained(folder)
        tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
        (folder / "vocab.txt").unlink()
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
    assert isinstance(tokenizer, PreTrainedTokenizerFast) and tokenizer.is_fast
    return tokenizer


def save(model, folder, spec):
    """As save_pretrained does it, or as folders of years ago are: torch.save, and norms as BERT's own code named them."""
    model.to(torch.float16).save_pretrained(folder)
    if spec.get("named"):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "architectures": [spec["named"]]}, indent=2) + "\n")
    if spec.get("bin"):
        tensors = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
                   for k, v in model.state_dict().items()}
        tensors["bert.embeddings.position_ids"] = torch.arange(model.config.max_position_embeddings)[None]
        torch.save(tensors, folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()


def write_sentence(folder, s, d):
    kinds = ["Transformer", "Pooling"] + ["Normalize"] * s["normalize"]
    modules = [{"idx": i, "name": str(i), "path": f"{i}_{k}" if i else "", "type": f"sentence_transformers.models.{k}"}
               for i, k in enumerate(kinds)]
    files = {"modules.json": modules, "1_Pooling/config.json": {"word_embedding_dimension": d, **s["pooling"]},
             "sentence_bert_config.json": {"max_seq_length": s["most"], "do_lower_case": False},
             "config_sentence_transformers.json": {"__version__": {"sentence_transformers": "5.1.0"}, "prompts": s["prompts"],
                                                   "default_prompt_name": s["default"], "similarity_fn_name": "cosine"}}
    (folder / "1_Pooling").mkdir()
    for name, root in files.items():
        (folder / name).write_text(json.dumps(root, indent=1) + "\n")


def sentence_vectors(model, tokenizer, s, limit):
    """In float64; the formulas of sentence-transformers' Pooling and Normalize."""
    out, model = {}, model.double()
    for name, prompt in (("vector", s["default"]), ("query", "query")):
        for i, text in enumerate(TEXTS):
            ids = tokenizer(s["prompts"].get(prompt, "") + text, truncation=True, max_length=s["most"] or limit)["input_ids"]
            with torch.no_grad():
                x = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
            y = x[0] if "pooling_mode_cls_token" in s["pooling"] else x.max(0).values
            out[f"{name}.{i}"] = y / max(float(y.norm()), 1e-12) if s["normalize"] else y
    return {k: v.contiguous() for k, v in out.items()}


def expected(model, rows):
    out, error = {}, 0.0
    for i, ids in enumerate(rows):
        hidden = {}
        for dtype in (torch.float32, torch.float64):
            model.to(dtype)
            with torch.no_grad():
                hidden[dtype] = model(input_ids=torch.tensor([ids])).last_hidden_state[0].double()
        x = hidden[torch.float64]
        error = max(error, float((hidden[torch.float32] - x).abs().max()))
        mean = x.sum(0) / max(len(ids), 1e-9)
        out |= {f"ids.{i}": torch.tensor(ids).int(), f"hidden.{i}": x, f"mean.{i}": mean, f"max.{i}": x.max(0).values,
                f"unit.{i}": mean / max(float(mean.norm()), 1e-12)}
    out["error"] = torch.tensor(error, dtype=torch.float64)
    return {k: v.contiguous() for k, v in out.items()}


def write(name, folder):
    spec, target = MODELS[name], folder / name
    assert name.endswith("_4") == transformers.__version__.startswith("4."), "see the versions above"
    shutil.rmtree(target, ignore_errors=True)
    model = spec["make"]().eval()
    randomize(model, len(name))
    save(model, target, spec)
    tokenizer = write_tokenizer(target, spec["tokenizer"], spec["limit"])
    rows = [tokenizer(text, truncation=True, max_length=spec["limit"])["input_ids"] for text in TEXTS]
    cut = [len(tokenizer(text)["input_ids"]) > spec["limit"] for text in TEXTS]
    model = AutoModel.from_pretrained(target, dtype=torch.float32, attn_implementation="eager").eval()
    result = expected(model, rows)
    if s := spec.get("sentence"):
        write_sentence(target, s, model.config.hidden_size)
        result = {"error": result["error"], **sentence_vectors(model, tokenizer, s, spec["limit"])}
    save_file(result, target / "expected.safetensors")
    (target / "expected.json").write_text(json.dumps({"texts": TEXTS, "limit": spec["limit"], "cut": cut}, ensure_ascii=False,
                                                    indent=1) + "\n")
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=FOLDER)
    parser.add_argument("names", nargs="+", choices=MODELS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in arguments.names:
        target = write(name, arguments.o)
        size = sum(f.stat().st_size for f in target.rglob("*.*"))
        print(target.name, json.dumps({"bytes": size, "transformers": transformers.__version__}))


if __name__ == "__main__":
    main()
