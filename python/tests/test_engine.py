"""Many requests at once: the bits of single calls, cancellation, the end; and children of fork."""
import asyncio
import gc
import os
import signal
import subprocess
import sys
import unittest
import warnings

import rapt
import support

LINES = ["where are you ?", "i am here .", "go !", "come in .", "we won ."]


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lm = rapt.Model.load(support.language_model(), threads=2)
        cls.translator = rapt.Model.load(support.translator(), threads=2)

    @classmethod
    def tearDownClass(cls):
        cls.lm.close() # engines are closed by then
        cls.translator.close()

    def test_requests_get_the_bits_of_single_calls(self):
        texts = [dict(prompt="To be"[:1 + i % 5], seed=i, max_tokens=3 + i % 20, temperature=0.5 + i % 3, stop=["q"] * (i % 2),
                      logit_bias={3: -1.0}) for i in range(24)] + [dict(prompt="To", json_schema={"const": True})]
        expected = [self.lm.generate(**options) for options in texts]
        lines = [self.translator.translate(line, beam=3, n_best=2, tokens=True) for line in LINES]

        async def everything(engine):
            lm, translator = engine.add(self.lm, slots=3), engine.add(self.translator)
            self.assertEqual((lm, translator), (0, 1))
            generated = asyncio.gather(*(engine.generate(lm, **options) for options in texts))
            each = asyncio.gather(*(engine.translate(translator, line, beam=3, n_best=2, tokens=True) for line in LINES))
            together = engine.translate(translator, LINES, beam=3, n_best=2, tokens=True)
            return await generated, await each, await together, await engine.translate(translator, [])
        for threads in (1, 2):
            with rapt.Engine(threads=threads) as engine:
                self.assertEqual(asyncio.run(everything(engine)), (expected, lines, lines, []))

    def test_alignment_and_languages(self):
        async def align(engine):
            at = engine.add(self.translator, detokenize=False)
            return await engine.translate(at, LINES[0], alignment=True)
        with rapt.Engine(threads=1) as engine:
            got = asyncio.run(align(engine)).hypotheses[0]
        expected = self.translator.translate(LINES[0], alignment=True, detokenize=False).hypotheses[0]
        self.assertEqual((got.text, got.alignment.tolist()), (expected.text, expected.alignment.tolist()))

    def test_documents(self):
        pages = [f"<p>{a} <b>{b}</b></p><pre>x</pre>" for a, b in zip(LINES[:6], LINES[6:12])] + [""]

        async def translate(engine):
            at = engine.add(self.translator)
            with self.assertRaises(ValueError):
                await engine.translate(at, pages, format="html", tokens=True)
            with self.assertRaises(ValueError):
                await engine.translate(at, "<b>" * 257 + "x", format="html")
            return await asyncio.gather(*(engine.translate(at, page, format="html", n_best=2, beam=2) for page in pages),
                                        engine.translate(at, pages[0], format="xml", ignore_tags=["b"]))
        with rapt.Engine(threads=2) as engine:
            got = asyncio.run(translate(engine))
        self.assertEqual(got[:-1], self.translator.translate(pages, format="html", n_best=2, beam=2))
        self.assertEqual(got[-1], self.translator.translate(pages[0], format="xml", ignore_tags="b"))

    def test_a_cancelled_task_cancels_its_request(self):
        async def cancel(engine):
            lm = engine.add(self.lm, slots=1)
            endless = asyncio.create_task(engine.generate(lm, "To", max_tokens=1 << 40))
            await asyncio.sleep(0.05)
            endless.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await endless
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(engine.generate(lm, "To", max_tokens=1 << 40), 0.05)
            return await engine.generate(lm, "To", max_tokens=3, seed=2) # there is only one slot
        with rapt.Engine(threads=1) as engine:
            self.assertEqual(asyncio.run(cancel(engine)), self.lm.generate("To", max_tokens=3, seed=2))

    def test_the_end(self):
        async def close(engine):
            lm = engine.add(self.lm)
            tasks = [asyncio.create_task(engine.generate(lm, "To", max_tokens=1 << 40)) for _ in range(12)]
            await asyncio.sleep(0.05)
            with self.assertRaises(BufferError):
                self.lm.close() # the engine has it
            engine.close()
            engine.close()
            for task in tasks:
                with self.assertRaises(rapt.InterruptedRunError):
                    await task
            with self.assertRaisesRegex(ValueError, "closed"):
                await engine.generate(lm, "To")
            with self.assertRaisesRegex(ValueError, "closed"):
                engine.add(self.lm)
        asyncio.run(close(rapt.Engine(threads=1)))

    def test_an_engine_that_nobody_closes(self):
        """At exit too, with a request that is running."""
        program = ("import asyncio, rapt, sys\n"
                   "async def main():\n"
                   "    asyncio.get_running_loop().slow_callback_duration = 60 # a busy machine is no defect\n"
                   "    engine = rapt.Engine(threads=1)\n"
                   "    lm = engine.add(rapt.Model.load(sys.argv[1], threads=1))\n"
                   "    task = asyncio.create_task(engine.generate(lm, 'To', max_tokens=1 << 40))\n"
                   "    await asyncio.sleep(0.05)\n"
                   "    return engine\n"
                   "engine = asyncio.run(main())\n"
                   "print('ends')\n")
        done = subprocess.run([sys.executable, "-X", "dev", "-c", program, support.language_model()], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ends\n", ""))
        engine = rapt.Engine(threads=1)
        engine.add(self.lm)
        del engine
        gc.collect()

    def test_what_is_refused(self):
        async def refuse(engine):
            lm, translator = engine.add(self.lm), engine.add(self.translator)
            for error, call in ((ValueError, engine.generate(7, "To")), (ValueError, engine.generate(-1, "To")),
                                (TypeError, engine.generate("a", "To")), (TypeError, engine.generate(lm, 3)),
                                (TypeError, engine.generate(lm, "To", stop=3)), (TypeError, engine.translate(translator, 3)),
                                (TypeError, engine.translate(translator, ["a", 3])),
                                (rapt.InvalidValueError, engine.generate(lm, [10 ** 6])),
                                (rapt.InvalidValueError, engine.generate(lm, [1] * 17)),
                                (rapt.InvalidValueError, engine.generate(lm, "To", temperature=-1)),
                                (rapt.InvalidValueError, engine.generate(translator, "To")),
                                (rapt.InvalidValueError, engine.translate(lm, "To")),
                                (rapt.InvalidValueError, engine.translate(translator, "To", beam=0)),
                                (ValueError, engine.translate(translator, "a\0"))):
                with self.assertRaises(error):
                    print(await call)
        with rapt.Engine(threads=1) as engine:
            asyncio.run(refuse(engine))
            for error, call in ((TypeError, lambda: engine.add(3)), (TypeError, lambda: engine.add(self.lm, slots="3")),
                                (rapt.InvalidValueError, lambda: engine.add(self.lm, slots=0)),
                                (TypeError, lambda: rapt.Engine(threads="2")), (ValueError, lambda: rapt.Engine(threads=0)),
                                (ValueError, lambda: engine.add(self.translator, split="no such"))):
                with self.assertRaises(error):
                    print(call())


class Forks(unittest.TestCase):
    """A child has only the thread that forked: it computes on one, and frees what the parent loaded."""

    def in_child(self, work):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore") # Python 3.12 warns of forks with threads
            child = os.fork()
        if child == 0:
            signal.alarm(30) # a child that waits for a thread that is not there ends by this
            code = 1
            try:
                code = 0 if work() else 2
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def test_a_translator(self):
        model = rapt.Model.load(support.translator(), threads=2)
        expected = model.translate(LINES, beam=2)
        owned = [model]

        def work():
            same = owned[0].translate(LINES, beam=2) == expected
            owned.pop().close()
            return same
        del model
        self.in_child(work)
        self.assertEqual(owned.pop().translate(LINES, beam=2), expected)

    def test_a_language_model(self):
        model = rapt.Model.load(support.language_model(), threads=2)
        expected = model.generate("To be", seed=3, max_tokens=20)
        stream = model.generate("To be", seed=3, max_tokens=20, stream=True)
        steps = [next(stream), next(stream)]

        def work():
            steps.extend(stream)
            same = "".join(map(str, steps)) == model.generate("To be", seed=3, max_tokens=20).text == expected.text
            explained = model.explain("To be").loss is None
            model.close()
            return same and explained
        self.in_child(work)
        self.assertEqual("".join(map(str, steps + list(stream))), expected.text)
        model.close()

    def test_an_engine(self):
        model = rapt.Model.load(support.language_model(), threads=1)
        engine = rapt.Engine(threads=2)
        at = engine.add(model)
        expected = asyncio.run(engine.generate(at, "To", max_tokens=5))

        def work():
            try:
                asyncio.run(engine.generate(at, "To", max_tokens=5))
            except rapt.InvalidValueError:
                engine.close()
                own = rapt.Engine(threads=1)
                same = asyncio.run(own.generate(own.add(model), "To", max_tokens=5)) == expected
                own.close()
                return same
            return False
        self.in_child(work)
        self.assertEqual(asyncio.run(engine.generate(at, "To", max_tokens=5)), expected)
        engine.close()
        model.close()


if __name__ == "__main__":
    unittest.main()
