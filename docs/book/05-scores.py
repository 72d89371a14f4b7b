"""The Python cells of docs/book/05-scores.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from rapt import nn

nn.set_printoptions(threshold=1)  # of large tensors print the corners
Q = nn.tensor([[1, 2], [0, -1]])
K = nn.tensor([[2, 0], [1, 1], [-1, 3]])
scores = Q @ K.transpose(0, 1)
print(scores)
print(scores / 2**0.5)

by_hand = [[sum(a * b for a, b in zip(q, k)) for k in K.tolist()] for q in Q.tolist()]
assert scores.tolist() == by_hand

# %% spread
from statistics import pstdev


def numbers(x):
    return x.reshape(-1).tolist()


nn.seed(1)
for d in (4, 16, 64, 256, 1024):
    q = nn.draw(f"random.q{d}", (1, 200, d))
    k = nn.draw(f"random.k{d}", (1, 200, d))
    spread = pstdev(numbers(q @ k.transpose(1, 2)))
    print(f"d = {d:4}: products spread {spread:6.3f}, divided by sqrt(d) {spread / d**0.5:.3f}")

# %% textbook
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430]]
words = ("this chapter aims to equip sales professionals with the necessary tools and knowledge "
         "to navigate challenging").split()

embedding = nn.Embedding(100070, 64).reset_parameters("sales.embedding.")
X = nn.PositionalEncoding(64, 0)(embedding(windows))
W_q, W_k = (nn.Linear(64, 64).reset_parameters(f"sales.attention.{name}.", init="pytorch") for name in "qk")


def by_heads(x, heads):
    batch, time, features = x.shape
    return x.reshape(batch, time, heads, features // heads).transpose(1, 2)


Q, K = by_heads(W_q(X), 4), by_heads(W_k(X), 4)
scores = Q @ K.transpose(2, 3)
scaled = scores / 16**0.5
print("scores:", list(scores.shape))
of_all, of_scaled = pstdev(numbers(scores)), pstdev(numbers(scaled))
print(f"standard deviation: {of_all:.3f} of the scores, {of_scaled:.3f} of the scaled ones")
print(scaled[0, 0])

# %% mask
hidden = float("-inf")
masked = [[score if key <= query else hidden for key, score in enumerate(row)]
          for query, row in enumerate(scaled[0, 0].tolist())]
for word, row in zip(words[:5], masked):
    print(word, *(f"{score:f}" for score in row[:5]))
scaled[0, 0].heatmap(words, words)
