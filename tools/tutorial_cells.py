#!/usr/bin/env python3
"""tools/tutorial_cells.py FOLDER [--write]: runs the code cells of PyTorch tutorials, text files of a folder, with the names of
rapt.nn in place of PyTorch's, and prints how many run. The result is docs/tutorials/pytorch-cells.md, and .zh-CN.md, which --write
writes and python/tests/test_tutorial_cells.py compares. A cell is run as it is; if that fails, with the changes of
tools/tutorial_changes.py. Classes and functions that a cell only defines are called, with a backward pass.

    PYTHONPATH=build/python python3 tools/tutorial_cells.py ../shared/seeds --write
"""
import argparse
import ast
import builtins
import contextlib
import inspect
import io
import os
import pathlib
import re
import sys
import tempfile

from rapt import nn
from tutorial_changes import CHANGES, D2l, Missing, Names, changed, importer
from tutorial_split import cells, parses, restored

SOURCE = pathlib.Path(__file__).resolve().parents[1]
# Where each tutorial has its page: by a line that it has.
PAGES = (("Input Processing", "shapes"), ("add_norm.eval()", "encoder-decoder"), ("sales_textbook", "language-model"),
         ("main()", "positions-attention"), ("dec_valid_lens", "masks-and-state"))
LANGUAGES = {"md": 0, "zh-CN.md": 1}
# Methods of PyTorch's tensors that cells call.
METHODS = ("argmax", "backward", "bool", "contiguous", "data", "detach", "dim", "expand", "float", "item", "masked_fill", "max", "mean",
           "min", "numpy", "permute", "repeat", "reshape", "shape", "size", "softmax", "sum", "transpose", "unsqueeze", "view")
MXNET = {"Block", "npx", "as_in_ctx"}

# ---- what classes and functions are called with ----------------------------------------------------------------------------

SIZES = {"d_model": 16, "max_len": 50, "max_seq_len": 50, "vocab_size": 20, "d_ff": 32, "heads": 2, "num_heads": 2, "i": 0,
         "ffn_num_input": 16, "ffn_num_hiddens": 32, "ffn_num_outputs": 16, "normalized_shape": [5, 16], "norm_shape": [5, 16],
         "dropout": 0.1, "key_size": 16, "query_size": 16, "value_size": 16, "num_hiddens": 16, "num_layers": 2}


def inputs_of(module):
    state = [nn.randn(2, 5, 16), nn.tensor([3, 2]), [None, None]]
    has_ids = "vocab_size" in inspect.signature(type(module).__init__).parameters if module else False
    X = nn.randint(0, 20, (2, 5)) if has_ids else nn.randn(2, 5, 16)
    return {"x": X, "X": X, "Y": nn.randn(2, 5, 16), "q": X, "k": X, "v": X, "queries": X, "keys": X, "values": X,
            "valid_lens": nn.tensor([3, 2]), "state": state, "num_heads": 2, "scale": 1.0}


def arguments(fn, values):
    """Values for the parameters that have to be given."""
    needed = [name for name, p in inspect.signature(fn).parameters.items()
              if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    unknown = [name for name in needed if name not in values]
    if unknown:
        raise KeyError(f"there is no value for {', '.join(unknown)}")
    return {name: values[name] for name in needed}


def call(thing):
    """Makes and calls a class, or calls a function; runs a backward pass if the result is trained."""
    module = thing(**arguments(thing, SIZES)) if isinstance(thing, type) else None
    run = thing if module is None else module.forward if isinstance(module, nn.Module) else module
    with nn.grad():
        result = (module or run)(**arguments(run, inputs_of(module)))
        result = result[0] if isinstance(result, tuple) else result
        if result.requires_grad:
            result.sum().backward()


def only_defined(tree):
    """Names of classes and functions that a cell defines and does not use."""
    named = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return [node.name for node in named if node.name not in used]


def stored(tree):
    return [node.name if isinstance(node, (ast.ClassDef, ast.FunctionDef)) else node.id for node in ast.walk(tree)
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) or isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


# ---- running ------------------------------------------------------------------------------------------------------------

class Run:
    """The cells of one tutorial, in one namespace."""

    def __init__(self, text, shared):
        self.shared = pathlib.Path(shared)
        self.cells = cells(text)
        self.names = {"torch": Names("torch"), "nn": Names("torch.nn"), "F": Names("torch.nn.functional"),
                      "math": __import__("math")}
        self.lost = {}  # names that a cell would have defined, and its number

    def attempt(self, code, changes, defined, **more):
        names = {**self.names, "__name__": "__main__", "d2l": D2l(self.shared, changes), **more}
        names["__builtins__"] = {**vars(builtins), "__import__": importer(self.shared, changes)}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
            for name in defined:
                call(names[name])
        self.names = names

    def run(self, number, code):
        """(verdict 0 as it is, 1 with changes, 2 not; names of the changes, or the reason in each language)."""
        is_whole, changes = parses(code), set()
        code = code if is_whole else restored(code)
        tree = ast.parse(code)
        defined = only_defined(tree)
        if is_whole:
            with contextlib.suppress(Exception):
                self.attempt(compile(code, "cell", "exec"), None, defined)
                return 0, ()
        else:
            changes.add("lines")
        made, helpers = changed(code, changes)
        try:
            self.attempt(made, changes, defined, _helpers=helpers)
            return 1, changes
        except Exception as error:
            reason = self.reason(code, error)
            self.lost.update((name, number) for name in stored(tree))
            return 2, reason

    def reason(self, code, error):
        if any(re.search(rf"\b{name}\b", code) for name in MXNET):
            return "it is code for MXNet", "这是MXNet的代码"
        if isinstance(error, Missing):
            return f"rapt.nn has no `{error}`", f"rapt.nn没有`{error}`"
        if isinstance(error, NameError) and error.name in self.lost:
            return f"it needs cell {self.lost[error.name]}", f"需要单元格{self.lost[error.name]}"
        if isinstance(error, NameError):
            return f"a part of a program: `{error.name}` is not in it", f"只是程序的一部分，没有`{error.name}`"
        return (f"`{type(error).__name__}: {error}`",) * 2


# ---- names -----------------------------------------------------------------------------------------------------------------

def names_in(code):
    """{name on PyTorch's side: whether rapt.nn has it} of code."""
    found = {}
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Attribute):
            continue
        owner = ast.unparse(node.value)
        if owner in ("torch", "nn", "F", "d2l", "torch.nn", "nn.functional"):
            if node.attr not in ("nn", "torch", "functional", "float", "float32", "long", "Tensor"):
                place = {"nn": "nn", "torch.nn": "nn", "d2l": "d2l", "torch": "torch"}.get(owner, "F")
                found[f"{place}.{node.attr}"] = node.attr in nn.__all__
        elif node.attr in METHODS:
            found[f"x.{node.attr}"] = hasattr(nn.Tensor, node.attr)
    return found


def defines(code):
    return [node.name for node in ast.parse(code).body if isinstance(node, ast.ClassDef)]


# ---- the pages -----------------------------------------------------------------------------------------------------------------

def results(folder, shared):
    """[(page, [(number, classes, names, verdict, detail)])]: the tutorials of a folder."""
    found = []
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        page = next(page for line, page in PAGES if line in text)
        with tempfile.TemporaryDirectory() as scratch:
            before = os.getcwd()
            os.chdir(scratch)
            try:
                book = pathlib.Path(shared).resolve() / "data" / "sales_textbook" / "sales_textbook.txt"
                if book.exists():
                    os.symlink(book, "sales_textbook.txt")
                nn.seed(1)
                run = Run(text, pathlib.Path(shared).resolve())
                rows = []
                for number, code in run.cells:
                    plain = code if parses(code) else restored(code)
                    rows.append((number, defines(plain), names_in(plain), *run.run(number, code)))
            finally:
                os.chdir(before)
        found.append((page, rows))
    return found


# Code of both pages: what stands in place of the imports, a mask, a training loop. A test runs it.
BY_HAND = ("""from rapt import nn, optim

torch = F = nn
""", """keep = nn.tril(nn.ones(5, 5))
filled = scores.masked_fill(keep.eq(0), float("-inf")).softmax(-1)
added = (scores + nn.triu(nn.full((5, 5), float("-inf")), 1)).softmax(-1)
""", """trainer = optim.Adam(net.parameters(), lr=0.01)
for X, y in batches:
    trainer.zero_grad()
    with nn.grad():
        loss = nn.cross_entropy(net(X), y)
        loss.backward()
    trainer.clip(1)
    trainer.step()
""")
# What PyTorch's users write, and what to write here; the latter in both languages where it is not code alone.
WRITE = (("torch.manual_seed(1)", "`nn.seed(1)`"), ("torch.optim.Adam(...)", "`optim.Adam(...)`"),
         ("nn.CrossEntropyLoss()", "`nn.cross_entropy(logits, labels)`"),
         ("nn.utils.clip_grad_norm_(net.parameters(), 1)", "`trainer.clip(1)`"),
         ("torch.no_grad()", ("nothing: only `with nn.grad():` records", "不需要：只有`with nn.grad():`才记录")),
         (".to(device)", ("nothing", "不需要")), (".long()", ("nothing", "不需要")),
         ("pe[:, 0::2] = s; pe[:, 1::2] = c", "`nn.stack([s, c], 2).reshape(length, d)`"), ("m[None, :, :]", "`m.unsqueeze(0)`"),
         ("~m", "`m.eq(0)`"), ("F.gelu(x)", "`x.gelu()`"), ("x.pow(2)", "`x * x`"),
         ("x.var(-1, unbiased=False)", "`((x - x.mean(-1, True)) * (x - x.mean(-1, True))).mean(-1)`"),
         ("x.chunk(2, -1)", ("slices: `x[..., :n]`, `x[..., n:]`", "切片：`x[..., :n]`、`x[..., n:]`")),
         ("torch.einsum(...)", ("`nn.matmul` of `transpose`, `unsqueeze`", "`nn.matmul`，配合`transpose`、`unsqueeze`")),
         ("torch.multinomial(p, 1)", "`random.choices(range(len(p)), p.tolist())`"))

TEXT = {
    "head": ("""# The tutorials' PyTorch cells with rapt.nn

English | [简体中文](pytorch-cells.zh-CN.md)

The five tutorials are PyTorch code. These tables say which of their cells run when `torch`, `torch.nn` and
`torch.nn.functional` are `rapt.nn`: `from rapt import nn`, and `torch = F = nn`. `tools/tutorial_cells.py` makes them: it runs
all cells of a tutorial in order, and calls what a cell only defines, with a backward pass. A test does it again.

| tutorial | cells | run as they are | run with a change | cannot |
| --- | --- | --- | --- | --- |
""", """# 用rapt.nn运行教程里的PyTorch单元格

[English](pytorch-cells.md) | 简体中文

五篇教程的代码都是PyTorch的。下面的表说明：把`torch`、`torch.nn`和`torch.nn.functional`换成`rapt.nn`（`from rapt import nn`，再令`torch = F = nn`）之后，哪些单元格可以运行。表由`tools/tutorial_cells.py`生成：它按顺序运行每篇教程的全部单元格；只定义而没有调用的类和函数，由它调用，并做反向传播。测试会重新运行一遍。

| 教程 | 单元格 | 原样运行 | 改动后运行 | 不能运行 |
| --- | --- | --- | --- | --- |
"""),
    "changes": ("\nA change is one of these, made by a rule; its letter stands in the tables:\n\n| | change |\n| --- | --- |\n",
                "\n改动只有下面几种，都按固定规则进行，表中用字母表示：\n\n| | 改动 |\n| --- | --- |\n"),
    "by hand": ("""
## Cells of your own

The tool makes these changes by itself; in a notebook they are made by hand. Delete the lines that import torch, and begin with:

```python
{}```

A mask is a tensor of ones and zeros; both of these are causal masks of scores:

```python
{}```

A training loop records its pass within `with nn.grad():`; labels of padding are left out by `valid_lens=` of `cross_entropy`, the
valid lengths of the rows, in place of `ignore_index`:

```python
{}```

| PyTorch | write |
| --- | --- |
""", """
## 自己改写单元格

上面的改动由工具自动完成；在笔记本里要自己动手。删去单元格里`import torch`的各行，在前面写：

```python
{}```

掩码是由1和0组成的张量；下面两种写法都给分数加上因果掩码：

```python
{}```

训练循环把前向传播写在`with nn.grad():`里；填充词元的标签用`cross_entropy`的参数`valid_lens=`（各行的有效长度）去掉，不用`ignore_index`：

```python
{}```

| PyTorch | 写法 |
| --- | --- |
"""),
    "names": ("\n## Names\n\nHow many cells use a name of PyTorch, and whether `rapt.nn` has it by the same name (`x.` is a\nmethod of "
              "tensors). Classes of the same name can have other arguments: [python.md](../python.md#the-books-modules).\n\n"
              "| name | cells | in rapt.nn |\n| --- | --- | --- |\n",
              "\n## 名称\n\n使用某个PyTorch名称的单元格有多少个，`rapt.nn`有没有同名的名称（`x.`表示张量的方法）。"
              "同名的类参数可能不同，见[python.md](../python.md#the-books-modules)（英文）。\n\n"
              "| 名称 | 单元格 | rapt.nn里 |\n| --- | --- | --- |\n"),
    "table": ("| cell | defines | names | runs |\n| --- | --- | --- | --- |\n", "| 单元格 | 定义 | 名称 | 结果 |\n| --- | --- | --- | --- |\n"),
    "yes": ("yes", "有"), "no": ("no", "没有"), "runs": ("as it is", "原样运行"), "change": ("with {}", "改动：{}"), "cannot": ("no: {}", "不能：{}"),
}


def letters(names):
    return ", ".join("abcdefgh"[list(CHANGES).index(name)] for name in CHANGES if name in names)


def page_of(found, language):
    text = {key: both[language] for key, both in TEXT.items()}
    suffix = list(LANGUAGES)[language]
    out = [text["head"]]
    for page, rows in found:
        counts = [sum(row[3] == verdict for row in rows) for verdict in range(3)]
        out.append(f"| [{page}]({page}.{suffix}) | {len(rows)} | {counts[0]} | {counts[1]} | {counts[2]} |\n")
    out.append(text["changes"])
    out += [f"| {letters([name])} | {both[language]} |\n" for name, both in CHANGES.items()]
    out.append(text["by hand"].format(*BY_HAND))
    out += [f"| `{name}` | {write if isinstance(write, str) else write[language]} |\n" for name, write in WRITE]
    uses = {}
    for _, rows in found:
        for row in rows:
            for name, known in row[2].items():
                uses[name] = (known, uses.get(name, (known, 0))[1] + 1)
    out.append(text["names"])
    out += [f"| `{name}` | {count} | {text['yes' if known else 'no']} |\n" for name, (known, count) in sorted(uses.items())]
    for page, rows in found:
        out.append(f"\n## {page}\n\n" + text["table"])
        for number, classes, names, verdict, detail in rows:
            result = (text["runs"] if verdict == 0 else text["change"].format(letters(detail)) if verdict == 1
                      else text["cannot"].format(detail[language]))
            out.append(f"| {number} | {', '.join(f'`{name}`' for name in classes)} | "
                       f"{' '.join(f'`{name}`' for name in sorted(names))} | {result} |\n")
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--shared", help="where data/ of the tutorials is; default: beside the folder")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = results(options.folder, options.shared or pathlib.Path(options.folder).resolve().parent)
    for suffix, language in LANGUAGES.items():
        if options.write:
            (SOURCE / "docs" / "tutorials" / f"pytorch-cells.{suffix}").write_text(page_of(found, language), encoding="utf-8")
    for page, rows in found:
        print(page, *(sum(row[3] == verdict for row in rows) for verdict in range(3)))
        for number, _, _, verdict, detail in rows:
            if verdict == 2 or options.write is False and verdict == 1:
                print("  ", number, detail)


if __name__ == "__main__":
    sys.exit(main())
