"""Golden steps of SGD: ten clipped steps of the book's small model by torch.optim.SGD in float64. For tools/make_golden.py.

config/torch is how far torch.optim.SGD in float32 is from that: the largest difference of an element.
"""
import torch
from golden_modules import Transformer
from golden_muon import STEPS, distance, learn

CASES = {"plain": {}, "momentum": {"momentum": 0.9, "weight_decay": 0.01},
         "nesterov": {"momentum": 0.8, "weight_decay": 0.02, "nesterov": True}}


def optimizers(named, options, decay_vectors):
    """Only matrices decay, unless decay_vectors."""
    vectors = [p for p in named.values() if p.dim() < 2]
    decay = {} if decay_vectors else {"weight_decay": 0.0}
    return [torch.optim.SGD([{"params": [p for p in named.values() if p.dim() >= 2]}, {"params": vectors, **decay}], **options)]


def model(c, sizes, batches, forward):
    options = {"lr": 0.05, **CASES[c.name]}
    decay_vectors = c.name == "momentum"
    state = {name: x.clone() for name, x in c.fill(Transformer(20, 20, *sizes)).state_dict().items()}
    exact, single = (learn(dtype, state, sizes, batches, forward, lambda named: optimizers(named, options, decay_vectors))
                     for dtype in (torch.float64, torch.float32))
    found = distance(list(single.values()), list(exact.values()))
    c.config(**{name: float(x) for name, x in options.items()}, decay_vectors=float(decay_vectors), clip=1.0, steps=STEPS,
             torch=found)
    print(f"sgd, {c.name}: torch.optim.SGD in float32 is {found:.1e} from float64")
    for name, p in exact.items():
        c.keep("out", name, p, torch.float64)
    return c
