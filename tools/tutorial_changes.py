"""What takes the place of PyTorch in the cells of tutorials, for tools/tutorial_cells.py: rapt.nn by the names of both, changes
of code by its syntax, and stand-ins of what is neither PyTorch nor part of Python."""
import ast
import builtins
import itertools
import math
import pathlib
import types

import rapt
from rapt import nn, optim

# Changes by name: English, Chinese. Each is made by its rule alone, to any cell.
CHANGES = {
    "assign": ("an assignment to elements makes a new tensor (by hand: `nn.stack`, `nn.cat`)", "给元素赋值改为生成新张量（自己改写时用`nn.stack`或`nn.cat`）"),
    "type": ("`dtype`, `device`, `.float()`, `.bool()`, `.numpy()`, `.round()` and `.data` go: there is one numeric type",
             "去掉`dtype`、`device`、`.float()`、`.bool()`、`.numpy()`、`.round()`和`.data`：数值类型只有一种"),
    "item": ("`.item()` of a whole number is an int", "整数的`.item()`是int"),
    "equal": ("`==` of tensors is `eq`", "张量的`==`改为`eq`"),
    "name": ("`torch.LongTensor` is `nn.tensor`", "`torch.LongTensor`改为`nn.tensor`"),
    "lines": ("line breaks, which the stored text has lost, are put back", "补回保存的文本丢失的换行"),
    "d2l": ("d2l: `MultiHeadAttention` takes no sizes of its inputs, `Encoder` and `AttentionDecoder` are `nn.Module`, the tool has its "
            "data, `sequence_mask` and the training loop",
            "d2l：`MultiHeadAttention`不带输入的三个大小，`Encoder`和`AttentionDecoder`改为`nn.Module`，数据、`sequence_mask`和训练循环由工具提供"),
    "package": ("stand-ins for other packages: tiktoken is `rapt.Tokenizer`, what draws or prints does nothing",
                "用替身代替其他软件包：tiktoken由`rapt.Tokenizer`代替，画图和打印表格的软件包什么也不做"),
}


# ---- changes of the syntax -----------------------------------------------------------------------------------------------

class _Changes(ast.NodeTransformer):
    """Calls of Helpers take the place of what could be a change."""
    METHODS = {"float", "bool", "long", "int", "numpy", "round", "cpu", "to"}

    def __init__(self, helpers):
        self.helpers = helpers

    @staticmethod
    def _helper(name, *arguments):
        return ast.Call(ast.Attribute(ast.Name("_helpers", ast.Load()), name, ast.Load()), list(arguments), [])

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        index = ast.Tuple([_slice(part) for part in target.slice.elts], ast.Load()) if isinstance(target.slice, ast.Tuple) \
            else _slice(target.slice)
        place = ast.parse(ast.unparse(target.value), mode="eval").body
        target.value.ctx = ast.Store()
        return ast.Assign([target.value], self._helper("assigned", place, index, node.value))

    def visit_Call(self, node):
        self.generic_visit(node)
        kept = [keyword for keyword in node.keywords if keyword.arg not in ("dtype", "device")]
        if len(kept) < len(node.keywords):
            self.helpers.made.add("type")
        node.keywords = kept
        if not isinstance(node.func, ast.Attribute):
            return node
        if node.func.attr in self.METHODS:
            return self._helper("plain", node.func.value, ast.Constant(node.func.attr), *node.args)
        if node.func.attr == "item" and not node.args:
            return self._helper("item", node.func.value)
        if node.func.attr == "LongTensor":
            self.helpers.made.add("name")
            node.func.attr = "tensor"
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr == "data" and isinstance(node.ctx, ast.Load):
            return self._helper("plain", node.value, ast.Constant("data"))
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            return self._helper("equal", node.left, node.comparators[0])
        return node


def _slice(part):
    if not isinstance(part, ast.Slice):
        return part
    ends = [end or ast.Constant(None) for end in (part.lower, part.upper, part.step)]
    return ast.Call(ast.Name("slice", ast.Load()), ends, [])


class Helpers:
    """What changed code calls. `made` gets the names of the changes that take place."""

    def __init__(self, made):
        self.made = made

    def item(self, x):
        number = x.item()
        if not isinstance(number, float) or number != int(number):
            return number
        self.made.add("item")
        return int(number)

    def equal(self, a, b):
        if not isinstance(a, nn.Tensor):
            return a == b
        self.made.add("equal")
        return a.eq(b)

    def plain(self, x, name, *arguments):
        if not isinstance(x, nn.Tensor):
            return getattr(x, name) if name == "data" else getattr(x, name)(*arguments)
        self.made.add("type")
        return x

    def assigned(self, x, index, value):
        """x with other elements, if it is a tensor; anything else is assigned to in place."""
        if not isinstance(x, nn.Tensor):
            x[index] = value
            return x
        self.made.add("assign")
        index = index if isinstance(index, tuple) else (index,)
        index += (slice(None),) * (len(x.shape) - len(index))
        rows = [range(*i.indices(size)) if isinstance(i, slice) else [i] for i, size in zip(index, x.shape)]
        chosen = [len(row) for i, row in zip(index, rows) if isinstance(i, slice)]
        value = value if isinstance(value, nn.Tensor) else nn.tensor(value)
        values = value.expand(*chosen or (1,)).reshape(-1).tolist()
        elements, strides = x.reshape(-1).tolist(), [math.prod(x.shape[d + 1:]) for d in range(len(x.shape))]
        for place, number in zip(itertools.product(*rows), values):
            elements[sum(i * stride for i, stride in zip(place, strides))] = number
        return nn.tensor(elements).reshape(x.shape)


def changed(code, made):
    """Compiled code for a namespace where `_helpers` is the second result; `made` gets the names of changes."""
    helpers = Helpers(made)
    return compile(ast.fix_missing_locations(_Changes(helpers).visit(ast.parse(code))), "cell", "exec"), helpers


# ---- PyTorch ------------------------------------------------------------------------------------------------------------------

class Missing(Exception):
    """A name that rapt.nn does not have."""


class Names:
    """torch, torch.nn and torch.nn.functional: the names of rapt.nn."""
    def __init__(self, label):
        self._label = label

    def __getattr__(self, name):
        if name in ("nn", "functional"):
            return Names(f"{self._label}.{name}")
        if name in ("float", "float32", "long", "int64", "bool"):
            return name
        if name not in nn.__all__:
            raise Missing(name)
        return getattr(nn, name)


# ---- d2l ------------------------------------------------------------------------------------------------------------------

class SizedAttention(nn.MultiHeadAttention):
    """The book's older class: sizes of its inputs come first, and the weights are in a part `attention`."""
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__(num_hiddens, num_heads, dropout, bias)

    @property
    def attention(self):
        return self


def _sequence_mask(X, valid_len, value=0):
    return X.masked_fill([[j >= int(length) for j in range(X.shape[1])] for length in valid_len], value)


def _load_data_nmt(shared, batch_size, num_steps):
    """Two batches of the book's pairs, (source, its lengths, target, its lengths), and both vocabularies."""
    sides, vocabularies = ([], []), ([], [])
    lines = (shared / "data" / "fra-eng" / "fra.txt").read_text(encoding="utf-8").splitlines()[:2 * batch_size]
    for side, ids, words in zip((0, 1), sides, vocabularies):
        known = {"<pad>": 0, "<bos>": 1, "<eos>": 2}
        for line in lines:
            tokens = [*line.lower().split("\t")[side].split(), "<eos>"][:num_steps]
            row = [known.setdefault(token, len(known)) for token in tokens]
            ids.append((row + [0] * (num_steps - len(row)), len(row)))
        words.extend(known)
    batches = []
    for i in range(0, len(lines), batch_size):
        (X, X_len), (Y, Y_len) = (zip(*ids[i:i + batch_size]) for ids in sides)
        batches.append((nn.tensor(list(X)), nn.tensor(list(X_len)), nn.tensor(list(Y)), nn.tensor(list(Y_len))))
    return batches, *vocabularies


def _train_seq2seq(net, batches, lr, num_epochs, vocabulary, device):
    """A few steps; the loss falls."""
    trainer, losses = None, []
    for epoch in range(3):
        for X, X_len, Y, Y_len in batches:
            first = nn.full((Y.shape[0], 1), vocabulary.index("<bos>"))
            with nn.grad():
                loss = nn.cross_entropy(net(X, nn.cat([first, Y[:, :-1]], 1), X_len), Y, Y_len)
                loss.backward()
            if trainer is None:  # the first call has made all parameters
                trainer = optim.Adam(net.parameters(), lr=lr)
            trainer.clip(1)
            trainer.step()
            trainer.zero_grad()
            losses.append(float(loss))
    if not losses[-1] < losses[0]:
        raise AssertionError(f"the loss does not fall: {losses}")


class D2l:
    """d2l.torch: the names of rapt.nn as they are, unless `changes` is a set: then the tool's, and "d2l" is put into it."""
    def __init__(self, shared, changes):
        self._changes = changes
        self._own = {"MultiHeadAttention": SizedAttention, "Encoder": nn.Module, "AttentionDecoder": nn.Module,
                     "sequence_mask": _sequence_mask, "try_gpu": lambda: "cpu", "train_seq2seq": _train_seq2seq,
                     "load_data_nmt": lambda size, steps: _load_data_nmt(shared, size, steps)}

    def __getattr__(self, name):
        if name == "torch":
            return self
        if self._changes is not None and name in self._own:
            self._changes.add("d2l")
            return self._own[name]
        return getattr(Names("d2l"), name)


# ---- other packages ---------------------------------------------------------------------------------------------------------

class Anything:
    """A package whose calls do nothing that is looked at: a figure, a table."""
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments, **keywords):
        for x in arguments:
            if isinstance(x, nn.Tensor):
                x.tolist()
        return self


class Tiktoken:
    def __init__(self, shared):
        self._shared = shared

    def get_encoding(self, name):
        tokenizer = rapt.Tokenizer.load(self._shared / "data" / "tokenizers" / f"{name}.tiktoken")
        return types.SimpleNamespace(encode=tokenizer.encode, decode=lambda ids: tokenizer.decode([int(i) for i in ids]))


def importer(shared, changes):
    """An __import__ for cells: PyTorch and d2l are ours, and other packages stand-ins if `changes` is a set."""
    shared = pathlib.Path(shared)

    def load(name, *rest):
        top = name.split(".")[0]
        if top == "torch":
            package, *parts = Names("torch"), *name.split(".")[1:]
            for part in parts if len(rest) > 2 and rest[2] else ():
                package = getattr(package, part)
            return package
        if top == "d2l":
            return D2l(shared, changes)
        if top in ("math", "os"):
            return builtins.__import__(name, *rest)
        if changes is None:
            raise Missing(top)
        changes.add("package")
        return Tiktoken(shared) if top == "tiktoken" else Anything()
    return load
