"""The Python cells of docs/book/17-swiglu.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% swiglu
from rapt import nn


def silu(g):
    return g * (1 + nn.tanh(g * 0.5)) * 0.5  # 1 / (1 + exp(-g)) is (1 + tanh(g / 2)) / 2


gate, up = nn.tensor([1, -1, 0, 10]), nn.tensor([2, 3, 3, 3])
for g, u, s, y in zip(*(x.tolist() for x in (gate, up, silu(gate), silu(gate) * up))):
    print(f"gate {g:2.0f}, up {u:.0f}: silu {s:.4f}, result {y:.4f}")
