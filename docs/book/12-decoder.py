"""The Python cells of docs/book/12-decoder.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% paper
from rapt import nn

nn.set_printoptions(threshold=1)  # of large tensors print the corners
attention = nn.MultiHeadAttention(2, 1).reset_parameters(init="zeros")
x = nn.tensor([[[4, 0], [0, 2], [2, 4]]])
memory = nn.tensor([[[1, 0], [0, 1], [9, 9]]])
attention(x, x, x)  # makes the matrices, all zeros
attention.W_v.weight.assign([[1, 0], [0, 1]])
attention.W_o.weight.assign([[1, 0], [0, 1]])
print(attention(x, x, x, causal=True)[0])
print(attention(x, memory, memory, [2])[0])

# %% training
lengths = [7] + [4 + pair % 7 for pair in range(1, 64)]  # of the sources
sources = [[4 + (pair * 37 + i * 101) % 180 if i < length else 1 for i in range(10)]
           for pair, length in enumerate(lengths)]
targets = [[4 + (pair * 53 + i * 71) % 197 if i else 2 for i in range(10)] for pair in range(64)]
sources[0] = [4, 5, 6, 4, 7, 8, 3, 1, 1, 1]  # we listen before we speak . <eos>
targets[0] = [2, 4, 5, 6, 7, 8, 9, 3, 1, 1]  # <bos> nous écoutons avant de parler . <eos>
nn.seed(1)
encoder = nn.TransformerEncoder(184, 32, 64, 4, 2, dropout=0.1).eval().reset_parameters("encoder.")
decoder = nn.TransformerDecoder(201, 32, 64, 4, 2, dropout=0.1).eval().reset_parameters("decoder.")
memory = encoder(sources, lengths)
logits, state = decoder(targets, decoder.init_state(memory, lengths))
print("logits:", list(logits.shape))
print(logits[0])
back, across = decoder.attention_weights
print("weights of block 0, looking back:", list(back[0].shape))
print("weights of block 0, looking across:", list(across[0].shape))

# %% masks
h, attention1 = memory, decoder.blks[0].attention1
per_query = [list(range(1, 11))] * 64  # of each sentence: query i sees i + 1 keys
assert attention1(h, h, h, per_query).tolist() == attention1(h, h, h, causal=True).tolist()

others = [row[:5] + [17] * 5 for row in targets]
changed, _ = decoder(others, decoder.init_state(memory, lengths))
assert changed[:, :5].tolist() == logits[:, :5].tolist()
assert changed[:, 5:].tolist() != logits[:, 5:].tolist()

# %% steps
state = decoder.init_state(memory, lengths)
for i in range(10):
    step, state = decoder([row[i:i + 1] for row in targets], state)
    assert step.tolist() == logits[:, i:i + 1].tolist()
print("logits of a step:", list(step.shape))

# %% picture
across[0][0, 0].heatmap("<bos> nous écoutons avant de parler . <eos> <pad> <pad>".split(),
                        "we listen before we speak . <eos> <pad> <pad> <pad>".split())
