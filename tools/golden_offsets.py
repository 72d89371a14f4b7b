#!/usr/bin/env python3
"""Makes tests/text/offsets.json, the golden of tests/text/test_offsets.c: for tokenizer.json files of all kinds, texts with the bytes
that each token comes from, as `tokenizers` has them without "trim_offsets". With --compare it compares `rapt tokenizer encode
--offsets` with `tokenizers` on the texts of tools/compare_pipelines.py's kind instead, and prints a line a file.

Run it at the root of the project, with the package tokenizers==0.23.3 installed:
    python3 tools/golden_offsets.py tests/text/offsets.json
    python3 tools/golden_offsets.py --compare build/rapt [TEXT...]
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import golden_pipelines

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Files in tests/text/pipeline, and folders in tests/golden.
FILES = ["llama2", "llama2_metaspace", "gemma", "nllb", "bert", "words", "roberta", "smollm", "byte_normalizer", "openai", "removed",
         "next", "flags", "unigram", "unigram_bytes", "precompiled", "hub/gpt2", "hub/qwen2", "hub/llama3", "hub_encoder/xlm_roberta_4"]
# In these, `tokenizers` shifts offsets behind characters that are left out or moved.
SHIFTED = {"some_bytes", "prefixed", "precompiled"}
MORE = ["e\u0301a\u0327\u0301 \u00e9 \ufb01\u0301x", "\u1100\u1161\u11a8 x\u0344", "  Hello   world "]
# A text that begins with a character that Precompiled removes.
TEXTS = [text for text in golden_pipelines.TEXTS + MORE if not text.startswith("\u0301")]


def document(name):
    if "/" in name:
        text = (ROOT / "tests/golden" / name / "tokenizer.json").read_text()
    else:
        text = json.dumps(json.loads((ROOT / f"tests/text/pipeline/{name}.json").read_text())["tokenizer"])
    return json.loads(text)


def load(made):
    """Without the trimming of a post-processor, and of texts."""
    tokenizer = golden_pipelines.load(json.loads(json.dumps(made).replace('"trim_offsets": true', '"trim_offsets": false')))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def offsets(tokenizer, text, specials):
    """Bytes, where `tokenizers` has characters."""
    tokenizer.encode_special_tokens = not specials
    encoding = tokenizer.encode(text, add_special_tokens=specials)
    at = [0]
    for character in text:
        at.append(at[-1] + len(character.encode()))
    return [[at[begin], at[end]] for begin, end in encoding.offsets]


def golden(name):
    tokenizer = load(document(name))
    return [[text, offsets(tokenizer, text, True), offsets(tokenizer, text, False)] for text in TEXTS]


def hard_texts(paths):
    choice = random.Random(7)
    codes = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    yield from TEXTS
    for i in range(0, 0x3000, 64):
        yield " ".join("a" + c for c in codes[i:i + 64])
    for _ in range(2000):
        yield "".join(choice.choice([chr(choice.randrange(0x20, 0x250)), choice.choice(golden_pipelines.TEXTS)[:5],
                                     choice.choice(codes[:0x3000]), " ", choice.choice(" -.,'\n\u2581\u0301")])
                      for _ in range(choice.randrange(40)))
    yield from (pathlib.Path(path).read_text(encoding="utf-8")[:1 << 16] for path in paths)


def compare(rapt, name, texts):
    made = document(name)
    tokenizer = load(made)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(made))
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        for specials in (True, False):
            command = [rapt, "tokenizer", "encode", "--jsonl", "--offsets", *["--specials"] * specials, str(path)]
            answers = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")
            for text, answer in zip(texts, answers, strict=False):
                wrong += json.loads(answer)["offsets"] != offsets(tokenizer, text, specials)
    print(f"{name}: {len(texts)} texts, with special tokens and without; offsets differ in {wrong}", flush=True)
    return wrong if name not in SHIFTED else 0


def main():
    if sys.argv[1] == "--compare":
        texts = list(hard_texts(sys.argv[3:]))
        names = [path.stem for path in sorted((ROOT / "tests/text/pipeline").glob("*.json"))]
        names += [str(path.parent.relative_to(ROOT / "tests/golden")) for path in sorted((ROOT / "tests/golden").rglob("tokenizer.json"))]
        raise SystemExit(sum(compare(sys.argv[2], name, texts) for name in names) > 0)
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(golden(name), separators=(',', ':'))}" for name in FILES)
    pathlib.Path(sys.argv[1]).write_text("{" + text + "}\n")


main()
