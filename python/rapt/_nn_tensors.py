"""Tensors by PyTorch's names: how they are made, and what an operation or two of the library gives."""
from math import prod as _count

from . import _rapt
from ._arguments import integer, is_integer, number, scale_of, shape_of, tuple_of
from ._nn_module import as_tensor

_MOST = 1 << 24 # numbers that Python makes one by one: the integers that float32 tells apart

# ---- tensors that are made ---------------------------------------------------------------------------------------------


def _sizes(size):
    """The sizes of f(2, 3) and of f((2, 3))."""
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _sizes_of(sizes, name):
    """Sizes, or counts, of 1 or more. expand() would keep a dimension whose size is -1."""
    sizes = tuple(integer(size, name) for size in sizes)
    for size in sizes:
        if size < 1:
            raise _rapt.ShapeError(f"{name} is {size}: it is 1 or more")
    return sizes


def full(size, fill_value):
    """A tensor of this shape, a tuple of 1 to 4 sizes, with the same number everywhere."""
    return _rapt.tensor([number(fill_value, "fill_value")], False).expand(*_sizes_of(shape_of(size, "size"), "a size"))


def zeros(*size):
    """zeros(2, 3) or zeros((2, 3)): a tensor of this shape with zeros."""
    return full(_sizes(size), 0.0)


def ones(*size):
    """ones(2, 3) or ones((2, 3)): a tensor of this shape with ones."""
    return full(_sizes(size), 1.0)


def _check_whole(name, first, last):
    if min(first, last) < -_MOST or max(first, last) > _MOST:
        raise _rapt.InvalidValueError(f"{name}: the numbers are -2^24 to 2^24, since not every larger int is a float32")


def arange(start, end=None, step=1):
    """[start, start + step, ...] below end; arange(end) begins with 0. Of ints, or of floats: ceil((end - start) / step) of
    them, 1 to 2^24. Ints are -2^24 to 2^24: all of these are float32, and not all of the others."""
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (integer(x, name) if is_integer(x) else number(x, name)
                        for x, name in ((start, "start"), (end, "end"), (step, "step")))
    for whole in (x for x in (start, end, step) if type(x) is int):
        _check_whole("arange", whole, whole)
    length = (end - start) / step if step else 0
    if not 0 < length <= _MOST:
        raise _rapt.InvalidValueError(f"arange: from {start} to {end} in steps of {step} there are not 1 to 2^24 numbers")
    return _rapt.tensor([start + i * step for i in range(-int(-length // 1))], False)


def randn(*size):
    """randn(2, 3) or randn((2, 3)): numbers from N(0, 1). They depend on nn.seed() and the number of random tensors and
    parameters that were made since."""
    return _rapt.parameter(shape_of(_sizes(size), "size"), "normal", 1.0).detach()


def draw(name, shape, kind="normal", scale=1.0):
    """A tensor of random numbers that depend on nn.seed() and `name` alone: "normal" with standard deviation `scale`, or
    "uniform" from -scale to scale. The C library draws the same for a parameter of this name in a set of the same seed."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if kind not in ("normal", "uniform"):
        raise _rapt.InvalidValueError(f"kind is {kind!r}; it must be \"normal\" or \"uniform\"")
    return _rapt.parameter(shape_of(shape), kind, scale_of(scale, "scale"), name).detach()


def randint(low, high, size):
    """Whole numbers from low to high - 1, all equally likely, in a tensor of the shape `size`; ids, for example. Random as
    those of randn. At most 2^24 of them, and of as many different ones, from -2^24 to 2^24."""
    low, high = integer(low, "low"), integer(high, "high")
    size = _sizes_of(shape_of(size, "size"), "a size")
    if not 0 < high - low <= _MOST:
        raise _rapt.InvalidValueError(f"randint: there are {high - low} numbers from {low} to {high - 1}; 1 to 2^24 can be drawn")
    _check_whole("randint", low, high - 1)
    if _count(size) > _MOST:
        raise _rapt.InvalidValueError(f"randint: {_count(size)} elements are more than 2^24")
    drawn = memoryview(_rapt.parameter((_count(size),), "uniform", 1.0))
    numbers = [low + int((x + 1) / 2 * (high - low)) for x in drawn]
    return _rapt.tensor([min(x, high - 1) for x in numbers], False).reshape(size)


# ---- functions of constants --------------------------------------------------------------------------------------------


def _mapped(X, name, fn):
    X = as_tensor(X)
    if X.requires_grad:
        raise _rapt.InvalidValueError(f"{name} has no gradient: it is for tables of positions, and sizes; use detach()")
    flat = memoryview(X.detach().reshape(-1))
    return _rapt.tensor([fn(x) for x in flat], False).reshape(X.shape)


def sin(X):
    """sin x, elementwise, of a tensor that gets no gradient (|x| < 10^6): for a table of positions."""
    return _mapped(X, "sin", _rapt.sine)


def cos(X):
    """cos x, elementwise, of a tensor that gets no gradient (|x| < 10^6)."""
    return _mapped(X, "cos", _rapt.cosine)


def sqrt(X):
    """The square root, elementwise, of a tensor that gets no gradient; NaN of numbers below 0."""
    return _mapped(X, "sqrt", lambda x: x ** 0.5 if x >= 0 else float("nan"))


def norm(X):
    """The root of the sum of the squares of all elements, of a tensor that gets no gradient."""
    X = as_tensor(X)
    return sqrt((X * X).sum())


def cosine_similarity(a, b, dim=1):
    """a b / (|a| |b|) over a dimension. a and b get no gradient; their shapes are equal or broadcast."""
    a, b = as_tensor(a), as_tensor(b)
    if a.requires_grad or b.requires_grad:
        raise _rapt.InvalidValueError("cosine_similarity has no gradient: use detach()")
    both, shape = a + b, (a + b).sum(dim).shape
    last = [axis for axis in range(len(both.shape)) if axis != range(len(both.shape))[dim]] + [dim]

    def rows(x):
        return x.expand(*both.shape).permute(*last).reshape(-1, both.shape[dim]).tolist()

    def length(x): # of float32 numbers: their squares are doubles
        return max(sum(v * v for v in x) ** 0.5, 1e-8)
    return _rapt.tensor([sum(v * w for v, w in zip(x, y)) / length(x) / length(y) for x, y in zip(rows(a), rows(b))],
                        False).reshape(shape)


def _outside(X, name, first, last):
    """X with zeros where column - row is below `first` or above `last` in the last two dimensions."""
    X, first, last = as_tensor(X), integer(first, "diagonal"), integer(last, "diagonal")
    if len(X.shape) < 2:
        raise _rapt.ShapeError(f"{name}: the tensor has {len(X.shape)} dimensions, not 2 or more")
    rows, columns = X.shape[-2:]
    mask = bytearray(rows * columns)
    for i in range(rows):
        begin, end = max(0, min(columns, i + first)), max(0, min(columns, i + last + 1))
        mask[i * columns:i * columns + begin] = b"\1" * begin
        mask[i * columns + end:(i + 1) * columns] = b"\1" * (columns - end)
    return _rapt.masked_fill(X, memoryview(mask).cast("B", (rows, columns)), 0.0)


def triu(X, diagonal=0):
    """The upper triangle of the last two dimensions, from the diagonal with this number on (1: above the main one); zeros
    elsewhere. triu(ones(n, n), 1) is the mask of a causal model. Where a pass gives X a gradient, all elements are finite."""
    return _outside(X, "triu", diagonal, 1 << 40)


def tril(X, diagonal=0):
    """The lower triangle of the last two dimensions, up to the diagonal with this number; zeros elsewhere. Finite
    as in triu."""
    return _outside(X, "tril", -(1 << 40), diagonal)


# ---- functions of tensors --------------------------------------------------------------------------------------------------


def stack(tensors, dim=0):
    """Tensors of equal shapes as the items of a new dimension."""
    return _rapt.concat(tuple(as_tensor(x).unsqueeze(dim) for x in tuple_of(tensors, "tensors", "a list of tensors")), dim)


def matmul(a, b):
    """a @ b: products of the matrices in the last two dimensions, the others broadcast."""
    return as_tensor(a) @ as_tensor(b)


def bmm(a, b):
    """Products of matrices: [batch, n, k] and [batch, k, m] give [batch, n, m]."""
    a, b = as_tensor(a), as_tensor(b)
    if len(a.shape) != 3 or len(b.shape) != 3 or a.shape[0] != b.shape[0]:
        raise _rapt.ShapeError(f"bmm: {list(a.shape)} and {list(b.shape)} are not [batch, n, k] and [batch, k, m]")
    return a @ b


def argmax(X, axis=-1, *, dim=None):
    """Tensor.argmax of an array: the place of the largest element along an axis (also: dim), the last one."""
    return as_tensor(X).argmax(axis if dim is None else dim)


def _repeated(X, before, count, behind, shape):
    """`shape`, made of X as [before, behind] with each row `count` times."""
    return X.reshape(before, 1, behind).expand(before, count, behind).reshape(shape)


def repeat_interleave(X, repeats, dim=0):
    """Each item of a dimension `repeats` times: [3, 2] gives [3, 3, 2, 2]."""
    X = as_tensor(X)
    shape = X.shape
    if not -len(shape) <= integer(dim, "dim") < len(shape):
        raise _rapt.ShapeError(f"repeat_interleave: {list(shape)} has no dimension {dim}")
    dim = range(len(shape))[dim]
    repeats, = _sizes_of((repeats,), "repeats")
    return _repeated(X, _count(shape[:dim + 1]), repeats, _count(shape[dim + 1:]),
                     (*shape[:dim], shape[dim] * repeats, *shape[dim + 1:]))


# ---- methods ------------------------------------------------------------------------------------------------------------


def _view(self, *shape):
    """reshape by PyTorch's older name: the elements of a tensor are always in order."""
    return self.reshape(*shape)


def _size(self, dim=None):
    """The shape, or the size of one dimension."""
    return self.shape if dim is None else self.shape[dim]


def _dim(self):
    """The number of dimensions."""
    return len(self.shape)


def _numel(self):
    """The number of elements."""
    return _count(self.shape)


def _contiguous(self):
    """The tensor itself: its elements are always in order."""
    return self


def _masked_fill(self, mask, value):
    """`value` where the mask is not 0: a tensor or array of this shape, or one that is repeated to it as by +. An element that
    is replaced gets no gradient; in a pass it must be finite."""
    if isinstance(mask, bool):
        raise TypeError("masked_fill: the mask is a bool. The == of tensors says whether they are one object: use eq()")
    return _rapt.masked_fill(self, mask, value)


def _eq(self, other):
    """1 where the finite elements are equal, and 0 elsewhere: a mask. == says whether two names are one tensor."""
    difference = self.detach() - (other.detach() if isinstance(other, _rapt.Tensor) else other)
    return _rapt.masked_fill(difference * 0 + 1, difference, 0.0)


def _repeat(self, *sizes):
    """The tensor this many times along each dimension; more sizes than dimensions add dimensions in front."""
    sizes = _sizes_of(_sizes(sizes), "a size")
    if len(sizes) < len(self.shape):
        raise _rapt.ShapeError(f"repeat: {len(sizes)} sizes for {len(self.shape)} dimensions")
    shape = [1] * (len(sizes) - len(self.shape)) + list(self.shape)
    if _count(shape) * _count(sizes) > 1 << 40: # before the first axis takes memory
        raise _rapt.ShapeError(f"repeat: {_count(shape) * _count(sizes)} elements are more than 2^40")
    result = self
    for axis, times in enumerate(sizes):
        before, behind = _count(shape[:axis]), _count(shape[axis:])
        shape[axis] *= times
        result = _repeated(result, before, times, behind, shape)
    return result


def _max(self):
    """The largest element."""
    flat = self.reshape(-1)
    return flat[flat.argmax()]


def _min(self):
    """The smallest element."""
    flat = self.reshape(-1)
    return flat[(-flat).argmax()]


for _name, _method in (("view", _view), ("size", _size), ("dim", _dim), ("numel", _numel), ("contiguous", _contiguous),
                       ("masked_fill", _masked_fill), ("eq", _eq), ("repeat", _repeat), ("max", _max), ("min", _min)):
    _method.__name__ = _name
    _method.__qualname__ = f"Tensor.{_name}"
    setattr(_rapt.Tensor, _name, _method)
