"""The Transformer of section 11.7 of the book: its blocks, encoder and decoder."""
from math import sqrt

from ._nn_layers import AddNorm, Embedding, Linear, MultiHeadAttention, PositionalEncoding, PositionWiseFFN
from ._nn_module import Module, Sequential, as_tensor, running
from . import _rapt


def _attention(num_hiddens, num_heads, dropout, use_bias):
    return MultiHeadAttention(num_hiddens, num_heads, dropout, use_bias)._make(num_hiddens, num_hiddens, num_hiddens)


def _input(model, ids, first=0):
    """Embedding times sqrt(num_hiddens), positions, dropout: one operation as in the library, whose bits are others than
    two roundings give, unless a part is one of the user, or layer_summary lists the parts."""
    scale = sqrt(model.num_hiddens)
    if type(model.embedding) is Embedding and type(model.pos_encoding) is PositionalEncoding and running.summary is None:
        return model.embedding._add_positions(ids, scale, model.pos_encoding, first)
    return model.pos_encoding(model.embedding(ids) * scale, *((first,) if first else ()))


def _name_blocks(model, prefix):
    for i, block in enumerate(model.blks):
        block._name_anew(f"{prefix}{i}.")


def _reset_embedding(model, init):
    if init in ("xavier", "pytorch"):
        weight = model.embedding.weight
        weight.assign(_rapt.parameter(weight.shape, "normal", 1 / sqrt(model.num_hiddens), weight.name))


def _ffn(num_hiddens, ffn_num_hiddens):
    ffn = PositionWiseFFN(ffn_num_hiddens, num_hiddens)
    ffn.dense1._make(num_hiddens)
    return ffn


class TransformerEncoderBlock(Module):
    """Self-attention and a feed-forward network, each with AddNorm: X [batch, time, num_hiddens] gives the same shape; valid_lens
    [batch], [batch, time] or None."""

    def __init__(self, num_hiddens, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = _attention(num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(num_hiddens, dropout)
        self.ffn = _ffn(num_hiddens, ffn_num_hiddens)
        self.addnorm2 = AddNorm(num_hiddens, dropout)

    def forward(self, X, valid_lens=None):
        X = as_tensor(X)
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


class TransformerEncoder(Module):
    """Embedding times sqrt(num_hiddens), positions, `num_blks` blocks: ids [batch, time] give [batch, time, num_hiddens]."""

    def __init__(self, vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, dropout, use_bias=False, *, max_len=1000):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout, max_len)
        self.blks = Sequential(*(TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout, use_bias)
                                 for _ in range(num_blks)))

    @property
    def attention_weights(self):
        """Of each block: [batch, heads, queries, keys], or None before the first call."""
        return [block.attention.attention_weights for block in self.blks]

    def _name_for_drawing(self, prefix):
        _name_blocks(self, prefix)

    def _reset(self, init, std):
        _reset_embedding(self, init)

    def forward(self, X, valid_lens=None):
        X = _input(self, X)
        for block in self.blks:
            X = block(X, valid_lens)
        return X


class TransformerDecoderBlock(Module):
    """Causal self-attention, attention to the encoder's output, a feed-forward network, each with AddNorm. `i` is the number of
    the block. forward(X, state) returns (result, state), where state is [encoder's output, its valid lengths, the earlier inputs
    of each block or None]: X is the next positions after those."""

    def __init__(self, num_hiddens, ffn_num_hiddens, num_heads, dropout, i, *, use_bias=False):
        super().__init__()
        self.i = i
        self.attention1 = _attention(num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(num_hiddens, dropout)
        self.attention2 = _attention(num_hiddens, num_heads, dropout, use_bias)
        self.addnorm2 = AddNorm(num_hiddens, dropout)
        self.ffn = _ffn(num_hiddens, ffn_num_hiddens)
        self.addnorm3 = AddNorm(num_hiddens, dropout)

    def _name_for_drawing(self, prefix):
        self.attention1._name_anew(f"{prefix}self_attention.")
        self.attention2._name_anew(f"{prefix}cross_attention.")

    def forward(self, X, state):
        X = as_tensor(X)
        enc_outputs, enc_valid_lens, earlier = state
        past = 0 if earlier[self.i] is None else earlier[self.i].shape[1]
        key_values = X if earlier[self.i] is None else _rapt.concat((earlier[self.i], X), 1)
        earlier[self.i] = key_values
        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, causal=True, past=past))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


class TransformerDecoder(Module):
    """forward(ids [batch, time], state) returns (logits [batch, time, vocab_size], state): whole rows in training, or the next
    tokens one by one with the state that init_state and the call before gave.

    Two differences from the book's code, which is not what section 11.7 describes: tokens that are decoded one by one get the
    position that they have in the row, not 0; and a position never attends to later ones, also in eval().
    """

    def __init__(self, vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, dropout, *, use_bias=False, max_len=1000):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout, max_len)
        self.blks = Sequential(*(TransformerDecoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout, i, use_bias=use_bias)
                                 for i in range(num_blks)))
        self.dense = Linear(num_hiddens, vocab_size)

    def _name_parts(self, prefix):
        super()._name_parts(prefix)
        self.dense._name_parts(prefix + "output.")  # the library's name of the layer that makes logits

    def _name_for_drawing(self, prefix):
        _name_blocks(self, prefix)

    def _reset(self, init, std):
        _reset_embedding(self, init)

    def init_state(self, enc_outputs, enc_valid_lens=None):
        """The state before the first position: [encoder's output, its valid lengths, [None] * blocks]."""
        return [enc_outputs, enc_valid_lens, [None] * len(self.blks)]

    @property
    def attention_weights(self):
        """[self-attention of each block, attention to the encoder of each block]."""
        return [[block.attention1.attention_weights for block in self.blks],
                [block.attention2.attention_weights for block in self.blks]]

    def forward(self, X, state):
        earlier = state[2][0] if state[2] else None
        first = 0 if earlier is None else earlier.shape[1]
        X = _input(self, X, first)
        for block in self.blks:
            X, state = block(X, state)
        return self.dense(X), state


class EncoderDecoder(Module):
    """An encoder and a decoder: forward(enc_X, dec_X, enc_valid_lens) returns the decoder's logits."""

    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, enc_X, dec_X, *args):
        state = self.decoder.init_state(self.encoder(enc_X, *args), *args)
        return self.decoder(dec_X, state)[0]
