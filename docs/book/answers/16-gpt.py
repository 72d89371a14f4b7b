"""The answers to the exercises of docs/book/16-gpt.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
block, embedding, places, last = 12 * 128 ** 2 + 13 * 128, 1000 * 128, 256 * 128, 2 * 128
for number in (block, 4 * block, embedding, places, 4 * block + embedding + places + last):
    print(f"{number:,}")
print(f"{100 * embedding / (4 * block + embedding + places + last):.0f} %")

# %% 2
xs = [i / 100 for i in range(-200, 1)]
for curve in (nn.Tensor.gelu, gelu):
    curve_values = curve(nn.tensor(xs)).tolist()
    print(f"{min(curve_values):.3f}")
    print(xs[curve_values.index(min(curve_values))])
