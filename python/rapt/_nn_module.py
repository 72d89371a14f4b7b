"""The base of all modules, and passes: what a module runs on."""
from _thread import _local
from math import prod

from . import _rapt
from ._arguments import is_integer, scale_of


class _Running(_local):
    """Of a thread: its innermost pass, whether a module runs, the list that layer_summary fills, and the modules that have been
    named."""
    tape = None
    named = None
    depth = 0
    summary = None


running = _Running()
_changes = 0  # grows whenever a module gets another part, so that names are given again


class Tape:
    """A pass of `grad()`: `with nn.grad() as tape:`. The tensors that are computed in it keep its memory.

    attention  the attention weights of the pass by the name of their module, each [batch, heads, queries, keys]
    steps      with observe=True: every named intermediate by its name, an Array
    gradients  with observe=True, after backward() inside of the pass: their gradients by the same names
    """

    def __init__(self, options, observe):
        self._options = options
        self._observes = observe
        self._pass = None
        self._outer = None
        self._observer = None
        self.attention = {}
        self.steps = {}
        self.gradients = {}

    def _observe(self, name, formula, values, is_gradient):
        (self.gradients if is_gradient else self.steps)[name] = values
        if self._observer:
            self._observer(name, formula, values, is_gradient)

    def __enter__(self):
        if self._pass:
            raise RuntimeError("the pass is entered already")
        self.attention, self.steps, self.gradients = {}, {}, {}
        if self._observes:
            self._observer = _rapt.set_observer(None)
            _rapt.set_observer(self._observe)
        try:
            started = _rapt.start_pass(self._options)
            started.enter()
        except BaseException:
            if self._observes:
                _rapt.set_observer(self._observer)
            raise
        self._pass, self._outer = started, running.tape
        running.tape = self
        return self

    def __exit__(self, kind, value, traceback):
        if self._pass is None:
            raise RuntimeError("the pass is not entered")
        self._pass.exit()
        self._pass = None
        running.tape, self._outer = self._outer, None
        if self._observes:
            _rapt.set_observer(self._observer)
            self._observer = None


def grad(training=True, step=None, *, keep_gradients=False, observe=False):
    """A pass that can be differentiated: operations inside of `with nn.grad():` are recorded for backward().

    training        False: no dropout, whatever the modules' own `training` is
    step            with seed(), the key of the pass's dropout; default: passes are counted
    keep_gradients  results keep their gradients, for `tensor.grad`; otherwise only parameters and tensors that were made with
                    requires_grad=True have one
    observe         collect every named intermediate and its gradient in `tape.steps` and `tape.gradients`

    Outside of a pass modules compute the same numbers, and keep nothing for a backward pass. After a failure inside of a pass
    that pass is over: it raises the same error again.
    """
    return Tape({"training": training, "step": step, "keep_gradients": keep_gradients}, observe)


class observe:
    """`with nn.observe(fn):` calls fn(name, formula, values, is_gradient) with every named intermediate as it is computed in this
    thread, and in backward() with every gradient. `formula` is None for gradients of parameters; `values` is an Array of its own.
    An exception of fn ends the operation. Observed passes compute step by step what is fused otherwise: the numbers agree except
    for rounding."""

    def __init__(self, fn):
        self._fn = fn
        self._before = None

    def __enter__(self):
        self._before = _rapt.set_observer(self._fn)

    def __exit__(self, kind, value, traceback):
        _rapt.set_observer(self._before)


def as_tensor(x):
    """x itself if it is a Tensor, or else a tensor with a copy of its numbers."""
    return x if isinstance(x, _rapt.Tensor) else _rapt.tensor(x, False)


class _Parameters:
    """An iterator over a module's parameters that an optimizer can ask for the module."""

    def __init__(self, module):
        self.module = module
        self._named = module.named_parameters()

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._named)[1]


class Module:
    """The base of modules: those of the book, and your own.

        class Scale(nn.Module):
            def __init__(self, features):
                super().__init__()
                self.weight = nn.Parameter([1.0] * features)

            def forward(self, X):
                return X * self.weight

    Attributes that are parameters or modules are its parts. `training` says whether dropout drops.
    """
    training = True
    _name = ""

    def __init__(self):
        pass

    def __setattr__(self, name, value):
        global _changes
        if isinstance(value, (Module, _rapt.Parameter)) or isinstance(vars(self).get(name), (Module, _rapt.Parameter)):
            _changes += 1
        object.__setattr__(self, name, value)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward method")

    def __call__(self, *args, **kwargs):
        outermost = running.depth == 0
        if outermost:
            self._give_names()
        running.depth += 1
        try:
            result = self.forward(*args, **kwargs)
        finally:
            running.depth -= 1
        if running.summary is not None:
            running.summary.append((self, result))
        return result

    def _children(self):
        """(name, module) of each direct part."""
        return ((name, value) for name, value in vars(self).items() if isinstance(value, Module))

    def _own_parameters(self):
        return ((name, value) for name, value in vars(self).items() if isinstance(value, _rapt.Parameter))

    def _name_parts(self, prefix):
        running.named.add(id(self))
        self.__dict__["_name"] = prefix[:-1]
        for name, parameter in self._own_parameters():
            parameter.name = prefix + name
        for name, child in self._children():
            if id(child) not in running.named: # a part may belong to several modules, or to itself
                child._name_parts(f"{prefix}{name}.")

    def _name_anew(self, prefix):
        running.named = set()
        self._name_parts(prefix)

    def _give_names(self):
        """Names all parts as they are called from here, for messages and intermediates; usually they are named so already."""
        given = self.__dict__.get("_names")
        if given and given[0] == _changes and (given[1] is None or given[1].name == given[2]):
            return
        self._name_anew("")
        first = next(self.parameters(), None)
        self.__dict__["_names"] = (_changes, first, first.name if first is not None else "")

    def named_modules(self, prefix=""):
        """(name, module) of this module, "", and of all its parts, each once: a part may belong to several modules, or to
        itself."""
        return self._modules(prefix, set())

    def _modules(self, prefix, seen):
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, child in self._children():
            yield from child._modules(f"{prefix}.{name}" if prefix else name, seen)

    def named_parameters(self):
        """(name, parameter) of all parameters, each once: "blks.0.attention.W_q.weight"."""
        seen = set()
        for prefix, module in self.named_modules():
            for name, parameter in module._own_parameters():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield f"{prefix}.{name}" if prefix else name, parameter

    def parameters(self):
        """All parameters, each once."""
        return _Parameters(self)

    def reset_parameters(self, prefix="", *, init="xavier", std=0.02):
        """Draws the parameters of the module and all its parts anew, by seed() and their names; returns the module.

        The C library draws the same numbers for parameters of these names in a set of the same seed: attention that
        rapt_multi_head_attention_init adds with the prefix "demo." is MultiHeadAttention(...).reset_parameters("demo."). Names
        inside of a module are the library's: q, k, v, o for W_q, W_k, W_v, W_o. Linear layers that do not know their inputs yet
        draw when they do.

        prefix  what the names begin with; it ends with a dot, which is added if it is missing
        init    weights of linear layers: "xavier"; "pytorch": uniform up to 1/sqrt(inputs); "gpt2": N(0, std^2), also embeddings;
                "zeros", also embeddings. Biases are 0 with "gpt2" and "zeros"
        std     for "gpt2"

        Other embeddings are N(0, 1), in TransformerEncoder and TransformerDecoder N(0, 1/num_hiddens); norms start with ones and
        zeros. Parameters that are made of your own values keep them.
        """
        if not isinstance(prefix, str):
            raise TypeError(f"prefix must be a str, not {type(prefix).__name__}")
        if init not in ("xavier", "pytorch", "gpt2", "zeros"):
            raise _rapt.InvalidValueError(f"init is {init!r}; it must be \"xavier\", \"pytorch\", \"gpt2\" or \"zeros\"")
        std = scale_of(std, "std")
        self._name_anew(prefix + "." if prefix and not prefix.endswith(".") else prefix)
        modules = [module for _, module in self.named_modules()]
        for module in modules:
            module._name_for_drawing(f"{module._name}." if module._name else "")
        for module in reversed(modules): # an encoder draws its embedding after the embedding has
            module._reset(init, std)
        return self

    def _name_for_drawing(self, prefix):
        """Gives parts the library's names where a call gives them others."""

    def _reset(self, init, std):
        """Draws the module's own parameters."""

    def register_buffer(self, name, tensor):
        """Makes a tensor an attribute that is not trained, such as a table of positions. It is not in state_dict(): the module
        that makes it can make it again."""
        setattr(self, name, tensor)

    def zero_grad(self):
        """Forgets the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.grad = None

    def state_dict(self):
        """A dict of copies of all parameters by name."""
        return {name: parameter.copy() for name, parameter in self.named_parameters()}

    def load_state_dict(self, values):
        """Writes the parameters: a dict by name of arrays (Array, NumPy, PyTorch) or nested lists, such as another module's
        state_dict(), or of the book's modules in PyTorch, whose blocks are called "blks.block0". ValueError: a name is missing or
        unknown; ShapeError: a shape differs. Nothing is written then."""
        for name in values:
            if not isinstance(name, str):
                raise TypeError(f"a name of state_dict must be a str, not {type(name).__name__}")
        arrays = {name: as_tensor(value) for name, value in values.items()}
        made = [module for prefix, module in self.named_modules() if module._make_lazy(
            {name: arrays.get(f"{prefix}.{name}" if prefix else name) for name in ("weight", "bias")})]
        try:
            own = self._matched(arrays)
        except BaseException:
            for module in made:
                module.weight = module.bias = None
            raise
        for name, parameter in own.items():
            parameter.assign(arrays[name])

    def _matched(self, arrays):
        """The parameters by name, each of which has an array of its shape."""
        own = dict(self.named_parameters())
        for name in [name for name in arrays if name not in own]: # "blks.block0.": the book's PyTorch code
            if (plain := name.replace("blks.block", "blks.")) in own and plain not in arrays:
                arrays[plain] = arrays.pop(name)
        missing = [name for name in own if name not in arrays]
        unknown = [name for name in arrays if name not in own]
        if missing or unknown:
            lists = (f"{what} {', '.join(names)}" for what, names in (("missing", missing), ("unknown", unknown)) if names)
            raise _rapt.InvalidValueError(f"state_dict: {'; '.join(lists)}")
        for name, parameter in own.items():
            if arrays[name].shape != parameter.shape:
                raise _rapt.ShapeError(f"parameter \"{name}\" is {list(parameter.shape)}, the values are "
                                       f"{list(arrays[name].shape)}")
        return own

    def _make_lazy(self, arrays):
        """Makes parameters whose sizes are not known before the first call, as these values have them; true: there are some."""
        return False

    def train(self, mode=True):
        """Sets `training` of this module and all its parts; returns the module."""
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self):
        """train(False): no dropout."""
        return self.train(False)

    def layer_summary(self, *inputs):
        """Runs the module and returns a table of its parts in the order in which they end: name, class, shape of the result,
        number of parameters. `inputs` is a shape, for zeros of that shape, or the arguments of the module."""
        shaped = bool(inputs) and all(is_integer(size) for size in inputs)
        arguments = (_rapt.tensor([0.0], False).expand(*inputs),) if shaped else inputs
        outer, running.summary = running.summary, []
        try:
            self(*arguments)
            calls = running.summary
        finally:
            running.summary = outer
        rows = [("name", "class", "output shape", "parameters")]
        for module, result in calls:
            shape = getattr(result[0] if isinstance(result, tuple) else result, "shape", ())
            count = sum(prod(parameter.shape) for parameter in module.parameters())
            rows.append((module._name or "-", type(module).__name__, str(list(shape)), f"{count:,}"))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d:>{widths[3]}}" for a, b, c, d in rows)

    def _describe(self):
        """What stands in the brackets of repr()."""
        return ""

    def __repr__(self):
        parts = "".join(f"\n  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._children())
        return f"{type(self).__name__}({self._describe()}{parts}" + ("\n)" if parts else ")")


class Sequential(Module):
    """Modules one after the other: each takes the result of the one before. A list of them: `blks[0]`, `len(blks)`."""

    def __init__(self, *modules):
        super().__init__()
        self._list = []
        self._keys = []  # of the list: "0" or what add_module was given
        for module in modules:
            self.append(module)

    def append(self, module):
        """Adds a module at the end; returns the Sequential."""
        self.add_module(str(len(self._list)), module)
        return self

    def add_module(self, name, module):
        """Adds a module at the end, whose parameters are "name.weight" and so on instead of "0.weight"."""
        global _changes
        if not isinstance(module, Module):
            raise TypeError(f"module must be a rapt.nn.Module, not {type(module).__name__}")
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        if not name or "." in name:
            raise _rapt.InvalidValueError(f"name is {name!r}; it is not empty, and has no dot")
        if name in self._keys:
            raise _rapt.InvalidValueError(f"there is a module {name!r} already")
        self._list.append(module)
        self._keys.append(name)
        _changes += 1

    def _children(self):
        yield from super()._children()
        yield from zip(self._keys, self._list)

    def forward(self, X):
        for module in self._list:
            X = module(X)
        return X

    def __len__(self):
        return len(self._list)

    def __iter__(self):
        return iter(self._list)

    def __getitem__(self, index):
        return self._list[index]


class ModuleList(Sequential):
    """A list of modules that are parts of the module that has it: ModuleList([Block(), Block()])."""

    def __init__(self, modules=()):
        super().__init__(*modules)

    def forward(self, X):
        raise NotImplementedError("a ModuleList is no module to call")
