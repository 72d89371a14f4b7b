"""The Python cells of docs/book/01-embedding.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% by-hand (own)
from rapt import nn

W = nn.tensor([[0.1, 0.9], [-0.4, 0.2], [0.7, -0.3]])
ids = [2, 0, 1]  # tea I like
print(nn.stack([W[i] for i in ids]))

one_hot = nn.tensor([[float(word == i) for word in range(3)] for i in ids])
print(one_hot @ W)

# %% sentences
nn.seed(1)
table = nn.Embedding(5, 3).reset_parameters("pair.")
tokens = [[1, 2, 4, 3], [4, 3, 2, 1]]
with nn.grad():
    vectors = table(tokens)
    vectors.sum().backward()
print(vectors)
print(table.weight.grad)

# %% length
numbers = nn.draw("batch.tokens", (32, 50), "uniform")  # from -1 to 1
tokens = [[int(x) for x in row] for row in ((numbers + 1) * 9999 / 2).tolist()]
vectors = nn.Embedding(10000, 512).reset_parameters("batch.embedding.")(tokens)
squares = (vectors * vectors).sum(axis=2).reshape(-1).tolist()
print("vectors:", list(vectors.shape))
print(f"mean length of a vector: {sum(x**0.5 for x in squares) / len(squares):.2f}, sqrt(512) = {512**0.5:.2f}")

# %% textbook
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430]]
words = ("this chapter aims to equip sales professionals with the necessary tools and knowledge "
         "to navigate challenging").split()

embedding = nn.Embedding(100070, 64).reset_parameters("sales.embedding.")
X = embedding(windows)
nn.set_printoptions(threshold=1)  # of large tensors print the corners
print(embedding.weight)
print("vectors of the tokens:", list(X.shape))
assert X[0, 3].tolist() == X[0, 13].tolist()  # "to" and "to"
X[0, :, :32].heatmap(words)
