"""The Python cells of docs/book/03-queries-keys-values.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% without
from rapt import nn

words = ["cat", "drinks", "milk"]
x = nn.tensor([[1, 0, 1, 1, 0],  # noun, verb, animal, purrs, drink
               [0, 1, 0, 0, 0],
               [1, 0, 0, 0, 1]])


def show(x, form=".1f"):
    for word, row in zip(words, x.tolist()):
        print(word, *(f"{number:{form}}" for number in row))


show(x @ x.transpose(0, 1))

# %% one
def linear(weight):
    """A map without bias; row i of the weight gives feature i of the result."""
    m = nn.Linear(len(weight[0]), len(weight), bias=False)
    m.load_state_dict({"weight": weight})
    return m


W_q = linear([[0, 2, 0, 0, 0],   # doer: a verb asks for it
              [1, 0, 0, 0, 0]])  # action: a noun asks for it
Q = W_q(x)
show(Q)
show(Q @ Q.transpose(0, 1))

# %% two
W_k = linear([[0, 0, 1, 0, 0],   # doer: an animal is one
              [0, 1, 0, 0, 0]])  # action: a verb is one
K = W_k(x)
show(K)
scores = Q @ K.transpose(0, 1)
show(scores)

# %% three
W_v = linear([[0, 0, 0, 1, 0],   # it purrs
              [0, 1, 0, 0, 1]])  # it has to do with drinking
V = W_v(x)
show(V)
shares = nn.softmax(scores)
show(shares, ".6f")
show(shares @ V, ".6f")

# %% textbook
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430]]
words = ("this chapter aims to equip sales professionals with the necessary tools and knowledge "
         "to navigate challenging").split()

nn.seed(1)
embedding = nn.Embedding(100070, 64).reset_parameters("sales.embedding.")
X = nn.PositionalEncoding(64, 0)(embedding(windows))
W_q, W_k, W_v = (nn.Linear(64, 64).reset_parameters(f"sales.attention.{name}.", init="pytorch") for name in "qkv")
Q, K, V = W_q(X), W_k(X), W_v(X)
nn.set_printoptions(threshold=1)  # of large tensors print the corners
print("Q:", list(Q.shape))
print(Q[0])
print(K[0])

# %% size
numbers = nn.draw("batch.tokens", (32, 50), "uniform")  # from -1 to 1
tokens = [[int(x) for x in row] for row in ((numbers + 1) * 9999 / 2).tolist()]
batch = nn.PositionalEncoding(512, 0)(nn.Embedding(10000, 512).reset_parameters("batch.embedding.")(tokens))
keys = nn.Linear(512, 512).reset_parameters("attention.k.", init="pytorch")(batch)
print("K:", list(keys.shape))
print(keys[0])
assert (batch * batch).mean().item()**0.5 > 1 > (keys * keys).mean().item()**0.5  # the root mean squares

# %% alone
third = X[:1, 2:3]
assert W_q(third)[0, 0].tolist() == Q[0, 2].tolist()
Q[0, :, :32].heatmap(words)
