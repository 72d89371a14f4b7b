"""The answers to the exercises of docs/book/09-ffn.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
small = nn.PositionWiseFFN(3, 2)  # the network of the first cell
small.load_state_dict({"dense1.weight": [[1, 1], [0, -1], [2, 0]], "dense1.bias": [0, 0, -1],
                       "dense2.weight": [[1, 1, 0], [0, 1, -1]], "dense2.bias": [0, 1]})
x = nn.tensor([[2, 1]], requires_grad=True)
with nn.grad():
    y = small(x)
    (2 * y[0, 0] + y[0, 1]).backward()
print(*(f"{number:g}" for number in y[0].tolist()), sep="\n")
print("({:g}, {:g})".format(*x.grad[0].tolist()))

# %% 2
def always_0(inputs):
    rows = ffn.dense1(inputs).relu().reshape(1600, 2048).tolist()
    return sum(not any(column) for column in zip(*rows))


words = nn.PositionalEncoding(512, 0)(embedding(tokens))
print(always_0(attention(words, words, words)))
assert always_0(words) == 0
