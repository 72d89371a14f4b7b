"""The Python cells of docs/book/04-heads.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from rapt import nn

x = nn.tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]])
by_heads = x.reshape(1, 2, 2, 2)  # [batch, time, head, feature of the head]
print(by_heads.transpose(1, 2))   # [batch, head, time, feature of the head]
print(x.reshape(1, 2, 2, 2))      # the classic mistake: the same shape, read as [batch, head, time, feature]

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


def split_heads(x, heads):
    batch, time, features = x.shape
    return x.reshape(batch, time, heads, features // heads).transpose(1, 2)


Q, K, V = (split_heads(W(X), 4) for W in (W_q, W_k, W_v))
nn.set_printoptions(threshold=1)  # of large tensors print the corners
print("Q by heads:", list(Q.shape))
for name, x in (("Q", Q), ("K", K), ("V", V)):
    numbers = x.reshape(-1).tolist()
    print(f"{name}: from {min(numbers):.4f} to {max(numbers):.4f}")
print(Q[0, 0])

# %% back
def concat_heads(x):
    batch, heads, time, features = x.shape
    return x.transpose(1, 2).reshape(batch, time, heads * features)


assert concat_heads(Q).tolist() == W_q(X).tolist()
print("each head as a sentence of its own:", list(Q.reshape(16, 16, 16).shape))

# %% picture
nn.concat([Q[0, 0], Q[0, 1]]).heatmap([f"{head}: {word}" for head in (0, 1) for word in words])
