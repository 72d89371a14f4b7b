"""The answers to the exercises of docs/book/07-weighted-sum.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
def attend(q, k, v):
    """The output of causal attention, and the gradient of its scores."""
    scores = (q @ k.transpose(0, 1) / sqrt(2)).tolist()
    masked = [[score if key <= query else -float("inf") for key, score in enumerate(row)] for query, row in enumerate(scores)]
    S = nn.tensor(masked, requires_grad=True)
    with nn.grad():
        output = nn.softmax(S) @ v
        (output * dO).sum().backward()
    return output.tolist(), S.grad.tolist()


Q, K, V, dO = (nn.tensor(x) for x in ([[0, -u], [u, 0], [0, u]], [[1, 0], [0, 1], [1, 1]], [[2, 0], [4, -4], [0, 8]],
                                      [[1, 0], [0, 1], [1, -1]]))
outputs, gradients = attend(Q, K, V)
print(*(f"{number:g}" for number in outputs[0]))
print(*(f"{number:g}" for number in gradients[0]))
print(*(f"{number:.4f}" for number in outputs[1]))
print(*(f"{number:.4f}" for number in gradients[1][:2]), gradients[1][2] or "0")

# %% 2
inputs = [nn.tensor(x.tolist(), requires_grad=True) for x in (Q, K, V)]
with nn.grad():
    (nn.softmax(inputs[0] @ inputs[1].transpose(0, 1) / sqrt(2)) @ inputs[2] * dO).sum().backward()
squares = sum(number**2 for x in inputs for number in x.grad.reshape(-1).tolist())
before = loss(*(x.tolist() for x in inputs))
assert f"{before:.4f}" == "4.8000"
print(f"{squares:.4f}")
for rate in (0.01, 0.1):
    after = loss(*((x - x.grad * rate).tolist() for x in inputs))
    print(f"{rate * squares:.4f}")
    print(f"{before - after:.4f}")
    assert rate > 0.01 or f"{after:.4f}" == "4.6191"

# %% 3
nn.seed(1)
x, upstream = nn.draw("biases.x", (2, 5, 16)), nn.draw("biases.upstream", (2, 5, 16))
layer = nn.MultiHeadAttention(16, 4, bias=True).reset_parameters("biases.", init="pytorch")
with nn.grad():
    (layer(x, x, x) * upstream).sum().backward()
largest = {name: max(map(abs, getattr(layer, f"W_{name}").bias.grad.tolist())) for name in "qkv"}
assert largest["k"] < 1e-5 and largest["q"] > 0.1 and largest["v"] > 0.1


def change(**biases):
    """By how much the output differs from the first one, with other biases."""
    for name, values in biases.items():
        getattr(layer, f"W_{name}").bias.assign(values)
    return max(abs(number) for number in (layer(x, x, x) - first).reshape(-1).tolist())


first, constant = layer(x, x, x), layer.W_o(layer.W_v.bias.reshape(1, 16)).tolist()[0]
assert change(k=[0] * 16) < 1e-5
assert change(v=[0] * 16) > 0.01
assert change(o=constant) < 1e-5  # what b_v did, b_o does
assert change(q=[0] * 16) > 0.01
