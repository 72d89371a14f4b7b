"""rapt.nn beside PyTorch, where that is installed: operations and modules on the same numbers, forward and backward."""
import math
import unittest

from rapt import nn, optim
from test_nn import GRADIENT, Close

try:
    import torch
except ImportError:
    raise unittest.SkipTest("no PyTorch")


def random(*shape):
    return torch.randn(*shape, generator=random.generator)


random.generator = torch.Generator().manual_seed(1)


class Torch(Close):
    def same(self, fn, reference, *inputs, module=None, theirs=None):
        """fn of our tensors, reference of theirs: results, gradients of the inputs, and of the parameters by the same names."""
        ours = [nn.tensor(x, requires_grad=True) for x in inputs]
        double = [x.double().requires_grad_() for x in inputs]
        expected = reference(*double)
        weights = random(*expected.shape) if expected.dim() else torch.ones(())
        (expected * weights.double()).sum().backward()
        with nn.grad():
            result = fn(*ours)
            self.assertEqual(result.shape, tuple(expected.shape))
            (result * nn.tensor(weights)).sum().backward()
        self.close(result, expected)
        for x, y in zip(ours, double):
            self.close(x.grad if x.grad is not None else [0.0] * y.numel(), y.grad if y.grad is not None else [0.0] * y.numel(),
                       GRADIENT)
        if module:
            grads = {name: p.grad for name, p in theirs.named_parameters()}
            for name, p in module.named_parameters():
                self.close(p.grad, grads[name], GRADIENT)

    def test_operations(self):
        cases = {
            "add": (lambda a, b: a + b, (2, 3, 4), (3, 1)), "subtract": (lambda a, b: a - b, (4,), (2, 3, 4)),
            "multiply": (lambda a, b: a * b, (2, 1, 4), (3, 1)), "numbers": (lambda a: 3 * a / 2 - 1 + (2 - a), (2, 3)),
            "mean": (lambda a: a.mean(), (2, 3)), "mean_axis": (lambda a: a.mean(1), (2, 3, 4)),
            "sum_axis": (lambda a: a.sum(-1, keepdim=True), (2, 3, 4)), "sum_dim": (lambda a: a.sum(dim=0), (3,)),
            "transpose": (lambda a: a.transpose(1, 3), (2, 3, 4, 5)), "permute": (lambda a: a.permute(2, 0, 1), (2, 3, 4)),
            "reshape": (lambda a: a.reshape(-1, 6), (2, 3, 4)), "slice": (lambda a: a[1:, :, 2], (3, 4, 5)),
            "negative": (lambda a: a[-1, 1:-1], (3, 4, 5)), "expand": (lambda a: a.expand(2, -1, 5), (3, 1)),
            "tanh": (lambda a: a.tanh(), (3, 70)), "exp": (lambda a: a.exp(), (3, 70)), "relu": (lambda a: a.relu(), (3, 70)),
            "log": (lambda a: (a * a + 0.1).log(), (3, 70)), "softmax": (lambda a: a.softmax(-1), (3, 70)),
            "softmax_axis": (lambda a: a.softmax(1), (3, 7, 5)), "softmax_vector": (lambda a: a.softmax(0), (7,)),
            "matmul": (lambda a, b: a @ b, (5, 6), (6, 7)), "batches": (lambda a, b: a @ b, (2, 3, 5, 6), (2, 3, 6, 7)),
            "one_matrix": (lambda a, b: a @ b, (2, 5, 6), (6, 7)), "left_matrix": (lambda a, b: a @ b, (5, 6), (3, 6, 7)),
            "broadcast": (lambda a, b: a @ b, (2, 1, 5, 6), (3, 6, 7)), "vectors": (lambda a, b: a @ b, (6,), (6,)),
            "row": (lambda a, b: a @ b, (6,), (2, 6, 3)), "column": (lambda a, b: a @ b, (2, 4, 6), (6,)),
            "unsqueeze": (lambda a: a.unsqueeze(1) * a.unsqueeze(-1).squeeze(-1), (3, 4)),
            "iteration": (lambda a: sum(row * (i + 1) for i, row in enumerate(a)), (3, 4)),
        }
        for name, (fn, *shapes) in cases.items():
            self.context = f"{name}: "
            self.same(fn, fn, *(random(*shape) for shape in shapes))
        self.same(lambda a, b: nn.concat([a, b, a], 1), lambda a, b: torch.cat([a, b, a], 1), random(2, 3, 4), random(2, 1, 4))
        self.same(lambda a: a.gelu(), torch.nn.functional.gelu, random(3, 70))

    def test_names_of_both(self):
        mask = [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1]]
        cases = {
            "view": (lambda a, m: a.view(4, 3) * a.size(0) * a.dim() / a.numel(), (3, 4)),
            "max": (lambda a, m: a.max() - a.min(), (3, 4)),
            "repeat": (lambda a, m: a.repeat(2, 1, 3), (3, 4)), "stack": (lambda a, m: m.stack([a, a * 2], 1), (3, 4)),
            "triu": (lambda a, m: m.triu(a, 1) - m.tril(a, -2), (2, 3, 4)),
            "bmm": (lambda a, b, m: m.bmm(a, b), (2, 3, 4), (2, 4, 5)),
            "matmul": (lambda a, b, m: m.matmul(a, b), (2, 3, 4), (4, 5)), "cat": (lambda a, m: m.cat((a, a), axis=1), (3, 4)),
            "repeat_interleave": (lambda a, m: m.repeat_interleave(a, repeats=2, dim=1), (2, 3, 4)),
            "softmax": (lambda a, m: m.softmax(a, dim=1), (2, 3, 4)),
            "masked_fill": (lambda a, m: a.masked_fill(mask if m is nn else m.tensor(mask).bool(), -math.inf).softmax(-1),
                            (2, 3, 4)),
            "constants": (lambda a, m: a + m.sin(m.arange(4)) - m.cos(m.arange(1, 9, 2)) * m.sqrt(m.full((3, 1), 7.0)), (3, 4)),
            "division": (lambda a, m: a / m.sqrt(m.tensor(7.0)), (3, 4)),
        }
        for name, (fn, *shapes) in cases.items():
            self.context = f"{name}: "
            self.same(lambda *x: fn(*x, nn), lambda *x: fn(*x, torch), *(random(*shape) for shape in shapes))

    def copy(self, module, theirs):
        module.load_state_dict(theirs.state_dict())
        return theirs.double()

    def test_layers(self):
        m = nn.Linear(6, 5)
        theirs = self.copy(m, torch.nn.Linear(6, 5))
        self.same(m, theirs, random(2, 3, 6), module=m, theirs=theirs)
        m = nn.LayerNorm((3, 6))
        theirs = self.copy(m, torch.nn.LayerNorm((3, 6)))
        self.same(m, theirs, random(2, 3, 6), module=m, theirs=theirs)
        m = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Dropout(0.5).eval(), nn.Linear(9, 2))
        theirs = self.copy(m, torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.ReLU(), torch.nn.Dropout(0.0),
                                                  torch.nn.Linear(9, 2)))
        self.same(m, theirs, random(4, 6), module=m, theirs=theirs)
        m, ids = nn.Embedding(9, 4, padding_idx=2), torch.tensor([[1, 2, 8], [1, 1, 0]])
        theirs = self.copy(m, torch.nn.Embedding(9, 4, padding_idx=2))
        self.same(lambda: m(ids), lambda: theirs(ids), module=m, theirs=theirs)

    def test_attention(self):
        lens = torch.tensor([2, 5])
        q, k, v = random(2, 3, 4), random(2, 6, 4), random(2, 6, 7)
        m = nn.DotProductAttention(0.0)

        def weights(scores):
            hidden = torch.arange(6)[None, None, :] >= lens[:, None, None]
            return torch.softmax(scores.masked_fill(hidden, -math.inf), -1)
        self.same(lambda q, k, v: m(q, k, v, lens), lambda q, k, v: weights(q @ k.transpose(1, 2) / 2) @ v, q, k, v)
        m = nn.AdditiveAttention(8, 0.0)
        m(q, k, v)
        theirs = torch.nn.ModuleDict({"W_k": torch.nn.Linear(4, 8, bias=False), "W_q": torch.nn.Linear(4, 8, bias=False),
                                      "w_v": torch.nn.Linear(8, 1, bias=False)})
        self.copy(m, theirs)

        def additive(q, k, v):
            features = torch.tanh(theirs["W_q"](q).unsqueeze(2) + theirs["W_k"](k).unsqueeze(1))
            return weights(theirs["w_v"](features).squeeze(-1)) @ v
        self.same(lambda q, k, v: m(q, k, v, lens), additive, q, k, v, module=m, theirs=theirs)
        m = nn.MultiHeadAttention(12, 3)
        q, k, v = random(2, 4, 12), random(2, 6, 12), random(2, 6, 12)
        m(q, k, v)
        theirs = torch.nn.MultiheadAttention(12, 3, bias=False, batch_first=True).double()
        state = {name: torch.from_dlpack(p) for name, p in m.state_dict().items()}
        theirs.load_state_dict({"in_proj_weight": torch.cat([state[f"W_{x}.weight"] for x in "qkv"]),
                                "out_proj.weight": state["W_o.weight"]})
        hidden = torch.arange(6)[None, :] >= lens[:, None]
        self.same(lambda q, k, v: m(q, k, v, lens), lambda q, k, v: theirs(q, k, v, key_padding_mask=hidden)[0], q, k, v)

    def test_cross_entropy(self):
        labels, logits = torch.randint(0, 7, (3, 5), generator=random.generator), random(3, 5, 7)
        for smoothing in (0.0, 0.1):
            self.same(lambda x: nn.cross_entropy(x, labels, label_smoothing=smoothing),
                      lambda x: torch.nn.functional.cross_entropy(x.reshape(-1, 7), labels.reshape(-1),
                                                                  label_smoothing=smoothing),
                      logits)
        self.same(lambda x: nn.cross_entropy(x, labels[0]), lambda x: torch.nn.functional.cross_entropy(x, labels[0]), logits[0])

    def test_optimizers(self):
        makers = (
            (lambda p: optim.SGD(p, 0.1), lambda p: torch.optim.SGD(p, 0.1)),
            (lambda p: optim.SGD(p, 0.1, 0.9, 0.01), lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01)),
            (lambda p: optim.SGD(p, 0.1, 0.8, nesterov=True), lambda p: torch.optim.SGD(p, 0.1, momentum=0.8, nesterov=True)),
            (lambda p: optim.Adam(p, 0.01), lambda p: torch.optim.Adam(p, 0.01)),
            (lambda p: optim.AdamW(p, 0.01, (0.8, 0.99), 1e-6, 0.1),
             lambda p: torch.optim.AdamW(p, 0.01, (0.8, 0.99), 1e-6, 0.1)))
        X = random(8, 6)
        for i, (ours, theirs) in enumerate(makers):
            self.context = f"optimizer {i}: "
            m = nn.Linear(6, 5, bias=False)  # torch decays biases, too
            reference = torch.nn.Linear(6, 5, bias=False)
            reference.load_state_dict({name: torch.from_dlpack(p) for name, p in m.state_dict().items()})
            reference.double()
            trainer, other = ours(m.parameters()), theirs(reference.parameters())
            for _ in range(10):
                with nn.grad():
                    y = m(X)
                    (y * y).mean().backward()
                norm = trainer.clip(0.05)
                trainer.step()
                trainer.zero_grad()
                other.zero_grad()
                (reference(X.double()) ** 2).mean().backward()
                self.close(norm, torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.05), 1e-5)
                other.step()
            self.close(m.weight, reference.weight.detach(), 1e-5)

    def test_without_a_copy(self):
        p = nn.Parameter(torch.ones(2, 3, requires_grad=True))
        shared = torch.from_dlpack(p)
        self.assertEqual(shared.data_ptr(), p.address)
        shared[0, 0] = 5
        self.assertEqual(p[0, 0].item(), 5)
        y = p * 2
        try:
            self.assertEqual(torch.from_dlpack(y).data_ptr(), y.address)
        except BufferError as error:  # of a PyTorch that asks for a DLPack before 1.0
            self.assertIn("read-only", str(error))


del Close  # or else its module's tests run here, too


if __name__ == "__main__":
    unittest.main()
