#!/usr/bin/env python3
"""Translating with a Marian folder, in turns with CTranslate2 in fp32 or int8: batches of 32 and single sentences, greedily and with a
beam of 4. The seconds of both, their ratio, and rapt's CPU time; in fp32 both must write the same tokens. And the rate of rapt's matrix
products over all of that time, and its share of the peak that `rapt-bench` measures of the multiply-adds of these threads.

    bench/make_hub_shape.py marian F32 DIR
    python bench/translate.py DIR TEXT [--lines 64] [--single 4] [--rounds 3] [--threads 2]
                               [--weights fp32 --type float32] [--json]

Needs ctranslate2 and transformers (made with 4.8.5 and 5.23.0), and a build in build/. Every translation has exactly the
max_length of the folder. TEXT has a sentence a line, or a pair, of which the part before the tab counts.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import ctranslate2
from ctranslate2.converters import TransformersConverter

from turns import Figure, in_turns, print_json

ROOT = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("text")
parser.add_argument("--lines", type=int, default=64)
parser.add_argument("--single", type=int, default=4, help="lines that are translated one by one")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--weights", default="fp32", help="rapt's: fp32, q8_0, q4_0")
parser.add_argument("--type", default="float32", help="CTranslate2's: float32, int8")
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
ids = json.loads((options.folder / "vocab.json").read_text())
words = {number: word for word, number in ids.items()}
length = json.loads((options.folder / "generation_config.json").read_text())["max_length"] - 1


def multiply_adds(known, beam):
    """Of the matrix products with weights: each source token once, each new token in every beam. Attention is left out."""
    config = json.loads((options.folder / "config.json").read_text())
    d, vocab = config["d_model"], config["vocab_size"]
    sources, targets = (sum(len(line[side]) + 1 for line in known) for side in ("source", "target"))
    encoder = config["encoder_layers"] * (4 * d * d + 2 * d * config["encoder_ffn_dim"])
    of_source = config["decoder_layers"] * 2 * d * d # keys and values of cross-attention
    decoder = config["decoder_layers"] * (6 * d * d + 2 * d * config["decoder_ffn_dim"]) + d * vocab
    return sources * (encoder + of_source) + targets * beam * decoder


def measured_peak():
    """GFLOP/s."""
    command = [ROOT / "build/rapt-bench", "kernels", "--json", "--case", "2048x512x512", "--threads", str(options.threads)]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(out.splitlines()[-1])["peak"]


class Rapt:
    def __init__(self, work, text, beam, batch):
        command = [work / "translate_lines", options.folder, text, str(beam), str(batch), str(options.threads),
                   options.weights]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.loaded = json.loads(self.process.stdout.readline())

    def run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def peer_run(translator, sources, beam, batch):
    """Seconds, and the ids of all translations."""
    start, out = time.perf_counter(), []
    for portion in [sources] if batch > 1 else [[source] for source in sources]:
        out += translator.translate_batch(portion, max_batch_size=batch, beam_size=beam, min_decoding_length=length,
                                          max_decoding_length=length)
    return time.perf_counter() - start, [[ids[word] for word in result.hypotheses[0]] for result in out]


def compare(work, translator, lines, beam, batch, peak):
    text = work / "text"
    text.write_text("".join(line + "\n" for line in lines))
    rapt = Rapt(work, text, beam, batch)
    known = rapt.loaded["lines"]
    sources = [[words[number] for number in line["source"]] + ["</s>"] for line in known]
    _, written = peer_run(translator, sources, beam, batch)
    runs = in_turns(options.rounds, rapt=rapt.run, peer=lambda: peer_run(translator, sources, beam, batch)[0])
    rapt.process.communicate()
    ours, theirs = runs["rapt"], runs["peer"]
    same = sum(line["target"] == other for line, other in zip(known, written))
    tokens = sum(len(line["target"]) for line in known)
    if options.json:
        return Figure(f"batch {batch}, beam {beam}", "tokens/s", [tokens / run["seconds"] for run in ours],
                      [tokens / time for time in theirs], f"CTranslate2 {ctranslate2.__version__}")
    own, peer = statistics.median(run["seconds"] for run in ours), statistics.median(theirs)
    rate = 2e-9 * multiply_adds(known, beam) / own
    print(f"beam {beam}, batch {batch:2}: {tokens} tokens, {own:.3f} s ({tokens / own:.0f} tokens/s, CPU "
          f"{statistics.median(run['cpu'] for run in ours):.3f} s, {rate:.0f} GFLOP/s, {rate / peak:.0%} of the peak); "
          f"CTranslate2 {peer:.3f} s ({tokens / peer:.0f} tokens/s); {peer / own:.2f} times; {same} of {len(known)} translations "
          "equal", flush=True)


def main():
    lines = [line.split("\t")[0] for line in open(options.text, encoding="utf8").read().splitlines()][:options.lines]
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        subprocess.run(["cc", "-O2", "-std=gnu11", f"-I{ROOT}/include", "-o", work / "translate_lines",
                        ROOT / "bench/translate_lines.c", ROOT / "build/librapt.so", f"-Wl,-rpath,{ROOT}/build"], check=True)
        TransformersConverter(str(options.folder)).convert(str(work / "ct2"))
        translator = ctranslate2.Translator(str(work / "ct2"), device="cpu", compute_type=options.type,
                                            intra_threads=options.threads)
        peak = measured_peak()
        figures = [compare(work, translator, some, beam, batch, peak)
                   for batch, some in ((32, lines), (1, lines[:options.single])) for beam in (1, 4)]
    if options.json:
        print_json(figures)


main()
