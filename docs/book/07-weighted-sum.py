"""The Python cells of docs/book/07-weighted-sum.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from rapt import nn

weights = nn.tensor([[1, 0], [0.25, 0.75]])
V = nn.tensor([[4, 0], [8, 2]], requires_grad=True)
with nn.grad():
    output = weights @ V
    output.sum().backward()
print(output)
for key, row in enumerate(V.grad.tolist()):
    print(key, *row)

# %% backward
from math import exp, log, sqrt

u = sqrt(2) * log(2)
Q = nn.tensor([[0, -u], [u, 0], [0, u]], requires_grad=True)
K = nn.tensor([[1, 0], [0, 1], [1, 1]], requires_grad=True)
V = nn.tensor([[2, 0], [4, -4], [0, 8]], requires_grad=True)
dO = nn.tensor([[1, 0], [0, 1], [1, -1]])
with nn.grad(keep_gradients=True):
    S = Q @ K.transpose(0, 1) / sqrt(2)
    W = nn.softmax(S)
    O = W @ V
    (O * dO).sum().backward()  # the gradient of this sum by O is dO
print(W)
print(O)
for x in V, W, S, Q, K:
    print(x.grad)

dV = W.transpose(0, 1) @ dO
dW = dO @ V.transpose(0, 1)
dS = W * (dW - (W * dW).sum(axis=1, keepdim=True))
dQ = dS @ K / sqrt(2)
dK = dS.transpose(0, 1) @ Q / sqrt(2)
for x, by_hand in ((V, dV), (W, dW), (S, dS), (Q, dQ), (K, dK)):
    assert ((x.grad - by_hand) * (x.grad - by_hand)).max().item() < 1e-10

# %% differences
def loss(q, k, v):
    """The sum of dO times the output of attention, in double precision."""
    total = 0
    for query, upstream in zip(q, dO.tolist()):
        e = [exp((query[0] * key[0] + query[1] * key[1]) / sqrt(2)) for key in k]
        total += sum(w / sum(e) * (upstream[0] * value[0] + upstream[1] * value[1]) for w, value in zip(e, v))
    return total


def slopes(which, h=1e-5):
    """The gradient of Q (which = 0), K (1) or V (2)."""
    def moved(i, f, by):
        numbers = [Q.tolist(), K.tolist(), V.tolist()]
        numbers[which][i][f] += by
        return loss(*numbers)

    return nn.tensor([[(moved(i, f, h) - moved(i, f, -h)) / (2 * h) for f in range(2)] for i in range(3)])


print(slopes(2))
print(slopes(0))
print(slopes(1))

# %% textbook
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430]]
words = ("this chapter aims to equip sales professionals with the necessary tools and knowledge "
         "to navigate challenging").split()

nn.seed(1)
X = nn.PositionalEncoding(64, 0)(nn.Embedding(100070, 64).reset_parameters("sales.embedding.")(windows))
attention = nn.MultiHeadAttention(64, 4, bias=True).reset_parameters("sales.attention.", init="pytorch")
attention(X, X, X, causal=True)
weights = attention.attention_weights


def split_heads(x, heads):
    batch, time, features = x.shape
    return x.reshape(batch, time, heads, features // heads).transpose(1, 2)


V = split_heads(attention.W_v(X), 4)
output = weights @ V
nn.set_printoptions(threshold=1)  # of large tensors print the corners
print("output:", list(output.shape))
print(output[0, 0])
assert output[0, 0, 0].tolist() == V[0, 0, 0].tolist()  # the first word sees itself alone
nn.concat([V[0, 0], output[0, 0]], axis=1).heatmap(words, [f"{name}{i}" for name in "vy" for i in range(16)])

# %% batch
numbers = nn.draw("batch.tokens", (32, 50), "uniform")  # from -1 to 1
tokens = [[int(x) for x in row] for row in ((numbers + 1) * 9999 / 2).tolist()]
X = nn.PositionalEncoding(512, 0)(nn.Embedding(10000, 512).reset_parameters("batch.embedding.")(tokens))
attention = nn.MultiHeadAttention(512, 16, bias=True).reset_parameters("attention.", init="pytorch")
attention(X, X, X)
V = split_heads(attention.W_v(X), 16)
output = attention.attention_weights @ V
print("output:", list(output.shape))
print(output[0, 0])


def root_mean_square(x):
    return (x * x).mean().item()**0.5


print(f"root mean square: {root_mean_square(V):.3f} of the values, {root_mean_square(output):.3f} of the output")

# %% bounds
for values, results in zip(V[0, 0].transpose(0, 1).tolist(), output[0, 0].transpose(0, 1).tolist()):  # a feature each
    assert min(values) <= min(results) and max(results) <= max(values)
