#!/usr/bin/env python3
"""Write tests/golden/hub_tokens.json: 64 tokens of each model of tests/golden/hub and hub_translation, by greedy search and with 4
beams, as generate() of transformers finds them; for tests/decode/test_hub_tokens.c.

For whoever adds a family. Not needed to build or test: the file is in the project.

    python3 tools/make_hub_tokens.py [NAME...]     needs torch, transformers and sentencepiece; run it with transformers 5, then 4.57

NAME: folders of tests/golden/hub and hub_translation; without one all of them, of which nothing is left as it was.

Each case has a model, settings as generation_config.json has them, a prompt or the ids of a source text, and hypotheses, best first:
their new ids, the end of text among them, and their scores ("sequences_scores"; of greedy search there are none). Language models
never end; translators end as they do, and in one case of two as late as they can. No hypothesis is decided by noise, as
make_hub_search.py says.

Names in _4 are computed by version 4, the others by version 5. Beside models of version 5 whose family has none in _4, version 4
writes config_4.json, the same model as its own classes save it, and has to find the same ids with it; but for mT5, whose output
version 4 scales where embeddings are tied, and version 5 does not.
"""
import argparse
import json

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

import make_hub_search
import make_hub_translation
from make_hub_search import search, stable

GOLDEN = make_hub_search.FOLDER
FILE = GOLDEN / "hub_tokens.json"
NEW, SHORTEST, PROMPT = 64, 65, 8
VERSION = 4 if transformers.__version__.startswith("4.") else 5


def names(kind):
    return sorted(f.name for f in (GOLDEN / kind).iterdir() if (f / "config.json").exists())


def case(name, ids, settings, found):
    what = f"{settings['num_beams']} beams" + (", as late as it can" if "min_length" in settings else "")
    return {"model": name, "case": what, "settings": settings, "prompt": ids, "max_new_tokens": NEW, "ids": [ids for ids, _ in found],
            "scores": [score and round(score, 6) for _, score in found]}


def prompts(model):
    """So short that 64 tokens have room behind them."""
    generator = torch.Generator().manual_seed(5)
    length = min(PROMPT, model.config.max_position_embeddings - NEW + 1)
    while True:
        yield torch.randint(0, 256, (length,), generator=generator).tolist()


def sources(name):
    """Of lines that the models' positions have room for."""
    tokenizer = make_hub_translation.loaded_tokenizer(name, GOLDEN / "hub_translation" / name)
    for line in (GOLDEN.parent.parent / "data" / "en-fr.tsv").read_text().splitlines()[::40]:
        ids = tokenizer(line.split("\t")[0])["input_ids"]
        if len(ids) < 60:
            yield ids


def settings_of(kind, name, beams, late):
    if kind == "hub":
        return dict(num_beams=beams, eos_token_id=None, pad_token_id=0, max_new_tokens=NEW)
    folder = GOLDEN / kind / name
    file = folder / "generation_config.json"
    given = json.loads((file if file.exists() else folder / "config.json").read_text())
    keys = ("forced_bos_token_id", "forced_eos_token_id", "bad_words_ids", "renormalize_logits", "decoder_start_token_id",
            "pad_token_id", "eos_token_id", "no_repeat_ngram_size")
    return {**{k: given[k] for k in keys if k in given}, "num_beams": beams, "max_length": NEW + 1,
            **({"min_length": SHORTEST} if late else {})}


def load(kind, folder, **config):
    loader = AutoModelForCausalLM if kind == "hub" else AutoModelForSeq2SeqLM
    return loader.from_pretrained(folder, **config, dtype=torch.float32, attn_implementation="eager").eval()


def cases_of(kind, name):
    model = load(kind, GOLDEN / kind / name)
    for beams in (1, 4):
        for late in (False,) if kind == "hub" else (False, True):
            settings = settings_of(kind, name, beams, late)
            for tries, ids in enumerate(prompts(model) if kind == "hub" else sources(name)):
                found = stable(model, settings, ids, limits={})
                if found:
                    print(f"{name}, {beams} beams: prompt {tries + 1}, {len(found[0][0])} tokens", flush=True)
                    yield case(f"{kind}/{name}", ids, settings, found)
                    break
            else:
                raise SystemExit(f"{name}: noise decides everywhere")


def as_version_4(values):
    """The keys of config.json that version 5 has put into rope_parameters."""
    rope = values.pop("rope_parameters", None)
    if rope is None:
        return values
    if "full_attention" in rope:
        values["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    values["rope_theta"] = rope.pop("rope_theta")
    if "partial_rotary_factor" in rope:
        values["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    if rope["rope_type"] == "longrope": # as published, with the length of before among the model's own keys
        values["rope_scaling"] = {"type": "longrope", "short_factor": rope["short_factor"], "long_factor": rope["long_factor"]}
    elif rope["rope_type"] != "default":
        values["rope_scaling"] = rope
    return values


def write_config_4(kind, name, cases):
    folder = GOLDEN / kind / name
    values = as_version_4(json.loads((folder / "config.json").read_text()))
    del values["transformers_version"]
    config = AutoConfig.for_model(values.pop("model_type"), **values)
    path = folder / "config_4.json"
    config.to_json_file(path)
    model = load(kind, folder, config=AutoConfig.for_model(config.model_type, **values))
    for one in cases:
        assert [ids for ids, _ in search(model, one["settings"], one["prompt"], limits={})] == one["ids"], f"{name}: other ids by version 4"
    print(f"{name}: config_4.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    chosen = set(parser.parse_args().names)
    torch.set_num_threads(1)
    cases = json.loads(FILE.read_text())["cases"] if FILE.exists() else []
    made_here = lambda name: name.endswith("_4") == (VERSION == 4) and (not chosen or name in chosen)
    cases = [c for c in cases if not made_here(c["model"].split("/")[1])]
    for kind in ("hub", "hub_translation"):
        types = {name: json.loads((GOLDEN / kind / name / "config.json").read_text())["model_type"] for name in names(kind)}
        saved_by_4 = {"mt5"} | {types[name] for name in types if name.endswith("_4")}
        for name in types:
            if made_here(name):
                cases += cases_of(kind, name)
            elif VERSION == 4 and types[name] not in saved_by_4 and (not chosen or name in chosen):
                write_config_4(kind, name, [c for c in cases if c["model"] == f"{kind}/{name}"])
    cases.sort(key=lambda c: c["model"])
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    FILE.write_text(f'{{"cases": [\n{lines}\n]}}\n')
    print(len(cases), "cases,", FILE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
