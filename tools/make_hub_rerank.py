#!/usr/bin/env python3
"""Write tests/golden/hub_rerank/: small cross-encoders of Hugging Face's families, and the scores that they give, for
tests/io/test_hub_rerank.c.

For whoever adds a family. Not needed to build or test: the folders are in the project.

    python3 tools/make_hub_rerank.py [-o FOLDER] NAME...      needs torch, transformers 5 and tokenizers

Each NAME/ is a model folder: random weights of a wide range, as make_hub_encoder.py has them. NAME/expected.safetensors has, for
each pair I = 0 .. 34,
    ids.I [n]     its tokens, of which transformers' default truncation ("longest_first") has left LIMIT
    types.I [n]   their types as the model reads them
and
    logits [35]   computed in float64
    scores [35]   sentence-transformers' CrossEncoder has these: the logits, or their sigmoid, as config.json says
    error []      the largest distance of the float32 model's logits from them
NAME/expected.json has the pairs, LIMIT, and which pairs were cut.
"""
import argparse
import itertools
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import processors
from transformers import (AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification, DistilBertConfig,
                          DistilBertForSequenceClassification, RobertaConfig, RobertaForSequenceClassification, XLMRobertaConfig,
                          XLMRobertaForSequenceClassification)

import make_hub_encoder as encoders

FOLDER = encoders.ROOT / "tests" / "golden" / "hub_rerank"
LONG = encoders.TEXTS[-1]
PAIRS = [("cat", "The cat wants to sing."), ("The cat wants to sing.", "cat"), ("", ""), ("cat", ""), ("", "sing"),
         ("Änne ging in das Café", "中文 cats! [SEP] sing"), ("cat", LONG), (LONG, "sing, cat"), (LONG, "the " + LONG),
         ("the cat wants a song of things", LONG), *itertools.product(encoders.TEXTS, encoders.TEXTS)]
ONE_LABEL = dict(num_labels=1)
IDENTITY, SIGMOID = "torch.nn.modules.linear.Identity", "torch.nn.modules.activation.Sigmoid"
MODELS = {
    "bert_pairs": dict(make=lambda: BertForSequenceClassification(BertConfig(**encoders.BERT, **ONE_LABEL)), tokenizer="uncased", limit=40,
                 config={"sbert_ce_default_activation_function": IDENTITY}),
    # BERT's tokenizer that gives its model no types, and the activation as newer folders have it.
    "bert_untyped": dict(make=lambda: BertForSequenceClassification(BertConfig(**{**encoders.BERT, "num_hidden_layers": 1},
                                                                               **ONE_LABEL)),
                         tokenizer="vocab.txt", limit=21, inputs=["input_ids", "attention_mask"],
                         config={"sentence_transformers": {"activation_fn": SIGMOID, "version": "5.1.0"}}),
    "roberta_pairs": dict(make=lambda: RobertaForSequenceClassification(RobertaConfig(**encoders.ROBERTA, type_vocab_size=1, **ONE_LABEL)),
                    tokenizer="bytes", limit=36),
    "xlm_roberta_pairs": dict(make=lambda: XLMRobertaForSequenceClassification(XLMRobertaConfig(
                            **{**encoders.ROBERTA, "num_hidden_layers": 1}, type_vocab_size=1, hidden_act="relu", **ONE_LABEL)),
                        tokenizer="unigram", limit=30, config={"sentence_transformers": {"activation_fn": IDENTITY}}),
    "distilbert_pairs": dict(make=lambda: DistilBertForSequenceClassification(DistilBertConfig(**encoders.DISTILBERT, **ONE_LABEL)),
                       tokenizer="cased", limit=33),
}


def unigram_of_pairs(single=encoders.unigram):
    tokenizer = single()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


def write_config(folder, spec):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **spec.get("config", {})}, indent=2) + "\n")
    if "inputs" in spec:
        path = folder / "tokenizer_config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "model_input_names": spec["inputs"]}, indent=1) + "\n")


def expected(folder, rows, identity):
    logits = {}
    for dtype in (torch.float32, torch.float64):
        model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        model.to(dtype)
        with torch.no_grad():
            logits[dtype] = torch.cat([model(**{k: torch.tensor([v]) for k, v in row.items()}).logits[0] for row in rows]).double()
    exact = logits[torch.float64]
    out = {"logits": exact, "scores": exact if identity else torch.sigmoid(exact),
           "error": (logits[torch.float32] - exact).abs().max()}
    for i, row in enumerate(rows):
        ids = row["input_ids"]
        out |= {f"ids.{i}": torch.tensor(ids).int(), f"types.{i}": torch.tensor(row.get("token_type_ids", [0] * len(ids))).int()}
    return {k: v.clone().contiguous() for k, v in out.items()}


def write(name, folder):
    spec, target = MODELS[name], folder / name
    shutil.rmtree(target, ignore_errors=True)
    model = spec["make"]().eval()
    encoders.randomize(model, len(name))
    encoders.save(model, target, spec)
    tokenizer = encoders.write_tokenizer(target, spec["tokenizer"], spec["limit"])
    write_config(target, spec)
    tokenizer = type(tokenizer).from_pretrained(target)
    # In lists, as CrossEncoder has them: a second text alone that is empty would be none.
    rows = [{k: v[0] for k, v in tokenizer([a], [b], truncation=True, max_length=spec["limit"]).items()} for a, b in PAIRS]
    cut = [len(tokenizer([a], [b])["input_ids"][0]) > spec["limit"] for a, b in PAIRS]
    identity = IDENTITY in json.dumps(spec.get("config", {}))
    save_file(expected(target, rows, identity), target / "expected.safetensors")
    (target / "expected.json").write_text(json.dumps({"pairs": PAIRS, "limit": spec["limit"], "cut": cut}, ensure_ascii=False,
                                                    indent=1) + "\n")
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=FOLDER)
    parser.add_argument("names", nargs="+", choices=MODELS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    encoders.unigram = unigram_of_pairs
    for name in arguments.names:
        target = write(name, arguments.o)
        print(target.name, json.dumps({"bytes": sum(f.stat().st_size for f in target.rglob("*.*"))}))


if __name__ == "__main__":
    main()
