"""Decoder-only language models in PyTorch under rapt's parameter names: GPT-2's, the sales textbook's, a Llama shape,
one with ALiBi (whose slopes need transformers).

For tools/make_golden.py, whose first lines say what is in a file. `FILES` names the golden files and what writes them.
"""
import math

import torch
import torch.nn.functional as F
from golden_modules import (FFN, MultiHeadAttention, copy_attention, copy_linear,
                            dot_product_attention, keep_mask, position_table, same)
from torch import nn

STEPS, BATCHES = 10, 3
RELU, GELU_TANH, SWIGLU = 0, 2, 3                   # rapt_ffn_kind
SINUSOIDAL, LEARNED, ROTARY, ALIBI = 0, 1, 2, 4     # rapt_positions_kind


def causal(x):
    return keep_mask(len(x), x.shape[1], x.shape[1], causal=True)


# ---------------------------------------------------------------- GPT-2

class GeluFFN(FFN):
    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x), approximate="tanh"))


class GPT2Block(nn.Module):
    def __init__(self, d, heads, ffn, bias):
        super().__init__()
        self.norm1 = nn.LayerNorm(d, bias=bias)
        self.attention = MultiHeadAttention(d, d, d, d, heads, bias)
        self.norm2 = nn.LayerNorm(d, bias=bias)
        self.ffn = GeluFFN(d, ffn, d)
        if not bias:
            self.ffn.dense1.bias = self.ffn.dense2.bias = None

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, causal(x))
        return x + self.ffn(self.norm2(x))


class GPT2(nn.Module):
    def __init__(self, vocab, layers, d, heads, ffn, context, bias=True):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocab, d), nn.Embedding(context, d)
        self.blocks = nn.ModuleList(GPT2Block(d, heads, ffn, bias) for _ in range(layers))
        self.norm = nn.LayerNorm(d, bias=bias)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)


def check_gpt2_block(block, x, out):
    """Against the layer that torch has in one piece."""
    layer = nn.TransformerEncoderLayer(x.shape[-1], block.attention.heads, block.ffn.dense1.out_features, 0,
                                       lambda h: F.gelu(h, approximate="tanh"), batch_first=True, norm_first=True)
    copy_attention(layer.self_attn, block.attention)
    for theirs, ours in ((layer.linear1, block.ffn.dense1), (layer.linear2, block.ffn.dense2),
                         (layer.norm1, block.norm1), (layer.norm2, block.norm2)):
        copy_linear(theirs, ours)
    same(out, layer(x, src_mask=~causal(x)[0]))


def gpt2_config(c, vocab=29, layers=2, d=16, heads=4, ffn=64, context=12, bias=True):
    c.config(vocab=vocab, layers=layers, d_model=d, heads=heads, kv_heads=0, ffn=ffn, context=context, pre=1, rms=0,
             ffn_kind=GELU_TANH, positions=LEARNED, tied=1, bias=bias, output_bias=0, shared_norm=0)
    return vocab, layers, d, heads, ffn, context, bias


def lm_gpt2(new):
    c = new("block")
    _, _, d, heads, ffn, _, _ = gpt2_config(c)
    m = c.fill(GPT2Block(d, heads, ffn, True))
    x = c.input("x", 2, 7, d)
    out = m(x)
    check_gpt2_block(m, x, out)
    yield c.finish(out, m)
    for name, bias in (("model", True), ("no_bias", False)):
        c = new(name)
        m = c.fill(GPT2(*gpt2_config(c, bias=bias)))
        yield c.finish(m(c.tokens("tokens", 29, 2, 11)), m)
    c = new("training")
    sizes = gpt2_config(c)
    yield training(c, lambda: GPT2(*sizes), 29, 12)


# ---------------------------------------------------------------- the sales textbook's, step by step as there

class Textbook(nn.Module):
    """One block; one layer norm, used after the attention and after the feed-forward network."""

    def __init__(self, vocab, d, heads, context):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(vocab, d)
        self.table = position_table(context, d)
        block = nn.Module()
        block.attention, block.ffn = nn.Module(), nn.Module()
        for name in "qkvo":
            setattr(block.attention, name, nn.Linear(d, d))
        block.norm1 = nn.LayerNorm(d)
        block.ffn.dense1, block.ffn.dense2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.blocks = nn.ModuleList([block])
        self.output = nn.Linear(d, vocab)

    def forward(self, tokens):
        block, (batch, time) = self.blocks[0], tokens.shape
        x = self.embedding(tokens) + self.table[:time]
        q, k, v = (getattr(block.attention, name)(x).reshape(batch, time, self.heads, -1).permute(0, 2, 1, 3)
                   for name in "qkv")
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        mask = torch.triu(torch.ones(time, time), diagonal=1).bool()
        out = F.softmax(scores.masked_fill(mask, -math.inf), dim=-1) @ v
        out = block.attention.o(out.transpose(1, 2).reshape(batch, time, -1)) + x
        first = block.norm1(out)
        out = block.ffn.dense2(torch.relu(block.ffn.dense1(first))) + first
        return self.output(block.norm1(out))


def textbook_config(c, vocab=31, d=16, heads=4, context=16):
    c.config(vocab=vocab, layers=1, d_model=d, heads=heads, kv_heads=0, ffn=4 * d, context=context, pre=0, rms=0,
             ffn_kind=RELU, positions=SINUSOIDAL, tied=0, bias=1, output_bias=1, shared_norm=1)
    return vocab, d, heads, context


def lm_seed(new):
    c = new("model")
    m = c.fill(Textbook(*textbook_config(c)))
    yield c.finish(m(c.tokens("tokens", 31, 4, 16)), m)
    c = new("training")
    sizes = textbook_config(c)
    yield training(c, lambda: Textbook(*sizes), 31, 16)


# ---------------------------------------------------------------- Llama: RMS norm, rotary, SwiGLU, grouped queries

def rotate(x, heads, base=10000.0):
    """Features j and j + d/2 of a head are a complex number, which position i turns by i / base^(2j/d)."""
    x = x.unflatten(-1, (heads, -1))
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[1])[:, None] / base ** (torch.arange(half) * 2 / x.shape[-1])
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)[:, None]
    return torch.cat([turned.real, turned.imag], -1).flatten(-2)


class GroupedAttention(nn.Module):
    def __init__(self, d, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        narrow = d // heads * kv_heads
        self.q, self.o = nn.Linear(d, d, False), nn.Linear(d, d, False)
        self.k, self.v = nn.Linear(d, narrow, False), nn.Linear(d, narrow, False)

    def forward(self, x):
        q, k, v = rotate(self.q(x), self.heads), rotate(self.k(x), self.kv_heads), self.v(x)
        groups = self.heads // self.kv_heads
        wide = [h.unflatten(-1, (self.kv_heads, -1)).repeat_interleave(groups, 2).flatten(-2) for h in (k, v)]
        out, _ = dot_product_attention(q, *wide, self.heads, causal(x))
        split = [h.unflatten(-1, (n, -1)).transpose(1, 2) for h, n in ((q, self.heads), (k, self.kv_heads),
                                                                      (v, self.kv_heads))]
        same(out, F.scaled_dot_product_attention(*split, is_causal=True, enable_gqa=True).transpose(1, 2).flatten(-2))
        return self.o(out)


class SwiGLU(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.gate, self.up, self.down = (nn.Linear(*size, False) for size in ((d, hidden), (d, hidden), (hidden, d)))

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class LlamaBlock(nn.Module):
    def __init__(self, d, heads, kv_heads, ffn, pre=True):
        super().__init__()
        self.pre = pre
        self.norm1, self.norm2 = nn.RMSNorm(d, 1e-5), nn.RMSNorm(d, 1e-5)
        self.attention = GroupedAttention(d, heads, kv_heads)
        self.ffn = SwiGLU(d, ffn)

    def forward(self, x):
        if not self.pre:
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.ffn(x))
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class Llama(nn.Module):
    def __init__(self, vocab, layers, d, heads, kv_heads, ffn):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(LlamaBlock(d, heads, kv_heads, ffn) for _ in range(layers))
        self.norm = nn.RMSNorm(d, 1e-5)
        self.output = nn.Linear(d, vocab, False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


def llama_config(c, vocab=29, layers=2, d=24, heads=6, kv_heads=2, ffn=40, context=12, pre=True):
    c.config(vocab=vocab, layers=layers, d_model=d, heads=heads, kv_heads=kv_heads, ffn=ffn, context=context, pre=pre,
             rms=1, ffn_kind=SWIGLU, positions=ROTARY, tied=0, bias=0, output_bias=0, shared_norm=0)
    return vocab, layers, d, heads, kv_heads, ffn


def lm_llama(new):
    for name, pre in (("block", True), ("block_post", False)):
        c = new(name)
        _, _, *sizes = llama_config(c, pre=pre)
        m = c.fill(LlamaBlock(*sizes, pre))
        yield c.finish(m(c.input("x", 2, 9, sizes[0])), m)
    c = new("model")
    m = c.fill(Llama(*llama_config(c)))
    yield c.finish(m(c.tokens("tokens", 29, 2, 12)), m)
    c = new("training")
    sizes = llama_config(c)
    yield training(c, lambda: Llama(*sizes), 29, 12)


# ---------------------------------------------------------------- ALiBi, with the slopes of transformers

def slopes_of(heads):
    """By BLOOM's code in fp32, which MPT's must agree with; the bias of key 1 is the slope."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
    slopes = build_alibi_tensor(torch.ones(1, 2), heads, torch.float32)[:, 0, 1]
    same(slopes.double(), -build_mpt_alibi_tensor(heads, 2)[:, 0, 0].double())
    return slopes.double()


class AlibiAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        for name in "qkvo":
            setattr(self, name, nn.Linear(d, d))
        self.register_buffer("slopes", slopes_of(heads), persistent=False)

    def forward(self, x):
        q, k, v = (getattr(self, name)(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for name in "qkv")
        place = torch.arange(x.shape[1])
        away = place - place[:, None]
        bias = (self.slopes[:, None, None] * away).masked_fill(away > 0, -math.inf)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        return self.o(out.transpose(1, 2).flatten(-2))


class AlibiBlock(GPT2Block):
    def __init__(self, d, heads, ffn):
        super().__init__(d, heads, ffn, True)
        self.attention = AlibiAttention(d, heads)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class Alibi(nn.Module):
    def __init__(self, vocab, layers, d, heads, ffn):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(AlibiBlock(d, heads, ffn) for _ in range(layers))
        self.norm = nn.LayerNorm(d)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)


def alibi_config(c, heads=6, vocab=29, layers=2, d=24, ffn=40, context=80):
    c.config(vocab=vocab, layers=layers, d_model=d, heads=heads, kv_heads=0, ffn=ffn, context=context, pre=1, rms=0,
             ffn_kind=GELU_TANH, positions=ALIBI, tied=1, bias=1, output_bias=0, shared_norm=0)
    return vocab, layers, d, heads, ffn


def lm_alibi(new):
    for name, heads, time in (("model", 6, 12), ("eight_heads", 8, 12), ("tiles", 3, 77)):
        c = new(name)
        m = c.fill(Alibi(*alibi_config(c, heads)))
        yield c.finish(m(c.tokens("tokens", 29, 2, time)), m)
    c = new("training")
    sizes = alibi_config(c, 3, ffn=44)
    yield training(c, lambda: Alibi(*sizes), 29, 12)


# ---------------------------------------------------------------- ten steps of AdamW

def train(m, tokens, labels, lr, decay, clip):
    """Decay on matrices only. Gives losses and the gradients' norms before clipping."""
    groups = [{"params": [p for p in m.parameters() if (p.ndim > 1) == matrix], "weight_decay": decay * matrix}
              for matrix in (True, False)]
    adam, losses, norms = torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), eps=1e-8), [], []
    for step in range(STEPS):
        loss = F.cross_entropy(m(tokens[step % BATCHES]).flatten(0, 1), labels[step % BATCHES].flatten())
        adam.zero_grad()
        loss.backward()
        norm = torch.linalg.vector_norm(torch.cat([p.grad.flatten() for p in m.parameters()]))
        for p in m.parameters():
            p.grad *= min(1, clip / float(norm))
        norms.append(float(norm))
        adam.step()
        losses.append(float(loss.detach()))
    return losses, norms


def keep_outcome(c, m, losses, norms):
    c.keep("out", "losses", losses, torch.float64)
    c.keep("out", "norms", norms, torch.float64)
    for name, p in m.named_parameters():
        # A key's bias has no gradient but rounding errors, which Adam makes as large as any other.
        if not name.endswith("attention.k.bias"):
            c.keep("out", name, p)


def training(c, make, vocab, time):
    how = {"lr": 0.003, "clip": 1.0}
    c.config(steps=STEPS, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1, **how)
    m, single = c.fill(make()), make()
    single.load_state_dict(m.state_dict())
    text = c.rng.integers(0, vocab, (BATCHES, 4, time + 1))
    tokens, labels = c.integers("tokens", text[..., :-1]), c.integers("labels", text[..., 1:])
    losses, norms = train(m, tokens, labels, decay=0.1, **how)
    keep_outcome(c, m, losses, norms)
    report_float32(single, tokens, labels, losses, norms, m, how)
    return c


def report_float32(single, tokens, labels, losses, norms, exact, how):
    """How far PyTorch in float32 is from PyTorch in float64 in the same run: what the test's bounds rest on."""
    if hasattr(single, "table"):
        single.table = single.table.float()
    torch.set_default_dtype(torch.float32)
    found, found_norms = train(single.float(), tokens, labels, decay=0.1, **how)
    torch.set_default_dtype(torch.float64)
    loss = max(abs(a - b) / b for a, b in zip(found, losses))
    norm = max(abs(a - b) / b for a, b in zip(found_norms, norms))
    pairs = zip(single.named_parameters(), exact.parameters())
    worst = max(float((a - b).detach().abs().max()) for (name, a), b in pairs if not name.endswith("attention.k.bias"))
    print(f"training in float32: losses differ by {loss:.1e} of their size, norms by {norm:.1e}, parameters by {worst:.1e}; "
          f"losses {' '.join(f'{x:.2f}' for x in losses)}")


FILES = {"lm_gpt2": lm_gpt2, "lm_seed": lm_seed, "lm_llama": lm_llama, "lm_alibi": lm_alibi}
