"""Which of the sentences that a grammar can make go into a file of pairs, so that every word occurs often enough.

For make_pairs.py and make_pairs_zh.py: they give families (a share of the file, a function that makes one random pair
or None) and say what a unit of a line is. Not a grammar.
"""
import random
from collections import Counter

DRAWN = 12          # candidates compared for each sentence that is taken
TRIED = 15          # candidates made for each sentence of a share


class Chooser:
    def __init__(self, seed, least):
        self.rng = random.Random(seed)
        self.least = least      # lines in which each unit of a generated pair occurs, at least
        self.units = None

    def set_units(self, units):
        """units((source, target)) gives the words of both sides, each once, as (side, word)."""
        self.units = units

    def frequencies(self, pairs):
        """In how many lines each unit occurs."""
        return Counter(unit for line in pairs.items() for unit in self.units(line))

    def candidates(self, make, share, known, acceptable):
        """Distinct sentences of one family. The same source must have the same target in all of them."""
        found = {}
        for _ in range(share * TRIED):
            made = make()
            if not acceptable(made):
                continue
            target = known.setdefault(*made)
            assert target == made[1], f"two translations: {made[0]} = {target} = {made[1]}"
            found[made[0]] = made
        return list(found.values())

    def pick(self, pool, share, counts):
        """The share of a family: of some random candidates always the one whose words are the rarest so far."""
        for _ in range(min(share, len(pool))):
            draw = self.rng.sample(range(len(pool)), min(DRAWN, len(pool)))
            units = {i: self.units(pool[i]) for i in draw}
            best = max(draw, key=lambda i: sum(1 / (1 + counts[unit]) for unit in units[i]) / len(units[i]))
            pool[best], pool[-1] = pool[-1], pool[best]
            counts.update(units[best])
            yield pool.pop()

    def without_rare_words(self, generated, phrases):
        """Takes out generated sentences with a word that is too rare, until none is left."""
        while True:
            counts = self.frequencies(phrases | generated)
            kept = {source: target for source, target in generated.items()
                    if min(counts[unit] for unit in self.units((source, target))) >= self.least}
            if len(kept) == len(generated):
                return generated
            generated = kept

    def generate(self, phrases, families, acceptable):
        """The generated pairs, as {source: target}, beside the hand-written ones."""
        counts, known, generated = self.frequencies(phrases), dict(phrases), {}
        for share, make in families:
            made = self.candidates(make, share, known, acceptable)
            taken = phrases | generated
            pool = [line for line in made if line[0] not in taken]
            generated.update(self.pick(pool, share, counts))
        return self.without_rare_words(generated, phrases)
