"""Vectors of texts, against the program's."""
import math
import unittest

import rapt
import support

HUB = support.SOURCE / "tests" / "golden" / "hub_encoder" # folders of transformers; the C tests compare them with it
TEXTS = ["The cat wants to sing.", "", "cat", "the cat " * 60] * 20


def programs(folder, *options):
    lines = "".join(text + "\n" for text in TEXTS)
    out = support.run("embed", folder, "--quiet", *options, text=lines)
    return [[float(x) for x in line.split()] for line in out.splitlines()]


class Embedding(unittest.TestCase):
    def compare(self, got, expected):
        self.assertEqual(got.shape, (len(expected), len(expected[0])))
        for a, b in zip(memoryview(got).tolist(), expected, strict=True):
            for x, y in zip(a, b, strict=True):
                self.assertTrue(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-9), (x, y)) # the program prints nine digits

    def test_vectors_are_the_programs(self):
        for folder in ("bert", "roberta_sentence", "distilbert_4"):
            with self.subTest(folder), rapt.Model.load(HUB / folder, threads=2) as model:
                self.assertIsInstance(model, rapt.Encoder)
                self.compare(model.embed(TEXTS), programs(HUB / folder))
        with rapt.Model.load(HUB / "roberta_sentence", threads=1) as model:
            self.compare(model.embed(tuple(TEXTS), prompt="query", pooling="cls", normalize=True),
                         programs(HUB / "roberta_sentence", "--prompt=query", "--pooling=cls", "--normalize"))
            self.compare(model.embed(TEXTS, dimensions=5, normalize=True),
                         programs(HUB / "roberta_sentence", "--dimensions=5", "--normalize"))
            self.compare(model.embed(TEXTS, prompt=""), programs(HUB / "roberta_sentence", "--prompt=none"))

    def test_what_is_refused(self):
        model = rapt.Model.load(HUB / "roberta_sentence", threads=1)
        vectors = model.embed([])
        self.assertEqual(vectors.shape, (0, 12))
        for error, call in ((TypeError, lambda: model.embed("cat")), (TypeError, lambda: model.embed(["cat", 1])),
                            (TypeError, lambda: model.embed(["cat"], normalize=1)),
                            (ValueError, lambda: model.embed(["cat"], pooling="none")),
                            (rapt.InvalidValueError, lambda: model.embed(["cat"], prompt="title")),
                            (rapt.InvalidValueError, lambda: model.embed(["cat"], dimensions=0)),
                            (rapt.InvalidValueError, lambda: model.embed(["cat"], dimensions=13)),
                            (ValueError, lambda: model.embed(["cat"], dimensions=-1)),
                            (TypeError, lambda: model.embed(["cat"], dimensions=1.5)),
                            (rapt.InterruptedRunError, lambda: model.embed(["cat"], should_stop=lambda: True)),
                            (ZeroDivisionError, lambda: model.embed(["cat"], should_stop=lambda: 1 / 0))):
            with self.assertRaises(error):
                print(call())
        vectors = model.embed(["cat"])
        model.close() # vectors have memory of their own
        self.assertEqual(len(vectors.tolist()[0]), 12)
        with self.assertRaisesRegex(ValueError, "closed"):
            model.embed(["cat"])
        translator = rapt.Model.load(support.translator(), threads=1)
        self.assertFalse(hasattr(translator, "embed"))
        translator.close()


if __name__ == "__main__":
    unittest.main()
