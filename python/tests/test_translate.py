"""Translations: the program's bytes, options, types, threads and interruptions."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import rapt
import support

LINES = [line.split("\t")[0] for line in
         (support.SOURCE / "data" / "en-fr.tsv").read_text(encoding="utf-8").splitlines()[:587]]


class TheProgramsBytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = support.translator()
        cls.model = rapt.Model.load(cls.folder)

    def program(self, *options, lines=LINES):
        return support.run("translate", self.folder, *options, text="".join(line + "\n" for line in lines))

    def test_greedy(self):
        ours = "".join(f"{t}\n" for t in self.model.translate(LINES))
        self.assertEqual(ours, self.program())

    def test_beam(self):
        lines = LINES[:60]
        ours = self.model.translate(lines, beam=4, length_penalty=0.6, n_best=2)
        self.assertEqual([len(t.hypotheses) for t in ours], [2] * len(lines))
        theirs = self.program("--beam", 4, "--length-penalty", 0.6, lines=lines)
        self.assertEqual("".join(f"{t}\n" for t in ours), theirs)

    def test_sampling(self):
        options = {"temperature": 1.2, "top_k": 50, "top_p": 0.95, "min_p": 0.001, "typical_p": 0.99, "repetition_penalty": 1.1,
                   "min_length": 3}
        ours = [t.text for t in self.model.translate(LINES[:60], seed=5, **options)]
        flags = [flag for name, value in options.items() for flag in ("--" + name.replace("_", "-"), value)]
        self.assertEqual("".join(t + "\n" for t in ours), self.program("--seed", 5, *flags, lines=LINES[:60]))
        parts = [t.text for i in range(0, 60, 7)
                 for t in self.model.translate(LINES[i:min(i + 7, 60)], seed=5, first_line=i, **options)]
        self.assertEqual(parts, ours)
        self.assertNotEqual([t.text for t in self.model.translate(LINES[:60], seed=6, **options)], ours)

    def test_suppress(self):
        plain = [t.text.split() for t in self.model.translate(LINES[:40])]
        word = max((w for words in plain for w in words if w.isalpha() and w.islower()), key=lambda w: sum(w in x for x in plain))
        ours = [t.text for t in self.model.translate(LINES[:40], suppress=[word])]
        self.assertFalse(any(word in text.split() for text in ours))
        self.assertEqual("".join(t + "\n" for t in ours), self.program("--suppress", word, lines=LINES[:40]))

    def test_glossary(self):
        plain = self.model.translate(LINES[:40])
        words = [w for t in plain for w in t.text.split() if w.isalpha() and w.islower()]
        source = max((w for line in LINES[:40] for w in line.split() if w.isalpha() and w.islower()), key=lambda w: len(w))
        terms = {source: max(words, key=words.count)}
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
            file.write("".join(f"{a}\t{b}\n" for a, b in terms.items()))
            file.flush()
            wanted = self.program("--glossary", file.name, lines=LINES[:40])
        ours = self.model.translate(LINES[:40], glossary=terms)
        self.assertEqual("".join(t.text + "\n" for t in ours), wanted)
        self.assertNotEqual([t.text for t in ours], [t.text for t in plain])
        self.assertFalse(any(t.lacks_terms for t in ours))
        self.assertTrue(self.model.translate(source, glossary={source: "zyzzyva"}).lacks_terms)
        for wrong, error in (({"a": ""}, ValueError), ({}, ValueError), ({"a": 1}, TypeError), ("ab", TypeError),
                             ({"a\tb": "c"}, ValueError)):
            with self.assertRaises(error, msg=repr(wrong)):
                self.model.translate("Go.", glossary=wrong)

    def test_documents_keep_their_tags(self):
        page = "".join(f"<p id={i}>{a} <b>{b}</b></p>\n<pre>{a}</pre>" for i, (a, b) in enumerate(zip(LINES[:20], LINES[20:40])))
        ours = self.model.translate(page, format="html")
        self.assertEqual(ours.text, support.run("translate", self.folder, "--html", text=page))
        self.assertEqual([ours.text.count(tag) for tag in ("<p id=", "<b>", "</b>", "</p>")], [20] * 4)
        self.assertEqual((len(ours.hypotheses), ours.source_tokens, ours.hypotheses[0].tokens), (1, None, None))
        self.assertEqual(self.model.translate(f"<i>{LINES[3]}</i>", format="xml").text,
                         f"<i>{self.model.translate(LINES[3]).text}</i>")
        best = self.model.translate([f"<p>{LINES[0]}</p><p>{LINES[1]}</p>", "", "<b>5</b>"], format="html", beam=3, n_best=2)
        alone = self.model.translate(LINES[:2], beam=3, n_best=2)
        for n in range(2):
            self.assertEqual(best[0].hypotheses[n].text, "".join(f"<p>{t.hypotheses[n].text}</p>" for t in alone))
            self.assertEqual(best[0].hypotheses[n].score, sum(t.hypotheses[n].score for t in alone))
        self.assertEqual([t.text for t in best[1:]], ["", "<b>5</b>"])
        marked = "<d><t>Go.</t> <x>Go.</x></d>"
        self.assertTrue(self.model.translate(marked, format="xml", ignore_tags=["x", "y"]).text.endswith("<x>Go.</x></d>"))
        self.assertEqual(self.model.translate(marked, format="xml", ignore_tags="d").text, marked)
        self.assertEqual(self.model.translate("<p>Go.</p>", format="html", splitting_tags="p", non_splitting_tags=("br",),
                                              outline_detection=False).text, f"<p>{self.model.translate('Go.').text}</p>")
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "a.html"), pathlib.Path(folder, "b.html")
            source.write_bytes((page + "\r\n").encode())
            self.assertEqual(self.model.translate_file(source, target, format="html")["lines"], 21)
            self.assertEqual(target.read_bytes().decode(), ours.text + "\r\n")
        for wrong in ({"format": "md"}, {"ignore_tags": "x"}, {"outline_detection": False}, {"format": "html", "tokens": True},
                      {"format": "html", "alignment": True}, {"format": "html", "ignore_tags": "a," * 1001}):
            with self.assertRaises(ValueError, msg=repr(wrong)):
                self.model.translate("Go.", **wrong)
        with self.assertRaises(TypeError):
            self.model.translate("Go.", format="html", ignore_tags=[1])
        with self.assertRaises(ValueError):
            self.model.translate("<b>" * 257 + "Go.", format="html")

    def test_unknown_words_are_replaced(self):
        lines = [line.replace("Tom", "Zyzzyva").replace("you", "Quuxian") for line in LINES[:60]]
        ours = [t.text for t in self.model.translate(lines, replace_unknown=True)]
        self.assertEqual("".join(t + "\n" for t in ours), self.program("--replace-unknown", lines=lines))
        self.assertFalse(any("<unk>" in text for text in ours))

    def test_alternatives(self):
        ours = self.model.translate(LINES[0], n_best=3, alternatives=True)
        self.assertEqual(len({h.text.split()[0] for h in ours.hypotheses}), 3)

    def test_coverage_and_patience(self):
        ours = [t.text for t in self.model.translate(LINES[:40], beam=4, coverage_penalty=0.5, patience=1)]
        self.assertEqual("".join(t + "\n" for t in ours), self.program("--beam", "4", "--coverage-penalty", "0.5", "--patience",
                                                                       "1", lines=LINES[:40]))

    def test_ensembles(self):
        alone = self.model.translate(LINES[:20], beam=2, tokens=True)
        self.assertEqual(self.model.translate(LINES[:20], beam=2, tokens=True, ensemble=[self.model, self.model]), alone)
        with self.assertRaises(TypeError):
            self.model.translate("Go.", ensemble=["a"])

    def test_alone_and_together(self):
        together = self.model.translate(LINES[:20], beam=3, tokens=True)
        self.assertEqual([self.model.translate(line, beam=3, tokens=True) for line in LINES[:20]], together)

    def test_json(self):
        theirs = [json.loads(line) for line in self.program("--json", lines=LINES[:5]).splitlines()]
        ours = self.model.translate(LINES[:5], tokens=True)
        for mine, other in zip(ours, theirs, strict=True):
            best = other["hypotheses"][0]
            self.assertEqual(mine.text, best["text"])
            self.assertAlmostEqual(mine.hypotheses[0].log_prob, best["log_prob"], places=5)


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rapt.Model.load(support.translator())

    def test_tokens_and_alignment(self):
        t = self.model.translate("Where are my keys?", tokens=True, alignment=True)
        best = t.hypotheses[0]
        self.assertEqual(best.alignment.shape, (len(best.tokens), len(t.source_tokens) + 1))
        for row in best.alignment.tolist():
            self.assertAlmostEqual(sum(row), 1, places=5)
        self.assertLessEqual(best.log_prob, sum(best.token_log_probs))
        self.assertEqual(str(t), best.text)
        self.assertIsNone(self.model.translate("Go.").hypotheses[0].tokens)

    def test_prefixes(self):
        first = self.model.translate("Go.").text.split()[0]
        one, two = self.model.translate(["Go.", "Wait."], prefix=[first.lower(), None])
        self.assertTrue(one.text.lower().startswith(first.lower()))
        self.assertEqual(two, self.model.translate("Wait."))
        with self.assertRaises(ValueError):
            self.model.translate(["Go."], prefix=["a", "b"])

    def test_a_zero_is_read(self):
        with self.assertRaisesRegex(rapt.FormatError, "byte 4: NUL"): # a tokenizer of words has none
            self.model.translate(["go.\0wait.", "go."])

    def test_nothing(self):
        self.assertEqual(self.model.translate([]), [])
        self.assertEqual(self.model.translate("").text, "")

    def test_what_is_refused(self):
        for text in (None, 1, b"Go.", {"Go.": 1}, {"Go."}, iter(["Go."]), ["Go.", 1], ["Go.", None]):
            with self.assertRaises(TypeError, msg=repr(text)):
                self.model.translate(text)
        for options in ({"beam": 0}, {"beam": -1}, {"beam": 10 ** 30}, {"n_best": 2}, {"split": "never"}, {"prefix": "\ud800"},
                        {"length_penalty": float("nan")}, {"source": "deu_Latn"}, {"temperature": 1, "beam": 2}, {"top_p": 0},
                        {"first_line": -1}, {"min_length": 65537}, {"suppress": ["a\nb"]}, {"repetition_penalty": 0}):
            with self.assertRaises(ValueError, msg=repr(options)):
                self.model.translate("Go.", **options)
        for options in ({"beam": True}, {"beam": 1.0}, {"beam": "1"}, {"alignment": 1}, {"length_penalty": "1"}, {"bean": 1}):
            with self.assertRaises(TypeError, msg=repr(options)):
                self.model.translate("Go.", **options)


class Life(unittest.TestCase):
    def test_close(self):
        with rapt.Model.load(support.translator()) as model:
            array = next(iter(model.parameters.values()))
            with self.assertRaises(BufferError):
                model.close()
            del array
        with self.assertRaisesRegex(ValueError, "closed"):
            model.translate("Go.")
        model.close()

    def test_arrays_outlive_the_model(self):
        model = rapt.Model.load(support.translator())
        array = model.parameters["encoder.embedding.weight"]
        first = array[0].tolist()
        del model
        self.assertEqual(array[0].tolist(), first)
        self.assertEqual(memoryview(array).nbytes, array.shape[0] * array.shape[1] * 4)

    def test_missing_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(FileNotFoundError) as caught:
                rapt.Model.load(pathlib.Path(folder) / "none")
            self.assertIsInstance(caught.exception, rapt.Error)
            self.assertEqual(caught.exception.code, "not found")

    def test_threads(self):
        one, two = rapt.Model.load(support.translator(), threads=1), rapt.Model.load(support.translator(), threads=1)
        expected = [t.text for t in one.translate(LINES[:50])]
        found = {}

        def work(name, model):
            found[name] = [t.text for t in model.translate(LINES[:50])]

        threads = [threading.Thread(target=work, args=(i, model)) for i, model in enumerate((one, one, two, two))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {i: expected for i in range(4)})

    def test_should_stop(self):
        model = rapt.Model.load(support.translator())
        with self.assertRaises(rapt.InterruptedRunError):
            model.translate(LINES, should_stop=lambda: True)
        with self.assertRaises(ZeroDivisionError):
            model.translate(LINES, should_stop=lambda: 1 / 0)
        self.assertEqual(len(model.translate(LINES[:3])), 3)

    def test_interrupt(self):
        script = ("import rapt, sys\nmodel = rapt.Model.load(sys.argv[1])\nprint('ready', flush=True)\n"
                  "while True: model.translate(['go.'] * 100000)\n")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen([sys.executable, "-c", script, str(support.translator())], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=environment) as child:
            try:
                self.assertEqual(child.stdout.readline(), "ready\n")
                child.send_signal(signal.SIGINT)
                _, errors = child.communicate(timeout=60)
            finally:
                child.kill()
        self.assertIn("KeyboardInterrupt", errors)


if __name__ == "__main__":
    unittest.main()
