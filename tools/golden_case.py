"""One case of a golden file: its random numbers, its named tensors, its gradients. For tools/make_golden.py."""
import math
import zlib

import numpy as np
import torch

ZERO = 1e-12        # of the largest gradient of a case: smaller ones are rounding errors of float64


class Case:
    """One case of a file: names and tensors, in and out."""

    def __init__(self, file, name):
        self.name = name
        self.rng = np.random.default_rng(zlib.crc32(f"{file}/{name}".encode()))
        self.tensors = {}
        self.inputs = {}

    def keep(self, kind, name, value, dtype=torch.float32):
        self.tensors[f"{self.name}/{kind}/{name}"] = torch.as_tensor(value).detach().clone().to(dtype).contiguous()

    def config(self, **numbers):
        for name, value in numbers.items():
            self.keep("config", name, float(value), torch.float64)

    def normal(self, *shape, scale=1.0, mean=0.0):
        """Random numbers that float32 holds exactly."""
        return torch.tensor((self.rng.standard_normal(shape) * scale + mean).astype(np.float32)).double()

    def input(self, name, *shape, **how):
        x = self.normal(*shape, **how).requires_grad_()
        self.inputs[name] = x
        self.keep("in", name, x)
        return x

    def integers(self, name, values):
        values = torch.as_tensor(values)
        self.keep("in", name, values, torch.int32)
        return values.long()

    def tokens(self, name, vocab, *shape):
        return self.integers(name, self.rng.integers(0, vocab, shape))

    def fill(self, module):
        """New parameters of the sizes that training leaves them in."""
        for name, p in module.named_parameters():
            spread = 0.3 if p.ndim == 1 or "norm" in name else 1 / math.sqrt(p.shape[-1])
            mean = 1.0 if name.endswith("weight") and ("norm" in name or p.ndim == 1) else 0.0
            p.data = self.normal(*p.shape, scale=spread, mean=mean)
            self.keep("param", name, p)
        return module

    def weigh(self, out):
        """sum(out * weights): a loss that gives every output a gradient of its own."""
        self.keep("out", "out", out)
        weights = self.normal(*out.shape)
        self.keep("weights", "out", weights)
        return (out * weights).sum()

    def gradients(self, loss, module=None):
        loss.backward()
        found = {("din", name): x.grad for name, x in self.inputs.items()}
        for name, p in module.named_parameters() if module else ():
            if p.requires_grad:
                found["dparam", name] = p.grad.to_dense() if p.grad.is_sparse else p.grad
        largest = max(float(g.abs().max()) for g in found.values())
        for (kind, name), g in found.items():
            self.keep(kind, name, g if float(g.abs().max()) > ZERO * largest else torch.zeros_like(g))

    def finish(self, out, module=None):
        self.gradients(self.weigh(out), module)
        return self
