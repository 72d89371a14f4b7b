"""The Python cells of docs/book/18-during-training.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% slopes (own)
import math

from rapt import nn, optim

steps = [0, 1, 2, 4, 8]
scores = nn.tensor([[s, 0] for s in steps], requires_grad=True)
with nn.grad():
    weights = scores.softmax()[:, 0]  # of the key that helps
    weights.sum().backward()
print(*(f"{weight:.4f}" for weight in weights.tolist()))
print(*(f"{slope:.4f}" for slope in scores.grad[:, 0].tolist()))

# %% lines
def backwards(source):
    """What the decoder reads, behind <bos>, and what it is to write."""
    labels = [row[::-1] for row in source]
    return [[0] + row[:-1] for row in labels], labels


def random_lines():
    """32 lines of six letters a step, as the program draws them."""
    state = 1
    while True:
        source = []
        for _ in range(32 * 6):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            source.append(1 + (state >> 33) % 8)
        yield [source[i:i + 6] for i in range(0, 32 * 6, 6)]


# %% model
nn.seed(1)
encoder = nn.TransformerEncoder(9, 32, 64, 1, 1, 0, use_bias=True)
decoder = nn.TransformerDecoder(9, 32, 64, 1, 1, 0, use_bias=True)
net = nn.EncoderDecoder(encoder, decoder).reset_parameters()


def look():
    """The loss of "abcdef", the probability of its first letter, how many are right, and the attention weights."""
    source = [[1, 2, 3, 4, 5, 6]]
    target, labels = backwards(source)
    shares = net(source, target).softmax()[0].tolist()
    p = [row[label] for row, label in zip(shares, labels[0])]
    loss = -sum(math.log(share) for share in p) / 6
    right = sum(share == max(row) for share, row in zip(p, shares))
    return loss, p[0], right, decoder.attention_weights[1][0][0, 0]

# %% training
trainer = optim.Adam(net.parameters(), lr=0.003)
looks = {0: look()}
for step, source in zip(range(1, 161), random_lines()):
    target, labels = backwards(source)
    with nn.grad():
        nn.cross_entropy(net(source, target), labels).backward()
    trainer.clip(1)
    trainer.step()
    trainer.zero_grad()
    if step % 10 == 0:
        looks[step] = look()
for step in range(0, 161, 20):
    loss, first, right, _ = looks[step]
    print(f"{step:3}  {loss:.4f}  {first:.4f}  {right} of 6")

# %% weights
for step in (50, 160):
    for letter, row in zip("fedcba", looks[step][3].tolist()):
        print(letter, *(f"{weight:.4f}" for weight in row))
looks[160][3].heatmap(list("fedcba"), list("abcdef"))

# %% run (own)
import rapt

pairs = []
for _, rows in zip(range(40), random_lines()):
    for row in rows:
        letters = ["abcdefgh"[letter - 1] for letter in row]
        pairs.append((" ".join(letters), " ".join(letters[::-1])))
recipe = {"task": "translation", "seed": 1, "tokenizer.type": "words", "data.validation_fraction": 0,
          "model.d_model": 32, "model.layers": 1, "model.heads": 1, "model.ffn": 64, "model.dropout": 0,
          "model.tied": False, "model.init": "xavier", "train.steps": 160, "train.batch": 32, "train.lr": 0.003,
          "train.schedule": "constant", "train.warmup": 10, "train.label_smoothing": 0, "train.report_every": 40}


def report(step, model):
    seen = model.explain("a b c d e f", target="f e d c b a")["decoder.0.cross_attention.weights"].tolist()[0][0]
    print(f"step {step.step}: loss {step.loss:.4f}, attention to the last letter before the first is written {seen[0][5]:.3f}")


run = rapt.train(recipe, pairs=pairs, on_report=report)
print(run.model("last").translate("h e a d e d"))
