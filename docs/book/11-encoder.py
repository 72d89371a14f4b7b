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
