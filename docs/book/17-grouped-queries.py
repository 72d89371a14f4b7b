"""The Python cells of docs/book/17-grouped-queries.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% cache
for kv_heads in (12, 4, 2, 1):
    numbers = 2 * 12 * kv_heads * 64  # keys and values of 12 blocks
    print(f"{kv_heads} key-value heads: {numbers} numbers, {numbers * 4 * 1024 / 1e6:.1f} MB")

# %% attention
import math

from rapt import nn


def turn(X, base=10000):
    """X [..., place, d] with its pairs j and j + d/2 turned by place / base^(2j/d)."""
    places, d = X.shape[-2:]
    angles = nn.tensor([[place / base ** (2 * j / d) for j in range(d // 2)] for place in range(places)])
    a, b = X[..., :d // 2], X[..., d // 2:]
    return nn.concat([a * nn.cos(angles) - b * nn.sin(angles), a * nn.sin(angles) + b * nn.cos(angles)], -1)


class RotaryAttention(nn.Module):
    """Causal attention with rotary positions, whose heads share keys and values in groups."""

    def __init__(self, features, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, features // heads
        self.q, self.o = (nn.Linear(features, features, bias=False) for _ in "qo")
        self.k, self.v = (nn.Linear(features, kv_heads * self.size, bias=False) for _ in "kv")

    def forward(self, X):
        batch, time, features = X.shape

        def by_heads(x):
            return x.reshape(batch, time, self.heads, self.size).transpose(1, 2)

        def shared(x):
            x = x.reshape(batch * time, self.kv_heads, self.size)
            return by_heads(nn.repeat_interleave(x, self.heads // self.kv_heads, 1))

        q, k, v = turn(by_heads(self.q(X))), turn(shared(self.k(X))), shared(self.v(X))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.size)
        weights = nn.masked_softmax(scores, [list(range(1, time + 1))] * batch)
        return self.o((weights @ v).transpose(1, 2).reshape(batch, time, features))


attention = RotaryAttention(64, 4, kv_heads=2)
for name, linear in (("W_q", attention.q), ("W_k", attention.k), ("W_v", attention.v)):
    print(f"{name}:", list(linear.weight.shape))
print("output:", list(attention(nn.draw("x", (4, 16, 64))).shape))
