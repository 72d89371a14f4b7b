"""rapt.nn against PyTorch's numbers in tests/golden: results and gradients of every module, within the bounds that the C tests
have for the same files."""
import json
import struct
import unittest

from rapt import nn, optim
from rapt._nn_module import running
from support import SOURCE
from test_nn import GRADIENT, OUTPUT, Close

FORMATS = {"F64": "d", "F32": "f", "I32": "i", "U8": "B"}


class Case:
    """One case of a file: arrays by "kind/name"."""

    def __init__(self, name, arrays):
        self.name = name
        self.arrays = arrays

    def get(self, name, otherwise=None):
        return self.arrays.get(name, otherwise)

    def config(self, name, otherwise=None):
        return self.arrays[f"config/{name}"] if f"config/{name}" in self.arrays else otherwise

    def parameters(self, kind="param"):
        return {name.split("/", 1)[1]: values for name, values in self.arrays.items() if name.startswith(kind + "/")}


def cases(file):
    """The cases of a safetensors file: its header is JSON, behind 8 bytes with its length."""
    data = (SOURCE / "tests" / "golden" / f"{file}.safetensors").read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        first, end = (start + offset for offset in entry["data_offsets"])
        view = memoryview(data[first:end]).cast(FORMATS[entry["dtype"]])
        shape = entry["shape"]
        value = memoryview(view.cast("B")).cast(FORMATS[entry["dtype"]], shape).tolist() if shape else view[0]
        case, name = name.split("/", 1)
        found.setdefault(case, {})[name] = value
    return [Case(name, arrays) for name, arrays in sorted(found.items())]


def golden_name(name):
    """The file's name of a parameter."""
    for ours, file in (("0.weight", "norm.weight"), ("0.bias", "norm.bias"), ("blks.", ""), ("addnorm", "norm"),
                       ("attention1", "self_attention"), ("attention2", "cross_attention")):
        name = name.replace(ours, file)
    return name


class Golden(Close):
    def load(self, module, case, prefix=""):
        """Gives the module the values of the case."""
        module._give_names()
        values = {name[len(prefix):]: value for name, value in case.parameters().items() if name.startswith(prefix)}
        own = {golden_name(p.name): p for p in module.parameters()}
        self.assertEqual(sorted(own), sorted(values))
        for name, parameter in own.items():
            parameter.assign(values[name])

    def compare(self, module, case, run, loss=None, prefix=""):
        """The result of run(inputs), and the gradients of the loss: sum(result * weights) unless there is another."""
        inputs = {name.split("/")[1]: nn.tensor(value, requires_grad=True) for name, value in case.arrays.items()
                  if f"din/{name.split('/')[1]}" in case.arrays and name.startswith("in/")}
        with nn.grad():
            result = run(inputs)
            if "out/out" in case.arrays:
                self.close(result, case.get("out/out"), OUTPUT)
            end = loss(result) if loss else (result * nn.tensor(case.get("weights/out"))).sum()
            end.backward()
        for name, x in inputs.items():
            self.close(x.grad, case.get(f"din/{name}"), GRADIENT)
        if module is not None:
            expected = case.parameters("dparam")
            for p in module.parameters():
                name = prefix + golden_name(p.name)
                if name in expected:
                    self.close(p.grad, expected.pop(name), GRADIENT)
            self.assertEqual(list(expected), [])

    def each(self, file, without=()):
        """The cases of a file but those of what the book does not have (norms before sublayers, boolean masks)."""
        found = [case for case in cases(file) if case.name not in without]
        self.assertEqual(len(found) + len(without), len(cases(file)))
        for case in found:
            self.context = f"{file}/{case.name}: "
            yield case

    def test_linear(self):
        for case in self.each("linear"):
            weight = case.get("param/weight")
            m = nn.Linear(len(weight[0]), len(weight), bias="param/bias" in case.arrays)
            self.load(m, case)
            self.compare(m, case, lambda x: m(x["x"]))

    def test_layer_norm(self):
        for case in self.each("layer_norm", ("plain",)):
            m = nn.Sequential(nn.LayerNorm(nn.tensor(case.get("param/norm.weight")).shape))
            self.load(m, case)
            self.compare(m, case, lambda x: m(x["x"]))

    def test_embedding(self):
        for case in self.each("embedding"):
            options = {key: case.config(key) for key in ("max_norm", "norm_type", "padding_idx") if case.config(key) is not None}
            if "padding_idx" in options:
                options["padding_idx"] = int(options["padding_idx"])
            options.update({key: bool(case.config(key, 0)) for key in ("scale_grad_by_freq", "sparse")})
            if "in/vectors" in case.arrays:
                m = nn.Embedding.from_pretrained(case.get("in/vectors"), freeze=bool(case.config("freeze")), **options)
            else:
                m = nn.Embedding(9, 6, **options)
                self.load(m, case)
            if case.config("freeze"):
                self.close(m(case.get("in/tokens")), case.get("out/out"))
                continue
            self.compare(m, case, lambda x: m(case.get("in/tokens")))
            if "out/weight" in case.arrays:
                self.close(m.weight, case.get("out/weight"))

    def test_positions(self):
        for case in self.each("positions"):
            m = nn.PositionalEncoding(len(case.get("in/x")[0][0]), 0, int(case.config("max_len")))
            self.compare(m, case, lambda x: m(x["x"], int(case.config("first"))))
            self.close(m.P[0, :10], case.get("out/first"))

    def test_masked_softmax(self):
        for case in self.each("masked_softmax", ("causal", "keep", "keep_queries", "lens_causal_keep")):
            self.compare(None, case, lambda x: nn.masked_softmax(x["x"], case.get("in/valid_lens")))

    def test_multi_head_attention(self):
        for case in self.each("multi_head_attention", ("sizes_bias",)):
            m = nn.MultiHeadAttention(len(case.get("param/o.weight")), int(case.config("heads")),
                                      bias="param/q.bias" in case.arrays)
            m._make(*(len(case.get(f"param/{name}.weight")[0]) for name in "qkv"))
            self.load(m, case)

            def run(x):
                q, k, v = (x[name] for name in "qkv") if "q" in x else (x["x"],) * 3
                return m(q, k, v, case.get("in/valid_lens"), causal=bool(case.config("causal", 0)))
            self.compare(m, case, run)
            self.close(m.attention_weights, case.get("out/weights"))

    def test_ffn(self):
        for case in self.each("ffn"):
            m = nn.PositionWiseFFN(13, 9)
            m(case.get("in/x"))
            self.load(m, case)
            self.compare(m, case, lambda x: m(x["x"]))

    def test_add_norm(self):
        for case in self.each("add_norm", ("pre",)):
            m = nn.AddNorm(nn.tensor(case.get("param/norm.weight")).shape, 0.0)
            running.named = set()
            m._name_parts("norm.")
            for p in m.parameters():
                p.assign(case.get(f"param/{p.name}"))
            with nn.grad():
                x, y = (nn.tensor(case.get(f"in/{name}"), requires_grad=True) for name in "xy")
                result = m(x, y)
                (result * case_weights(case)).sum().backward()
            self.close(result, case.get("out/out"))
            self.close(x.grad, case.get("din/x"), GRADIENT)
            self.close(y.grad, case.get("din/y"), GRADIENT)
            self.close(m.ln.weight.grad, case.get("dparam/norm.weight"), GRADIENT)
            self.close(m.ln.bias.grad, case.get("dparam/norm.bias"), GRADIENT)

    def test_encoder_block(self):
        for case in self.each("encoder_block", ("pre", "norm_shape")):
            m = nn.TransformerEncoderBlock(12, 20, 3, 0.0, bool(case.config("bias")))
            self.load(m, case)
            self.compare(m, case, lambda x: m(x["x"], case.get("in/valid_lens")))

    def test_decoder_block(self):
        for case in self.each("decoder_block", ("pre_bias",)):
            m = nn.TransformerDecoderBlock(12, 20, 3, 0.0, 0)
            self.load(m, case)
            self.compare(m, case, lambda x: m(x["x"], [x["memory"], case.get("in/memory_lens"), [None]])[0])

    def test_encoder(self):
        for case in self.each("encoder", ("pre",)):
            m = nn.TransformerEncoder(11, 12, 20, 3, 2, 0.0, max_len=10)
            self.load(m, case, "encoder.")
            self.compare(m, case, lambda x: m(case.get("in/tokens"), case.get("in/valid_lens")), prefix="encoder.")

    def test_decoder(self):
        for case in self.each("decoder", ("pre",)):
            m = nn.TransformerDecoder(13, 12, 20, 3, 2, 0.0, max_len=10)
            self.load(m, case, "decoder.")
            self.compare(m, case, lambda x: m(case.get("in/tokens"), m.init_state(x["memory"], case.get("in/valid_lens")))[0],
                         prefix="decoder.")
            memory, ids = nn.tensor(case.get("in/memory")), case.get("in/tokens")
            state, steps = m.init_state(memory, case.get("in/valid_lens")), []
            for i in range(len(ids[0])):
                logits, state = m.eval()([row[i:i + 1] for row in ids], state)
                steps.append(logits)
            self.close(nn.concat(steps, 1), case.get("out/out"), OUTPUT)

    def test_transformer(self):
        for case in self.each("transformer", ("tied_pre",)):
            m = nn.EncoderDecoder(nn.TransformerEncoder(11, 12, 20, 3, 2, 0.0, max_len=10),
                                  nn.TransformerDecoder(13, 12, 20, 3, 2, 0.0, max_len=10))
            self.load(m, case)
            labels = case.get("in/labels")

            def loss(logits):
                end = nn.cross_entropy(logits, labels, case.get("in/label_lens"), normalizer=float(len(labels[0])))
                self.close(end, case.get("out/loss"))
                return end
            self.compare(m, case, lambda x: m(case.get("in/source"), case.get("in/target"), case.get("in/valid_lens")), loss)

    def test_cross_entropy(self):
        for case in self.each("cross_entropy"):
            labels, by_steps = case.get("in/labels"), case.config("by_steps")

            def loss(logits):
                end = nn.cross_entropy(logits, labels, case.get("in/label_lens"), case.config("label_smoothing"),
                                       normalizer=float(len(labels[0])) if by_steps else 0.0)
                self.close(end, case.get("out/loss"))
                return end
            self.compare(None, case, lambda x: x["logits"], loss)

    def test_adam(self):
        for case in self.each("adam", ("sparse",)):
            matrix, vector = (nn.Parameter(case.get(f"param/{name}")) for name in ("matrix", "vector"))
            options = {"lr": case.config("lr"), "betas": (case.config("beta1"), case.config("beta2")), "eps": case.config("eps")}
            decay = case.config("weight_decay")
            trainer = (optim.AdamW([matrix, vector], weight_decay=decay, **options) if decay
                       else optim.Adam([matrix, vector], **options))
            for step in range(int(case.config("steps"))):
                with nn.grad():
                    ((matrix * nn.tensor(case.get(f"in/matrix{step}"))).sum() +
                     (vector * nn.tensor(case.get(f"in/vector{step}"))).sum()).backward()
                self.close(trainer.clip(case.config("clip")), case.get("out/norms")[step])
                trainer.step()
                trainer.zero_grad()
            self.close(matrix, case.get("out/matrix"), GRADIENT)
            self.close(vector, case.get("out/vector"), GRADIENT)


def case_weights(case):
    return nn.tensor(case.get("weights/out"))


del Close  # or else its module's tests run here, too


if __name__ == "__main__":
    unittest.main()
