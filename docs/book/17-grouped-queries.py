"""The Python cells of docs/book/17-grouped-queries.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% cache
for kv_heads in (12, 4, 2, 1):
    numbers = 2 * 12 * kv_heads * 64  # keys and values of 12 blocks
    print(f"{kv_heads} key-value heads: {numbers} numbers, {numbers * 4 * 1024 / 1e6:.1f} MB")

# %% attention
import math

from rapt import nn

batch, time, features, heads, kv_heads = 4, 16, 64, 4, 2
size = features // heads
x = nn.draw("x", (batch, time, features))
W_q, W_o = (nn.Linear(features, features, bias=False) for _ in "qo")
W_k, W_v = (nn.Linear(features, kv_heads * size, bias=False) for _ in "kv")


def by_heads(linear):
    return linear(x).reshape(batch, time, -1, size).transpose(1, 2)


q = by_heads(W_q)
k, v = (nn.repeat_interleave(by_heads(linear), heads // kv_heads, 1) for linear in (W_k, W_v))
weights = nn.masked_softmax(q @ k.transpose(2, 3) / math.sqrt(size), [list(range(1, time + 1))] * batch)
output = W_o((weights @ v).transpose(1, 2).reshape(batch, time, features))
for name, linear in (("W_q", W_q), ("W_k", W_k), ("W_v", W_v)):
    print(f"{name}:", list(linear.weight.shape))
print("output:", list(output.shape))
assert k[:, 0].tolist() == k[:, 1].tolist() and k[:, 2].tolist() == k[:, 3].tolist()  # one key for two heads
