"""The answers to the exercises of docs/book/17-rms-norm.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
for norm in (rms_norm, layer_norm):
    print(*(f"{y:.4f}" if norm is rms_norm else f"{y:.0f}" for y in norm(nn.tensor([[3, 4]])).tolist()[0]), sep="\n")

# %% 2
for norm in (rms_norm, layer_norm):
    print(*(f"{y:.0f}" for y in norm(nn.tensor([[-3, 3]])).tolist()[0]), sep="\n")
vector = nn.draw("vector", (1, 64))
vector = vector - vector.mean(-1, keepdim=True)
both = zip(rms_norm(vector).tolist()[0], nn.LayerNorm(64, eps=1e-9)(vector).tolist()[0])
assert max(abs(a - b) for a, b in both) < 1e-6
