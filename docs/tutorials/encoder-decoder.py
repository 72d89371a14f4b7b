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

# %% positions-alone
def alone(layer, x):
    changed = nn.cat([x[:, :1] + 1, x[:, 1:]], 1)
    return layer(x)[:, 1:].tolist() == layer(changed)[:, 1:].tolist()


x = nn.draw("alone.X", (1, 3, 4))
attention = nn.MultiHeadAttention(4, 2)
for name, layer in (("nn.Linear", nn.Linear(4, 4)), ("PositionWiseFFN", nn.PositionWiseFFN(8, 4)),
                    ("nn.LayerNorm(4)", nn.LayerNorm(4)), ("nn.LayerNorm([3, 4])", nn.LayerNorm([3, 4])),
                    ("MultiHeadAttention", lambda x: attention(x, x, x))):
    print(f"{name:20}", "each position alone" if alone(layer, x) else "positions are mixed")

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
