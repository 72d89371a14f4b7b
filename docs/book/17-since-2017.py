"""The Python cells of docs/book/17-since-2017.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% parts
import math

from rapt import nn, optim


def turn(X, base=10000):
    """X [..., place, d] with its pairs j and j + d/2 turned by place / base^(2j/d)."""
    places, d = X.shape[-2:]
    angles = nn.tensor([[place / base ** (2 * j / d) for j in range(d // 2)] for place in range(places)])
    a, b = X[..., :d // 2], X[..., d // 2:]
    return nn.concat([a * nn.cos(angles) - b * nn.sin(angles), a * nn.sin(angles) + b * nn.cos(angles)], -1)


def rms_norm(X, eps=1e-9):
    mean_square = (X * X).mean(-1, keepdim=True)
    return X * nn.exp(nn.log(mean_square + eps) * -0.5)  # divided by its root


def silu(g):
    return g * (1 + nn.tanh(g * 0.5)) * 0.5  # 1 / (1 + exp(-g)) is (1 + tanh(g / 2)) / 2


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
            return x.reshape(batch, time, -1, self.size).transpose(1, 2)

        def shared(x):
            return nn.repeat_interleave(by_heads(x), self.heads // self.kv_heads, 1)

        q, k, v = turn(by_heads(self.q(X))), turn(shared(self.k(X))), shared(self.v(X))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.size)
        weights = nn.masked_softmax(scores, [list(range(1, time + 1))] * batch)
        return self.o((weights @ v).transpose(1, 2).reshape(batch, time, features))

# %% model
class RMSNorm(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter([1] * features)

    def forward(self, X):
        return rms_norm(X, 1e-5) * self.weight


class SwiGLU(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.gate, self.up = (nn.Linear(features, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, features, bias=False)

    def forward(self, X):
        return self.down(silu(self.gate(X)) * self.up(X))


class Block(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(features), RMSNorm(features)
        self.attention, self.ffn = RotaryAttention(features, 4, 2), SwiGLU(features, 168)

    def forward(self, X):
        X = X + self.attention(self.norm1(X))
        return X + self.ffn(self.norm2(X))


class LanguageModel(nn.Module):
    def __init__(self, vocabulary, features, blocks):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features)
        self.blocks = nn.Sequential(*(Block(features) for _ in range(blocks)))
        self.norm = RMSNorm(features)

    def forward(self, ids):
        return self.norm(self.blocks(self.embedding(ids))) @ self.embedding.weight.transpose(0, 1)


nn.seed(1)
net = LanguageModel(53, 64, 4).reset_parameters(init="gpt2", std=0.125)
for block in net.blocks:  # the last matrix of each sublayer begins smaller
    for linear in (block.attention.o, block.ffn.down):
        linear.weight.assign(nn.draw(linear.weight.name, linear.weight.shape, scale=0.125 / math.sqrt(8)))


def count(module):
    return sum(p.numel() for p in module.parameters())


print(f"a block: {count(net.blocks[0])} parameters")

# %% training
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436, 15082],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718, 369],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323, 32097],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430, 499]]
numbers = {}
ids = [[numbers.setdefault(token, len(numbers)) for token in window] for window in windows]  # 0, 1, ...
inputs, labels = [window[:-1] for window in ids], [window[1:] for window in ids]
trainer = optim.Adam(net.parameters(), lr=0.003)
for step in range(40):
    with nn.grad():
        loss = nn.cross_entropy(net(inputs), labels)
        loss.backward()
    trainer.clip(1)
    trainer.step()
    trainer.zero_grad()
print(f"all four {count(net)} parameters, loss {loss.item():.4f}")
