"""The layers: what chapter 11 of the book takes from its framework, and its parts of a Transformer block."""
from math import sqrt

from . import _rapt
from ._arguments import integer, is_integer, number, shape_of
from ._nn_module import Module, as_tensor, running


def _size(value, name):
    value = integer(value, name)
    if value < 1:
        raise _rapt.InvalidValueError(f"{name} is {value}; it must be 1 or more")
    return value


def _probability(value):
    value = number(value, "dropout")
    if not 0 <= value < 1:
        raise _rapt.InvalidValueError(f"dropout is {value:g}; it must be 0 or more and below 1")
    return value


def masked_softmax(X, valid_lens=None):
    """Softmax over the last axis, where only the first keys are valid: X [batch, queries, keys] or [batch, heads, queries, keys],
    valid_lens [batch], [batch, queries] or None. The others get exactly 0; a query without keys gets zeros. A length above the
    number of keys means all of them, below 0 none. TypeError: valid_lens are bools, as in a mask: see Tensor.masked_fill."""
    return _rapt.masked_softmax(as_tensor(X), valid_lens)


def cross_entropy(logits, labels, valid_lens=None, label_smoothing=0.0, *, normalizer=0.0):
    """The mean of -log softmax(logits)[label] over the positions that count: logits [batch, time, classes] for labels
    [batch, time], or [n, classes] for [n]. A tensor of one element.

    valid_lens       [batch]: only the first positions of each row count
    label_smoothing  e: the target is 1-e at the label, plus e over the number of classes everywhere
    normalizer       the sum of the losses is divided by it instead of by the number of positions, unless it is 0
    """
    return _rapt.cross_entropy(as_tensor(logits), labels, valid_lens, label_smoothing, normalizer)


class Linear(Module):
    """y = x W^T + b: x [..., num_inputs] gives [..., num_outputs]. weight [num_outputs, num_inputs] starts Xavier uniform, bias
    [num_outputs] uniform up to 1/sqrt(num_inputs)."""
    _drawing = ("xavier", 0.02, None)  # init, std and name of reset_parameters

    def __init__(self, num_inputs, num_outputs, bias=True):
        super().__init__()
        self.num_outputs = _size(num_outputs, "num_outputs")
        self.weight = self.bias = None
        self._has_bias = bias
        self._make(_size(num_inputs, "num_inputs"))

    def _make(self, num_inputs):
        self.weight, self.bias = self._drawn(num_inputs)

    def _drawn(self, num_inputs):
        """A new weight, and a bias or None."""
        init, std, name = self._drawing
        uniform = ("uniform", 1 / sqrt(num_inputs))
        weight = {"xavier": ("xavier", 1.0), "pytorch": uniform, "gpt2": ("normal", std), "zeros": ("zeros", 1.0)}[init]
        bias = uniform if init in ("xavier", "pytorch") else ("zeros", 1.0)
        names = (None, None) if name is None else (f"{name}weight", f"{name}bias")
        return (_rapt.parameter((self.num_outputs, num_inputs), *weight, names[0]),
                _rapt.parameter((self.num_outputs,), *bias, names[1]) if self._has_bias else None)

    def _reset(self, init, std):
        self._drawing = (init, std, self._name and f"{self._name}.")
        if self.weight is not None:
            weight, bias = self._drawn(self.weight.shape[1])
            self.weight.assign(weight)
            if bias is not None:
                self.bias.assign(bias)

    def forward(self, X):
        return _rapt.linear(as_tensor(X), self.weight, self.bias)

    def _describe(self):
        inputs = self.weight.shape[1] if self.weight is not None else "?"
        return f"{inputs}, {self.num_outputs}" + ("" if self._has_bias else ", bias=False")


class LazyLinear(Linear):
    """A Linear whose num_inputs is taken from its first input; until then it has no parameters."""

    def __init__(self, num_outputs, bias=True):
        Module.__init__(self)
        self.num_outputs = _size(num_outputs, "num_outputs")
        self.weight = self.bias = None
        self._has_bias = bias

    def materialize(self, X):
        """Makes the parameters for inputs like X."""
        if self.weight is None:
            if not X.shape:
                raise _rapt.ShapeError("linear: the input has no dimensions")
            self._make(X.shape[-1])
        return self

    def _make_lazy(self, arrays):
        if self.weight is not None or arrays["weight"] is None or len(arrays["weight"].shape) != 2:
            return False
        self._make(arrays["weight"].shape[1])
        return True

    def forward(self, X):
        X = as_tensor(X)
        return super(LazyLinear, self.materialize(X)).forward(X)


class Embedding(Module):
    """A table of vectors, weight [num_embeddings, embedding_dim], at first N(0, 1): ids [batch, time] give
    [batch, time, embedding_dim], [time] gives [time, embedding_dim].

    padding_idx         this row starts as zeros and gets no gradient
    max_norm            rows that are looked up and are longer are scaled down to this length (norm_type: the p of their norm)
    scale_grad_by_freq  a row's gradient is divided by the number of times that it occurs in the batch
    sparse              gradient and optimizer touch only the rows of the step
    """

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False):
        super().__init__()
        num_embeddings = _size(num_embeddings, "num_embeddings")
        self.weight = _rapt.parameter((num_embeddings, _size(embedding_dim, "embedding_dim")), "normal", 1.0)
        if padding_idx is not None:
            padding_idx = integer(padding_idx, "padding_idx")
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise _rapt.InvalidValueError(f"padding_idx is {padding_idx}; there are {num_embeddings} rows")
            padding_idx %= num_embeddings
        if max_norm is not None and not number(max_norm, "max_norm") > 0:
            raise _rapt.InvalidValueError(f"max_norm is {max_norm}; it must be above 0")
        self.padding_idx = padding_idx
        self._empty_padding()
        self._options = {"padding_idx": padding_idx, "max_norm": max_norm, "norm_type": norm_type,
                         "scale_grad_by_freq": scale_grad_by_freq}
        if sparse:
            self.weight._make_sparse()

    def _empty_padding(self):
        row = memoryview(self.weight)
        for i in range(self.weight.shape[1] if self.padding_idx is not None else 0):
            row[self.padding_idx, i] = 0.0

    def _reset(self, init, std):
        kind = {"gpt2": ("normal", std), "zeros": ("zeros", 1.0)}.get(init, ("normal", 1.0))
        self.weight.assign(_rapt.parameter(self.weight.shape, *kind, self.weight.name))
        self._empty_padding()

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, **options):
        """A table with these vectors, which stay as they are unless freeze=False."""
        vectors = as_tensor(embeddings)
        if len(vectors.shape) != 2:
            raise _rapt.ShapeError(f"embeddings are [rows, features], not {list(vectors.shape)}")
        module = cls(*vectors.shape, **options)
        module.weight.assign(vectors)
        module.weight.requires_grad = not freeze
        return module

    def forward(self, ids):
        return _rapt.embedding(self.weight, ids, self._options)

    def _add_positions(self, ids, scale, positions, first):
        """positions(self(ids) * scale, first) in one operation."""
        options = {**self._options, "scale": scale, "dropout": positions.p if positions.training else 0.0}
        return _rapt.embedding(self.weight, ids, options, positions._table, first)

    def _describe(self):
        return ", ".join(str(size) for size in self.weight.shape)


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the trailing dimensions `normalized_shape`."""

    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        shape = (normalized_shape,) if is_integer(normalized_shape) else shape_of(normalized_shape, "normalized_shape")
        self.normalized_shape = tuple(_size(size, "normalized_shape") for size in shape)
        self.eps = eps
        self.weight = _rapt.parameter(self.normalized_shape, "ones", 1.0)
        self.bias = _rapt.parameter(self.normalized_shape, "zeros", 1.0)

    def forward(self, X):
        return _rapt.layer_norm(as_tensor(X), self.weight, self.bias, self.eps)

    def _reset(self, init, std):
        self.weight.assign(_rapt.parameter(self.normalized_shape, "ones", 1.0))
        self.bias.assign(_rapt.parameter(self.normalized_shape, "zeros", 1.0))

    def _describe(self):
        return str(list(self.normalized_shape))


class Dropout(Module):
    """In training, zeroes each element with probability p and multiplies the others by 1/(1-p)."""

    def __init__(self, p=0.5):
        super().__init__()
        self.p = _probability(p)

    def forward(self, X):
        X = as_tensor(X)
        return _rapt.dropout(X, self.p) if self.training and self.p else X

    def _describe(self):
        return f"{self.p:g}"


class ReLU(Module):
    """max(0, x), elementwise."""

    def forward(self, X):
        return as_tensor(X).relu()


class PositionalEncoding(Module):
    """dropout(X + P[0 .. time - 1]) with P[i, 2j] = sin(i / 10000^(2j/d)), P[i, 2j+1] = cos(i / 10000^(2j/d)); X [batch, time,
    d].
    `forward(X, first)`: the rows of X begin at position `first`."""

    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.p = _probability(dropout)
        object.__setattr__(self, "_table", _rapt.positions(_size(max_len, "max_len"), _size(num_hiddens, "num_hiddens")))

    def _own_parameters(self):
        return iter(())  # the table is no parameter

    def _name_parts(self, prefix):
        self.__dict__["_name"] = prefix[:-1]
        self._table.name = prefix + "positions.table"

    @property
    def P(self):
        """The table, [1, max_len, num_hiddens]."""
        return self._table.detach().reshape(1, *self._table.shape)

    def forward(self, X, first=0):
        return _rapt.add_positions(as_tensor(X), self._table, first, self.p if self.training else 0.0)


class DotProductAttention(Module):
    """softmax(Q K^T / sqrt(d)) V under valid lengths, with dropout on the weights: queries [batch, queries, d],
    keys [batch, keys, d], values [batch, keys, dv]; valid_lens [batch], [batch, queries] or None."""

    def __init__(self, dropout):
        super().__init__()
        self.dropout = Dropout(dropout)
        self.attention_weights = None  # [batch, queries, keys] of the last call

    def forward(self, queries, keys, values, valid_lens=None):
        queries = as_tensor(queries)
        scores = queries @ as_tensor(keys).transpose(1, 2) / sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.dropout(self.attention_weights) @ as_tensor(values)


class AdditiveAttention(Module):
    """softmax(w_v tanh(W_q q + W_k k)) V under valid lengths (Bahdanau et al. 2014), with dropout on the weights: queries
    [batch, queries, dq], keys [batch, keys, dk], values [batch, keys, dv]. Written from operations, as in section 11.3."""

    def __init__(self, num_hiddens, dropout):
        super().__init__()
        self.W_k = LazyLinear(num_hiddens, bias=False)
        self.W_q = LazyLinear(num_hiddens, bias=False)
        self.w_v = Linear(num_hiddens, 1, bias=False)
        self.dropout = Dropout(dropout)
        self.attention_weights = None  # [batch, queries, keys] of the last call

    def forward(self, queries, keys, values, valid_lens=None):
        features = (self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1)).tanh()
        self.attention_weights = masked_softmax(self.w_v(features).squeeze(-1), valid_lens)
        return self.dropout(self.attention_weights) @ as_tensor(values)


class MultiHeadAttention(Module):
    """Attention in `num_heads` subspaces: queries [batch, queries, dq], keys [batch, keys, dk], values [batch, keys, dv] give
    [batch, queries, num_hiddens]; valid_lens [batch], [batch, queries] or None. The sizes of the inputs are taken from the first
    call.

    causal=True   query i attends only to keys 0 .. past + i
    need_weights  False: `attention_weights` is not kept, which saves memory and time

    attention_weights is [batch, heads, queries, keys] of the last call, before dropout; None before the first.
    """

    def __init__(self, num_hiddens, num_heads, dropout=0.0, bias=False, *, need_weights=True):
        super().__init__()
        num_hiddens, num_heads = _size(num_hiddens, "num_hiddens"), _size(num_heads, "num_heads")
        if num_hiddens % num_heads:
            raise _rapt.InvalidValueError(f"{num_heads} heads do not divide {num_hiddens} features")
        self.num_heads = num_heads
        self.need_weights = need_weights
        self.attention_weights = None
        self.p = _probability(dropout)
        self.W_q = LazyLinear(num_hiddens, bias=bias)
        self.W_k = LazyLinear(num_hiddens, bias=bias)
        self.W_v = LazyLinear(num_hiddens, bias=bias)
        self.W_o = Linear(num_hiddens, num_hiddens, bias=bias)

    def _name_parts(self, prefix):
        self.__dict__["_name"] = prefix[:-1]
        for name, linear in (("q", self.W_q), ("k", self.W_k), ("v", self.W_v), ("o", self.W_o)):  # the library's names
            linear._name_parts(f"{prefix}{name}.")

    def _make(self, query, key, value):
        """Makes the parameters for inputs of these sizes."""
        for linear, size in ((self.W_q, query), (self.W_k, key), (self.W_v, value)):
            linear._make(size)
        return self

    def forward(self, queries, keys, values, valid_lens=None, *, causal=False, past=0):
        queries, keys, values = as_tensor(queries), as_tensor(keys), as_tensor(values)
        if self.W_v.weight is None:
            for linear, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)):
                linear.materialize(x)
            if running.depth <= 1:
                self._give_names()
        parameters = tuple(p for m in (self.W_q, self.W_k, self.W_v, self.W_o) for p in (m.weight, m.bias))
        result, self.attention_weights = _rapt.multi_head_attention(
            self._name, queries, keys, values, parameters, self.num_heads, self.p if self.training else 0.0, valid_lens, causal,
            past, self.need_weights)
        if running.tape is not None and self.attention_weights is not None:
            running.tape.attention[self._name] = self.attention_weights
        return result

    def _describe(self):
        return f"{self.W_o.num_outputs}, {self.num_heads}, dropout={self.p:g}"


class PositionWiseFFN(Module):
    """dense2(relu(dense1(X))): X [..., d] gives [..., ffn_num_outputs]; d is taken from the first call.

    activation  "relu", or what the book has not: "gelu" (exact), "gelu_tanh", "silu" (also called swish)
    """

    def __init__(self, ffn_num_hiddens, ffn_num_outputs, *, activation="relu"):
        super().__init__()
        if not isinstance(activation, str):
            raise TypeError(f"activation must be a str, not {type(activation).__name__}")
        if activation not in ("relu", "gelu", "gelu_tanh", "silu"):
            raise _rapt.InvalidValueError(f"activation is {activation!r}; it can be: 'relu', 'gelu', 'gelu_tanh', 'silu'")
        self.activation = activation
        self.dense1 = LazyLinear(ffn_num_hiddens)
        self.dense2 = Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        X = as_tensor(X)
        if self.dense1.weight is None:
            self.dense1.materialize(X)
            if running.depth <= 1:
                self._give_names()
        return _rapt.ffn(X, self.dense1.weight, self.dense1.bias, self.dense2.weight, self.dense2.bias, self.activation)


class AddNorm(Module):
    """LayerNorm(X + dropout(Y)); X and Y have the same shape."""

    def __init__(self, norm_shape, dropout):
        super().__init__()
        self.p = _probability(dropout)
        self.ln = LayerNorm(norm_shape)

    def _name_parts(self, prefix):
        self.__dict__["_name"] = prefix[:-1]
        self.ln._name_parts(prefix)  # the library's names of a norm

    def forward(self, X, Y):
        return _rapt.add_norm(as_tensor(X), as_tensor(Y), self.ln.weight, self.ln.bias, self.ln.eps,
                              self.p if self.training else 0.0)
