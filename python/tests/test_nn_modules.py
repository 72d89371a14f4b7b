"""Modules as a reader of the book uses them: chapter 11's examples, modules of one's own, optimizers, pictures."""
import math
import re
import unittest

import rapt
import support
from rapt import nn, optim
from test_nn import Close, flat, numbers

try:
    import numpy
except ImportError:
    numpy = None


class Book(Close):
    """Section by section, with the book's sizes."""

    def test_11_1_heat_maps(self):
        eye = [[[[float(i == j) for j in range(10)] for i in range(10)]]]
        page = nn.show_heatmaps(eye, xlabel="Keys", ylabel="Queries & more")
        self.assertIn("Queries &amp; more", page._repr_html_())
        self.assertLess(len(page), 100_000)
        self.assertNotIn("http", page.replace("http://www.w3.org/", "")) # the names of SVG, which nobody fetches

    def test_11_3_scoring(self):
        self.assertEqual(nn.masked_softmax(numbers(2, 2, 4), [2, 3]).shape, (2, 2, 4))
        uneven = nn.masked_softmax(numbers(2, 2, 4), [[1, 3], [2, 4]])
        self.assertEqual([[sum(v > 0 for v in row) for row in m] for m in uneven.tolist()], [[1, 3], [2, 4]])
        queries, keys, values = nn.tensor(numbers(2, 1, 2)), nn.tensor(numbers(2, 10, 2, start=5)), nn.tensor(numbers(2, 10, 4))
        attention = nn.DotProductAttention(dropout=0.5).eval()
        self.assertEqual(attention(queries, keys, values, [2, 6]).shape, (2, 1, 4))
        self.assertEqual([sum(v > 0 for v in m[0]) for m in attention.attention_weights.tolist()], [2, 6])
        additive = nn.AdditiveAttention(num_hiddens=8, dropout=0.1).eval()
        queries = nn.tensor(numbers(2, 1, 20))
        result = additive(queries, keys, values, [2, 6])
        W_q, W_k, w_v = (m.weight.tolist() for m in (additive.W_q, additive.W_k, additive.w_v))
        for b, valid in enumerate((2, 6)):
            scores = []
            for key in keys.tolist()[b][:valid]:
                hidden = [math.tanh(sum(p * q for p, q in zip(W_q[h], queries.tolist()[b][0])) +
                                    sum(p * q for p, q in zip(W_k[h], key))) for h in range(8)]
                scores.append(math.exp(sum(p * q for p, q in zip(w_v[0], hidden))))
            expected = [sum(s / sum(scores) * values.tolist()[b][i][j] for i, s in enumerate(scores)) for j in range(4)]
            self.close(result[b, 0], expected)

    def test_11_5_multi_head_attention(self):
        nn.seed(1)
        attention = nn.MultiHeadAttention(num_hiddens=100, num_heads=5, dropout=0.5).eval()
        X, Y = nn.tensor([[[1.0] * 100] * 4] * 2), nn.tensor([[[1.0] * 100] * 6] * 2)
        with nn.grad() as tape:
            out = attention(X, Y, Y, [3, 2])
            self.assertEqual(out.shape, (2, 4, 100))
            self.assertEqual(attention.attention_weights.shape, (2, 5, 4, 6))
            out.sum().backward()
        self.assertEqual(list(tape.attention), [""])
        self.assertEqual({name: p.grad.shape for name, p in attention.named_parameters()},
                         {f"W_{x}.weight": (100, 100) for x in "qkvo"})
        attention.need_weights = False
        self.assertEqual(attention(X, Y, Y, [3, 2]).tolist(), out.tolist())
        self.assertIsNone(attention.attention_weights)

    def test_11_6_positions(self):
        encoding, steps = 32, 60
        positions = nn.PositionalEncoding(encoding, 0)
        X = positions([[[0.0] * encoding] * steps])
        P = positions.P[:, :X.shape[1], :]
        self.assertEqual(P.shape, (1, steps, encoding))
        self.assertEqual(X.tolist(), P.tolist())
        self.close(P[0, :, 6], [math.sin(i / 10000 ** (6 / 32)) for i in range(steps)])
        self.close(P[0, :, 7], [math.cos(i / 10000 ** (6 / 32)) for i in range(steps)])

    def test_11_7_transformer(self):
        ffn = nn.PositionWiseFFN(4, 8).eval()
        rows = ffn([[[1.0] * 4] * 3] * 2)[0]
        self.assertEqual(rows.shape, (3, 8))
        self.assertEqual(rows[0].tolist(), rows[1].tolist())
        self.assertEqual(nn.AddNorm(4, 0.5)([[[1.0] * 4] * 3] * 2, [[[1.0] * 4] * 3] * 2).shape, (2, 3, 4))
        X, valid_lens = nn.tensor([[[1.0] * 24] * 100] * 2), [3, 2]
        encoder_block = nn.TransformerEncoderBlock(24, 48, 8, 0.5).eval()
        self.assertEqual(encoder_block(X, valid_lens).shape, X.shape)
        encoder = nn.TransformerEncoder(200, 24, 48, 8, 2, 0.5).eval()
        self.assertEqual(encoder([[1] * 100] * 2, valid_lens).shape, (2, 100, 24))
        self.assertEqual([w.shape for w in encoder.attention_weights], [(2, 8, 100, 100)] * 2)
        decoder_block = nn.TransformerDecoderBlock(24, 48, 8, 0.5, 0)
        state = [encoder_block(X, valid_lens), valid_lens, [None]]
        self.assertEqual(decoder_block(X, state)[0].shape, X.shape)

    def test_input_of_a_transformer(self):
        class Doubled(nn.Embedding):
            def forward(self, ids):
                return super().forward(ids) * 2

        nn.seed(1)
        decoder = nn.TransformerDecoder(9, 8, 16, 2, 1, 0.0, use_bias=True)
        self.assertEqual(sum(name.endswith("W_k.bias") for name, _ in decoder.named_parameters()), 2)
        state = decoder.init_state(nn.tensor(numbers(1, 2, 8)))
        whole, _ = decoder([[1, 5, 2]], state)
        x = decoder.pos_encoding(decoder.embedding([[1, 5, 2]]) * math.sqrt(8))
        x, _ = decoder.blks[0](x, decoder.init_state(nn.tensor(numbers(1, 2, 8))))
        self.close(whole, decoder.dense(x), 1e-5)
        listed = decoder.layer_summary([[1, 5, 2]], decoder.init_state(nn.tensor(numbers(1, 2, 8))))
        self.assertIn("embedding ", listed)
        self.assertIn("pos_encoding", listed)
        values = decoder.embedding.weight.tolist()
        decoder.embedding = Doubled(9, 8)
        decoder.embedding.weight.assign([[v / 2 for v in row] for row in values])
        self.close(decoder([[1, 5, 2]], decoder.init_state(nn.tensor(numbers(1, 2, 8))))[0], whole, 1e-5)

    def test_training_copies_its_input(self):
        """A small model learns to repeat its source, and greedy decoding step by step then does."""
        nn.seed(2)
        net = nn.EncoderDecoder(nn.TransformerEncoder(8, 16, 32, 2, 1, 0.1), nn.TransformerDecoder(8, 16, 32, 2, 1, 0.1))
        trainer = optim.Adam(net.parameters(), lr=0.01)
        source = [[1 + (i * j + i + j * j) % 7 for i in range(4)] for j in range(1, 33)]
        shifted = [[0] + row[:-1] for row in source]
        losses = []
        for _ in range(150):
            with nn.grad():
                loss = nn.cross_entropy(net(source, shifted, [4] * 32), source)
                loss.backward()
            trainer.clip(1)
            trainer.step()
            trainer.zero_grad()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.3)
        net.eval()
        state = net.decoder.init_state(net.encoder([source[0]], [4]), [4])
        token, decoded = 0, []
        for _ in range(4):
            logits, state = net.decoder([[token]], state)
            token = logits.argmax(dim=2).tolist()[0][0]
            decoded.append(token)
        self.assertEqual(decoded, source[0])
        self.assertEqual([w.shape for w in net.decoder.attention_weights[0]], [(1, 2, 1, 4)])


class Modules(Close):
    def make(self):
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter([1.0, 2.0])
                self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5))
                self.more = nn.ModuleList([nn.Linear(4, 2, bias=False)])

            def forward(self, X):
                return self.more[0](self.layers(X)) * self.scale
        return Scale()

    def test_a_module_of_ones_own(self):
        m = self.make()
        names = ["scale", "layers.0.weight", "layers.0.bias", "more.0.weight"]
        self.assertEqual([name for name, _ in m.named_parameters()], names)
        m.eval()
        with nn.grad():
            m(numbers(5, 3)).sum().backward()
        self.assertEqual([p.name for p in m.parameters()], names)
        self.assertEqual([p.grad.shape for p in m.parameters()], [p.shape for p in m.parameters()])
        m.zero_grad()
        self.assertEqual([p.grad for p in m.parameters()], [None] * 4)
        self.assertFalse(m.layers[2].training)
        self.assertTrue(m.train().layers[2].training)
        m.scale.requires_grad = False
        with nn.grad():
            m(numbers(5, 3)).sum().backward()
        self.assertIsNone(m.scale.grad)
        self.assertIn("(layers): Sequential(", repr(m))
        with self.assertRaises(NotImplementedError):
            nn.Module()(1)

    def test_state_dict(self):
        a, b = self.make().eval(), self.make().eval()
        X = numbers(5, 3)
        self.assertNotEqual(a(X).tolist(), b(X).tolist())
        saved = a.state_dict()
        b.load_state_dict(saved)
        self.assertEqual(a(X).tolist(), b(X).tolist())
        memoryview(b.scale)[0] = 7.0
        self.assertEqual(saved["scale"].tolist(), [1, 2])
        self.assertEqual(a.scale.tolist(), [1, 2])
        b.load_state_dict({name: value.tolist() for name, value in saved.items()})
        self.assertEqual(a(X).tolist(), b(X).tolist())
        with self.assertRaisesRegex(ValueError, "missing scale; unknown scales"):
            b.load_state_dict({name.replace("scale", "scales"): value for name, value in saved.items()})
        with self.assertRaisesRegex(rapt.ShapeError, "scale"):
            b.load_state_dict({**saved, "scale": [1.0]})
        self.assertEqual(b.scale.tolist(), [1, 2])
        lazy, made = nn.PositionWiseFFN(5, 6), nn.PositionWiseFFN(5, 6)
        made(numbers(2, 3))
        lazy.load_state_dict(made.state_dict())
        self.assertEqual(lazy(numbers(2, 3)).tolist(), made(numbers(2, 3)).tolist())

    @unittest.skipUnless(numpy, "no NumPy")
    def test_numpy(self):
        m = self.make().eval()
        X = numpy.array(numbers(5, 3))
        y = m(X)
        self.assertEqual(numpy.asarray(y).ctypes.data, y.address)
        self.assertFalse(numpy.asarray(y).flags.writeable)
        m.load_state_dict({name: numpy.asarray(value) for name, value in m.state_dict().items()})
        self.assertEqual(m(X.astype("float32")).tolist(), y.tolist())
        self.assertEqual(m(numpy.asfortranarray(X)).tolist(), y.tolist())
        numpy.asarray(m.scale)[:] = 0
        self.assertEqual(m(X).sum().item(), 0)
        self.assertIsInstance(numpy.ones((5, 2), "float32") + y, nn.Tensor)
        self.assertIsInstance(y * numpy.float32(2), nn.Tensor)
        self.close(nn.tensor(numpy.arange(3, dtype="int64")), [0, 1, 2])
        self.assertEqual(nn.Embedding(4, 2)(numpy.array([[1, 3]], dtype="int16")).shape, (1, 2, 2))
        with self.assertRaises(TypeError):
            nn.tensor(numpy.array(["a"]))

    def test_seed(self):
        def values(seed):
            nn.seed(seed)
            return [p.tolist() for p in self.make().parameters()]
        self.assertEqual(values(5), values(5))
        self.assertNotEqual(values(5)[1], values(6)[1])

    def chapter(self, name):
        """What the C program of a chapter prints."""
        text = (support.SOURCE / "docs" / "book" / f"{name}.md").read_text(encoding="utf-8")
        return text.split(f"$ build/examples/{name.replace('-', '_')}\n")[1].split("\n```\n")[0]

    def test_draws_what_the_library_draws(self):
        nn.seed(1)
        weight = nn.Embedding(5, 3).reset_parameters("pair.").weight
        self.assertIn(f"weight =\n{weight}\n", self.chapter("01-embedding"))
        spread = math.sqrt(sum(v * v for v in flat(nn.draw("random.q4", (1, 200, 4)) @
                                                  nn.draw("random.k4", [1, 200, 4]).transpose(1, 2))) / 40000)
        printed = re.search("d =    4: products spread  ([0-9.]+)", self.chapter("05-scores"))[1]
        self.assertAlmostEqual(spread, float(printed), delta=0.002)
        X = nn.PositionalEncoding(64, 0)(nn.Embedding(100070, 64).reset_parameters("sales.embedding")(
            [[420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436]]))
        lazy = nn.MultiHeadAttention(64, 4, bias=True).reset_parameters("sales.attention", init="pytorch")
        made = nn.MultiHeadAttention(64, 4, bias=True)
        made(X, X, X)
        made.reset_parameters("sales.attention.", init="pytorch")
        nn.set_printoptions(threshold=1)
        self.addCleanup(nn.set_printoptions, threshold=1000)
        for attention in (lazy, made):
            for name, linear in (("Q", attention.W_q), ("K", attention.W_k), ("V", attention.W_v)):
                self.assertIn(f"{name}[0] =\n{linear(X)[0]}\n", self.chapter("03-queries-keys-values"))
        uniform = flat(nn.draw("batch.tokens", (32, 50), "uniform", 2.0))
        self.assertTrue(-2 < min(uniform) < -1.9 and 1.9 < max(uniform) < 2)

    def test_transformers_are_drawn_by_the_library(self):
        nn.seed(1)
        encoder = nn.TransformerEncoder(184, 32, 64, 4, 2, 0.1).eval().reset_parameters("encoder")
        decoder = nn.TransformerDecoder(201, 32, 64, 4, 2, 0.1).eval().reset_parameters("decoder.")
        first, target = [4, 5, 6, 4, 7, 8, 3, 1, 1, 1], [2, 4, 5, 6, 7, 8, 9, 3, 1, 1]
        memory = encoder([first], [7])
        logits, _ = decoder([target], decoder.init_state(memory, [7]))
        nn.set_printoptions(threshold=1)
        self.addCleanup(nn.set_printoptions, threshold=1000)
        for rows in str(memory[0]).splitlines()[:3]: # rows of padding depend on the words of the batch
            self.assertIn(rows, self.chapter("11-encoder"))
        for rows in str(logits[0]).splitlines():
            self.assertIn(rows, self.chapter("12-decoder"))
        whole = nn.EncoderDecoder(nn.TransformerEncoder(184, 32, 64, 4, 2, 0.1), nn.TransformerDecoder(201, 32, 64, 4, 2, 0.1))
        self.assertEqual([p.tolist() for p in whole.reset_parameters().parameters()],
                         [p.tolist() for m in (encoder, decoder) for p in m.parameters()])
        self.assertEqual(nn.TransformerEncoder(9, 4, 4, 1, 1, 0).reset_parameters(init="zeros").embedding.weight.tolist(),
                         [[0.0] * 4] * 9)
        alone = nn.TransformerEncoder(9, 4, 4, 1, 1, 0).reset_parameters()
        self.assertEqual(alone.blks[0].ffn.dense2.weight.tolist(),
                         nn.Linear(4, 4).reset_parameters("0.ffn.dense2.").weight.tolist())
        encoder([first])
        self.assertEqual(encoder.blks[0].ffn.dense2.weight.name, "blks.0.ffn.dense2.weight")

    def test_reset_parameters(self):
        nn.seed(3)
        m = self.make().reset_parameters("a")
        values = [p.tolist() for p in m.parameters()]
        self.assertEqual(values[0], [1, 2])
        self.assertEqual(values[1], nn.Linear(3, 4).reset_parameters("a.layers.0.").weight.tolist())
        self.assertEqual([p.tolist() for p in self.make().reset_parameters("a.").parameters()], values)
        self.assertNotEqual([p.tolist() for p in m.reset_parameters("b").parameters()][1], values[1])
        nn.seed(4)
        self.assertNotEqual([p.tolist() for p in m.reset_parameters("a").parameters()][1], values[1])
        self.assertEqual(nn.Linear(2, 2).reset_parameters(init="zeros").weight.tolist(), [[0, 0], [0, 0]])
        gpt2 = nn.Linear(100, 300).reset_parameters(init="gpt2", std=0.5)
        self.assertEqual(set(gpt2.bias.tolist()), {0})
        self.assertAlmostEqual(math.sqrt(sum(v * v for v in flat(gpt2.weight)) / 30000), 0.5, delta=0.01)
        bound = max(flat(nn.Linear(25, 300).reset_parameters(init="pytorch").weight))
        self.assertTrue(0.19 < bound < 0.2)
        padded = nn.Embedding(4, 2, padding_idx=1).reset_parameters("words")
        self.assertEqual(padded.weight.tolist()[1], [0, 0])
        norm = nn.LayerNorm(2)
        memoryview(norm.weight)[0] = 7.0
        self.assertEqual(norm.reset_parameters().weight.tolist(), [1, 1])
        m(numbers(5, 3))
        self.assertEqual(m.layers[0].weight.name, "layers.0.weight")
        for call, error in ((lambda: m.reset_parameters(1), TypeError), (lambda: m.reset_parameters(init="he"), ValueError),
                            (lambda: nn.draw(1, (2,)), TypeError), (lambda: nn.draw("x", (2,), "xavier"), ValueError),
                            (lambda: nn.draw("x", (2, 0)), rapt.Error), (lambda: nn.draw("x", (2.5,)), TypeError)):
            self.assertRaises(error, call)

    def test_initial_values(self):
        nn.seed(0)
        m = nn.Linear(300, 100)
        bound = math.sqrt(6 / 400)
        weights = [v for row in m.weight.tolist() for v in row]
        self.assertLessEqual(max(map(abs, weights)), bound)
        self.assertAlmostEqual(sum(v * v for v in weights) / len(weights), bound ** 2 / 3, delta=bound ** 2 / 60)
        self.assertLessEqual(max(map(abs, m.bias.tolist())), 1 / math.sqrt(300))
        table = [v for row in nn.Embedding(100, 100).weight.tolist() for v in row]
        self.assertAlmostEqual(sum(v * v for v in table) / len(table), 1, delta=0.05)
        self.assertEqual(nn.Embedding(3, 2, padding_idx=-1).weight.tolist()[2], [0, 0])

    def test_layer_summary(self):
        text = self.make().eval().layer_summary(5, 3)
        self.assertEqual([line.split()[0] for line in text.splitlines()],
                         ["name", "layers.0", "layers.1", "layers.2", "layers", "more.0", "-"])
        self.assertIn("[5, 2]", text.splitlines()[-1])
        self.assertTrue(text.splitlines()[-1].endswith("26"))

    def test_observe(self):
        nn.seed(1)
        m = nn.TransformerEncoderBlock(8, 16, 2, 0.0)
        X = nn.tensor(numbers(1, 3, 8))
        with nn.grad(observe=True) as tape:
            Y = m(X)
            (Y * Y).sum().backward()
        steps = tape.steps
        for name in ("attention.q", "attention.scores", "attention.weights", "attention.output", "ffn.hidden", "ffn.output",
                     "addnorm1.sum", "addnorm2.output"):
            self.assertIn(name, steps)
        self.assertEqual(steps["attention.scores"].axes, ("batch", "head", "query", "key"))
        self.close(steps["attention.scaled"], [[[[v / 2 for v in row] for row in m] for m in b]
                                               for b in steps["attention.scores"].tolist()])
        self.close(steps["addnorm2.output"], Y)
        self.close(tape.gradients["addnorm2.output"], [[[2 * v for v in row] for row in b] for b in Y.tolist()], 1e-5)
        self.assertEqual(tape.gradients["ffn.dense1.weight"].shape, (16, 8))
        seen = []
        with nn.observe(lambda name, formula, values, is_gradient: seen.append((name, formula, is_gradient))):
            m(X)
        self.assertEqual([name for name, _, _ in seen], list(steps))
        m(X)
        self.assertEqual(len(seen), len(steps))
        with self.assertRaises(KeyError), nn.observe(lambda name, *rest: {}[name]):
            m(X)
        with self.assertRaises(RuntimeError), nn.grad(), nn.observe(lambda *step: X + X):
            m(X)
        self.assertEqual(m(X).tolist(), m(X).tolist())


class Checks(Close):
    def test_names_of_modules(self):
        net = nn.Sequential(nn.Linear(2, 2))
        for name, error in ((0, TypeError), ("", ValueError), ("a.b", ValueError), ("0", ValueError)):
            with self.assertRaises(error, msg=name):
                net.add_module(name, nn.Linear(2, 2))
        self.assertEqual(list(net.state_dict()), ["0.weight", "0.bias"])

    def test_a_refused_state_writes_nothing(self):
        net = nn.Sequential(nn.LazyLinear(2), nn.Linear(2, 2))
        state = {"0.weight": numbers(2, 3), "0.bias": [1.0, 2.0]}
        with self.assertRaisesRegex(ValueError, "missing 1.weight"):
            net.load_state_dict(state)
        self.assertIsNone(net[0].weight)
        self.assertEqual(net(numbers(1, 5)).shape, (1, 2)) # the size of another first input
        with self.assertRaisesRegex(TypeError, "a name of state_dict must be a str, not int"):
            net.load_state_dict({1: [1.0]})

    def test_sizes_are_ints(self):
        self.assertIs(type(nn.MultiHeadAttention(8, nn.tensor(2)).num_heads), int)
        self.assertIs(type(nn.Embedding(nn.tensor(3), 2, padding_idx=-1).padding_idx), int)
        with self.assertRaises(TypeError):
            nn.MultiHeadAttention(8, nn.tensor(2.5))
        self.assertEqual(rapt.Recipe({"train.lr": nn.tensor(0.5)})["train.lr"], 0.5)
        self.assertIn("Dropout", nn.Dropout(0.0).layer_summary(nn.tensor(0.5)))

    def test_values(self):
        for std in (math.nan, -1, 1e300):
            with self.assertRaisesRegex(ValueError, "std is .* 0 to 1e30"):
                nn.Linear(2, 2).reset_parameters(init="gpt2", std=std)
        with self.assertRaisesRegex(ValueError, "activation is 'x'"):
            nn.PositionWiseFFN(2, 2, activation="x")
        with self.assertRaisesRegex(TypeError, "activation must be a str, not int"):
            nn.PositionWiseFFN(2, 2, activation=3)


class Optimizers(Close):
    def gradient(self, p, g):
        with nn.grad():
            (p * nn.tensor(g)).sum().backward()

    def test_sgd(self):
        p, frozen = nn.Parameter([1.0, -2.0]), nn.Parameter([3.0], requires_grad=False)
        trainer = optim.SGD([p, frozen, p], lr=0.1, momentum=0.9, weight_decay=0.01)
        x, v = [1.0, -2.0], [0.0, 0.0]
        for step in range(3):
            g = [0.5 * step + 0.1, -0.3]
            self.gradient(p, g)
            trainer.step()
            trainer.zero_grad()
            v = [0.9 * a + b + 0.01 * c for a, b, c in zip(v, g, x)]
            x = [a - 0.1 * b for a, b in zip(x, v)]
        self.close(p, x)
        self.assertEqual(frozen.tolist(), [3])
        with self.assertWarnsRegex(RuntimeWarning, "no parameter of this optimizer has a gradient") as caught:
            trainer.step()
        self.assertEqual(caught.filename, __file__)
        self.close(p, x)
        frozen.requires_grad = True
        self.gradient(frozen, [1.0])
        trainer.step()
        self.close(frozen, [3 - 0.1 * (1 + 0.01 * 3)])
        for options, message in (({"momentum": 1}, "SGD: a momentum of 1: it is 0 or more and below 1"),
                                 ({"nesterov": True}, "SGD: nesterov needs a momentum above 0")):
            with self.assertRaisesRegex(rapt.InvalidValueError, message):
                optim.SGD([p], 0.1, **options)

    @unittest.skipIf(numpy is None, "needs NumPy")
    def test_muon(self):
        random = numpy.random.default_rng(3)
        for shape, nesterov, adjust in (((4, 9), True, "original"), ((7, 3), False, "match_rms_adamw")):
            p = nn.Parameter(random.normal(size=shape).astype("float32"))
            trainer = optim.Muon([p], lr=0.1, nesterov=nesterov, adjust_lr=adjust)
            x, m = numpy.array(p.tolist()), numpy.zeros(shape)
            rows, columns = shape
            factor = math.sqrt(max(1, rows / columns)) if adjust == "original" else 0.2 * math.sqrt(max(shape))
            for _ in range(3):
                g = random.normal(size=shape).astype("float32").astype("float64")
                self.gradient(p, g.tolist())
                trainer.step()
                trainer.zero_grad()
                m = 0.95 * m + 0.05 * g
                u = 0.95 * m + 0.05 * g if nesterov else m
                left, values, right = numpy.linalg.svd(u, full_matrices=False)  # the polynomial, of the singular values
                values /= numpy.sqrt((values ** 2).sum())
                for _ in range(5):
                    values = 3.4445 * values - 4.7750 * values ** 3 + 2.0315 * values ** 5
                x = (1 - 0.1 * 0.1) * x - 0.1 * factor * (left * values) @ right
            self.assertLess(numpy.abs(numpy.array(p.tolist()) - x).max(), 2e-5)
        for wrong, message in ((nn.Parameter([1.0]), "Muon moves matrices that are not sparse; .* has 1 dimension$"),
                               (nn.Embedding(3, 2, sparse=True).weight, "2 dimensions, and is sparse")):
            with self.assertRaisesRegex(rapt.InvalidValueError, message):
                optim.Muon([wrong])
        with self.assertRaisesRegex(rapt.InvalidValueError, "Newton-Schulz"):
            optim.Muon([p], ns_steps=0)
        with self.assertRaises(ValueError):
            optim.Muon([p], adjust_lr="none")

    def test_an_optimizer_of_another_net(self):
        old, net = nn.Linear(2, 1), nn.Linear(2, 1)
        trainer = optim.Adam(old.parameters())
        with nn.grad():
            net([[1.0, 2.0]]).sum().backward()
        with self.assertWarnsRegex(RuntimeWarning, "make the optimizer anew with a new net"):
            trainer.step()

    def test_parts_without_parameters_yet(self):
        net = nn.Sequential(nn.MultiHeadAttention(4, 2), nn.LazyLinear(3))
        with self.assertWarnsRegex(RuntimeWarning, "^0.W_q, 0.W_k, 0.W_v, 1: no parameters yet") as caught:
            trainer = optim.SGD(net.parameters(), 1.0)
        self.assertEqual(caught.filename, __file__)
        self.assertEqual([p.shape for p in trainer.params], [(4, 4)])
        X = numbers(1, 3, 4)
        net[0](X, X, X)
        net[1](X)
        self.assertEqual(len(optim.SGD(net.parameters(), 1.0).params), 6)
        self.assertEqual([p is q for p, q in zip(net.parameters(), net.parameters(), strict=True)], [True] * 6)

    def test_lr(self):
        trainer = optim.SGD([nn.Parameter([1.0])], 1.0)
        for value, error in (("x", TypeError), (None, TypeError), (-1, ValueError), (math.inf, ValueError)):
            with self.assertRaisesRegex(error, "lr"):
                trainer.lr = value
        self.assertEqual(trainer.lr, 1)
        trainer.lr *= 0.5
        self.gradient(trainer.params[0], [1.0])
        trainer.step()
        self.close(trainer.params[0], [0.5])

    def test_refusals(self):
        p = nn.Parameter([1.0])
        for call in (lambda: optim.SGD([p], -1), lambda: optim.Adam([p], math.nan), lambda: optim.SGD([p], 1, momentum=-1),
                     lambda: optim.SGD([p], 1).clip(-1), lambda: optim.AdamW([p], weight_decay=-1),
                     lambda: optim.Adam([p], eps=-1)):
            with self.assertRaises(ValueError):
                call()
        for call in (lambda: optim.SGD([p], "a"), lambda: optim.SGD([1.0], 1), lambda: optim.SGD(p, 1)):
            with self.assertRaises(TypeError):
                call()

    def test_clip(self):
        p, q = nn.Parameter([0.0, 0.0]), nn.Parameter([0.0])
        trainer = optim.SGD([p, q], lr=1.0)
        self.gradient(p, [3.0, 0.0])
        self.gradient(q, [4.0])
        self.close(trainer.clip(1.0), 5)
        trainer.step()
        self.close(p, [-0.6, 0])
        self.close(q, [-0.8])
        trainer.step()
        self.close(p, [-3.6, 0])
        trainer.zero_grad()
        large = nn.Parameter([0.0])
        for _ in range(2):
            self.gradient(large, [3e38])
        with self.assertRaises(rapt.NotFiniteError):
            optim.SGD([large], lr=1.0).clip(1.0)

    def test_a_sparse_table_is_trained_like_a_dense_one(self):
        tables = []
        for sparse in (False, True):
            nn.seed(3)
            m = nn.Embedding(10, 4, sparse=sparse)
            trainer = optim.Adam(m.parameters(), lr=0.1)
            for step in range(4):
                with nn.grad():
                    (m([[step, step + 1, 1]]) * m([[2, 2, 2]])).sum().backward()
                trainer.step()
                trainer.zero_grad()
            tables.append(m.weight.tolist())
        self.assertEqual(*tables)
        with self.assertRaisesRegex(ValueError, "sparse"):
            m.weight * 2


class Pictures(unittest.TestCase):
    def test_refusals(self):
        nn.show_heatmaps([[float("nan"), 1.0]], "", "")
        for call in (lambda: nn.show_heatmaps([1.0], "", ""), lambda: nn.show_heatmaps([[1.0]], "", "", ["a", "b"]),
                     lambda: nn.show_heatmaps([[[[1.0]]] * 9] * 9, "", "")):
            with self.assertRaises(ValueError):
                call()


del Close  # or else its module's tests run here, too


if __name__ == "__main__":
    unittest.main()
