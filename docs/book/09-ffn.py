"""The Python cells of docs/book/09-ffn.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from rapt import nn

nn.set_printoptions(threshold=1)  # of large tensors print the corners
ffn = nn.PositionWiseFFN(3, 2)  # three features within, two out
ffn.load_state_dict({"dense1.weight": [[1, 1], [0, -1], [2, 0]], "dense1.bias": [0, 0, -1],
                     "dense2.weight": [[1, 1, 0], [0, 1, -1]], "dense2.bias": [0, 1]})
x = nn.tensor([[1, -2]])
hidden = ffn.dense1(x)
print(hidden)
print(hidden.relu())
print(ffn(x))

# %% linear
def without_relu(x):
    return ffn.dense2(ffn.dense1(x))


def is_linear(f):
    """Whether a step y changes the result as much from x as from 0."""
    x, y = nn.draw("x", (5, 2)), nn.draw("y", (5, 2))
    there, here = f(x + y) - f(x), f(y) - f(x * 0)
    return max(abs(number) for row in (there - here).tolist() for number in row) < 1e-5


print("without the ReLU:", is_linear(without_relu))
print("with the ReLU:", is_linear(ffn))

# %% backward
def loss(x):
    y = ffn(x)
    return 2 * y[0, 0] + y[0, 1]


x = nn.tensor([[1, -2]], requires_grad=True)
with nn.grad():
    loss(x).backward()
for name, gradient in (("W1", ffn.dense1.weight.grad), ("W2", ffn.dense2.weight.grad)):
    print(f"gradient of {name}:")
    for i, row in enumerate(gradient.tolist()):
        print(i, *row)
print("gradient of x:", *(f"{number:g}" for number in x.grad[0].tolist()))
for i, step in enumerate(([0.01, 0], [0, 0.01])):  # there and back again: how fast does the loss change?
    slope = (loss(x + nn.tensor([step])) - loss(x - nn.tensor([step]))).item() / 0.02
    assert abs(slope - x.grad[0, i].item()) < 1e-3

# %% gelu (own)
x = nn.tensor([-2, -1, 0, 1, 2], requires_grad=True)
with nn.grad():
    y = x.gelu()
    y.sum().backward()
print("x     ", *(f"{number:7.0f}" for number in x.tolist()))
print("GELU  ", *(f"{number:7.4f}" for number in y.tolist()))
print("slope ", *(f"{number:7.4f}" for number in x.grad.tolist()))

# %% count
def count(module):
    """The number of parameters."""
    return sum(p.numel() for p in module.parameters())


nn.seed(1)
attention = nn.MultiHeadAttention(512, 16, bias=True).reset_parameters("attention.", init="pytorch")
ffn = nn.PositionWiseFFN(2048, 512).reset_parameters("ffn.", init="pytorch")
numbers = (nn.draw("batch.tokens", (32, 50), "uniform") + 1) * 9999 / 2  # from 0 to 9999
tokens = [[int(number) for number in row] for row in numbers.tolist()]
embedding = nn.Embedding(10000, 512).reset_parameters("batch.embedding.")
x = nn.PositionalEncoding(512, 0)(embedding(tokens))
x = attention(x, x, x)  # what attention gives
y = ffn(x)
print("parameters:", count(ffn))
assert round(count(ffn) / (count(ffn) + count(attention)), 2) == 0.67

# %% batch
print("output:", list(y.shape))
print(y[0])
active = ffn.dense1(x).relu().reshape(-1).tolist()
print(f"the ReLU made {100 * active.count(0) / len(active):.1f} % of the hidden numbers 0")

# %% alone
alone = ffn(x[7:8, 20:21])  # position 20 of sentence 7
assert alone.tolist() == y[7:8, 20:21].tolist()

# %% picture
ffn.dense1(x).relu()[0, :32, :32].heatmap()
