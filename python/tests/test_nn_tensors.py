"""Tensors of rapt.nn by PyTorch's names: how they are made, masks, and methods. Expected values are worked out by hand."""
import math
import unittest

import rapt
from rapt import nn
from test_nn import Close, numbers

try:
    import numpy
except ImportError:
    numpy = None

INFINITY = float("inf")


class Made(Close):
    def test_constants(self):
        self.assertEqual(nn.zeros(2, 3).tolist(), [[0, 0, 0], [0, 0, 0]])
        self.assertEqual(nn.ones((2, 1)).tolist(), [[1], [1]])
        self.assertEqual(nn.full([2], 2.5).tolist(), [2.5, 2.5])
        self.assertEqual(nn.arange(4).tolist(), [0, 1, 2, 3])
        self.assertEqual(nn.arange(1, 8, 3).tolist(), [1, 4, 7])
        self.assertEqual(nn.arange(0, 1, 0.25).tolist(), [0, 0.25, 0.5, 0.75])
        self.assertEqual(nn.arange(3, 0, -2).tolist(), [3, 1])
        for call in (lambda: nn.arange(0), lambda: nn.arange(3, 3), lambda: nn.arange(0, 3, 0), lambda: nn.arange(2**40),
                     lambda: nn.arange(math.nan), lambda: nn.arange(0, INFINITY), lambda: nn.randint(0, 2, (2**30,)),
                     lambda: nn.zeros(0), lambda: nn.zeros(-1), lambda: nn.ones(2, -1), lambda: nn.full((-1,), 1.0),
                     lambda: nn.randint(0, 2, (-1, -2)),
                     lambda: nn.full((), 1.0), lambda: nn.randint(3, 3, (2,)), lambda: nn.randint(0, 2**25, (2,))):
            with self.assertRaises(ValueError):
                call()

    def test_random_numbers_depend_on_the_seed(self):
        nn.seed(8)
        first = nn.randn(100, 50)
        second = nn.randn((100, 50))
        nn.seed(8)
        self.assertEqual(nn.randn(100, 50).tolist(), first.tolist())
        self.assertNotEqual(first.tolist(), second.tolist())
        self.assertAlmostEqual(first.mean().item(), 0, delta=4 / math.sqrt(5000))
        self.assertAlmostEqual((first * first).mean().item(), 1, delta=4 * math.sqrt(2 / 5000))
        ids = nn.randint(3, 13, (100, 50))
        counts = [sum(row.count(x) for row in ids.tolist()) for x in range(3, 13)]
        self.assertEqual(sum(counts), 5000)
        self.assertTrue(all(abs(count - 500) < 4 * math.sqrt(450) for count in counts), counts)
        self.assertEqual(set(nn.randint(low=-1, high=1, size=(40,)).tolist()), {-1, 0})

    def test_whole_numbers_are_ids_lengths_labels_and_indices(self):
        ids = nn.tensor([[2, 0, 1]])
        table = nn.Embedding(3, 2)
        self.assertEqual(table(ids).tolist(), table([[2, 0, 1]]).tolist())
        logits = numbers(1, 3, 4)
        self.assertEqual(nn.cross_entropy(logits, ids, nn.tensor([2])).tolist(),
                         nn.cross_entropy(logits, [[2, 0, 1]], [2]).tolist())
        self.assertEqual(nn.masked_softmax(logits, nn.arange(1, 2)).tolist(), nn.masked_softmax(logits, [1]).tolist())
        x = nn.arange(10)
        self.assertEqual([x[i:i + 2].tolist() for i in nn.tensor([1, 4])], [[1, 2], [4, 5]])
        self.assertEqual(["a", "b", "c"][nn.tensor(2)] + ["a", "b", "c"][nn.argmax([0.0, 3.0])], "cb")
        self.assertEqual(list(range(nn.tensor(2))), [0, 1])
        self.assertEqual(nn.tensor([nn.tensor(0.5), nn.tensor(2)]).tolist(), [0.5, 2])
        for call in (lambda: table(nn.tensor([0.5])), lambda: range(nn.tensor(0.5)), lambda: range(nn.tensor([1])),
                     lambda: range(nn.tensor(INFINITY)), lambda: x[nn.tensor(0.5)], lambda: table(nn.tensor(2.0**25).reshape(1))):
            with self.assertRaises(TypeError):
                call()

    def test_arrays_are_no_sizes(self):
        net = nn.Linear(3, 2)
        for inputs in (nn.zeros(1, 3), nn.zeros(3)):
            self.assertIn("Linear", net.layer_summary(inputs))

    def test_item(self):
        self.assertEqual(nn.argmax([0.0, 3.0]).item(), 1)
        self.assertIs(type(nn.argmax([0.0, 3.0]).item()), int)
        self.assertEqual(nn.tensor([2.5]).item(), 2.5)
        with self.assertRaises(TypeError):
            nn.argmax([[1.0], [2.0]]).item()


class Functions(Close):
    def test_functions_of_constants(self):
        x = [0.0, 1.0, -2.5, 3.141592741012573, 1.5707963705062866, 99.75, -123456.5]
        self.close(nn.sin(x), [math.sin(v) for v in x], 1e-7)
        self.close(nn.cos(x), [math.cos(v) for v in x], 1e-7)
        self.assertEqual(nn.sqrt(nn.tensor([[4.0, 2.25], [0.0, INFINITY]])).tolist(), [[2, 1.5], [0, INFINITY]])
        self.assertTrue(math.isnan(nn.sqrt(nn.tensor(-1.0)).item()))
        self.assertEqual(nn.sqrt(nn.tensor(9)).shape, ())
        p = nn.Parameter([1.0])
        for call in (lambda: nn.sin(p), lambda: nn.cos(p), lambda: nn.sqrt(p), lambda: nn.sin([1e6]), lambda: nn.cos([INFINITY])):
            with self.assertRaises(ValueError):
                call()

    def test_lengths_and_angles(self):
        self.assertEqual(nn.norm([[3.0, 0.0], [0.0, 4.0]]).item(), 5)
        self.assertEqual(nn.cosine_similarity([[3.0, 4.0], [1.0, 0.0]], [[4.0, 3.0], [0.0, 2.0]]).tolist(),
                         [nn.tensor(24 / 25).item(), 0])
        self.assertEqual(nn.cosine_similarity([1.0, 2.0], [-2.0, -4.0], 0).shape, ())
        self.assertAlmostEqual(nn.cosine_similarity([1.0, 2.0], [-2.0, -4.0], dim=0).item(), -1, delta=1e-6)
        for scale in (1e-5, 1e10, 1e20): # the squares of the last are no float32
            self.assertAlmostEqual(nn.cosine_similarity([[scale, 0.0]], [[scale, scale]]).item(), 0.5 ** 0.5, delta=1e-6)
        self.assertAlmostEqual(nn.cosine_similarity([[1e-9, 0.0]], [[1.0, 0.0]]).item(), 0.1, delta=1e-6) # 1e-8: the least length
        x = nn.tensor(numbers(2, 3, 4))
        for dim in (0, 1, -1):
            got = nn.cosine_similarity(x, x[:1] + 1, dim)
            self.assertEqual(got.shape, (x + x).sum(dim).shape)
            at = {0: (slice(None), 1, 2), 1: (1, slice(None), 2), -1: (1, 1, slice(None))}[dim]
            a = x[at].tolist()
            b = (x[:1] + 1).expand(2, 3, 4)[at].tolist()
            expected = sum(p * q for p, q in zip(a, b)) / math.sqrt(sum(p * p for p in a) * sum(q * q for q in b))
            self.close(got[{0: (1, 2), 1: (1, 2), -1: (1, 1)}[dim]], expected)
        with self.assertRaisesRegex(ValueError, "no gradient"):
            nn.cosine_similarity(nn.Parameter([[1.0]]), [[1.0]])

    def test_whole_numbers_are_float32(self):
        self.assertEqual(nn.arange(2 ** 24 - 1, 2 ** 24).tolist(), [2 ** 24 - 1])
        self.assertEqual(nn.arange(nn.tensor(3)).tolist(), [0, 1, 2])
        self.assertEqual(nn.arange(0.5, 2).tolist(), [0.5, 1.5])
        for call in (lambda: nn.arange(2 ** 24, 2 ** 24 + 4), lambda: nn.arange(-2 ** 24 - 2, -2 ** 24),
                     lambda: nn.arange(10 ** 400), lambda: nn.randint(2 ** 40, 2 ** 40 + 3, (2,)), lambda: nn.arange(0)):
            with self.assertRaises(rapt.InvalidValueError):
                call()
        for call in (lambda: nn.randint(0.5, 3, (2,)), lambda: nn.arange("a"), lambda: nn.triu([[1.0]], 0.5)):
            with self.assertRaises(TypeError):
                call()
        for scale in (math.nan, -1, INFINITY, 1e300):
            with self.assertRaisesRegex(rapt.InvalidValueError, "0 to 1e30"):
                nn.draw("x", (2,), scale=scale)

    def test_sizes_of_numpy(self):
        if numpy is None:
            self.skipTest("no NumPy")
        sizes = numpy.array([2, 3])
        for x in (nn.randint(0, 3, sizes), nn.draw("x", sizes), nn.randn(*sizes), nn.full(sizes, 1.0)):
            self.assertEqual(x.shape, (2, 3))
        self.addCleanup(nn.set_printoptions, 4)
        nn.set_printoptions(precision=numpy.int64(2))
        self.assertEqual(str(nn.tensor([0.125])), "tensor([0.12])")
        with self.assertRaises(rapt.InvalidValueError):
            nn.set_printoptions(threshold=-1)

    def test_positions_by_the_formula_are_the_modules(self):
        """The table of positions as PyTorch code writes it: P[i, 2j] = sin(i w_j), P[i, 2j+1] = cos(i w_j)."""
        d, rows = 16, 10
        angle = nn.arange(rows).unsqueeze(1) * nn.exp(nn.arange(0, d, 2) * (-math.log(10000.0) / d))
        table = nn.stack([nn.sin(angle), nn.cos(angle)], 2).view(rows, d)
        self.close(table, nn.PositionalEncoding(d, 0.0).P[0, :rows], 1e-6)

    def test_triangles(self):
        x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        self.assertEqual(nn.triu(x).tolist(), [[1, 2, 3], [0, 5, 6]])
        self.assertEqual(nn.triu(x, 1).tolist(), [[0, 2, 3], [0, 0, 6]])
        self.assertEqual(nn.triu(x, diagonal=-1).tolist(), x)
        self.assertEqual(nn.tril(x).tolist(), [[1, 0, 0], [4, 5, 0]])
        self.assertEqual(nn.tril([x, x], -1).tolist(), [[[0, 0, 0], [4, 0, 0]]] * 2)
        self.assertEqual(nn.tril(x, 9).tolist(), x)
        self.assertEqual(nn.triu(nn.full((2, 2), -INFINITY), 1).tolist(), [[0, -INFINITY], [0, 0]])
        with self.assertRaises(ValueError):
            nn.triu([1.0])

    def test_products_and_lists(self):
        a, b = nn.tensor(numbers(2, 3, 4)), nn.tensor(numbers(2, 4, 5))
        product = [[[sum(p * q for p, q in zip(row, column)) for column in zip(*n)] for row in m]
                   for m, n in zip(a.tolist(), b.tolist())]
        self.close(nn.bmm(a, b), product)
        self.close(nn.matmul(a[0], b[0]), product[0])
        self.assertEqual(nn.stack([a[0], a[1]]).tolist(), a.tolist())
        self.assertEqual(nn.stack([a[0], a[1]], 1)[2].tolist(), [a[0, 2].tolist(), a[1, 2].tolist()])
        self.assertEqual(nn.cat([a, a], axis=2).shape, (2, 3, 8))
        sums = [[sum(math.exp(row[j]) for row in m) for j in range(4)] for m in a.tolist()]
        self.close(nn.softmax(a, dim=1), [[[math.exp(v) / s for v, s in zip(row, total)] for row in m]
                                          for m, total in zip(a.tolist(), sums)])
        self.assertEqual(nn.repeat_interleave([3, 2], 2).tolist(), [3, 3, 2, 2])
        self.assertEqual(nn.repeat_interleave([[1, 2]], repeats=2, dim=-1).tolist(), [[1, 1, 2, 2]])
        self.assertEqual(nn.repeat_interleave(nn.arange(4).reshape(1, 2, 1, 2), 2, 1).tolist(),
                         [[[[0, 1]], [[0, 1]], [[2, 3]], [[2, 3]]]])
        self.assertEqual(nn.argmax([[1.0, 5.0], [7.0, 2.0]], dim=0).tolist(), [1, 0])
        for x, dim in ((a, 3), (a, -4), (nn.tensor(1), 0)):
            with self.assertRaisesRegex(rapt.ShapeError, r"repeat_interleave: \[.*\] has no dimension"):
                nn.repeat_interleave(x, 2, dim)
        for call in (lambda: nn.bmm(a, a), lambda: nn.bmm(a[0], b[0]), lambda: nn.stack([]), lambda: nn.stack([a, b])):
            with self.assertRaises(ValueError):
                call()

    def test_division_by_a_number_of_a_tensor(self):
        x = nn.tensor([2.0, 3.0])
        self.assertEqual((x / nn.sqrt(nn.tensor(4))).tolist(), [1, 1.5])
        with nn.grad():
            self.assertEqual((x / nn.tensor(2)).tolist(), [1, 1.5])
        with self.assertRaises(ZeroDivisionError):
            x / nn.tensor(0)
        for divisor in (x, nn.tensor([2.0]), nn.tensor(2.0, requires_grad=True)):
            with self.assertRaises(TypeError):
                x / divisor


class Methods(Close):
    def test_shapes(self):
        x = nn.tensor(numbers(2, 3, 4))
        self.assertEqual(x.view(6, -1).tolist(), x.reshape(6, 4).tolist())
        self.assertEqual((x.size(), x.size(1), x.size(-1), x.dim(), x.numel()), ((2, 3, 4), 3, 4, 3, 24))
        self.assertIs(x.contiguous(), x)
        self.assertEqual(nn.arange(1, 3).repeat(2, 2).tolist(), [[1, 2, 1, 2], [1, 2, 1, 2]])
        self.assertEqual(nn.tensor([[1, 2]]).repeat((3, 1)).tolist(), [[1, 2]] * 3)
        self.assertEqual((x.max().item(), x.min().item()), (max(map(max, map(lambda m: map(max, m), x.tolist()))),
                                                            min(map(min, map(lambda m: map(min, m), x.tolist())))))
        for values in ([1.0, math.nan, 3.0], [math.nan, 3.0], [3.0, math.nan]): # as PyTorch does
            x_nan = nn.tensor(values)
            self.assertTrue(math.isnan(x_nan.max().item()) and math.isnan(x_nan.min().item()))
            self.assertTrue(math.isnan(values[x_nan.argmax().item()]))
        self.assertEqual((nn.tensor(3).max().item(), nn.tensor([[-1, 2]]).min().item()), (3, -1))
        with self.assertRaises(rapt.ShapeError):
            x.repeat(2)
        pair = nn.tensor([5.0, 6.0])
        for sizes in ((-1,), (0,), (2, -1), (1 << 31, 1 << 31, 1 << 31)):
            with self.assertRaises(rapt.ShapeError):
                pair.repeat(*sizes)
        for repeats in (-1, 0):
            with self.assertRaises(rapt.ShapeError):
                nn.repeat_interleave(pair, repeats)

    def test_masked_fill(self):
        x = nn.tensor([[1.0, INFINITY, 3.0], [4.0, 5.0, 6.0]])
        self.assertEqual(x.masked_fill([0, 1, 0], 9).tolist(), [[1, 9, 3], [4, 9, 6]])
        self.assertEqual(x.masked_fill([[True], [False]], -INFINITY).tolist(), [[-INFINITY] * 3, [4, 5, 6]])
        self.assertEqual(x.masked_fill(nn.tensor([[0, 0, 2], [0, 0, 0]]), 0).tolist(), [[1, INFINITY, 0], [4, 5, 6]])
        self.assertEqual(nn.tensor([[x.tolist()] * 2] * 2).masked_fill([[[[1]]], [[[0]]]], 0)[:, 1, 1].tolist(),
                         [[0, 0, 0], [4, 5, 6]])
        for mask in ([1, 0], [[[1]]], [[1, 0, 0]] * 3):
            with self.assertRaises(rapt.ShapeError):
                x.masked_fill(mask, 0)
        with self.assertRaises(TypeError):
            x.masked_fill("a", 0)

    def test_equal_elements(self):
        x = nn.tensor([[1.0, 0.0], [0.0, 2.0]])
        self.assertEqual(x.eq(0).tolist(), [[0, 1], [1, 0]])
        self.assertEqual(x.eq(nn.tensor([1.0, 2.0])).tolist(), [[1, 0], [0, 1]])
        self.assertEqual(x.masked_fill(x.eq(0), 7).tolist(), [[1, 7], [7, 2]])
        with self.assertRaisesRegex(TypeError, "use eq"):
            x.masked_fill(x == 0, 7) # False: they are two objects

    def test_a_causal_mask_by_hand_is_the_operations(self):
        scores = nn.tensor(numbers(2, 3, 3))
        mask = nn.triu(nn.ones(3, 3), 1)
        expected = nn.masked_softmax(scores, [[1, 2, 3]] * 2)
        self.close(scores.masked_fill(mask, -INFINITY).softmax(-1), expected, 1e-7)
        self.close(scores.masked_fill(mask, -1e9).softmax(-1), expected, 1e-7)

    def test_gradients(self):
        x = nn.tensor([[1.0, -2.0], [3.0, 0.5]], requires_grad=True)
        cases = {"masked_fill": (lambda: x.masked_fill([[0, 1], [1, 0]], 7.0) * nn.tensor([[1.0, 2], [3, 4]]), [[1, 0], [0, 4]]),
                 "max": (lambda: x.max() * 2, [[0, 0], [2, 0]]), "min": (lambda: x.min(), [[0, 1], [0, 0]]),
                 "repeat": (lambda: x.repeat(3, 2), [[6, 6], [6, 6]]),
                 "repeat_interleave": (lambda: nn.repeat_interleave(x, 2, 1) * nn.tensor([1.0, 2, 3, 4]), [[3, 7], [3, 7]]),
                 "stack": (lambda: nn.stack([x, x * 2], 2), [[3, 3], [3, 3]]), "triu": (lambda: nn.triu(x, 1), [[0, 1], [0, 0]]),
                 "view": (lambda: x.view(4) * nn.tensor([1.0, 2, 3, 4]), [[1, 2], [3, 4]])}
        for name, (fn, expected) in cases.items():
            with self.subTest(name):
                x.grad = None
                with nn.grad():
                    fn().sum().backward()
                self.assertEqual(x.grad.tolist(), expected)

    def test_infinite_masks_in_a_pass(self):
        x = nn.tensor([[1.0, 2.0]], requires_grad=True)
        with nn.grad():
            weights = x.masked_fill([[0, 1]], -INFINITY).softmax(-1)
            (weights * nn.tensor([[3.0, 5.0]])).sum().backward()
        self.assertEqual(weights.tolist(), [[1, 0]])
        self.assertEqual(x.grad.tolist(), [[0, 0]])


class Modules(unittest.TestCase):
    def test_buffers_are_not_trained(self):
        class Shifted(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("shift", nn.tensor([1.0, 2.0]))

            def forward(self, X):
                return X + self.shift

        self.assertEqual(Shifted()(nn.ones(1, 2)).tolist(), [[2, 3]])
        self.assertEqual((list(Shifted().parameters()), Shifted().state_dict()), ([], {}))

    def test_named_modules_of_a_list(self):
        blocks = nn.Sequential()
        blocks.add_module("block0", nn.Linear(2, 3))
        blocks.add_module("block1", nn.Linear(3, 1))
        self.assertEqual(blocks([[1.0, 2.0]]).shape, (1, 1))
        self.assertEqual(list(blocks.state_dict()), ["block0.weight", "block0.bias", "block1.weight", "block1.bias"])
        self.assertEqual((len(blocks), [type(block) for block in blocks]), (2, [nn.Linear, nn.Linear]))
        with self.assertRaises(ValueError):
            blocks.add_module("block0", nn.ReLU())
        with self.assertRaises(TypeError):
            blocks.add_module("block2", None)


if __name__ == "__main__":
    unittest.main()
