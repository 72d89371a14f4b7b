"""The Python cells of docs/tutorials/encoder-decoder.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% ffn
from rapt import nn

nn.seed(1)
ffn = nn.PositionWiseFFN(4, 8).reset_parameters("ffn.")
X = nn.ones(2, 3, 4)
print("ffn(X):", list(ffn(X).shape))
print(ffn(X)[0])
try:
    X + ffn(X)
except ValueError as error:
    print(str(error).partition(", and")[0])

# %% conv-lstm
class Conv1d(nn.Module):
    """A linear layer of three neighbors side by side; zeros stand before the first position and after the last."""

    def __init__(self, d):
        super().__init__()
        self.linear = nn.Linear(3 * d, d)

    def forward(self, X):
        n, edge = X.shape[1], nn.zeros(X.shape[0], 1, X.shape[2])
        padded = nn.cat([edge, X, edge], 1)
        return self.linear(nn.cat([padded[:, i:i + n] for i in range(3)], 2))


def sigmoid(x):
    return ((x / 2).tanh() + 1) / 2


class LSTM(nn.Module):
    """Position after position: each step sees its vector and the result h of the step before; c is what the cell remembers."""

    def __init__(self, d):
        super().__init__()
        self.gates, self.d = nn.Linear(2 * d, 4 * d), d

    def forward(self, X):
        h = c = nn.zeros(X.shape[0], 1, self.d)
        results = []
        for i in range(X.shape[1]):
            gates = self.gates(nn.cat([X[:, i:i + 1], h], 2))
            take, forget, candidate, output = (gates[:, :, g * self.d:(g + 1) * self.d] for g in range(4))
            c = sigmoid(forget) * c + sigmoid(take) * candidate.tanh()
            h = sigmoid(output) * c.tanh()
            results.append(h)
        return nn.cat(results, 1)


X = nn.draw("definitions.X", (1, 5, 4))
conv, lstm = Conv1d(4), LSTM(4)
conv.linear.reset_parameters("definitions.conv.", init="pytorch")
lstm.gates.reset_parameters("definitions.lstm.", init="pytorch")
print(conv(X)[0])
print(lstm(X)[0])

# %% positions-alone
attention = nn.MultiHeadAttention(4, 2)
numbers = nn.draw("alone.X", (1, 5, 4)).tolist()
for name, layer in (("nn.Linear", nn.Linear(4, 4)), ("nn.Conv1d", conv), ("nn.LSTM", lstm),
                    ("MultiHeadAttention", lambda x: attention(x, x, x)), ("PositionWiseFFN", nn.PositionWiseFFN(16, 4)),
                    ("nn.LayerNorm(4)", nn.LayerNorm(4)), ("nn.LayerNorm([5, 4])", nn.LayerNorm([5, 4]))):
    x = nn.tensor(numbers, requires_grad=True)
    with nn.grad():
        (layer(x)[0, 2] * nn.tensor([1, 2, 3, 1])).sum().backward()
    reached = [any(row) for row in x.grad[0].tolist()]
    print(f"{name:20}", "positions are mixed " if sum(reached) > 1 else "each position alone ",
          *("x" if there else "." for there in reached))

# %% add-norm
add_norm = nn.AddNorm([3, 4], 0.5).eval()
result = add_norm(nn.ones(2, 3, 4), nn.ones(2, 3, 4))
print("add_norm(ones, ones):", list(result.shape))
assert result.tolist() == nn.zeros(2, 3, 4).tolist()

# %% encoder-block
block = nn.TransformerEncoderBlock(24, 48, 8, 0.5)
block.addnorm1, block.addnorm2 = nn.AddNorm([100, 24], 0.5), nn.AddNorm([100, 24], 0.5)
X = nn.ones(2, 100, 24)
print("encoder_blk(X, valid_lens):", list(block.eval()(X, [3, 2]).shape))
weights = block.attention.attention_weights
print("attention_weights:", list(weights.shape))
print("addnorm1.ln.weight:", list(block.addnorm1.ln.weight.shape))
assert [round(x, 6) for x in weights[0, 7, 99, :4].tolist()] == [0.333333, 0.333333, 0.333333, 0]

# %% model
batch_size, num_steps = 64, 10
source = [[4 + (b * 37 + at * 101) % 180 if at < 4 + b % 7 else 0 for at in range(num_steps)] for b in range(batch_size)]
lens = [4 + b % 7 for b in range(batch_size)]
target = [[4 + (b * 53 + at * 71) % 197 if at else 1 for at in range(num_steps)] for b in range(batch_size)]

encoder = nn.TransformerEncoder(184, 32, 64, 4, 2, 0.1)
decoder = nn.TransformerDecoder(201, 32, 64, 4, 2, 0.1)
net = nn.EncoderDecoder(encoder, decoder).eval()
enc_outputs = encoder(source, lens)
logits, _ = decoder(target, decoder.init_state(enc_outputs, lens))
print("encoder(enc_X, enc_valid_lens):", list(enc_outputs.shape))
print("encoder.attention_weights[0]:", list(encoder.attention_weights[0].shape))
print("decoder(dec_X, state)[0]:", list(logits.shape))
print("decoder.attention_weights[1][0]:", list(decoder.attention_weights[1][0].shape))
print("parameters:", sum(p.numel() for p in net.parameters()))

# %% state
state = decoder.init_state(enc_outputs, lens)
for i in range(num_steps):
    word = [[row[i]] for row in target]
    next_logits, state = decoder(word, state)
    print(f"step {i}: dec_X [{batch_size}, 1], state[2][i]", list(state[2][0].shape))
    assert next_logits[:, 0].tolist() == logits[:, i].tolist()
inputs = decoder.pos_encoding(decoder.embedding(target) * 32**0.5)
difference = state[2][0] - inputs  # the state holds the inputs of the first block, one after the other
assert (difference * difference).max().item() < 1e-10

# %% prediction
words = decoder.embedding([[1, 5, 6, 7]]) * 32**0.5
row = decoder.pos_encoding(words)
for i in range(4):
    with_position, at_0 = (decoder.pos_encoding(words[:, i:i + 1], first) - row[:, i:i + 1] for first in (i, 0))
    print(f"word {i} alone: difference {with_position.max().item():.4f} at position {i},"
          f" {max(at_0.max().item(), -at_0.min().item()):.4f} at position 0")

# %% training
import os
import shutil

import rapt

while not os.path.exists("recipes"):  # a notebook begins in docs/notebooks
    if os.getcwd() == os.path.abspath(".."):
        raise FileNotFoundError("no folder above this one has recipes: open the notebook in the sources of rapt")
    os.chdir("..")
sentences = ["go .", "i lost .", "he's calm .", "i'm home ."]
labels = ["va !", "j'ai perdu .", "il est calme .", "je suis chez moi ."]
translations = None
if os.path.exists("data/fra-eng/fra.txt"):
    shutil.rmtree("lesson/d2l-python", ignore_errors=True)
    run = rapt.train("recipes/d2l-seq2seq.yaml", "lesson/d2l-python")
    print(f"loss {run.steps[-1].loss:.4f}  book {run.steps[-1].loss_book:.4f}")
    translations = [translation.text for translation in run.model().translate(sentences)]
    print(*translations, sep="\n")
else:
    print("there is no data/fra-eng/fra.txt: get it with `rapt fetch fra-eng`")

# %% bleu
if translations is None:
    print("no model was trained: no translations, no BLEU")
for translation, label in zip(translations or [], labels):
    print(f"{rapt.book_bleu(translation, label, k=2):.4f} BLEU of the book")
