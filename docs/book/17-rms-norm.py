"""The Python cells of docs/book/17-rms-norm.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% rms-norm
from rapt import nn


def rms_norm(X, eps=1e-9):
    mean_square = (X * X).mean(-1, keepdim=True)
    return X * nn.exp(nn.log(mean_square + eps) * -0.5)  # divided by its root


x = nn.tensor([[1, 7], [101, 107], [10, 70]])
layer_norm = nn.LayerNorm(2, eps=1e-9)
for (a, b), (c, d), (e, f) in zip(x.tolist(), layer_norm(x).tolist(), rms_norm(x).tolist()):
    print(f"{a:.0f} {b:.0f} {c:.1f} {d:.1f} {e:.5f} {f:.6f}")
