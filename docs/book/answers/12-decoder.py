"""The answers to the exercises of docs/book/12-decoder.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
x, three = nn.tensor([[[4, 0], [0, 2], [2, 4], [6, 6]]]), nn.tensor([[[1, 0], [0, 1], [9, 9]]])
print(*(f"{number:g}" for number in attention(x, x, x, causal=True)[0, 3].tolist()), sep="\n")
assert attention(x, x, x, causal=True)[0, :3].tolist() == [[4, 0], [2, 1], [2, 2]]
assert all(abs(number - 10 / 3) < 1e-6 for row in attention(x, three, three, [3])[0].tolist() for number in row)

# %% 2
positions = 0
for i in range(10):
    so_far = [row[:i + 1] for row in targets]
    all_again, _ = decoder(so_far, decoder.init_state(memory, lengths))
    positions += len(so_far[0])
    assert all_again[:, i].tolist() == logits[:, i].tolist()
print(positions)
print(f"{sum(range(1, 1001)):,}")
assert 2 * 6 * 100 * 512 * 4 == 2457600  # bytes of the section on prediction
