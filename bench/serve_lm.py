#!/usr/bin/env python3
"""Servers of language models in turns, by OpenAI's /v1/completions with streaming: N clients that each send their next prompt
when the last answer is complete.

    python bench/serve_lm.py --model DIR [--llama PROGRAM] [--clients 8] [--prompt 32] [--new 128] [--decode]
    python bench/serve_lm.py --model DIR [--llama PROGRAM] --long-prompt 900      # one long prompt beside the clients
    python bench/serve_lm.py --model DIR [--llama PROGRAM] --prefix 512           # a prefix that was computed before
    python bench/serve_lm.py NAME=URL...                                          # servers that run already

--model starts `rapt serve`, and llama.cpp's llama-server with the same weights in GGUF where --llama names the program. DIR is of
`bench/make_hub_shape.py gpt2 F32 DIR`, all of whose tokens have a text, so that each is an event. Prompts are random ids, all
distinct; decoding is greedy, and the end of text is ruled out, so that all answers have --new tokens. --decode runs `rapt-bench
decode` of as many rows in the same turns. Needs nothing but Python. What is shared is in serving.py.
"""
import argparse
import http.client
import itertools
import json
import random
import shlex
import statistics
import subprocess
import sys
import threading
import time

from serving import RAPT, ROUNDS, THREADS, Server, bar, convert, in_turns, percentile, start_llama, start_rapt, workplace

parser = argparse.ArgumentParser()
parser.add_argument("servers", nargs="*", metavar="NAME=URL")
parser.add_argument("--model", metavar="DIR")
parser.add_argument("--llama", metavar="PROGRAM", help="llama-server")
parser.add_argument("--llama-options", default="", metavar="TEXT", help="more of them, such as '-b 64'")
parser.add_argument("--gguf", metavar="FILE", help="of the same model (default: rapt convert makes one)")
parser.add_argument("--clients", type=int, default=8)
parser.add_argument("--prompt", type=int, default=32, help="tokens")
parser.add_argument("--new", type=int, default=128, help="tokens")
parser.add_argument("--seconds", type=float, default=30, help="of a measurement")
parser.add_argument("--warm", type=float, default=5, help="seconds before it")
parser.add_argument("--rounds", type=int, default=ROUNDS)
parser.add_argument("--long-prompt", type=int, metavar="TOKENS")
parser.add_argument("--prefix", type=int, metavar="TOKENS")
parser.add_argument("--pairs", type=int, default=8, help="requests with each prefix in a round, cold and warm")
parser.add_argument("--decode", action="store_true", help="rapt-bench decode of --model, too")
parser.add_argument("--context", type=int, default=1024, help="tokens of a slot")
parser.add_argument("--ids", default="300:50000", metavar="FROM:TO", help="tokens of prompts")
parser.add_argument("--end", default="50256", metavar="ID,...", help="tokens that end a text")
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
first_id, last_id = (int(text) for text in options.ids.split(":"))
choose = random.Random(1)


def some_ids(count):
    return [choose.randrange(first_id, last_id) for _ in range(count)]


class Request:
    """One streamed completion: when it was sent, and when each token came."""

    def __init__(self, server, model, prompt, new):
        self.server, self.new, self.sent, self.times, self.usage = server, new, None, [], None
        self.body = json.dumps({"model": model, "prompt": prompt, "max_tokens": new, "temperature": 0, "stream": True,
                                "stream_options": {"include_usage": True},
                                "logit_bias": {end: -100 for end in options.end.split(",") if end}})
        self.connection = server.connect()

    def run(self):
        self.connection.connect()
        self.sent = time.perf_counter()
        self.connection.request("POST", "/v1/completions", self.body, {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        if response.status != 200:
            raise SystemExit(f"{self.server.name}: {response.status} {response.read()[:500].decode(errors='replace')}")
        for line in response:
            now = time.perf_counter()
            if line.startswith(b"data: {"):
                self.take(json.loads(line[6:]), now)
        self.connection.close()
        return self

    def take(self, event, now):
        if "error" in event:
            raise SystemExit(f"{self.server.name}: {event['error']}")
        self.usage = event.get("usage") or self.usage
        if any(choice["text"] for choice in event["choices"]):
            self.times.append(now)

    def check(self):
        if not self.usage:
            raise SystemExit(f"{self.server.name}: a stream ended early")
        count = self.usage["completion_tokens"]
        if count != self.new or len(self.times) != count:
            print(f"{self.server.name}: {count} tokens in {len(self.times)} events, where {self.new} were expected",
                  file=sys.stderr)

    def first(self):
        return self.times[0] - self.sent

    def gaps(self, start, end):
        """Between tokens; those that overlap with the time from start to end."""
        return [b - a for a, b in itertools.pairwise(self.times) if b > start and a < end]


class Clients:
    """Threads that send prompts until they are stopped."""

    def __init__(self, server, model, count):
        self.server, self.model, self.done, self.failed = server, model, False, None
        self.lock, self.requests, self.current = threading.Lock(), [], [None] * count
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, i):
        while not self.done:
            with self.lock:
                request = Request(self.server, self.model, some_ids(options.prompt), options.new)
                self.requests.append(request)
                self.current[i] = request
            try:
                request.run()
                if not self.done:
                    request.check()
            except (OSError, http.client.HTTPException, ValueError, SystemExit) as error:
                self.failed = None if self.done else error # hanging up is no failure
                return

    def stop(self):
        """Hangs up; all requests that were sent."""
        self.done = True
        for request in self.current:
            sock = request.connection.sock if request else None
            if sock:
                sock.shutdown(2)
        for thread in self.threads:
            thread.join()
        if self.failed:
            raise SystemExit(self.failed)
        time.sleep(0.5) # in which the server sees it
        return [request for request in self.requests if request.sent is not None]


def milliseconds(seconds):
    return round(1e3 * seconds, 3)


def throughput(server, model):
    clients = Clients(server, model, options.clients)
    time.sleep(options.warm)
    start = time.perf_counter()
    time.sleep(options.seconds)
    end = time.perf_counter()
    requests = clients.stop()
    tokens = sum(start <= t < end for request in requests for t in request.times)
    firsts = [request.first() for request in requests if request.times and start <= request.times[0] < end]
    gaps = [gap for request in requests for gap in request.gaps(start, end)]
    return {"tok_s": round(tokens / (end - start), 2), "first_p50": milliseconds(percentile(firsts, 50)),
            "first_p99": milliseconds(percentile(firsts, 99)), "gap_p50": milliseconds(percentile(gaps, 50)),
            "gap_p99": milliseconds(percentile(gaps, 99)), "gap_ratio": round(percentile(gaps, 99) / percentile(gaps, 50), 3)}


def long_prompt(server, model):
    clients = Clients(server, model, options.clients)
    time.sleep(options.warm)
    start = time.perf_counter()
    time.sleep(options.seconds / 2)
    request = Request(server, model, some_ids(options.long_prompt), 16).run()
    request.check()
    requests = clients.stop()
    quiet = [gap for one in requests for gap in one.gaps(start, request.sent)]
    beside = [gap for one in requests for gap in one.gaps(request.sent, request.times[0])]
    median = percentile(quiet, 50)
    return {"long_first": milliseconds(request.first()), "gap_p50": milliseconds(median),
            "gap_p99": milliseconds(percentile(quiet, 99)), "beside_p50": milliseconds(percentile(beside, 50)),
            "beside_p99": milliseconds(percentile(beside, 99)), "samples": len(beside),
            "beside_ratio": round(percentile(beside, 99) / median, 3)}


def prefix(server, model):
    cold, warm = [], []
    for _ in range(options.pairs):
        shared = some_ids(options.prefix)
        for times in cold, warm:
            times.append(Request(server, model, shared + some_ids(options.prompt), 4).run().first())
    return {"cold": milliseconds(statistics.median(cold)), "warm": milliseconds(statistics.median(warm)),
            "warm_by_cold": round(statistics.median(warm) / statistics.median(cold), 4)}


def decode():
    command = [f"{RAPT}-bench", "decode", options.model, "--json", "--threads", str(THREADS), "--batch", str(options.clients),
               "--prompt", str(options.prompt), "--time", str(options.prompt + options.new), "--seconds",
               str(options.seconds / 2)]
    out = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    return {"tok_s": out["tok_s"], "gap_p50": out["step_ms"]}


LABELS = {"tok_s": "tokens/s", "first_p50": "first token, ms, p50", "first_p99": "p99", "gap_p50": "between tokens, ms, p50",
          "gap_p99": "p99", "gap_ratio": "p99/p50", "long_first": "first token of the long prompt, ms",
          "beside_p50": "beside it, p50", "beside_p99": "p99", "beside_ratio": "p99/p50 without it", "samples": "gaps",
          "cold": "first token, ms, cold", "warm": "warm", "warm_by_cold": "warm/cold"}


def report(results, names):
    for name, values in results.items():
        print(f"{name}: " + ", ".join(f"{LABELS[key]} {value:g}" for key, value in values.items()), flush=True)
    ours, peer = results[names[0]], results[names[1]] if len(names) > 1 else None
    if options.prefix:
        bar("warm by cold", ours["warm_by_cold"], most=0.15)
    elif options.long_prompt:
        bar("others' p99 between tokens by their median", ours["beside_ratio"], most=2.5)
    else:
        if peer:
            bar(f"tokens/s by {names[1]}'s", ours["tok_s"] / peer["tok_s"], least=1.3)
            bar(f"first token, p99 by {names[1]}'s p50", ours["first_p99"] / peer["first_p50"], most=1)
        if "rapt-bench decode" in results:
            bar("tokens/s by rapt-bench decode's", ours["tok_s"] / results["rapt-bench decode"]["tok_s"], least=0.9)


def main():
    measure = prefix if options.prefix else long_prompt if options.long_prompt else throughput
    with workplace() as (folder, started):
        servers = [Server(*text.split("=", 1)) for text in options.servers]
        slots = options.clients + bool(options.long_prompt)
        if options.model:
            started.append(start_rapt("rapt serve", [options.model], "--slots", str(slots)))
            if options.llama:
                gguf = options.gguf or convert(options.model, "gguf", folder)
                started.append(start_llama("llama-server", options.llama, gguf, slots, options.context,
                                           *shlex.split(options.llama_options)))
        servers += started
        if not servers:
            parser.error("no server: NAME=URL, or --model DIR")
        sides = {server.name: lambda server=server, model=server.model(): measure(server, model) for server in servers}
        if options.decode:
            sides["rapt-bench decode"] = decode
        results = in_turns(sides, options.rounds)
    if options.json:
        print(json.dumps(results))
    else:
        report(results, [server.name for server in servers])


main()
