#!/usr/bin/env python3
"""Write tests/golden/*.safetensors: what PyTorch computes for every module, for tests/golden/test_*.c to compare with.

For whoever changes a module's definition or adds one. Not needed to build or test: the files are in the project.

    python3 tools/make_golden.py [-o FOLDER] [FILE...]     needs torch, numpy, safetensors and gguf; a few seconds
    python3 tools/make_golden.py training                  writes one file only

Each file holds the cases of one module; a tensor is called CASE/KIND/NAME:

    config/NAME    a number (F64): heads, max_norm, ...
    in/NAME        an input: numbers (F32), tokens or valid lengths (I32), a mask with 1 for keep (U8)
    param/NAME     a parameter, under rapt's name
    out/NAME       what came out (F32; numbers that are not stored as tensors in rapt, F64)
    weights/out    the fixed weights w of the loss sum(out * w), where the case has no loss of its own
    din/NAME       the gradient of an input;  dparam/NAME  of a parameter. What is zero by mathematics (a key's bias:
                   softmax doesn't see it) is stored as zeros.

Inputs and parameters are float32 numbers; everything is computed in float64 and rounded to float32 at the end, so a
file is the definition and not somebody's rounding. The modules are in tools/golden_modules.py. Dropout is 0; no query
is masked completely, because there rapt differs on purpose (zeros).
Every case has its own random generator, keyed by its name: a new case changes no other.
"""
import argparse
import math
from pathlib import Path

import golden_kv
import golden_lm
import golden_muon
import golden_ops
import golden_pairs
import golden_sgd
import numpy as np
import torch
import torch.nn.functional as F
from golden_case import Case
from golden_modules import (FFN, AddNorm, Decoder, DecoderBlock, Encoder, EncoderBlock, MultiHeadAttention, Named,
                            Preprocessor, Transformer, check_decoder_block, check_encoder_block,
                            dot_product_attention, keep_mask, masked_loss, masked_softmax, position_table, same)
from safetensors.torch import save_file
from torch import nn

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden"


# ---------------------------------------------------------------- cases, one function a file

def linear(new):
    for name, bias, shape in (("bias", True, (2, 5, 7)), ("no_bias", False, (2, 5, 7)), ("wide", True, (3, 33)),
                              ("one_row", True, (1, 1, 6))):
        c = new(name)
        m = c.fill(nn.Linear(shape[-1], 11, bias))
        yield c.finish(m(c.input("x", *shape)), m)


def embedding(new):
    options = {"plain": {}, "padding": {"padding_idx": 3}, "max_norm": {"max_norm": 1.0},
               "max_norm_1": {"max_norm": 2.0, "norm_type": 1.0}, "max_norm_3": {"max_norm": 0.8, "norm_type": 3.0},
               "max_norm_inf": {"max_norm": 0.6, "norm_type": math.inf}, "by_frequency": {"scale_grad_by_freq": True},
               "all": {"padding_idx": 0, "max_norm": 0.9, "norm_type": 2.5, "scale_grad_by_freq": True},
               "sparse": {"sparse": True, "padding_idx": 2}}
    for name, o in options.items():
        c = new(name)
        m = c.fill(nn.Embedding(9, 6, **o))
        c.config(**o)
        c.finish(m(c.tokens("tokens", 9, 3, 8)), m)
        c.keep("out", "weight", m.weight)
        yield c
    for name, freeze in (("vectors", False), ("frozen", True)):
        c = new(name)
        vectors = c.normal(9, 6)
        c.config(freeze=freeze)
        c.keep("in", "vectors", vectors)
        m = nn.Embedding.from_pretrained(vectors.clone(), freeze=freeze)
        out = m(c.tokens("tokens", 9, 2, 4))
        if freeze:
            c.keep("out", "out", out)
        else:
            c.finish(out, m)
        yield c


def preprocessor(new):
    for name, d, first, scale in (("even", 8, 0, True), ("odd", 7, 0, True), ("later", 6, 5, True),
                                  ("unscaled", 9, 2, False), ("one_feature", 1, 0, True)):
        c = new(name)
        c.config(first=first, scale=scale)
        m = c.fill(Preprocessor(10, d, 20, scale))
        c.keep("out", "table", m.table)
        yield c.finish(m.look_up(c.tokens("tokens", 10, 2, 6), first), m)


def positions(new):
    for d in (5, 32):
        c = new(f"features_{d}")
        table = position_table(1000, d)
        c.keep("out", "first", table[:10])
        c.keep("out", "last", table[-10:])
        c.config(max_len=1000, first=500)
        x = c.input("x", 2, 4, d)
        yield c.finish(x + table[500:504])


def layer_norm(new):
    for name, dims, shape in (("one_dimension", 1, (2, 3, 16)), ("two_dimensions", 2, (3, 4, 5)),
                              ("three_dimensions", 3, (2, 3, 7)), ("wide", 1, (2, 1, 67)),
                              ("many_rows", 1, (2, 30, 5))):
        c = new(name)
        m = c.fill(Named("norm", nn.LayerNorm(shape[-dims:])))
        yield c.finish(m.norm(c.input("x", *shape, scale=2.0, mean=0.5)), m)
    c = new("eps_counts")
    m = c.fill(Named("norm", nn.LayerNorm(8)))
    yield c.finish(m.norm(c.input("x", 2, 3, 8, scale=0.003)), m)
    c = new("plain")
    yield c.finish(F.layer_norm(c.input("x", 2, 3, 10), (10,)))


def relu(new):
    c = new("relu")
    yield c.finish(torch.relu(c.input("x", 3, 7, 5)))


def add(new):
    """Shapes that are broadcast."""
    for name, a, b in [("example", (2, 10, 16), (1, 10, 16)), ("row", (2, 3, 5), (5,)), ("column", (4, 3, 5), (3, 1)),
                       ("both", (2, 1, 5), (3, 1)), ("four", (2, 1, 3, 1), (4, 1, 5)), ("number", (2, 3, 4), (1,))]:
        c = new(name)
        yield c.finish(c.input("a", *a) + c.input("b", *b))


def masks(c, batch, queries, keys, kind):
    """A mask of the kind, kept as inputs of case c."""
    how = {}
    if "lens" in kind:
        shape = (batch, queries) if "queries" in kind else (batch,)
        how["valid_lens"] = c.integers("valid_lens", c.rng.integers(1, keys + 1, shape))
    if "causal" in kind:
        how.update(causal=True, past=keys - queries)
        c.config(causal=True, past=keys - queries)
    if "keep" in kind:
        keep = c.rng.random((batch, queries if "queries" in kind else 1, keys)) < 0.6
        keep[..., 0] = True
        c.keep("in", "keep", keep, torch.uint8)
        how["keep"] = torch.tensor(keep)
    return keep_mask(batch, queries, keys, **how)


MASKS = ("none", "lens", "lens_queries", "causal", "keep", "keep_queries", "lens_causal_keep")


def masked_softmax_file(new):
    for kind in MASKS:
        c = new(kind)
        mask = masks(c, 2, 5, 9, kind)
        yield c.finish(masked_softmax(c.input("x", 2, 5, 9, scale=3.0), mask))
    c = new("heads_lens")
    mask = masks(c, 2, 4, 6, "lens")
    yield c.finish(masked_softmax(c.input("x", 2, 3, 4, 6, scale=3.0), mask[:, None]))


def attention(new):
    sizes = [(kind, kind, 2, 5, 9, 3, 4, 5) for kind in MASKS]
    sizes += [("one_head", "lens", 3, 4, 6, 1, 7, 2), ("long", "causal", 1, 70, 75, 2, 3, 4),
              ("one_query", "lens", 2, 1, 8, 2, 4, 4)]
    for name, kind, batch, queries, keys, heads, d, dv in sizes:
        c = new(name)
        c.config(heads=heads)
        mask = masks(c, batch, queries, keys, kind)
        q, k = c.input("q", batch, queries, heads * d), c.input("k", batch, keys, heads * d)
        out, weights = dot_product_attention(q, k, c.input("v", batch, keys, heads * dv), heads, mask)
        if name != "long":
            c.keep("out", "weights", weights)
        yield c.finish(out)


def multi_head_attention(new):
    for name, kind, sizes, heads, bias in (("book", "lens", (12, 12, 12, 12), 3, False),
                                           ("sizes", "lens_queries", (5, 7, 9, 8), 2, False),
                                           ("sizes_bias", "keep", (5, 7, 9, 8), 4, True),
                                           ("no_mask", "none", (6, 6, 6, 10), 5, True)):
        c = new(name)
        c.config(heads=heads)
        mask = masks(c, 2, 4, 6, kind)
        m = c.fill(MultiHeadAttention(*sizes, heads, bias))
        out = m(c.input("q", 2, 4, sizes[0]), c.input("k", 2, 6, sizes[1]), c.input("v", 2, 6, sizes[2]), mask)
        c.keep("out", "weights", m.weights)
        yield c.finish(out, m)
    c = new("self_causal")
    c.config(heads=2)
    mask = masks(c, 2, 6, 6, "causal")
    m = c.fill(MultiHeadAttention(8, 8, 8, 8, 2, False))
    x = c.input("x", 2, 6, 8)
    out = m(x, x, x, mask)
    c.keep("out", "weights", m.weights)
    yield c.finish(out, m)


def ffn(new):
    c = new("three_sizes")
    m = c.fill(FFN(6, 13, 9))
    yield c.finish(m(c.input("x", 2, 4, 6)), m)


def add_norm(new):
    for name, shape, pre in (("one_dimension", (12,), False), ("two_dimensions", (4, 6), False), ("pre", (12,), True)):
        c = new(name)
        c.config(pre=pre)
        x = c.input("x", 2, *([4] if len(shape) == 1 else []), *shape)
        m = c.fill(Named("norm", AddNorm(shape, pre)))
        if pre:     # the sublayer is relu, so that the norm before it matters
            yield c.finish(m.norm(x, torch.relu), m)
        else:
            y = c.input("y", *x.shape)
            yield c.finish(m.norm(x, lambda _: y), m)


def encoder_block(new):
    for name, bias, pre in (("post", False, False), ("post_bias", True, False), ("pre", True, True)):
        c = new(name)
        c.config(d_model=12, heads=3, ffn=20, bias=bias, pre=pre)
        x, lens = c.input("x", 2, 5, 12), c.integers("valid_lens", [3, 5])
        m = c.fill(EncoderBlock(12, 3, 20, bias, pre))
        mask = keep_mask(2, 5, 5, lens)
        out = m(x, mask)
        check_encoder_block(m, x, mask, out)
        yield c.finish(out, m)
    c = new("norm_shape")       # the book's norm_shape of two dimensions, over all of a sentence
    c.config(d_model=12, heads=3, ffn=20, bias=False, pre=False, norm_rows=5)
    m = EncoderBlock(12, 3, 20, False, False)
    m.norm1, m.norm2 = AddNorm([5, 12]), AddNorm([5, 12])
    x, lens = c.input("x", 2, 5, 12), c.integers("valid_lens", [3, 5])
    yield c.finish(c.fill(m)(x, keep_mask(2, 5, 5, lens)), m)


def decoder_block(new):
    for name, bias, pre in (("post", False, False), ("pre_bias", True, True)):
        c = new(name)
        c.config(d_model=12, heads=3, ffn=20, bias=bias, pre=pre)
        x, memory = c.input("x", 2, 5, 12), c.input("memory", 2, 7, 12)
        lens = c.integers("memory_lens", [7, 4])
        m = c.fill(DecoderBlock(12, 3, 20, bias, pre))
        mask, memory_mask = keep_mask(2, 5, 5, causal=True), keep_mask(2, 5, 7, lens)
        out = m(x, memory, mask, memory_mask)
        check_decoder_block(m, x, memory, mask, memory_mask, out)
        yield c.finish(out, m)


def stack_config(c, vocab, bias, pre, d=12, heads=3, ffn=20):
    """Keeps the sizes of a model, and gives them as Encoder and Decoder want them."""
    c.config(source_vocab=vocab[0], target_vocab=vocab[1], d_model=d, heads=heads, ffn=ffn, layers=2, max_positions=10,
             bias=bias, pre=pre)
    return d, heads, ffn, 2, 10, bias, pre


def encoder(new):
    for name, bias, pre in (("post", False, False), ("pre", True, True)):
        c = new(name)
        sizes = stack_config(c, (11, 11), bias, pre)
        m = c.fill(Named("encoder", Encoder(11, *sizes)))
        yield c.finish(m.encoder(c.tokens("tokens", 11, 3, 6), c.integers("valid_lens", [6, 2, 4])), m)


def decoder(new):
    for name, bias, pre in (("post", False, False), ("pre", True, True)):
        c = new(name)
        sizes = stack_config(c, (13, 13), bias, pre)
        memory = c.input("memory", 2, 6, 12)
        m = c.fill(Named("decoder", Decoder(13, *sizes)))
        yield c.finish(m.decoder(c.tokens("tokens", 13, 2, 5), memory, c.integers("valid_lens", [6, 3])), m)


def cross_entropy(new):
    for name, smoothing, by_steps in (("book", 0.0, True), ("mean", 0.0, False), ("smoothed", 0.1, False),
                                      ("smoothed_book", 0.3, True)):
        c = new(name)
        logits = c.input("logits", 3, 5, 19, scale=2.0)
        labels, lens = c.tokens("labels", 19, 3, 5), c.integers("label_lens", [5, 1, 3])
        c.gradients(masked_loss(c, logits, labels, lens, smoothing, by_steps))
        yield c


def transformer(new):
    for name, bias, pre, tied, smoothing in (("book", False, False, False, 0.0), ("tied_pre", True, True, True, 0.1)):
        c = new(name)
        vocab = (14, 14) if tied else (11, 13)
        sizes = stack_config(c, vocab, bias, pre)
        c.config(tied=tied)
        m = c.fill(Transformer(*vocab, *sizes, tied=tied))
        source, lens = c.tokens("source", vocab[0], 3, 6), c.integers("valid_lens", [4, 6, 2])
        logits = m(source, lens, c.tokens("target", vocab[1], 3, 5))
        c.keep("out", "out", logits)
        labels, label_lens = c.tokens("labels", vocab[1], 3, 5), c.integers("label_lens", [2, 5, 4])
        c.gradients(masked_loss(c, logits, labels, label_lens, smoothing, not tied), m)
        yield c


# ---------------------------------------------------------------- optimizer and training

def clip(parameters, theta):
    """The book's grad_clipping; gives the norm."""
    norm = math.sqrt(sum(float((p.grad ** 2).sum()) for p in parameters))
    for p in parameters:
        p.grad *= min(1, theta / norm)
    return norm


def adam_steps(c, parameters, optimizer, gradients):
    """Five steps of clipped gradients, which gradients(step) sets; keeps norms and parameters."""
    norms = []
    for step in range(5):
        optimizer.zero_grad()
        gradients(step)
        norms.append(clip(list(parameters.values()), 6.0))
        optimizer.step()
    c.keep("out", "norms", norms, torch.float64)
    for name, p in parameters.items():
        c.keep("out", name, p)
    return c


def adam_config(c, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0):
    c.config(lr=0.01, clip=6.0, steps=5, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)
    return {"lr": 0.01, "betas": (beta1, beta2), "eps": eps}


def adam(new):
    """Steps with given gradients: in/NAME0 that of NAME at step 0. Weight decay is on matrices only."""
    for name, o in (("plain", {}), ("other", {"beta1": 0.8, "beta2": 0.99, "eps": 1e-3}),
                    ("decay", {"weight_decay": 0.5})):
        c = new(name)
        parameters = {"matrix": c.normal(5, 7).requires_grad_(), "vector": c.normal(19).requires_grad_()}
        for key, p in parameters.items():
            c.keep("param", key, p)
        groups = [{"params": [p], "weight_decay": o.get("weight_decay", 0) if p.ndim == 2 else 0}
                  for p in parameters.values()]

        def given(step):
            for key, p in parameters.items():
                p.grad = c.normal(*p.shape, scale=2.0 ** (step - 2))
                c.keep("in", f"{key}{step}", p.grad)

        yield adam_steps(c, parameters, torch.optim.AdamW(groups, **adam_config(c, **o)), given)
    yield sparse_adam(new("sparse"))


def sparse_adam(c):
    """An embedding of which a step sees some rows only; in/loss0: the weights of the loss at step 0. SparseAdam adds
    eps before the bias correction and Adam (and rapt) after it; so small an eps makes no difference."""
    m = c.fill(nn.Embedding(12, 4, sparse=True))

    def looked_up(step):
        out = m(c.tokens(f"tokens{step}", 12 if step else 6, 2, 3))
        weights = c.normal(*out.shape, scale=2.0 ** (step - 2))
        c.keep("in", f"loss{step}", weights)
        (out * weights).sum().backward()
        m.weight.grad = m.weight.grad.coalesce()

    optimizer = torch.optim.SparseAdam(m.parameters(), **adam_config(c, eps=1e-12))
    return adam_steps(c, dict(m.named_parameters()), optimizer, looked_up)


STEPS, BATCHES = 10, 2


def book_loss(m, batches, step):
    source, lens, target, labels, label_lens = (x[step % BATCHES] for x in batches)
    logits = m(source, lens, target)
    each = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    return (each * (torch.arange(labels.shape[1]) < label_lens[:, None])).mean(1).sum()


def train(m, batches):
    """Ten steps as the book trains, on the batches in turn; gives losses and norms."""
    adam, losses, norms = torch.optim.Adam(m.parameters(), lr=0.005), [], []
    for step in range(STEPS):
        loss = book_loss(m, batches, step)
        adam.zero_grad()
        loss.backward()
        norms.append(clip(list(m.parameters()), 1.0))
        adam.step()
        losses.append(float(loss.detach()))
    return losses, norms


def random_batches(c, vocab, batch, source_time, target_time):
    """Labels repeat the source, so that there is something to learn; the target is the labels after a 1 for <bos>."""
    source = c.rng.integers(2, vocab, (BATCHES, batch, source_time))
    lens = c.rng.integers(2, source_time + 1, (BATCHES, batch))
    labels = source[..., :target_time]
    target = np.concatenate([np.ones_like(labels[..., :1]), labels[..., :-1]], -1)
    label_lens = np.minimum(lens, target_time)
    return [c.integers(name, x) for name, x in (("source", source), ("valid_lens", lens), ("target", target),
                                                ("labels", labels), ("label_lens", label_lens))]


def training(new):
    c = new("book")
    sizes = stack_config(c, (20, 20), False, False, d=16, heads=4, ffn=32)
    c.config(lr=0.005, clip=1.0, steps=STEPS)
    m = c.fill(Transformer(20, 20, *sizes))
    single = Transformer(20, 20, *sizes)
    single.load_state_dict(m.state_dict())
    batches = random_batches(c, 20, 4, 7, 6)
    losses, norms = train(m, batches)
    c.keep("out", "losses", losses, torch.float64)
    c.keep("out", "norms", norms, torch.float64)
    for name, p in m.named_parameters():
        c.keep("out", name, p)
    report_float32(single, batches, losses, m)
    yield c


def muon(new):
    yield from golden_muon.given(new)
    c = new("book")
    sizes = stack_config(c, (20, 20), False, False, d=16, heads=4, ffn=32)
    yield golden_muon.model(c, sizes, random_batches(c, 20, 4, 7, 6), book_loss)


def sgd(new):
    for name in golden_sgd.CASES:
        c = new(name)
        sizes = stack_config(c, (20, 20), False, False, d=8, heads=2, ffn=16)
        yield golden_sgd.model(c, sizes, random_batches(c, 20, 4, 7, 6), book_loss)


def report_float32(single, batches, losses, exact):
    """How far PyTorch in float32 is from PyTorch in float64 in the same run: what the test's bounds rest on."""
    for m in single.modules():
        if isinstance(m, Preprocessor):
            m.table = m.table.float()
    torch.set_default_dtype(torch.float32)
    found, _ = train(single.float(), batches)
    torch.set_default_dtype(torch.float64)
    loss = max(abs(a - b) / b for a, b in zip(found, losses))
    worst = max(float((a - b).detach().abs().max()) for a, b in zip(single.parameters(), exact.parameters()))
    print(f"training in float32: losses differ by {loss:.1e} of their size, parameters by {worst:.1e}; "
          f"losses {' '.join(f'{x:.2f}' for x in losses)}")


FILES = {"linear": linear, "embedding": embedding, "preprocessor": preprocessor, "positions": positions,
         "layer_norm": layer_norm, "relu": relu, "add": add, "masked_softmax": masked_softmax_file, "attention": attention,
         "multi_head_attention": multi_head_attention, "ffn": ffn, "add_norm": add_norm,
         "encoder_block": encoder_block, "decoder_block": decoder_block, "encoder": encoder, "decoder": decoder,
         "cross_entropy": cross_entropy, "transformer": transformer, "adam": adam, "training": training, "muon": muon, "sgd": sgd,
         **golden_ops.FILES, **golden_lm.FILES, **golden_kv.FILES, **golden_pairs.FILES}


def write(folder, name):
    tensors = {}
    for c in FILES[name](lambda case: Case(name, case)):
        tensors.update(c.tensors)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.safetensors"
    save_file(tensors, path, {"made_by": f"tools/make_golden.py, torch {torch.__version__.split('+')[0]}"})
    path.chmod(0o644)
    return path.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--out", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of {', '.join(FILES)}; default: all")
    args = parser.parse_args()
    unknown = set(args.files) - set(FILES)
    if unknown:
        parser.error(f"no such file: {', '.join(sorted(unknown))}")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    sizes = {name: write(args.out, name) for name in args.files or FILES}
    for name, size in sizes.items():
        print(f"{name + '.safetensors':30} {size:7} bytes")
    print(f"{'together':30} {sum(sizes.values()):7} bytes")


if __name__ == "__main__":
    main()
