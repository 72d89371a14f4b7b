"""Encoder-decoders with what came after the book's: RMS norm, SwiGLU and GELU, learned and rotary positions, grouped
queries, one norm for a block. In PyTorch, under rapt's parameter names; for tools/make_golden.py."""
import torch
import torch.nn.functional as F
from golden_lm import LEARNED, ROTARY, SWIGLU, SwiGLU, rotate
from golden_modules import keep_mask, masked_loss, masked_softmax, same
from torch import nn

GELU = 1                                            # rapt_ffn_kind


class Attention(nn.Module):
    """With fewer key-value heads, and rotary positions on request."""

    def __init__(self, o):
        super().__init__()
        d, self.heads, self.kv_heads = o["d_model"], o["heads"], o["kv_heads"]
        narrow = d // self.heads * self.kv_heads
        self.q, self.o = nn.Linear(d, d, o["bias"]), nn.Linear(d, d, o["bias"])
        self.k, self.v = nn.Linear(d, narrow, o["bias"]), nn.Linear(d, narrow, o["bias"])

    def forward(self, x, memory, mask, rotary=False):
        q, k, v = self.q(x), self.k(memory), self.v(memory)
        if rotary:
            q, k = rotate(q, self.heads), rotate(k, self.kv_heads)
        q, k, v = (h.unflatten(-1, (n, -1)).transpose(1, 2) for h, n in ((q, self.heads), (k, self.kv_heads),
                                                                        (v, self.kv_heads)))
        wide = [h.repeat_interleave(self.heads // self.kv_heads, 1) for h in (k, v)]
        out = masked_softmax(q @ wide[0].transpose(-1, -2) / q.shape[-1] ** 0.5, mask[:, None]) @ wide[1]
        same(out, F.scaled_dot_product_attention(q, k, v, mask[:, None], enable_gqa=True))
        return self.o(out.transpose(1, 2).flatten(-2))


class GELUNetwork(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, hidden), nn.Linear(hidden, d)

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))


def new_norm(o):
    return nn.RMSNorm(o["d_model"], 1e-5) if o["rms"] else nn.LayerNorm(o["d_model"])


class Block(nn.Module):
    """Of an encoder; with `cross`, of a decoder."""

    def __init__(self, o, cross):
        super().__init__()
        self.pre, self.rotary, self.cross = o["pre"], o["positions"] == ROTARY, cross
        if cross:
            self.self_attention, self.cross_attention = Attention(o), Attention(o)
        else:
            self.attention = Attention(o)
        self.ffn = (SwiGLU if o["ffn_kind"] == SWIGLU else GELUNetwork)(o["d_model"], o["ffn"])
        self.norm1 = new_norm(o)
        if not o["shared_norm"]:
            self.norm2 = new_norm(o)
            if cross:
                self.norm3 = new_norm(o)

    def add_norm(self, number, x, sublayer):
        norm = getattr(self, f"norm{number}", self.norm1)
        return x + sublayer(norm(x)) if self.pre else norm(x + sublayer(x))

    def forward(self, x, mask, memory=None, memory_mask=None):
        own = self.self_attention if self.cross else self.attention
        x = self.add_norm(1, x, lambda h: own(h, h, mask, self.rotary))
        if self.cross:
            x = self.add_norm(2, x, lambda h: self.cross_attention(h, memory, memory_mask))
        return self.add_norm(3 if self.cross else 2, x, self.ffn)


class Stack(nn.Module):
    def __init__(self, vocab, o, cross):
        super().__init__()
        self.o, d = o, o["d_model"]
        self.embedding = nn.Embedding(vocab, d)
        if o["positions"] == LEARNED:
            self.positions = nn.Embedding(o["max_positions"], d)
        for i in range(o["layers"]):
            self.add_module(str(i), Block(o, cross))
        if o["pre"]:
            self.norm = new_norm(o)

    def run(self, tokens, *rest):
        x = self.embedding(tokens) * self.o["d_model"] ** 0.5
        if self.o["positions"] == LEARNED:
            x = x + self.positions(torch.arange(tokens.shape[1]))
        for i in range(self.o["layers"]):
            x = self.get_submodule(str(i))(x, *rest)
        return self.norm(x) if self.o["pre"] else x


class Pair(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.encoder, self.decoder = Stack(o["source_vocab"], o, False), Stack(o["target_vocab"], o, True)
        if o["tied"]:
            self.decoder.embedding = self.encoder.embedding
        else:
            self.decoder.output = nn.Linear(o["d_model"], o["target_vocab"])

    def forward(self, source, lens, target):
        (batch, reading), writing = source.shape, target.shape[1]
        memory = self.encoder.run(source, keep_mask(batch, reading, reading, lens))
        x = self.decoder.run(target, keep_mask(batch, writing, writing, causal=True), memory,
                             keep_mask(batch, writing, reading, lens))
        return self.decoder.output(x) if hasattr(self.decoder, "output") else F.linear(x, self.encoder.embedding.weight)


def transformer_later(new):
    sizes = {"d_model": 12, "heads": 3, "ffn": 20, "layers": 2, "max_positions": 10, "source_vocab": 11}
    kinds = {"llama": {"kv_heads": 1, "pre": 1, "rms": 1, "ffn_kind": SWIGLU, "no_ffn_bias": 1, "positions": ROTARY,
                       "bias": 0, "tied": 0, "shared_norm": 0, "target_vocab": 13},
             "llama_post": {"kv_heads": 3, "pre": 0, "rms": 1, "ffn_kind": SWIGLU, "no_ffn_bias": 1, "positions": ROTARY,
                            "bias": 1, "tied": 0, "shared_norm": 1, "target_vocab": 13},
             "learned": {"kv_heads": 3, "pre": 0, "rms": 0, "ffn_kind": GELU, "no_ffn_bias": 0, "positions": LEARNED,
                         "bias": 1, "tied": 1, "shared_norm": 0, "target_vocab": 11}}
    for name, kind in kinds.items():
        c, o = new(name), {**sizes, **kind}
        c.config(**o)
        m = c.fill(Pair(o))
        source, lens = c.tokens("source", 11, 3, 6), c.integers("valid_lens", [4, 6, 2])
        logits = m(source, lens, c.tokens("target", o["target_vocab"], 3, 5))
        c.keep("out", "out", logits)
        labels, label_lens = c.tokens("labels", o["target_vocab"], 3, 5), c.integers("label_lens", [2, 5, 4])
        c.gradients(masked_loss(c, logits, labels, label_lens, 0.1, False), m)
        yield c


FILES = {"transformer_later": transformer_later}
