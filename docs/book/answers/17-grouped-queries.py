"""The answers to the exercises of docs/book/17-grouped-queries.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
print(5 // (8 // 2))

# %% 2
print(f"{2 * 32 * 8 * 128:,}")
for heads in (8, 32):
    print(f"{2 * 32 * heads * 128 * 2 * 8192 / 2 ** 30:.0f} GiB")
