"""The answers to the exercises of docs/book/06-softmax.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
scores = nn.tensor([[0, log(3), 0]], requires_grad=True)
with nn.grad():
    weights = nn.softmax(scores)
    (weights * nn.tensor([[5, 0, 0]])).sum().backward()
print(", ".join(f"{weight:.1g}" for weight in weights[0].tolist()))
for gradient in scores.grad[0].tolist():
    print(f"= {gradient:.1g}")

# %% 2
x = ((1 + 4 / 9)**0.5 - 1) / 2
print(f"x = {x:.4f}")
print(f"T = -1 / ln x = {-1 / log(x):.4f}")
assert abs(nn.softmax(nn.tensor([[1, 2, 3]]) * -log(x))[0, 2].item() - 0.9) < 1e-6

# %% 3
logits = nn.tensor([[[10, 20, 30]]], requires_grad=True)
with nn.grad():
    nn.cross_entropy(logits, [[1]]).backward()
print(*(f"{gradient:.4f}" for gradient in logits.grad[0, 0].tolist()))
print(f"{nn.softmax(logits.detach())[0, 0, 1].item():.5f}")
