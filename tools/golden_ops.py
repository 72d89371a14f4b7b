"""Golden cases of single operations that decoder-only language models are made of. For tools/make_golden.py.

Every definition is written out as its paper has it and compared with torch's where torch has one.
"""
import math

import torch
import torch.nn.functional as F
from golden_modules import Named, same
from torch import nn

# ---------------------------------------------------------------- activations

def gelu(x):
    return x * 0.5 * torch.special.erfc(-x / math.sqrt(2))


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def silu(x):
    return x / (1 + torch.exp(-x))


# name: rapt_activation, ours, torch's
ACTIVATIONS = {"relu": (1, torch.relu, F.relu), "gelu": (2, gelu, F.gelu),
               "gelu_tanh": (3, gelu_tanh, lambda x: F.gelu(x, approximate="tanh")), "silu": (4, silu, F.silu)}


def activation(new):
    """By themselves, over all that a network meets, and behind a matrix product."""
    for name, (number, ours, torchs) in ACTIVATIONS.items():
        c = new(name)
        c.config(activation=number)
        x = c.input("x", 3, 7, 5, scale=3.0)
        out = ours(x)
        same(out, torchs(x))
        yield c.finish(out)
        c = new(f"linear_{name}")
        c.config(activation=number)
        m = c.fill(nn.Linear(7, 19, name != "silu"))
        yield c.finish(ours(m(c.input("x", 2, 5, 7))), m)


def swiglu(new):
    c = new("swiglu")
    gate, up = c.input("gate", 2, 5, 9, scale=3.0), c.input("up", 2, 5, 9)
    yield c.finish(silu(gate) * up)


# ---------------------------------------------------------------- norms

class RMSNorm(nn.Module):
    def __init__(self, d, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x):
        out = x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.weight
        same(out, F.rms_norm(x, x.shape[-1:], self.weight, self.eps))
        return out


def rms_norm(new):
    for name, shape, scale, eps in (("usual", (2, 3, 16), 2.0, 1e-5), ("wide", (2, 1, 67), 2.0, 1e-6),
                                    ("many_rows", (3, 40, 5), 2.0, 1e-5), ("eps_counts", (2, 3, 8), 0.003, 1e-5)):
        c = new(name)
        c.config(eps=eps)
        m = c.fill(Named("norm", RMSNorm(shape[-1], eps)))
        yield c.finish(m.norm(c.input("x", *shape, scale=scale, mean=0.5 * scale)), m)
    c = new("plain")
    c.config(eps=1e-5)
    yield c.finish(F.rms_norm(c.input("x", 2, 3, 10), (10,), eps=1e-5))


def layer_norm_no_bias(new):
    for name, dims, shape in (("one_dimension", 1, (2, 3, 16)), ("two_dimensions", 2, (3, 4, 5))):
        c = new(name)
        m = c.fill(Named("norm", nn.LayerNorm(shape[-dims:], bias=False)))
        yield c.finish(m.norm(c.input("x", *shape, scale=2.0, mean=0.5)), m)


# ---------------------------------------------------------------- rotary positions

def rotary_table(rows, d, base):
    """[rows, d]: cosines of the angles, then their sines, as float32 holds them."""
    angle = torch.arange(rows)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    return torch.cat([angle.cos(), angle.sin()], -1).float().double()


def rotate(x, table, heads):
    """As Hugging Face's Llama: the halves of a head are turned against each other."""
    x = x.unflatten(-1, (heads, -1))
    cos, sin = (part.repeat(1, 2)[:, None] for part in table.chunk(2, -1))
    first, second = x.chunk(2, -1)
    out = x * cos + torch.cat([-second, first], -1) * sin
    turned = torch.complex(first, second) * torch.complex(*(part[:, None] for part in table.chunk(2, -1)))
    same(out, torch.cat([turned.real, turned.imag], -1))
    return out.flatten(-2)


def rotary(new):
    for name, heads, d, time, first in (("one_head", 1, 6, 5, 0), ("heads", 3, 8, 4, 0), ("later", 2, 34, 3, 17),
                                        ("one_pair", 2, 2, 4, 1)):
        c = new(name)
        c.config(first=first)
        table = rotary_table(20, d, 10000.0)
        c.keep("in", "table", table)
        yield c.finish(rotate(c.input("x", 2, time, heads * d), table[first:first + time], heads))


# ---------------------------------------------------------------- low-rank adapters

class Adapted(nn.Module):
    """Hu et al. 2021, section 4.1: W x + b + alpha / rank B A x."""

    def __init__(self, features, out, rank, alpha, bias):
        super().__init__()
        self.linear = nn.Linear(features, out, bias)
        self.lora_A, self.lora_B = nn.Linear(features, rank, False), nn.Linear(rank, out, False)
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * self.lora_B(self.lora_A(x))


def lora(new):
    for name, shape, out, rank, alpha, bias in (("usual", (2, 5, 7), 11, 2, 4, True), ("rank_1", (1, 3, 6), 5, 1, 0.5, False),
                                                ("wide", (3, 4, 67), 33, 8, 16, False)):
        c = new(name)
        c.config(scale=alpha / rank)
        m = c.fill(Adapted(shape[-1], out, rank, alpha, bias))
        yield c.finish(m(c.input("x", *shape)), m)


FILES = {"activation": activation, "swiglu": swiglu, "rms_norm": rms_norm, "layer_norm_no_bias": layer_norm_no_bias,
         "rotary": rotary, "lora": lora}
