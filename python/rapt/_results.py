"""What models return: small objects whose members can be read, compared and printed."""


def _equal(a, b):
    """Whether two members are equal. Arrays, which by `==` are equal to themselves only or compare element by element, are if
    their shapes, types and elements are."""
    if a is b:
        return True
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(_equal, a, b))
    if hasattr(a, "shape") and hasattr(b, "shape"):
        try:
            return memoryview(a) == memoryview(b)
        except TypeError: # an array of another package that lends no memory
            return False
    return bool(a == b)


class Result:
    """A result whose members are named by `__slots__`; equal if they are, arrays if their elements are."""
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
        return all(_equal(getattr(self, name), getattr(other, name)) for name in self.__slots__)

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

    def __init__(self, text, score, log_prob, tokens, token_log_probs, alignment): # Result's, in a third of its time
        self.text = text
        self.score = score
        self.log_prob = log_prob
        self.tokens = tokens
        self.token_log_probs = token_log_probs
        self.alignment = alignment

    def __str__(self):
        return self.text


class Translation(Result):
    """The translation of one line.

    hypotheses     the best first
    cut            the line was longer than the model takes, and could not be split: its end is missing
    source_tokens  ids of the source tokenizer; None unless asked for (tokens=True)
    unknown_words  words of the line that the model reads as <unk>, each once
    lacks_terms    a term of the glossary could not be forced
    """
    __slots__ = ("hypotheses", "cut", "source_tokens", "unknown_words", "lacks_terms")

    def __init__(self, hypotheses, cut, source_tokens, unknown_words, lacks_terms=False):
        self.hypotheses = hypotheses
        self.cut = cut
        self.source_tokens = source_tokens
        self.unknown_words = unknown_words
        self.lacks_terms = lacks_terms

    @property
    def text(self):
        """The best hypothesis; "" if the line is empty."""
        return self.hypotheses[0].text if self.hypotheses else ""

    def _repr_html_(self):
        from ._figures import translation_html
        return translation_html(self)

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


class Completion(Result):
    """What a language model wrote after a prompt.

    text           whole characters, up to a stop text, which is left out; bytes that are no UTF-8 are U+FFFD
    tokens         ids, with those of a stop text, without the end-of-text token
    log_probs      the log-probability of each in nats, by the model's softmax before any option; None after a beam search
    prompt_tokens  how many tokens the prompt has
    finish_reason  "length": max_tokens were written; "stop": a stop text; "end_of_text": the model ended the text
    score          the score of a beam search; else 0
    """
    __slots__ = ("text", "tokens", "log_probs", "prompt_tokens", "finish_reason", "score")

    def __str__(self):
        return self.text


class TokenStep(Result):
    """One token of a stream.

    id        the token; None in a last step that brings text which was held back
    text      the text that became final with it: whole characters, maybe none
    log_prob  in nats, by the model's softmax before any option; NaN after a beam search
    top       (id, log-probability) of the most probable tokens at this place, the most probable first; as many as top_log_probs
    """
    __slots__ = ("id", "text", "log_prob", "top")

    def __str__(self):
        return self.text


class Prediction(Result):
    """What a model expects at a place of a text.

    ids            the most probable tokens, the most probable first
    tokens         the text of each; bytes that are no characters by themselves are U+FFFD
    probabilities  of each, 0 to 1, by the model's softmax without any option
    label          the token that follows in the text; None if there is none
    loss           -ln p(label) in nats; None without a label
    """
    __slots__ = ("ids", "tokens", "probabilities", "label", "loss")


class LensPrediction(Result):
    """What a model would expect at a place of a text if it stopped after some of its blocks: the members of a Prediction, and

    label_rank          the label's place among all tokens, 1: the most probable one; None without a label
    choice_rank         the place of the token that the whole model finds most probable
    choice_probability  that token's probability after these blocks
    """
    __slots__ = (*Prediction.__slots__, "label_rank", "choice_rank", "choice_probability")


class _Score(Result):
    __slots__ = ()

    @property
    def log_prob(self):
        """The sum of log_probs; 0.0 if there are none."""
        import math
        return math.fsum(self.log_probs)


class PairScore(_Score):
    """How probable a translation is for a translation model.

    tokens     ids of the target, <eos> included, unless the translation was truncated
    log_probs  the log-probability of each, given the source and the tokens before it, in nats
    """
    __slots__ = ("tokens", "log_probs")


class Relevance(Result):
    """How a cross-encoder scores a pair of texts.

    index  the place of the pair, or of the document, in the list that was given
    score  the logit, or its sigmoid, as the model's folder says
    logit  what the model computes
    cut    whether the pair had more tokens than the model takes
    """
    __slots__ = ("index", "score", "logit", "cut")


class TextScore(_Score):
    """How probable a text is for a language model.

    tokens     its ids
    log_probs  the log-probability of each but the first, after the tokens before it, in nats: one fewer than tokens
    """
    __slots__ = ("tokens", "log_probs")
