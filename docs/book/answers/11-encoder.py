"""The answers to the exercises of docs/book/11-encoder.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
small = nn.TransformerEncoderBlock(2, 2, 1, dropout=0).reset_parameters(init="zeros")
for linear in (small.attention.W_v, small.attention.W_o, small.ffn.dense1, small.ffn.dense2):
    linear.weight.assign([[1, 0], [0, 1]])
for word in small(nn.tensor([[[0, 4], [0, 2]]]))[0]:
    print(*(round(number) for number in word.tolist()))

# %% 2
def difference(a, b):
    return max((a - b).max().item(), (b - a).max().item())


order = [3, 0, 4, 1, 2]
x, block = nn.draw("sentence", (1, 5, 32)), encoder.blks[0]
moved = nn.stack([x[0, i] for i in order]).unsqueeze(0)
print(f"{max(difference(block(moved)[0, i], block(x)[0, j]) for i, j in enumerate(order)):.7f}")
ids = [4, 5, 6, 7, 8]
there, here = encoder([[ids[i] for i in order]]), encoder([ids])
print(f"{max(difference(there[0, i], here[0, j]) for i, j in enumerate(order)):.2f}")


def largest(encoder):
    """The mean of the largest weights of the seven tokens that count."""
    encoder(batch, lengths)
    return sum(row[:7].max().item() for row in encoder.attention_weights[0][0, 0][:7]) / 7


def similarity(blocks):
    """Of the first two words, with this number of blocks."""
    nn.seed(1)
    y = nn.TransformerEncoder(184, 32, 64, 4, blocks, dropout=0.1).eval().reset_parameters("encoder.")(batch, lengths)
    return nn.cosine_similarity(y[0, 0], y[0, 1], dim=0).item()


before = largest(encoder)  # Try
encoder.embedding.weight.assign(nn.draw("start", (184, 32)))
assert (f"{before:.2f}", f"{largest(encoder):.2f}") == ("0.49", "0.94")
assert [f"{similarity(blocks):.4f}" for blocks in (2, 4, 8)] == ["0.7625", "0.9455", "0.9990"]
paper = nn.TransformerEncoderBlock(512, 2048, 8, dropout=0)  # the formula's section
_ = paper(nn.ones(1, 2, 512))  # the first input gives the layers their sizes
assert sum(p.numel() for p in paper.parameters()) == 3150336 == 18902016 / 6
