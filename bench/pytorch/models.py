"""The models of `rapt-bench train` in PyTorch: the d2l book's modules as the book writes them, and the same with what PyTorch
offers: one product for all projections of an input, and scaled_dot_product_attention. Each model gives the loss, so that all
of a forward pass can be compiled together."""
import math

import torch
from torch import nn
from torch.nn import functional


class BookAttention(nn.Module):
    def __init__(self, d, heads, dropout, crosses):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, keep):
        q, k, v = (w(t).unflatten(2, (self.heads, -1)).transpose(1, 2)
                   for w, t in ((self.q, x), (self.k, memory), (self.v, memory)))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
        weights = self.dropout(torch.softmax(scores.masked_fill(~keep, -1e6), dim=-1))
        return self.o((weights @ v).transpose(1, 2).flatten(2))


class FusedAttention(nn.Module):
    """`keep` is a mask, or None: each position sees those up to its own."""

    def __init__(self, d, heads, dropout, crosses, bias=True):
        super().__init__()
        self.heads, self.p = heads, dropout
        self.inputs = nn.ModuleList([nn.Linear(d, d, bias=bias), nn.Linear(d, 2 * d, bias=bias)] if crosses else
                                    [nn.Linear(d, 3 * d, bias=bias)])
        self.o = nn.Linear(d, d, bias=bias)

    def forward(self, x, memory, keep):
        parts = [self.inputs[0](x)] if len(self.inputs) == 1 else [self.inputs[0](x), self.inputs[1](memory)]
        q, k, v = (part.unflatten(2, (self.heads, -1)).transpose(1, 2)
                   for wide in parts for part in wide.split(x.shape[2], dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=keep, is_causal=keep is None,
                                                    dropout_p=self.p if self.training else 0)
        return self.o(y.transpose(1, 2).flatten(2))


class AddNorm(nn.Module):
    def __init__(self, d, dropout):
        super().__init__()
        self.dropout, self.norm = nn.Dropout(dropout), nn.LayerNorm(d)

    def forward(self, x, y):
        return self.norm(x + self.dropout(y))


class TranslationBlock(nn.Module):
    def __init__(self, c, crosses):
        super().__init__()
        attention = BookAttention if c.book else FusedAttention
        self.attention, self.norm1 = attention(c.width, c.heads, c.dropout, False), AddNorm(c.width, c.dropout)
        self.cross = attention(c.width, c.heads, c.dropout, True) if crosses else None
        self.norm2 = AddNorm(c.width, c.dropout) if crosses else None
        self.ffn = nn.Sequential(nn.Linear(c.width, c.ffn), nn.ReLU(), nn.Linear(c.ffn, c.width))
        self.norm3 = AddNorm(c.width, c.dropout)

    def forward(self, x, keep, memory=None, memory_keep=None):
        x = self.norm1(x, self.attention(x, x, keep))
        if self.cross:
            x = self.norm2(x, self.cross(x, memory, memory_keep))
        return self.norm3(x, self.ffn(x))


class Translator(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.case = c
        self.source = nn.Embedding(c.vocab, c.width)
        self.target = self.source if c.tied else nn.Embedding(c.vocab, c.width)
        angle = torch.arange(c.time)[:, None] / 10000 ** (torch.arange(0, c.width, 2) / c.width)
        self.register_buffer("positions", torch.stack((angle.sin(), angle.cos()), 2).flatten(1))
        self.dropout = nn.Dropout(c.dropout)
        self.encoder = nn.ModuleList(TranslationBlock(c, False) for _ in range(c.layers))
        self.decoder = nn.ModuleList(TranslationBlock(c, True) for _ in range(c.layers))
        self.output = nn.Linear(c.width, c.vocab, bias=not c.tied)
        if c.tied:
            self.output.weight = self.source.weight
            nn.init.normal_(self.source.weight, std=c.width ** -0.5)

    def embed(self, table, ids):
        return self.dropout(table(ids) * math.sqrt(self.case.width) + self.positions)

    def logits(self, source, source_lens, inputs):
        time = torch.arange(self.case.time)
        valid = (time < source_lens[:, None])[:, None, None, :]
        causal = time[None, :] <= time[:, None] if self.case.book else None
        memory = self.embed(self.source, source)
        for block in self.encoder:
            memory = block(memory, valid)
        x = self.embed(self.target, inputs)
        for block in self.decoder:
            x = block(x, causal, memory, valid)
        return self.output(x)

    def forward(self, source, inputs, labels, source_lens, target_lens):
        logits = self.logits(source, source_lens, inputs).flatten(0, 1).float()
        beyond = torch.arange(self.case.time) >= target_lens[:, None]
        return functional.cross_entropy(logits, labels.masked_fill(beyond, -100).flatten(), label_smoothing=self.case.smoothing)


class LanguageBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1, self.norm2 = (nn.LayerNorm(c.width, bias=c.bias) for _ in range(2))
        self.attention = FusedAttention(c.width, c.heads, c.dropout, False, c.bias)
        self.ffn = nn.Sequential(nn.Linear(c.width, c.ffn, bias=c.bias), nn.GELU(), nn.Linear(c.ffn, c.width, bias=c.bias))
        self.dropout = nn.Dropout(c.dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x), None, None))
        return x + self.dropout(self.ffn(self.norm2(x)))


class LanguageModel(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(c.vocab, c.width), nn.Embedding(c.context, c.width)
        for table in self.embedding, self.positions:
            nn.init.normal_(table.weight, std=0.02)
        self.dropout, self.norm = nn.Dropout(c.dropout), nn.LayerNorm(c.width, bias=c.bias)
        self.blocks = nn.Sequential(*(LanguageBlock(c) for _ in range(c.layers)))
        self.output = nn.Linear(c.width, c.vocab, bias=not c.tied)
        if c.tied:
            self.output.weight = self.embedding.weight

    def forward(self, inputs, labels):
        x = self.blocks(self.dropout(self.embedding(inputs) + self.positions.weight[:inputs.shape[1]]))
        return functional.cross_entropy(self.output(self.norm(x)).flatten(0, 1).float(), labels.flatten())
