"""The Python cells of docs/book/13-sales-textbook.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% hand (own)
tokens = [7, 1, 4, 9, 2, 6, 3, 5, 8, 0]
training = tokens[:len(tokens) * 9 // 10]
windows = [training[start:start + 5] for start in range(len(training) - 4)]  # four tokens and a label
inputs, labels = windows[2][:-1], windows[2][1:]
print("inputs: ", *inputs)
print("labels: ", *labels)
assert len(windows) == 5 and (inputs, labels) == ([4, 9, 2, 6], [9, 2, 6, 3])

# %% perplexity (own)
import math

loss = -(math.log(1 / 2) + math.log(1 / 8)) / 2
print(f"loss {loss:.3f}, perplexity {math.exp(loss):.3f}")

# %% text
import rapt
from rapt import nn

nn.set_printoptions(threshold=1)  # of large tensors print the corners
text = """\
Part 1: Listening First
A good seller listens before talking. The buyer knows what the day is like, what goes wrong and what it costs. The \
seller knows the product. Neither knows enough to close the deal, so the first talk is for questions.
Ask what the buyer does today. Ask what happens when it goes wrong. Ask who else is in the room when the buyer \
decides. Then say back what you heard, in the buyer's own words, and ask if that is right. Most of the time it is not \
quite right, and the buyer will tell you what you missed.

Part 2: The Offer
An offer is an answer to what you heard. If the buyer said that the machine stops twice a week, the offer says how \
often the new machine stops. If the buyer said nothing about the colour, the offer says nothing about the colour. A \
list of everything that the product does is not an offer; it is a test of the buyer's patience.
Say the price once, clearly, and then say nothing. The buyer needs the time to think, and the seller needs the time to \
listen again.

Part 3: Doubts
A doubt is a question that the buyer did not ask. When the buyer says that the price is too high, ask what it is high \
against: last year's price, the price of the other offer, or the price of doing nothing. Each of them has another \
answer.
Never win against the buyer. A buyer who was listened to will talk to others.
"""
tokenizer = rapt.Tokenizer.train_bpe(text, 512)
ids = tokenizer.encode(text)
training = ids[:len(ids) * 9 // 10]
print(f"tokens: {len(ids)}, the largest is {max(ids)}")
print(f"training set: {len(training)}, validation set: {len(ids) - len(training)}")
assert tokenizer.decode(ids) == text

# %% windows
starts = [315, 187, 383, 79]  # as the program drew them
inputs = [training[start:start + 16] for start in starts]
labels = [training[start + 1:start + 17] for start in starts]


def piece(token):
    return tokenizer.token(token).decode().replace(" ", "·")


for i, (token, label) in enumerate(zip(inputs[0], labels[0])):
    print(f"{i:4} {token:7}  {piece(token):10} {label:7}  {piece(label)}")

# %% input
nn.seed(1)
vocabulary = max(ids) + 1
embedding = nn.Embedding(vocabulary, 64).reset_parameters("embedding.")
x = nn.PositionalEncoding(64, dropout=0)(embedding(inputs))
print("x:", list(x.shape))
print(x[0])

# %% attention
W_q, W_k, W_v, W_o = (nn.Linear(64, 64).reset_parameters(f"blocks.0.attention.{name}.", init="pytorch") for name in "qkvo")


def by_heads(x):
    return x.reshape(4, 16, 4, 16).transpose(1, 2)


Q, K, V = by_heads(W_q(x)), by_heads(W_k(x)), by_heads(W_v(x))
scaled = Q @ K.transpose(2, 3) / math.sqrt(16)
weights = nn.masked_softmax(scaled, [list(range(1, 17))] * 4)  # query i sees i + 1 keys
print("scaled:", list(scaled.shape))
for query in range(5):
    print(query, *(f"{weight:f}" for weight in weights[0, 0, query, :query + 1].tolist()))
heads = weights @ V
projected = W_o(heads.transpose(1, 2).reshape(4, 16, 64))

# %% output
norm = nn.LayerNorm(64)
ffn = nn.PositionWiseFFN(256, 64).reset_parameters("blocks.0.ffn.", init="pytorch")
output = nn.Linear(64, vocabulary).reset_parameters("output.", init="pytorch")
h = norm(x + projected)
h = norm(h + ffn(h))
logits = output(h)
print("logits:", list(logits.shape))
print(logits[0])

# %% prediction
first = logits[0, 0].softmax()
best = int(first.argmax())
print(f'most probable: {best}, "{str(tokenizer.token(best))[2:-1]}", with probability {first[best].item():f}')
loss = nn.cross_entropy(logits, labels).item()
print(f"loss of the labels: {loss:.4f}, of a guess among {vocabulary}: ln {vocabulary} = {math.log(vocabulary):.4f}")
print(f"perplexity: {math.exp(loss):.1f}")

# %% picture
names = [tokenizer.token(token).decode() for token in inputs[0]]
weights[0, 0].heatmap(names, names)
