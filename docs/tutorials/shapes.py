"""The Python cells of docs/tutorials/shapes.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% embedding
from rapt import nn

nn.seed(1)
embedding = nn.Embedding(10, 3).reset_parameters("words.")
output_vectors = embedding([2, 5, 1])
print(output_vectors)
assert output_vectors[0].tolist() == embedding.weight[2].tolist()

# %% preprocessor
vocab_size, d_model, batch_size, seq_len = 10000, 512, 32, 50
uniform = nn.draw("batch.tokens", (batch_size, seq_len), "uniform")
input_ids = [[int(v) for v in row] for row in ((uniform + 1) * (vocab_size - 1) / 2).tolist()]

words = nn.Embedding(vocab_size, d_model).reset_parameters("batch.embedding.")
x = nn.PositionalEncoding(d_model, 0, 100)(words(input_ids))
print("output:", list(x.shape))

# %% qkv
def first_row(x):
    row = x.reshape(-1, x.shape[-1])[0].tolist()
    return ", ".join(f"{v:.4f}" for v in row[:3]) + ", ..., " + ", ".join(f"{v:.4f}" for v in row[-3:])


num_heads = 16
head_dim = d_model // num_heads
attention = nn.MultiHeadAttention(d_model, num_heads, bias=True)
query, key, value = attention.W_q, attention.W_k, attention.W_v
attention.reset_parameters("attention.", init="pytorch")
Q, K, V = query(x), key(x), value(x)
print(first_row(Q))
print("Q:", list(Q.shape))

# %% heads
def by_heads(x):
    return x.view(batch_size, seq_len, num_heads, head_dim).transpose(1, 2)


head, feature = num_heads // 3, head_dim // 3
assert by_heads(Q)[3, head, 7, feature].item() == Q[3, 7, head * head_dim + feature].item()
print("Q:", list(by_heads(Q).shape))

# %% weights
scores = nn.matmul(by_heads(Q), by_heads(K).transpose(-2, -1))
print("scores:", list(scores.shape))
weights = nn.softmax(scores / head_dim**0.5, dim=-1)
print("attention:", list(weights.shape))
print(first_row(weights))
output = nn.matmul(weights, by_heads(V)).transpose(1, 2).reshape(batch_size, seq_len, -1)
print("output:", list(output.shape))
weights[0, 0].heatmap()

# %% ffn
projected_output = attention.W_o(output)
ffn = nn.PositionWiseFFN(2048, d_model).reset_parameters("ffn.", init="pytorch")
print("projected_output:", list(projected_output.shape))
print("ffn_output:", list(ffn(projected_output).shape))

# %% observer
def show(name, formula, values, is_gradient):
    print(name, list(values.shape), formula)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.ffn = attention, ffn

    def forward(self, x):
        return self.ffn(self.attention(x, x, x))


with nn.observe(show):
    ffn_output = Encoder()(x)
difference = (ffn_output - ffn(projected_output))[3, 7].tolist()
assert all(abs(v) < 1e-5 for v in difference), "not what the cells have: run them again, from the one with num_heads on"

# %% model
import os
import shutil

import rapt

while not os.path.exists("recipes"):  # a notebook begins in docs/notebooks
    if os.getcwd() == os.path.abspath(".."):
        raise FileNotFoundError("no folder above this one has recipes: open the notebook in the sources of rapt")
    os.chdir("..")
recipe = rapt.Recipe(file="recipes/quickstart.yaml", **{"model.positions": "learned"})
shutil.rmtree("lesson/learned-python", ignore_errors=True)
run = rapt.train(recipe, "lesson/learned-python", untrained=True)
explanation = run.model().explain("I like tea.", names=["encoder.0.attention.*"])
for step in explanation.statistics():
    print(step["name"], "=", step["formula"])
    print("shape", step["shape"], f"({', '.join(step['axes'])})", f"min {step['min']:.4f} mean {step['mean']:.4f}")
words = explanation.sequences["source"]
explanation["encoder.0.attention.weights"][0, 0].heatmap(words, words)
