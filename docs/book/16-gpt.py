"""The Python cells of docs/book/16-gpt.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% count
d, vocabulary, context = 768, 50257, 1024
attention = 4 * d * d + 4 * d
ffn = 8 * d * d + 5 * d
norm = 2 * d
blocks = 12 * (attention + ffn + 2 * norm)
print("12 blocks of these three", blocks)
print("all", vocabulary * d + context * d + blocks + norm)

# %% gelu
import math

from rapt import nn, optim


def gelu(x):
    """GPT-2's formula."""
    return x * (1 + nn.tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi))) * 0.5


values, slopes = [], []
for name, curve in (("ReLU", nn.relu), ("GELU", nn.Tensor.gelu), ("GELU, tanh", gelu)):
    x = nn.tensor([-3, -2, -1, 0, 1, 2, 3], requires_grad=True)
    with nn.grad():
        y = curve(x)
        y.sum().backward()
    values.append(f"{name} " + " ".join(f"{value:f}" for value in y.tolist()[:3]))
    slopes.append(f"{name} " + " ".join(f"{slope:f}" for slope in x.grad.tolist()[:3]))
print(*values, "slopes:", *slopes, sep="\n")

# %% model
class FFN(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)

    def forward(self, X):
        return self.dense2(gelu(self.dense1(X)))


class Block(nn.Module):
    def __init__(self, features, heads, pre_norm):
        super().__init__()
        self.attention, self.ffn = nn.MultiHeadAttention(features, heads, bias=True), FFN(features)
        self.norm1, self.norm2 = nn.LayerNorm(features), nn.LayerNorm(features)
        self.pre_norm = pre_norm

    def forward(self, X):
        if self.pre_norm:
            Y = self.norm1(X)
            X = X + self.attention(Y, Y, Y, causal=True)
            return X + self.ffn(self.norm2(X))
        X = self.norm1(X + self.attention(X, X, X, causal=True))
        return self.norm2(X + self.ffn(X))


class GPT(nn.Module):
    def __init__(self, blocks, pre_norm=True, tied=True, vocabulary=53, features=64, heads=4, context=16):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocabulary, features), nn.Embedding(context, features)
        self.blocks = nn.Sequential(*(Block(features, heads, pre_norm) for _ in range(blocks)))
        self.norm = nn.LayerNorm(features) if pre_norm else None
        self.output = None if tied else nn.Linear(features, vocabulary, bias=False)

    def embed(self, ids):
        return self.embedding(ids) + self.positions([list(range(len(ids[0])))])

    def forward(self, ids):
        X = self.blocks(self.embed(ids))
        X = self.norm(X) if self.norm else X
        return self.output(X) if self.output else X @ self.embedding.weight.transpose(0, 1)


for blocks in (1, 2, 12):
    gpt = GPT(blocks)
    gpt([[0] * 16])  # the first input gives the layers their sizes
    print(blocks, sum(p.numel() for p in gpt.parameters()))

# %% first-loss
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436, 15082],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718, 369],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323, 32097],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430, 499]]
numbers = {}
ids = [[numbers.setdefault(token, len(numbers)) for token in window] for window in windows]  # 0, 1, ...
inputs, labels = [window[:-1] for window in ids], [window[1:] for window in ids]


def draw(gpt, init, embedding_std, positions_std, std=0.02, output_std=0.02):
    """Draws the parameters as the program does: the last matrix of each sublayer with output_std."""
    gpt(inputs)
    gpt.reset_parameters(init=init, std=std)
    for table, spread in ((gpt.embedding.weight, embedding_std), (gpt.positions.weight, positions_std)):
        table.assign(nn.draw(table.name, table.shape, scale=spread))
    for block in gpt.blocks if init == "gpt2" else ():
        for linear in (block.attention.W_o, block.ffn.dense2):
            linear.weight.assign(nn.draw(linear.weight.name, linear.weight.shape, scale=output_std))
    return gpt


def loss_of(gpt):
    """The loss of the windows; its gradients are in the parameters afterwards."""
    with nn.grad():
        loss = nn.cross_entropy(gpt(inputs), labels)
        loss.backward()
    return loss.item()


def length(x):
    return math.sqrt((x * x).sum().item())


nn.seed(1)
for name, tied, std in (("two matrices, embedding N(0, 1)", False, 1), ("one matrix, N(0, 1)", True, 1),
                        ("one matrix, N(0, 0.02^2)", True, 0.02)):
    gpt = draw(GPT(1, tied=tied), "gpt2", std, 0.02, output_std=0.02 / math.sqrt(2))
    loss, word = loss_of(gpt), gpt.embedding.weight.grad[52]
    print(f"{name} {loss:.4f}, gradient of a word that is a label only: {length(word):.4f}")

# %% norm-places
losses = []
for name in ("post", "pre"):
    gpt = draw(GPT(12, pre_norm=name == "pre", tied=False), "xavier", 1, 1)
    trainer = optim.Adam(gpt.parameters(), lr=0.003)  # without warmup
    for step in range(40):
        loss = loss_of(gpt)
        if step == 0:
            first = loss
            print(f"{name}-norm", *(f"{length(block.ffn.dense2.weight.grad):.3f}" for block in gpt.blocks))
        trainer.clip(1)
        trainer.step()
        trainer.zero_grad()
    losses.append(f"{first:.4f} to {loss:.4f} ({name})")
print("loss", ", ".join(losses))

# %% residual
for name, output_std in (("std", 0.125), ("std / sqrt(24)", 0.125 / math.sqrt(24))):
    gpt = draw(GPT(12), "gpt2", 0.7, 0.125, std=0.125, output_std=output_std)
    stages = [gpt.embed(inputs)]
    for block in gpt.blocks:
        stages.append(block(stages[-1]))
    print(name, *(f"{math.sqrt((x * x).mean().item()):.2f}" for x in stages))
