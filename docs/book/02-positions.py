"""The Python cells of docs/book/02-positions.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% by-hand (own)
from math import cos, sin


def position(i, d):
    return [turn(i / 10000**(2 * j / d)) for j in range(d // 2) for turn in (sin, cos)]


tea = [0.2, -1.0, 0.7, 0.5]
for place in (1, 2):
    print(place, *(f"{x + p:.4f}" for x, p in zip(tea, position(place, 4))))

# %% table
from rapt import nn

encoding = nn.PositionalEncoding(16, 0, max_len=5)
for i, row in enumerate(encoding.P[0].tolist()):
    print(i, *(f"{p:.6f}" for p in row[:8]))
    assert all(abs(p - q) < 1e-6 for p, q in zip(row, position(i, 16)))

# %% neighbors
def length(x):
    return (x * x).sum().item()**0.5


def cosine(x, y):
    return (x * y).sum().item() / length(x) / length(y)


nn.seed(1)
word = nn.draw("compared.word", (1, 1, 16))
P = encoding.P[0]
print(f"cosine similarity of positions 0 and 1: {cosine(P[0], P[1]):.4f}")
print(f"distance of one word at place 0 and at place 1: {length(encoding(word, 1) - encoding(word, 0)):.4f}")

# %% distances
P = nn.PositionalEncoding(64, 0, max_len=16).P[0]
print("similarity to position 0:", *(f"{cosine(P[0], p):.2f}" for p in P))
print(f"length of a row: {length(P[0]):.4f}")

turn = P[3].tolist()  # three places on: each pair (sin a, cos a) turns by the angle of place 3
for before, after in zip(P.tolist(), P[3:].tolist()):
    for j in range(0, 64, 2):
        assert abs(before[j] * turn[j + 1] + before[j + 1] * turn[j] - after[j]) < 1e-5
        assert abs(before[j + 1] * turn[j + 1] - before[j] * turn[j] - after[j + 1]) < 1e-5
P.heatmap()

# %% textbook
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430]]

vectors = nn.Embedding(100070, 64).reset_parameters("sales.embedding.")(windows)
X = nn.PositionalEncoding(64, 0)(vectors)
nn.set_printoptions(threshold=1)  # of large tensors print the corners
print("tokens: words + positions:", list(X.shape))
print(X[0])
assert X.tolist() == (vectors + P).tolist()

# %% learned (own)
places = nn.Embedding(100, 16).reset_parameters("places.", init="gpt2")  # small: N(0, 0.02^2)
sentence = nn.draw("sentence", (1, 10, 16))
with nn.grad():
    (sentence + places([list(range(10))])).sum().backward()
print(sum(any(row) for row in places.weight.grad.tolist()), "of 100 places learn from a sentence of 10 words")
