"""The answers to the exercises of docs/book/00-tokens.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
low = rapt.Tokenizer.train_bpe("low lower lowest", 300)
print(", ".join(low.token(i).decode().replace(" ", "_") for i in range(256, len(low))))
pieces = [low.token(i).decode().replace(" ", "_") for i in low.encode("low lower lowest")]
print(f"{pieces[0]}, {' '.join(pieces[1:3])}, {' '.join(pieces[3:])}")
print(*low.encode(" slow"))

# %% 2
french = [line.rstrip("\n").split("\t")[1] for line in open("data/en-fr.tsv", encoding="utf-8")]
from_english, from_french = (rapt.Tokenizer.train_bpe(lines, 1000) for lines in (sentences, french))
for lines in (sentences, french):
    count = sum(len(line.split()) for line in lines)
    for learned in (from_english, from_french):
        print(f"{sum(len(ids) for ids in learned.encode_batch(lines)) / count:.2f}")
