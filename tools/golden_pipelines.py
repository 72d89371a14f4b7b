#!/usr/bin/env python3
"""Makes the goldens of tests/text/test_pipeline_golden.c: small tokenizer.json files of all kinds, and what `tokenizers` makes of
texts that are hard to tokenize. tools/compare_pipelines.py compares the same files on large texts.

Run it at the root of the project, with the package tokenizers==0.23.3 installed:
    python3 tools/golden_pipelines.py tests/text/pipeline
"""
import base64
import collections
import json
import math
import pathlib
import random
import sys

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

# What an added token, a special one and one with flags look like, and what else is hard.
TEXTS = [
    "", " ", "   ", "a", "Hello, world!", " Hello  world  ", "The cat sat on the mat. It's 3.14, isn't it?", "\thello\tworld\n",
    "line\r\nline\n\n\nend\r", "caf\u00e9 cafe\u0301 \u00c5ngstr\u00f6m \u212b", "\uff28\uff45\uff4c\uff4c\uff4f \uff11\uff12\uff13",
    "\uff76\uff9e\uff77\uff9e \u30ac\u30ae \u30b3\u3099", "\ufb01ne \ufb03 \u2460 \u00bd", "\u4f60\u597d\uff0c\u4e16\u754c\u3002",
    "abc\u4e2d\u6587def", "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab", "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7",
    "\ufdfa \ufe8d\ufedf\ufe8c \u0627\u0644\u0639\u0631\u0628\u064a\u0629", "soft\u00adhyphen no\u00a0break thin\u2009space",
    "\u0301\u0301 lone \u0308marks", "\u0000nul\u0000", "\u0001\u001f\u007f\u0085\u009f controls", "\ufeffbom \ufffd \u2028\u2029",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "12345 6 78 \u0663\u0664 \u2167 x\u00b2", "don't we'll I'd they've HELLO World", "$100 + 20% = <b>x</b>; {a: [1, 2]}",
    "<s>text</s> <unk><pad>", "[CLS] hi [SEP] [MASK].", "  <mask>  and <mask>", "x<mask>y", "<tool> <TOOL> a<tool>b  <tool>  c",
    "<|end|><|end|> <|end|>x", "\u2581under \u2581\u2581score", "\u2581", "<0x41><0x0A>\u00ff", "\u0130stanbul STRASSE \u00df \u03a3\u03a3",
    "new\nline  two  spaces", "\u1680ogham\u3000wide", "mixed \u0410\u0411\u0412 \u03b1\u03b2\u03b3 \u05d0\u05d1", "a-b--c---d", "-a-", "--",
    "word word. word, (word) 'word' \"word\"", "lang fra_Latn eng_Latn", "\u0958 \u0915\u093c \u0f43", "q\u0323\u0307 q\u0307\u0323",
    "don t do not know . , ? ! ' n't 's",
]
UNDER = "\u2581"


def pairs():
    for line in open("data/en-fr.tsv", encoding="utf-8"):
        yield from line.rstrip("\n").split("\t")[:2]


def training(limit=3000):
    return list(pairs())[:limit]


def added(id, content, special=True, **flags):
    token = dict(id=id, content=content, single_word=False, lstrip=False, rstrip=False, normalized=not special, special=special)
    token.update(flags)
    return token


def learned(model, trainer, pre_tokenizer, normalizer=None, edit=None):
    """The vocabulary in the order of its ids, and the merges as pairs, learned from the sentence pairs."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(training() if not edit else map(edit, training()), trainer)
    part = json.loads(tokenizer.to_str())["model"]
    return [t for t, _ in sorted(part["vocab"].items(), key=lambda item: item[1])], part.get("merges")


def file(model, normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None, added_tokens=()):
    return dict(version="1.0", truncation=None, padding=None, added_tokens=list(added_tokens), normalizer=normalizer,
                pre_tokenizer=pre_tokenizer, post_processor=post_processor, decoder=decoder, model=model)


def charsmap(rules):
    """A precompiled character map: a double array (Darts-clone's) over the bytes of what is replaced, and the replacements. A unit
    has its label in bits 0-7, whether a value is below it in bit 8, and from bit 10 on what its place is xored with for its
    children, whose places are xored with their labels; that of a value has bit 31 set."""
    texts, trie = b"", {}
    for key, value in rules.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = len(texts)
        texts += value.encode() + b"\0"
    units, open_nodes = {0: 0}, [(0, 0, trie)]
    while open_nodes:
        place, label, node = open_nodes.pop(0)
        base = next(b for b in range(1, 1 << 20) if not any(b ^ c in units for c in node))
        units[place] = label | (0 in node) << 8 | (place ^ base) << 10
        for c, child in node.items():
            units[base ^ c] = 1 << 31 | child if c == 0 else 0
            if c:
                open_nodes.append((base ^ c, c, child))
    array = b"".join(units.get(i, 0).to_bytes(4, "little") for i in range((max(units) | 255) + 1))
    return len(array).to_bytes(4, "little") + array + texts


def numbered(tokens):
    return {token: i for i, token in enumerate(tokens)}


def bpe(tokens, merges, **options):
    return dict(dict(type="BPE", dropout=None, unk_token=None, continuing_subword_prefix=None, end_of_word_suffix=None,
                     fuse_unk=False, byte_fallback=False, ignore_merges=False, vocab=numbered(tokens), merges=merges), **options)


def sequence(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def text(value):
    return {"String": value}


def replace(value, content):
    return dict(type="Replace", pattern=text(value), content=content)


def template(before, after, ids):
    part = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    single = [*map(part, before), {"Sequence": {"id": "A", "type_id": 0}}, *map(part, after)]
    return dict(type="TemplateProcessing", single=single, pair=single + [{"Sequence": {"id": "B", "type_id": 1}}],
                special_tokens={n: dict(id=n, ids=[ids[n]], tokens=[n]) for n in [*before, *after]})


def byte_level(space=False, regex=True):
    return dict(type="ByteLevel", add_prefix_space=space, trim_offsets=True, use_regex=regex)


def metaspace(scheme, split=True):
    return dict(type="Metaspace", replacement=UNDER, prepend_scheme=scheme, split=split)


BYTES = [f"<0x{i:02X}>" for i in range(256)]
SPECIALS = ["<unk>", "<s>", "</s>"]
SPM_DECODER = sequence("decoders", replace(UNDER, " "), dict(type="ByteFallback"), dict(type="Fuse"),
                       dict(type="Strip", content=" ", start=1, stop=0))
STYLE_BERT = dict(type="BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)


def spm_bpe(size=150):
    return learned(models.BPE(), trainers.BpeTrainer(vocab_size=size, show_progress=False), pre_tokenizers.Metaspace())


def word_counts(normalizer, cutter):
    """Words of the sentence pairs, sorted: the package's own trainers of WordPiece choose among equal ones at random."""
    counts = collections.Counter()
    for line in training():
        line = normalizer.normalize_str(line) if normalizer else line
        counts.update(word for word, _ in cutter.pre_tokenize_str(line))
    return sorted(counts.items())


def most_frequent(counts, count):
    return [t for t, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:count]]


def word_pieces(normalizer, size=300):
    """Characters, and the most frequent stretches of words."""
    letters, stretches = collections.Counter(), collections.Counter()
    for word, count in word_counts(normalizer, pre_tokenizers.BertPreTokenizer()):
        for i in range(len(word)):
            letters.update({("##" if i else "") + word[i]: count})
            for j in range(i + 2, min(len(word), i + 8) + 1):
                stretches.update({("##" if i else "") + word[i:j]: count})
    first = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + most_frequent(letters, 110)
    return first + most_frequent(stretches, size - len(first))


def merge_pair(word, pair, joined):
    result = []
    for symbol in word:
        if result and (result[-1], symbol) == pair:
            result[-1] = joined
        else:
            result.append(symbol)
    return result


def merged_words(words, count, prefix="", suffix=""):
    """Characters and merges of BPE whose symbols have a prefix, but the first of a word, and a suffix, the last one."""
    words = [([("" if i == 0 else prefix) + c + (suffix if i + 1 == len(w) else "") for i, c in enumerate(w)], n) for w, n in words]
    tokens, merges = sorted({symbol for word, _ in words for symbol in word}), []
    for _ in range(count):
        pairs = collections.Counter()
        for word, n in words:
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        joined = best[0] + best[1][len(prefix):]
        merges.append(list(best))
        tokens.append(joined)
        words = [(merge_pair(word, best, joined), n) for word, n in words]
    return tokens, merges


def byte_bpe(size=330):
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    return learned(models.BPE(), trainer, pre_tokenizers.ByteLevel())


def llama():
    tokens, merges = spm_bpe()
    return bpe(SPECIALS + BYTES + tokens, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)


def of_specials(tokens, names, **flags):
    return [added(tokens.index(name), name, **flags) for name in names]


def make_llama2():
    model = llama()
    return file(model, sequence("normalizers", dict(type="Prepend", prepend=UNDER), replace(" ", UNDER)), None,
                template(["<s>"], [], model["vocab"]), SPM_DECODER, of_specials(list(model["vocab"]), SPECIALS))


def make_llama2_metaspace():
    model = llama()
    return file(model, None, metaspace("first", False), template(["<s>"], ["</s>"], model["vocab"]), SPM_DECODER,
                [*of_specials(list(model["vocab"]), SPECIALS), added(len(model["vocab"]), "<tool>", False)])


def make_gemma():
    model = llama()
    split = dict(type="Split", pattern=text(" "), behavior="MergedWithPrevious", invert=False)
    return file(model, replace(" ", UNDER), split, template(["<s>"], [], model["vocab"]),
                sequence("decoders", replace(UNDER, " "), dict(type="ByteFallback"), dict(type="Fuse")),
                [*of_specials(list(model["vocab"]), SPECIALS), added(len(model["vocab"]), "\n\n", False, normalized=False),
                 added(len(model["vocab"]) + 1, UNDER * 2, False, normalized=False)])


def make_some_bytes():
    """Tokens of some bytes only, so that unknown characters remain, which wait for a known one."""
    tokens, merges = spm_bpe()
    some = [b for i, b in enumerate(BYTES) if i not in (0xC3, 0xF0, 0x0A)]
    return file(bpe(SPECIALS + some + tokens, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
                replace(" ", UNDER), None, None, SPM_DECODER, of_specials(SPECIALS, SPECIALS))


def make_nllb():
    tokens, merges = spm_bpe()
    tokens = ["<s>", "<pad>", "</s>", "<unk>"] + tokens
    languages = [added(len(tokens) + i, name) for i, name in enumerate(["eng_Latn", "fra_Latn"])]
    ids = dict(numbered(tokens), eng_Latn=len(tokens), fra_Latn=len(tokens) + 1)
    squeeze = dict(type="Replace", pattern={"Regex": " {2,}"}, content=" ")
    mask = added(len(tokens) + 2, "<mask>", lstrip=True)
    return file(bpe(tokens, merges, unk_token="<unk>"), sequence("normalizers", dict(type="NFKC"), squeeze), metaspace("always"),
                template(["eng_Latn"], ["</s>"], ids), metaspace("always"),
                [*of_specials(tokens, ["<s>", "<pad>", "</s>", "<unk>"]), *languages, mask])


def make_bert():
    tokens = word_pieces(normalizers.BertNormalizer())
    model = dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100,
                 vocab=numbered(tokens))
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return file(model, STYLE_BERT, dict(type="BertPreTokenizer"), template(["[CLS]"], ["[SEP]"], model["vocab"]),
                dict(type="WordPiece", prefix="##", cleanup=True), of_specials(tokens, names))


def make_bert_cased():
    tokens = word_pieces(normalizers.BertNormalizer(lowercase=False))
    model = dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=10,
                 vocab=numbered(tokens))
    post = dict(type="BertProcessing", sep=["[SEP]", tokens.index("[SEP]")], cls=["[CLS]", tokens.index("[CLS]")])
    return file(model, dict(STYLE_BERT, lowercase=False, clean_text=False, handle_chinese_chars=False),
                dict(type="BertPreTokenizer"), post, dict(type="WordPiece", prefix="##", cleanup=False),
                [*of_specials(tokens, ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]),
                 added(tokens.index("[MASK]"), "[MASK]", lstrip=True, rstrip=True)])


def make_words():
    tokens = learned(models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(
        vocab_size=200, show_progress=False, special_tokens=["[UNK]"]), pre_tokenizers.Whitespace(),
        normalizers.Lowercase())[0]
    model = dict(type="WordLevel", unk_token="[UNK]", vocab=numbered(tokens))
    return file(model, sequence("normalizers", dict(type="NFD"), dict(type="Lowercase"), dict(type="StripAccents")),
                dict(type="Whitespace"), None, None, [added(0, "[UNK]"), added(len(tokens), "<tool>", False)])


def make_roberta():
    tokens, merges = byte_bpe()
    tokens = ["<s>", "<pad>", "</s>", "<unk>"] + tokens
    post = dict(type="RobertaProcessing", sep=["</s>", 2], cls=["<s>", 0], trim_offsets=True, add_prefix_space=True)
    return file(bpe(tokens, merges), None, byte_level(space=True), post, byte_level(),
                [*of_specials(tokens, ["<s>", "<pad>", "</s>", "<unk>"], normalized=True), added(len(tokens), "<mask>", lstrip=True)])


def make_smollm():
    tokens, merges = byte_bpe()
    return file(bpe(tokens, merges), None,
                sequence("pretokenizers", dict(type="Digits", individual_digits=True), byte_level()), None, byte_level(),
                [added(len(tokens), "<|end|>"), added(len(tokens) + 1, "<tool>", False, normalized=True)])


def make_byte_normalizer():
    tokens, merges = byte_bpe()
    words = r"\s?\w+|\s?[^\s\w]+|\s+"
    split = dict(type="Split", pattern={"Regex": words}, behavior="Isolated", invert=False)
    return file(bpe(tokens, merges, ignore_merges=True),
                sequence("normalizers", dict(type="Nmt"), dict(type="NFKD"), dict(type="Strip", strip_left=True, strip_right=False)),
                sequence("pretokenizers", split, byte_level(regex=False)), None, byte_level(), [added(len(tokens), "<|end|>")])


def make_openai():
    words = word_counts(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer())
    tokens, merges = merged_words(words, 150, suffix="</w>")
    return file(bpe(["<unk>"] + tokens, merges, unk_token="<unk>", end_of_word_suffix="</w>"), STYLE_BERT,
                dict(type="BertPreTokenizer"), None, dict(type="BPEDecoder", suffix="</w>"), [added(0, "<unk>")])


def make_prefixed():
    """BPE with a prefix, whose unknown characters are left out."""
    tokens, merges = merged_words(word_counts(None, pre_tokenizers.WhitespaceSplit()), 120, prefix="##")
    return file(bpe(tokens, merges, continuing_subword_prefix="##"), dict(type="NFC"), dict(type="WhitespaceSplit"), None,
                dict(type="WordPiece", prefix="##", cleanup=False))


def make_splits(behavior, invert):
    """Which pieces there are can be seen from which tokens have the prefix. The pattern has no classes of Unicode: those of
    regular expressions are of the version that is installed."""
    tokens = word_pieces(None)
    model = dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100,
                 vocab=numbered(tokens))
    split = dict(type="Split", pattern={"Regex": r"-|[!-/:-@\[-`{-~]+?|[aeiou]"}, behavior=behavior, invert=invert)
    other = dict(type="Punctuation", behavior="MergedWithPrevious") if invert else dict(type="Digits", individual_digits=False)
    return file(model, dict(type="NFKC"), sequence("pretokenizers", dict(type="WhitespaceSplit"), split, other), None,
                dict(type="WordPiece", prefix="##", cleanup=False), [added(1, "[UNK]")])


def make_flags():
    """Added tokens with all flags, with a normalizer that changes them."""
    tokens = word_pieces(normalizers.Lowercase())
    model = dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100,
                 vocab=numbered(tokens))
    first = len(tokens)
    list_ = [added(1, "[UNK]"), added(first, "<tool>", False, normalized=False, single_word=True),
             added(first + 1, "<TOOL>", False, normalized=True, lstrip=True, rstrip=True),
             added(first + 2, "<mask>", rstrip=True, normalized=False), added(first + 3, "<|end|>", normalized=True),
             added(first + 4, "<|end|><|end|>", normalized=True), added(first + 5, "Word", False, single_word=True),
             added(tokens.index("hi"), "hi", False, single_word=True, lstrip=True), added(first + 6, "  ", False, normalized=False)]
    return file(model, dict(type="Lowercase"), metaspace("first"), None, metaspace("never"), list_)


def unigram(size=200):
    """Scores need not be a model of anything; equal ones, which the first cut wins, are among them."""
    letters, stretches = collections.Counter(), collections.Counter()
    for word, count in word_counts(None, pre_tokenizers.Metaspace()):
        for i in range(len(word)):
            letters.update({word[i]: count})
            for j in range(i + 2, min(len(word), i + 8) + 1):
                stretches.update({word[i:j]: count})
    tokens = most_frequent(letters, 60) + most_frequent(stretches, size)
    total = sum(letters.values())
    return [[t, round(math.log((letters[t] + stretches[t]) / total), 1 if len(t) > 2 else 6)] for t in tokens]


def make_unigram():
    vocab = [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]] + unigram()
    ids = {token: i for i, (token, _) in enumerate(vocab)}
    return file(dict(type="Unigram", unk_id=2, vocab=vocab, byte_fallback=False), dict(type="NFKC"),
                sequence("pretokenizers", dict(type="WhitespaceSplit"), metaspace("always")), template([], ["</s>"], ids),
                metaspace("always"), [added(ids[n], n) for n in ["<pad>", "</s>", "<unk>"]])


def make_unigram_bytes():
    vocab = [["<unk>", 0.0]] + [[b, 0.0] for b in BYTES] + [["<s>", -1.5]] + unigram(120)
    return file(dict(type="Unigram", unk_id=0, vocab=vocab, byte_fallback=True), replace(" ", UNDER), None, None, SPM_DECODER,
                [added(0, "<unk>")])


# Keys that are beginnings of others and of graphemes, one that becomes nothing, and what SentencePiece's maps have.
RULES = {"A": "a", "B": "b\u00df", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\u00ad": "", "\ufb01": "fi",
         "\uff76": "\u30ab", "\uff76\uff9e": "\u30ac", "e\u0301": "\u00e9", "\u0301": "", "\u2460": "1", "\uff28": "H", "\u212b": "\u00c5",
         "\ufdfa": "\u0635\u0644", "ab": "x", "\U0001f468": "man", "\u0410": "a"}


def precompiled(rules):
    return dict(type="Precompiled", precompiled_charsmap=base64.b64encode(charsmap(rules)).decode())


def make_precompiled():
    vocab = [["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]] + unigram(150)
    ids = {token: i for i, (token, _) in enumerate(vocab)}
    normalizer = sequence("normalizers", precompiled(RULES), dict(type="Replace", pattern={"Regex": " {2,}"}, content=" "))
    return file(dict(type="Unigram", unk_id=3, vocab=vocab, byte_fallback=False), normalizer, metaspace("first"),
                template(["<s>"], ["</s>"], ids), metaspace("first"), [added(ids[n], n) for n in ["<s>", "<pad>", "</s>", "<unk>"]])


FILES = {
    "llama2": make_llama2, "llama2_metaspace": make_llama2_metaspace, "gemma": make_gemma, "some_bytes": make_some_bytes,
    "nllb": make_nllb, "bert": make_bert, "bert_cased": make_bert_cased, "words": make_words, "roberta": make_roberta,
    "smollm": make_smollm, "byte_normalizer": make_byte_normalizer, "openai": make_openai, "prefixed": make_prefixed,
    "removed": lambda: make_splits("Removed", False), "isolated": lambda: make_splits("Isolated", True),
    "previous": lambda: make_splits("MergedWithPrevious", False), "next": lambda: make_splits("MergedWithNext", True),
    "contiguous": lambda: make_splits("Contiguous", False), "contiguous_inverted": lambda: make_splits("Contiguous", True),
    "flags": make_flags, "unigram": make_unigram, "unigram_bytes": make_unigram_bytes,
    "precompiled": make_precompiled,
}


def load(document):
    return Tokenizer.from_str(json.dumps(document))


def encoded(tokenizer, text):
    """The ids with special tokens, and those of a text whose special tokens are text like any other."""
    tokenizer.encode_special_tokens = False
    ids = tokenizer.encode(text, add_special_tokens=True).ids
    tokenizer.encode_special_tokens = True
    return ids, tokenizer.encode(text, add_special_tokens=False).ids


def golden(document):
    tokenizer, choice = load(document), random.Random(1)
    size = tokenizer.get_vocab_size()
    decoded = []
    cases = [encoded(tokenizer, text) for text in TEXTS]
    for ids in [case[0] for case in cases] + [[choice.randrange(size) for _ in range(12)] for _ in range(12)]:
        decoded.append([ids, tokenizer.decode(ids, skip_special_tokens=False), tokenizer.decode(ids, skip_special_tokens=True)])
    return dict(tokenizer=document, encoded=[[text, *case] for text, case in zip(TEXTS, cases)], decoded=decoded)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, make in FILES.items():
        (folder / f"{name}.json").write_text(json.dumps(golden(make()), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
