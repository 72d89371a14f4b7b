"""BLEU and chrF, with the names, arguments, scores and signatures of sacreBLEU 2.6.0."""
from . import _rapt
from ._results import Result


class Score(Result):
    """A score in percent: float(score) is the number, str(score) the line that sacreBLEU prints.

    name        "BLEU", "chrF2", "chrF2++"
    score       percent
    signature   how the score was made: only scores with the same signature can be compared
    counts      BLEU: matched n-grams of 1 to 4 words; None for chrF, as are all that follow
    totals      n-grams of the hypotheses
    precisions  counts / totals, smoothed, in percent
    bp          the brevity penalty, 0 to 1
    sys_len     words of the hypotheses
    ref_len     words of the references, in each segment of the reference of closest length
    """
    __slots__ = ("name", "score", "signature", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")

    def __float__(self):
        return self.score

    def __str__(self):
        line = f"{self.name} = {self.score:.2f}"
        if self.counts is None:
            return line
        precisions = "/".join(f"{p:.1f}" for p in self.precisions)
        ratio = self.sys_len / self.ref_len if self.ref_len else 0
        return f"{line} {precisions} (BP = {self.bp:.3f} ratio = {ratio:.3f} hyp_len = {self.sys_len} ref_len = {self.ref_len})"


class _Metric:
    __slots__ = ("_options",)

    def corpus_score(self, hypotheses, references):
        """The Score of a corpus.

        hypotheses  a list of str, one a segment
        references  a list of reference translations, each a list with a str a segment: [[of segment 1, of segment 2]]

        TypeError, ValueError: wrong shapes, no segments, a segment of more than 1,048,576 characters."""
        if isinstance(references, (str, dict)):
            raise TypeError("references must be a list of lists of str, one for each reference translation")
        return self._score(hypotheses, list(references))

    def sentence_score(self, hypothesis, references):
        """The Score of one segment against a list of references of it."""
        if isinstance(references, (str, dict)):
            raise TypeError("references must be a list of str")
        return self._score([hypothesis], [[reference] for reference in references])


class BLEU(_Metric):
    """BLEU of translations (Papineni et al. 2002).

    lowercase        compare in lower case
    tokenize         "13a", "none", "intl", "char" or "zh": how a segment becomes words
    smooth_method    "exp", "none", "floor" or "add-k": what is done about n-grams without a match
    smooth_value     of "floor" (default 0.1) and "add-k" (default 1), above 0
    effective_order  average only the orders for which the hypotheses are long enough: for single segments
    """
    __slots__ = ()

    def __init__(self, *, lowercase=False, tokenize="13a", smooth_method="exp", smooth_value=None, effective_order=False):
        if smooth_value == 0:
            raise _rapt.InvalidValueError("smooth_value is 0; it must be above 0")
        self._options = {"lowercase": lowercase, "tokenize": tokenize, "smooth_method": smooth_method,
                         "smooth_value": smooth_value, "effective_order": effective_order}

    def _score(self, hypotheses, references):
        score, signature, counts, totals, *rest = _rapt.bleu(hypotheses, references, self._options)
        if self._options["smooth_method"] != "add-k":
            counts, totals = [int(n) for n in counts], [int(n) for n in totals]
        return Score("BLEU", score, signature, counts, totals, *rest)


class CHRF(_Metric):
    """chrF of translations (Popovic 2015), and chrF++ with word_order=2.

    char_order     length of the longest character n-grams, 1 to 16
    word_order     length of the longest word n-grams; 0: none
    beta           recall counts beta times as much as precision, 0 or more
    lowercase      compare in lower case
    whitespace     white space counts as characters
    eps_smoothing  average over all orders, as chrF++.py does
    """
    __slots__ = ()

    def __init__(self, *, char_order=6, word_order=0, beta=2, lowercase=False, whitespace=False, eps_smoothing=False):
        self._options = {"char_order": char_order, "word_order": word_order, "beta": beta, "lowercase": lowercase,
                         "whitespace": whitespace, "eps_smoothing": eps_smoothing}

    def _score(self, hypotheses, references):
        score, signature = _rapt.chrf(hypotheses, references, self._options)
        name = f"chrF{self._options['beta']}{'+' * self._options['word_order']}"
        return Score(name, score, signature, *(None,) * 6)


def corpus_bleu(hypotheses, references, *, smooth_method="exp", smooth_value=None, lowercase=False, tokenize="13a",
                use_effective_order=False):
    """BLEU of a corpus: BLEU(...).corpus_score(hypotheses, references)."""
    return BLEU(lowercase=lowercase, tokenize=tokenize, smooth_method=smooth_method, smooth_value=smooth_value,
                effective_order=use_effective_order).corpus_score(hypotheses, references)


def sentence_bleu(hypothesis, references, *, smooth_method="exp", smooth_value=None, lowercase=False, tokenize="13a",
                  use_effective_order=True):
    """BLEU of one segment: BLEU(...).sentence_score(hypothesis, references), by default of effective order."""
    return BLEU(lowercase=lowercase, tokenize=tokenize, smooth_method=smooth_method, smooth_value=smooth_value,
                effective_order=use_effective_order).sentence_score(hypothesis, references)


def corpus_chrf(hypotheses, references, *, char_order=6, word_order=0, beta=2, remove_whitespace=True, eps_smoothing=False):
    """chrF of a corpus: CHRF(...).corpus_score(hypotheses, references)."""
    return CHRF(char_order=char_order, word_order=word_order, beta=beta, whitespace=not remove_whitespace,
                eps_smoothing=eps_smoothing).corpus_score(hypotheses, references)


def sentence_chrf(hypothesis, references, *, char_order=6, word_order=0, beta=2, remove_whitespace=True, eps_smoothing=False):
    """chrF of one segment: CHRF(...).sentence_score(hypothesis, references)."""
    return CHRF(char_order=char_order, word_order=word_order, beta=beta, whitespace=not remove_whitespace,
                eps_smoothing=eps_smoothing).sentence_score(hypothesis, references)


def book_bleu(prediction, label, k=2):
    """BLEU as "Dive into Deep Learning" scores one sentence, 0 to 1, with n-grams of up to k words (chapter
    "Sequence-to-Sequence Learning")."""
    return _rapt.book_bleu(prediction, label, k)
