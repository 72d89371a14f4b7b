#!/usr/bin/env python3
"""Compares `rapt score --tokenize zh` and chrF with sacreBLEU, segment by segment and for the whole text, on mixed text:
Chinese, English, full-width punctuation, digits, emoji, characters of rare planes, Japanese, Korean, odd spaces, empty lines.

    pip install sacrebleu
    python tools/compare_zh.py [--rapt build/rapt] [--lines 2000] [--seed 1] [TEXT...]

Lines of the TEXTs, if any, are mixed with random ones. Prints what was compared; exit status 1 where anything differs."""
import argparse
import json
import random
import subprocess
import sys
import tempfile

from sacrebleu.metrics import BLEU, CHRF

RANGES = [(0x4E00, 0x9FFF)] * 8 + [(0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2F800, 0x2FA1F), (0x30000, 0x3134F), (0xF900, 0xFAFF),
          (0x2E80, 0x2FFF), (0x3000, 0x303F), (0x3040, 0x30FF), (0x3100, 0x312F), (0x31A0, 0x31FF), (0x3200, 0x33FF),
          (0xAC00, 0xD7A3), (0xFE10, 0xFE1F), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF), (0x2000, 0x206F), (0x2070, 0x2BFF),
          (0x1F300, 0x1FAFF), (0x00A0, 0x024F), (0x0370, 0x04FF), (0x0E01, 0x0E5B), (0x21, 0x7E)]
WORDS = "the model reads 3.14 e.g. v1.2, -5 2024-11-23 10,000 U.S. &quot;token&quot; &amp; <skipped> word's (see fig. 1) [2] 50%".split()
COMMON = "我们今天学习注意力机制，它把查询和键相乘。模型、数据！你好吗？“引号”《书名》（括号）…—·１２３ＡＢ％"
EDGES = [".5", "5.", ",", ".", "-", "5-", "。5", "5。", " \u3000 ", "\u2028", "\u00a0", "\ufeff", "\u200d", "", "   ", "&lt;b&gt;"]


def piece(rng):
    kind = rng.random()
    if kind < 0.35:
        return "".join(rng.choice(COMMON) for _ in range(rng.randint(1, 8)))
    if kind < 0.55:
        return rng.choice(WORDS)
    if kind < 0.65:
        return rng.choice(EDGES)
    low, high = rng.choice(RANGES)
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 5)))


def line(rng, texts):
    if texts and rng.random() < 0.4:
        return rng.choice(texts)
    return "" if rng.random() < 0.02 else "".join(piece(rng) + rng.choice(["", "", " "]) for _ in range(rng.randint(1, 9)))


def changed(rng, text):
    """A translation: the reference with characters dropped, doubled, replaced and swapped."""
    out = []
    for c in text:
        kind = rng.random()
        out.append("" if kind < 0.05 else c + c if kind < 0.08 else rng.choice(COMMON) if kind < 0.13 else c)
    return "".join(out)


def scores(rapt, files, *options):
    command = [rapt, "score", *files, "--json", "--quiet", *options]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(row) for row in out.splitlines()]


def same(ours, theirs):
    return abs(ours - theirs) <= 1e-9 * max(1, abs(theirs))


def differs_bleu(ours, theirs):
    sums = (ours["counts"] == theirs.counts and ours["totals"] == theirs.totals and
            (ours["sys_len"], ours["ref_len"]) == (theirs.sys_len, theirs.ref_len))
    return not (sums and same(ours["score"], theirs.score))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rapt", default="build/rapt")
    p.add_argument("--lines", type=int, default=2000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("text", nargs="*")
    a = p.parse_args()
    rng = random.Random(a.seed)
    texts = [row for path in a.text for row in open(path, encoding="utf-8").read().split("\n") if 0 < len(row) < 400]
    references = [line(rng, texts).replace("\r", " ") for _ in range(a.lines)]
    translations = [changed(rng, r) for r in references]
    with tempfile.TemporaryDirectory() as folder:
        files = [folder + "/hyp", folder + "/ref"]
        for path, rows in zip(files, (translations, references)):
            with open(path, "w", encoding="utf-8", newline="\n") as f:
                f.writelines(row + "\n" for row in rows)
        bad = 0
        for lowercase in (False, True):
            options = ["--lowercase"] * lowercase
            bleu, sentence, chrf = BLEU(tokenize="zh", lowercase=lowercase), BLEU(
                tokenize="zh", lowercase=lowercase, effective_order=True), CHRF(lowercase=lowercase)
            one = scores(a.rapt, files, "--metric", "bleu", "--tokenize", "zh", *options)[0]
            all_bleu = bleu.corpus_score(translations, [references])
            if differs_bleu(one, all_bleu) or one["signature"].split("|rapt:")[0] != str(bleu.get_signature()):
                bad += 1
                print("corpus BLEU:", one, all_bleu, bleu.get_signature())
            one_chrf = scores(a.rapt, files, "--metric", "chrf", *options)[0]
            all_chrf = chrf.corpus_score(translations, [references])
            if not same(one_chrf["score"], all_chrf.score):
                bad += 1
                print("corpus chrF:", one_chrf["score"], all_chrf.score)
            each = scores(a.rapt, files, "--metric", "bleu", "--tokenize", "zh", "--sentence", *options)
            each_chrf = scores(a.rapt, files, "--metric", "chrf", "--sentence", *options)
            for i, (t, r) in enumerate(zip(translations, references)):
                if differs_bleu(each[i], sentence.sentence_score(t, [r])) or not same(
                        each_chrf[i]["score"], chrf.sentence_score(t, [r]).score):
                    bad += 1
                    print(i + 1, ascii(t), ascii(r), each[i], sentence.sentence_score(t, [r]), each_chrf[i]["score"])
            print(f"{a.lines} lines{', lower-cased' * lowercase}: BLEU {all_bleu.score:.4f}, chrF {all_chrf.score:.4f}")
    print("equal" if not bad else f"{bad} scores differ")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
