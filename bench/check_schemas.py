#!/usr/bin/env python3
"""Proof of constrained output: texts of a random model obey every schema that rapt takes.

    python3 -m venv venv && venv/bin/pip install 'jsonschema[format]'
    venv/bin/pip download --no-binary jsonschema --no-deps jsonschema && tar xzf jsonschema-*.tar.gz
    venv/bin/python bench/check_schemas.py ./rapt MODEL jsonschema-*/json/tests [COUNT]

The schemas are those of the public JSON-Schema-Test-Suite, which comes with jsonschema's source, and made ones, up to COUNT (2000).
Each is refused by name, or all samples that end by themselves parse and obey it in every draft that has it. MODEL should know
nothing (one step of training), so that all that may come does come.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import jsonschema

warnings.simplefilter("ignore")
DRAFTS = {"draft3": jsonschema.Draft3Validator, "draft4": jsonschema.Draft4Validator, "draft6": jsonschema.Draft6Validator,
          "draft7": jsonschema.Draft7Validator, "draft2019-09": jsonschema.Draft201909Validator,
          "draft2020-12": jsonschema.Draft202012Validator}
SAMPLES, TOKENS = 4, 300


def suite(folder):
    found = {}
    for draft, validator in DRAFTS.items():
        for path in sorted(pathlib.Path(folder, draft).rglob("*.json")):
            for group in json.loads(path.read_text(encoding="utf-8")):
                found.setdefault(json.dumps(group["schema"]), set()).add(validator)
    return found


def made_scalar(r):
    kind = r.randrange(9)
    if kind == 0:
        low = r.randrange(5)
        return {"type": "string", "minLength": low, "maxLength": low + r.randrange(12)}
    if kind == 1:
        return {"type": "string", "pattern": r.choice(["^[a-c]{2,5}$", "^(foo|bar)+$", "x", "^\\d{3}-\\d{4}$", "^[^a-z]{1,4}$", "^a.b$",
                                                       "^\\w+\\s?\\S*$"])}
    if kind == 2:
        low = r.randrange(-1000, 1000)
        return {"type": "integer", "minimum": low, "maximum": low + r.randrange(2000)}
    if kind == 3:
        low = r.uniform(-50, 50)
        return {"type": "number", "minimum": low, "exclusiveMaximum": low + r.uniform(0.1, 100)}
    if kind == 4:
        return {"type": "integer", "multipleOf": r.choice([2, 3, 7, 250]), "exclusiveMinimum": r.randrange(-9, 9)}
    if kind == 5:
        return {"enum": r.sample([1, 12, 1.5, "a", "ab", "\u00e9\"", None, True, [1, {"a": 2}], {"x": []}, -3, "\n"], r.randrange(1, 6))}
    if kind == 6:
        return {"type": "string", "format": r.choice(["date", "time", "date-time", "email", "uuid", "ipv4", "hostname", "uri"])}
    if kind == 7:
        return {"const": r.choice(["only", 0, False, {"k": [None]}])}
    return {"type": r.choice(["boolean", "null", "number", "string", ["null", "integer"], ["string", "boolean"]])}


def made(r, depth):
    kind = r.randrange(8) if depth else 0
    if kind < 2:
        return made_scalar(r)
    if kind == 2:
        low = r.randrange(3)
        return {"type": "array", "items": made(r, depth - 1), "minItems": low, "maxItems": low + r.randrange(4)}
    if kind == 3:
        return {"type": "array", "prefixItems": [made(r, depth - 1) for _ in range(r.randrange(1, 3))], "items": False}
    if kind == 4:
        return {"anyOf": [made(r, depth - 1) for _ in range(r.randrange(1, 4))]}
    keys = r.sample(["a", "ab", "b", "long name", "\u00fc", "q\"", "id", "x/y"], r.randrange(1, 6))
    out = {"type": "object", "properties": {k: made(r, depth - 1) for k in keys}, "required": [k for k in keys if r.random() < 0.5]}
    if kind > 5:
        out["additionalProperties"] = r.choice([False, True, {"type": "integer"}])
    if kind == 7:
        out["allOf"] = [{"required": [keys[0]]}, {"properties": {"b": {"type": ["string", "integer", "object"]}}}]
    return out


def check(rapt, model, text, validators, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([rapt, "generate", model, "--json-schema", file.name, "--json", "--temperature", "1", "--top-k", "0",
                              "--samples", str(SAMPLES), "--max-tokens", str(TOKENS), "--seed", str(seed), "--quiet", "--threads", "1",
                              "--context", "512"], input=" ", capture_output=True, text=True, encoding="utf-8")
    if run.returncode:
        known = run.returncode == 1 and "schema" in run.stderr
        return ("refused" if known else "failed"), run.stderr.strip(), 0, 0
    whole = 0
    lines = run.stdout.rstrip("\n").split("\n")
    for line in lines:
        sample = json.loads(line)
        if sample["end"] != "end_of_text":
            continue
        whole += 1
        try:
            value = json.loads(sample["text"])
            for validator in validators:
                formats = None if validator is DRAFTS["draft3"] else validator.FORMAT_CHECKER  # its times have no zone
                validator(json.loads(text), format_checker=formats).validate(value)
        except Exception as error:  # whatever is wrong with it
            return "wrong", sample["text"] + "\n    " + str(error).split("\n")[0], whole, len(lines)
    return "obeyed", "", whole, len(lines)


def main():
    rapt, model, folder = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 2000
    schemas = suite(folder)
    public, r = len(schemas), random.Random(1)
    while len(schemas) < count:
        schemas[json.dumps(made(r, 3))] = {DRAFTS["draft2020-12"]}
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda item: check(rapt, model, item[1][0], item[1][1], item[0]), enumerate(schemas.items())))
    for name, part in (("public", results[:public]), ("made", results[public:])):
        tally = {k: sum(x[0] == k for x in part) for k in ("obeyed", "refused", "wrong", "failed")}
        print(name, len(part), "schemas:", ", ".join(f"{k} {v}" for k, v in tally.items()), "; samples that ended by themselves",
              sum(x[2] for x in part), "of", sum(x[3] for x in part))
    bad = [(t, x) for t, x in zip(schemas, results) if x[0] in ("wrong", "failed")]
    for text, result in bad[:40]:
        print(result[0], text, "\n   ", result[1])
    if "--refusals" in sys.argv:
        for text, result in zip(schemas, results):
            if result[0] == "refused":
                print(result[1], "\n   ", text)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
