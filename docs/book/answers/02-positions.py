"""The answers to the exercises of docs/book/02-positions.md: python/tests/test_exercises.py runs them after its cells."""
# %% 1
print("(" + ", ".join(f"{x:.4f}" for x in position(3, 4)) + ")")
print(f"{sin(1) * cos(2) + cos(1) * sin(2):.4f}")

# %% 2
from math import pi

for hand in (0, 16, 31):
    print(f"{2 * pi * 10000**(2 * hand / 64):,.0f}")
print(f"{47117 * 64:,}")
