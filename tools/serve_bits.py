#!/usr/bin/env python3
"""Compares what `rapt serve` answers with what the command line prints, byte for byte: texts, and the log-probability of each
token to its last bit, whoever else is being served.

    tools/serve_bits.py RAPT LANGUAGE_MODEL TRANSLATION_MODEL [--responses N] [--lines FILE]

Prompts and sources are pieces of the lines of FILE, or of made-up lines of five words; a short FILE is repeated. A fifth of the
prompts have a response_format of JSON, so the model's tokenizer must be one that a schema can constrain (docs/constrained.md).
Each server is started with another choice of clients, slots, chunks of prompts, prefix cache, threads and ISA level; what is
expected comes from `rapt generate` and `rapt translate`, once for each number format, at the machine's own level: in fp32 and with
quantized weights results must not depend on the level, in bf16 they are compared at that level only. Exit status 1: something
differed. Python's standard library only.
"""
import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading

from levels import levels

FORMATS = ["fp32", "q8_0", "q4_0", "bf16"]
CHOICES = {"clients": [1, 8, 64], "slots": [1, 3, 16], "chunk": [1, 7, 64, 0], "cache": [True, False], "threads": [1, 2, 5]}


SCHEMAS = [{"type": "object"}, {"type": "array", "items": {"type": ["integer", "null"]}, "maxItems": 9},
           {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "kind": {"enum": ["a", "ab", 1]}},
            "required": ["name"], "additionalProperties": {"type": "boolean"}},
           {"anyOf": [{"type": "string", "pattern": "^[a-z ]{3,30}$"}, {"type": "string", "format": "date"}, {"type": "number"}]}]


# ---- requests, and what the command line makes of them ------------------------------------------------------------------


def long_enough(text):
    """The text, repeated until a request can draw three of its lines, and a prompt begins 400 characters before its end."""
    whole = text if text.endswith("\n") else text + "\n"
    return whole * max(1, -(-1000 // len(whole)), -(-3 // sum(bool(line.strip()) for line in whole.splitlines())))


def language_requests(rng, text, count):
    """Prompts of which many begin alike, with options of all kinds."""
    requests = []
    for i in range(count):
        begin = rng.choice([0, 200, 400]) if i % 2 else rng.randrange(len(text) - 400)
        request = {"prompt": text[begin:begin + rng.randrange(1, 45)], "max_tokens": rng.choice([1, 5, 16, 40]),
                   "temperature": rng.choice([0, 0.7, 1, 1.3]), "seed": rng.randrange(1, 100), "logprobs": 0,
                   "n": rng.choice([1, 1, 1, 2])}
        if rng.random() < 0.3:
            request["top_k"] = rng.choice([5, 50])
        if rng.random() < 0.3:
            request["top_p"] = 0.9
        if rng.random() < 0.2:
            request["stop"] = rng.choice(["e", "\n", " the"])
        if rng.random() < 0.2:
            request["repetition_penalty"] = 1.2
        if rng.random() < 0.2:
            request.pop("stop", None)
            request["response_format"] = {"type": "json_schema", "json_schema": {"name": "it", "schema": rng.choice(SCHEMAS)}}
        requests.append(request)
    return requests


def generate(rapt, model, request, options):
    """What `rapt generate` prints: the texts and log-probabilities of the choices."""
    command = [rapt, "generate", model, "--prompt", request["prompt"], "--max-tokens", str(request["max_tokens"]), "--quiet",
               "--temperature", str(request["temperature"]), "--seed", str(request["seed"]), "--samples", str(request["n"]),
               "--top-k", str(request.get("top_k", 0)), "--top-p", str(request.get("top_p", 1)), "--json", "--log-probs"]
    if "stop" in request:
        command += ["--stop", request["stop"]]
    if "repetition_penalty" in request:
        command += ["--repetition-penalty", str(request["repetition_penalty"])]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as schema:
        if "response_format" in request:
            json.dump(request["response_format"]["json_schema"]["schema"], schema)
            schema.flush()
            command += ["--json-schema", schema.name]
        out = subprocess.run(command + options, capture_output=True, text=True, check=True, encoding="utf-8")
    return [(o["text"], [p.hex() for p in o["log_probs"]]) for o in map(json.loads, out.stdout.splitlines())]


def translation_requests(rng, lines, count):
    requests = []
    for _ in range(count):
        beam = rng.choice([1, 1, 4])
        requests.append({"texts": rng.sample(lines, rng.choice([1, 1, 1, 3])), "beam": beam,
                         "n_best": rng.choice([1, beam]), "length_penalty": rng.choice([1, 0.6])})
    return requests


def translate(rapt, model, request, options):
    """What `rapt translate` prints: of each line, scores and texts."""
    command = [rapt, "translate", model, "--beam", str(request["beam"]), "--n-best", str(request["n_best"]), "--quiet",
               "--length-penalty", str(request["length_penalty"])]
    out = subprocess.run(command + options, input="".join(t + "\n" for t in request["texts"]), capture_output=True, text=True,
                         check=True, encoding="utf-8")
    lines = [[] for _ in request["texts"]]
    for line in out.stdout.splitlines():
        number, score, text = line.split("\t", 2)
        lines[int(number) - 1].append((score, text))
    return lines


# ---- a server ----------------------------------------------------------------------------------------------------------------


class Server:
    """A server with other choices than the last one."""

    def __init__(self, rapt, models, choice, options):
        command = [rapt, "serve"] + ["%s=%s" % m for m in models] + ["--port", "0", "--slots", str(choice["slots"]), "--threads",
                   str(choice["threads"]), "--log", "none", "--queue", "1000"] + options
        if choice["chunk"]:
            command += ["--chunk", str(choice["chunk"])]
        if not choice["cache"]:
            command += ["--no-prefix-cache"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, RAPT_ISA=choice["level"]) if choice["level"] else None)
        line = self.process.stdout.readline()
        self.port = int(line.strip().rsplit(":", 1)[1].rstrip("/"))

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=60)


def post(connection, path, body):
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    data = response.read()
    if response.status != 200:
        raise RuntimeError("%d: %s" % (response.status, data[:300].decode("utf-8", "replace")))
    return data


def completed(connection, request, stream):
    """The texts and log-probabilities of the choices of a completion."""
    data = post(connection, "/v1/completions", dict(request, model="lm", stream=stream))
    choices = [["", []] for _ in range(request["n"])]
    chunks = [json.loads(data)] if not stream else [json.loads(line[6:]) for line in data.decode("utf-8").split("\n\n")
                                                   if line.startswith("data: {")]
    for chunk in chunks:
        for choice in chunk["choices"]:
            choices[choice["index"]][0] += choice["text"]
            if choice.get("logprobs"):
                choices[choice["index"]][1] += [float(p).hex() for p in choice["logprobs"]["token_logprobs"]]
    return [tuple(c) for c in choices]


def translated(connection, request):
    answer = json.loads(post(connection, "/v1/translate", dict(request, model="mt")))
    return [[("%.4f" % h["score"], h["text"]) for h in t["hypotheses"]] for t in answer["translations"]]


def serve_all(server, work, clients, report):
    """Has all of `work` answered by as many clients at once; (kind, request, expected, stream) each."""
    lock, rest = threading.Lock(), list(work)

    def client():
        connection = server.connect()
        while True:
            with lock:
                if not rest:
                    break
                kind, request, expected, stream = rest.pop()
            try:
                got = completed(connection, request, stream) if kind == "lm" else translated(connection, request)
            except (OSError, RuntimeError, ValueError, KeyError, http.client.HTTPException) as error:
                got = repr(error)
                connection = server.connect()
            with lock:
                report(kind, request, expected, got)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


# ---- all of it ---------------------------------------------------------------------------------------------------------------


def format_options(name):
    return [] if name == "fp32" else ["--precision", "bf16"] if name == "bf16" else ["--weights", name]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rapt")
    parser.add_argument("language_model")
    parser.add_argument("translation_model")
    parser.add_argument("--responses", type=int, default=10000)
    parser.add_argument("--servers", type=int, default=60, help="servers that are started")
    parser.add_argument("--requests", type=int, default=100, help="different requests of each number format")
    parser.add_argument("--lines", help="a text whose lines are prompts and sources; a short one is repeated")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    rng, (have, best) = random.Random(a.seed), levels(a.rapt)
    known = [""] + [level for level in have if level != best]
    text = open(a.lines, encoding="utf-8").read() if a.lines else "".join(
        "%s %s %s the %s.\n" % tuple(rng.choice(["a", "man", "dog", "runs", "red", "two", "over", "street"]) for _ in range(4))
        for _ in range(400))
    if not text.strip():
        parser.error("%s has no lines" % a.lines)
    text = long_enough(text)
    lines = [line for line in text.splitlines() if line.strip()]
    expected = {}
    for name in FORMATS:
        options = format_options(name)
        expected[name] = [("lm", r, generate(a.rapt, a.language_model, r, options)) for r in
                          language_requests(rng, text, a.requests * 3 // 5)]
        expected[name] += [("mt", r, translate(a.rapt, a.translation_model, r, options))
                           for r in translation_requests(rng, lines, a.requests * 2 // 5)]
        print("%s: %d requests, on the command line" % (name, len(expected[name])), flush=True)
    counts = {"responses": 0, "differ": 0}

    def report(kind, request, want, got):
        counts["responses"] += 1
        if got != want:
            counts["differ"] += 1
            print("DIFFERS %s %s\n  want %s\n  got  %s" % (kind, json.dumps(request)[:300], str(want)[:300], str(got)[:300]))

    for i in range(a.servers):
        choice = {key: values[i % len(values)] if i < len(values) else rng.choice(values) for key, values in CHOICES.items()}
        name = FORMATS[i % len(FORMATS)]
        choice["level"] = "" if name == "bf16" else known[i % len(known)]
        work = [(kind, r, want, rng.random() < 0.5) for kind, r, want in
                rng.choices(expected[name], k=a.responses // a.servers + (i < a.responses % a.servers))]
        server = Server(a.rapt, [("lm", a.language_model), ("mt", a.translation_model)], choice, format_options(name))
        serve_all(server, work, choice["clients"], report)
        status = server.stop()
        print("server %d: %s %s: %d responses so far, %d differ%s" % (
            i + 1, name, " ".join("%s=%s" % c for c in choice.items()), counts["responses"], counts["differ"],
            "" if status == 0 else ", exit status %d" % status), flush=True)
        counts["differ"] += status != 0
    print("%d responses, %d differ" % (counts["responses"], counts["differ"]))
    sys.exit(counts["differ"] > 0)


if __name__ == "__main__":
    main()
