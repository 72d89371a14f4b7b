"""What models return: small objects whose members can be read, compared and printed."""


class Result:
    """A result whose members are named by `__slots__`; equal if they are."""
    __slots__ = ()

    def __init__(self, *values):
        for name, value in zip(self.__slots__, values, strict=True):
            setattr(self, name, value)

    def __repr__(self):
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({members})"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None


class Hypothesis(Result):
    """One translation of a line.

    text             the translation, detokenized
    score            what hypotheses compare by (log_prob over a length penalty)
    log_prob         the sum of the tokens' log-probabilities in nats, <eos> included
    tokens           ids of the target tokenizer, without <eos>; None unless asked for (tokens=True)
    token_log_probs  the log-probability of each; None likewise
    alignment        Array [targets, sources + 1]: attention of each target token to the source's tokens, the last column <eos>;
                     None unless asked for (alignment=True)
    """
    __slots__ = ("text", "score", "log_prob", "tokens", "token_log_probs", "alignment")

    def __str__(self):
        return self.text


class Translation(Result):
    """The translation of one line.

    hypotheses     the best first
    cut            the line was longer than the model takes, and could not be split: its end is missing
    source_tokens  ids of the source tokenizer; None unless asked for (tokens=True)
    unknown_words  words of the line that the model reads as <unk>, each once
    """
    __slots__ = ("hypotheses", "cut", "source_tokens", "unknown_words")

    @property
    def text(self):
        """The best hypothesis; "" if the line is empty."""
        return self.hypotheses[0].text if self.hypotheses else ""

    def __str__(self):
        return self.text


class Loss(Result):
    """How well a model predicts given texts.

    nll         in nats, summed over the tokens
    tokens      that count, <eos> included
    skipped     pairs with an empty side, which have no loss
    loss        nll / tokens
    perplexity  e^loss
    """
    __slots__ = ("nll", "tokens", "skipped", "loss", "perplexity")
