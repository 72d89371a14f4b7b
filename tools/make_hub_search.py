#!/usr/bin/env python3
"""Write tests/golden/hub_search.json: what generate() of transformers finds with the models of tests/golden/hub, for
tests/decode/test_policy_search.c.

For whoever changes src/decode/policy_*. Not needed to build or test: the file is in the project.

    python3 tools/make_hub_search.py [-o FILE] [--compare]     needs torch and transformers 5

Each case has a model, settings as generation_config.json has them, a prompt, the most new tokens, and the hypotheses, best
first: their new ids, the end of text among them, and their scores ("sequences_scores"; of greedy search there are none). No
hypothesis is decided by noise: noise of 1e-4 on the scores of all tokens, three times, changes none. Texts end at different
lengths, if some of eight prompts make them. With --compare nothing is written; instead what this version of transformers finds
is compared with the file.
"""
import argparse
import json
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, GenerationConfig, LogitsProcessor, LogitsProcessorList

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden"
NEW = 14
BEAMS = dict(num_beams=4)
# "@n" stands for the n-th of the tokens that the model likes best after the prompt
CASES = [
    ("lp 1", dict(BEAMS, eos_token_id="@0")),
    ("lp 0.6", dict(BEAMS, eos_token_id="@0", length_penalty=0.6)),
    ("lp 2", dict(BEAMS, eos_token_id="@0", length_penalty=2.0)),
    ("lp 0", dict(BEAMS, eos_token_id="@0", length_penalty=0.0)),
    ("lp -1", dict(BEAMS, eos_token_id="@0", length_penalty=-1.0)),
    ("early", dict(BEAMS, eos_token_id="@0", early_stopping=True)),
    ("early, lp 2", dict(BEAMS, eos_token_id="@0", early_stopping=True, length_penalty=2.0)),
    ("never, lp 2", dict(BEAMS, eos_token_id="@0", early_stopping="never", length_penalty=2.0)),
    ("never, lp 0.6", dict(BEAMS, eos_token_id="@0", early_stopping="never", length_penalty=0.6)),
    ("never, lp -1", dict(BEAMS, eos_token_id="@0", early_stopping="never", length_penalty=-1.0)),
    ("no end", dict(BEAMS, eos_token_id=None)),
    ("three ends", dict(num_beams=3, eos_token_id=["@0", "@1", "@2"])),
    ("three ends, early", dict(num_beams=3, eos_token_id=["@0", "@1", "@2"], early_stopping=True)),
    ("forced end", dict(BEAMS, eos_token_id="@0", forced_eos_token_id="@0")),
    ("forced ends", dict(BEAMS, eos_token_id=["@0", "@1"], forced_eos_token_id=["@0", "@1"], renormalize_logits=True)),
    ("forced begin", dict(BEAMS, eos_token_id="@0", forced_bos_token_id=40)),
    ("bad words", dict(BEAMS, eos_token_id="@0", bad_words_ids=[["@0"], ["@1"], ["@2", "@3"], ["@4", "@4", "@5"]])),
    ("bad words, renormalized", dict(BEAMS, eos_token_id="@0", bad_words_ids=[["@1"], ["@2"]], renormalize_logits=True)),
    ("no repeat 1", dict(BEAMS, eos_token_id="@0", no_repeat_ngram_size=1)),
    ("no repeat 2", dict(BEAMS, eos_token_id="@0", no_repeat_ngram_size=2)),
    ("prompt no repeat 2", dict(BEAMS, eos_token_id="@0", encoder_no_repeat_ngram_size=2)),
    ("repetition 1.3", dict(BEAMS, eos_token_id="@0", repetition_penalty=1.3)),
    ("repetition 0.8, renormalized", dict(BEAMS, eos_token_id="@0", repetition_penalty=0.8, renormalize_logits=True)),
    ("least length", dict(BEAMS, eos_token_id="@0", min_length=10)),
    ("least new tokens", dict(BEAMS, eos_token_id="@0", min_new_tokens=5, early_stopping=True)),
    ("suppressed", dict(BEAMS, eos_token_id="@0", suppress_tokens=["@1", "@2"], begin_suppress_tokens=["@0", "@3"])),
    ("all", dict(num_beams=5, eos_token_id=["@0", "@1"], repetition_penalty=1.1, no_repeat_ngram_size=3, min_new_tokens=2,
                 bad_words_ids=[["@2"]], forced_eos_token_id="@0", length_penalty=1.5, early_stopping=True)),
    ("greedy", dict(eos_token_id="@0")),
    ("greedy, repetition 1.3", dict(eos_token_id="@0", repetition_penalty=1.3)),
    ("greedy, rules", dict(eos_token_id="@0", no_repeat_ngram_size=2, bad_words_ids=[["@1"]], min_new_tokens=4,
                           forced_eos_token_id="@0", renormalize_logits=True)),
]


class Noise(LogitsProcessor):
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, input_ids, scores):
        return scores + 1e-4 * torch.randn(scores.shape, generator=self.generator)


def liked(model, prompt):
    """The tokens that a beam search without an end comes upon most often, from the third on."""
    found = torch.tensor([ids[2:] for ids, _ in search(model, dict(num_beams=8, eos_token_id=None), prompt)])
    return torch.bincount(found.flatten(), minlength=259).argsort(descending=True, stable=True).tolist()


def with_tokens(value, tokens):
    if isinstance(value, str) and value.startswith("@"):
        return tokens[int(value[1:])]
    if isinstance(value, list):
        return [with_tokens(v, tokens) for v in value]
    return value


LIMITS = dict(max_new_tokens=NEW, pad_token_id=0)


def search(model, settings, prompt, noise=None, limits=LIMITS):
    """Each hypothesis as (new ids, score), of a language model behind a prompt, of a translator for a source."""
    beams = settings.get("num_beams", 1)
    config = GenerationConfig(**settings, **limits, return_dict_in_generate=True, output_scores=True, do_sample=False,
                              num_return_sequences=beams)
    model.generation_config = GenerationConfig()
    ids = torch.tensor([prompt])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config,
                         logits_processor=LogitsProcessorList([Noise(noise)] if noise is not None else []))
    ends = settings["eos_token_id"]
    ends = ends if isinstance(ends, list) else [ends]
    found = []
    for i, row in enumerate(out.sequences.tolist()):
        ids = row[1 if model.config.is_encoder_decoder else len(prompt):]
        end = next((k + 1 for k, id in enumerate(ids) if id in ends), len(ids))
        found.append((ids[:end], float(out.sequences_scores[i]) if beams > 1 else None))
    return found


def stable(model, settings, prompt, limits=LIMITS):
    """The hypotheses, or None where noise decides, in ids or in which comes first."""
    found = search(model, settings, prompt, limits=limits)
    for seed in range(3):
        if [ids for ids, _ in search(model, settings, prompt, seed, limits)] != [ids for ids, _ in found]:
            return None
    return found


def make(models):
    result = []
    for name, model in models.items():
        for number, (case, raw) in enumerate(CASES):
            generator = torch.Generator().manual_seed(number)
            kept = tries = 0
            while kept < 2:
                tries += 1
                length = 1 if case == "forced begin" else int(torch.randint(2, 9, (1,), generator=generator))
                prompt = torch.randint(0, 256, (length,), generator=generator).tolist()
                tokens = liked(model, prompt)
                settings = {k: with_tokens(v, tokens) for k, v in raw.items()}
                found = stable(model, settings, prompt)
                lengths = {len(ids) for ids, _ in found or []}
                if found and (len(lengths) > 1 or len(found) == 1 or tries > 8):
                    kept += 1
                    result.append({"model": name, "case": case, "settings": settings, "prompt": prompt, "max_new_tokens": NEW,
                                   "ids": [ids for ids, _ in found], "scores": [score and round(score, 6) for _, score in found]})
    return result


def compare(models, path):
    different = 0
    for case in json.loads(path.read_text())["cases"]:
        found = search(models[case["model"]], case["settings"], case["prompt"])
        if [ids for ids, _ in found] != case["ids"]:
            print(f"{case['model']}, {case['case']}: {found}\n    {case['ids']}")
            different += 1
    print(f"{different} cases differ with transformers {transformers.__version__}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", type=Path, default=FOLDER / "hub_search.json")
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    models = {name: AutoModelForCausalLM.from_pretrained(FOLDER / "hub" / name, dtype=torch.float32).eval()
              for name in ("llama", "gpt2")}
    if arguments.compare:
        compare(models, arguments.o)
        return
    cases = make(models)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    arguments.o.write_text(f'{{"transformers": "{transformers.__version__}", "cases": [\n{lines}\n]}}\n')
    print(len(cases), "cases,", arguments.o.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
