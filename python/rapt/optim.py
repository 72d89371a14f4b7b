"""Optimizers for the parameters of rapt.nn.

    trainer = optim.Adam(net.parameters(), lr=0.001)
    ...
    loss.backward()
    trainer.clip(1)
    trainer.step()
    trainer.zero_grad()
"""
from . import _rapt
from ._arguments import number, tuple_of
from ._nn_layers import LazyLinear
from ._nn_module import _Parameters

__all__ = ["Adam", "AdamW", "Muon", "SGD"]


def _rate(name, value):
    value = number(value, name)
    if not 0 <= value < float("inf"):
        raise _rapt.InvalidValueError(f"{name} is {value}; it must be a number, 0 or more")
    return value


def _adam(betas, eps):
    betas = tuple_of(betas, "betas", "two floats")
    if len(betas) != 2:
        raise _rapt.InvalidValueError(f"betas has {len(betas)} numbers; it must have two")
    return {"beta1": betas[0], "beta2": betas[1], "eps": eps}


def _warn(text, level):
    import warnings
    warnings.warn(text, RuntimeWarning, stacklevel=level)


def _warn_of_sizes(params):
    """Of modules without parameters yet, if `params` is what Module.parameters() returned."""
    module = params.module if isinstance(params, _Parameters) else None
    names = [] if module is None else [name or "the module" for name, part in module.named_modules()
                                       if isinstance(part, LazyLinear) and part.weight is None]
    if names:
        _warn(f"{', '.join(names)}: no parameters yet, since the size of the first input is not known, so this optimizer will "
              "not train them: make it after a first call of the module", 5)


class Optimizer:
    """What all optimizers share. `lr`, the learning rate, may be set between steps.

    params are net.parameters(), or a list of some of them. RuntimeWarning: a part of net has no parameters yet, because it takes
    their sizes from its first input; make the optimizer after that."""

    def __init__(self, params, lr, kind, options):
        expected = "an iterable of parameters: net.parameters(), not net" if hasattr(params, "parameters") else \
            "an iterable of parameters, such as net.parameters()"
        unique = {id(parameter): parameter for parameter in tuple_of(params, "params", expected)}
        if not unique:
            raise _rapt.InvalidValueError("there are no parameters: modules that take sizes from their first input have none "
                                          "before it")
        _warn_of_sizes(params)
        self.lr = lr
        self.params = tuple(unique.values())
        self._handle = _rapt.optimizer(self.params, kind, options)
        self._scale = 1.0

    @property
    def lr(self):
        """The learning rate: a number, 0 or more."""
        return self._lr

    @lr.setter
    def lr(self, value):
        self._lr = _rate("lr", value)

    def step(self):
        """Changes the parameters by their gradients. A parameter without a gradient stays as it is; RuntimeWarning: none has
        one."""
        if not self._handle.has_gradients():
            _warn("step: no parameter of this optimizer has a gradient, so none changes: call loss.backward() before, and make "
                  "the optimizer anew with a new net", 3)
        self._handle.step(self._lr, self._scale)
        self._scale = 1.0

    def zero_grad(self):
        """Forgets all gradients."""
        self._handle.zero_grad()
        self._scale = 1.0

    def clip(self, max_norm):
        """The norm of all gradients together, sqrt of the sum of squares. The next step multiplies the gradients by max_norm /
        norm if that is below 1; `grad` of the parameters stays as it is. NotFiniteError: the norm is no finite number."""
        max_norm = _rate("max_norm", max_norm)
        norm = self._handle.norm()
        if norm - norm != 0:
            raise _rapt.NotFiniteError(f"the norm of the gradients is {norm}")
        self._scale = max_norm / norm if norm > max_norm else 1.0
        return norm


class Adam(Optimizer):
    """Adam (Kingma & Ba 2015), as `rapt train` does it, without weight decay."""

    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr, "adam", _adam(betas, eps))


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019) of matrices; biases and norms do not decay."""

    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, "adam", {**_adam(betas, eps), "weight_decay": weight_decay})


class Muon(Optimizer):
    """Muon (Jordan et al. 2024) for matrices, as `rapt train` does it and torch.optim.Muon in fp32. Vectors, and usually
    embeddings and the output layer, belong to an optimizer of their own.

    adjust_lr    the factor of lr: "match_rms_adamw", 0.2 sqrt(max(rows, columns)); or "original", sqrt(max(1, rows / columns))

    InvalidValueError: a parameter is no matrix, or is sparse."""

    def __init__(self, params, lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True, ns_steps=5, adjust_lr="original"):
        options = {"weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_steps": ns_steps,
                   "adjust_lr": adjust_lr}
        super().__init__(params, lr, "muon", options)


class SGD(Optimizer):
    """p - lr v, where v = momentum v + u, u = g + weight_decay p, and g is the gradient; with nesterov p - lr (u + momentum v).
    This is torch.optim.SGD without dampening.

    InvalidValueError: a momentum that is not from 0 to below 1; nesterov without a momentum."""

    def __init__(self, params, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        options = {"momentum": _rate("momentum", momentum), "weight_decay": _rate("weight_decay", weight_decay),
                   "nesterov": nesterov}
        super().__init__(params, lr, "sgd", options)
