"""The Python cells of docs/book/14-training.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% loss
import math

from rapt import nn, optim

logits = nn.tensor([[[0, math.log(2), math.log(5)]] * 2], requires_grad=True)
with nn.grad():
    loss = nn.cross_entropy(logits, [[2, 0]])
    loss.backward()
print(logits.softmax()[0])
print(f"loss: {loss.item():.4f}, perplexity: {math.exp(loss.item()):.4f}")
print(f"in bits: {loss.item() / math.log(2):.4f}")
for i, row in enumerate(logits.grad[0].tolist()):
    print(i, *(f"{number:g}" for number in row))

# %% smoothing
logits = nn.tensor([[[0, math.log(2), math.log(5)]]], requires_grad=True)
with nn.grad():
    loss = nn.cross_entropy(logits, [[2]], label_smoothing=0.1)
    loss.backward()
print(f"loss: {loss.item():.4f}")
print(0, *(f"{number:f}" for number in logits.grad[0, 0].tolist()))
target = [0.1 / 3, 0.1 / 3, 0.9 + 0.1 / 3]
print(f"the least loss that is possible: {-sum(q * math.log(q) for q in target):.4f}")

# %% backward
layer = nn.Linear(2, 3, bias=False).reset_parameters(init="zeros")
with nn.grad():
    loss = nn.cross_entropy(layer([[[1, 2]]]), [[2]])
    loss.backward()
print(f"loss: {loss.item():.4f}")
for i, row in enumerate(layer.weight.grad.tolist()):
    print(i, *(f"{number:f}" for number in row))

# %% embedding
def gradients(words, output):
    """Of the loss of two positions: word 1 goes in, and word 2 is the label."""
    with nn.grad():
        logits = words([[1, 1]]) @ output.transpose(0, 1)
        nn.cross_entropy(logits, [[2, 2]]).backward()


def show(name, gradient):
    print(f"gradient of the {name}:")
    for word, row in enumerate(gradient.tolist()):
        print("word", word, *(f"{number:7.4f}" for number in row))


rows = [[1, 1], [1, 0], [1, -1]]
words, output = nn.Embedding(3, 2), nn.Parameter(rows)
words.weight.assign(rows)
gradients(words, output)
show("embedding", words.weight.grad)
show("output", output.grad)
words.zero_grad()
gradients(words, words.weight)
show("tied matrix", words.weight.grad)

# %% adam (own)
w = nn.Parameter([1, 1])
trainer = optim.Adam([w], lr=0.1)
m, v, by_hand = [0, 0], [0, 0], [1, 1]
for t, g in enumerate(([0.5, -0.002], [0.5, 0.002], [-1, 0.002]), 1):
    g = nn.tensor(g)
    with nn.grad():
        (w * g).sum().backward()  # the gradient of the sum of w * g is g
    trainer.step()
    trainer.zero_grad()
    for i, gradient in enumerate(g.tolist()):
        m[i] = 0.9 * m[i] + 0.1 * gradient
        v[i] = 0.999 * v[i] + 0.001 * gradient**2
        by_hand[i] -= 0.1 * m[i] / (1 - 0.9**t) / (math.sqrt(v[i] / (1 - 0.999**t)) + 1e-8)
        assert abs(w[i].item() - by_hand[i]) < 1e-5
    print(f"step {t}: w = {w[0].item():.5f} and {w[1].item():.5f}")

# %% clipping (own)
p = nn.Parameter([1, 1])
trainer = optim.SGD([p], lr=1)
for gradient in ([3, 4], [0.3, 0.4]):
    p.assign([1, 1])  # other values in the same place: the optimizer still knows p
    with nn.grad():
        (p * nn.tensor(gradient)).sum().backward()
    norm = trainer.clip(1)
    trainer.step()
    x, y = p.tolist()
    print(f"gradient {gradient[0]} {gradient[1]}, norm {norm:.4f}: the step is {1 - x:.4f} {1 - y:.4f}")
    trainer.zero_grad()
    assert abs((1 - x) * 4 - (1 - y) * 3) < 1e-6, "the direction stays"

# %% dropout
nn.seed(0)
eight, half = nn.ones(1, 1, 8), nn.Dropout(0.5)
for name, training, step in (("training, step 1", True, 1), ("training, step 2", True, 2),
                             ("step 1 once more", True, 1), ("evaluation", False, 1)):
    with nn.grad(training=training, step=step):
        print(name, *half(eight).reshape(8).tolist())

# %% weights (own)
nn.seed(1)
x = nn.draw("five", (2, 5, 16))
attention = nn.MultiHeadAttention(16, 4, dropout=0.1, bias=True).reset_parameters("five.attention.", init="pytorch")
with nn.grad(step=1):
    attention(x, x, x)
    behind = nn.Dropout(0.1)(attention.attention_weights)
for name, weights in (("before", attention.attention_weights), ("behind", behind)):
    print(f"training, {name} dropout:", *(f"{total:.4f}" for total in weights[0, 0].sum(1).tolist()))

# %% model
class Block(nn.Module):
    def __init__(self, features, heads, hidden):
        super().__init__()
        self.attention = nn.MultiHeadAttention(features, heads, bias=True)
        self.ffn = nn.PositionWiseFFN(hidden, features)
        self.norm = nn.AddNorm(features, dropout=0)  # one in both places

    def forward(self, X):
        X = self.norm(X, self.attention(X, X, X, causal=True))
        return self.norm(X, self.ffn(X))


class LanguageModel(nn.Module):
    def __init__(self, vocabulary, features, heads, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features)
        self.positions = nn.PositionalEncoding(features, dropout=0)
        self.blocks = nn.Sequential(Block(features, heads, hidden))
        self.output = nn.Linear(features, vocabulary)

    def forward(self, ids):
        return self.output(self.blocks(self.positions(self.embedding(ids))))


windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436, 15082],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718, 369],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323, 32097],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430, 499]]
numbers = {}
ids = [[numbers.setdefault(token, len(numbers)) for token in window] for window in windows]  # 0, 1, ...
inputs, labels = [window[:-1] for window in ids], [window[1:] for window in ids]
nn.seed(1)
net = LanguageModel(len(numbers), 64, 4, 256).reset_parameters(init="pytorch")
_ = net(inputs)  # the first input gives the layers their sizes

# %% loop
def right():
    """How many labels are the most probable token."""
    best = net(inputs).argmax().tolist()
    return sum(token == label for row, wanted in zip(best, labels) for token, label in zip(row, wanted))


before = right()
trainer = optim.Adam(net.parameters())
for step in range(1, 61):
    with nn.grad():
        loss = nn.cross_entropy(net(inputs), labels)
        loss.backward()
    norm = trainer.clip(1)
    trainer.lr = 0.003 * min(1, step / 10)  # ten steps of warmup
    trainer.step()
    trainer.zero_grad()
    if step == 1 or step % 10 == 0:
        print(f"step {step:2}: loss {loss.item():.4f}, gradient norm {norm:.4f}")

# %% right
print(f"most probable token right: {before} of 64 before, {right()} after")
