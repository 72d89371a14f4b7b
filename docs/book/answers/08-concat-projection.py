"""The answers to the exercises of docs/book/08-concat-projection.md: python/tests/test_exercises.py runs them after the cells."""
# %% 1
W_o = nn.Linear(3, 3)
W_o.load_state_dict({"weight": [[1, 1, 1], [1, -1, 0], [0, 0, 2]], "bias": [0, 0, -1]})
heads = nn.tensor([[[[1], [4]], [[2], [5]], [[3], [6]]]])  # [batch, head, time, feature]
for row in W_o(heads.transpose(1, 2).reshape(1, 2, 3))[0].tolist() + W_o(heads.reshape(1, 2, 3))[0].tolist()[:1]:
    print(*(f"{number:g}" for number in row))

# %% 2
before, rows = attention(Q, K, V), attention.W_o.weight.tolist()
root_mean_squares = []
for head in range(4):
    attention.W_o.weight.assign([[0 if i // 4 == head else weight for i, weight in enumerate(row)] for row in rows])
    change = attention(Q, K, V) - before
    root_mean_squares.append((change * change).mean().item()**0.5)
print(", ".join(f"{change:.4f}" for change in root_mean_squares))
print(f"{(before * before).mean().item()**0.5:.4f}")

# %% 3
print(f"{512 * 512:,}")
print(f"{2 * 512 * 32:,}")
