"""The answers to the exercises of docs/book/03-queries-keys-values.md: python/tests/test_exercises.py runs them after its cells."""
# %% 1
x3 = nn.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [1, 0, 0, 0, 1]])
Q3 = linear([[0, 2, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]])(x3)
K3 = linear([[0, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]])(x3)
for name, row in zip(("cat", "drinks", "milk"), (Q3 @ K3.transpose(0, 1)).tolist()):
    print(f"{name}:", *(f"{number:.0f}" for number in row))

# %% 2
def selves(keys):
    """In how many rows the largest score is the word's own."""
    return sum(row.index(max(row)) == i for i, row in enumerate((Q[0] @ keys[0].transpose(0, 1)).tolist()))


print(f"{selves(K)}/16")
print(f"{selves(Q)}/16")

# %% 3
print(f"{512 * 512:,}")
print(f"{2 * 512 * 32:,}")
