"""The Python cells of docs/book/11-encoder.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from rapt import nn

nn.set_printoptions(threshold=1)  # of large tensors print the corners
block = nn.TransformerEncoderBlock(2, 2, 1, dropout=0).reset_parameters(init="zeros")
attention, ffn = block.attention, block.ffn
for linear in (attention.W_v, attention.W_o, ffn.dense1, ffn.dense2):
    linear.weight.assign([[1, 0], [0, 1]])
x = nn.tensor([[[2, 0], [0, 2]]])
print(attention(x, x, x)[0])
print(block.addnorm1(x, attention(x, x, x))[0])
print(block(x)[0])

# %% one-block
block = nn.TransformerEncoderBlock(24, 48, 8, dropout=0.5).eval()
x = nn.ones(2, 100, 24)
print("output:", list(block(x, [3, 2]).shape))
weights = block.attention.attention_weights
print("attention weights:", list(weights.shape))
for sentence, length in enumerate((3, 2)):
    for row in weights[sentence].reshape(-1, 100).tolist():
        assert all(abs(weight - 1 / length) < 1e-6 for weight in row[:length]) and not any(row[length:])

# %% sentences
words = "we listen before we speak . <eos> <pad> <pad> <pad>".split()
lengths = [7] + [4 + sentence % 7 for sentence in range(1, 64)]
batch = [[4 + (sentence * 37 + i * 101) % 180 if i < length else 1 for i in range(10)]
         for sentence, length in enumerate(lengths)]
batch[0] = [4, 5, 6, 4, 7, 8, 3, 1, 1, 1]  # the words; all others are numbers drawn from a hat
nn.seed(1)
encoder = nn.TransformerEncoder(184, 32, 64, 4, 2, dropout=0.1).eval().reset_parameters("encoder.")
y = encoder(batch, lengths)
print("output:", list(y.shape))
print(y[0])

# %% block-by-block
x = encoder.pos_encoding(encoder.embedding(batch) * 32**0.5)
for block in encoder.blks:
    x = block(x, lengths)
assert (x - y).max().item() < 1e-5 and (y - x).max().item() < 1e-5

# %% padding
other = [row[:length] + [9] * (10 - length) for row, length in zip(batch, lengths)]
z = encoder(other, lengths)
assert all(z[i, :length].tolist() == y[i, :length].tolist() for i, length in enumerate(lengths))
for row in encoder.attention_weights[0][0].reshape(-1, 10).tolist():
    assert abs(sum(row) - 1) < 1e-6 and not any(row[7:])

# %% picture
encoder(batch, lengths)
encoder.attention_weights[0][0, 0].heatmap(words, words)

# %% answers (own)
small = nn.TransformerEncoderBlock(2, 2, 1, dropout=0).reset_parameters(init="zeros")  # 1
for linear in (small.attention.W_v, small.attention.W_o, small.ffn.dense1, small.ffn.dense2):
    linear.weight.assign([[1, 0], [0, 1]])
print(small(nn.tensor([[[0, 4], [0, 2]]]))[0])


def difference(a, b):
    return max((a - b).max().item(), (b - a).max().item())


order = [3, 0, 4, 1, 2]  # 2
x, block = nn.draw("sentence", (1, 5, 32)), encoder.blks[0]
moved = nn.stack([x[0, i] for i in order]).unsqueeze(0)
print(f"a block: {max(difference(block(moved)[0, i], block(x)[0, j]) for i, j in enumerate(order)):.7f}")
ids = [4, 5, 6, 7, 8]
there, here = encoder([[ids[i] for i in order]]), encoder([ids])
print(f"the encoder: {max(difference(there[0, i], here[0, j]) for i, j in enumerate(order)):.2f}")


def largest(encoder):
    """The mean of the largest weights of the seven tokens that count."""
    return sum(row[:7].max().item() for row in encoder.attention_weights[0][0, 0][:7]) / 7


_ = encoder(batch, lengths)  # Try
print(f"largest weights: {largest(encoder):.2f}", end="")
encoder.embedding.weight.assign(nn.draw("start", (184, 32)))
_ = encoder(batch, lengths)
print(f", with embeddings of 1 {largest(encoder):.2f}")
for blocks in (2, 4, 8):
    nn.seed(1)
    deep = nn.TransformerEncoder(184, 32, 64, 4, blocks, dropout=0.1).eval().reset_parameters("encoder.")
    y = deep(batch, lengths)
    print(f"{blocks} blocks: similarity {nn.cosine_similarity(y[0, 0], y[0, 1], dim=0).item():.4f}")
paper = nn.TransformerEncoderBlock(512, 2048, 8, dropout=0)
_ = paper(nn.ones(1, 2, 512))  # the first input gives the layers their sizes
size = sum(p.numel() for p in paper.parameters())
print(f"parameters: {size:,} a block, {6 * size:,} in six")
