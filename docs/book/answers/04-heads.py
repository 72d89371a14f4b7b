"""The answers to the exercises of docs/book/04-heads.md: python/tests/test_exercises.py runs them after its cells."""
# %% 1
row = nn.tensor([[list(range(12)), list(range(12, 24))]])
heads = split_heads(row, 3).tolist()[0]
print([[head, place, feature] for head in range(3) for place in range(2) for feature in range(4)
       if heads[head][place][feature] == 12 + 7])
print(*(f"{x:.0f}" for x in heads[2][0]))

# %% 2
for batch, time, features, count in ((1, 4, 8, 2), (1, 16, 64, 4)):
    counted = nn.tensor([[[float(i * features + j) for j in range(features)] for i in range(time)]])
    right = split_heads(counted, count).reshape(-1).tolist()
    wrong = counted.reshape(batch, count, time, features // count).reshape(-1).tolist()
    print(f"{sum(a == b for a, b in zip(right, wrong))}/{len(right)}")
