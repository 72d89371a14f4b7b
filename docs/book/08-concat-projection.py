"""The Python cells of docs/book/08-concat-projection.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from rapt import nn

heads = nn.tensor([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]])  # [batch, head, time, feature]
concat = heads.transpose(1, 2).reshape(1, 2, 4)  # [batch, time, feature]
W_o = nn.Linear(4, 2)
W_o.load_state_dict({"weight": [[1, 0, 1, 0], [0, 1, 0, -1]], "bias": [0, 10]})
print(concat)
print(W_o(concat))
assert heads.reshape(1, 2, 4)[0, 0].tolist() == [1, 2, 5, 6]  # without the swap: half of it is the other word

# %% blocks
blocks = [W_o.weight[:, 2 * i:2 * i + 2] for i in (0, 1)]  # the columns of each head
found = [heads[:, i] @ block.transpose(0, 1) for i, block in enumerate(blocks)]
print(found[0] + found[1] + W_o.bias)

# %% backward
heads = nn.tensor([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]], requires_grad=True)
dY = nn.tensor([[[1, 0], [1, 2]]])
with nn.grad():
    concat = heads.transpose(1, 2).reshape(1, 2, 4)
    (W_o(concat) * dY).sum().backward()
print(W_o.weight.grad)
print(W_o.bias.grad)
print(heads.grad)

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
result = attention(X, X, X, causal=True)


def split_heads(x, heads):
    batch, time, features = x.shape
    return x.reshape(batch, time, heads, features // heads).transpose(1, 2)


heads = attention.attention_weights @ split_heads(attention.W_v(X), 4)  # chapter 7
concat = heads.transpose(1, 2).reshape(*X.shape)
projected = attention.W_o(concat)
print("output of the heads:", list(heads.shape))
print("side by side:", list(concat.shape))
print("projected:", list(projected.shape))
assert max(abs(d) for d in (projected - result).reshape(-1).tolist()) < 1e-6  # attention is complete
concat[0].heatmap(words)

# %% batch
numbers = nn.draw("batch.tokens", (32, 50), "uniform")  # from -1 to 1
tokens = [[int(x) for x in row] for row in ((numbers + 1) * 9999 / 2).tolist()]
X = nn.PositionalEncoding(512, 0)(nn.Embedding(10000, 512).reset_parameters("batch.embedding.")(tokens))
attention = nn.MultiHeadAttention(512, 16, bias=True).reset_parameters("attention.", init="pytorch")
nn.set_printoptions(threshold=1)  # of large tensors print the corners
Y = attention(X, X, X)
print("W_o:", list(attention.W_o.weight.shape))
print(Y[0])

# %% layer
Q, K, V = (nn.draw(f"pair.{name}", (2, 5, 16)) for name in "qkv")
attention = nn.MultiHeadAttention(16, 4, bias=True).reset_parameters("pair.attention.", init="pytorch")
print("output:", list(attention(Q, K, V).shape))
weights = attention.attention_weights
print("attention weights:", list(weights.shape))
print(f"sum of the weights of head 0, position 0: {weights[0, 0, 0].sum().item():.4f}")
weights[0, 0].heatmap()
