"""Training: the program's bytes, callbacks, ends and resumption; recipes."""
import gc
import json
import os
import pathlib
import shutil
import signal
import sys
import threading
import types
import unittest
import unittest.mock

import rapt
import support

QUICKSTART = support.SOURCE / "recipes" / "quickstart.yaml"
PAIRS = [tuple(line.split("\t")[:2]) for line in
         (support.SOURCE / "data" / "en-fr.tsv").read_text(encoding="utf-8").splitlines()[:support.PAIRS]]


def recipe(**changes):
    return rapt.Recipe({**support.SMALL, "data.limit": support.PAIRS, **changes}, file=QUICKSTART)


def tensors(data):
    """The elements in a safetensors file, behind its header."""
    return data[8 + int.from_bytes(data[:8], "little"):]


def files_of(folder):
    """The bytes of a run's files, without the times that checkpoints and the log hold."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*"))
             if path.is_file() and path.name != "train.jsonl"}
    return {name: tensors(data) if name.startswith("checkpoints") else data for name, data in files.items()}


def weights(folder):
    return (pathlib.Path(folder) / "model.safetensors").read_bytes()


class SameBytes(unittest.TestCase):
    def test_a_run_is_the_programs(self):
        theirs, ours = support.translator(), support.SCRATCH / "ours"
        run = rapt.train(recipe(), ours, threads=1)
        one, two = files_of(ours), files_of(theirs)
        self.assertEqual(sorted(one), sorted(two))
        self.assertEqual([name for name in one if one[name] != two[name]], [])
        figures = ("step", "loss", "val_loss", "lr", "grad_norm")
        with open(theirs / "train.jsonl", encoding="utf-8") as file:
            self.assertEqual([[row[f] for f in figures] for row in run.log()],
                             [[json.loads(line)[f] for f in figures] for line in file])

    def test_pairs_from_memory(self):
        keys = {"train.steps": 4, "data.max_len": 24, **{k: v for k, v in support.SMALL.items() if k != "train.steps"}}
        one = rapt.train({**keys, "data.pairs": support.SOURCE / "data" / "en-fr.tsv", "data.limit": support.PAIRS})
        two = rapt.train(keys, pairs=iter(PAIRS))
        self.assertEqual(tensors(weights(one.folder)), tensors(weights(two.folder)))
        three = rapt.train(keys, pairs=PAIRS, validation=PAIRS[:20])
        self.assertIsNotNone(three.steps[-1].val_loss)

    def test_a_language_model(self):
        folder = support.language_model()
        keys = {key: value for key, value in rapt.Recipe(file=folder / "recipe.yaml").items()
                if key in support.SMALL or key in ("task", "tokenizer.type", "model.context")}
        text = (support.SCRATCH / "text.txt").read_text(encoding="utf-8")
        run = rapt.train({**keys, "train.sample_every": 4, "train.sample_tokens": 3}, text=text)
        self.assertEqual(weights(run.folder), weights(folder))
        ids = rapt.Tokenizer.load(folder).encode(text)
        of_ids = {**keys, "tokenizer.type": "file", "tokenizer.path": folder / "tokenizer.json"}
        seen = []
        again = rapt.train({**of_ids, "train.sample_every": 4, "train.sample_tokens": 3}, text=ids, on_step=seen.append)
        self.assertEqual(tensors(weights(again.folder)), tensors(weights(folder)))
        self.assertEqual([step.step for step in seen if step.sample], [4, 8])

    def test_text_resumes_from_another_folder(self):
        keys = {**support.SMALL, "task": "language_model", "tokenizer.type": "characters", "model.context": 16}
        text, out = "To be, or not to be.\n" * 200, support.SCRATCH / "text-resumes"
        whole = rapt.train(keys, text=text)
        rapt.train(keys, out, text=text, max_steps=5)
        rapt.train(keys, out, text=text, resume=True)
        self.assertEqual(weights(out), weights(whole.folder))

    def test_from_a_model(self):
        with rapt.Model.load(support.translator()) as model:
            run = rapt.train(recipe(**{"train.steps": 2}), init=model)
        out = support.SCRATCH / "init"
        support.run("train", QUICKSTART, "--quiet", "--out", out, f"--init={support.translator()}",
                    "--set=train.steps=2", f"--set=data.limit={support.PAIRS}",
                    *(f"--set={key}={value}" for key, value in support.SMALL.items() if key != "train.steps"))
        self.assertEqual(weights(run.folder), weights(out))


class Ends(unittest.TestCase):
    """A run that ends early and is resumed gives the bytes of one that does not."""

    def assert_resumes(self, out):
        self.assertFalse(os.path.exists(out / ".rapt-lock"))
        run = rapt.train(recipe(), out, resume=True)
        self.assertEqual(weights(out), weights(support.translator()))
        return run

    def test_false(self):
        out, steps = support.SCRATCH / "false", []
        run = rapt.train(recipe(), out, on_step=lambda step: steps.append(step.step) or step.step < 3)
        self.assertEqual((steps, run.stopped), ([1, 2, 3], True))
        self.assertFalse(self.assert_resumes(out).stopped)
        for answer in (None, 0, "", []): # is not False
            self.assertFalse(rapt.train(recipe(), max_steps=2, on_step=lambda step: answer).stopped)
        try:
            import numpy
        except ImportError:
            pass
        else:
            self.assertTrue(rapt.train(recipe(), on_step=lambda step: numpy.bool_(False)).stopped)
        out = support.SCRATCH / "false-report"
        run = rapt.train(recipe(), out, on_report=lambda step, model: False)
        self.assertEqual((run.steps[0].step, run.stopped), (4, True))
        self.assert_resumes(out)

    def test_an_exception(self):
        for i, callbacks in enumerate(({"on_step": self.fail_at(6)}, {"on_report": self.fail_at(4)})):
            out = support.SCRATCH / f"exception-{i}"
            with self.assertRaisesRegex(KeyError, "mine"):
                rapt.train(recipe(), out, **callbacks)
            self.assert_resumes(out)

    @staticmethod
    def fail_at(at):
        def callback(step, model=None):
            kept = model.parameters if model else None
            if step.step == at:
                raise KeyError("mine", kept)
        return callback

    def test_an_interrupt(self):
        out = support.SCRATCH / "interrupt"

        def interrupt(step):
            if step.step == 3:
                timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
        changes = {"train.steps": 3000, "train.report_every": 1000, "train.checkpoint_every": 1000}
        with self.assertRaises(KeyboardInterrupt):
            rapt.train(recipe(**changes), out, on_step=interrupt)
        steps = rapt.Run(str(out)).log()
        self.assertTrue(3 <= steps[-1]["step"] < 3000, steps)
        more = rapt.train(recipe(**changes), out, resume=True, max_steps=steps[-1]["step"] + 2)
        self.assertEqual(more.steps[-1].step, steps[-1]["step"] + 2)

    def test_the_loss_of_a_step(self):
        seen = []
        rapt.train(recipe(**{"train.report_every": 3}), max_steps=4, on_step=seen.append)
        losses = [step.step_loss for step in seen if not step.report]
        self.assertEqual((seen[0].loss, seen[-1].loss), (losses[0], losses[-1])) # the first one after a report
        self.assertNotEqual(seen[1].loss, seen[1].step_loss)

    def test_max_steps(self):
        out = support.SCRATCH / "max-steps"
        rapt.train(recipe(), out, max_steps=5)
        self.assert_resumes(out)

    def test_texts_where_ids_are_wanted(self):
        keys = {"task": "language_model", "tokenizer.type": "characters"}
        for text in (["to be"] * 2, ("to be",)):
            with self.assertRaisesRegex(TypeError, "text must be a str, or a list of token ids, not a list of str"):
                rapt.train(keys, text=text)
        for validation, given in (("to be", "str"), (["to be"], "a list of str")):
            with self.assertRaisesRegex(TypeError, f"validation must be a list of token ids, not {given}$"):
                rapt.train(keys, text="to be, or not to be", validation=validation)

    def test_untrained(self):
        run = rapt.train(recipe(), untrained=True)
        self.assertEqual(run.steps, [])
        self.assertIsInstance(run.model(), rapt.Translator)
        self.assertEqual(run.log(), [])
        self.assertIn("no report yet", run._repr_html_())
        shutil.rmtree(run.folder)
        with self.assertRaises(FileNotFoundError):
            run.log()


class Callbacks(unittest.TestCase):
    def test_the_model_is_there_while_the_callback_runs(self):
        said, kept = [], []

        def report(step, model):
            self.assertIsInstance(model, rapt.Translator)
            said.append(model.translate("Where are my keys?", beam=2).text)
            kept.append((model, model.parameters))
        run = rapt.train(recipe(), on_report=report)
        self.assertEqual(len(said), 2)
        self.assertEqual(said[-1], run.model().translate("Where are my keys?", beam=2).text)
        model, parameters = kept[0]
        with self.assertRaises(ValueError):
            model.translate("no more")
        name = next(iter(parameters)) # memory that lives on: it has the last values
        self.assertEqual(parameters[name].tolist(), run.model().parameters[name].tolist())

    def test_warnings(self):
        texts = []
        keys = {**support.SMALL, "data.validation_fraction": 0, "train.warmup": 50}
        pairs = [("a b", "c d")] * 40
        rapt.train(keys, pairs=pairs, on_warning=texts.append)
        self.assertIn("train.warmup is 50", texts[0])
        with self.assertWarnsRegex(RuntimeWarning, "train.warmup is 50"):
            rapt.train(keys, pairs=pairs)
        with self.assertRaises(ZeroDivisionError):
            rapt.train(keys, pairs=pairs, on_warning=lambda text: 1 / 0)

    def test_live_curves(self):
        shown = []

        class Handle:
            def update(self, page):
                shown.append(page)
        fake = types.ModuleType("IPython")
        fake.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        fake.display = types.ModuleType("IPython.display")
        fake.display.HTML = str
        fake.display.display = lambda page, display_id: shown.append(page) or Handle()
        with unittest.mock.patch.dict(sys.modules, {"IPython": fake, "IPython.display": fake.display}):
            rapt.train(recipe())
            self.assertEqual(len(shown), 2)
            rapt.train(recipe(), show=False)
        self.assertEqual(len(shown), 2)
        self.assertIn("<svg", shown[-1])


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = rapt.train(recipe(**{"train.keep_untrained": True}))

    def test_models(self):
        last = self.run_.model().translate("I am here.").text
        self.assertEqual(self.run_.model(8).translate("I am here.").text, last)
        self.assertEqual(self.run_.best_step, 8) # the loss falls
        self.assertEqual(self.run_.model("best", threads=1).translate("I am here.").text, last)
        self.assertIsInstance(self.run_.model("untrained"), rapt.Translator)
        for which, error in ((5, FileNotFoundError), ("first", ValueError), (True, ValueError), (-1, ValueError)):
            with self.assertRaises(error):
                self.run_.model(which)

    def test_curves(self):
        page = self.run_._repr_html_()
        self.assertIn("val_loss", page)
        from rapt._figures import curves
        for points in ([(i, 1 / i) for i in range(1, 10**5)], [(1, 2.0)], [(1, 0.0), (2, 0.0)], []):
            self.assertLess(len(curves([("loss", points), ("val_loss", [(1, None)])], "<b>&")), 100_000)
        self.assertNotIn("<b>", curves([("loss", [(1, 2.0)])], "<b>&"))

    def test_frame(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = self.run_.frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame["step"]), [4, 8])

    def test_a_temporary_folder_lives_as_long_as_the_run(self):
        run = rapt.train(recipe(**{"train.steps": 3}))
        folder, model = run.folder, run.model()
        before = model.translate("I am here.").text
        del run
        gc.collect()
        self.assertFalse(os.path.exists(folder))
        self.assertEqual(model.translate("I am here.").text, before)


class Recipes(unittest.TestCase):
    def test_values(self):
        r = recipe()
        self.assertEqual((r["task"], r["train.steps"], r["train.lr"], r["tokenizer.lowercase"], r["train.vectors"]),
                         ("translation", 8, 0.002, True, None))
        self.assertEqual(len(r), len(list(r)))
        self.assertEqual(r, recipe())
        self.assertNotEqual(r, rapt.Recipe(file=QUICKSTART))
        with self.assertRaises(KeyError):
            r["train.lrr"]
        self.assertNotIn("train.lrr", r)
        self.assertEqual(rapt.Recipe({"train": {"lr": 0.5}})["train.lr"], 0.5)
        self.assertEqual(rapt.Recipe(train={"lr": 0.5}, **{"model.layers": 3})["model.layers"], 3)
        self.assertEqual(rapt.Recipe({"model.preset": "gpt2", "task": "language_model"})["model.layers"],
                         rapt.Recipe({"task": "language_model", "model.preset": "gpt2"})["model.layers"])

    def test_yaml(self):
        path = support.SCRATCH / "again.yaml"
        text = rapt.Recipe({"train.steps": 3, "data.pairs": "/data/pairs.tsv"}).yaml()
        path.write_text(text, encoding="utf-8")
        self.assertEqual(rapt.Recipe(file=path).yaml(), text)

    def test_lists(self):
        r = rapt.Recipe({"data.pairs": ["a.tsv", support.SCRATCH / "b"], "data.weights": "2,1", "data.text": ("c", "d")})
        self.assertEqual(r["data.pairs"], f"a.tsv\n{support.SCRATCH / 'b'}")
        self.assertEqual(r["data.text"], "c:d")
        with self.assertRaisesRegex(TypeError, "an item of data.pairs must be a path, not dict"):
            rapt.Recipe({"data.pairs": [{"path": "a.tsv", "weight": 2}]})
        for item in ("c:d", ""):
            with self.assertRaisesRegex(rapt.InvalidValueError, f"an item of data.text is '{item}'"):
                rapt.Recipe({"data.text": ["a", item]})

    def test_keys_are_the_programs(self):
        said = support.run("train", "--help-recipe")
        keys = rapt.Recipe.keys_help()
        for row in keys:
            self.assertIn(row["key"], said)
        self.assertEqual(sorted(keys[0]), ["default", "key", "meaning", "range", "type"])
        defaults = {row["key"]: row["default"] for row in keys}
        self.assertEqual(str(rapt.Recipe()["train.lr"]), defaults["train.lr"].split(" / ")[0])


class Refused(unittest.TestCase):
    def test_values(self):
        out = support.translator()
        for call, message in (
                (lambda: rapt.train({"train.lrr": 1}), 'did you mean "train.lr"'),
                (lambda: rapt.train({"train.lr": -1}), "train.lr is -1"),
                (lambda: rapt.train({}), "data.pairs is missing"),
                (lambda: rapt.train(recipe(), resume=True), "resume needs out"),
                (lambda: rapt.train(recipe(), out), ""),
                (lambda: rapt.train({}, pairs=[("a", "b", "c")]), "3 members"),
                (lambda: rapt.train({}, pairs=[]), ""),
                (lambda: rapt.train({}, pairs=[("a\0", "b")]), r"U\+0000"),
                (lambda: rapt.train(recipe(), threads=1000), "threads"),
                (lambda: rapt.train(recipe(), max_steps=-1), "max_steps"),
                (lambda: rapt.train({"task": "language_model"}, pairs=PAIRS), ""),
                (lambda: rapt.Recipe({"data.pairs": "a\0b"}), r"U\+0000")):
            with self.assertRaisesRegex(ValueError, message):
                call()

    def test_types(self):
        for call in (lambda: rapt.train(3), lambda: rapt.train(None), lambda: rapt.train({3: 4}),
                     lambda: rapt.train({}, pairs="ab"),
                     lambda: rapt.train({}, pairs=["ab"]), lambda: rapt.train({}, pairs=[(1, 2)]),
                     lambda: rapt.train({"train.lr": []}), lambda: rapt.train(recipe(), max_steps=1.5),
                     lambda: rapt.train(recipe(), resume="yes", out="x"), lambda: rapt.train({}, pairs={"a": "b"}),
                     lambda: rapt.train(recipe(), out=3), lambda: rapt.train(recipe(), init=3)):
            with self.assertRaises(TypeError):
                call()

    def test_files(self):
        with self.assertRaises(FileNotFoundError):
            rapt.train("/nowhere.yaml")
        with self.assertRaises(rapt.NotFoundError):
            rapt.train({"data.pairs": "/nowhere.tsv"})

    def test_one_run_in_a_folder(self):
        out = support.SCRATCH / "two"

        def inner(step):
            with self.assertRaises(rapt.IOFailure):
                rapt.train(recipe(), out, resume=True)
            return False
        rapt.train(recipe(), out, on_step=inner)


if __name__ == "__main__":
    unittest.main()
