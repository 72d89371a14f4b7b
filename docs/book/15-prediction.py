"""The Python cells of docs/book/15-prediction.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% ways (own)
import math

people = {"tea": 0.5, "water": 0.3, "coffee": 0.15, "juice": 0.05}


def choose(p, temperature=1, top_k=None, top_p=1, min_p=0):
    """The probabilities that each token is drawn with: the temperature first, then the cuts."""
    powers = {token: share ** (1 / temperature) for token, share in p.items()}
    order = sorted(powers, key=powers.get, reverse=True)[:top_k]
    total, kept = sum(powers[token] for token in order), {}
    for token in order:
        share = powers[token] / total
        if sum(kept.values()) >= top_p or share < min_p * powers[order[0]] / total:
            break
        kept[token] = share
    return {token: share / sum(kept.values()) for token, share in kept.items()}


ways = {"the model": {}, "argmax": {"top_k": 1}, "temperature 0.5": {"temperature": 0.5},
        "temperature 2": {"temperature": 2}, "top-k 2": {"top_k": 2}, "top-p 0.85": {"top_p": 0.85},
        "min-p 0.2": {"min_p": 0.2}}
for name, way in ways.items():
    chosen = choose(people, **way)
    print(name, *(f"{chosen.get(drink, 0):.3f}" for drink in people))

# %% kept (own)
def attend(query, keys, values):
    powers = [math.exp(query * key) for key in keys]
    return sum(power * value for power, value in zip(powers, values)) / sum(powers)


keys, values = [0, math.log(2), 0], [4, 8, 12]
print(f"third token: {attend(1, keys, values):.4f}")
keys, values = keys + [math.log(4)], values + [16]  # all that the fourth token adds
print(f"fourth token: {attend(1, keys, values):.4f}")

# %% bleu (own)
from collections import Counter

import rapt


def ngrams(text, n):
    words = text.split()
    return Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))


def bleu(translations, references):
    """BLEU and its parts: for n = 1 to 4 how many n-grams match and how many there are, and the penalty for short texts."""
    pairs, right, there = list(zip(translations, references)), [], []
    for n in range(1, 5):
        right.append(sum((ngrams(text, n) & ngrams(reference, n)).total() for text, reference in pairs))  # & is the smaller count
        there.append(sum(ngrams(text, n).total() for text in translations))
    length, wanted = there[0], sum(len(reference.split()) for reference in references)
    penalty = min(1, math.exp(1 - wanted / length))
    score = penalty * math.prod(r / t for r, t in zip(right, there)) ** (1 / 4)
    return score, right, there, penalty


references = ["the cat sat on the mat", "we drink tea with milk"]
translations = ["the cat is on the mat", "we drink tea with sugar"]
score, right, there, penalty = bleu(translations, references)
print(*(f"{r} of {t}" for r, t in zip(right, there)), sep=", ")
print(f"BLEU {score:.3f}")
assert abs(rapt.corpus_bleu(translations, [references]).score - 100 * score) < 1e-9

# %% model
from rapt import nn, optim

counts = {"we drink tea with milk.": 3, "we drink tea with sugar.": 2, "we drink tea with honey.": 2,
          "we drink tea with lemon.": 2, "we drink tea with ginger.": 1, "we drink water from the spring.": 6,
          "we drink coffee at work.": 3, "we drink juice at home.": 1}
tokenizer = rapt.Tokenizer.train_bpe("\n".join(counts) + "\n", 512, min_freq=1)  # until each word is a token
rows = [tokenizer.encode(sentence + "\n") for sentence, times in counts.items() for _ in range(times)]
lengths = [len(row) - 1 for row in rows]
inputs = [row[:-1] + [0] * (9 - length) for row, length in zip(rows, lengths)]
labels = [row[1:] + [0] * (9 - length) for row, length in zip(rows, lengths)]


class LanguageModel(nn.Module):
    """The model of chapter 14, in one class."""

    def __init__(self, vocabulary, features, heads, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features)
        self.positions = nn.PositionalEncoding(features, dropout=0)
        self.attention = nn.MultiHeadAttention(features, heads, bias=True)
        self.ffn = nn.PositionWiseFFN(hidden, features)
        self.norm = nn.AddNorm(features, dropout=0)
        self.output = nn.Linear(features, vocabulary)

    def forward(self, ids):
        X = self.positions(self.embedding(ids))
        X = self.norm(X, self.attention(X, X, X, causal=True))
        return self.output(self.norm(X, self.ffn(X)))


nn.seed(1)
net = LanguageModel(512, 32, 4, 64).reset_parameters(init="pytorch")
for name in ("attention", "ffn"):
    getattr(net, name).reset_parameters(f"blocks.0.{name}.", init="pytorch")
net(inputs)  # the first input gives the layers their sizes
trainer = optim.Adam(net.parameters())
for step in range(1, 151):
    with nn.grad():
        loss = nn.cross_entropy(net(inputs), labels, lengths)
        loss.backward()
    trainer.lr = 0.01 * min(1, (150 - step) / 50)
    trainer.step()
    trainer.zero_grad()
print(f"20 sentences, learned in 150 steps: loss {loss.item():.4f}")

# %% choices
def next_token(prompt):
    """The probability of each token after a prompt."""
    powers = [math.exp(logit) for logit in net([tokenizer.encode(prompt)])[0, -1].tolist()]
    total = sum(powers)
    return {token: power / total for token, power in enumerate(powers)}


after_drink = next_token("we drink")
drinks = [tokenizer.encode(f" {drink}")[0] for drink in people]
for name, way in ways.items():
    chosen = choose(after_drink, **way)
    print(name, *(f"{chosen.get(token, 0):f}" for token in drinks))

# %% cuts
prompts = ("we drink", "we drink tea with", "we drink water from the")
for name in ("top-k 2", "top-p 0.85", "min-p 0.2"):
    print(name, *(len(choose(next_token(prompt), **ways[name])) for prompt in prompts))

# %% beam
def search(prompt, beams):
    """The most probable sentence that a search with this number of hypotheses finds, with its probability."""
    end = tokenizer.encode("\n")
    live, best = [(1.0, tokenizer.encode(prompt))], (0.0, [])
    while live and live[0][0] > best[0]:
        shares = net([ids for _, ids in live])[:, -1].softmax().tolist()
        found = [(p * share, ids + [token]) for (p, ids), row in zip(live, shares) for token, share in enumerate(row)]
        found = sorted(found, reverse=True)[:beams]
        print("  " + ", ".join(f"{p:.4f}" for p, _ in found))
        best = max([best] + [(p, ids) for p, ids in found if ids[-1:] == end])
        live = [(p, ids) for p, ids in found if ids[-1:] != end]
    return best


for beams in (1, 2):
    p, ids = search("we drink", beams)
    print(f"probability {p:.4f}: {tokenizer.decode(ids)}", end="")

# %% cache
def step(token, earlier):
    """The logits after one more token; `earlier` has what came before it, [1, time, 32], or is None."""
    past = 0 if earlier is None else earlier.shape[1]
    x = net.positions(net.embedding([[token]]), past)
    seen = nn.concat([earlier, x], 1) if past else x
    x = net.norm(x, net.attention(x, seen, seen, causal=True, past=past))
    return net.output(net.norm(x, net.ffn(x))), seen


row, seen = tokenizer.encode("we drink water from the spring.\n"), None
n = len(row)
whole = net([row])
for i, token in enumerate(row):
    logits, seen = step(token, seen)
    assert logits.tolist() == whole[:, i:i + 1].tolist()
print(f"{n} tokens one after the other: {n * (n + 1) // 2} positions by whole rows, {n} with a cache")

# %% picture
words = [" tea", " water", " coffee", " juice", " milk", " sugar", " honey", " lemon", " ginger", " spring"]
after = [next_token(prompt) for prompt in prompts]
columns = [(after[(i > 3) + (i > 8)], tokenizer.encode(word)[0]) for i, word in enumerate(words)]
rows = [[choose(p, **way).get(token, 0) for p, token in columns] for way in ways.values()]
nn.tensor(rows).heatmap(list(ways), words)
