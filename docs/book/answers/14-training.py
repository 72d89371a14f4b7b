"""The answers to the exercises of docs/book/14-training.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
logits = nn.tensor([[0, math.log(3)]], requires_grad=True)
nats = nn.cross_entropy(logits, [0]).item()
with nn.grad():
    loss = nn.cross_entropy(logits, [0], label_smoothing=0.2)
    loss.backward()
print(f"{nats:.4f} nats", f"{nats / math.log(2):g} bits", f"{math.exp(nats):g}", f"{loss.item():.4f}", sep="\n")
print(*(f"{number:g}" for number in logits.grad[0].tolist()), sep="\n")

# %% 2
def train(smoothing, zero=True):
    """The last loss and gradient norm, and the mean probability of the labels."""
    nn.seed(1)
    net = LanguageModel(len(numbers), 64, 4, 256).reset_parameters(init="pytorch")
    net(inputs)
    trainer = optim.Adam(net.parameters())
    for step in range(1, 61):
        with nn.grad():
            loss = nn.cross_entropy(net(inputs), labels, label_smoothing=smoothing)
            loss.backward()
        norm = trainer.clip(1)
        trainer.lr = 0.003 * min(1, step / 10)
        trainer.step()
        if zero:
            trainer.zero_grad()
    probabilities = net(inputs).softmax().tolist()
    given = [row[label] for window, wanted in zip(probabilities, labels) for row, label in zip(window, wanted)]
    return f"{loss.item():.4f}", f"{norm:.1f}", f"{sum(given) / 64:.4f}"


def entropy(probabilities):
    return -sum(p * math.log(p) for p in probabilities)


loss, _, given = train(0.1)
print(loss, given, train(0)[2], sep="\n")
one, two = entropy([0.9 + 0.1 / 53] + [0.1 / 53] * 52), entropy([0.45 + 0.1 / 53] * 2 + [0.1 / 53] * 51)
print(f"{one:.4f}", f"{two:.4f}", f"{(62 * one + 2 * two) / 64:.4f}", sep="\n")
assert train(0, zero=False)[:2] == ("0.8338", "39.5")  # Try, at its end
