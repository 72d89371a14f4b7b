"""The answers to the exercises of docs/book/15-prediction.md: python/tests/test_exercises.py runs them after the cells of the page."""
# %% 1
p = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
for way in ({"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.6}, {"min_p": 0.5}):
    print(*(f"{share:.3f}" for share in choose(p, **way).values()), sep="\n")

# %% 2
score, right, there, penalty = bleu(["the cat", "we drink tea with"], references)
assert right == there == [6, 4, 2, 1] and score == penalty
print(f"{100 * score:.1f}")
the = rapt.corpus_bleu(["the the the the"], [references[:1]], smooth_method="none")
assert the.counts == [2, 0, 0, 0]
print(f"{the.score:.0f}")
