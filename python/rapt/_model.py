"""Models: a folder of rapt or Hugging Face, or a GGUF file, loaded for inference or training."""
from . import _rapt
from ._arguments import (biases_of, integer_of, lines_of, markup_of, role_and_content, sample_of, schema_of, stops_of,
                         terms_of)
from ._explanation import Explanation, texts_of
from ._results import Completion, Hypothesis, Loss, PairScore, Prediction, Relevance, TextScore, Translation
from ._stream import Stream
from ._tokenizer import Tokenizer


class Model:
    """A loaded model. `Model.load` returns a Translator, a LanguageModel, an Encoder or a CrossEncoder."""
    __slots__ = ("_handle", "folder", "__weakref__")

    def __init__(self):
        raise TypeError("models are made by Model.load")

    @staticmethod
    def load(folder, *, adapter=None, precision=None, weights=None, kv_cache=None, threads=None, trainable=False):
        """Loads a model folder of rapt or Hugging Face, or a GGUF file.

        adapter    a folder of low-rank adapters (PEFT's), which are added to the model
        precision  "fp32", "bf16", "q8_0" or "q4_0": the numeric type of matrix products and held weights
        weights    types by patterns of names, "q8_0,blocks.0.*=fp32"
        kv_cache   "fp32", "bf16" or "q8_0": the type of cached keys and values
        threads    1 to 256; default: RAPT_THREADS, or else the CPUs that this process may use
        trainable  read all parameters into memory now, writable, and pack them in each call anew; if false, matrices stay in
                   their files, which must not be overwritten meanwhile

        Raises NotFoundError, IOFailure, FormatError (damaged files) or ValueError (an option out of range).
        """
        options = {"precision": precision, "weights": weights, "kv_cache": kv_cache,
                   "threads": None if threads is None else integer_of(threads, "threads", 1, 256)}
        return Model._of(_rapt.load(folder, adapter, trainable, options, None), folder)

    @staticmethod
    def _of(handle, folder):
        model = object.__new__(_CLASSES[handle.task()])
        model._handle = handle
        model.folder = folder
        return model

    @property
    def task(self):
        """"translation", "language_model" or "encoder"."""
        return self._handle.task()

    @property
    def parameters(self):
        """A dict of all parameters by name, each an Array of float32 in place: no copy is made. They can be written if the model
        was loaded with trainable=True."""
        return self._handle.parameters()

    @property
    def config(self):
        """The folder's config.json: sizes, kinds of layers, special tokens. InvalidValueError: a GGUF file that was loaded
        without trainable=True."""
        from ._process import config
        return config(self)

    def info(self):
        """What `rapt info --json` says about the model's folder: config.json with the number of parameters and the memory that it
        takes."""
        from ._process import info
        return info(self.folder)

    def state_dict(self, *, names="rapt"):
        """All parameters by name, each an Array of float32.

        names  "rapt": as `parameters`, in place; "hf": as in a Hugging Face folder of the model, read-only, which takes what
               `export` to "hf" takes, and room on the disk for the model meanwhile
        """
        if names == "rapt":
            return self.parameters
        if names != "hf":
            raise _rapt.InvalidValueError(f"names is {names!r}; it can be: 'rapt', 'hf'")
        from ._safetensors import exported
        return exported(self)

    def load_state_dict(self, values, *, strict=True):
        """Writes parameters of a model that was loaded with trainable=True, all or none: a mapping from names of `parameters` to
        arrays of NumPy, PyTorch or another package, Arrays, or nested lists, whose numbers are rounded to float32. Do not call it
        while another thread uses the model.

        strict  all parameters must be there

        ShapeError: an array of another shape; ValueError: an unknown name, or a parameter that is missing."""
        self._handle.load_state(dict(values), strict)

    def save(self, folder):
        """Writes a folder that Model.load reads; a model of a Hugging Face folder becomes such a folder again. InvalidValueError:
        a Hugging Face model that was loaded without trainable=True."""
        self._handle.save(folder)

    def export(self, path, to, *, weights=None, on_progress=None):
        """Writes the model for another program: a new folder or file, whole or not at all.

        to           "hf" (a folder that transformers reads), "ctranslate2" (a folder), "gguf" (a file for llama.cpp) or "rapt" (a
                     folder with weights in fewer bits, for inference)
        weights      of "gguf" and "rapt", the type of matrices: "fp32", "fp16", "bf16", "q8_0" or "q4_0"
        on_progress  called with (tensor, tensors) while tensors are written

        InvalidValueError, before anything is written: the path exists, or the other program would compute something else; the
        message says what it lacks."""
        self._handle.export(path, {"to": to, "weights": weights}, on_progress)

    def explain(self, text, *, target=None, names=(), gradients=False, lens=False, strict=False):
        """Runs one forward pass over a text, in fp32, and keeps what it computed: an Explanation.

        target     of a translation model: the text that the decoder reads; default: the model's own greedy translation
        names      shell patterns ("*.weights", "decoder.0.*") of the intermediates to keep, a sequence of str; default: all
        gradients  also compute the loss (of the target, or of a language model's text) and all its gradients, without dropout
        lens       also the logit lens, for Explanation.lens
        strict     unknown words are an error

        TypeError: text is no str; InvalidValueError: a text that is empty or longer than the model takes, a target for a language
        model; NotFoundError: a pattern that matches nothing.
        """
        if isinstance(names, str):
            raise TypeError("names must be a sequence of str, not str")
        handle = self._handle.explain(text, {"target": target, "gradients": gradients, "lens": lens, "strict": strict,
                                             "model_name": str(self.folder)}, tuple(names))
        return Explanation._of(handle, Tokenizer._of(self._handle.tokenizer(True)))

    @property
    def heads(self):
        """The names of all attention heads, "decoder.1.cross_attention.2" and so on, in the order of the blocks."""
        return [name for name, _ in self._handle.heads()]

    @property
    def heads_off(self):
        """The names of the heads that are switched off."""
        return [name for name, off in self._handle.heads() if off]

    def without_heads(self, *names):
        """The model with attention heads switched off: instead of its context such a head hands zeros to the output projection.
        To see what they contribute:

            for head in model.heads:
                print(head, model.without_heads(head).score(sources, targets).loss)

        names  of heads, or shell patterns ("*.cross_attention.0"). Heads that are off already stay off

        A new model that shares this one's weights, and can be used beside it; it cannot be saved, exported or trained, and has no
        gradients. This model cannot be closed before. NotFoundError: a name that matches no head; InvalidValueError: a model that
        a training run lends."""
        return Model._of(self._handle.without_heads(names), self.folder)

    def close(self):
        """Frees the model's memory. BufferError while arrays of it are in use, or a call in another thread. Once it is closed,
        every other method raises ValueError; closing again does nothing."""
        self._handle.close()

    def _repr_html_(self):
        from ._figures import model_html
        return model_html(self)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def __repr__(self):
        return f"<rapt.{type(self).__name__} {str(self.folder)!r}>"


class Translator(Model):
    """A translation model."""
    __slots__ = ()

    @property
    def source_tokenizer(self):
        """The Tokenizer of sources, part of the model: it keeps the model's memory alive."""
        return Tokenizer._of(self._handle.tokenizer(False))

    @property
    def target_tokenizer(self):
        """The Tokenizer of translations, likewise; equal to source_tokenizer if the model has one vocabulary."""
        return Tokenizer._of(self._handle.tokenizer(True))

    def translate(self, text, *, beam=None, n_best=None, length_penalty=None, coverage_penalty=None, patience=None,
                  max_ratio=None, no_repeat_ngram=None, min_length=None, prefix=None, suppress=None, glossary=None,
                  temperature=None, top_k=None, top_p=None, min_p=None, typical_p=None, repetition_penalty=None, seed=None,
                  first_line=0, source=None, target=None, alignment=False, tokens=False, alternatives=False,
                  replace_unknown=False, format="text", ignore_tags=None, splitting_tags=None, non_splitting_tags=None,
                  outline_detection=True,
                  ensemble=(), split=None, detokenize=True, should_stop=None):
        """Translates a str to a Translation, or a list or tuple of str to a list of them.

        beam             1 is greedy search; default: as the model says, greedy for models of rapt
        n_best           how many hypotheses to return, 1 to beam
        length_penalty   the exponent of the score, -10 to 10
        coverage_penalty 0 to 10: ranks hypotheses that leave out parts of the source lower (Wu et al. 2016); default 0
        patience         0.01 to 16: a beam search ends once beam * patience hypotheses have ended; default: once no other can win
        max_ratio        a translation has at most 10 tokens plus this many times the tokens of its source
        no_repeat_ngram  no n-gram of this many tokens is repeated
        min_length       a translation does not end before this many tokens, without its prefix
        prefix           a text that the translation begins with; a list of texts or None for a list of lines
        suppress         a list of texts that no translation has, as the tokens that the target tokenizer makes of them
        glossary         a dict of terms: the translation of a text that has one of its keys contains the value, by a beam search
                         (docs/terminology.md); not with sampling or alternatives
        temperature, top_k, top_p, min_p, typical_p
                         any of them: the translation is drawn at random, as LanguageModel.generate describes (temperature 1 and
                         all tokens unless told otherwise), as for back-translation; not with a beam
        repetition_penalty
                         0.001 to 1000, above 1 against tokens that the translation has
        seed, first_line what is drawn depends on them, the text's place in the list, the text and the other options alone;
                         first_line: the number of the list's first text, from 0, where the list is a part of a longer one
        source, target   codes of languages, of models that have tokens for them ("deu_Latn")
        alignment        also return attention weights between tokens; costs a pass for each hypothesis
        tokens           also return tokens and their log-probabilities
        alternatives     True: the n_best most probable tokens after the prefix, each continued greedily
        replace_unknown  True: each unknown word of the text becomes the source word that it attends to most
        format           "html" or "xml": each text is a document, whose tags are kept (docs/markup.md): each is where its words
                         are in the translation. Without tokens and alignment
        ignore_tags, splitting_tags, non_splitting_tags
                         of documents, names of elements, a str with commas or a list: elements that are not translated; tags at
                         which sentences end; tags at which they do not
        outline_detection False: sentences of documents end at splitting_tags only
        ensemble         other Translators of the same vocabularies: a token has the mean of the log-probabilities of all models.
                         Such a call packs the weights of all of them first
        split            "as_trained", "long" or "all": which lines are translated sentence by sentence
        detokenize       False: tokens as the model writes them, joined
        should_stop      a callable without arguments, asked some 50 times a second: true ends the call with InterruptedRunError

        A line's result depends on the line and these options alone. TypeError: text is neither; ValueError: an option is out of
        its range; FormatError: a line that the tokenizer cannot read.
        """
        options = {"beam": beam, "n_best": n_best, "length_penalty": length_penalty,
                   "coverage_penalty": coverage_penalty, "patience": patience, "max_ratio": max_ratio,
                   "no_repeat_ngram": no_repeat_ngram, "min_length": min_length, "suppress": lines_of(suppress, "suppress"),
                   "glossary": terms_of(glossary),
                   "temperature": temperature,
                   "top_k": top_k, "top_p": top_p, "min_p": min_p, "typical_p": typical_p,
                   "repetition_penalty": repetition_penalty, "seed": seed,
                   "source": source, "target": target, "alignment": alignment, "tokens": tokens,
                   "alternatives": alternatives, "replace_unknown": replace_unknown,
                   "split": split, "as_tokens": None if detokenize else True}
        options["markup"] = markup_of(format, ignore_tags, splitting_tags, non_splitting_tags, outline_detection)
        if options["markup"] and (tokens or alignment):
            raise _rapt.InvalidValueError("tokens and alignment are of lines, not of documents")
        single = isinstance(text, str)
        others = tuple(getattr(other, "_handle", None) for other in ensemble)
        prefixes = None
        if prefix is None or isinstance(prefix, str):
            options["prefix"] = prefix
        else:
            prefixes = tuple(prefix)
        results = self._handle.translate((text,) if single else text, options, prefixes, should_stop,
                                         integer_of(first_line, "first_line", 0, (1 << 40) - 1), others)
        translations = [Translation([Hypothesis(*h) for h in hypotheses], *rest) for hypotheses, *rest in results]
        return translations[0] if single else translations

    def translate_file(self, source, target, **options):
        """Translates the lines of a file of UTF-8 into another, which appears whole or not at all; options: of `translate`. With
        format="html" or "xml" the file is one document. Returns a dict: lines, and seconds that it took. The same path for both
        is refused."""
        from ._process import translate_file
        return translate_file(self, source, target, options)

    def score(self, sources, targets, *, strict=False, should_stop=None):
        """The Loss of given translations, which is what `rapt eval` prints: lists or tuples of str of equal length.

        strict       a sentence that is too long is an error; False: it is truncated, as in training
        should_stop  a callable, as in translate
        """
        return Loss(*self._handle.pairs_loss(sources, targets, strict, should_stop))

    def score_pairs(self, sources, targets, *, strict=False, should_stop=None):
        """How probable given translations are, token by token: a list with a PairScore for each pair, or None where a side is
        empty or blank. sources and targets are lists or tuples of str, the other arguments as in score; all log-probabilities
        add up to -score(...).nll, but for rounding."""
        return [None if pair is None else PairScore(*pair)
                for pair in self._handle.score_pairs(sources, targets, strict, should_stop)]


class LanguageModel(Model):
    """A language model, which continues texts."""
    __slots__ = ()

    @property
    def tokenizer(self):
        """The model's Tokenizer, part of it: it keeps the model's memory alive."""
        return Tokenizer._of(self._handle.tokenizer(False))

    def generate(self, prompt, *, stream=False, max_tokens=None, temperature=None, greedy=None, top_k=None, top_p=None,
                 min_p=None, typical_p=None, repetition_penalty=None, repetition_window=None, presence_penalty=None,
                 frequency_penalty=None, seed=None, sample=0, stop=(), beam=None, top_log_probs=None, logit_bias=None,
                 lookup=None, json_schema=None, logits=None, should_stop=None):
        """Continues a prompt: a str, in which texts of special tokens become those tokens, or a sequence of ids. Returns a
        Completion, or with stream=True a Stream, an iterator of TokenStep.

        Without options it samples as `rapt generate` does: as the model's folder says, or else from the 200 most probable tokens
        at temperature 0.8. rapt/generate.h has the formulas and their sources.

        max_tokens          at most so many new tokens, 0 or more; default 200
        temperature         divides the logits, 0 or more; 0: greedy
        greedy              True: always the most probable token
        top_k               sample from the k most probable tokens; 0: from all
        top_p               from the fewest tokens whose probabilities sum to p, above 0 to 1
        min_p               from tokens with at least min_p times the largest probability, 0 to 1
        typical_p           from tokens whose information is nearest to the entropy, that sum to this, 0 to 1
        repetition_penalty  0.001 to 1000, above 1 against tokens of the last repetition_window (0: all) tokens
        presence_penalty    -2 to 2, taken from the logit of each token that was written already
        frequency_penalty   likewise, as many times as it was written
        seed, sample        a text depends on them, the prompt and the other options alone; samples of one seed differ
        stop                a str or a sequence of str that end the text and are left out
        beam                above 1: beam search in place of sampling
        top_log_probs       so many most probable tokens come with each step of a stream
        logit_bias          a mapping from ids to what is added to their logits; -inf excludes one
        lookup              prompt lookup: at most so many tokens, 0 to 64, that followed the last ones earlier in the text are
                            computed in one pass; default 16; 0: off. Only the time depends on it
        json_schema         a JSON schema, as a dict or as text: the new text is one value that obeys it and ends with the value,
                            or finish_reason is "length". {"type": "object"}: any object. Not with beam search or stop
        logits              a callable that changes the logits of each position, before all other options: logits(step, array),
                            where step counts the new tokens from 0 and array, an Array [vocabulary], is written in place; it
                            returns None. Not with beam search. An exception of it ends the call
        should_stop         a callable, as in Translator.translate; a stream is closed instead

        If the text is longer than the model's context, the model sees its end. Calls with the same options again, with any
        prompt, skip the packing of weights. InvalidValueError: an option out of range, an id that the model lacks, or a schema
        with something that is not supported, by name.
        """
        return self._generate(prompt, stream, sample, stop, logit_bias, logits, should_stop, {
            "max_tokens": max_tokens, "temperature": temperature, "greedy": greedy, "top_k": top_k, "top_p": top_p,
            "min_p": min_p, "typical_p": typical_p, "repetition_penalty": repetition_penalty,
            "repetition_window": repetition_window, "presence_penalty": presence_penalty,
            "frequency_penalty": frequency_penalty, "seed": seed, "beam": beam, "top_log_probs": top_log_probs,
            "lookup": lookup, "json_schema": json_schema})

    def _generate(self, prompt, stream, sample, stop, logit_bias, logits, should_stop, options):
        stops, biases = stops_of(stop), biases_of(logit_bias)
        sample = sample_of(sample)
        options["json_schema"] = schema_of(options.get("json_schema"))
        if not stream:
            return Completion(*self._handle.generate(prompt, options, stops, biases, logits, sample, should_stop))
        if should_stop is not None:
            raise TypeError("should_stop is not for streams, which are closed")
        return Stream._of(self._handle.stream(prompt, options, stops, biases, logits, sample))

    def chat(self, messages, *, stream=False, variables=None, tools=None, max_tokens=1024, sample=0, stop=(), logit_bias=None,
             logits=None, should_stop=None, **options):
        """Replies to a conversation by the chat template of the model's folder: a Completion, or a Stream.

        messages   a sequence of mappings {"role": "user", "content": "Hello!"}; the roles are those that the template knows,
                   usually "system", "user" and "assistant"
        variables  a mapping of more variables of the template to values that JSON has
        tools      functions that the model may call, a list of mappings in OpenAI's form; chat_calls finds the calls in the
                   reply. Messages may then have "tool_calls", and the role "tool"
        options    as in generate; max_tokens is 1024 by default

        NotFoundError: the folder has no template; FormatError: the template refuses the messages.
        """
        ids = self._chat_prompt(messages, variables, tools, True)[1]
        return self._generate(ids, stream, sample, stop, logit_bias, logits, should_stop,
                              {"chat": True, "max_tokens": max_tokens, **options})

    def chat_calls(self, reply, tools):
        """The text and the calls of tools in a reply: a pair of a str or None, and a list of mappings with the keys "name" and
        "arguments", the JSON that the model wrote, as a str.

        InvalidValueError: the chat template takes no tools, or writes calls in a form that is not known.
        """
        import json
        found = json.loads(self._handle.chat_calls(self.folder, json.dumps(list(tools)), reply))
        return found["content"], found["tool_calls"]

    def chat_prompt(self, messages, *, variables=None, tools=None, generation_prompt=True):
        """The text that the chat template makes of messages, as transformers' apply_chat_template(tokenize=False).

        generation_prompt  whether it ends with the beginning of a reply
        """
        return self._chat_prompt(messages, variables, tools, generation_prompt)[0]

    def _chat_prompt(self, messages, variables, tools, generation_prompt):
        import json
        if tools is None:
            given = tuple(role_and_content(message) for message in messages)
        else:
            given = json.dumps([dict(message) for message in messages])
            tools = json.dumps(list(tools))
        if variables is not None:
            variables = json.dumps(dict(variables))
        return self._handle.chat_prompt(self.folder, given, variables, tools, generation_prompt)

    def next_token(self, prompt, *, top=5):
        """The `top` most probable tokens after a prompt, a str or ids: a Prediction without a label. `top` is 1 or more; of a
        smaller vocabulary, all."""
        ids, probabilities = self._handle.next_token(prompt, integer_of(top, "top", 1, (1 << 63) - 1))
        return Prediction(ids, texts_of(self.tokenizer, ids), probabilities, None, None)

    def score(self, texts, *, should_stop=None):
        """How probable texts are: a list of TextScore, one for each of a list or tuple of str, or of sequences of ids.

        A str is encoded with the special tokens that the tokenizer puts around it. A text that is longer than the model's context
        is scored in consecutive windows, as perplexity does. InvalidValueError: an id that the model lacks.
        """
        if not isinstance(texts, (list, tuple)):
            raise TypeError(f"texts must be a list or tuple, not {type(texts).__name__}")
        return [TextScore(*self._handle.score(text, should_stop)) for text in texts]

    def perplexity(self, text, *, should_stop=None):
        """e to the mean negative log-probability of a str's tokens, in consecutive windows of the model's context, each token but
        the first once: what `rapt eval` prints. InvalidValueError: fewer than two tokens."""
        return self._handle.loss(text, should_stop)[3]


class Encoder(Model):
    """An encoder, which makes vectors of texts."""
    __slots__ = ()

    @property
    def tokenizer(self):
        """The model's Tokenizer, part of it: it keeps the model's memory alive."""
        return Tokenizer._of(self._handle.tokenizer(False))

    def embed(self, texts, *, prompt=None, pooling="stored", normalize=None, dimensions=None, should_stop=None):
        """One vector for each of a list or tuple of str: an Array [texts, features] of float32.

        prompt       the name of one of the folder's prompts, which goes before each text; "": none; default: the folder's
        pooling      "mean", "cls" or "max" of the tokens' vectors; "stored": as the folder says
        normalize    whether a vector is divided by its Euclidean norm; default: as the folder says
        dimensions   features that a vector keeps, from the first one, before it is normalized, for models that were trained for
                     it (Matryoshka); default: all
        should_stop  a callable, as in Translator.translate

        A text is truncated to the tokens that the model takes. Its vector does not depend on the other texts.
        """
        if dimensions == 0:
            raise _rapt.InvalidValueError("dimensions is 0; a vector has at least one")
        return self._handle.embed(texts, {"prompt": prompt, "pooling": pooling, "normalize": normalize, "dimensions": dimensions},
                                  should_stop)


class CrossEncoder(Model):
    """A cross-encoder, which scores pairs of texts."""
    __slots__ = ()

    @property
    def tokenizer(self):
        """The model's Tokenizer, part of it: it keeps the model's memory alive."""
        return Tokenizer._of(self._handle.tokenizer(False))

    def score(self, pairs, *, should_stop=None):
        """A Relevance for each of a list or tuple of pairs of str, in their order. Pairs whose tokens are too many are truncated,
        the longer text first. A score does not depend on the other pairs.

        should_stop  a callable, as in Translator.translate
        """
        if not isinstance(pairs, (list, tuple)):
            raise TypeError(f"pairs must be a list or tuple, not {type(pairs).__name__}")
        for pair in pairs:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise TypeError(f"a pair must be a list or tuple of two str, not {pair!r}")
        first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        return [Relevance(*one) for one in self._handle.rerank(first, second, False, should_stop)]

    def rank(self, query, documents, *, top=None, should_stop=None):
        """A list of Relevance: how well each of `documents`, a list or tuple of str, answers `query`, the best first; those of
        equal scores in their order. `top`: the first ones only.
        """
        if not isinstance(query, str):
            raise TypeError(f"query must be a str, not {type(query).__name__}")
        if top is not None and (not isinstance(top, int) or isinstance(top, bool)):
            raise TypeError(f"top must be an int, not {type(top).__name__}")
        if top is not None and top < 1:
            raise _rapt.InvalidValueError(f"top is {top}; it is 1 or more")
        return [Relevance(*one) for one in self._handle.rerank([query], documents, True, should_stop)[:top]]


_CLASSES = {"translation": Translator, "language_model": LanguageModel, "encoder": Encoder, "cross_encoder": CrossEncoder}
