"""Language models: texts, streams, conversations, scores, against the program and definitions."""
import functools
import gc
import json
import math
import os
import shutil
import threading
import unittest
import weakref

import rapt
import support

# How many texts are compared with the program's.
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
TOOLS_TEMPLATE = ("{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}"
                  "<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}{% endfor %}")
GENERATIONS = int(os.environ.get("RAPT_PYTHON_GENERATIONS", "12"))
PROMPTS = ("To be", "be", "question", "T", "or not to be, that is the question", "\n")
OPTIONS = ({}, {"greedy": True}, {"temperature": 1.3, "top_k": 0}, {"top_k": 5, "top_p": 0.9}, {"min_p": 0.05, "stop": "t"},
           {"repetition_penalty": 1.3, "repetition_window": 8, "presence_penalty": 0.5, "frequency_penalty": -0.25},
           {"typical_p": 0.7, "logit_bias": {3: -5.0, 4: float("-inf")}}, {"beam": 3}, {"stop": ["be", "ti"], "temperature": 1},
           {"greedy": True, "lookup": 0})


def words_of(options):
    """Options as the program takes them."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if name == "logit_bias":
            yield from (f"{option}={id}:{bias}" for id, bias in value.items())
        elif name == "stop":
            yield from (f"{option}={text}" for text in ([value] if isinstance(value, str) else value))
        else:
            yield option if value is True else f"{option}={value}"


@functools.cache
def model():
    return rapt.Model.load(support.language_model(), threads=2)


@functools.cache
def chat_folder():
    """A language model of bytes with a chat template."""
    out, text, recipe = (support.SCRATCH / name for name in ("chat", "chat.txt", "chat.yaml"))
    text.write_text("To be, or not to be, that is the question.\n" * 400, encoding="utf-8")
    recipe.write_text("task: language_model\n", encoding="utf-8")
    keys = {**support.SMALL, "data.text": text, "tokenizer.type": "bpe", "tokenizer.vocab_size": 300, "model.context": 64}
    support.run("train", recipe, "--quiet", "--out", out, *(f"--set={key}={value}" for key, value in keys.items()))
    (out / "chat_template.jinja").write_text("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ extra }}"
                                             "{% if add_generation_prompt %}assistant:{% endif %}", encoding="utf-8")
    return out


class Generation(unittest.TestCase):
    def test_texts_are_the_programs(self):
        for i in range(GENERATIONS):
            options, prompt = OPTIONS[i % len(OPTIONS)], PROMPTS[i % len(PROMPTS)]
            prompt = prompt[:8] if "beam" in options else prompt # beam search takes no more than the context
            seed, length = 7 * i + 1, 5 + i % 30
            with self.subTest(i=i, options=options, prompt=prompt):
                said = json.loads(support.run("generate", support.language_model(), "--quiet", "--json", "--log-probs",
                                              f"--prompt={prompt}", f"--seed={seed}", f"--max-tokens={length}",
                                              *words_of(options)))
                got = model().generate(prompt, seed=seed, max_tokens=length, **options)
                self.assertEqual((got.text, got.tokens, got.prompt_tokens, got.finish_reason),
                                 (said["text"], said["ids"], said["prompt_tokens"], said["end"]))
                self.assertEqual(got.log_probs, said["log_probs"] if options.get("beam", 1) == 1 else None)
                self.assertEqual(got.score, said.get("score", 0))
                self.assertEqual(str(got), got.text)
                stream = model().generate(prompt, seed=seed, max_tokens=length, stream=True, **options)
                self.assertEqual("".join(map(str, stream)), got.text)
                self.assertEqual(stream.completion, got)

    def test_texts_obey_schemas(self):
        schema = {"type": "object", "properties": {"name": {"enum": ["be", "not"]}, "é": {"type": "boolean"}},
                  "required": ["name", "é"]}
        path = support.SCRATCH / "schema.json"
        path.write_text(json.dumps(schema), encoding="utf-8")
        lm = rapt.Model.load(chat_folder(), threads=2)
        for seed in range(4):
            options = {"seed": seed, "max_tokens": 60, "temperature": 1.0}
            said = json.loads(support.run("generate", chat_folder(), "--quiet", "--json", "--prompt=To", f"--json-schema={path}",
                                          *words_of(options)))
            got = lm.generate("To", json_schema=schema, **options)
            self.assertEqual((got.text, got.finish_reason), (said["text"], said["end"]))
            self.assertEqual(got, lm.generate("To", json_schema=json.dumps(schema), **options))
            if got.finish_reason == "end_of_text":
                self.assertEqual(list(json.loads(got.text)), ["name", "é"])
            reply = lm.chat([{"role": "user", "content": "To"}], json_schema={"const": "be"}, seed=seed)
            self.assertEqual(reply.text.strip(), '"be"')
        for error, wrong in ((rapt.InvalidValueError, {"not": {}}), (rapt.InvalidValueError, "{"), (TypeError, {"a": {1}}),
                             (rapt.InvalidValueError, []), (ValueError, {"const": float("nan")})):
            with self.assertRaises(error):
                lm.generate("To", json_schema=wrong)
        with self.assertRaises(rapt.InvalidValueError):
            lm.generate("To", json_schema={}, stop="e")

    def test_samples_and_ids(self):
        said = support.run("generate", support.language_model(), "To be", "--samples=3", "--max-tokens=9", "--json", "--quiet")
        for i, line in enumerate(said.splitlines()):
            self.assertEqual(model().generate("To be", sample=i, max_tokens=9).text, json.loads(line)["text"])
        ids = model().tokenizer.encode("To be")
        for prompt in (ids, tuple(ids), memoryview(bytes(ids))):
            self.assertEqual(model().generate(prompt, max_tokens=9), model().generate("To be", max_tokens=9))

    def test_tokens_bring_the_most_probable(self):
        stream = model().generate("To be", stream=True, max_tokens=6, temperature=1, top_log_probs=4)
        text = "To be"
        for step in stream:
            expected = model().next_token(text, top=4)
            self.assertEqual([id for id, _ in step.top], expected.ids)
            for (_, log_prob), probability in zip(step.top, expected.probabilities, strict=True):
                self.assertAlmostEqual(math.exp(log_prob), probability, places=6)
            text += step.text
        said = json.loads(support.run("generate", support.language_model(), "To be", "--at=-1", "--top=3", "--json"))
        got = model().next_token("To be", top=3)
        self.assertEqual(got.ids, [token["id"] for token in said["likeliest"]])
        self.assertEqual(got.tokens, [token["text"] for token in said["likeliest"]])
        self.assertEqual(got.probabilities, [token["probability"] for token in said["likeliest"]])
        everything = model().next_token("To be", top=1 << 40)
        self.assertEqual(len(everything.ids), len(model().tokenizer))
        self.assertAlmostEqual(sum(everything.probabilities), 1, places=5)

    def test_what_is_refused(self):
        generate = model().generate
        for error, call in ((TypeError, lambda: generate(3)), (TypeError, lambda: generate(b"To")),
                            (TypeError, lambda: generate(None)), (TypeError, lambda: generate({1: 2})),
                            (TypeError, lambda: generate(["To"])), (TypeError, lambda: generate("T", temperature="1")),
                            (TypeError, lambda: generate("T", greedy=1)), (TypeError, lambda: generate("T", stop=["a", 1])),
                            (TypeError, lambda: generate("T", stop=3)), (TypeError, lambda: generate("T", logit_bias=[1])),
                            (TypeError, lambda: generate("T", logit_bias={"a": 1.0})),
                            (TypeError, lambda: generate("T", sample="1")), (TypeError, lambda: model().score("T")),
                            (TypeError, lambda: generate("T", stream=True, should_stop=lambda: False)),
                            (TypeError, lambda: generate("T", no_such_option=1)),
                            (TypeError, lambda: model().chat(["T"])), (ValueError, lambda: model().chat([{"role": "user"}])),
                            (ValueError, lambda: generate("T", max_tokens=-1)), (ValueError, lambda: generate("T", sample=-1)),
                            (rapt.InvalidValueError, lambda: generate("T", temperature=-1)),
                            (rapt.InvalidValueError, lambda: generate("T", beam=0)),
                            (rapt.InvalidValueError, lambda: generate([])),
                            (rapt.InvalidValueError, lambda: generate([10 ** 9])), (ValueError, lambda: generate([2 ** 40])),
                            (rapt.InvalidValueError, lambda: generate("T", stop="")),
                            (rapt.InvalidValueError, lambda: model().perplexity("T")),
                            (rapt.InvalidValueError, lambda: model().score([[0, 10 ** 6]])),
                            (ValueError, lambda: model().next_token("T", top=0)), (ValueError, lambda: generate("T", stop="a\0")),
                            (ValueError, lambda: generate("\ud800")), (rapt.InvalidValueError, lambda: generate("\0")),
                            (rapt.NotFoundError, lambda: model().chat([{"role": "user", "content": "T"}]))):
            with self.assertRaises(error):
                print(call())

    def test_calls_can_be_ended(self):
        with self.assertRaises(rapt.InterruptedRunError):
            model().generate("To", max_tokens=1 << 40, should_stop=lambda: True)
        with self.assertRaises(ZeroDivisionError):
            model().generate("To", max_tokens=1 << 40, should_stop=lambda: 1 / 0)
        with self.assertRaises(rapt.InterruptedRunError):
            model().perplexity("To be" * 100, should_stop=lambda: True)

    def test_control_c(self):
        import signal
        timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            model().generate("To", max_tokens=1 << 40)
        timer.join()


class Streams(unittest.TestCase):
    def test_a_stream_can_be_closed(self):
        stream = model().generate("To be", stream=True, max_tokens=1 << 40)
        self.assertIs(iter(stream), stream)
        next(stream)
        with self.assertRaises(ValueError):
            stream.completion
        stream.close()
        stream.close()
        self.assertEqual(list(stream), [])
        with self.assertRaises(ValueError):
            stream.completion
        with model().generate("To be", stream=True, max_tokens=3) as stream:
            self.assertLessEqual(len(list(stream)), 4)
        self.assertEqual(stream.completion.finish_reason, "length")

    def test_a_stream_holds_its_model(self):
        own = rapt.Model.load(support.language_model(), threads=1)
        stream = own.generate("To be", stream=True)
        next(stream)
        with self.assertRaises(BufferError):
            own.close()
        del stream
        gc.collect()
        own.close()
        for call in (lambda: own.generate("T"), lambda: own.generate("T", stream=True), lambda: own.next_token("T"),
                     lambda: own.score(["T"]), lambda: own.perplexity("TT")):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()

    def test_another_thread_closes(self):
        stream = model().generate("To be", stream=True, max_tokens=1 << 40)
        ended = []

        def take():
            try:
                for _ in stream:
                    pass
                ended.append("closed between two tokens")
            except (rapt.InterruptedRunError, ValueError) as error:
                ended.append(error)
        thread = threading.Thread(target=take)
        thread.start()
        next_or_busy = 0
        while next_or_busy < 20:
            try:
                next(stream)
            except ValueError:
                pass
            next_or_busy += 1
        stream.close()
        thread.join(30)
        self.assertFalse(thread.is_alive())
        self.assertEqual(len(ended), 1)


class Conversations(unittest.TestCase):
    def test_replies_are_the_programs(self):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "To be?"}]
        with rapt.Model.load(chat_folder(), threads=2) as chat:
            for seed in range(1, 4):
                said = support.run("generate", chat_folder(), "To be?", "--chat", "--system=Be brief.", "--max-tokens=12",
                                   f"--seed={seed}", "--json", "--quiet")
                self.assertEqual(chat.chat(messages, max_tokens=12, seed=seed).text, json.loads(said)["text"])
            stream = chat.chat(messages, max_tokens=12, seed=3, stream=True)
            self.assertEqual("".join(map(str, stream)), json.loads(said)["text"])
            self.assertEqual(chat.chat_prompt(messages, variables={"extra": "!"}),
                             "system: Be brief.\nuser: To be?\n!assistant:")
            self.assertEqual(chat.chat_prompt(messages, generation_prompt=False), "system: Be brief.\nuser: To be?\n")
            with self.assertRaises(rapt.InvalidValueError):
                chat.chat([])

    def test_tools_are_given_and_called(self):
        folder = support.SCRATCH / "chat-tools"
        shutil.copytree(chat_folder(), folder)
        (folder / "chat_template.jinja").write_text(TOOLS_TEMPLATE, encoding="utf-8")
        call = {"name": "add", "arguments": {"a": [1, "\u00e9</tool_call>"]}}
        messages = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "", "tool_calls": [
            {"id": "i", "type": "function", "function": {**call, "arguments": json.dumps(call["arguments"])}}]},
            {"role": "tool", "tool_call_id": "i", "content": "c"}]
        with rapt.Model.load(folder, threads=2) as chat:
            text = chat.chat_prompt(messages, tools=TOOLS)
            written = f"<tool_call>{json.dumps(call, ensure_ascii=False)}</tool_call>"
            self.assertEqual(text, f"{json.dumps(TOOLS)}u{written}c")
            self.assertEqual(chat.chat(messages, tools=TOOLS, seed=1, max_tokens=8).text,
                             chat.generate(text, seed=1, max_tokens=8).text)
            content, (found,) = chat.chat_calls("So:\n" + written, TOOLS)
            self.assertEqual((content, found["name"], json.loads(found["arguments"])), ("So:", "add", call["arguments"]))
            self.assertEqual(chat.chat_calls("<tool_call>", TOOLS), ("<tool_call>", []))
            with self.assertRaises(rapt.InvalidValueError):
                chat.chat([], tools=TOOLS)
        with rapt.Model.load(chat_folder(), threads=2) as chat, self.assertRaises(rapt.InvalidValueError):
            chat.chat_calls("", TOOLS)


class Scores(unittest.TestCase):
    TEXT = "To be, or not to be, that is the question.\nTo be, or"

    def test_perplexity_is_the_programs(self):
        path = support.SCRATCH / "scored.txt"
        path.write_text(self.TEXT, encoding="utf-8")
        said = json.loads(support.run("eval", support.language_model(), path, "--json", "--quiet"))
        self.assertEqual(model().perplexity(self.TEXT), said["perplexity"])
        score, = model().score([self.TEXT])
        self.assertEqual(score.tokens, model().tokenizer.encode(self.TEXT))
        self.assertEqual(len(score.log_probs), len(score.tokens) - 1)
        self.assertAlmostEqual(math.exp(-score.log_prob / len(score.log_probs)), said["perplexity"], places=6)

    def test_tokens_have_the_probabilities_of_next_token(self):
        text = "To be, or"
        ids = model().tokenizer.encode(text)
        (score,), again = model().score([text]), model().score([ids, "T"])
        self.assertEqual(again, [score, rapt.TextScore(model().tokenizer.encode("T"), [])])
        for i, log_prob in enumerate(score.log_probs):
            after = model().next_token(ids[:i + 1], top=1 << 20)
            self.assertAlmostEqual(math.exp(log_prob), after.probabilities[after.ids.index(ids[i + 1])], places=6)


class Threads(unittest.TestCase):
    def test_two_threads(self):
        expected = [model().generate("To be", seed=seed, max_tokens=20) for seed in range(8)]
        with rapt.Model.load(support.language_model(), threads=1) as other:
            for models in ((model(), model()), (model(), other)):
                got = [[], []]

                def work(at, m):
                    for seed in range(8):
                        got[at].append(m.generate("To be", seed=seed, max_tokens=20))
                threads = [threading.Thread(target=work, args=pair) for pair in enumerate(models)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual(got, [expected, expected])

    def test_training_waits_for_the_calls_of_other_threads(self):
        """The model of on_report is closed afterwards, when the calls that it was given to have ended."""
        recipe = {**support.SMALL, "task": "language_model", "tokenizer.type": "characters", "model.context": 16}
        ended, threads = [], []

        def work(model):
            try:
                for seed in range(50):
                    ended.append(model.generate("To", seed=seed, max_tokens=20).text)
                    ended.append(model.score(["To be"])[0].tokens)
                    ended.extend(step.text for step in model.generate("To", max_tokens=5, stream=True))
            except ValueError as error:
                ended.append(error) # closed meanwhile

        def report(step, model):
            threads.append(threading.Thread(target=work, args=(model,)))
            threads[-1].start()
        rapt.train(recipe, text="To be, or not to be, that is the question.\n" * 200, on_report=report, show=False)
        for thread in threads:
            thread.join(60)
            self.assertFalse(thread.is_alive())
        self.assertGreaterEqual(len(threads), 2)
        for error in ended:
            if isinstance(error, ValueError):
                self.assertRegex(str(error), "closed|changed")

    def test_logits_that_are_changed(self):
        plain = model().generate("To be", max_tokens=12, seed=4, temperature=1.0)
        calls = []
        same = model().generate("To be", max_tokens=12, seed=4, temperature=1.0, logits=lambda *given: calls.append(given))
        self.assertEqual(plain, same)
        self.assertEqual([step for step, _ in calls], list(range(12)))
        self.assertEqual({array.shape for _, array in calls}, {(len(model().tokenizer),)})
        best = model().next_token("To be", top=2)

        def exclude(step, array):
            memoryview(array)[best.ids[0]] = -math.inf

        done = model().generate("To be", max_tokens=12, greedy=True, logits=exclude)
        self.assertEqual(done.tokens[0], best.ids[1])
        self.assertNotIn(best.ids[0], done.tokens)
        self.assertAlmostEqual(done.log_probs[0], math.log(best.probabilities[1]), places=5) # by the model's softmax
        steps = model().generate("To be", max_tokens=12, greedy=True, stream=True, logits=exclude)
        self.assertEqual([step.id for step in steps if step.id is not None], done.tokens)

        def raises(step, array):
            if step == 3:
                raise LookupError("at the fourth token")

        with self.assertRaisesRegex(LookupError, "fourth"):
            model().generate("To be", max_tokens=12, logits=raises)
        stream, given = model().generate("To be", max_tokens=12, stream=True, logits=raises), []
        with self.assertRaisesRegex(LookupError, "fourth"):
            for step in stream:
                given.append(step)
        self.assertEqual(len(given), 3)
        calls[0][1].tolist() # outlives the call, and what is written now changes nothing
        memoryview(calls[0][1])[0] = 1.0
        for error, options in ((TypeError, {"logits": lambda step, array: array}), (TypeError, {"logits": 1}),
                               (TypeError, {"logits": lambda: None}),
                               (rapt.InvalidValueError, {"logits": exclude, "beam": 2}),
                               (rapt.NotFiniteError, {"logits": lambda step, array: memoryview(array).__setitem__(0, math.nan)})):
            with self.assertRaises(error):
                model().generate("To be", max_tokens=3, **options)
        self.assertEqual(model().generate("To be", max_tokens=12, seed=4, temperature=1.0), plain)

    def test_a_stream_that_refers_to_itself_is_freed(self):
        class Writer:
            def __init__(self, of, times):
                self.stream = of.generate("To be", max_tokens=5, stream=True, logits=self.keep)
                for _ in range(times):
                    next(self.stream)

            def keep(self, step, array):
                self.step = step

            def __del__(self): # of an object that is collected: the stream is still whole
                deleted.append(getattr(self, "step", None))

        for times, step in ((0, None), (2, 1)):
            deleted, own = [], rapt.Model.load(support.language_model(), threads=1)
            writer = Writer(own, times)
            watched = weakref.ref(writer)
            del writer
            gc.collect()
            self.assertIsNone(watched())
            self.assertEqual(deleted, [step])
            own.close() # no stream of it is left
        running = Writer(model(), 1) # what is in use stays
        gc.collect()
        self.assertEqual(len(list(running.stream)), 4)

    def test_a_stream_that_its_callable_closes_is_freed_once(self):
        class Closer:
            def __call__(self, step, array):
                pass

            def __del__(self):
                streams[0].close()

        own = rapt.Model.load(support.language_model(), threads=1)
        streams = [own.generate("To be", max_tokens=5, stream=True, logits=Closer())]
        next(streams[0])
        del own # the stream has the last reference
        streams[0]._handle.close() # drops the callable, which closes the stream again
        self.assertRaises(StopIteration, next, streams[0])

    def test_a_model_in_use_is_not_closed(self):
        own = rapt.Model.load(support.language_model(), threads=1)
        begun, ends = threading.Event(), threading.Event()

        def stop():
            begun.set()
            return ends.is_set()
        thread = threading.Thread(target=lambda: self.assertRaises(rapt.InterruptedRunError, own.generate, "To be",
                                                                   max_tokens=1 << 40, should_stop=stop))
        thread.start()
        begun.wait(30)
        with self.assertRaises(BufferError):
            own.close()
        ends.set()
        thread.join()
        own.close()


if __name__ == "__main__":
    unittest.main()
