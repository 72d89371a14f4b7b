"""docs/tutorials/pytorch-cells.md is what tools/tutorial_cells.py finds in the tutorials, which are beside the sources or not;
and how that tool finds, mends and changes code."""
import ast
import builtins
import contextlib
import io
import math
import pathlib
import sys
import unittest

from rapt import nn
from support import SHARED, SOURCE
from test_nn import Close

sys.path.insert(0, str(SOURCE / "tools"))
import tutorial_cells
import tutorial_changes
import tutorial_split


class Tutorials(unittest.TestCase):
    def test_the_page_is_what_runs_now(self):
        folder = pathlib.Path(SHARED or SOURCE.parent / "shared") / "seeds"
        if not (folder.is_dir() and (folder.parent / "data").is_dir()):
            self.skipTest("the tutorials are not there")
        found = tutorial_cells.results(folder, folder.parent)
        self.assertEqual(len(found), 5)
        for suffix, language in tutorial_cells.LANGUAGES.items():
            page = (SOURCE / "docs" / "tutorials" / f"pytorch-cells.{suffix}").read_text(encoding="utf-8")
            self.assertEqual(tutorial_cells.page_of(found, language).splitlines(), page.splitlines(),
                             "tools/tutorial_cells.py --write makes the page")


class ByHand(Close):
    def test_code_of_the_page_runs(self):
        """Both masks give what PyTorch's formula gives by hand, and the loop learns."""
        imports, masks, loop = tutorial_cells.BY_HAND
        names = {"scores": nn.zeros(2, 5, 5)}
        exec(imports + masks, names)
        self.assertIs(names["torch"], nn)
        for weights in (names["filled"], names["added"]):
            self.close(weights[1].tolist(), [[1 / (i + 1) if k <= i else 0 for k in range(5)] for i in range(5)])
        nn.seed(1)
        names.update(net=nn.Linear(2, 2), batches=[(nn.tensor([[1.0, 0.0], [0.0, 1.0]]), [0, 1])] * 100)
        with nn.grad():
            before = nn.cross_entropy(names["net"](names["batches"][0][0]), [0, 1]).item()
        exec(loop, names)
        self.assertLess(names["loss"].item(), before / 2)

    def test_what_is_written_instead(self):
        write = {name: text for name, text in tutorial_cells.WRITE if isinstance(text, str)}
        x, m = nn.tensor([[1.0, 2.0, 6.0]]), nn.tensor([1.0, 0.0])
        values = {"nn": nn, "x": x, "m": m, "s": nn.tensor([[1.0, 2.0]]), "c": nn.tensor([[3.0, 4.0]]), "length": 1, "d": 4}
        for name, expected in (("x.var(-1, unbiased=False)", [14 / 3]), ("x.pow(2)", [[1, 4, 36]]), ("~m", [0, 1]),
                               ("m[None, :, :]", [[1, 0]]), ("pe[:, 0::2] = s; pe[:, 1::2] = c", [[1, 3, 2, 4]])):
            self.close(eval(write[name].strip("`"), values).tolist(), expected)


class Beside(Close):
    """Classes of the tutorials with rapt.nn and with PyTorch: the same code, parameters and inputs."""

    def setUp(self):
        self.folder = pathlib.Path(SHARED or SOURCE.parent / "shared") / "seeds"
        try:
            import torch
        except ImportError:
            self.skipTest("no PyTorch")
        if not self.folder.is_dir():
            self.skipTest("the tutorials are not there")
        self.torch = torch

    def load_theirs(self, name, *rest):
        if name.split(".")[0] in ("torch", "math"):
            return builtins.__import__(name, *rest)
        return tutorial_changes.Anything()

    def both(self, code, ours, theirs):
        """Runs a cell in both namespaces."""
        compiled, helpers = tutorial_changes.changed(code, set())
        ours.update({"__name__": "ours", "_helpers": helpers, "__builtins__": {
            **vars(builtins), "__import__": tutorial_changes.importer(self.folder.parent, set())}})
        theirs.update({"__name__": "theirs", "__builtins__": {**vars(builtins), "__import__": self.load_theirs}})
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compiled, ours)
            exec(code, theirs)

    def as_theirs(self, x):
        if not isinstance(x, nn.Tensor):
            return x
        values = self.torch.tensor(x.tolist())
        return values.long() if bool((values == values.round()).all()) else values

    def compare(self, ours, theirs):
        sizes = tutorial_cells.arguments(ours, tutorial_cells.SIZES)
        module, reference = ours(**sizes).eval(), theirs(**sizes).eval()
        own = dict(module.named_parameters())
        module.load_state_dict({name: values for name, values in reference.state_dict().items() if name in own})
        inputs = tutorial_cells.arguments(module.forward, tutorial_cells.inputs_of(module))
        result = module(**inputs)
        expected = reference(**{name: self.as_theirs(x) for name, x in inputs.items()})
        pairs = zip(result, expected) if isinstance(result, tuple) else ((result, expected),)
        for x, y in pairs:
            self.assertEqual(x.shape, tuple(y.shape))
            self.close(x, y.detach(), 3e-6)  # theirs computes in single precision

    def test_classes_compute_what_pytorch_computes(self):
        compared = []
        for path in sorted(self.folder.glob("*.txt")):
            ours = {"nn": tutorial_changes.Names("torch.nn"), "torch": tutorial_changes.Names("torch"), "math": math}
            theirs = {"nn": self.torch.nn, "torch": self.torch, "math": math}
            for number, code in tutorial_split.cells(path.read_text(encoding="utf-8")):
                code = code if tutorial_split.parses(code) else tutorial_split.restored(code)
                names = [node.name for node in ast.parse(code).body if isinstance(node, ast.ClassDef)]
                if not names or "d2l." in code or any(word in code for word in tutorial_cells.MXNET):
                    continue
                self.both(code, ours, theirs)
                for name in names:
                    if issubclass(ours[name], nn.Module):
                        self.context = f"{path.name}, cell {number}, {name}: "
                        self.compare(ours[name], theirs[name])
                        compared.append(name)
        self.assertEqual(sorted(compared), ["AddNorm", "FeedForwardNetwork", "MultiHeadAttention", "PositionWiseFFN",
                                            "PositionWiseFFN", "PositionalEncoding", "TransformerPreprocessor"])


class Split(unittest.TestCase):
    def test_a_notebook(self):
        text = ("In [1]:\nx = 1\n\nfor i in range(3):\n    x += i\n\n    x -= 0\nx\n\n4\n\n"
                "In [2]:\nprint(torch.ones(2))\n\ntensor([1., 1.])\n\n### A heading\n\ntext = prose\n\n"
                "In [3]:\n# all of it\n")
        first = "x = 1\n\nfor i in range(3):\n    x += i\n\n    x -= 0\nx"
        self.assertEqual(tutorial_split.cells(text), [("1", first), ("2", "print(torch.ones(2))"), ("3", "# all of it")])

    def test_fences(self):
        text = "a = 1 in prose\n```python\n    b = 2\n    c = 3\n```\n```\nprinted: 5\n```\n"
        self.assertEqual(tutorial_split.cells(text), [("1", "b = 2\nc = 3")])

    def test_marked_code_with_text_behind_it(self):
        text = "text\npy\nclass A:\n  x = 1 # 中文\na = A()- 后面的文字\nmore\npy\nb = 2\nprint(b)done 的"
        self.assertEqual(tutorial_split.cells(text),
                         [("1", "class A:\n  x = 1 # 中文\na = A()"), ("2", "b = 2\nprint(b)")])

    def test_lost_line_breaks(self):
        text = ('from torch import nnclass Sum(nn.Module):"""Doc"""def __init__(self, size, factor = 2):super().__init__()'
                'self.a = sizeself.b = factor  # 两倍self.c = 3# 注释def forward(self, X):if X is not None:# 有'
                'X = X + self.a\nY = X * self.breturn Y.sum()def main():x = Sum(1)print(x.b)if x.b > 1:print("a")else:print("b")'
                'if __name__ == "__main__":main()')
        self.assertEqual(tutorial_split.restored(text), """\
from torch import nn
class Sum(nn.Module):
    def __init__(self, size, factor = 2):
        super().__init__()
        self.a = size
        self.b = factor
        self.c = 3
    def forward(self, X):
        if X is not None: X = X + self.a
        Y = X * self.b
        return Y.sum()
def main():
    x = Sum(1)
    print(x.b)
    if x.b > 1:print("a")
    else:print("b")
if __name__ == "__main__":main()""")


class Changes(unittest.TestCase):
    def run_changed(self, code, **names):
        made = set()
        compiled, helpers = tutorial_changes.changed(code, made)
        names = {**names, "_helpers": helpers}
        exec(compiled, names)
        return names, made

    def test_assignments_make_tensors(self):
        x, rows = nn.zeros(2, 4), [1, 2]
        names, made = self.run_changed("x[:, 1::2] = y\nx[0, 0] = 7\nrows[1] = 3", x=x, rows=rows, y=nn.tensor([5.0, 6.0]))
        self.assertEqual(names["x"].tolist(), [[7, 5, 0, 6], [0, 5, 0, 6]])
        self.assertEqual(x.tolist(), [[0] * 4] * 2)
        self.assertEqual(rows, [1, 3])
        self.assertEqual(made, {"assign"})

    def test_types_numbers_and_comparisons(self):
        names, made = self.run_changed("a = x.float().max().item()\nb = x == 2\nc = x.data\nd = 'b' == 'b'", x=nn.tensor([1, 2]))
        self.assertEqual((names["a"], type(names["a"]), names["b"].tolist(), names["d"]), (2, int, [0, 1], True))
        self.assertEqual(made, {"type", "item", "equal"})
        self.assertEqual(self.run_changed("a = 1 == 1\nb = {}\nb[1] = 2")[1], set())

    def test_verdicts(self):
        text = ("In [1]:\nimport torch\nfrom torch import nn\n"
                "class Twice(nn.Module):\n    def forward(self, X):\n        return 2 * X\n\n"
                "In [2]:\nx = torch.zeros(2, dtype=torch.float32)\n\nIn [3]:\ny = torch.fft(x)\n\nIn [4]:\nprint(y)\n\n"
                "In [5]:\nimport pandas\n\nIn [6]:\nself.x = 1\n\n"
                "In [7]:\nclass Wrong(nn.Module):\n    def forward(self, X):\n        return X.reshape(7)\n")
        run = tutorial_cells.Run(text, "/nonexistent")
        found = [run.run(number, code) for number, code in run.cells]
        self.assertEqual([verdict for verdict, _ in found], [0, 1, 2, 2, 1, 2, 2])
        self.assertEqual((found[1][1], found[4][1]), ({"type"}, {"package"}))
        self.assertEqual([found[i][1][0] for i in (2, 3, 5)], ["rapt.nn has no `fft`", "it needs cell 3",
                                                               "a part of a program: `self` is not in it"])
        self.assertIn("ShapeError", found[6][1][0])


if __name__ == "__main__":
    unittest.main()
