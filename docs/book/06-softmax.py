"""The Python cells of docs/book/06-softmax.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from math import exp

from rapt import nn

words = ["I", "like", "apples"]
scores = nn.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
for word, row in zip(words, nn.softmax(scores).tolist()):
    print(word, *(f"{share:.6f}" for share in row))
    assert all(abs(share - exp(s) / (exp(1) + exp(2) + exp(3))) < 1e-6 for share, s in zip(row, (1, 2, 3)))
print("by columns, which is wrong:")
for word, row in zip(words, nn.softmax(scores, axis=0).tolist()):
    print(word, *(f"{share:.6f}" for share in row))

# %% backward
from math import log

double = log(2)  # a score that is larger by this has twice the weight
S = nn.tensor([[0, -double, -double], [double, 0, double], [0, double, double]], requires_grad=True)
dW = nn.tensor([[2, 4, 0], [0, -4, 8], [2, 8, -8]])
with nn.grad():
    W = nn.softmax(S)
    (W * dW).sum().backward()  # the gradient of this sum by W is dW
print(W)
print(S.grad)


def softmax_backward(w, dw):
    m = sum(a * b for a, b in zip(w, dw))
    return [a * (b - m) for a, b in zip(w, dw)]


for w, dw, ds in zip(W.tolist(), dW.tolist(), S.grad.tolist()):
    assert all(abs(a - b) < 1e-5 for a, b in zip(ds, softmax_backward(w, dw)))

for row in ([1, 2, 3], [10, 20, 30]):
    x = nn.tensor([row], requires_grad=True)
    with nn.grad():
        nn.softmax(x)[0, 1].backward()  # dw = 0 1 0
    print(f"scores {row[0]} {row[1]} {row[2]}: gradient", *(f"{ds:.3g}" for ds in x.grad[0].tolist()))

# %% differences
def loss(rows):
    """The sum of softmax(row) times dW, in double precision."""
    shares = [[exp(s) / sum(map(exp, row)) for s in row] for row in rows]
    return sum(w * dw for row, slopes in zip(shares, dW.tolist()) for w, dw in zip(row, slopes))


def moved(i, j, h):
    """The scores with h added to the one in row i, column j."""
    return [[s + h * ((i, j) == (r, c)) for c, s in enumerate(row)] for r, row in enumerate(S.tolist())]


h = 1e-5
slopes = [[(loss(moved(i, j, h)) - loss(moved(i, j, -h))) / (2 * h) for j in range(3)] for i in range(3)]
print(nn.tensor(slopes))

# %% lengths
nn.seed(1)
scores = nn.draw("lengths.scores", (2, 2, 4), "uniform")
print(nn.masked_softmax(scores, [2, 3]))  # keys of each sentence
print(nn.masked_softmax(scores, [[1, 3], [2, 4]]))  # keys of each query
assert nn.masked_softmax(scores, [0, 4])[0].tolist() == [[0] * 4] * 2

# %% random
X = nn.draw("small.x", (2, 5, 16))
attention = nn.MultiHeadAttention(16, 4, bias=True).reset_parameters("small.", init="pytorch")
attention(X, X, X)
weights = attention.attention_weights
print("weights:", list(weights.shape))
print(weights[0, 0])
print(f"sum of the first row of head 0: {weights[0, 0, 0].sum().item():.4f}")

# %% textbook
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430]]
words = ("this chapter aims to equip sales professionals with the necessary tools and knowledge "
         "to navigate challenging").split()

X = nn.PositionalEncoding(64, 0)(nn.Embedding(100070, 64).reset_parameters("sales.embedding.")(windows))
attention = nn.MultiHeadAttention(64, 4, bias=True).reset_parameters("sales.attention.", init="pytorch")
attention(X, X, X, causal=True)  # later words are hidden
weights = attention.attention_weights[0, 0]
for word, row in zip(words[:5], weights.tolist()):
    print(word, *(f"{share:.6f}" for share in row[:5]))
weights.heatmap(words, words)

# %% batch
numbers = nn.draw("batch.tokens", (32, 50), "uniform")  # from -1 to 1
tokens = [[int(x) for x in row] for row in ((numbers + 1) * 9999 / 2).tolist()]
X = nn.PositionalEncoding(512, 0)(nn.Embedding(10000, 512).reset_parameters("batch.embedding.")(tokens))
attention = nn.MultiHeadAttention(512, 16, bias=True).reset_parameters("attention.", init="pytorch")
attention(X, X, X)
weights = attention.attention_weights
nn.set_printoptions(threshold=1)  # of large tensors print the corners
print("weights:", list(weights.shape))
print(weights[0, 0])
shares = weights.reshape(-1).tolist()
assert round(8 * sum(1 / 100 < share < 1 / 25 for share in shares) / len(shares)) == 7  # seven in eight
