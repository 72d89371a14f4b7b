"""rapt.nn against definitions in double precision, and what it promises about tensors."""
import math
import threading
import unittest

import rapt
from rapt import nn, optim
from rapt import _rapt

OUTPUT, GRADIENT = 1e-6, 1e-5  # the bounds of tests/golden, times max(1, the largest)


def flat(x):
    x = x.tolist() if hasattr(x, "tolist") else x
    return [y for item in x for y in flat(item)] if isinstance(x, (list, tuple)) else [float(x)]


def numbers(*shape, start=0):
    """Numbers between -1 and 1 without a pattern that an operation could preserve, as nested lists."""
    def fill(sizes, at):
        if not sizes:
            return math.sin(1.7 * (at + start) + 0.3 * math.sin(5.1 * (at + start)) + 0.5)
        count = math.prod(sizes[1:])
        return [fill(sizes[1:], at + i * count) for i in range(sizes[0])]
    return fill(shape, 0)


class Close(unittest.TestCase):
    context = ""  # what a message begins with

    def close(self, got, expected, bound=OUTPUT):
        got, expected = flat(got), flat(expected)
        self.assertEqual(len(got), len(expected))
        largest = max([1.0, *map(abs, expected)])
        for i, (a, b) in enumerate(zip(got, expected)):
            self.assertLessEqual(abs(a - b), bound * largest, f"{self.context}element {i}: {a}, expected {b}")


class Operations(Close):
    def test_arithmetic_broadcasts(self):
        a, b = numbers(2, 3), numbers(3, start=9)
        x, y = nn.tensor(a), nn.tensor(b)
        self.close(x + y, [[p + q for p, q in zip(row, b)] for row in a])
        self.close(x - y, [[p - q for p, q in zip(row, b)] for row in a])
        self.close(y - x, [[q - p for p, q in zip(row, b)] for row in a])
        self.close(x * y, [[p * q for p, q in zip(row, b)] for row in a])
        self.close(2 * x / 4 - 1, [[p / 2 - 1 for p in row] for row in a])
        self.close(1 - x, [[1 - p for p in row] for row in a])
        self.close(-x, [[-p for p in row] for row in a])

    def test_functions(self):
        a = numbers(2, 5)
        x = nn.tensor(a)
        for name, fn in (("tanh", math.tanh), ("exp", math.exp), ("relu", lambda v: max(0.0, v)),
                         ("gelu", lambda v: v / 2 * (1 + math.erf(v / math.sqrt(2))))):
            self.close(getattr(x, name)(), [[fn(v) for v in row] for row in a])
        self.close((x * x).log(), [[math.log(nn.tensor(v * v).item()) for v in row] for row in a], 1e-5)

    def test_reductions_drop_the_axis(self):
        a = numbers(2, 3, 4)
        x = nn.tensor(a)
        self.close(x.sum(), sum(flat(a)))
        self.assertEqual(x.sum().shape, ())
        self.close(x.mean(), sum(flat(a)) / 24)
        self.close(x.sum(1), [[sum(a[i][j][k] for j in range(3)) for k in range(4)] for i in range(2)])
        self.close(x.mean(axis=-1), [[sum(row) / 4 for row in m] for m in a])
        self.assertEqual(x.mean(dim=1, keepdim=True).shape, (2, 1, 4))
        self.assertEqual(nn.tensor([1.0, 2.0]).sum(0).shape, ())

    def test_shapes(self):
        a = numbers(2, 3, 4)
        x = nn.tensor(a)
        self.assertEqual(x.reshape(6, -1).shape, (6, 4))
        self.assertEqual(x.reshape((24,)).tolist(), [nn.tensor(v).item() for v in flat(a)])
        self.assertEqual(x.transpose(0, -1).shape, (4, 3, 2))
        self.assertEqual(x.permute(2, 0, 1)[3, 1, 2].item(), x[1, 2, 3].item())
        self.assertEqual(x[1].tolist(), x.tolist()[1])
        self.assertEqual(x[:, 1:, -2].tolist(), [[row[-2] for row in m[1:]] for m in x.tolist()])
        self.assertEqual([row.shape for row in x], [(3, 4), (3, 4)])
        self.assertEqual(nn.concat([x, x], 1).shape, (2, 6, 4))
        self.assertEqual(nn.cat([x, x[:, :1]], dim=1)[0, 3].tolist(), x[0, 0].tolist())
        self.assertEqual(x.unsqueeze(0).squeeze(0).shape, x.shape)
        self.assertEqual(nn.tensor([[1.0], [2.0]]).expand(-1, 3).tolist(), [[1, 1, 1], [2, 2, 2]])

    def test_argmax(self):
        x = nn.tensor([[[1, 5, 5], [7, 2, 0]]])
        self.assertEqual(x.argmax().tolist(), [[1, 0]])
        self.assertEqual(x.argmax(1).tolist(), [[1, 0, 0]])
        self.assertEqual(x[0, 0].argmax().tolist(), 1)
        self.assertEqual(x.argmax(dim=0).dtype, "int32")
        self.assertEqual(nn.Embedding(8, 3)(x.argmax()).shape, (1, 2, 3))

    def test_products_of_matrices(self):
        def product(a, b):
            return [[sum(p * q for p, q in zip(row, column)) for column in zip(*b)] for row in a]
        a, b, c = numbers(2, 3, 4), numbers(4, 5, start=3), numbers(2, 4, 5, start=7)
        self.close(nn.tensor(a[0]) @ nn.tensor(b), product(a[0], b))
        self.close(nn.tensor(a) @ nn.tensor(b), [product(m, b) for m in a])
        self.close(nn.tensor(a) @ nn.tensor(c), [product(m, n) for m, n in zip(a, c)])
        self.close(nn.tensor(a[0]) @ nn.tensor(c), [product(a[0], n) for n in c])
        self.close(nn.tensor(a[0][0]) @ nn.tensor(b), product(a[0], b)[0])
        self.assertEqual((nn.tensor(a[0][0]) @ nn.tensor(a[0][1])).shape, ())

    def test_dots_in_an_index(self):
        a = numbers(2, 3, 4)
        x = nn.tensor(a)
        self.close(x[..., 1:3], [[row[1:3] for row in m] for m in a])
        self.close(x[1, ..., 0], [row[0] for row in a[1]])
        self.close(x[1, ...], a[1])
        self.close(x[...], a)
        self.close(x[0, 1, ..., 2], a[0][1][2])

    def test_softmax(self):
        a = numbers(3, 4)
        exps = [[math.exp(v) for v in row] for row in a]
        self.close(nn.softmax(a), [[v / sum(row) for v in row] for row in exps])
        sums = [sum(row[j] for row in exps) for j in range(4)]
        self.close(nn.softmax(a, 0), [[v / s for v, s in zip(row, sums)] for row in exps])
        self.close(nn.masked_softmax([a, a], [2, 3]), [[[v / sum(row[:n]) if j < n else 0.0 for j, v in enumerate(row)]
                                                        for row in exps] for n in (2, 3)])
        self.assertEqual(nn.masked_softmax([a], [[0, 1, 2]]).tolist()[0][:2], [[0, 0, 0, 0], [1, 0, 0, 0]])

    def test_gradients_by_differences(self):
        weights = numbers(2, 3, start=31)
        cases = {
            "broadcast": lambda x: (x + x[0]) * (x - x.mean(0)),
            "functions": lambda x: x.tanh() * x.exp() + (x * x + 1).log(),
            "shapes": lambda x: x.transpose(0, 1).reshape(2, 3) + x.permute(1, 0).reshape(2, 3),
            "slices": lambda x: nn.concat([x[:, 1:], x[:, :1]], 1) * x,
            "products": lambda x: x @ x.transpose(0, 1) @ x,
            "softmax": lambda x: nn.softmax(x) * nn.softmax(x, 0),
            "expand": lambda x: x[:1].expand(2, 3) * x.sum(1, keepdim=True),
        }
        for name, fn in cases.items():
            with self.subTest(name):
                x = nn.tensor(numbers(2, 3), requires_grad=True)
                with nn.grad():
                    (fn(x) * nn.tensor(weights)).sum().backward()
                for i in range(2):
                    for j in range(3):
                        ends = []
                        for step in (0.01, -0.01):
                            moved = numbers(2, 3)
                            moved[i][j] += step
                            ends.append((fn(nn.tensor(moved)) * nn.tensor(weights)).sum().item())
                        self.assertAlmostEqual(x.grad[i, j].item(), (ends[0] - ends[1]) / 0.02, delta=2e-3)


class Passes(Close):
    def test_old_tensors_never_change(self):
        nn.seed(3)
        attention, ffn = nn.MultiHeadAttention(8, 2), nn.PositionWiseFFN(4, 8)
        norm = nn.AddNorm(8, 0.5).eval()
        X = nn.tensor(numbers(2, 3, 8))
        kept = []
        for recorded in (True, False, True, False):
            for i in range(3):
                def compute():
                    Y = attention(X * float(i + 1), X, X, [3, 2])
                    Z = norm(Y, ffn(Y))
                    return Y, Z, attention.attention_weights, Z[0], Z.reshape(6, 8), Z.mean()
                if recorded:
                    with nn.grad():
                        results = compute()
                        results[-1].backward()
                else:
                    results = compute()
                kept += [(x, memoryview(x), x.tolist()) for x in results]
        grads = [p.grad for p in attention.parameters()]
        before = [g.tolist() for g in grads]
        trainer = optim.SGD(attention.parameters(), 1.0)
        trainer.step()
        with nn.grad():
            attention(X, X, X).sum().backward()
        for tensor, view, values in kept:
            self.assertEqual(tensor.tolist(), values)
            self.assertEqual(view.tolist(), values)
        self.assertEqual([g.tolist() for g in grads], before)

    def test_views_of_parameters_do_not_change_with_them(self):
        p = nn.Parameter([[1.0, 2.0], [3.0, 4.0]])
        with nn.grad():
            shown = p.reshape(4)
            again = shown.reshape(2, 2)
            (again * again).sum().backward()
        optim.SGD([p], 0.5).step()
        self.assertEqual(shown.tolist(), [1, 2, 3, 4])
        self.assertEqual(again.tolist(), [[1, 2], [3, 4]])
        self.assertEqual(p.tolist(), [[0, 0], [0, 0]])

    def test_a_tensor_outlives_its_pass_and_module(self):
        def make():
            with nn.grad():
                return nn.Linear(4, 3)(numbers(2, 4)).tanh()
        y = make()
        values = y.tolist()
        for _ in range(20):
            make()
        self.assertEqual(y.tolist(), values)
        y.mean().shape
        with self.assertRaisesRegex(ValueError, r'not computed in a pass, inside of "with nn\.grad\(\):"'):
            y.mean().backward()

    def test_inside_and_outside_are_equal(self):
        nn.seed(5)
        encoder = nn.TransformerEncoder(20, 16, 32, 4, 2, 0.3).eval()
        outside = encoder([[1, 2, 3]], [2]).tolist()
        with nn.grad():
            self.assertEqual(encoder([[1, 2, 3]], [2]).tolist(), outside)
        nn.set_num_threads(2)
        self.addCleanup(nn.set_num_threads, 1)
        self.assertEqual(encoder([[1, 2, 3]], [2]).tolist(), outside)

    def test_backward(self):
        x = nn.tensor([1.0, 2.0], requires_grad=True)
        with nn.grad():
            y = (x * x).sum()
        y.backward()
        self.assertEqual(x.grad.tolist(), [2, 4])
        with self.assertRaisesRegex(ValueError, "was run already"):
            y.backward()
        with nn.grad():
            (x * 3).sum().backward()
        self.assertEqual(x.grad.tolist(), [5, 7])
        x.grad = None
        self.assertIsNone(x.grad)
        with nn.grad():
            with self.assertRaises(rapt.ShapeError):
                (x * 3).backward()
        with nn.grad():
            with self.assertRaisesRegex(ValueError, "gradient"):
                x.detach().sum().backward()
        with nn.grad():
            with self.assertRaises(rapt.NotFiniteError):
                (x * -1).log().sum().backward()

    def test_gradients_of_results(self):
        x = nn.tensor([1.0, 2.0], requires_grad=True)
        with nn.grad(keep_gradients=True):
            y = x * x
            (y * y).sum().backward()
        self.assertEqual(y.grad.tolist(), [2, 8])
        with nn.grad():
            y = x * x
            y.sum().backward()
        self.assertIsNone(y.grad)

    def test_nested_passes(self):
        x = nn.tensor([3.0], requires_grad=True)
        with nn.grad():
            y = x * x
            with nn.grad():
                z = x * 2
                with self.assertRaisesRegex(ValueError, "another pass"):
                    y + z
                (y.detach() * z).sum().backward()
            self.assertEqual(x.grad.tolist(), [18])
            y.sum().backward()
        self.assertEqual(x.grad.tolist(), [24])
        tape = nn.grad()
        with tape:
            with self.assertRaises(RuntimeError):
                tape.__enter__()

    def test_a_failed_pass_is_over(self):
        layer = nn.Linear(4, 2)
        with nn.grad():
            with self.assertRaisesRegex(rapt.ShapeError, "linear weight: input has 3 features, weight expects 4"):
                layer(numbers(2, 3))
            with self.assertRaises(rapt.ShapeError):
                layer(numbers(2, 4))
        self.assertEqual(layer(numbers(2, 4)).shape, (2, 2))

    def test_threads(self):
        nn.seed(1)
        net = nn.TransformerEncoderBlock(16, 32, 4, 0.0)
        inputs = [nn.tensor(numbers(2, 5, 16, start=i)) for i in range(8)]
        expected = [net(X).tolist() for X in inputs]
        shared = net(inputs[0])
        failures = []

        def work(i):
            try:
                for _ in range(5):
                    with nn.grad():
                        Y = net(inputs[i])
                        (Y * shared).sum().backward()
                    if Y.tolist() != expected[i] or net(inputs[i]).tolist() != expected[i]:
                        failures.append(i)
            except BaseException as error:
                failures.append(error)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_dropout_is_of_the_step(self):
        nn.seed(4)
        drop = nn.Dropout(0.5)
        X = nn.tensor([[1.0] * 1000])
        with nn.grad(step=1):
            first = drop(X).tolist()
        with nn.grad(step=2):
            second = drop(X).tolist()
        with nn.grad(step=1):
            self.assertEqual(drop(X).tolist(), first)
        self.assertNotEqual(first, second)
        self.assertEqual(set(first[0]), {0.0, 2.0})
        self.assertAlmostEqual(sum(first[0]) / 1000, 1, delta=0.2)
        self.assertNotEqual(drop(X).tolist(), drop(X).tolist())
        self.assertEqual(drop.eval()(X).tolist(), X.tolist())
        with nn.grad(training=False):
            self.assertEqual(drop.train()(X).tolist(), X.tolist())


class Text(unittest.TestCase):
    def test_repr(self):
        self.assertEqual(repr(nn.tensor([[1, 2.5], [-1e-9, float("inf")]])), "Tensor([[1, 2.5],\n        [-1e-09, inf]])")
        self.assertEqual(repr(nn.tensor(3)), "Tensor(3)")
        self.assertEqual(repr(nn.Parameter([1 / 3])), "Parameter([0.33333])")
        many = nn.tensor([list(range(500))] * 8)
        self.assertEqual(repr(many).splitlines()[0], "Tensor([[0, 1, 2, ..., 497, 498, 499],")
        self.assertEqual(repr(many).splitlines()[3].strip(), "...,")
        self.assertEqual(len(repr(many).splitlines()), 7)
        self.assertTrue(repr(many).endswith("shape=(8, 500))"))

    def test_prints_as_pytorch(self):
        """The numbers and lines that torch 2.15 prints."""
        wide = nn.tensor([[(i * i % 17 - 8) / 8 * (10 if i == 9 else 1) for i in range(8 * j, 8 * j + 8)] for j in range(7)])
        deep = nn.tensor([[[1, -2.5], [0.00004, 100]], [[-0.5, 3], [1e-3, float("-inf")]]])
        self.addCleanup(nn.set_printoptions, 4, 1000, 3, 80)
        nn.set_printoptions(threshold=1)
        self.assertEqual(str(wide), """\
tensor([[-1.0000, -0.8750, -0.5000,  ...,  0.0000, -0.7500,  0.8750],
        [ 0.6250,  6.2500,  0.8750,  ...,  1.0000,  0.1250, -0.5000],
        [-0.8750, -1.0000, -0.8750,  ...,  1.0000,  0.0000, -0.7500],
        ...,
        [-0.5000, -0.8750, -1.0000,  ...,  0.1250,  1.0000,  0.0000],
        [-0.7500,  0.8750,  0.6250,  ..., -0.7500,  0.0000,  1.0000],
        [ 0.1250, -0.5000, -0.8750,  ..., -0.5000,  0.1250,  1.0000]])""")
        self.assertEqual(str(deep), """\
tensor([[[ 1.0000e+00, -2.5000e+00],
         [ 4.0000e-05,  1.0000e+02]],

        [[-5.0000e-01,  3.0000e+00],
         [ 1.0000e-03,        -inf]]])""")
        self.assertEqual(str(nn.tensor(3)), "tensor(3.)")
        self.assertEqual(str(nn.tensor([[1, 2], [-3, 4]]).transpose(0, 1)), "tensor([[ 1., -3.],\n        [ 2.,  4.]])")
        self.assertEqual(str(nn.tensor([[1, 2], [4, 3]]).argmax(1)), "tensor([1, 0])")
        self.assertEqual(str(nn.tensor([1, 2]).argmax(0)), "tensor(1)")
        self.assertEqual(f"{nn.Parameter([1 / 3])}", "tensor([0.3333])")
        nn.set_printoptions(precision=2, threshold=3, edgeitems=1)
        self.assertEqual(str(nn.tensor([1 / 3, 2, 3, 4])), "tensor([0.33,  ..., 4.00])")
        nn.set_printoptions(linewidth=20, threshold=1000)
        self.assertEqual(str(nn.tensor([1 / 3] * 4)), "tensor([0.33, 0.33,\n        0.33, 0.33])")
        for options, error in (({"precision": 21}, ValueError), ({"edgeitems": 0}, ValueError), ({"threshold": -1}, ValueError),
                               ({"linewidth": 2**62}, ValueError), ({"precision": 2**200}, ValueError),
                               ({"precision": "2"}, TypeError), ({"precision": True}, TypeError)):
            with self.assertRaises(error, msg=options):
                nn.set_printoptions(**options)


class Refusals(unittest.TestCase):
    def test_types_and_values(self):
        x = nn.tensor([[1.0, 2.0]])
        for call in (lambda: nn.tensor("abc"), lambda: nn.tensor(None), lambda: nn.tensor({1: 2}), lambda: nn.tensor([1, "a"]),
                     lambda: nn.tensor(b"abc"), lambda: nn.tensor([1j]), lambda: x + "a", lambda: x @ 3, lambda: x / x,
                     lambda: x["a"], lambda: x.sum("a"), lambda: nn.Linear("a", 1), lambda: nn.Embedding(3, 2)([0.5]),
                     lambda: nn.Embedding(3, 2)("a"), lambda: nn.concat([x, "a"]), lambda: nn.seed("a"), lambda: nn.Tensor(),
                     lambda: nn.cross_entropy(x, [0.5]), lambda: optim.SGD([x], 1.0), lambda: nn.Parameter(),
                     lambda: _rapt.linear(x, x, None), lambda: nn.Sequential(3), lambda: nn.observe(3).__enter__()):
            with self.assertRaises(TypeError):
                call()
        for call in (lambda: nn.tensor([]), lambda: nn.tensor([[]]), lambda: nn.tensor([[1, 2], [3]]),
                     lambda: nn.tensor([1, [2]]), lambda: nn.tensor([[[[[1]]]]]), lambda: x.reshape(3), lambda: x.reshape(-1, -1),
                     lambda: x.reshape(0, -1),
                     lambda: x.transpose(0, 2), lambda: x.permute(0), lambda: x.permute(0, 0), lambda: x.sum(7),
                     lambda: x @ x, lambda: x + nn.tensor([1.0, 2.0, 3.0]), lambda: nn.Linear(0, 1),
                     lambda: nn.Linear(2**62, 2**62),
                     lambda: nn.Dropout(1.0), lambda: nn.MultiHeadAttention(10, 3), lambda: nn.Embedding(3, 2)([3]),
                     lambda: nn.Embedding(3, 2)([-1]), lambda: nn.Embedding(3, 2)([]), lambda: nn.Embedding(3, 2)([2**40]),
                     lambda: nn.Embedding(3, 2, padding_idx=3), lambda: nn.masked_softmax(x, [1, 2]), lambda: nn.concat([]),
                     lambda: nn.cross_entropy(x, [5]), lambda: nn.cross_entropy(x, [0, 1]), lambda: optim.Adam([]),
                     lambda: nn.seed(-1), lambda: nn.set_num_threads(0),
                     lambda: nn.PositionalEncoding(4, 0, 3)([[[0.0] * 4] * 4]),
                     lambda: optim.Adam([nn.Parameter([1.0])], betas=(1.0, 0.9)), lambda: nn.Linear(2, 2)(numbers(3, 3)),
                     lambda: nn.MultiHeadAttention(4, 2)(x, x, x), lambda: nn.tensor(1.0) @ x):
            with self.assertRaises(ValueError):
                call()
        for call in (lambda: x[2], lambda: x[0, 0, 0], lambda: x[:, ::2], lambda: x[:, 2:], lambda: x[::-1],
                     lambda: x[..., 0, 0, 0], lambda: x[..., ...]):
            with self.assertRaises(IndexError):
                call()
        with self.assertRaises(ZeroDivisionError):
            x / 0
        with self.assertRaises(TypeError):
            float(x)

    def test_bools_are_no_lengths_labels_or_ids(self):
        X, attention = nn.tensor(numbers(2, 2, 4)), nn.MultiHeadAttention(4, 2)
        masks = [[[True, False]] * 2, [[1, True]] * 2, memoryview(b"\1\0\1\0").cast("?", (2, 2))]
        for mask in masks:
            for call in (lambda: nn.masked_softmax(X, mask), lambda: attention(X, X, X, mask)):
                with self.assertRaisesRegex(TypeError, "valid_lens must .* not bools: numbers of valid keys, not a mask"):
                    call()
            with self.assertRaisesRegex(TypeError, "labels must be integers, not bools$"):
                nn.cross_entropy(X, mask)
            with self.assertRaisesRegex(TypeError, "valid_lens .* not bools"):
                nn.cross_entropy(X, [[1, 2], [3, 0]], mask)
            with self.assertRaisesRegex(TypeError, "ids must be integers, not bools"):
                nn.Embedding(3, 2)(mask)
            self.assertEqual(nn.tensor(mask).tolist()[0][0], 1) # as numbers, bools are 0 and 1

    def test_what_must_be_iterable(self):
        x, net = nn.tensor([1.0]), nn.Linear(2, 2)
        for call, message in (
                (lambda: nn.draw("x", 2), "shape must be a tuple of ints, not int"),
                (lambda: nn.full(2, 0.0), "size must be a tuple of ints, not int"),
                (lambda: nn.full((2, "a"), 0.0), r"size\[1\] must be an int, not str"),
                (lambda: nn.randint(0, 2, 3), "size must be a tuple of ints, not int"),
                (lambda: nn.randint(0, 2.5, (3,)), "high must be an int, not float"),
                (lambda: nn.LayerNorm(2.5), "normalized_shape must be a tuple of ints, not float"),
                (lambda: nn.stack(3), "tensors must be a list of tensors, not int"),
                (lambda: nn.cat(3), "tensors must be a list of tensors, not int"),
                (lambda: nn.concat(None), "tensors must be a list of tensors, not NoneType"),
                (lambda: optim.Adam(net), r"params must be an iterable of parameters: net.parameters\(\), not net, not Linear"),
                (lambda: optim.SGD(net.parameters, 1), "params must be an iterable of parameters, such as .*, not method"),
                (lambda: optim.Adam([x]), "must be a rapt.nn.Parameter, not Tensor"),
                (lambda: optim.AdamW(net.parameters(), betas=0.9), "betas must be two floats, not float")):
            with self.subTest(message), self.assertRaisesRegex(TypeError, message):
                call()
        with self.assertRaisesRegex(ValueError, "betas has 1 number"):
            optim.Adam(net.parameters(), betas=(0.9,))

    def test_lengths_beyond_the_keys(self):
        X = nn.tensor([[[0.0, 0.0, 0.0, 0.0]]] * 3)
        self.assertEqual(nn.masked_softmax(X, [9, 2, -1]).tolist(), [[[0.25] * 4], [[0.5, 0.5, 0, 0]], [[0] * 4]])

    def test_shapes_are_named(self):
        X, attention = nn.tensor(numbers(2, 3, 4)), nn.MultiHeadAttention(4, 2)
        must = r"a batch of 2 with 3 queries each it must be \[2\] or \[2, 3\]"
        for call, message in (
                (lambda: nn.masked_softmax(X, [1, 1, 1]), r"valid_lens is \[3\]; for " + must),
                (lambda: attention(X, X, X, [[1, 1]] * 2), r"valid_lens is \[2, 2\]; for " + must + ".*not a mask .causal=True"),
                (lambda: attention(X, X, X, 3), r"valid_lens is \[\]; for " + must),
                (lambda: attention(X[0], X, X), r"queries must be \[batch, queries, features\], not \[3, 4\]"),
                (lambda: nn.cross_entropy(X, [1, 2]), r"logits are \[2, 3, 4\], labels \[2\]"),
                (lambda: nn.cross_entropy(X[0, 0], 1), r"logits are \[4\], labels \[\]"),
                (lambda: nn.cross_entropy(X, [[1, 2, 3]] * 2, [3]), r"valid_lens is \[1\], labels \[2, 3\]"),
                (lambda: nn.cross_entropy(X[0], [1, 2, 3], [3]), r"valid_lens is \[1\], labels \[3\]"),
                (lambda: nn.Embedding(3, 2)([[[1]]]), r"ids must be .*, not \[1, 1, 1\]"),
                (lambda: nn.Embedding(3, 2)(1), r"ids must be .*, not \[\]"),
                (lambda: X.masked_fill([1, 0], 0), r"the mask is \[2\], not \[2, 3, 4\]"),
                (lambda: nn.Parameter([1.0]).assign(1.0), r"is \[1\], the values are \[\]"),
                (lambda: X + nn.tensor([1.0, 2.0]), r"\[2, 3, 4\] and \[2\]"),
                (lambda: X.reshape(5, 5), r"\[2, 3, 4\]"),
                (lambda: nn.concat([X, X, X[0]]), r"tensor 2 is \[3, 4\], .* the first one, \[2, 3, 4\], along axis 0"),
                (lambda: nn.concat([X], 3), r"\[2, 3, 4\] has no axis 3"),
                (lambda: X @ X, r"\[2, 3, 4\]"),
                (lambda: X.reshape(-1, 5), "24 elements are no multiple of 5"),
                (lambda: X.expand(2, 5, 4), r"\[2, 3, 4\]")):
            with self.subTest(message), self.assertRaisesRegex(rapt.ShapeError, message):
                call()

    def test_tensors_cannot_be_written(self):
        view = memoryview(nn.tensor([1.0, 2.0]))
        self.assertTrue(view.readonly)
        p = nn.Parameter([1.0, 2.0])
        memoryview(p)[1] = 5.0
        self.assertEqual(p.tolist(), [1, 5])


if __name__ == "__main__":
    unittest.main()
