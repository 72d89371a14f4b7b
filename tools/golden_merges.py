#!/usr/bin/env python3
"""Makes tests/text/merges: folders with vocab.json and merges.txt and no tokenizer.json, and what transformers makes of texts there.

    pip install transformers==5.24.0 tokenizers==0.22.2
    python tools/golden_merges.py

One vocabulary is for GPT-2 and one for RoBERTa and BART. Each NAME.json has the vocabulary, the folder's other files, [text, ids with
special tokens, ids without] and [ids, text]."""
import json
import pathlib
import random
import shutil
import tempfile

import tokenizers
from transformers import GPT2Tokenizer, RobertaTokenizer, __version__

import spm_texts

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/text/merges"
FIVE = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
FOLDERS = {
    "gpt2": ("plain", GPT2Tokenizer, {"config.json": {"model_type": "gpt2"}}),
    "dialogpt": ("plain", GPT2Tokenizer, {"tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True},
                                          "special_tokens_map.json": {"bos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}}),
    "padded": ("plain", GPT2Tokenizer, {
        "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer", "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]"}, "added_tokens.json": {"[PAD]": 600}}),
    "roberta": ("five", RobertaTokenizer, {"config.json": {"model_type": "roberta"}}),
    "bart": ("five", RobertaTokenizer, {"tokenizer_config.json": {"tokenizer_class": "BartTokenizer", "add_prefix_space": False},
                                        "special_tokens_map.json": {"bos_token": "<s>", "eos_token": "</s>", "mask_token": {
                                            "content": "<mask>", "lstrip": True, "rstrip": False, "normalized": True,
                                            "single_word": False}}}),
}


def make_vocabulary(name, special):
    lines = [side for line in (ROOT / "data/en-fr.tsv").read_text().splitlines() for side in line.split("\t")[:2]]
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(lines, vocab_size=600, special_tokens=special, show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        trained.save_model(folder)
        vocab = json.loads((pathlib.Path(folder) / "vocab.json").read_text())
        if special != FIVE:  # the end of a text comes last in GPT-2
            vocab = {t: (i - 1) % len(vocab) for t, i in vocab.items()}
        (OUT / f"{name}.vocab.json").write_text(json.dumps(vocab, ensure_ascii=False, separators=(",", ":")) + "\n")
        shutil.copy(pathlib.Path(folder) / "merges.txt", OUT / f"{name}.merges.txt")


def main():
    OUT.mkdir(exist_ok=True)
    make_vocabulary("plain", ["<|endoftext|>"])
    make_vocabulary("five", FIVE)
    texts = ["a  <mask> b<mask>", "x [PAD] y", "one<|endoftext|> two"] + [t.decode() for t in spm_texts.HARD if t.decode(errors="ignore").encode() == t]
    for name, (vocabulary, kind, files) in FOLDERS.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            for file in ("vocab.json", "merges.txt"):
                shutil.copy(OUT / f"{vocabulary}.{file}", folder / file)
            for file, value in files.items():
                (folder / file).write_text(json.dumps(value))
            tokenizer = kind.from_pretrained(folder)
        rng = random.Random(3)
        decoded = [[rng.randrange(len(tokenizer)) for _ in range(rng.randint(0, 15))] for _ in range(60)]
        whole = [tokenizer(t).input_ids for t in texts]
        tokenizer.backend_tokenizer.encode_special_tokens = True
        golden = {"vocabulary": vocabulary, "files": files, "size": len(tokenizer),
                  "encoded": [[t, w, tokenizer.backend_tokenizer.encode(t, add_special_tokens=False).ids] for t, w in zip(texts, whole)],
                  "decoded": [[ids, tokenizer.backend_tokenizer.decode(ids, skip_special_tokens=False)] for ids in decoded]}
        (OUT / f"{name}.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"transformers {__version__}")


if __name__ == "__main__":
    main()
