#!/usr/bin/env python3
"""Decoding with quantized weights, in turns with llama.cpp on the same GGUF file, or with CTranslate2 on a folder of its own: new
tokens a second, prefill included, a step, and the prompt alone.

    bench/make_hub_shape.py gpt2 F32 DIR; build/rapt convert DIR --to gguf --weights q8_0 -o FILE.gguf
    python bench/quantized.py FILE.gguf [--batch 1] [--prompt 32] [--new 128] [--rounds 5] [--threads 2] [--weights T] [--json]
    ct2-transformers-converter --model DIR --output_dir CT2; python bench/quantized.py FILE.gguf --ctranslate2 CT2 --type int8

Needs llama-cpp-python (made with 0.3.36, built for this machine), with weights repacked where it does so (--plain: not), or
ctranslate2 (4.8.5), and a build in build/. Tokens are random, and both sides choose the likeliest next one. Rapt holds the types of the
file unless --weights says otherwise.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import numpy as np

from turns import Figure, in_turns, print_json

ROOT = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--prompt", type=int, default=32)
parser.add_argument("--new", type=int, default=128)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--seconds", type=float, default=2, help="of rapt's side of a round")
parser.add_argument("--weights")
parser.add_argument("--plain", action="store_true", help="llama.cpp without repacked weights")
parser.add_argument("--ctranslate2", metavar="DIR")
parser.add_argument("--type", default="int8", help="of CTranslate2's weights")
parser.add_argument("--json", action="store_true")
options = parser.parse_args()


class Rapt:
    def run(self):
        command = [ROOT / "build/rapt-bench", "decode", options.file, "--json", "--seconds", str(options.seconds), "--threads",
                   str(options.threads), "--batch", str(options.batch), "--prompt", str(options.prompt), "--time",
                   str(options.prompt + options.new)] + (["--weights", options.weights] if options.weights else [])
        out = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        return out["tok_s"], out["step_ms"], out["prompt_ms"], out["read_share"]


class LlamaCpp:
    def __init__(self):
        import llama_cpp
        self.api, self.name = llama_cpp, f"llama.cpp ({llama_cpp.__version__})"
        self.log = llama_cpp.llama_log_callback(lambda *_: None) # which must live as long as the library calls it
        llama_cpp.llama_log_set(self.log, None)
        llama_cpp.llama_backend_init()
        how = llama_cpp.llama_model_default_params()
        how.use_extra_bufts = not options.plain
        self.model = llama_cpp.llama_model_load_from_file(options.file.encode(), how)
        how = llama_cpp.llama_context_default_params()
        rows = options.batch
        how.n_ctx, how.n_batch, how.n_seq_max = rows * (options.prompt + options.new), 2048, rows
        how.n_threads = how.n_threads_batch = options.threads
        self.context = llama_cpp.llama_init_from_model(self.model, how)
        self.vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.batch = llama_cpp.llama_batch_init(rows * options.prompt, 0, 1)
        self.tokens = np.random.default_rng(1).integers(0, self.vocab, (rows, options.prompt))

    def feed(self, items):
        """(token, position, row, whether its logits count); the likeliest tokens behind those that count."""
        self.batch.n_tokens = len(items)
        for i, (token, position, row, counts) in enumerate(items):
            self.batch.token[i], self.batch.pos[i], self.batch.n_seq_id[i] = int(token), position, 1
            self.batch.seq_id[i][0], self.batch.logits[i] = row, counts
        if self.api.llama_decode(self.context, self.batch):
            raise SystemExit("llama.cpp: llama_decode failed")
        logits = [self.api.llama_get_logits_ith(self.context, i) for i, item in enumerate(items) if item[3]]
        return [int(np.ctypeslib.as_array(row, shape=(self.vocab,)).argmax()) for row in logits]

    def run(self):
        self.api.llama_memory_clear(self.api.llama_get_memory(self.context), True)
        rows, last, steps = range(options.batch), options.prompt - 1, []
        start = time.perf_counter()
        now = self.feed([(self.tokens[row, i], i, row, i == last) for row in rows for i in range(options.prompt)])
        prompt = time.perf_counter() - start
        for i in range(options.new - 1):
            begin = time.perf_counter()
            now = self.feed([(now[row], options.prompt + i, row, True) for row in rows])
            steps.append(time.perf_counter() - begin)
        seconds = time.perf_counter() - start
        return options.batch * options.new / seconds, 1e3 * statistics.median(steps), 1e3 * prompt


class CTranslate2:
    def __init__(self):
        import ctranslate2
        self.name = f"CTranslate2 {ctranslate2.__version__}"
        self.generator = ctranslate2.Generator(options.ctranslate2, compute_type=options.type, intra_threads=options.threads)
        words = json.loads((pathlib.Path(options.ctranslate2) / "vocabulary.json").read_text())
        ids = np.random.default_rng(1).integers(0, len(words), (options.batch, options.prompt))
        self.prompts = [[words[i] for i in row] for row in ids]

    def generate(self, count):
        start = time.perf_counter()
        self.generator.generate_batch(self.prompts, max_length=count, min_length=count, sampling_topk=1,
                                      include_prompt_in_result=False)
        return time.perf_counter() - start

    def run(self):
        prompt, seconds = self.generate(1), self.generate(options.new)
        return options.batch * options.new / seconds, 1e3 * (seconds - prompt) / (options.new - 1), 1e3 * prompt


def main():
    rapt, peer = Rapt(), CTranslate2() if options.ctranslate2 else LlamaCpp()
    peer.run()
    figures = in_turns(options.rounds, rapt=rapt.run, peer=peer.run)
    ours, theirs = ([list(values) for values in zip(*figures[side])] for side in ("rapt", "peer"))
    if options.json:
        print_json([Figure("text", "tokens/s", ours[0], theirs[0], peer.name),
                    Figure("step", "ms", ours[1], theirs[1], peer.name, more_is_better=False),
                    Figure("prompt", "ms", ours[2], theirs[2], peer.name, more_is_better=False),
                    Figure("share of the read rate", "%", [100 * share for share in ours[3]])])
        return
    ours, theirs = ([statistics.median(values) for values in side] for side in (ours, theirs))
    print(f"batch {options.batch}, prompt {options.prompt}: {ours[0]:.1f} tokens/s, {ours[1]:.2f} ms a step, prompt {ours[2]:.1f} ms, "
          f"{ours[3]:.0%} of the read rate; {peer.name} {theirs[0]:.1f} tokens/s, {theirs[1]:.2f} ms, {theirs[2]:.1f} ms; ratios "
          f"{ours[0] / theirs[0]:.2f}, {theirs[1] / ours[1]:.2f}, {theirs[2] / ours[2]:.2f}", flush=True)


main()
