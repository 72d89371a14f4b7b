#!/usr/bin/env python3
"""Makes tests/text/sentencepiece: small SentencePiece models, and in expected.json what sentencepiece makes of hard texts with them.

    pip install sentencepiece==0.2.3
    python tools/golden_spm.py

Models are trained on data/en-fr.tsv, or made by hand. Texts are in hexadecimal: they need not be UTF-8. Of long
texts, which the test makes by the same rule, the numbers and SHA-256 of ids (32 bits each, little-endian) and of decoded text."""
import hashlib
import json
import pathlib
import random
import struct

import sentencepiece

import spm_texts

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/text/sentencepiece"


def lines():
    return [side for line in (ROOT / "data/en-fr.tsv").read_text().splitlines()[:3000] for side in line.split("\t")[:2]]


def models():
    text = lines()
    rules = OUT / "rules.tsv"
    rules.write_text(spm_texts.RULES)
    common = {"required_chars": "你好世界", "user_defined_symbols": spm_texts.USER_DEFINED, "normalization_rule_name": "identity"}
    found = {
        "unigram": spm_texts.train(text, vocab_size=600, user_defined_symbols=spm_texts.USER_DEFINED),
        "unigram_bytes": spm_texts.train(text, vocab_size=600, byte_fallback=True, add_dummy_prefix=False,
                                         remove_extra_whitespaces=False, **common),
        "unigram_suffix": spm_texts.train(text, vocab_size=500, treat_whitespace_as_suffix=True, **common),
        "unigram_rules": spm_texts.train(text, vocab_size=400, normalization_rule_tsv=str(rules), denormalization_rule_tsv=str(rules),
                                         pad_id=3, unk_surface="<?>"),
        "bpe": spm_texts.train(text, vocab_size=600, model_type="bpe", **common),
        "bpe_bytes": spm_texts.train(text, vocab_size=800, model_type="bpe", byte_fallback=True, remove_extra_whitespaces=False,
                                     split_digits=True, allow_whitespace_only_pieces=True, **common),
        "characters": spm_texts.train(text, vocab_size=100, model_type="char", **common),
        "words": spm_texts.train(text, vocab_size=200, model_type="word", **common),
        **spm_texts.made()}
    rules.unlink()
    return found


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def long_text(processor, rule, text):
    ids = processor.encode(text)
    decoded = processor.decode(ids).encode()
    return {"rule": rule, "count": len(ids), "ids": sha256(struct.pack(f"<{len(ids)}i", *ids)), "decoded": sha256(decoded)}


def short_text(processor, text):
    ids = processor.encode(text)
    return {"text": text.hex(), "ids": ids, "decoded": processor.decode(ids).encode().hex()}


def expected(name, data):
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    rng = random.Random(name)
    ties = "ties" in name or "unused" in name
    texts = spm_texts.tie_lines(rng, 100) if ties else spm_texts.HARD
    rules = [] if ties else [long_text(processor, "unspaced", spm_texts.unspaced()),
                             long_text(processor, "code points", spm_texts.code_points())]
    sequences = [[rng.randrange(processor.get_piece_size()) for _ in range(rng.randint(0, 20))] for _ in range(20)]
    return {"texts": [short_text(processor, text) for text in texts], "long": rules,
            "sequences": [{"ids": ids, "decoded": processor.decode(ids).encode().hex()} for ids in sequences]}


def main():
    OUT.mkdir(exist_ok=True)
    found = {}
    for name, data in models().items():
        (OUT / f"{name}.model").write_bytes(data)
        found[name] = expected(name, data)
    body = ",\n".join(f'"{name}": {json.dumps(value, separators=(",", ":"))}' for name, value in found.items())
    (OUT / "expected.json").write_text("{\n" + body + "\n}\n")
    print(f"{len(found)} models with sentencepiece {sentencepiece.__version__}")


if __name__ == "__main__":
    main()
