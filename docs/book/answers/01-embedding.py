"""The answers to the exercises of docs/book/01-embedding.md: python/tests/test_exercises.py runs them after its cells."""
# %% 1
small = nn.Embedding(3, 2)
small.load_state_dict({"weight": [[0.1, 0.9], [-0.4, 0.2], [0.7, -0.3]]})
with nn.grad():
    small([1, 1, 2]).sum().backward()  # like like tea
for row in small.weight.grad.tolist():
    print("(" + ", ".join(f"{x:.0f}" for x in row) + ")")
for row in (small.weight - small.weight.grad * 0.1).tolist():
    print("(" + ", ".join(f"{x + 0:.1f}" for x in row) + ")")

# %% 2
for features in (4, 64, 512):
    rows = nn.draw(f"cosine.{features}", (200, features))
    products = (rows @ rows.transpose(0, 1)).tolist()
    cosines = [[products[i][k] / (products[i][i] * products[k][k])**0.5 for k in range(200)] for i in range(200)]
    print(f"{max(abs(cosines[i][k]) for i in range(200) for k in range(i)):.2f}")
    print(f"{sum(abs(cosines[i][k]) for i in range(200) for k in range(i)) / (200 * 199 / 2):.3f}")

# %% 3
print(f"{100070 * 64:,}")
print(f"{100070 * 16 + 16 * 64:,}")
