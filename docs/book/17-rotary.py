"""The Python cells of docs/book/17-rotary.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% rotary
from rapt import nn


def turn(X, base=10000):
    """X [..., place, d] with its pairs j and j + d/2 turned by place / base^(2j/d)."""
    places, d = X.shape[-2:]
    angles = nn.tensor([[place / base ** (2 * j / d) for j in range(d // 2)] for place in range(places)])
    a, b = X[..., :d // 2], X[..., d // 2:]
    return nn.concat([a * nn.cos(angles) - b * nn.sin(angles), a * nn.sin(angles) + b * nn.cos(angles)], -1)


here = turn(nn.tensor([[1, 0]] * 4))  # q = k = (1, 0) at four places
for i, row in enumerate((here @ here.transpose(0, 1)).tolist()):
    print(i, *(f"{score:f}" for score in row))


def by_distance(q, k):
    """How much two scores of one distance differ at most."""
    scores = (q @ k.transpose(0, 1)).tolist()
    return max(abs(scores[i][j] - scores[i - 1][j - 1]) for i in range(1, 16) for j in range(1, 16))


nn.seed(1)
q, k = (nn.draw(name, (16,)).expand(16, 16) for name in "qk")  # one query and one key at 16 places
sines = nn.PositionalEncoding(16, 0)
print(f"sines added: scores of one distance differ by up to {by_distance(sines(q), sines(k)):.2f}")
assert by_distance(turn(q), turn(k)) < 1e-5
