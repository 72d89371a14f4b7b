#!/usr/bin/env python3
"""Makes tests/text/m2m100: the tokenizer of a small M2M100 folder as they are published, and in expected.json what transformers
makes of texts with it.

    pip install transformers==5.24.0 sentencepiece==0.2.3
    python tools/golden_m2m100.py

A SentencePiece model is trained on both sides of data/en-fr.tsv; vocab.json has its pieces in another order, as fairseq's
dictionaries have, without some of them and with a few that the model lacks. Special tokens and languages in a text are tokens
where a text is framed by them, and text (split_special_tokens) without."""
import json
import pathlib
import random
import tempfile

from transformers import M2M100Tokenizer, __version__
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

import sentencepiece
import spm_texts

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/text/m2m100"
MORE = ["C'est l'été à Noël.", "I'm not naïve, ça va?", "The cat ôte 茶 sat.", "__en__ Hello __de__", "a __xx__ b", ">>deu<< Hello",
        "</s> __en__", "the the the", "你好你好 the 你"]
LACKING = ["▁zzq", "zzq", "▁▁", "__xx__"]  # of the model


def make_folder():
    lines = [side for line in (ROOT / "data/en-fr.tsv").read_text().splitlines() for side in line.split("\t")[:2]]
    data = spm_texts.train(lines, vocab_size=400, model_type="bpe", normalization_rule_name="identity")
    (OUT / "sentencepiece.bpe.model").write_bytes(data)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    pieces = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    random.Random(1).shuffle(pieces)
    names = list(dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *pieces[20:], *LACKING]))
    (OUT / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}, ensure_ascii=False, indent=0) + "\n")
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>", "pad_token": "<pad>",
               "additional_special_tokens": [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]}
    config = {"src_lang": None, "tgt_lang": None, **special, "special_tokens_map_file": "m2m100/special_tokens_map.json",
              "language_codes": "m2m100", "num_madeup_words": 8, "tokenizer_class": "M2M100Tokenizer"}
    for name, value in (("special_tokens_map", special), ("tokenizer_config", config)):
        (OUT / f"{name}.json").write_text(json.dumps(value) + "\n")


def main():
    OUT.mkdir(exist_ok=True)
    make_folder()
    tokenizer = M2M100Tokenizer.from_pretrained(OUT)
    texts = MORE + [t.decode() for t in spm_texts.HARD if t.decode(errors="ignore").encode() == t]
    rng = random.Random(2)

    def ids(text, **keys):
        return tokenizer(text, **keys).input_ids

    expected = {
        "size": len(tokenizer), "languages": {c: tokenizer.get_lang_id(c) for c in FAIRSEQ_LANGUAGE_CODES["m2m100"]},
        "encoded": [[t, ids(t), ids(t, add_special_tokens=False, split_special_tokens=True)] for t in texts],
        "decoded": [[ids, tokenizer.decode(ids, skip_special_tokens=True)]
                    for ids in [[rng.randrange(len(tokenizer)) for _ in range(rng.randint(0, 20))] for _ in range(100)]]}
    with tempfile.TemporaryDirectory() as folder:  # what transformers 5 writes of it
        tokenizer.save_pretrained(folder)
        expected["saved"] = {p.name: json.loads(p.read_text()) for p in pathlib.Path(folder).glob("*.json") if p.name != "vocab.json"}
    expected["saved"]["tokenizer_config.json"].pop("model_max_length")  # 10^30, which no integer of the test holds
    tokenizer.src_lang = "de"
    expected["german"] = [[t, ids(t)] for t in MORE]
    (OUT / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(texts)} texts with transformers {__version__}")


if __name__ == "__main__":
    main()
