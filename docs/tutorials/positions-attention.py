"""The Python cells of docs/tutorials/positions-attention.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% div-term
import math

from rapt import nn

d_model, max_seq_len = 16, 80
indices = nn.arange(0, d_model, 2)
factor = -math.log(10000.0) / d_model
div_term = nn.exp(indices * factor)
print(f"-math.log(10000.0) / d_model: {-math.log(10000.0):.4f} / {d_model} = {factor:.4f}")
print(*(f"{x:.4f}" for x in (indices * factor).tolist()))
print(*(f"{x:.4e}" for x in div_term.tolist()))

# %% table
angle = nn.arange(max_seq_len).unsqueeze(1) * div_term
pe = nn.stack([nn.sin(angle), nn.cos(angle)], 2).view(1, max_seq_len, d_model)
for feature in (14, 15):
    print(*(f"{x:.6f}" for x in pe[0, :5, feature].tolist()))

# %% broadcasting
nn.seed(1)
for batch, time, d in ((16, 20, 512), (4, 10, 512), (2, 5, 8)):
    x = nn.draw("x", (batch, time, d))
    positions = nn.PositionalEncoding(d, 0, 80)
    total = x + positions.P[:, :time]
    assert total.tolist() == positions(x).tolist()
    print("x + pe[:, :seq_len]:", list(total.shape))

# %% buffer
import os
import shutil

import rapt

while not os.path.exists("recipes"):  # a notebook begins in docs/notebooks
    if os.getcwd() == os.path.abspath(".."):
        raise FileNotFoundError("no folder above this one has recipes: open the notebook in the sources of rapt")
    os.chdir("..")
shutil.rmtree("lesson/translator-python", ignore_errors=True)
translator = rapt.train("recipes/quickstart.yaml", "lesson/translator-python", untrained=True).model()
print("parameters", translator.info()["parameters"])
for name in ("encoder.embedding.weight", "encoder.positions.table"):
    print(name, list(translator.parameters[name].shape))

# %% scaling
words = nn.draw("scaling.words", (1000, 512))
length = sum(nn.norm(row).item() for row in words) / 1000
print(f"mean length of a word vector: {length:.1f}")
print(f"divided by sqrt(512), as the text says: {length / 512**0.5:.3f}")
print(f"times sqrt(512), as the code does: {length * 512**0.5:.1f}")

# %% main
pe = nn.PositionalEncoding(16, 0, 5).P
print(pe[0, :5, :8])
similarity = nn.cosine_similarity(pe[0, 0], pe[0, 1], dim=0).item()
print(f"cosine similarity of positions 0 and 1: {similarity:.4f}")
embed = nn.draw("embed", (1, 16))
print(f"distance of one embedding at positions 0 and 1: {nn.norm((embed + pe[0, 0]) - (embed + pe[0, 1])).item():.4f}")

# %% softmax
scores = nn.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
sentence = ["I", "like", "apples"]
for title, dim in (("softmax(dim=-1):", -1), ("softmax(dim=0), which is wrong here:", 0)):
    print(title)
    for name, row in zip(sentence, nn.softmax(scores, dim=dim).tolist()):
        print(name, *(f"{x:.6f}" for x in row))

# %% masks
batch_size, seq_len, heads = 2, 5, 4
attention = nn.MultiHeadAttention(16, heads, bias=True).reset_parameters("masks.", init="pytorch")
x = nn.draw("masks.x", (batch_size, seq_len, 16))
attention(x, x, x, [5, 3])
print(attention.attention_weights[1, 0])
attention(x, x, x, causal=True)
print(attention.attention_weights[1, 0])

# %% masked-fill
scores = nn.matmul(attention.W_q(x)[1, :, :4], attention.W_k(x)[1, :, :4].transpose(0, 1)) / 2  # head 0 of sentence 1
above = nn.triu(nn.ones(seq_len, seq_len), 1)
print(scores.masked_fill(above, -1e9).softmax(-1))
no_key = scores.masked_fill(nn.ones(seq_len, seq_len), -1e9).softmax(-1)
assert [round(x, 4) for x in no_key[0].tolist()] == [0.2] * 5
attention(x, x, x, [5, 0])
assert attention.attention_weights[1].max().item() == 0

# %% attention
multi_head_attn = nn.MultiHeadAttention(16, heads, 0.1, bias=True).reset_parameters("multi_head_attn.", init="pytorch").eval()
q, k, v = (nn.draw(name, (batch_size, seq_len, 16)) for name in "qkv")
output = multi_head_attn(q, k, v)
weights = multi_head_attn.attention_weights
print("output:", list(output.shape))
print("attention weights:", list(weights.shape))
print(f"sum of the weights of head 0, position 0: {weights[0, 0, 0].sum().item():.4f}")
for query, row in enumerate(weights[0, 0].tolist()):
    print(query, *(f"{x:.6g}" for x in row))
weights[0, 0].heatmap()

# %% ffn
ffn = nn.PositionWiseFFN(64, 16).reset_parameters("ffn.", init="pytorch")
X = nn.draw("ffn.x", (2, 5, 16))
print("dense2(relu(dense1(X))):", list(ffn(X).shape))
by_hand = nn.relu(X @ ffn.dense1.weight.transpose(0, 1) + ffn.dense1.bias) @ ffn.dense2.weight.transpose(0, 1) + ffn.dense2.bias
assert all(abs(x) < 1e-5 for x in (by_hand - ffn(X)).reshape(-1).tolist())
