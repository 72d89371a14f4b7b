"""Values from Python: numbers of NumPy and others, results that are compared, and what errors say."""
import inspect
import json
import shutil
import unittest

import rapt
from rapt import nn, optim
import support

try:
    import numpy
except ImportError:
    numpy = None


class Integer:
    """As an integer of NumPy: no int, but it has an __index__."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Float:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


class bool_:
    """As NumPy's bool, which is known by its name: it has an __index__ too, in some versions."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value

    def __index__(self):
        raise AssertionError("a bool is no number")

    __float__ = __index__


class Matrix:
    """As an array of NumPy: it compares element by element, and the result has no truth."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape

    def __buffer__(self, flags): # of Python 3.12; before it, no memory can be had
        return memoryview(self.array)

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise ValueError("the truth value of an array is ambiguous")


def bool_key():
    return next(row["key"] for row in rapt.Recipe.keys_help() if row["type"] == "bool" and row["default"] == "false")


class Numbers(unittest.TestCase):
    def check_all(self, integer, real, truth):
        recipe = rapt.Recipe({"train.steps": integer(7), "train.lr": real(.25), bool_key(): truth(True)})
        self.assertEqual((recipe["train.steps"], recipe["train.lr"], recipe[bool_key()]), (7, .25, True))
        with rapt.Model.load(support.language_model(), threads=integer(1)) as model:
            plain = model.generate("To be", max_tokens=9, temperature=.5, greedy=False, seed=3, sample=2, logit_bias={4: -1.5})
            same = model.generate("To be", max_tokens=integer(9), temperature=real(.5), greedy=truth(False), seed=integer(3),
                                  sample=integer(2), logit_bias={integer(4): real(-1.5)})
            self.assertEqual(plain, same)
            self.assertEqual(model.next_token("To be", top=integer(3)), model.next_token("To be", top=3))
            self.assertEqual(model.generate("To be", max_tokens=3, top_p=integer(1), seed=1),
                             model.generate("To be", max_tokens=3, top_p=1.0, seed=1))
            for options in ({"max_tokens": truth(True)}, {"temperature": truth(True)}, {"max_tokens": real(3.0)},
                            {"greedy": integer(1)}, {"temperature": "1"}, {"max_tokens": "1"}, {"sample": truth(True)}):
                with self.assertRaises(TypeError, msg=options):
                    model.generate("To be", **options)
        with rapt.Model.load(support.translator(), threads=1) as model:
            found = model.translate("Go.", beam=integer(3), n_best=integer(2), length_penalty=real(.5), tokens=truth(True))
            self.assertEqual(found, model.translate("Go.", beam=3, n_best=2, length_penalty=.5, tokens=True))
        nn.seed(integer(5))
        layer = nn.Linear(integer(3), integer(2))
        self.assertEqual(layer.weight.shape, (2, 3))
        self.assertEqual(nn.LayerNorm(integer(3)).normalized_shape, (3,))
        self.assertEqual(layer.layer_summary(integer(4), integer(3)), layer.layer_summary(4, 3))
        layer.weight.requires_grad = truth(False)
        self.assertFalse(layer.weight.requires_grad)
        self.assertEqual(nn.tensor([[3.0, 9.0, 1.0]]).argmax(dim=integer(1)).tolist(), [1])
        self.assertEqual(optim.SGD(layer.parameters(), real(.5), momentum=real(.25)).lr, .5)
        self.assertEqual(nn.Dropout(real(.5)).p, .5)
        with self.assertRaises(TypeError):
            nn.Linear(truth(True), 2)

    def test_classes_with_index_and_float(self):
        self.check_all(Integer, Float, bool_)

    @unittest.skipUnless(numpy, "NumPy is not installed")
    def test_numbers_of_numpy(self):
        for integer, real in ((numpy.int64, numpy.float32), (numpy.uint8, numpy.float64), (numpy.int32, numpy.float16)):
            self.check_all(integer, real, numpy.bool_)

    def test_what_a_checkpoint_is_called_by(self):
        run = rapt.Run(str(support.translator()))
        self.assertEqual(run.model(Integer(8)).parameters.keys(), run.model(8).parameters.keys())
        for which in (True, bool_(True), Integer(0), -1, "none"):
            with self.assertRaises(rapt.InvalidValueError):
                run.model(which)


class Equality(unittest.TestCase):
    def test_results_with_arrays(self):
        with rapt.Model.load(support.translator(), threads=1) as model:
            one, two, other = model.translate(["Where are my keys?", "Where are my keys?", "Go."], alignment=True)
        self.assertEqual(one, one)
        self.assertEqual(one, two)
        self.assertNotEqual(one, other)
        two.hypotheses[0].alignment = one.hypotheses[0].alignment.copy()
        self.assertEqual(one, two)
        memoryview(two.hypotheses[0].alignment)[0, 0] += .25
        self.assertNotEqual(one, two)

    def test_arrays_of_another_package(self):
        one, two = (rapt.TextScore([1, 2], Matrix(nn.tensor([1.0, 2.0]))) for _ in range(2))
        self.assertIsInstance(one == two, bool)
        self.assertEqual(one, one)

    @unittest.skipUnless(numpy, "NumPy is not installed")
    def test_arrays_of_numpy(self):
        one, two = (rapt.TextScore([1, 2], numpy.array([1.0, 2.0])) for _ in range(2))
        self.assertEqual(one, two)
        two.log_probs[1] = 3
        self.assertNotEqual(one, two)
        self.assertNotEqual(one, rapt.TextScore([1, 2], numpy.array([1.0, 2.0, 3.0])))


class Errors(unittest.TestCase):
    def refused(self, error, call):
        with self.assertRaises(error) as caught:
            call()
        self.assertNotIn("--", str(caught.exception))
        return str(caught.exception)

    def test_messages_name_parameters(self):
        with rapt.Model.load(support.translator(), threads=1) as model:
            said = self.refused(rapt.InvalidValueError, lambda: model.translate("Go.", beam=2, n_best=3))
            self.assertIn("3 hypotheses (n_best) need a beam (beam)", said)
            said = self.refused(rapt.NotFoundError, lambda: model.explain("Go.", names=["loss"]))
            self.assertIn("gradients=True", said)
            with rapt.Model.load(model.folder, weights="q8_0,none.*=fp32") as other:
                said = self.refused(rapt.InvalidValueError, lambda: other.translate("Go."))
            self.assertIn("Model.parameters", said)
        with rapt.Model.load(support.language_model(), threads=1) as model:
            said = self.refused(rapt.InvalidValueError, lambda: model.generate("To", beam=2, presence_penalty=1))
            self.assertIn("beam=1 turns it off", said)
            said = self.refused(rapt.NotFoundError, lambda: model.chat([{"role": "user", "content": "a"}]))
            self.assertIn("continues texts: LanguageModel.generate", said)

    def test_messages_of_adapters(self):
        own, golden = support.SCRATCH / "adapters", support.SOURCE / "tests" / "golden" / "adapters" / "qwen2"
        own.mkdir()
        for name in ("adapter_config.json", "adapter_model.safetensors"):
            shutil.copy(golden / name, own)
        config = json.loads((own / "adapter_config.json").read_text(encoding="utf-8"))
        (own / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": "nowhere"}), encoding="utf-8")
        self.assertIn(f"MODEL, adapter={own}", self.refused(rapt.NotFoundError, lambda: rapt.Model.load(own)))

    def test_messages_keep_paths(self):
        for path in ("/tmp/a --resume --init b (--beam)", "/tmp/(--train): --set a; with --init b", "--max-steps"):
            with self.assertRaises(rapt.NotFoundError) as caught:
                rapt.Model.load(path)
            self.assertIn(path, str(caught.exception))

    def test_messages_of_training(self):
        recipe = {**support.SMALL, "task": "translation", "tokenizer.type": "words", "data.validation_fraction": 0}
        pairs, out, warnings = [("go .", "va !"), ("hi .", "salut !")] * 4, str(support.SCRATCH / "messages"), []
        rapt.train(recipe, out, pairs=pairs, max_steps=4, threads=1)
        said = self.refused(rapt.InvalidValueError, lambda: rapt.train(recipe, out, pairs=pairs, threads=1))
        self.assertIn("resume=True continues it", said)
        rapt.train(recipe, out, pairs=pairs, threads=1, resume=True, max_steps=100, on_warning=warnings.append)
        self.assertIn("max_steps=100 is past the last step", " ".join(warnings))
        self.assertNotIn("--", " ".join(warnings))

    def test_values_out_of_range(self):
        with rapt.Model.load(support.translator(), threads=1) as t, rapt.Model.load(support.language_model(), threads=1) as lm:
            calls = [lambda: rapt.Model.load(t.folder, threads=0), lambda: rapt.Model.load(t.folder, precision="fp8"),
                     lambda: t.translate("Go.", beam=-1), lambda: t.translate("Go.", split="none"),
                     lambda: t.translate("Go.", length_penalty=10**400), lambda: t.translate(["Go."], prefix=["a", "b"]),
                     lambda: t.translate("Go.", source="a\0b"), lambda: t.score(["a"], []), lambda: t.state_dict(names="none"),
                     lambda: lm.generate("To", max_tokens=-1), lambda: lm.generate("To", seed=1 << 64),
                     lambda: lm.generate("To", sample=-1), lambda: lm.next_token("To", top=0), lambda: lm.generate([1 << 40]),
                     lambda: lm.chat([{"role": "user"}]), lambda: rapt.BLEU(tokenize="none such").corpus_score(["a"], [["a"]]),
                     lambda: rapt.corpus_bleu(["a"], [["a", "b"]]), lambda: rapt.BLEU(smooth_value=0),
                     lambda: nn.Linear(0, 2), lambda: nn.Dropout(1.0), lambda: nn.MultiHeadAttention(4, 3),
                     lambda: nn.tensor([[1.0], [1.0, 2.0]]), lambda: nn.seed(-1), lambda: nn.set_num_threads(0),
                     lambda: nn.concat([]), lambda: nn.arange(1 << 40), lambda: nn.tensor([1.0]).reshape(-1, -1),
                     lambda: nn.tensor([1.0]).heatmap(),
                     lambda: optim.SGD([], .1), lambda: optim.SGD([nn.Parameter([1.0])], -1),
                     lambda: nn.Linear(1, 1).load_state_dict({})]
            for call in calls:
                with self.assertRaises(rapt.InvalidValueError, msg=inspect.getsource(call)):
                    call()


class Signatures(unittest.TestCase):
    def test_methods_of_tensors(self):
        methods = [name for name in vars(nn.Tensor) if not name.startswith("_") and callable(getattr(nn.Tensor, name))]
        self.assertIn("softmax", methods)
        for name in (*methods, "tolist", "copy"):
            self.assertIn("self", inspect.signature(getattr(nn.Tensor, name)).parameters, name)
            self.assertNotIn("($self", getattr(nn.Tensor, name).__doc__)
        self.assertEqual(list(inspect.signature(nn.Tensor.sum).parameters), ["self", "axis", "keepdim", "dim"])
        self.assertEqual(str(inspect.signature(nn.tensor([1.0]).softmax)), "(axis=-1, *, dim=None)")


if __name__ == "__main__":
    unittest.main()
