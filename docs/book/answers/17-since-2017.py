"""The answers to the exercises of docs/book/17-since-2017.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
square, grouped, three, norms = 2 * 4096 * 4096, 2 * 1024 * 4096, 3 * 4096 * 14336, 2 * 4096
for number in (square, grouped, square + grouped, three, norms, square + grouped + three + norms):
    print(f"{number:,}")

# %% 2
print(count(net.blocks[0].attention))
print(count(net.blocks[0].ffn))
