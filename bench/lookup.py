#!/usr/bin/env python3
"""Prompt lookup (`--lookup`) on and off in turns, on prompts that are cut out of a text: the texts must have the same bytes, tokens
and log-probabilities, and the time of one side is compared with the other's, prompt by prompt.

    python bench/lookup.py MODEL TEXT [--prompts 1000] [--characters 100] [--tokens 100] [--temperature T] [--lookup 16]
                                      [--weights q8_0] [--threads 2] [--groups 20]

Needs the Python package (`PYTHONPATH=build/python`). Without --temperature texts are greedy. Prompts are spread evenly over
the text. The ratio is tokens/s with lookup / without, of all
prompts, and its range over `--groups` groups of them.
"""
import argparse
import pathlib
import statistics
import sys
import time

import rapt

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("text", type=pathlib.Path)
parser.add_argument("--prompts", type=int, default=1000)
parser.add_argument("--characters", type=int, default=100)
parser.add_argument("--tokens", type=int, default=100)
parser.add_argument("--temperature", type=float)
parser.add_argument("--lookup", type=int, default=16)
parser.add_argument("--weights")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--groups", type=int, default=20)
options = parser.parse_args()
text = options.text.read_text()
# A model for each side, which keeps its generator from prompt to prompt.
sides = {n: rapt.Model.load(options.model, weights=options.weights, threads=options.threads) for n in (0, options.lookup)}
choice = {"greedy": True} if options.temperature is None else {"temperature": options.temperature, "top_k": 0}


def written(lookup, prompt, seed):
    start = time.perf_counter()
    got = sides[lookup].generate(prompt, max_tokens=options.tokens, seed=seed, lookup=lookup, **choice)
    return time.perf_counter() - start, (got.text, tuple(got.tokens), tuple(got.log_probs), got.finish_reason)


for lookup in sides:
    written(lookup, text[:options.characters], 1) # packs the weights
seconds = {lookup: [0.0] * options.groups for lookup in sides}
tokens = different = 0
for i in range(options.prompts):
    at = i * (len(text) - options.characters) // options.prompts
    found = []
    for lookup in sorted(sides, reverse=i % 2 == 1):
        took, result = written(lookup, text[at:at + options.characters], i + 1)
        seconds[lookup][i % options.groups] += took
        found.append(result)
    different += found[0] != found[1]
    tokens += len(found[0][1])
ratios = [off / on for off, on in zip(seconds[0], seconds[options.lookup])]
off, on = sum(seconds[0]), sum(seconds[options.lookup])
print(f"{options.prompts} prompts, {tokens} tokens, {different} texts differ")
print(f"tokens/s: {tokens / off:.0f} without, {tokens / on:.0f} with; ratio {off / on:.3f}, "
      f"groups {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
sys.exit(different > 0)
