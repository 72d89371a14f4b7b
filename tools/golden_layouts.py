#!/usr/bin/env python3
"""Makes tests/text/layout: SentencePiece models, folders that hold one of them and no tokenizer.json, and what transformers makes of
texts there.

    pip install transformers==4.57.6 tokenizers==0.22.2 sentencepiece==0.2.3
    python tools/golden_layouts.py

Each NAME.json has the model, its name in the folder, the folder's other files, [text, ids with special tokens, ids without] and [ids,
text with special tokens, text without]; without them, special tokens in a text are text. transformers gives the languages of NLLB ids behind <mask>, unless the folder lists them as
published ones do: "nllb" is such a list.
"""
import json
import os
import pathlib
import random
import shutil
import tempfile

from transformers import AutoTokenizer, __version__
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

import golden_pipelines
import spm_texts

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/text/layout"
RULES = [("\u00a0", " "), ("\t", " "), ("\n", " "), ("\r", " "), ("\u3000", " "), ("\uff21", "A"), ("\ufb01", "fi"), ("\u00b2", "2"),
         ("e\u0301", "\u00e9"), ("\u00ad", "")]
T5 = dict(model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
MODELS = {"t5": T5, "kept": {**T5, "user_defined_symbols": ["<tool>", "fox"]}, "fairseq": dict(model_type="unigram"),
          "fairseq_bpe": dict(model_type="bpe"),
          "llama": dict(model_type="bpe", byte_fallback=True, vocab_size=500, split_digits=True, allow_whitespace_only_pieces=True,
                        normalization_rule_name="identity", remove_extra_whitespaces=False),
          "gemma": dict(model_type="bpe", byte_fallback=True, vocab_size=500, split_digits=True, allow_whitespace_only_pieces=True,
                        normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=False,
                        pad_id=0, eos_id=1, eos_piece="<eos>", bos_piece="<bos>", bos_id=2, unk_id=3,
                        user_defined_symbols=["<mask>", "<start_of_turn>", "<end_of_turn>", "\n", "  "])}
MORE = ["<extra_id_0> a <extra_id_99>b", "a<extra_id_5>", "<mask_1> b<mask_2><unk_2>", "de_DE Haus", "en_XXhello</s> de_DE", "a <mask> b",
        "deu_Latn Haus", "quick fox <tool>fox", "</s>", " </s> a", "<pad>", "a</s>b", "<start_of_turn>user\nHi  there<end_of_turn>\n"]


def token(content, **flags):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **flags}


def listed(first, contents):
    return {str(first + i): token(content) for i, content in enumerate(contents)}


def config(name, **keys):
    return {"tokenizer_config.json": {"tokenizer_class": name, **keys}}


def folders(size):
    """The model, its name in the folder, the other files."""
    codes = {**listed(0, ["<s>", "<pad>", "</s>", "<unk>"]), **listed(size["fairseq_bpe"] + 1, FAIRSEQ_LANGUAGE_CODES + ["<mask>"])}
    codes[str(size["fairseq_bpe"] + 1 + 202)] = token("<mask>", lstrip=True, normalized=True)
    more = {"additional_special_tokens": ["<extra_id_0>", "<extra_id_1>"], "pad_token": "<pad>"}
    yield "t5", ("t5", "spiece.model", {"config.json": {"model_type": "t5"}})
    yield "t5_first", ("kept", "spiece.model", config("T5Tokenizer", legacy=False, extra_ids=2, **more))
    yield "t5_added", ("t5", "spiece.model", {
        **config("T5TokenizerFast", extra_ids=1), "added_tokens.json": {"<extra_id_0>": 300, "<new>": 301, "<late>": 302},
        "special_tokens_map.json": {"eos_token": token("</s>"), "additional_special_tokens": ["<extra_id_0>", "<late>"]}})
    yield "mt5", ("t5", "spiece.model", config("MT5Tokenizer", add_prefix_space=True))
    yield "pegasus", ("t5", "spiece.model", {"config.json": {"model_type": "pegasus"}})
    yield "mbart", ("fairseq", "sentencepiece.bpe.model", config("MBartTokenizer", src_lang="de_DE"))
    yield "mbart50", ("fairseq", "sentencepiece.bpe.model", {"config.json": {"model_type": "mbart", "tokenizer_class": "MBart50Tokenizer"}})
    yield "nllb", ("fairseq_bpe", "sentencepiece.bpe.model", config("NllbTokenizer", src_lang="deu_Latn", added_tokens_decoder=codes))
    yield "llama", ("llama", "tokenizer.model", {"config.json": {"model_type": "mistral"}})
    yield "llama_first", ("llama", "tokenizer.model", config(
        "LlamaTokenizer", legacy=False, add_eos_token=True, add_bos_token=False, pad_token="<unk>",
        added_tokens_decoder={**listed(0, ["<unk>", "<s>", "</s>"]), **listed(size["llama"], ["<|im_end|>"])}))
    yield "llama_bare", ("llama", "tokenizer.model", {
        **config("LlamaTokenizerFast", add_prefix_space=False), "added_tokens.json": {"<tool>": size["llama"]},
        "special_tokens_map.json": {"bos_token": "<s>", "pad_token": token("</s>")}})
    named = dict(pad_token="<pad>", eos_token="<eos>", bos_token="<bos>", unk_token="<unk>")
    yield "gemma", ("gemma", "tokenizer.model", config("GemmaTokenizer", **named))
    yield "gemma_ends", ("gemma", "tokenizer.model", config(
        "GemmaTokenizer", **named, add_bos_token=False, add_eos_token=True,
        added_tokens_decoder=listed(0, ["<pad>", "<eos>", "<bos>", "<unk>"])))
    yield "xlm_roberta", ("fairseq", "sentencepiece.bpe.model", {"config.json": {"model_type": "xlm-roberta"}})


def expected(tokenizer):
    rng = random.Random(4)
    random_ids = [[rng.randrange(len(tokenizer)) for _ in range(rng.randint(0, 12))] for _ in range(40)]
    texts = golden_pipelines.TEXTS + MORE
    whole = [tokenizer(t).input_ids for t in texts]
    tokenizer.backend_tokenizer.encode_special_tokens = True
    return {"size": len(tokenizer),
            "encoded": [[t, ids,
                         tokenizer.backend_tokenizer.encode(t, add_special_tokens=False).ids] for t, ids in zip(texts, whole)],
            "decoded": [[ids, tokenizer.backend_tokenizer.decode(ids, skip_special_tokens=False),
                         tokenizer.backend_tokenizer.decode(ids, skip_special_tokens=True)] for ids in random_ids]}


def main():
    OUT.mkdir(exist_ok=True)
    lines, size = golden_pipelines.training(), {}
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)  # a model holds the path of its rules
        pathlib.Path("rules.tsv").write_text("".join("\t".join(" ".join(f"{ord(c):X}" for c in side) for side in rule) + "\n" for rule in RULES))
        for name, options in MODELS.items():
            if "normalization_rule_name" not in options:
                options = {**options, "vocab_size": 300, "normalization_rule_tsv": "rules.tsv"}
            data = spm_texts.train(lines, **options)
            (OUT / f"{name}.model").write_bytes(data)
            size[name] = spm_texts.sentencepiece.SentencePieceProcessor(model_proto=data).get_piece_size()
        for name, (model, file, files) in folders(size):
            folder = pathlib.Path(temporary) / name
            folder.mkdir()
            shutil.copy(OUT / f"{model}.model", folder / file)
            for other, value in files.items():
                (folder / other).write_text(json.dumps(value))
            golden = {"model": model, "name": file, "files": files, **expected(AutoTokenizer.from_pretrained(folder, use_fast=True))}
            (OUT / f"{name}.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"transformers {__version__}")


if __name__ == "__main__":
    main()
