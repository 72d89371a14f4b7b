"""What the chapters of docs/book suggest under "Try" for Python: the cells of a page with the change that it names."""
import contextlib
import io
import re
import traceback
import unittest

import rapt
import support
from rapt import nn

BOOK = support.SOURCE / "docs" / "book"


def numbers(tensor):
    return tensor.reshape(-1).tolist()


def difference(a, b):
    return max(abs(x - y) for x, y in zip(numbers(a), numbers(b), strict=True))


def tries(page):
    """The section "Try" of a chapter, in either language, as one line."""
    section = re.search(r"\n## (?:Try|试一试)\n(.*?)\n## ", page.read_text(encoding="utf-8"), re.S)
    return " ".join(section[1].split())


class Cells(unittest.TestCase):
    def setUp(self):
        self.addCleanup(nn.set_printoptions, 4, 1000, 3, 80)

    def run_cells(self, chapter, words, changes=(), last=None):
        """The names and what is printed after a chapter's cells, up to the last; each of the words stands in its suggestions."""
        cells = next(BOOK.glob(f"{chapter}*.py"))
        suggestions = cells.with_suffix(".md").read_text(encoding="utf-8").partition("\n## Try\n")[2]
        suggestions = " ".join(suggestions.partition("\n## ")[0].split())
        for word in words:
            self.assertIn(f"`{word}`", suggestions)
        parts = re.split(r"(?m)^# %% (.*)\n", cells.read_text(encoding="utf-8"))
        names = {}
        found = set()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            for cell, code in zip(parts[1::2], parts[2::2]):
                for before, after in changes:
                    if before in code:
                        found.add(before)
                        code = code.replace(before, after)
                exec(code, names)
                if cell.split()[0] == last:
                    break
        self.assertEqual(found, {before for before, _ in changes})
        return names, printed.getvalue()

    def assert_answers(self, chapter, figures):
        """The answers of a chapter's suggestions have these figures, in this order, in each language."""
        pages, pattern = sorted(BOOK.glob(f"{chapter}-*.md")), r"\b.*?\b".join(map(re.escape, figures))
        for page in pages:
            self.assertRegex(tries(page), re.compile(rf"\b{pattern}\b", re.ASCII), page.name)
        self.assertGreater(len(pages), 0)

    def assert_fails(self, *arguments):
        """One of the asserts of the cells fails; as they are, test_notebooks.py tests that they hold."""
        try:
            self.run_cells(*arguments)
        except AssertionError as error:
            self.assertEqual(traceback.extract_tb(error.__traceback__)[-1].filename, "<string>")
        else:
            self.fail("all asserts hold")


class Tries(Cells):
    def test_01(self):
        words = ["nn.seed(2)", "nn.Embedding(5, 3, padding_idx=1)", 'table.reset_parameters("pair.", init="gpt2", std=0.1)',
                 "nn.Embedding(5, 3, max_norm=1)", "table([[5]])"]
        names, _ = self.run_cells("01", words, last="sentences")
        table = names["table"]
        before = nn.tensor(table.weight.tolist())
        table.reset_parameters("pair.", init="gpt2", std=0.1)
        self.assertLess(difference(table.weight, before * 0.1), 1e-6)
        with self.assertRaises(rapt.InvalidValueError):
            table([[5]])
        nn.seed(2)
        self.assertGreater(difference(table.reset_parameters("pair.").weight, before), 0.1)
        table = nn.Embedding(5, 3, padding_idx=1)
        with nn.grad():
            table(names["tokens"]).sum().backward()
        self.assertEqual((table.weight[1].tolist(), table.weight.grad[1].tolist()), ([0] * 3, [0] * 3))
        rows = nn.Embedding(5, 3, max_norm=1)([[0, 1, 2, 3, 4]])[0]
        self.assertLessEqual(max(nn.norm(row).item() for row in rows), 1 + 1e-6)

    def test_02(self):
        names, _ = self.run_cells("02", ['x = nn.draw("ab", (1, 2, 16))', "nn.concat([x[:, 1:], x[:, :1]], 1)"])
        x, encoding = nn.draw("ab", (1, 2, 16)), names["encoding"]

        def swapped(x):
            return nn.concat([x[:, 1:], x[:, :1]], 1)

        self.assertEqual(sorted(swapped(encoding(x))[0].tolist()), sorted(encoding(x)[0].tolist()))
        self.assertGreater(difference(encoding(swapped(x)), swapped(encoding(x))), 0.1)

    def test_03(self):
        change = ("X = nn.PositionalEncoding(64, 0)(embedding(windows))", "X = embedding(windows)")
        for changes, same in (([], False), ([change], True)):
            names, _ = self.run_cells("03", ["X = embedding(windows)", "Q[0, 3]", "Q[0, 13]"], changes, "textbook")
            self.assertEqual(names["Q"][0, 3].tolist() == names["Q"][0, 13].tolist(), same)

    def test_04(self):
        names, _ = self.run_cells("04", ["split_heads(X, 5)", "split_heads(X, 4)", "split_heads(nn.Linear(64, 32)(X), 2)"])
        split_heads, X = names["split_heads"], names["X"]
        with self.assertRaises(rapt.ShapeError):
            split_heads(X, 5)
        self.assertEqual(split_heads(X, 4)[0, 1, 3].tolist(), X[0, 3, 16:32].tolist())
        self.assertEqual(split_heads(nn.Linear(64, 32)(X), 2).shape, (4, 2, 16, 16))

    def test_05(self):
        change = ("if key <= query", "if query - 3 <= key <= query")
        names, _ = self.run_cells("05", ["X @ X.transpose(1, 2)", "if query - 3 <= key <= query"], [change])
        scores = names["X"] @ names["X"].transpose(1, 2)
        self.assertEqual([row.index(max(row)) for row in scores[1].tolist()], list(range(16)))
        hidden = [score == float("-inf") for score in names["masked"][5]]
        self.assertEqual(hidden, [key not in (2, 3, 4, 5) for key in range(16)])
        products = {d: nn.draw(f"random.q{d}", (1, 200, d)) @ nn.draw(f"random.k{d}", (1, 200, d)).transpose(1, 2)
                    for d in (4, 16, 64, 256, 1024)}
        largest, scaled = ([sum(max(row) for row in nn.softmax(scores * d**power)[0].tolist()) / 200
                            for d, scores in products.items()] for power in (0, -0.5))
        self.assert_answers("05", [f"{share:.3f}" for share in largest + [min(scaled), max(scaled)]])

    def test_06(self):
        names, _ = self.run_cells("06", ["nn.softmax(scores * 10)", 'nn.softmax(scores.masked_fill(keep.eq(0), float("-inf")))',
                                         "nn.masked_softmax(x, [0, 0]).sum().backward()"], last="paper")
        self.assertGreater(nn.softmax(names["scores"] * 10)[0, 2].item(), 0.9999)
        hidden = nn.softmax(names["scores"].masked_fill(nn.tensor([[1, 0, 1]]).eq(0), float("-inf")))
        self.assertEqual(hidden[:, 1].tolist(), [0] * 3)
        even = nn.softmax(names["scores"] * 0.1)[0]
        self.assert_answers("06", [f"{share:.4f}" for share in even.tolist() + hidden[0].tolist()])
        x = nn.tensor([[[1, 2]], [[3, 4]]], requires_grad=True)
        with nn.grad():
            nn.masked_softmax(x, [0, 0]).sum().backward()
        self.assertEqual(numbers(x.grad), [0] * 4)

    def test_07(self):
        self.assert_fails("07", ["causal=True"], [(", causal=True", "")], "textbook")
        names, _ = self.run_cells("07", ["weights = nn.ones(4, 4, 16, 16) / 16", "weights @ V"], last="textbook")
        output = (nn.ones(4, 4, 16, 16) / 16 @ names["V"])[0, 0].tolist()
        self.assertEqual(output, [output[0]] * 16)

    def test_07_explain(self):
        """The gradients of a model are what the chapter says that `rapt explain --train` shows."""
        e = rapt.Model.load(support.translator()).explain("I see the sea.", target="Je vois la mer.", gradients=True)
        module = "decoder.0.self_attention"
        dS = nn.tensor(e[f"grad:{module}.scaled"])
        weights, dW = (nn.tensor(e[f"{prefix}{module}.weights"]) for prefix in ("", "grad:"))
        k, dQ = (nn.tensor(e[f"{prefix}{module}.{name}.heads"]) for prefix, name in (("", "k"), ("grad:", "q")))
        largest = max(map(abs, numbers(dS)))
        self.assertGreater(largest, 0)
        self.assertLess(max(map(abs, numbers(dS.sum(axis=-1)))), 1e-5 * largest)
        self.assertEqual(set(numbers(dS[:, :, 0])) | {ds for ds, w in zip(numbers(dS), numbers(weights)) if w == 0}, {0})
        self.assertLess(difference(dS, weights * (dW - (weights * dW).sum(axis=-1, keepdim=True))), 1e-5 * largest)
        self.assertLess(difference(dQ, dS @ k / k.shape[-1]**0.5), 1e-4 * max(map(abs, numbers(dQ))))

    def test_08(self):
        words = ["attention.W_o.weight.assign([row[:4] + [0] * 12 for row in attention.W_o.weight.tolist()])",
                 "attention(Q[:, :3], K, V)"]
        names, _ = self.run_cells("08", words)
        attention, Q, K, V = (names[name] for name in ("attention", "Q", "K", "V"))
        self.assertEqual(attention(Q[:, :3], K, V).shape, (2, 3, 16))
        attention.W_o.weight.assign([row[:4] + [0] * 12 for row in attention.W_o.weight.tolist()])
        y = attention(Q, K, V)
        head = attention.attention_weights[:, 0] @ attention.W_v(V)[:, :, :4]
        self.assertLess(difference(y, head @ attention.W_o.weight[:, :4].transpose(0, 1) + attention.W_o.bias), 1e-5)

    def test_09(self):
        names, _ = self.run_cells("09", ["ffn.dense2.weight @ ffn.dense1.weight"], last="paper")
        ffn, x = names["ffn"], names["x"]
        bias = ffn.dense2(ffn.dense1.bias.reshape(1, 3))
        one = x @ (ffn.dense2.weight @ ffn.dense1.weight).transpose(0, 1) + bias
        self.assertLess(difference(one, ffn.dense2(ffn.dense1(x))), 1e-6)

    def test_10(self):
        word = "norm.weight.assign([2] * 64)"
        self.assert_fails("10", [word], [("norm = nn.LayerNorm(64)", f"norm = nn.LayerNorm(64); {word} #")])
        names, _ = self.run_cells("10", ["h = h + attention(h, h, h, causal=True)", "h = h + ffn(h)", "moments(h[0, 0])"])
        h, variances = names["x"], []
        for _ in range(10):
            h = h + names["attention"](h, h, h, causal=True)
            h = h + names["ffn"](h)
            variances.append(names["moments"](h[0, 0])[1])
        self.assertEqual(variances, sorted(variances))
        self.assertGreater(variances[-1], 100 * variances[0])

    def test_11(self):
        self.assert_fails("11", ["z = encoder(other)"], [("z = encoder(other, lengths)", "z = encoder(other)")])
        alike = []
        for change in ([], [("32, 64, 4, 2, ", "32, 64, 4, 8, ")]):
            y = self.run_cells("11", ["nn.cosine_similarity(y[0, 0], y[0, 1], dim=0)"], change, "sentences")[0]["y"]
            alike.append(nn.cosine_similarity(y[0, 0], y[0, 1], dim=0).item())
        self.assertLess(alike[0], alike[1])

    def test_12(self):
        changes = [("causal=True)[0]", "causal=False)[0]"), ("row[:5] + [17] * 5", "row[:3] + [17] + row[4:]"), ("5]", "3]"),
                   ("[:, 5:]", "[:, 3:]"), ("i in range(10):\n    step", "i in range(0, 10, 2):\n    step"),
                   ("i:i + 1]", "i:i + 2]")]
        _, printed = self.run_cells("12", ["range(0, 10, 2)", "row[:3] + [17] + row[4:]"], changes, "steps")
        self.assertIn("[[2., 2.],\n        [2., 2.],\n        [2., 2.]]", printed)
        self.assertIn("logits of a step: [64, 2, 201]", printed)


class LaterTries(Cells):
    def run_loop(self, words, changes):
        names, printed = self.run_cells("14", words, changes)
        losses = [float(loss) for loss in re.findall(r"(?m)^step +\d+: loss ([\d.]+)", printed)]
        return names, losses

    def test_14_loop(self):
        for rate, low, high in (("0.3", 0.41, 4), ("0.00003", 3.5, 4.1)):
            _, losses = self.run_loop([], [("0.003 *", f"{rate} *")])
            self.assertTrue(low < losses[-1] < high, losses)
        freeze = "net.embedding.weight.requires_grad = False"
        names, losses = self.run_loop([freeze], [("before = right()", f"before = right()\n{freeze}")])
        self.assertLess(losses[-1], 0.05)
        _, losses = self.run_loop(["zero_grad()"], [("    trainer.zero_grad()\n    if", "    if")])
        self.assertGreater(losses[-1], 0.4)

    def test_14_dropout(self):
        changes = [("dropout=0)", "dropout=0.1)"), ("(features, heads, bias", "(features, heads, dropout=0.1, bias")]
        names, losses = self.run_loop(["dropout=0.1", "net.eval()"], changes)
        self.assertGreater(losses[-1], 0.04)
        names["net"].eval()
        self.assertEqual(names["right"](), 63)
        word = "nn.grad(training=False)"
        _, printed = self.run_cells("14", [word], [("nn.grad(step=1)", word)], "weights")
        self.assertIn("behind dropout: 1.0000 1.0000 1.0000 1.0000 1.0000\n", printed)

    def test_14_correction(self):
        for word in ("/ (1 - 0.9**t)", "/ (1 - 0.999**t)"):
            self.assert_fails("14", [word], [(word, "")], "adam")

    def test_15(self):
        names, _ = self.run_cells("15", ["range(1, 61)", "counts", "ways"], [('"temperature": 2}', '"temperature": 10}'),
                                                                            ("range(1, 151)", "range(1, 61)")], "choices")
        chosen = names["choose"](names["after_drink"], temperature=10)
        self.assertLess(sum(chosen[token] for token in names["drinks"]), 0.1)

    def test_16(self):
        changes = [("context = 768,", "context = 1600,"), ("= 12 * (", "= 48 * (")]
        _, printed = self.run_cells("16", ["d = 1600", "48 * (...)"], changes, "count")
        self.assertIn("1557611200", printed)
        _, printed = self.run_cells("16", ["lr=0.0003"], [("lr=0.003)", "lr=0.0003)")], "norm-places")
        self.assertRegex(printed, r"to 1\.09\d+ \(post\).* to 0\.09[56]\d+ \(pre\)")
        changes = [("GPT(12, pre_norm=name", "GPT(3, pre_norm=name")]
        _, printed = self.run_cells("16", ["GPT(3, pre_norm=..."], changes, "norm-places")
        self.assertRegex(printed, r"post-norm .* 0\.681\n.*pre-norm .* 0\.387\n")
        self.assertRegex(printed, r"to 0\.02[67]\d+ \(post\).* to 0\.02[78]\d+ \(pre\)")

    def test_17(self):
        _, printed = self.run_cells("17-grouped", ["kv_heads"], [("16, 64, 4, 2", "16, 64, 4, 1")], "attention")
        self.assertIn("W_k: [16, 64]", printed)
        with self.assertRaises(rapt.ShapeError):
            self.run_cells("17-grouped", [], [("16, 64, 4, 2", "16, 64, 4, 3")], "attention")

    def test_17_rotary(self):
        """The assert on distances holds with another base."""
        names, _ = self.run_cells("17-rotary", ["base=100"], [("base=10000", "base=100")], "rotary")
        self.assertGreater(difference(names["turn"](names["q"]), names["turn"](names["q"], 10000)), 0.1)

    def test_18(self):
        names, _ = self.run_cells("18", ["32, 64, 4, 1, 0"], [("32, 64, 1, 1, 0", "32, 64, 4, 1, 0")], "training")
        self.assertEqual(names["looks"][160][2], 6)


if __name__ == "__main__":
    unittest.main()
