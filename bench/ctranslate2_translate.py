#!/usr/bin/env python3
"""A translation model of random weights in CTranslate2, for comparison with `rapt-bench decode --case a2`.

    python bench/ctranslate2_translate.py [--beam 1] [--threads 2] [--seconds 5]      needs ctranslate2

4 + 4 layers of 128 features, 10,000 words; 500 sentences of 8 to 20 tokens, 32 at a time, each translated into exactly 20
tokens in fp32. Prints one JSON object: of the median of all runs, `tok_s`. CT2_USE_MKL=1 and CT2_FORCE_CPU_ISA=AVX512 in the
environment choose its kernels.
"""
import argparse
import json
import random
import tempfile
import time

import ctranslate2
import numpy
from ctranslate2.specs import transformer_spec

VOCAB, WIDTH, HIDDEN, HEADS, LAYERS = 10000, 128, 256, 4, 4
SENTENCES, SHORTEST, LONGEST, BATCH = 500, 8, 20, 32
MARKS = ["<unk>", "<s>", "</s>"]

numbers = numpy.random.default_rng(1)


def weights(*shape):
    return numbers.normal(0, 0.05, shape).astype(numpy.float32)


def fill_linear(spec, outputs, inputs):
    spec.weight, spec.bias = weights(outputs, inputs), numpy.zeros(outputs, numpy.float32)


def fill_norm(spec):
    spec.gamma, spec.beta = numpy.ones(WIDTH, numpy.float32), numpy.zeros(WIDTH, numpy.float32)


def fill_attention(spec, sizes):
    fill_norm(spec.layer_norm)
    for linear, outputs in zip(spec.linear, sizes):
        fill_linear(linear, outputs, WIDTH)


def fill_ffn(spec):
    fill_norm(spec.layer_norm)
    fill_linear(spec.linear_0, HIDDEN, WIDTH)
    fill_linear(spec.linear_1, WIDTH, HIDDEN)


def make_model(folder):
    spec = transformer_spec.TransformerSpec.from_config((LAYERS, LAYERS), HEADS, pre_norm=False)
    spec.encoder.embeddings[0].weight = weights(VOCAB, WIDTH)
    spec.decoder.embeddings.weight = weights(VOCAB, WIDTH)
    fill_linear(spec.decoder.projection, VOCAB, WIDTH)
    for layer in spec.encoder.layer:
        fill_attention(layer.self_attention, (3 * WIDTH, WIDTH))
        fill_ffn(layer.ffn)
    for layer in spec.decoder.layer:
        fill_attention(layer.self_attention, (3 * WIDTH, WIDTH))
        fill_attention(layer.attention, (WIDTH, 2 * WIDTH, WIDTH))
        fill_ffn(layer.ffn)
    words = MARKS + ["w%d" % i for i in range(VOCAB - len(MARKS))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize()
    spec.save(folder)


def make_sentences():
    choose = random.Random(1)
    return [["w%d" % choose.randrange(VOCAB - len(MARKS)) for _ in range(choose.randint(SHORTEST, LONGEST))]
            for _ in range(SENTENCES)]


def measure(translator, sentences, beam):
    start = time.perf_counter()
    out = translator.translate_batch(sentences, max_batch_size=BATCH, beam_size=beam, min_decoding_length=LONGEST,
                                     max_decoding_length=LONGEST)
    return sum(len(result.hypotheses[0]) for result in out) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_model(folder)
        translator = ctranslate2.Translator(folder, device="cpu", compute_type="float32", intra_threads=options.threads)
    sentences = make_sentences()
    measure(translator, sentences[:2 * BATCH], options.beam)
    rates, end = [], time.perf_counter() + options.seconds
    while not rates or time.perf_counter() < end:
        rates.append(measure(translator, sentences, options.beam))
    print(json.dumps({"sys": "ctranslate2", "case": "a2", "beam": options.beam, "threads": options.threads,
                      "tok_s": round(sorted(rates)[len(rates) // 2]), "runs": len(rates)}))


main()
