"""The Transformer of "Dive into Deep Learning" 11.5 to 11.7 in PyTorch, under rapt's parameter names.

For tools/make_golden.py. Not a model to train with: no dropout, and every definition that torch has in one piece
(attention, encoder and decoder layers) is compared with torch's.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn


def same(ours, torchs):
    """Fails unless two definitions agree to rounding."""
    torch.testing.assert_close(ours, torchs, rtol=0, atol=1e4 * torch.finfo(ours.dtype).eps)


# ---------------------------------------------------------------- modules, from the book

def keep_mask(batch, queries, keys, valid_lens=None, causal=False, past=0, keep=None):
    """[batch, queries, keys], True where a query may look."""
    mask = torch.ones(batch, queries, keys, dtype=torch.bool)
    if valid_lens is not None:
        lens = valid_lens if valid_lens.ndim == 2 else valid_lens[:, None].expand(batch, queries)
        mask &= torch.arange(keys) < lens[..., None]
    if causal:
        mask &= torch.arange(keys) <= torch.arange(queries)[:, None] + past
    if keep is not None:
        mask &= keep.bool()
    assert mask.any(-1).all(), "a query sees nothing"
    return mask


def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1)


def dot_product_attention(q, k, v, heads, mask):
    """Of all heads; gives the result and the weights [batch, heads, queries, keys]."""
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    weights = masked_softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), mask[:, None])
    out = weights @ v
    same(out, F.scaled_dot_product_attention(q, k, v, mask[:, None]))
    return out.transpose(1, 2).flatten(-2), weights


class MultiHeadAttention(nn.Module):
    def __init__(self, query, key, value, hidden, heads, bias):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(size, hidden, bias) for size in (query, key, value))
        self.o = nn.Linear(hidden, hidden, bias)

    def forward(self, q, k, v, mask):
        out, self.weights = dot_product_attention(self.q(q), self.k(k), self.v(v), self.heads, mask)
        return self.o(out)


class FFN(nn.Module):
    def __init__(self, size, hidden, out):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(size, hidden), nn.Linear(hidden, out)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class AddNorm(nn.LayerNorm):
    """The residual connection round a sublayer, with the norm after it (as the book) or before the sublayer."""

    def __init__(self, shape, pre=False):
        super().__init__(shape)
        self.pre = pre

    def forward(self, x, sublayer):
        norm = super().forward
        return x + sublayer(norm(x)) if self.pre else norm(x + sublayer(x))


class EncoderBlock(nn.Module):
    def __init__(self, d, heads, ffn, bias=False, pre=False):
        super().__init__()
        self.attention = MultiHeadAttention(d, d, d, d, heads, bias)
        self.norm1 = AddNorm(d, pre)
        self.ffn = FFN(d, ffn, d)
        self.norm2 = AddNorm(d, pre)

    def forward(self, x, mask):
        x = self.norm1(x, lambda h: self.attention(h, h, h, mask))
        return self.norm2(x, self.ffn)


class DecoderBlock(nn.Module):
    def __init__(self, d, heads, ffn, bias=False, pre=False):
        super().__init__()
        self.self_attention = MultiHeadAttention(d, d, d, d, heads, bias)
        self.norm1 = AddNorm(d, pre)
        self.cross_attention = MultiHeadAttention(d, d, d, d, heads, bias)
        self.norm2 = AddNorm(d, pre)
        self.ffn = FFN(d, ffn, d)
        self.norm3 = AddNorm(d, pre)

    def forward(self, x, memory, mask, memory_mask):
        x = self.norm1(x, lambda h: self.self_attention(h, h, h, mask))
        x = self.norm2(x, lambda h: self.cross_attention(h, memory, memory, memory_mask))
        return self.norm3(x, self.ffn)


def position_table(rows, d):
    """Sines in even columns, cosines in odd ones; an odd d ends with a sine."""
    angle = torch.arange(rows)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    table = torch.zeros(rows, d)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()[:, :d // 2]
    return table


class Preprocessor(nn.Module):
    def __init__(self, vocab, d, max_len, scale=True):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.table = position_table(max_len, d)
        self.factor = math.sqrt(d) if scale else 1.0

    def look_up(self, tokens, first=0):
        return self.embedding(tokens) * self.factor + self.table[first:first + tokens.shape[1]]


class Stack(Preprocessor):
    """What encoder and decoder have in common: the input, numbered blocks, and in pre-norm a norm at the end."""

    def __init__(self, block, vocab, d, heads, ffn, layers, max_len, bias, pre):
        super().__init__(vocab, d, max_len)
        self.layers = layers
        for i in range(layers):
            self.add_module(str(i), block(d, heads, ffn, bias, pre))
        self.norm = nn.LayerNorm(d) if pre else nn.Identity()

    def run(self, tokens, *rest):
        x = self.look_up(tokens)
        for i in range(self.layers):
            x = self.get_submodule(str(i))(x, *rest)
        return self.norm(x)


class Encoder(Stack):
    def __init__(self, vocab, *sizes):
        super().__init__(EncoderBlock, vocab, *sizes)

    def forward(self, tokens, lens):
        return self.run(tokens, keep_mask(*tokens.shape, tokens.shape[1], lens))


class Decoder(Stack):
    def __init__(self, vocab, d, *sizes, shared=None):
        super().__init__(DecoderBlock, vocab, d, *sizes)
        if shared:
            self.embedding = shared
        else:
            self.output = nn.Linear(d, vocab)

    def forward(self, tokens, memory, lens):
        time = tokens.shape[1]
        mask = keep_mask(len(tokens), time, time, causal=True)
        x = self.run(tokens, memory, mask, keep_mask(len(tokens), time, memory.shape[1], lens))
        return self.output(x) if hasattr(self, "output") else F.linear(x, self.embedding.weight)


class Transformer(nn.Module):
    def __init__(self, source_vocab, target_vocab, *sizes, tied=False):
        super().__init__()
        self.encoder = Encoder(source_vocab, *sizes)
        self.decoder = Decoder(target_vocab, *sizes, shared=self.encoder.embedding if tied else None)

    def forward(self, source, lens, target):
        return self.decoder(target, self.encoder(source, lens), lens)


def masked_loss(c, logits, labels, lens, smoothing, by_steps):
    """The book's: cross-entropy of the positions that count, summed, over the steps of a row; or over their number."""
    mask = torch.arange(labels.shape[1]) < lens[:, None]
    each = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none", label_smoothing=smoothing) * mask
    nll = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none") * mask
    loss = each.mean(1).sum() if by_steps else each.sum() / mask.sum()
    if not by_steps:
        ignored = labels.masked_fill(~mask, -100)
        same(loss, F.cross_entropy(logits.flatten(0, 1), ignored.flatten(), label_smoothing=smoothing))
    c.config(label_smoothing=smoothing, by_steps=by_steps)
    c.keep("out", "loss", loss, torch.float64)
    c.keep("out", "nll", nll.sum(), torch.float64)
    c.keep("out", "tokens", mask.sum(), torch.float64)
    return loss


class Named(nn.Module):
    """Gives a module's parameters their names in a whole model."""

    def __init__(self, name, module):
        super().__init__()
        self.add_module(name, module)


# ---------------------------------------------------------------- the same in one piece in torch

def copy_attention(to, ours):
    to.in_proj_weight.data = torch.cat([ours.q.weight, ours.k.weight, ours.v.weight]).data
    to.out_proj.weight.data = ours.o.weight.data
    biased = ours.q.bias is not None
    to.in_proj_bias.data = torch.cat([m.bias if biased else m.weight[:, 0] * 0 for m in (ours.q, ours.k, ours.v)]).data
    to.out_proj.bias.data = (ours.o.bias if biased else ours.o.weight[:, 0] * 0).data


def copy_linear(to, ours):
    to.weight.data, to.bias.data = ours.weight.data, ours.bias.data


def check_encoder_block(block, x, mask, out):
    d, heads, ffn = x.shape[-1], block.attention.heads, block.ffn.dense1.out_features
    layer = nn.TransformerEncoderLayer(d, heads, ffn, 0, batch_first=True, norm_first=block.norm1.pre)
    copy_attention(layer.self_attn, block.attention)
    for theirs, ours in ((layer.linear1, block.ffn.dense1), (layer.linear2, block.ffn.dense2),
                         (layer.norm1, block.norm1), (layer.norm2, block.norm2)):
        copy_linear(theirs, ours)
    same(out, layer(x, src_key_padding_mask=~mask[:, 0]))


def check_decoder_block(block, x, memory, mask, memory_mask, out):
    d, heads, ffn = x.shape[-1], block.self_attention.heads, block.ffn.dense1.out_features
    layer = nn.TransformerDecoderLayer(d, heads, ffn, 0, batch_first=True, norm_first=block.norm1.pre)
    copy_attention(layer.self_attn, block.self_attention)
    copy_attention(layer.multihead_attn, block.cross_attention)
    for theirs, ours in ((layer.linear1, block.ffn.dense1), (layer.linear2, block.ffn.dense2),
                         (layer.norm1, block.norm1), (layer.norm2, block.norm2), (layer.norm3, block.norm3)):
        copy_linear(theirs, ours)
    same(out, layer(x, memory, tgt_mask=~mask[0], memory_key_padding_mask=~memory_mask[:, 0]))
