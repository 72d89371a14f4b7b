#!/usr/bin/python3
"""page_data.py: explanations to make pages of, as `rapt explain --json` writes them, with numbers that a formula gives:
page_data.py translation|language_model|long FILE. For check_page.py, which knows what each matrix holds; no model is run."""
import base64
import json
import math
import struct
import sys

HEADS, WIDTH, VOCAB = 4, 16, 24


def numbers(seed, count):
    """Signed numbers that no two cells of a small matrix share."""
    return [round(math.sin(0.7 * seed + 0.37 * i) * (1 + 0.01 * i), 6) for i in range(count)]


def softmax(row):
    top = max(row)
    powers = [math.exp(x - top) for x in row]
    return [p / sum(powers) for p in powers]


def statistics(values):
    finite = [x for x in values if math.isfinite(x)]
    mean = sum(finite) / len(finite)
    spread = sum((x - mean) ** 2 for x in finite) / max(1, len(finite) - 1)
    return {"min": min(finite), "mean": mean, "max": max(finite), "std": math.sqrt(spread)}


class Explanation:
    """`letters`: values as base64 of floats, of which a long text has many."""

    def __init__(self, letters=False):
        self.steps, self.letters = [], letters

    def add(self, name, formula, axes, sequences, shape, values=None, gradient=False):
        if values is None:
            values = numbers(len(self.steps) + 1, math.prod(shape))
            if self.letters:
                values[shape[-1]] = 3.3e-10  # rounded to 16 bits, among numbers up to 64, it has one true digit
        words = {math.inf: "inf", -math.inf: "-inf"}
        self.steps.append({"name": name, "formula": formula, "axes": axes, "sequences": sequences, "shape": shape,
                           **statistics(values), "gradient": gradient})
        if self.letters:
            self.steps[-1]["values_base64"] = base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
        else:
            self.steps[-1]["values"] = [words.get(x, x) for x in values]

    def rows(self, name, formula, sequence, length, width=WIDTH):
        self.add(name, formula, ["batch", "time", "feature"], [None, sequence, None], [1, length, width])

    def embedding(self, prefix, sequence, length):
        self.rows(prefix + "embedding", "E[id]", sequence, length)
        self.rows(prefix + "embedding.scaled", "embedding * sqrt(d_model)", sequence, length)
        self.rows(prefix + "positions", "P[position]", sequence, length)
        self.rows(prefix + "input", "embedding + positions", sequence, length)

    def attention(self, name, query, queries, key, keys, causal):
        part = WIDTH // HEADS
        for letter, sequence, length in (("q", query, queries), ("k", key, keys), ("v", key, keys)):
            self.add(f"{name}.{letter}", f"x W_{letter}^T", ["batch", "query", "feature"], [None, sequence, None],
                     [1, length, WIDTH])
        for letter, sequence, length in (("q", query, queries), ("k", key, keys), ("v", key, keys)):
            self.add(f"{name}.{letter}.heads", f"{letter.upper()}: {letter}, a part for each head",
                     ["batch", "head", "query", "feature"], [None, None, sequence, None], [1, HEADS, length, part])
        self.weights(name, [None, None, query, key], queries, keys, causal)
        self.add(name + ".heads", "weights V", ["batch", "head", "query", "feature"], [None, None, query, None],
                 [1, HEADS, queries, part])
        self.rows(name + ".concat", "heads side by side", query, queries)
        self.rows(name + ".output", "concat W_o^T", query, queries)

    def weights(self, name, sequences, queries, keys, causal):
        axes, shape = ["batch", "head", "query", "key"], [1, HEADS, queries, keys]
        seed = len(self.steps)
        even = 0.1 if self.letters else 3  # a head whose weights are all small stands beside heads with large ones
        scores = [(3 if h else even) * math.sin(seed + 1.3 * h + 0.9 * q * (h + 1) - 1.1 * k) - 0.8 * abs(q - k) * (h % 3)
                  for h in range(HEADS) for q in range(queries) for k in range(keys)]
        masked = [-math.inf if causal and i % keys > i // keys % queries else x / 2 for i, x in enumerate(scores)]
        weights = [w for i in range(0, len(masked), keys) for w in softmax(masked[i:i + keys])]
        self.add(name + ".scores", "Q K^T", axes, sequences, shape, scores)
        self.add(name + ".scaled", "scores / sqrt(d_k)", axes, sequences, shape, [x / 2 for x in scores])
        self.add(name + ".masked", "scaled, -inf where hidden", axes, sequences, shape, masked)
        self.add(name + ".weights", "softmax(masked)", axes, sequences, shape, weights)

    def norm(self, name, sequence, length, what=("sum", "output")):
        formulas = {"sum": "x + sublayer", "output": "(x - mean(x)) / sqrt(var(x) + eps) * gamma + beta"}
        for step in what:
            self.rows(f"{name}.{step}", formulas[step], sequence, length)

    def ffn(self, name, sequence, length):
        self.rows(name + ".hidden", "x W_1^T + b_1", sequence, length, 4 * WIDTH)
        hidden = numbers(len(self.steps), length * 4 * WIDTH)
        self.add(name + ".activation", "relu(hidden)", ["batch", "time", "feature"], [None, sequence, None],
                 [1, length, 4 * WIDTH], [max(0.0, x) for x in hidden])
        self.rows(name + ".output", "activation W_2^T + b_2", sequence, length)

    def output(self, prefix, sequence, length):
        axes, sequences, shape = ["batch", "time", "token"], [None, sequence, None], [1, length, VOCAB]
        logits = [2 * math.cos(0.9 * i + 0.2 * (i // VOCAB) ** 2) for i in range(length * VOCAB)]
        self.add(prefix + "output", "x W^T", axes, sequences, shape, logits)
        chances = [p for i in range(0, len(logits), VOCAB) for p in softmax(logits[i:i + VOCAB])]
        self.add("probabilities", "softmax(logits)", axes, sequences, shape, chances)
        return chances


def predictions(chances, vocabulary, texts):
    """`texts`: what follows each position; the last one may have nothing behind it."""
    found = []
    for position in range(len(chances) // VOCAB):
        row = chances[position * VOCAB:(position + 1) * VOCAB]
        best = sorted(range(VOCAB), key=lambda i: -row[i])[:5]
        found.append({"position": position, "tokens": [{"id": i, "text": vocabulary[i], "probability": row[i]} for i in best]})
        if position < len(texts):
            i = vocabulary.index(texts[position])
            found[-1]["next"] = {"id": i, "text": vocabulary[i], "probability": row[i], "loss": -math.log(row[i])}
    return found


def tokens(texts, vocabulary):
    return [{"position": i, "id": vocabulary.index(text), "text": text} for i, text in enumerate(texts)]


FRENCH = ["<bos>", "<eos>", "<unk>", ".", "le", "petit", "chat", "voit", "la", "mer", "</script>", "日本語", "سلام", "<!--",
          "e\u0301", "&amp;", "'\"", "je", "tu", "il", "nous", "vous", "ils", "on"]
ENGLISH = ["<bos>", "<eos>", "<unk>", ".", "the", "small", "cat", "sees", "sea"] + [f"word{i}" for i in range(15)]
PIECES = ["\n", " the", " cat", " sat", "On", " mat", ".", " dog", " a", "ing", " ran", " on"] + [f" piece{i}" for i in range(12)]


def translation(blocks=2):
    e = Explanation()
    source, target = ["the", "small", "cat", "sees", "the", "sea", ".", "<eos>"], ["<bos>", "le", "petit", "chat", "voit", "la", "mer", "."]
    n, m = len(source), len(target)
    e.embedding("encoder.", "source", n)
    for i in range(blocks):
        e.attention(f"encoder.{i}.attention", "source", n, "source", n, False)
        e.norm(f"encoder.{i}.norm1", "source", n)
        e.ffn(f"encoder.{i}.ffn", "source", n)
        e.norm(f"encoder.{i}.norm2", "source", n)
    e.embedding("decoder.", "target", m)
    for i in range(blocks):
        e.attention(f"decoder.{i}.self_attention", "target", m, "target", m, True)
        e.norm(f"decoder.{i}.norm1", "target", m)
        e.attention(f"decoder.{i}.cross_attention", "target", m, "source", n, False)
        e.norm(f"decoder.{i}.norm2", "target", m)
        e.ffn(f"decoder.{i}.ffn", "target", m)
        e.norm(f"decoder.{i}.norm3", "target", m)
    chances = e.output("decoder.", "target", m)
    for name, shape in (("decoder.output.weight", [VOCAB, WIDTH]), ("decoder.1.ffn.dense1.bias", [4 * WIDTH]),
                        ("encoder.0.attention.q.weight", [WIDTH, WIDTH]), ("encoder.embedding.weight", [VOCAB, WIDTH])):
        e.add(name, None, ["row", "column"][-len(shape):], [None] * len(shape), shape, gradient=True)
    forward = {step["name"]: step for step in e.steps}["decoder.1.cross_attention.weights"]
    e.add(forward["name"], forward["formula"], forward["axes"], forward["sequences"], forward["shape"], gradient=True)
    return {"rapt": "explain", "version": 1,
            "model": {"path": "models/quickstart", "kind": "translation", "layers": blocks, "heads": HEADS, "d_model": WIDTH,
                      "parameters": 12345},
            "sequences": {"source": tokens(source, ENGLISH), "target": tokens(target, FRENCH)},
            "text": "The small  cat\\xe6 <b>!", "unknown_words": ["cat\\xe6", "<b>!"],
            "book": "https://example.org/rapt/docs/book",
            "target": "Le petit chat", "output": "le petit chat voit la mer .", "steps": e.steps,
            "predictions": predictions(chances, FRENCH, target[1:] + ["<eos>"]), "loss": 1.25}


def language_model(text=("On", " the", " mat", "\n", " a", " dog"), blocks=3, letters=False):
    e = Explanation(letters)
    n = len(text)
    e.rows("embedding", "E[id]", "text", n)
    for i in range(blocks):
        e.norm(f"blocks.{i}.norm1", "text", n, ["output"])
        e.attention(f"blocks.{i}.attention", "text", n, "text", n, True)
        e.norm(f"blocks.{i}.norm1", "text", n, ["sum"])
        e.norm(f"blocks.{i}.norm2", "text", n, ["output"])
        e.ffn(f"blocks.{i}.ffn", "text", n)
        e.norm(f"blocks.{i}.norm2", "text", n, ["sum"])
    e.norm("norm", "text", n, ["output"])
    chances = e.output("", "text", n)
    found = predictions(chances, PIECES, text[1:])
    return {"rapt": "explain", "version": 1,
            "model": {"path": "models/tiny", "kind": "language_model", "layers": blocks, "heads": HEADS, "d_model": WIDTH,
                      "parameters": 6789},
            "text": "".join(text), "sequences": {"text": tokens(text, PIECES)}, "output": found[-1]["tokens"][0]["text"], "steps": e.steps,
            "predictions": found}


def at_checkpoint(data, step, share):
    """What a checkpoint makes of the same tokens: a mixture of what it can see alike, and of the `share` that has been learned."""
    def mixed(s):
        rows, columns = s["shape"][2:]
        seen = [sum(x > 0 for x in s["values"][i:i + columns]) for i in range(0, len(s["values"]), columns)]
        return [share * x + (1 - share) * (x > 0) / seen[i // columns] for i, x in enumerate(s["values"])]

    def blurred(token):
        probability = share * token["probability"] + (1 - share) / VOCAB
        return dict(token, probability=probability, **({"loss": -math.log(probability)} if "loss" in token else {}))

    steps = [dict(s, values=mixed(s)) for s in data["steps"] if s["name"].endswith(".weights") and not s["gradient"]]
    found = [dict(p, tokens=[blurred(t) for t in p["tokens"][::1 if share > 0.5 else -1]],
                  **({"next": blurred(p["next"])} if "next" in p else {})) for p in data["predictions"]]
    return {"step": step, "steps": steps, "predictions": found}


def training():
    """A translation and the run that led to it."""
    data = translation()
    data["checkpoints"] = [at_checkpoint(data, step, share) for step, share in ((0, 0), (60, 0.4), (120, 0.9), (200, 1))]
    return data


def long_text():
    """325 tokens in lines of eleven."""
    return language_model([PIECES[1:12][i * i % 37 % 11] if i % 12 else "\n" for i in range(1, 326)], 4, True)


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        kinds = {"translation": translation, "language_model": language_model, "long": long_text, "training": training}
        json.dump(kinds[sys.argv[1]](), file, ensure_ascii=False)
