"""Models to and from files: averages, exports, dictionaries of parameters; files of lines; what the program says."""
import array
import gc
import json
import math
import os
import shutil
import unittest

import rapt
import support

LINES = ["Where are my keys?", "", "I am here.\u2028Go on.", "\u00a0", "He said: \"go\"."]
GPT2 = {"task": "language_model", "tokenizer.type": "bpe", "tokenizer.vocab_size": 280, "model.preset": "gpt2",
        "model.context": 16, "train.keep": 4, **support.SMALL, "model.ffn": 64}


def tensors(path):
    """Name, shape and elements in a file of safetensors, as its format says."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {name: (tuple(t["shape"]), data[begin + t["data_offsets"][0]:begin + t["data_offsets"][1]])
            for name, t in header.items()}


def as_bytes(values):
    return {name: (a.shape, bytes(memoryview(a))) for name, a in values.items()}


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = rapt.train(GPT2, text="To be, or not to be, that is the question.\n" * 100)

    def setUp(self):
        self.out = support.SCRATCH / self.id()
        shutil.rmtree(self.out, ignore_errors=True)

    def test_average_is_the_programs(self):
        theirs = support.SCRATCH / "average"
        support.run("average", self.run_.folder, "--out", theirs, "--last=2", "--quiet")
        rapt.average(self.run_, self.out, 2)
        self.assertEqual((self.out / "model.safetensors").read_bytes(), (theirs / "model.safetensors").read_bytes())
        for count, error in ((100, ValueError), (-1, ValueError), ("2", TypeError)):
            with self.assertRaises(error):
                rapt.average(self.run_.folder, self.out, count)

    def test_export_is_the_programs(self):
        theirs, seen = support.SCRATCH / "convert", []
        support.run("convert", self.run_.folder, "--to=hf", "--out", theirs, "--quiet")
        rapt.convert(self.run_.folder, self.out, "hf", on_progress=lambda *at: seen.append(at))
        for name in os.listdir(theirs):
            self.assertEqual((self.out / name).read_bytes(), (theirs / name).read_bytes(), name)
        self.assertEqual(seen[-1], (len(tensors(theirs / "model.safetensors")),) * 2)
        with self.assertRaises(rapt.InvalidValueError): # it exists
            rapt.convert(self.run_.folder, self.out, "hf")

    def test_state_dict_of_hugging_face(self):
        self.run_.model().export(self.out, "hf")
        values = self.run_.model().state_dict(names="hf")
        gc.collect()
        self.assertEqual(as_bytes(values), tensors(self.out / "model.safetensors"))
        self.assertTrue(all(a.readonly for a in values.values()))
        again = rapt.Model.load(self.out)
        self.assertEqual(again.config["model_type"], "gpt2")
        with self.assertRaises(ValueError):
            again.state_dict(names="torch")

    def test_an_export_is_whole_or_not_there(self):
        model = self.run_.model()
        with self.assertRaises(ZeroDivisionError):
            model.export(self.out, "gguf", on_progress=lambda tensor, count: 1 / 0)
        self.assertFalse(self.out.exists())
        for to, options, error in (("onnx", {}, ValueError), (3, {}, TypeError), ("gguf", {"weights": "q3"}, ValueError)):
            with self.assertRaises(error):
                model.export(self.out, to, **options)
        self.assertFalse(self.out.exists())

    def test_save(self):
        self.run_.model().save(self.out)
        with open(os.path.join(self.run_.folder, "model.safetensors"), "rb") as file:
            self.assertEqual((self.out / "model.safetensors").read_bytes(), file.read())
        model = self.run_.model()
        model.close()
        for call in (lambda: model.save(self.out), lambda: model.export(self.out, "hf"), lambda: model.state_dict()):
            with self.assertRaises(ValueError):
                call()

    def test_what_is_written_counts(self):
        model = self.run_.model(trainable=True)
        for done in range(2):
            completion = model.generate("To be", max_tokens=1)
            for parameter in model.parameters.values():
                data = memoryview(parameter).cast("B")
                data[:] = bytes(len(data))
        self.assertAlmostEqual(completion.log_probs[0], -math.log(model.config["vocab"]), 4) # each token has the same probability

    def test_config(self):
        self.assertEqual(self.run_.model().config["d_model"], 16)
        run = rapt.train(GPT2, text="To be, or not to be.\n" * 100)
        model = run.model()
        del run
        gc.collect()
        self.assertFalse(os.path.exists(model.folder))
        self.assertEqual(model.config["task"], "language_model")


class Translators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rapt.Model.load(support.translator(), threads=2)

    def test_files_are_the_programs(self):
        source, target = support.SCRATCH / "lines.txt", support.SCRATCH / "lines.out"
        for text in ("\n".join(LINES * 500), "one\r\ntwo\r\n", ""):
            source.write_text(text, encoding="utf-8", newline="")
            done = self.model.translate_file(source, target, beam=2)
            theirs = support.SCRATCH / "lines.theirs"
            theirs.write_text(support.run("translate", support.translator(), source, "--beam=2"), encoding="utf-8", newline="")
            self.assertEqual(target.read_bytes(), theirs.read_bytes())
            self.assertEqual(done["lines"], target.read_bytes().count(b"\n"))

    def test_files_that_fail_leave_nothing(self):
        folder = support.SCRATCH / "fails"
        folder.mkdir()
        source, target = folder / "source", folder / "target"
        source.write_bytes(b"good\n\xff\n")
        target.write_text("as it was")
        with self.assertRaises(ValueError):
            self.model.translate_file(source, target)
        with self.assertRaises(ValueError):
            self.model.translate_file(source, source)
        with self.assertRaises(FileNotFoundError):
            self.model.translate_file(folder / "nowhere", target)
        source.write_text("good\n", encoding="utf-8")
        with self.assertRaises(TypeError):
            self.model.translate_file(source, target, beams=3)
        self.assertEqual((sorted(os.listdir(folder)), target.read_text()), (["source", "target"], "as it was"))

    def test_score_is_the_programs(self):
        pairs = support.SCRATCH / "score.tsv"
        sources, targets = ["I am.", "Go on."], ["je suis.", "va."]
        pairs.write_text("".join(f"{s}\t{t}\n" for s, t in zip(sources, targets, strict=True)), encoding="utf-8")
        said = json.loads(support.run("eval", support.translator(), pairs, "--json"))
        ours = self.model.score(sources, targets)
        self.assertEqual((ours.loss, ours.perplexity, ours.tokens), (said["loss"], said["perplexity"], said["tokens"]))
        self.assertEqual(self.model.score(["I am.", "a"], ["je suis.", ""]).skipped, 1)
        pairs = self.model.score_pairs(sources, targets)
        self.assertEqual(sum(len(pair.tokens) for pair in pairs), ours.tokens)
        self.assertAlmostEqual(-sum(pair.log_prob for pair in pairs), ours.nll, delta=1e-5 * ours.nll)
        vocabulary = self.model.target_tokenizer
        self.assertEqual(pairs[0].tokens[:-1], vocabulary.encode(targets[0])[:len(pairs[0].tokens) - 1])
        translation = self.model.translate(sources[0], tokens=True).hypotheses[0] # greedy search asks for the same probabilities
        again, = self.model.score_pairs(sources[:1], [" ".join(vocabulary.token(id).decode() for id in translation.tokens)])
        self.assertEqual(again.tokens[:len(translation.tokens)], translation.tokens)
        for ours, theirs in zip(again.log_probs, translation.token_log_probs):
            self.assertAlmostEqual(ours, theirs, places=4)
        self.assertEqual([pair is None for pair in self.model.score_pairs(["", "I am.", "a"], ["a", "je suis.", " "])],
                         [True, False, True])
        self.assertEqual(self.model.score_pairs(["", "a", "", ""], ["", "", " ", "a"]), [None] * 4)
        alone, = self.model.score_pairs(sources[:1], targets[:1])
        self.assertEqual(self.model.score_pairs(["", sources[0]], ["", targets[0]]), [None, alone])
        self.assertEqual(self.model.score(["", sources[0]], ["", targets[0]]).skipped, 1)
        with self.assertRaisesRegex(rapt.InvalidValueError, "no pair is left to score: all 2 have an empty side"):
            self.model.score(["", ""], ["a", ""])

    def test_a_score_is_cancelled_while_pairs_are_encoded(self):
        sources, targets = ["I am.", "I am. " * 500], ["je suis.", "je suis. " * 500] # the second is refused
        with self.assertRaisesRegex(rapt.InterruptedRunError, "the score was cancelled"):
            self.model.score_pairs(sources, targets, strict=True, should_stop=lambda: True)
        with self.assertRaises(rapt.InvalidValueError):
            self.model.score_pairs(sources, targets, strict=True)

    def test_scores_of_arguments_that_do_not_fit(self):
        for arguments, error in ((("a", "b"), TypeError), ((["a"], []), ValueError), (([], []), ValueError),
                                 ((["a\nb"], ["c"]), ValueError), (([None], ["a"]), TypeError)):
            with self.assertRaises(error):
                self.model.score(*arguments)

    def test_load_state_dict(self):
        other = rapt.train(rapt.Recipe({**support.SMALL, "data.limit": support.PAIRS, "seed": 2},
                                       file=support.SOURCE / "recipes" / "quickstart.yaml"))
        model, of = rapt.Model.load(support.translator(), trainable=True), other.model()
        was, wanted = model.translate(LINES[0]).text, of.translate(LINES[0]).text
        self.assertNotEqual(was, wanted)
        model.load_state_dict(of.state_dict())
        self.assertEqual(as_bytes(model.state_dict()), as_bytes(of.state_dict()))
        self.assertEqual(model.translate(LINES[0]).text, wanted)
        out = support.SCRATCH / "loaded"
        model.save(out)
        self.assertEqual(rapt.Model.load(out).translate(LINES[0]).text, wanted)

    def test_load_state_dict_takes_any_numbers(self):
        model = rapt.Model.load(support.translator(), trainable=True)
        name, bias = next((n, a) for n, a in model.parameters.items() if n.endswith("bias"))
        size = bias.shape[0]
        for values in ([0.5] * size, array.array("d", [0.25] * size), memoryview(b"\1" * size)):
            model.load_state_dict({name: values}, strict=False)
            self.assertEqual(bias.tolist(), [float(v) for v in values])
        for values, error in (({name: [1.0]}, rapt.ShapeError), ({name: [[0.5] * size]}, rapt.ShapeError),
                              ({"nothing": [1.0]}, ValueError), ({name: "abc"}, TypeError), ({3: [1.0]}, TypeError),
                              ({name: [0.0] * size, "nothing": 1}, ValueError)):
            with self.assertRaises(error):
                model.load_state_dict(values, strict=False)
        with self.assertRaisesRegex(ValueError, "is missing"):
            model.load_state_dict({name: [0.0] * size})
        self.assertEqual(bias.tolist(), [1.0] * size) # as it was: all or none

    def test_what_is_not_trainable_is_not_written(self):
        def refuse(model):
            with self.assertRaisesRegex(ValueError, "trainable"):
                model.load_state_dict(model.state_dict())
            self.assertTrue(all(memoryview(a).readonly for a in model.parameters.values()))
        refuse(self.model)
        rapt.train(rapt.Recipe({**support.SMALL, "data.limit": support.PAIRS},
                               file=support.SOURCE / "recipes" / "quickstart.yaml"), on_report=lambda step, model: refuse(model))

    def test_what_is_written_counts(self):
        model = rapt.Model.load(support.translator(), trainable=True)
        before = model.translate(LINES[0]).hypotheses[0].log_prob
        for parameter in model.parameters.values():
            data = memoryview(parameter).cast("B")
            data[:] = bytes(len(data))
        # All are zero: each token has the same probability.
        after = model.translate(LINES[0], max_ratio=0.1, tokens=True).hypotheses[0]
        self.assertNotEqual(after.log_prob, before)
        self.assertAlmostEqual(after.token_log_probs[0], -math.log(len(model.target_tokenizer)), 4)

    def test_state_dict(self):
        self.assertEqual(as_bytes(self.model.state_dict()), {name: value for name, value in
                         tensors(support.translator() / "model.safetensors").items()})


class Machine(unittest.TestCase):
    def test_info_is_the_programs(self):
        self.assertEqual(rapt.info(), json.loads(support.run("info", "--json")) | {"threads": rapt.info()["threads"]})
        folder = support.translator()
        self.assertEqual(rapt.Model.load(folder).info(), json.loads(support.run("info", "--json", folder)))
        self.assertEqual(rapt.info(folder)["task"], "translation")
        with self.assertRaisesRegex(rapt.Error, "nowhere"):
            rapt.info("/nowhere")

    def test_threads(self):
        self.assertEqual(rapt.threads(), rapt.info()["threads"])
        self.assertEqual(rapt.__version__, rapt.info()["version"])


if __name__ == "__main__":
    unittest.main()
