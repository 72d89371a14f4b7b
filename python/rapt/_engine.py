"""Many requests at once to models that stay loaded, for programs that use asyncio."""
from . import _rapt
from ._arguments import biases_of, integer_of, lines_of, markup_of, sample_of, schema_of, stops_of, terms_of
from ._results import Completion, Hypothesis, Translation

_engines = None # a WeakSet of all engines


def _register(engine):
    """An engine's thread hands results to Python, so it must have ended before the interpreter does."""
    global _engines
    if _engines is None:
        import atexit
        import weakref
        _engines = weakref.WeakSet()
        atexit.register(lambda: [engine.close() for engine in list(_engines)])
    _engines.add(engine)


def _settle(future, result, error):
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


class Engine:
    """Computes many requests at once: texts of one language model share their steps, lines of one translator their batches. A
    request gets the bits that it would get alone.

        with rapt.Engine(threads=2) as engine:
            lm = engine.add(model)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(engine.generate(lm, prompt, seed=1)) for prompt in prompts]

    It has a thread of its own, and keeps working while Python does something else. A task that is cancelled cancels its request.
    In a child of fork, an engine of the parent accepts nothing.

    threads  1 to 256 threads that compute; default: RAPT_THREADS, or else the CPUs that this process may use
    """
    __slots__ = ("_handle", "__weakref__")

    def __init__(self, *, threads=None):
        self._handle = _rapt.engine(0 if threads is None else integer_of(threads, "threads", 1, 256))
        _register(self)

    def add(self, model, *, slots=None, kv_memory=None, source=None, target=None, split=None, detokenize=True):
        """Lets the engine serve a model, and packs its weights. Returns the model's number. The model stays yours, but cannot be
        closed, and must not be changed, before the engine is closed.

        slots               language models: how many texts run at the same time; default 8
        kv_memory           language models: at most so many bytes of cached keys and values; default: what `slots` texts take
        source, target, split, detokenize
                            translators: as in Translator.translate, the same for all requests

        TypeError: no Model; InvalidValueError: an option out of range; BufferError: the model is being trained.
        """
        handle = getattr(model, "_handle", None)
        if type(handle) is not _rapt.Model:
            raise TypeError(f"model must be a Model, not {type(model).__name__}")
        return self._handle.add(handle, {"slots": slots, "kv_memory": kv_memory},
                                {"source": source, "target": target, "split": split, "as_tokens": None if detokenize else True})

    async def generate(self, model, prompt, *, max_tokens=None, temperature=None, greedy=None, top_k=None, top_p=None,
                       min_p=None, typical_p=None, repetition_penalty=None, repetition_window=None, presence_penalty=None,
                       frequency_penalty=None, seed=None, sample=0, stop=(), logit_bias=None, json_schema=None):
        """Continues a prompt with model number `model`: a Completion. Options as in LanguageModel.generate; there is no beam
        search. InvalidValueError: a prompt that is longer than the model's context, too."""
        options = {"max_tokens": max_tokens, "temperature": temperature, "greedy": greedy, "top_k": top_k, "top_p": top_p,
                   "min_p": min_p, "typical_p": typical_p, "repetition_penalty": repetition_penalty,
                   "repetition_window": repetition_window, "presence_penalty": presence_penalty,
                   "frequency_penalty": frequency_penalty, "seed": seed, "json_schema": schema_of(json_schema)}
        return Completion(*await self._run(self._handle.generate, model, prompt, options, stops_of(stop), biases_of(logit_bias),
                                           sample_of(sample)))

    async def translate(self, model, text, *, beam=None, n_best=None, length_penalty=None, coverage_penalty=None,
                        patience=None, max_ratio=None, no_repeat_ngram=None, min_length=None, prefix=None,
                        suppress=None, glossary=None, temperature=None, top_k=None,
                        top_p=None, min_p=None, typical_p=None, repetition_penalty=None, seed=None, alignment=False,
                        tokens=False, alternatives=False,
                        replace_unknown=False, format="text", ignore_tags=None, splitting_tags=None, non_splitting_tags=None,
                        outline_detection=True):
        """Translates a str to a Translation, or a list or tuple of str to a list of them, with model number `model`. Options as
        in Translator.translate, with one prefix for all lines."""
        single = isinstance(text, str)
        options = {"beam": beam, "n_best": n_best, "length_penalty": length_penalty,
                   "coverage_penalty": coverage_penalty, "patience": patience, "max_ratio": max_ratio,
                   "no_repeat_ngram": no_repeat_ngram, "min_length": min_length, "prefix": prefix,
                   "suppress": lines_of(suppress, "suppress"), "glossary": terms_of(glossary),
                   "temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "typical_p": typical_p,
                   "repetition_penalty": repetition_penalty, "seed": seed, "alignment": alignment, "tokens": tokens,
                   "alternatives": alternatives, "replace_unknown": replace_unknown}
        options["markup"] = markup_of(format, ignore_tags, splitting_tags, non_splitting_tags, outline_detection)
        if options["markup"] and (tokens or alignment):
            raise _rapt.InvalidValueError("tokens and alignment are of lines, not of documents")
        results = await self._run(self._handle.translate, model, (text,) if single else text, options)
        translations = [Translation([Hypothesis(*h) for h in hypotheses], *rest) for hypotheses, *rest in results]
        return translations[0] if single else translations

    async def _run(self, queue, model, *arguments):
        import asyncio
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def deliver(result, error):
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                pass # the loop was closed: nobody waits
        job = queue(integer_of(model, "model", 0, (1 << 31) - 1), *arguments, deliver)
        try:
            return await future
        finally:
            job.cancel() # does nothing to a request that is done

    def close(self):
        """Ends all requests with InterruptedRunError, and the engine's thread. BufferError: another thread is in a method of it.
        Closing again does nothing."""
        self._handle.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()
