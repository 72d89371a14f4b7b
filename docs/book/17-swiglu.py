"""The Python cells of docs/book/17-swiglu.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% swiglu
from rapt import nn


def silu(g):
    return g * (1 + nn.tanh(g * 0.5)) * 0.5  # 1 / (1 + exp(-g)) is (1 + tanh(g / 2)) / 2


gate, up = nn.tensor([1, -1, 0, 10]), nn.tensor([2, 3, 3, 3])
for g, u, s, y in zip(*(x.tolist() for x in (gate, up, silu(gate), silu(gate) * up))):
    print(f"gate {g:2.0f}, up {u:.0f}: silu {s:.4f}, result {y:.4f}")

# %% answers (own)
print(f"{(silu(nn.tensor([2])) * 3).item():.4f} {(silu(nn.tensor([-2])) * 3).item():.4f}")
print(8 * 4096 ** 2, 3 * 4096 * 11008, f"{3 * 4096 * 11008 / (8 * 4096 ** 2):.4f}")
x = nn.tensor([-2, -1, 0, 1, 2])
print(*(f"{y:.4f}" for y in (silu(x * 50) / 50 * x).tolist()))
