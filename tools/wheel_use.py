"""tools/wheel_use.py FOLDER: uses the package that is installed: trains, translates, saves, loads, and looks into a translator. It
prints what must be the same wherever a wheel runs; tools/wheels_try.sh compares.

The folder has recipe.yaml; models are written there. The Python may be as bare as that of another system's first steps.
"""
import hashlib
import pathlib
import sys

import rapt
from rapt import nn

folder = pathlib.Path(sys.argv[1])


def sum_of(path):
    return hashlib.sha256((folder / path / "model.safetensors").read_bytes()).hexdigest()


run = rapt.train(str(folder / "recipe.yaml"), str(folder / "python"))
print("trained", sum_of("python"))
model = rapt.Model.load(str(folder / "python"), trainable=True)
model.save(str(folder / "saved"))
print("saved", sum_of("saved"))
best = rapt.Model.load(str(folder / "saved")).translate("Where are my keys?", beam=2)
print("translated", best.text, best.hypotheses[0].score.hex())
line = "Où sont mes clés ? 我的钥匙"
tokenizer = model.source_tokenizer
print("tokens", tokenizer.encode(line), tokenizer.decode(tokenizer.encode(line)))
values = model.explain("Where are my keys?")
print("explained", len(values), hashlib.sha256(b"".join(bytes(memoryview(values[name])) for name in sorted(values))).hexdigest())
nn.seed(1)
with nn.grad():
    x = nn.tensor([[1.0, 2.0], [3.0, 4.0]])
    layer = nn.Linear(2, 2)
    layer(x).sum().backward()
print("gradient", layer.weight.grad.tolist())
try:
    rapt.Model.load(str(folder / "nowhere"))
except FileNotFoundError as failure:
    print("refused", type(failure).__name__)
