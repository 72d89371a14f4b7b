"""The answers to the exercises of docs/book/10-add-norm.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
y = nn.tensor([[1, 7, 7, 9]], requires_grad=True)
with nn.grad():
    z = nn.LayerNorm(4)(y)
    (z[0, 3] * 12).backward()
for row in (z[0], y.grad[0]):
    print(*(f"{round(number, 3):g}" for number in row.tolist()))

# %% 2
def length(place, count):
    """The length of the gradient behind this number of layers, with a norm at this place."""
    x, weights = nn.tensor(nn.draw("x", (1, 64)), requires_grad=True), nn.draw("w", (1, 64))
    norm = nn.LayerNorm(64)
    with nn.grad():
        h = x
        for layer in layers[:count]:
            if place == "pre":
                h = h + layer(norm(h)).relu()
            else:
                h = h + layer(h).relu()
                h = norm(h) if place == "post" else h
        (h * weights).sum().backward()
    return (x.grad * x.grad).sum().item() ** 0.5


for place in ("none", "post", "pre"):
    print(", ".join(f"{length(place, count):.1f}" for count in (1, 5, 10, 20)))

h, variances = x, [moments(x[0, 0])[1]]  # the second of Try
for block in range(10):
    h = h + attention(h, h, h, causal=True)
    h = h + ffn(h)
    variances.append(moments(h[0, 0])[1])
assert [f"{variances[i]:.4g}" for i in (0, 1, 10)] == ["1.04", "1.177", "555.8"], variances
