"""Golden steps of Muon, with Adam for the rest. For tools/make_golden.py; needs torch 2.9 or later for torch.optim.Muon.

torch.optim.Muon casts to bfloat16 for its Newton-Schulz iterations, so it isn't the definition here: `Exact` is the same
formula in float64. config/torch says how far torch.optim.Muon is from it after ten steps, config/single how far the same
formula in float32 is: the largest difference of an element of a matrix that Muon moves.
"""
import math

import torch
from golden_modules import Transformer

STEPS = 10
COEFFICIENTS = 3.4445, -4.7750, 2.0315


class Exact:
    """Muon in the numbers of its parameters."""

    def __init__(self, parameters, lr, weight_decay, momentum, nesterov, adjust_lr_fn, ns_steps):
        self.parameters = [(p, torch.zeros_like(p)) for p in parameters]
        self.lr, self.weight_decay, self.momentum, self.nesterov = lr, weight_decay, momentum, nesterov
        self.adjust, self.ns_steps = adjust_lr_fn, ns_steps

    def orthogonal(self, x):
        a, b, c = COEFFICIENTS
        x = x / max(float(x.norm()), 1e-7)
        for _ in range(self.ns_steps):
            gram = x @ x.T
            x = a * x + (b * gram + c * gram @ gram) @ x
        return x

    @torch.no_grad()
    def step(self):
        for p, m in self.parameters:
            m.copy_(self.momentum * m + (1 - self.momentum) * p.grad)
            u = self.momentum * m + (1 - self.momentum) * p.grad if self.nesterov else m
            rows, columns = p.shape
            x = self.orthogonal(u.T).T if rows > columns else self.orthogonal(u)
            ratio = 0.2 * math.sqrt(max(rows, columns)) if self.adjust == "match_rms_adamw" else math.sqrt(max(1, rows / columns))
            p.copy_(p * (1 - self.lr * self.weight_decay) - self.lr * ratio * x)


def optimizer(kind, parameters, options):
    return torch.optim.Muon(parameters, **options) if kind == "torch" else Exact(parameters, **options)


def distance(found, exact):
    return max(float((a.detach().double() - b.detach()).abs().max()) for a, b in zip(found, exact, strict=True))


def keep_options(c, options, **more):
    o = {**options, "adjust_lr_fn": float(options["adjust_lr_fn"] == "original")}
    c.config(**{("original" if name == "adjust_lr_fn" else name): float(value) for name, value in o.items()}, steps=STEPS, **more)


# ---------------------------------------------------------------- given gradients

SHAPES = {"wide": (9, 20), "tall": (23, 7), "square": (12, 12), "row": (1, 15)}
DEFAULTS = {"lr": 0.01, "weight_decay": 0.1, "momentum": 0.95, "nesterov": True, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 5}


def given_steps(kind, dtype, start, gradients, options):
    parameters = {name: p.to(dtype).clone() for name, p in start.items()}
    muon = optimizer(kind, [p.requires_grad_() for p in parameters.values()], options)
    for step in range(STEPS):
        for name, p in parameters.items():
            p.grad = gradients[name][step].to(dtype)
        muon.step()
    return list(parameters.values())


def given(new):
    """in/NAME [steps, rows, columns]: gradients, whose sizes rise and fall."""
    for name, o in (("plain", {}), ("original", {"adjust_lr_fn": "original", "weight_decay": 0.0, "lr": 0.02}),
                    ("no_nesterov", {"nesterov": False, "momentum": 0.8, "ns_steps": 3})):
        c, options = new(name), {**DEFAULTS, **o}
        start = {key: c.normal(*shape) for key, shape in SHAPES.items()}
        gradients = {key: torch.stack([c.normal(*shape, scale=2.0 ** (step % 4 - 2)) for step in range(STEPS)])
                     for key, shape in SHAPES.items()}
        for key, p in start.items():
            c.keep("param", key, p)
            c.keep("in", key, gradients[key])
        exact = given_steps("exact", torch.float64, start, gradients, options)
        report(c, options, {kind: distance(given_steps(kind, torch.float32, start, gradients, options), exact)
                            for kind in ("torch", "single")})
        for key, p in zip(SHAPES, exact, strict=True):
            c.keep("out", key, p, torch.float64)
        yield c


def report(c, options, found):
    keep_options(c, options, **found)
    print(f"muon, {c.name}: torch.optim.Muon is {found['torch']:.1e} from float64, the same formula in float32 {found['single']:.1e}")


# ---------------------------------------------------------------- a model

def hidden(name):
    return name.endswith("weight") and ("attention" in name or ".ffn." in name)


def mine(named):
    return [p for name, p in named.items() if hidden(name)]


def learn(dtype, state, sizes, batches, forward, optimizers):
    """Ten clipped steps of a model by optimizers(its named parameters); gives those."""
    torch.set_default_dtype(dtype)
    m = Transformer(20, 20, *sizes)
    m.load_state_dict(state)
    for part in m.modules():
        if hasattr(part, "table"):
            part.table = part.table.to(dtype)
    named = dict(m.to(dtype).named_parameters())
    steps = optimizers(named)
    for step in range(STEPS):
        m.zero_grad()
        forward(m, batches, step).backward()
        norm = math.sqrt(sum(float((p.grad ** 2).sum()) for p in named.values()))
        for p in named.values():
            p.grad *= min(1, 1 / norm)
        for optimizer in steps:
            optimizer.step()
    torch.set_default_dtype(torch.float64)
    return named


def model(c, sizes, batches, forward):
    """The book's small model; c has its sizes."""
    options = {**DEFAULTS, "lr": 0.005}
    state = {name: x.clone() for name, x in c.fill(Transformer(20, 20, *sizes)).state_dict().items()}

    def run(kind, dtype):
        return learn(dtype, state, sizes, batches, forward, lambda named: (
            optimizer(kind, mine(named), options),
            torch.optim.Adam([p for name, p in named.items() if not hidden(name)], lr=options["lr"])))

    named = run("exact", torch.float64)
    report(c, options, {kind: distance(mine(run(kind, torch.float32)), mine(named)) for kind in ("torch", "single")})
    c.config(clip=1.0)
    for name, p in named.items():
        c.keep("out", name, p, torch.float64)
    return c
