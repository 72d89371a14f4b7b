"""rapt.nn: the modules of the book "Dive into Deep Learning", chapter 11, by the book's names, with backward passes.

    from rapt import nn, optim
    net = nn.TransformerEncoder(200, 24, 48, 8, 2, 0.5)
    trainer = optim.Adam(net.parameters(), lr=0.001)
    with nn.grad():
        loss = net(ids, valid_lens).mean()
        loss.backward()
    trainer.step()
    trainer.zero_grad()

Everything is computed by the C library, with the same bytes on every machine and any number of threads (set_num_threads; one
unless asked). Inputs are Tensors, arrays of NumPy or PyTorch, or nested lists; results are Tensors, which NumPy and PyTorch read
in place. A tensor never changes; only parameters do, by an optimizer or where NumPy writes them.
"""
from ._nn_heatmaps import show_heatmaps
from ._nn_layers import (AdditiveAttention, AddNorm, DotProductAttention, Dropout, Embedding, LayerNorm, LazyLinear, Linear,
                         MultiHeadAttention, PositionalEncoding, PositionWiseFFN, ReLU, cross_entropy, masked_softmax)
from ._nn_models import from_model, to_model
from ._nn_module import Module, ModuleList, Sequential, Tape, as_tensor, grad, observe
from ._nn_transformer import (EncoderDecoder, TransformerDecoder, TransformerDecoderBlock, TransformerEncoder,
                              TransformerEncoderBlock)
from ._nn_tensors import (arange, argmax, bmm, cos, cosine_similarity, draw, full, matmul, norm, ones, randint, randn,
                          repeat_interleave, sin, sqrt, stack, tril, triu, zeros)
from ._arguments import tuple_of
from ._rapt import Parameter, Tensor
from . import _rapt

__all__ = ["AddNorm", "AdditiveAttention", "DotProductAttention", "Dropout", "Embedding", "EncoderDecoder", "LayerNorm",
           "LazyLinear", "Linear", "Module", "ModuleList", "MultiHeadAttention", "Parameter", "PositionWiseFFN",
           "PositionalEncoding", "ReLU", "Sequential", "Tape", "Tensor", "TransformerDecoder", "TransformerDecoderBlock",
           "TransformerEncoder", "TransformerEncoderBlock", "arange", "argmax", "bmm", "cat", "concat", "cos",
           "cosine_similarity", "cross_entropy", "draw", "exp", "from_model", "full", "get_num_threads", "grad", "log",
           "masked_softmax", "matmul", "norm", "observe", "ones", "randint", "randn", "relu", "repeat_interleave", "seed",
           "set_num_threads", "set_printoptions", "show_heatmaps", "sin", "softmax", "sqrt", "stack", "tanh", "tensor",
           "to_model", "tril", "triu", "zeros"]


def tensor(data, *, requires_grad=False):
    """A tensor with a copy of the numbers of an array or nested lists, of at most 4 dimensions. With requires_grad=True,
    backward() gives it a gradient."""
    return _rapt.tensor(data, requires_grad)


def concat(tensors, axis=0):
    """The tensors one after the other along an axis; their other dimensions are equal."""
    return _rapt.concat(tuple_of(tensors, "tensors", "a list of tensors"), axis)


def cat(tensors, dim=0, *, axis=None):
    """concat by PyTorch's name."""
    return concat(tensors, dim if axis is None else axis)


def relu(X):
    """max(0, x), elementwise."""
    return as_tensor(X).relu()


def tanh(X):
    """tanh x, elementwise."""
    return as_tensor(X).tanh()


def exp(X):
    """e^x, elementwise."""
    return as_tensor(X).exp()


def log(X):
    """ln x, elementwise."""
    return as_tensor(X).log()


def softmax(X, axis=-1, *, dim=None):
    """Softmax over an axis (also: dim)."""
    return as_tensor(X).softmax(axis if dim is None else dim)


def seed(value):
    """Sets what random numbers depend on, 0 at first: parameters of modules that are made from here on, and the dropout of
    passes, which are counted from here."""
    _rapt.seed(value)


def set_num_threads(count):
    """Computes later passes in `count` threads, 1 to 256. The results do not depend on it; small tensors are faster with one."""
    _rapt.set_threads(count)


def get_num_threads():
    """The number of threads of later passes; 1 unless set_num_threads was called."""
    return _rapt.threads()


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None):
    """How print(x) prints arrays and tensors, like torch.set_printoptions; None leaves an option as it is.

    precision  digits after the point (4)
    threshold  a tensor with more elements is summarized: the ends of each dimension, with dots between them (1000)
    edgeitems  items at each end (3)
    linewidth  columns of text (80)
    """
    _rapt.set_printoptions(precision, threshold, edgeitems, linewidth)
