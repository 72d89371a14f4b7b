"""The book's modules with the parameters of loaded models: the model's numbers, transformers' numbers, and back."""
import functools
import json
import struct
import unittest

import rapt
from rapt import nn
import support

HUB = support.SOURCE / "tests" / "golden" / "hub_translation" # folders of transformers with what it computed
LINES = ["Where are my keys?", "I am cold.", "Go."]


@functools.cache
def trained(**keys):
    """The folder of a translation model with these keys, of a few steps."""
    pairs = [line.split("\t") for line in (support.SOURCE / "data" / "en-fr.tsv").read_text(encoding="utf-8").splitlines()[:60]]
    out = str(support.SCRATCH / "-".join(["model", *map(str, keys.values())]))
    given = {name.replace("__", "."): value for name, value in keys.items()}
    recipe = {**support.SMALL, "task": "translation", "tokenizer.type": "words", "data.validation_fraction": 0, "model.heads": 4,
              "model.layers": 2, "train.steps": 4, **given}
    rapt.train(recipe, out, pairs=pairs, threads=1)
    return out


def golden(folder):
    """The arrays of expected.safetensors, as flat views, with their shapes."""
    data = (HUB / folder / "expected.safetensors").read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, end = entry["data_offsets"]
            view = memoryview(data[start + first:start + end]).cast({"F64": "d", "I32": "i"}[entry["dtype"]])
            found[name] = (view, entry["shape"])
    return found


class Models(unittest.TestCase):
    def close(self, ours, theirs, bound):
        ours = memoryview(ours).cast("B").cast("f").tolist()
        largest = max(1, *map(abs, theirs))
        self.assertEqual(len(ours), len(theirs))
        self.assertLess(max(abs(a - b) for a, b in zip(ours, theirs)), bound * largest)

    def same_as_the_model(self, folder):
        """The encoder's output, the attention and the logits of explain()."""
        model = rapt.Model.load(folder)
        net = nn.from_model(model)
        for line in LINES:
            e = model.explain(line, target="je suis .")
            sources, targets = (list(e.ids[side]) for side in ("source", "target"))
            logits = net([sources], [targets])
            encoder = e[f"encoder.{len(net.encoder.blks) - 1}.norm2.output"]
            self.close(net.encoder([sources]), memoryview(encoder).cast("B").cast("f").tolist(), 1e-5)
            self.close(logits, memoryview(e["decoder.output"]).cast("B").cast("f").tolist(), 1e-5)
            with nn.grad(observe=True): # step by step, as an explanation is computed: the same bits
                self.assertEqual(memoryview(net([sources], [targets])), memoryview(e["decoder.output"]))
            last = len(net.decoder.blks) - 1
            weights = e[f"decoder.{last}.cross_attention.weights"]
            self.close(net.decoder.attention_weights[1][last], memoryview(weights).cast("B").cast("f").tolist(), 1e-5)
        return model, net

    def test_models_of_rapt(self):
        self.same_as_the_model(support.translator())
        self.same_as_the_model(trained(model__bias=False))
        self.same_as_the_model(trained(model__ffn_kind="gelu"))

    def test_a_loss_is_the_models(self):
        model = rapt.Model.load(trained(model__bias=False))
        net = nn.from_model(model)
        pair, = model.score_pairs(["I am cold ."], ["je suis ."])
        bos = model.config["bos_token_id"]
        eos = model.config["eos_token_id"]
        sources = model.source_tokenizer.encode("I am cold .") + [eos]
        logits = net([sources], [[bos, *pair.tokens[:-1]]])
        loss = nn.cross_entropy(logits, [pair.tokens], normalizer=1.0)
        self.assertAlmostEqual(float(loss), -pair.log_prob, delta=1e-4)

    def test_models_of_transformers(self):
        for folder in ("marian", "marian_4"):
            model, expected = rapt.Model.load(HUB / folder), golden(folder)
            net = nn.from_model(model)
            for i in range(3):
                (source, _), (target, _) = expected[f"source.{i}"], expected[f"target.{i}"]
                logits = net([list(source)], [list(target)])
                self.close(net.encoder([list(source)]), list(expected[f"encoder.{i}"][0]), 1e-5)
                self.close(logits[0, -1], list(expected[f"logits.{i}"][0]), 1e-5)

    def test_back_into_a_model(self):
        one, two = support.translator(), rapt.train(rapt.Recipe({**support.SMALL, "data.limit": support.PAIRS, "seed": 2},
                                                                file=support.SOURCE / "recipes" / "quickstart.yaml"))
        into, of = rapt.Model.load(one, trainable=True), two.model()
        net = nn.from_model(of)
        self.assertNotEqual([t.text for t in into.translate(LINES)], [t.text for t in of.translate(LINES)])
        nn.to_model(net, into)
        self.assertEqual(into.translate(LINES, tokens=True), of.translate(LINES, tokens=True))
        for name, array in of.parameters.items():
            self.assertEqual(memoryview(array), memoryview(into.parameters[name]))

    def test_training_goes_on(self):
        model = rapt.Model.load(support.translator(), trainable=True)
        net = nn.from_model(model).train()
        trainer = rapt.optim.Adam(net.parameters(), lr=0.01)
        sources, targets = [[5, 6, 3]], [[2, 5, 7]]
        for _ in range(3):
            with nn.grad():
                nn.cross_entropy(net(sources, targets), [[5, 7, 3]]).backward()
            trainer.step()
            trainer.zero_grad()
        nn.to_model(net, model)
        again = nn.from_model(model)
        self.assertEqual(memoryview(again(sources, targets)), memoryview(net.eval()(sources, targets)))

    def test_matrices_that_are_shared(self):
        folder = trained(model__tied=True, tokenizer__shared=True)
        model, net = self.same_as_the_model(folder)
        into = rapt.Model.load(folder, trainable=True)
        nn.to_model(net, into)
        memoryview(net.decoder.dense.weight)[3, 0] += 1
        with self.assertRaisesRegex(rapt.InvalidValueError, "in the model they are one"):
            nn.to_model(net, into)

    def test_what_does_not_fit(self):
        positions, norms = "positions that are not sinusoidal", "norms before its sublayers"
        for folder, lacks in ((HUB / "pegasus", norms), (HUB / "bart", positions), (HUB / "t5", positions),
                              (support.language_model(), "no translation model"), (trained(model__norm_place="pre"), norms),
                              (trained(model__norm_kind="rms"), "norms that are no layer norms"),
                              (trained(model__ffn_kind="swiglu"), "with a gate")):
            with self.assertRaisesRegex(rapt.InvalidValueError, lacks):
                nn.from_model(rapt.Model.load(folder))
        model = rapt.Model.load(support.translator(), trainable=True)
        net = nn.from_model(model)
        for other in (trained(model__bias=False), trained(model__ffn_kind="gelu")):
            with self.assertRaises(ValueError):
                nn.to_model(net, rapt.Model.load(other, trainable=True))
        for block in net.encoder.blks:
            block.attention.num_heads = 1
        with self.assertRaisesRegex(rapt.InvalidValueError, "heads is 1, the model's 2"):
            nn.to_model(net, model)
        for arguments in ((net, net), (model, model), (nn.Linear(2, 2), model)):
            with self.assertRaises(TypeError):
                nn.to_model(*arguments)
        with self.assertRaises(TypeError):
            nn.from_model(net)
        with self.assertRaisesRegex(TypeError, "net.encoder must be a rapt.nn.TransformerEncoder, not Linear"):
            nn.to_model(nn.EncoderDecoder(nn.Linear(2, 2), nn.Linear(2, 2)), model)
        with self.assertRaisesRegex(ValueError, r"trainable=True \(Model\.load or Run\.model"):
            nn.to_model(nn.from_model(model), rapt.Model.load(support.translator()))

    def test_names_of_the_books_code(self):
        net = nn.from_model(rapt.Model.load(support.translator()))
        state = {name.replace("blks.", "blks.block"): array for name, array in net.state_dict().items()}
        self.assertIn("decoder.blks.block0.attention1.W_q.weight", state)
        other = nn.from_model(rapt.Model.load(support.translator()))
        for parameter in other.parameters():
            parameter.assign(nn.zeros(parameter.shape))
        other.load_state_dict(state)
        self.assertEqual(memoryview(other([[5, 6]], [[2]])), memoryview(net([[5, 6]], [[2]])))


if __name__ == "__main__":
    unittest.main()
