#!/usr/bin/env python3
"""Makes tests/text/marian: a small Marian folder's tokenizer, and in expected.json what transformers makes of texts with it.

    pip install transformers==5.23.0 sentencepiece==0.2.3
    python tools/golden_marian.py

Two SentencePiece models are trained on the sides of data/en-fr.tsv; vocab.json has the pieces of both, as opus-mt's have. Texts are
those of spm_texts.HARD that are UTF-8; those with texts of special tokens, which rapt looks for only where it is asked, by themselves."""
import json
import pathlib
import random

from transformers import MarianTokenizer, __version__

import sentencepiece
import spm_texts

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/text/marian"
CODES = [">>deu<<", ">>fra<<"]
MORE = [">>deu<< Hello, world!", ">>fra<<Hello", ">>xyz<< unknown code", ">>deu<<", ">> deu<< a", " >>deu<< a", ">>deu a", "a >>deu<< b",
        ">>deu<< >>fra<< two", ">><< empty", ">>deu<<<< more", "C'est l'été à Noël.", "I'm not naïve, ça va?", "The cat ôte 茶 sat."]

SPECIALS = ["hello </s> world", "hello</s>world", "</s>", " </s> ", "</s> hello", "hello <unk> world", "hello<pad>", "a <unk><pad></s> b",
            "</s></s>", ">>deu<<</s> a", ">>deu<< a </s> >>fra<< b", "</s>>>fra<< hi", ">>de</s>u<< hi", "a\t</s>\tb", "</s", "</s></s"]


def special(text):
    return any(token in text for token in ("</s>", "<unk>", "<pad>"))


def main():
    OUT.mkdir(exist_ok=True)
    sides = zip(*(line.split("\t")[:2] for line in (ROOT / "data/en-fr.tsv").read_text().splitlines()))
    pieces = []
    for name, lines in zip(("source", "target"), sides):
        data = spm_texts.train(lines, vocab_size=300, normalization_rule_name="identity")
        (OUT / f"{name}.spm").write_bytes(data)
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        pieces += [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    random.Random(1).shuffle(pieces)
    names = list(dict.fromkeys(["</s>", "<unk>", *CODES, *pieces[20:], "<pad>"]))  # some pieces have no id
    (OUT / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}, ensure_ascii=False, indent=0) + "\n")

    tokenizer = MarianTokenizer(str(OUT / "source.spm"), str(OUT / "target.spm"), str(OUT / "vocab.json"))
    texts = MORE + [t.decode() for t in spm_texts.HARD if t.decode(errors="ignore").encode() == t]
    specials = SPECIALS + [t for t in texts if special(t)]
    texts = [t for t in texts if not special(t)]
    rng = random.Random(2)
    expected = {
        "size": len(names),
        "source": [{"text": t, "ids": tokenizer(t).input_ids} for t in texts],
        "target": [{"text": t, "ids": tokenizer(text_target=t).input_ids} for t in texts],
        "source_specials": [{"text": t, "ids": tokenizer(t).input_ids} for t in specials],
        "target_specials": [{"text": t, "ids": tokenizer(text_target=t).input_ids} for t in specials],
        "decode": [{"ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=True)}
                   for ids in [[rng.randrange(len(names)) for _ in range(rng.randint(0, 20))] for _ in range(100)]]}
    for one in expected["source"] + expected["target"]:
        one["decoded"] = tokenizer.decode(one["ids"], skip_special_tokens=True)
    (OUT / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(texts)} texts with transformers {__version__}")


if __name__ == "__main__":
    main()
