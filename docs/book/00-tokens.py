"""The Python cells of docs/book/00-tokens.md: tools/notebooks.py runs them for the page and for its notebook."""
# %% characters
import rapt

text = "the cat sat in the hat and the rat ate"
characters = rapt.Tokenizer.train_characters(text)
print(f"vocabulary: {len(characters)} characters")
print(*characters.encode(text))

# %% words
words = rapt.Tokenizer.train_words([text])
print(f"vocabulary: {len(words)}, of which 4 are special")
print(*words.encode("the dog ate"))
assert words.decode(words.encode("the dog ate")) == "the <unk> ate"

# %% paper
for merges in range(5):
    pairs = rapt.Tokenizer.train_bpe(text, 256 + merges)
    if merges:
        print(f"merge {merges}: token {255 + merges} is |{pairs.token(255 + merges).decode()}|")
    print(f"after {merges} merges: {len(pairs.encode(text))} tokens")

# %% by-hand (own)
from collections import Counter


def most_frequent(pieces):
    """The pair of neighbors that occurs most often; of several the smallest one."""
    counts = Counter(pair for piece in pieces for pair in zip(piece, piece[1:]))
    return max(counts, key=lambda pair: (counts[pair], -pair[0], -pair[1])), max(counts.values())


def merge(piece, pair, token):
    """The piece with `token` in place of each `pair`, from the left."""
    out = []
    for t in piece:
        out.append(t)
        if tuple(out[-2:]) == pair:
            out[-2:] = [token]
    return out


pieces = [list(word.encode()) for word in ["the", " cat", " sat", " in", " the", " hat", " and", " the", " rat", " ate"]]
for token in range(256, 260):
    pair, count = most_frequent(pieces)
    pieces = [merge(piece, pair, token) for piece in pieces]
    print(f"{pair} occurs {count} times and becomes {token}")
assert [t for piece in pieces for t in piece] == pairs.encode(text)

# %% unseen
for other in ["that", "weather", "猫坐"]:
    print(*pairs.encode(other))
    assert pairs.decode(pairs.encode(other)) == other

# %% chinese
chinese = rapt.Tokenizer.train_bpe("猫坐，猫吃，狗坐，狗吃", 356)
print(*chinese.encode("吃狗"))
print([chinese.token(i).decode() for i in chinese.encode("吃狗")])

# %% sizes (own)
sentences = [line.split("\t")[0] for line in open("data/en-fr.tsv", encoding="utf-8")]
all_words = sum(len(sentence.split()) for sentence in sentences)
for size in [256, 300, 500, 1000, 2000]:
    learned = rapt.Tokenizer.train_bpe(sentences, size)
    tokens = sum(len(ids) for ids in learned.encode_batch(sentences))
    print(f"{size:5} entries: {tokens / all_words:.2f} tokens a word")
