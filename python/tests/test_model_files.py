"""Models to and from files: averages, exports, dictionaries of parameters; files of lines; what the program says."""
import gc
import json
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
        for arguments, error in ((("a", "b"), TypeError), ((["a"], []), ValueError), (([], []), ValueError),
                                 ((["a\nb"], ["c"]), ValueError), (([None], ["a"]), TypeError)):
            with self.assertRaises(error):
                self.model.score(*arguments)

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
