"""The Python cells of docs/tutorials/language-model.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% embedding
from rapt import nn

nn.seed(1)
nn.set_printoptions(threshold=1)  # of large tensors print the corners
x_batch = [
    [279, 2027, 477, 2532, 596, 27375, 11, 6763, 15749, 649, 1798, 484, 12410, 323, 61705, 40017],
    [1888, 10105, 323, 13750, 2489, 6130, 3966, 13, 17283, 7095, 323, 38769, 6957, 279, 1920, 374],
    [84084, 553, 6444, 311, 1304, 264, 7782, 40522, 13, 3296, 82003, 279, 892, 57767, 7138, 315],
    [1742, 374, 279, 2237, 315, 11156, 488, 477, 23965, 315, 701, 4221, 13, 40730, 389, 279]]


def first_row(x):
    row = x.reshape(-1, x.shape[-1])[0].tolist()
    return ", ".join(f"{v:.4f}" for v in row[:3]) + ", ..., " + ", ".join(f"{v:.4f}" for v in row[-3:])


embedding = nn.Embedding(100070, 64).reset_parameters("embedding.")
print(embedding.weight)
x_batch_embedding = embedding(x_batch)
print("x_batch_embedding:", list(x_batch_embedding.shape))

# %% positions
from math import log

position = nn.arange(16).unsqueeze(1)
div_term = nn.exp(nn.arange(0, 64, 2) * (-log(10000.0) / 64))
angle = position * div_term
table = nn.stack([nn.sin(angle), nn.cos(angle)], 2).view(16, 64)
print("position * div_term:", list(angle.shape))
print(table)

# %% x
x = x_batch_embedding + table
print("x:", list(x.shape))
print(first_row(x))

# %% qkv
attention = nn.MultiHeadAttention(64, 4, bias=True)
Wq, Wk, Wv, Wo = attention.W_q, attention.W_k, attention.W_v, attention.W_o
attention.reset_parameters("blocks.0.attention.", init="pytorch")
Q, K, V = Wq(x), Wk(x), Wv(x)
print(first_row(Q))
Q, K, V = (z.reshape(4, 16, 4, 64 // 4).permute(0, 2, 1, 3) for z in (Q, K, V))
print("Q by heads:", list(Q.shape))
for name, z in (("Q", Q), ("K", K), ("V", V)):
    print(f"{name}: from {z.min().item():.4f} to {z.max().item():.4f}")

# %% attention
scaled = nn.matmul(Q, K.transpose(-2, -1)) / 16**0.5
mask = nn.triu(nn.ones(16, 16), diagonal=1)
for row in mask[:5, :5].tolist():
    print(*(f"{hidden:.0f}" for hidden in row))
weights = nn.softmax(scaled.masked_fill(mask, float("-inf")), dim=-1)
heads = weights @ V
print("heads:", list(heads.shape))
print(", ".join(f"{v:.4e}" for v in heads[0, 0, 0, :3].tolist()))
projected = Wo(heads.transpose(1, 2).reshape(4, -1, 64))
print("projected:", list(projected.shape))
weights[0, 0].heatmap()

# %% ffn
layer_norm = nn.LayerNorm(64)
norm = layer_norm(x + projected)
ffn = nn.PositionWiseFFN(256, 64).reset_parameters("blocks.0.ffn.", init="pytorch")
forward_output = norm + ffn(norm)
print("norm + FFN(norm):", list(forward_output.shape))
print(first_row(forward_output))

# %% logits
output = nn.Linear(64, 100070).reset_parameters("output.", init="pytorch")
logits = output(layer_norm(forward_output))
print("logits:", list(logits.shape))
print(first_row(logits))
probabilities = nn.softmax(logits[0, 0])
best = probabilities.argmax().item()
print(f"most probable: {best}")
print(f"with probability {probabilities[best].item():.6f}")

# %% training
import os
import shutil

import rapt

while not os.path.exists("recipes"):  # a notebook begins in docs/notebooks
    if os.getcwd() == os.path.abspath(".."):
        raise FileNotFoundError("no folder above this one has recipes: open the notebook in the sources of rapt")
    os.chdir("..")
if os.path.exists("data/sales-textbook") and os.path.exists("data/cl100k_base"):
    recipe = rapt.Recipe(file="recipes/sales-textbook-seed.yaml", **{"train.steps": 300, "train.report_every": 150,
                                                                     "train.sample_every": 0})
    shutil.rmtree("lesson/trained-python", ignore_errors=True)
    run = rapt.train(recipe, "lesson/trained-python")
    assert [f"{step.loss:.4f} {step.val_loss:.4f}" for step in run.steps] == ["7.8568 6.9971", "6.1786 6.5212"]
    salesperson = run.model().generate("The salesperson", temperature=0.8, top_k=20, seed=3, max_tokens=30)
    assert salesperson.text.startswith(", you the salespeople,. By your your, it the customer's of the customer's")
