"""The Python cells of docs/book/10-add-norm.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
import rapt
from rapt import nn

nn.set_printoptions(threshold=1)  # of large tensors print the corners
x, found = nn.tensor([[1, -1, 2, 3]]), nn.tensor([[-1, 1, 2, 1]])
print(x + found)
print(nn.AddNorm(4, dropout=0)(x, found))

# %% shapes
try:
    nn.draw("x", (2, 3, 4)) + nn.draw("y", (2, 3, 2))
except rapt.ShapeError as error:
    print(error)

# %% path (own)
nn.seed(1)
layers = [nn.Linear(64, 64).reset_parameters(f"layer{i}.", init="pytorch") for i in range(20)]


def gradient_at_input(adds):
    """The length of the gradient that comes back through twenty layers."""
    x = nn.tensor(nn.draw("x", (1, 64)), requires_grad=True)
    with nn.grad():
        h = x
        for layer in layers:
            h = h + layer(h).relu() if adds else layer(h).relu()
        h.sum().backward()
    return (x.grad * x.grad).sum().item() ** 0.5


print(f"without sums {gradient_at_input(adds=False):.1e}, with sums {gradient_at_input(adds=True):.1f}")

# %% backward
x = nn.tensor([[1, -1, 2, 3]], requires_grad=True)
found = nn.tensor([[-1, 1, 2, 1]], requires_grad=True)
g = nn.tensor([[3, 1, 2, 6]])
add_norm = nn.AddNorm(4, dropout=0)
with nn.grad():
    (add_norm(x, found) * g).sum().backward()


def loss(s):
    """g times the norm of s, summed; with Python's numbers, which are more precise."""
    mean = sum(s) / 4
    deviation = (sum((a - mean) ** 2 for a in s) / 4 + 1e-5) ** 0.5
    return sum(b * (a - mean) / deviation for a, b in zip(s, g[0].tolist()))


def by_formula(s):
    mean = sum(s) / 4
    deviation = (sum((a - mean) ** 2 for a in s) / 4 + 1e-5) ** 0.5
    z, dz = [(a - mean) / deviation for a in s], g[0].tolist()  # gamma is 1
    mean_dz, mean_dz_z = sum(dz) / 4, sum(a * b for a, b in zip(dz, z)) / 4
    return [(a - mean_dz - b * mean_dz_z) / deviation for a, b in zip(dz, z)]


def by_differences(s, step=1e-4):
    there = [loss([a + step * (i == j) for j, a in enumerate(s)]) for i in range(4)]
    back = [loss([a - step * (i == j) for j, a in enumerate(s)]) for i in range(4)]
    return [(a - b) / (2 * step) for a, b in zip(there, back)]


for name, gradient in (("formula", by_formula([0, 0, 4, 4])), ("backward pass", x.grad[0].tolist()),
                       ("differences", by_differences([0, 0, 4, 4]))):
    print(f"{name:13}  ", *(f"{number:7.4f}" for number in gradient))
for name, gradient in (("gamma", add_norm.ln.weight.grad), ("beta", add_norm.ln.bias.grad)):
    print(f"gradient of {name}:", *(f"{number:.4f}" for number in gradient.tolist()))
assert x.grad.tolist() == found.grad.tolist()  # a sum passes the same on to both

# %% batch-norm
A, B = [[1, 3], [3, 5], [1, 3], [3, 5]], [[8, 2], [8, 2], [0, 0], [0, 0]]


def batch_norm(x, numbers):
    mean = sum(numbers) / len(numbers)
    return (x - mean) / (sum((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5


feature = [word[0] for word in A + B]
norm = nn.LayerNorm(2, eps=1e-9)
print(f"the sentence alone {batch_norm(3, feature[:4]):.4f} {norm([A])[0, 1, 0].item():.4f}")
print(f"beside another one {batch_norm(3, feature[:6]):.4f} {norm([A, B])[0, 1, 0].item():.4f}")
print(f"beside another one, padding counted, too {batch_norm(3, feature):.4f}")

# %% block
windows = [
    [420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436],
    [11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718],
    [38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323],
    [11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430]]
x = nn.PositionalEncoding(64, 0)(nn.Embedding(100070, 64).reset_parameters("sales.embedding.")(windows))
attention = nn.MultiHeadAttention(64, 4, bias=True).reset_parameters("sales.attention.", init="pytorch")
ffn = nn.PositionWiseFFN(256, 64).reset_parameters("sales.ffn.", init="pytorch")
norm = nn.LayerNorm(64)  # one in both places

sum1 = x + attention(x, x, x, causal=True)
norm1 = norm(sum1)
sum2 = norm1 + ffn(norm1)
norm2 = norm(sum2)
print(sum2[0])

# %% moments
def moments(x):
    """Mean and variance of the features of a position."""
    mean = x.mean().item()
    return mean, ((x - mean) * (x - mean)).mean().item()


for name, stage in (("x + attention(x)", sum1), ("norm 1", norm1)):
    mean, variance = moments(stage[0, 0])
    print(f"position 0 of {name}: mean {abs(mean):.4f}, variance {variance:.4f}")
for window in norm2:
    assert all(abs(mean) < 1e-5 and abs(variance - 1) < 1e-3 for mean, variance in map(moments, window))
