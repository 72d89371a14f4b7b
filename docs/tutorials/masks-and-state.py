"""The Python cells of docs/tutorials/masks-and-state.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% dot-product
from rapt import nn

nn.seed(1)
queries, keys = nn.draw("queries", (2, 1, 2)), nn.ones(2, 10, 2)
values = nn.arange(40).reshape(1, 10, 4).expand(2, 10, 4)
attention = nn.DotProductAttention(dropout=0.5).eval()
print(attention(queries, keys, values, [2, 6]))
for weights in attention.attention_weights:
    print(", ".join(f"{weight:.4f}" for weight in weights[0, :8].tolist()))

# %% masked-softmax
scores = nn.zeros(2, 2, 4)
for valid_lens in (None, [2, 3], [[1, 3], [2, 4]], [0, 4]):
    print("valid_lens", valid_lens)
    print(nn.masked_softmax(scores, valid_lens))

# %% multi-head
attention = nn.MultiHeadAttention(100, 5, 0.5).reset_parameters("attention.").eval()
X, Y = nn.draw("X", (2, 4, 100)), nn.draw("Y", (2, 6, 100))
print("attention(X, Y, Y, valid_lens):", list(attention(X, Y, Y, [3, 2]).shape))
print("attention weights:", list(attention.attention_weights.shape))
assert attention.attention_weights[0, :, :, 3:].max().item() == attention.attention_weights[1, :, :, 2:].max().item() == 0

# %% transpose-qkv
def transpose_qkv(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1).permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)


heads = transpose_qkv(X, 5)
print("transpose_qkv(X, 5):", list(heads.shape))
print("transpose_output of it:", list(transpose_output(heads, 5).shape))
assert transpose_output(heads, 5).tolist() == X.tolist()

# %% positions
encoding = nn.PositionalEncoding(32, 0.5)
with nn.grad(step=0):
    trained = encoding(nn.zeros(1, 60, 32))[0, 1:].reshape(-1).tolist()  # position 0 has zeros of its own
print(f"in training, p = 0.5: {trained.count(0.0)} of {len(trained)} numbers are 0")
assert encoding.eval()(nn.zeros(1, 60, 32)).tolist() == encoding.P[:, :60].tolist()

# %% embedding
printed = [[1.2475, 0.2461, -0.1228], [0.5988, -2.0277, -1.4456], [1.2011, 0.2131, -0.9624], [1.2717, 1.7339, 1.2558],
           [-0.3740, 2.0479, 0.6131]]
table = nn.Embedding.from_pretrained(printed)
print(table([[1, 2, 4, 3], [4, 3, 2, 1]]))
try:
    table([[1, 2, 4, 5], [4, 3, 2, 9]])
except ValueError as error:
    print(str(error).partition(": ")[2])  # without the name of the table

# %% options
def show_gradients(name, table):
    with nn.grad():
        table([[1, 2, 4, 2], [4, 0, 2, 1]]).sum().backward()
    rows = [row[0] for row in table.weight.grad.tolist()] if table.weight.requires_grad else [0] * 5
    print(name)
    print(*(f"{x:.0f}" for x in rows))


show_gradients("nn.Embedding(5, 3)", nn.Embedding(5, 3))
show_gradients("padding_idx=2", nn.Embedding(5, 3, padding_idx=2))
show_gradients("scale_grad_by_freq=True", nn.Embedding(5, 3, scale_grad_by_freq=True))
table = nn.Embedding(5, 3, max_norm=1).eval()
table([[0, 1, 2, 3, 4]])
assert (table.weight * table.weight).sum(axis=1).max().item() < 1 + 1e-5  # the table itself is changed, also in eval()

# %% pretrained
import os
import shutil

import rapt

while not os.path.exists("recipes"):  # a notebook begins in docs/notebooks
    if os.getcwd() == os.path.abspath(".."):
        raise FileNotFoundError("no folder above this one has recipes: open the notebook in the sources of rapt")
    os.chdir("..")
os.makedirs("lesson", exist_ok=True)
with open("lesson/glove.txt", "w") as file:
    file.write("i 1.2475 0.2461 -0.1228 0.5988\ntea -2.0277 -1.4456 1.2011 0.2131\nzebra 1 2 3 4\n")
recipe = rapt.Recipe(file="recipes/quickstart.yaml", **{"model.d_model": 4, "model.heads": 2, "train.freeze_vectors": True,
                                                        "train.vectors": "lesson/glove.txt"})
shutil.rmtree("lesson/pretrained-python", ignore_errors=True)
model = rapt.train(recipe, "lesson/pretrained-python", max_steps=10, on_warning=print).model()
ids = model.source_tokenizer.encode("I tea")
print(*ids)
for i in ids:
    print(", ".join(f"{x:.4e}" for x in model.parameters["encoder.embedding.weight"][i].tolist()))

# %% dec-valid-lens
batch_size, num_steps = 2, 5
self_attention = nn.MultiHeadAttention(32, 4).reset_parameters("lens.self_attention.").eval()
words = nn.draw("lens.X", (batch_size, num_steps, 32))
dec_valid_lens = nn.arange(1, num_steps + 1).repeat(batch_size, 1)
for row in dec_valid_lens.tolist():
    print([int(length) for length in row])
by_lengths = self_attention(words, words, words, dec_valid_lens)
causal = self_attention(words, words, words, causal=True)
unmasked = self_attention(words, words, words)
assert by_lengths.tolist() == causal.tolist() != unmasked.tolist()
assert causal[:, -1].tolist() == unmasked[:, -1].tolist()  # the last word sees all words in any case

# %% state
self_attention.reset_parameters("state.self_attention.")
words = nn.draw("state.X", (batch_size, num_steps, 32))
whole = self_attention(words, words, words, causal=True)
so_far = None
for i in range(num_steps):
    word = words[:, i:i + 1]
    so_far = word if so_far is None else nn.cat((so_far, word), axis=1)
    print(f"step {i}: key_values:", list(so_far.shape))
    assert self_attention(word, so_far, so_far)[:, 0].tolist() == whole[:, i].tolist()
