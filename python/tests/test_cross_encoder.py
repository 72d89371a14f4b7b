"""Scores of pairs of texts, against the program's."""
import json
import math
import unittest

import rapt
import support

HUB = support.SOURCE / "tests" / "golden" / "hub_rerank" # folders of transformers; the C tests compare them with it
QUERY = "the cat sings"
TEXTS = ["The cat wants to sing.", "", "cat", "the cat " * 60, "sing of the wind"] * 9


def programs(folder, *options, lines=TEXTS):
    text = "".join(line + "\n" for line in lines)
    return [json.loads(line) for line in support.run("rerank", folder, "--quiet", "--json", *options, text=text).splitlines()]


class Scores(unittest.TestCase):
    def compare(self, got, expected):
        self.assertEqual(len(got), len(expected))
        for a, b in zip(got, expected, strict=True):
            self.assertEqual(a.index, b["line"] - 1)
            for name in ("score", "logit"): # the program prints nine digits
                self.assertTrue(math.isclose(getattr(a, name), b[name], rel_tol=1e-7, abs_tol=1e-9), (a, b))

    def test_scores_are_the_programs(self):
        for folder in ("bert_pairs", "roberta_pairs"):
            with self.subTest(folder), rapt.Model.load(HUB / folder, threads=2) as model:
                self.assertIsInstance(model, rapt.CrossEncoder)
                self.assertEqual(model.task, "cross_encoder")
                ranked = model.rank(QUERY, TEXTS)
                self.compare(ranked, programs(HUB / folder, "--query", QUERY))
                self.assertEqual(model.rank(QUERY, tuple(TEXTS), top=3), ranked[:3])
                scores = model.score([(QUERY, text) for text in TEXTS])
                self.compare(scores, programs(HUB / folder, "--pairs", lines=[f"{QUERY}\t{text}" for text in TEXTS]))
                self.assertEqual(sorted(scores, key=lambda s: (-s.logit, s.index)), ranked)
                self.assertEqual([s.cut for s in scores], [len(text) > 100 for text in TEXTS])
                self.assertGreater(len(model.tokenizer), 70)

    def test_what_is_refused(self):
        model = rapt.Model.load(HUB / "bert_pairs", threads=1)
        self.assertEqual(model.rank("cat", []), [])
        self.assertEqual(model.score([]), [])
        for error, call in ((TypeError, lambda: model.rank("cat", "cat")), (TypeError, lambda: model.rank(["cat"], ["cat"])),
                            (TypeError, lambda: model.rank("cat", ["cat", 1])), (TypeError, lambda: model.score("ab")),
                            (TypeError, lambda: model.score(["ab"])), (TypeError, lambda: model.score([("a", "b", "c")])),
                            (TypeError, lambda: model.score([("a", 1)])), (TypeError, lambda: model.rank("cat", ["a"], top=1.0)),
                            (rapt.InvalidValueError, lambda: model.rank("cat", ["a"], top=0)),
                            (rapt.InterruptedRunError, lambda: model.rank("a", ["b"], should_stop=lambda: True)),
                            (ZeroDivisionError, lambda: model.score([("a", "b")], should_stop=lambda: 1 / 0))):
            with self.assertRaises(error):
                print(call())
        self.assertFalse(hasattr(model, "embed"))
        model.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            model.rank("a", ["b"])


if __name__ == "__main__":
    unittest.main()
