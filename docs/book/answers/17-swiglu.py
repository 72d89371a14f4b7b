"""The answers to the exercises of docs/book/17-swiglu.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
for g in (2, -2):
    print(f"{silu(nn.tensor([g])).item():.4f}")
    print(f"{(silu(nn.tensor([g])) * 3).item():.4f}")

# %% 2
three, two = 3 * 4096 * 11008, 8 * 4096 ** 2
print(f"{three:,}")
print(f"{two:,}")
print(f"{100 * (three / two - 1):.1f} %")
print(f"{8 / 3 * 4096:,.2f}")
assert 11008 == -(-8 * 4096 // 3 // 256) * 256

# %% 3
x = nn.tensor([-2, -1, 0, 1, 2])
assert all(abs(y - wanted) < 1e-6 for y, wanted in zip((silu(x * 50) * x / 50).tolist(), [0, 0, 0, 1, 4]))
