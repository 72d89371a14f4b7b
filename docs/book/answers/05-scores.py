"""The answers to the exercises of docs/book/05-scores.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
queries = nn.tensor([[2, 0, 1, 1], [0, 1, 0, 3], [1, 1, 1, 1]])
keys = nn.tensor([[2, 0, 0, 2], [0, 4, 2, 0], [1, 1, 1, -1]])
for query, row in enumerate((queries @ keys.transpose(0, 1) / 4**0.5).tolist()):
    print(*(f"{score:g}" if key <= query else "-inf" for key, score in enumerate(row)))

# %% 2
print(f"{64**0.5 / 3:.3f}")
q, k = (nn.draw(f"random.{name}64", (1, 200, 64), "uniform") for name in "qk")
print(f"{pstdev(numbers(q @ k.transpose(1, 2))):.3f}")

# %% 3
from math import e

print(f"{e / (e + 49 / e):.3f}")
