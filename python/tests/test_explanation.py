"""Explanations: the program's bytes, arrays in place, and what a notebook shows."""
import html.parser
import json
import threading
import unittest

import rapt
import support

TEXT = "where are you ?"


def programs(folder, *options):
    return support.run("explain", folder, TEXT, *options)


class Tags(html.parser.HTMLParser):
    """Fails at tags that are not closed, and at what would load or run something."""
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attributes):
        # A figure's style is of svg:root: of no element in a page.
        assert tag not in ("script", "link", "iframe", "img", "object"), tag
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attributes), attributes
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Explaining(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rapt.Model.load(support.translator(), threads=2)
        cls.e = cls.model.explain(TEXT)

    def test_texts_are_the_programs(self):
        for options, arguments in (({}, ()), ({"gradients": True}, ("--train",)), ({"lens": True}, ("--lens",)),
                                   ({"target": "tu es", "gradients": True}, ("--train=tu es",)),
                                   ({"names": ["decoder.0.*", "predictions"]}, ("--only=decoder.0.*", "--only=predictions"))):
            with self.subTest(options):
                e = self.model.explain(TEXT, **options)
                self.assertEqual(e.json(full=True) + "\n", programs(self.model.folder, "--json", "--full", *arguments))
                self.assertEqual(e.json() + "\n", programs(self.model.folder, "--json", *arguments))
                self.assertEqual(e.text().rstrip("\n"), programs(self.model.folder, *arguments).rstrip("\n"))
        page, saved = support.SCRATCH / "page.html", support.SCRATCH / "saved.html"
        programs(self.model.folder, f"--html={page}")
        self.assertEqual(self.e.html(), page.read_text(encoding="utf-8"))
        self.e.save(saved)
        self.assertEqual(saved.read_bytes(), page.read_bytes())
        programs(self.model.folder, f"--html={page}", "--book=../book")
        self.assertEqual(self.e.html(book="../book"), page.read_text(encoding="utf-8"))
        self.e.save(saved, book="../book")
        self.assertEqual(saved.read_bytes(), page.read_bytes())
        self.e.save(support.SCRATCH / "saved.json")
        self.assertEqual((support.SCRATCH / "saved.json").read_text(encoding="utf-8"), self.e.json())

    def test_arrays_are_those_of_the_json(self):
        e = self.model.explain(TEXT, gradients=True)
        said = json.loads(e.json(full=True))
        names = ["grad:" * step["gradient"] + step["name"] for step in said["steps"]]
        self.assertEqual(list(e), names)
        self.assertEqual(len(e), len(names))
        for name, step in zip(names, said["steps"], strict=True):
            array = e[name]
            self.assertEqual((list(array.shape), array.name, e.formulas[name]), (step["shape"], step["name"], step["formula"]))
            self.assertTrue(array.readonly)
            for x, y in zip(memoryview(array).cast("B").cast("f"), flat(step["values"]), strict=True):
                self.assertTrue(abs(x - y) <= 1e-8 * abs(x) if isinstance(y, float | int) else str(x) == y, (name, x, y))
        self.assertAlmostEqual(e.loss, said["loss"], places=6)
        self.assertIsNone(self.e.loss)
        self.assertEqual(e.target, said["target"])
        self.assertEqual([p.probabilities for p in e.predictions()][0][0], e.predictions()[0].probabilities[0])
        for p, shown in zip(e.predictions(), said["predictions"], strict=True):
            self.assertEqual(p.ids, [token["id"] for token in shown["tokens"]])
            self.assertEqual(p.tokens, [token["text"] for token in shown["tokens"]])
            self.assertEqual(p.label, shown["next"]["id"])
            self.assertAlmostEqual(p.loss, shown["next"]["loss"], places=6)

    def test_lens(self):
        e = self.model.explain(TEXT, lens=True)
        depths = e.lens()
        self.assertEqual(len(depths), 1 + len({name.split(".")[1] for name in e if name.endswith("cross_attention.weights")}))
        for own, last in zip(e.predictions(), depths[-1], strict=True):
            self.assertEqual([getattr(last, name) for name in own.__slots__], [getattr(own, name) for name in own.__slots__])
            self.assertEqual((last.choice_rank, last.choice_probability), (1, own.probabilities[0]))
        for row, shown in zip(depths, json.loads(e.json())["lens"], strict=True):
            for p, there in zip(row, shown["positions"], strict=True):
                self.assertEqual((p.ids, p.label_rank, p.choice_rank), ([token["id"] for token in there["tokens"]],
                                                                       there["next"]["rank"], there["choice"]["rank"]))
                self.assertAlmostEqual(p.choice_probability, there["choice"]["probability"], places=6)
        self.assertIsNone(rapt.Model.load(support.language_model()).explain("To", lens=True).lens()[0][-1].label_rank)
        with self.assertRaisesRegex(ValueError, "lens=True"):
            self.e.lens()

    def test_attention(self):
        weights = self.e.attention()
        sequences = self.e.sequences
        self.assertEqual(list(sequences), ["source", "target"])
        self.assertEqual(weights.axes, ("head", "query", "key"))
        self.assertEqual(weights.shape[1:], (len(sequences["target"]), len(sequences["source"])))
        self.assertEqual(weights.tolist(), self.e.attention("decoder.0.cross_attention").tolist())
        for row in weights[0].tolist():
            self.assertAlmostEqual(sum(row), 1, places=5)
        with self.assertRaises(KeyError):
            self.e.attention("decoder.7.cross_attention")
        with self.assertRaises(KeyError):
            self.model.explain(TEXT, names=["*.scores"]).attention()

    def test_what_a_notebook_shows(self):
        lm = rapt.Model.load(support.language_model(), threads=1)
        for e in (self.e, self.model.explain(TEXT, gradients=True), self.model.explain("<b> & you", names=["tokens"]),
                  lm.explain("To be, or not to"), lm.explain("To", gradients=True)):
            shown = e._repr_html_()
            self.assertLess(len(shown.encode()), 100_000)
            self.assertNotIn("http", shown.replace("http://www.w3.org/", "")) # the names of SVG, which nobody fetches
            tags = Tags()
            tags.feed(shown)
            self.assertEqual(tags.open, [])
        self.assertLess(len(shown), 100_000)
        del e
        lm.close()

    def test_the_largest_cell(self):
        """A sentence as long as models take, and many blocks."""
        from rapt import _explanation_html as page
        labels = [f"{i} " + "\u4e16" * 60 for i in range(2000)]

        class Stub(dict):
            loss = 1.0
            sequences = {"text": labels}

            def statistics(self):
                return [{"name": "blocks.10.attention.q.rotated" * 3, "gradient": True, "shape": [1, 2000, 2000, 64],
                         "min": -1e-30, "mean": 1e-30, "max": 1e30, "std": 1e-30}] * 900

            def predictions(self):
                return [rapt.Prediction([1] * 5, ["\u4e16" * 60] * 5, [0.5] * 5, 1, 0.5)] * 2000
        name = "blocks.0.attention.weights"
        shown = page.page(Stub())
        cells = page._heat_map(name, [[0.123456] * page.TOKENS] * page.TOKENS, labels, labels)
        self.assertLess(len((shown + cells).encode()), 100_000)

    def test_arrays_outlive_the_explanation(self):
        own = rapt.Model.load(support.translator(), threads=1)
        weights = own.explain(TEXT)["decoder.0.cross_attention.weights"]
        expected = weights.tolist()
        with self.assertRaises(BufferError):
            own.close()
        self.assertEqual(weights.tolist(), expected)
        del weights
        own.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            own.explain(TEXT)

    def test_what_is_refused(self):
        explain = self.model.explain
        for error, call in ((TypeError, lambda: explain(3)), (TypeError, lambda: explain([TEXT])),
                            (TypeError, lambda: explain(TEXT, names="*")), (TypeError, lambda: explain(TEXT, names=[1])),
                            (TypeError, lambda: explain(TEXT, target=["a"])), (TypeError, lambda: explain(TEXT, gradients=1)),
                            (TypeError, rapt.Explanation), (ValueError, lambda: explain("a\ud800")),
                            (rapt.InvalidValueError, lambda: explain("")), (rapt.InvalidValueError, lambda: explain("a " * 5000)),
                            (rapt.InvalidValueError, lambda: explain("zzzz", strict=True)),
                            (rapt.NotFoundError, lambda: explain(TEXT, names=["no.such.*"])),
                            (KeyError, lambda: self.e["no such"]), (TypeError, lambda: self.e.text(width="3"))):
            with self.assertRaises(error):
                print(call())

    def test_addresses_of_the_book(self):
        path = support.SCRATCH / "refused.html"
        for address in ("javascript:alert(1)", "", "ftp://example.org", "https://", "a b", "\u00e9", "a" * 2001):
            with self.subTest(address):
                for call in (lambda a: self.e.html(book=a), lambda a: self.e.save(path, book=a)):
                    with self.assertRaisesRegex(rapt.InvalidValueError, "the book's address"):
                        call(address)
                self.assertFalse(path.exists())
        for wrong, error in ((3, TypeError), (b"book", TypeError), ("a\0b", ValueError)):
            with self.assertRaisesRegex(error, "book"):
                self.e.html(book=wrong)
        for kind in (".json", ".txt"):
            with self.assertRaisesRegex(ValueError, "book"):
                self.e.save(path.with_suffix(kind), book="book")
            self.assertFalse(path.with_suffix(kind).exists())

    def test_two_threads(self):
        expected, got = self.model.explain(TEXT, gradients=True).json(full=True), []

        def work():
            for _ in range(3):
                got.append(self.model.explain(TEXT, gradients=True).json(full=True))
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [expected] * 6)

    def test_frame(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not there")
        frame = self.e.frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame["name"]), list(self.e))


def flat(values):
    """The numbers of nested lists."""
    if not isinstance(values, list):
        return [values]
    return [x for value in values for x in flat(value)]


if __name__ == "__main__":
    unittest.main()
