"""BLEU and chrF against sacreBLEU, where it is installed, and against what it printed otherwise."""
import logging
import math
import os
import random
import unittest

import rapt

try:
    import sacrebleu
except ImportError:
    sacrebleu = None

# How many random corpora: RAPT_PYTHON_CORPORA=500 is the long form.
CORPORA = int(os.environ.get("RAPT_PYTHON_CORPORA", 20))
WORDS = ("the cat sat on a mat , . it's 3.14 \"quoted\" (well) Straße ÉTÉ naïve 日本語 中文 &amp; <s> e-mail U.S. "
         "don't – … 1,000 ... nul\0nul x\u00a0y \u3000 a\tb").split(" ")


def corpus(rng):
    """Hypotheses with words of their references changed, dropped and moved; sometimes empty."""
    streams = [[" ".join(rng.choices(WORDS, k=rng.randrange(0, 12))) for _ in range(rng.randrange(1, 8))]
               for _ in range(rng.randrange(1, 4))]
    streams = [(s * 8)[:len(streams[0])] for s in streams]
    hypotheses = []
    for reference in streams[0]:
        words = [rng.choice(WORDS) if rng.random() < 0.2 else w for w in reference.split(" ") if rng.random() < 0.9]
        hypotheses.append(" ".join(words))
    return hypotheses, streams


@unittest.skipUnless(sacrebleu, "sacrebleu is not installed")
class SacreBLEU(unittest.TestCase):
    def setUp(self):
        logging.disable(logging.WARNING) # advice about effective_order
        self.addCleanup(logging.disable, logging.NOTSET)

    def same_bleu(self, ours, theirs, metric):
        for member in ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len"):
            self.assertEqual(getattr(ours, member), getattr(theirs, member), member)
        self.assertEqual(str(ours), str(theirs))
        self.assertEqual(ours.signature, str(metric.get_signature()))

    def test_bleu(self):
        rng = random.Random(1)
        for _ in range(CORPORA):
            hypotheses, references = corpus(rng)
            method = rng.choice(["exp", "none", "floor", "add-k"])
            options = {"lowercase": rng.random() < 0.3, "tokenize": rng.choice(["13a", "none", "intl", "char", "zh"]),
                       "smooth_method": method, "effective_order": rng.random() < 0.3}
            if method in ("floor", "add-k"):
                options["smooth_value"] = rng.choice([None, 0.5, 2])
            ours, theirs = rapt.BLEU(**options), sacrebleu.BLEU(**options, force=True)
            self.same_bleu(ours.corpus_score(hypotheses, references), theirs.corpus_score(hypotheses, references), theirs)
            of_one = [stream[0] for stream in references]
            self.same_bleu(ours.sentence_score(hypotheses[0], of_one), theirs.sentence_score(hypotheses[0], of_one), theirs)

    def test_chrf(self):
        rng = random.Random(2)
        for _ in range(CORPORA):
            hypotheses, references = corpus(rng)
            options = {"char_order": rng.randrange(1, 8), "word_order": rng.randrange(0, 3), "beta": rng.choice([0, 1, 2, 3]),
                       "lowercase": rng.random() < 0.3, "whitespace": rng.random() < 0.3, "eps_smoothing": rng.random() < 0.3}
            ours, theirs = rapt.CHRF(**options), sacrebleu.CHRF(**options)
            for one, other in ((ours.corpus_score(hypotheses, references), theirs.corpus_score(hypotheses, references)),
                               (ours.sentence_score(hypotheses[0], [s[0] for s in references]),
                                theirs.sentence_score(hypotheses[0], [s[0] for s in references]))):
                self.assertEqual(one.score, other.score)
                self.assertEqual(str(one), str(other))
                self.assertEqual(one.signature, str(theirs.get_signature()))

    def test_functions(self):
        rng = random.Random(3)
        for _ in range(CORPORA):
            hypotheses, references = corpus(rng)
            of_one = [stream[0] for stream in references]
            for name, *arguments in (("corpus_bleu", hypotheses, references), ("corpus_chrf", hypotheses, references),
                                     ("sentence_bleu", hypotheses[0], of_one), ("sentence_chrf", hypotheses[0], of_one)):
                self.assertEqual(getattr(rapt, name)(*arguments).score, getattr(sacrebleu, name)(*arguments).score, name)


class Known(unittest.TestCase):
    def test_what_sacrebleu_printed(self):
        hypotheses, references = ["the cat sat on the mat"], [["the cat sat on a mat"]]
        bleu = rapt.corpus_bleu(hypotheses, references)
        self.assertEqual(str(bleu),
                         "BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)")
        self.assertEqual(float(bleu), bleu.score)
        self.assertEqual(rapt.corpus_chrf(hypotheses, references, word_order=2).name, "chrF2++")

    def test_the_books_bleu(self):
        # exp(min(0, 1 - 3/2)) * (2/2)^(1/2) * (1/1)^(1/4)
        self.assertEqual(rapt.book_bleu("a b", "a b c"), math.exp(-0.5))
        self.assertEqual(rapt.book_bleu("", ""), 1)


class Refused(unittest.TestCase):
    def test_types(self):
        for call in (lambda: rapt.corpus_bleu("a", [["a"]]), lambda: rapt.corpus_bleu(["a"], ["a"]),
                     lambda: rapt.corpus_bleu(["a"], "a"), lambda: rapt.corpus_bleu(["a"], [[None]]),
                     lambda: rapt.corpus_bleu([1], [["a"]]), lambda: rapt.corpus_bleu(["a"], None),
                     lambda: rapt.sentence_bleu("a", "a"), lambda: rapt.sentence_chrf(1, ["a"]), lambda: rapt.book_bleu(1, "a"),
                     lambda: rapt.BLEU(lowercase=1).sentence_score("a", ["a"])):
            with self.assertRaises(TypeError):
                call()

    def test_values(self):
        for call in (lambda: rapt.corpus_bleu([], [[]]), lambda: rapt.corpus_bleu(["a"], [["a", "b"]]),
                     lambda: rapt.corpus_bleu(["a"], []), lambda: rapt.sentence_bleu("a", []),
                     lambda: rapt.corpus_bleu(["a"], [["a"]], tokenize="ja-mecab"),
                     lambda: rapt.BLEU(smooth_value=0), lambda: rapt.CHRF(beta=-1).sentence_score("a", ["a"]),
                     lambda: rapt.CHRF(char_order=0).sentence_score("a", ["a"]),
                     lambda: rapt.corpus_chrf(["a"], [["a"]], char_order=17), lambda: rapt.book_bleu("a", "a", 0),
                     lambda: rapt.corpus_bleu(["a"], [["a"]], smooth_method="floor", smooth_value=-1)):
            with self.assertRaises(ValueError):
                call()


if __name__ == "__main__":
    unittest.main()
