"""The answers to the exercises of docs/book/17-rotary.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
for place in (1, 100):
    print(f"{place / 10000 ** (0 / 4):g}")
assert 1 / 10000 ** (2 / 4) == 1 / 100 and 100 / 10000 ** (2 / 4) == 1

# %% 2
one, two = turn(nn.tensor([[1, 0, 0, 1]] * 6)), turn(nn.tensor([[1, 1, 0, 0]] * 6))
scores = [[(one[i] * two[j]).sum().item() for j in range(6)] for i in range(6)]
print(f"{scores[5][3]:.4f}")
assert abs(scores[5][3] - scores[2][0]) < 1e-6 < abs(scores[5][3] - scores[3][5])

# %% 3
import math

assert round(2 * math.pi * 10000 ** (126 / 128), -3) == 54000
print(f"{2 * math.pi * 500000 ** (126 / 128) / 1e6:.1f} million")
