#!/usr/bin/env python3
"""A mixed load on `rapt serve` for a long time, from clients of which many hang up at random moments.

    tools/serve_soak.py RAPT [--minutes N] [--clients N] [--rate N] [--hang-up SHARE] [--folder DIR] [--seed S]
                        [--model NAME=PATH...]

Completions and chats with and without streaming, translations in every dialect, explanations, embeddings, tokens, metrics; each
is asked again and again, and its answer must be the one that it got first, to the byte. Each minute a line says what the server's
memory and descriptors are. It fails (exit status 1) if memory grows by more than 2 % after the first 5 minutes (of a run of less
than 10: after its first half), descriptors do not come back when all are gone, a slot stays taken, an answer does not end,
differs, or is refused otherwise than by 503, or the server does not end with status 0. For a fifth of the time, at most 4
minutes, clients ask as fast as they can, so that memory comes to what it needs. --rate: requests a second after that, 0: as many
as can be. Models are trained by RAPT in DIR unless they are there; --model serves others (names lm, en-fr, encoder, pairs are asked).
"""
import argparse
import collections
import http.client
import json
import random
import socket
import struct
import sys
import threading
import time

import serve_process

WARM_UP = 4  # minutes in which clients ask as fast as they can
STUCK = 60  # seconds in which every answer ends
LINES = ["I see the house.", "the dog find a bird.", "we like the sea.", "my father hear a train.", "they call the moon.",
         "you know a man in a red shirt."]
FORM = "application/x-www-form-urlencoded"

# ---- requests: (path, body or None, type) ------------------------------------------------------------------------------------


def json_request(path, value):
    return path, json.dumps(value), "application/json"


def completion(rng):
    value = {"model": "lm", "prompt": rng.choice(LINES)[:rng.randrange(1, 16)], "max_tokens": rng.choice([1, 8, 40, 150]),
             "seed": rng.randrange(9), "temperature": rng.choice([0, 0.8, 1]), "n": rng.choice([1, 1, 1, 3])}
    if rng.random() < 0.5:
        value["stream"] = True
    if rng.random() < 0.2:
        value.update(logprobs=2, echo=True)
    return json_request("/v1/completions", value)


def chat(rng):
    return json_request("/v1/chat/completions", {"model": "en-fr", "stream": rng.random() < 0.5, "messages": [
        {"role": "user", "content": "\n".join(rng.sample(LINES, rng.choice([1, 3])))}]})


def native(rng):
    return json_request("/v1/translate", {"texts": rng.sample(LINES, rng.choice([1, 2, 5])), "source": "en", "target": "fr",
                                          "beam": rng.choice([1, 4]), "n_best": 1, "tokens": rng.random() < 0.3})


def libre(rng):
    if rng.random() < 0.5:
        return "/translate", "q=" + rng.choice(LINES).replace(" ", "+") + "&source=en&target=fr", FORM
    return json_request("/translate", {"q": rng.sample(LINES, 2), "source": "auto", "target": "fr",
                                       "alternatives": rng.choice([0, 2])})


def deepl(rng):
    if rng.random() < 0.5:
        return "/v2/translate", "text=" + rng.choice(LINES).replace(" ", "+") + "&target_lang=FR", FORM
    return json_request("/v2/translate", {"text": rng.sample(LINES, 2), "source_lang": "EN", "target_lang": "FR"})


def explain(rng):
    model = rng.choice(["lm", "en-fr"])
    return json_request("/v1/explain", {"model": model, "text": rng.choice(LINES)[:20 if model == "lm" else None],
                                        "format": rng.choice(["json", "html"])})


def embedding(rng):
    return json_request("/v1/embeddings", {"model": "encoder", "input": rng.sample(["cat", "sing", "cat sing", "a"], 2)})


def ranking(rng):
    return json_request("/v1/rerank", {"model": "pairs", "query": "cat", "documents": rng.sample(["cat", "sing", "a", ""], 3)})


def tokens(rng):
    return json_request("/v1/tokenize", {"model": rng.choice(["lm", "en-fr"]), "text": rng.choice(LINES)})


def looks(rng):
    return rng.choice(["/metrics", "/health", "/v1/models", "/languages", "/openapi.json", "/"]), None, None


KINDS = {completion: 10, chat: 3, native: 4, libre: 3, deepl: 3, explain: 1, embedding: 2, ranking: 1, tokens: 1, looks: 2}


def choose_requests(seed, count=400):
    rng = random.Random(seed)
    return [kind(rng) for kind in rng.choices(list(KINDS), KINDS.values(), k=count)]


# ---- answers -----------------------------------------------------------------------------------------------------------------


def essence(path, data):
    """What of an answer is the same each time that it is asked for; raises where it is not whole."""
    if path in ("/metrics", "/v1/models", "/health", "/"):
        return None
    if data.startswith(b"data: "):
        if not data.endswith(b"data: [DONE]\n\n"):
            raise ValueError("the stream ends early: %r" % data[-100:])
        events = [json.loads(line[6:]) for line in data.split(b"\n\n")[:-2]]
        if any("error" in event for event in events):
            raise ValueError("an error in the stream: %r" % data[-200:])
        parts = {}  # events of several choices mix as they are made
        for event in events:
            for choice in event["choices"]:
                text = choice.get("text", choice.get("delta", {}).get("content"))
                parts.setdefault(choice["index"], []).append(text or "")
        return json.dumps({index: "".join(texts) for index, texts in sorted(parts.items())})
    if data.startswith(b"<"):
        return data
    value = json.loads(data)
    for changing in "id", "created":
        if isinstance(value, dict):
            value.pop(changing, None)
    if isinstance(value, dict) and "usage" in value:
        value["usage"].pop("prompt_tokens_details", None)  # how many were cached
    return json.dumps(value)


class Load:
    def __init__(self, options, server):
        self.options, self.server = options, server
        self.requests = choose_requests(options.seed)
        self.first = [None] * len(self.requests)
        self.lock, self.counts, self.wrong = threading.Lock(), collections.Counter(), []
        self.next = time.monotonic()
        self.ends, self.paced = self.next + options.minutes * 60, self.next + min(options.minutes / 5, WARM_UP) * 60

    def wait_turn(self):
        """False: the time is over."""
        if self.options.rate and time.monotonic() > self.paced:
            with self.lock:
                self.next = max(self.next, time.monotonic() - 1) + 1 / self.options.rate
                turn = self.next
            time.sleep(max(0, turn - time.monotonic()))
        return time.monotonic() < self.ends

    def say(self, what, request):
        with self.lock:
            self.wrong.append("%s: %s" % (what, request))
            print("WRONG  " + self.wrong[-1][:600], flush=True)

    def hang_up(self, rng, request):
        """Leaves at a random moment: after a part of the request, before an answer, or within it."""
        path, body, kind = request
        head = "%s %s HTTP/1.1\r\nHost: localhost\r\n" % ("POST" if body else "GET", path)
        data = (head + ("Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (kind, len(body),
                                                                              body) if body else "\r\n")).encode()
        connection = self.server.socket(STUCK)
        if rng.random() < 0.5:  # a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        moment = rng.random()
        try:
            connection.sendall(data if moment > 0.2 else data[:rng.randrange(len(data))])
            if 0.4 < moment < 0.7:
                time.sleep(rng.random() ** 2 * 0.1)
            elif moment > 0.7:
                connection.recv(rng.choice([1, 100, 2000]))
        except ConnectionError:
            pass
        connection.close()

    def ask(self, connection, index):
        path, body, kind = self.requests[index]
        connection.request("POST" if body else "GET", path, body, {"Content-Type": kind} if body else {})
        response = connection.getresponse()
        data = response.read()
        with self.lock:
            self.counts[response.status] += 1
        if response.status == 503:
            return
        if response.status != 200:
            self.say("status %d, %r" % (response.status, data[:200]), self.requests[index])
            return
        what = essence(path, data)
        with self.lock:
            first = self.first[index] = self.first[index] or what
        if what != first:
            self.say("another answer than at first: %r, %r" % (what[:300], first[:300]), self.requests[index])

    def client(self, number):
        rng = random.Random("%d %d" % (self.options.seed, number))
        connection = None
        while self.wait_turn():
            index = rng.randrange(len(self.requests))
            try:
                if rng.random() < self.options.hang_up:
                    self.hang_up(rng, self.requests[index])
                    with self.lock:
                        self.counts["hung up"] += 1
                    continue
                if connection is None or rng.random() < 0.2:
                    if connection:
                        connection.close()
                    connection = self.server.connect(STUCK)
                self.ask(connection, index)
            except socket.timeout:
                self.say("no end after %d s" % STUCK, self.requests[index])
                connection = None
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                self.say("%s: %s" % (type(error).__name__, error), self.requests[index])
                connection = None
                if self.server.process.poll() is not None:
                    return
        if connection:
            connection.close()

    def total(self):
        with self.lock:
            return sum(self.counts.values())


# ---- the run -----------------------------------------------------------------------------------------------------------------


def watch(server, load, options):
    """Memory each minute, of minute 0, 1, ...; prints it."""
    resident = [server.resident()]
    step = 60 if options.minutes >= 2 else 15
    begin, before = time.monotonic(), 0
    while time.monotonic() < load.ends and server.process.poll() is None and len(load.wrong) < 20:
        time.sleep(min(step, max(0, load.ends - time.monotonic())))
        if server.process.poll() is not None:
            break
        resident.append(server.resident())
        total = load.total()
        print("%5.1f min: %.2f MB, %d descriptors, %.0f requests/s; %s" % (
            (time.monotonic() - begin) / 60, resident[-1] / 1e6, server.descriptors(), (total - before) / step,
            ", ".join("%s: %d" % one for one in sorted(load.counts.items(), key=str))), flush=True)
        before = total
    return resident


def judge(server, load, resident, before, options):
    bars = serve_process.Bars()
    alive = server.process.poll() is None
    bars.check("answers", not load.wrong, "%d requests, %d wrong; %s" % (
        load.total(), len(load.wrong), ", ".join("%s: %d" % one for one in sorted(load.counts.items(), key=str))))
    fifth = min(len(resident) - 1, 5 if options.minutes >= 10 else len(resident) // 2)
    growth = max(resident[fifth:][-3:]) / resident[fifth] - 1
    bars.check("memory", growth <= 0.02, "%.2f MB at point %d, %.2f MB at the end (%+.2f %%)" % (
        resident[fifth] / 1e6, fifth, resident[-1] / 1e6, growth * 100))
    if alive:
        until = time.monotonic() + 30
        while time.monotonic() < until and server.metric("rapt_jobs_running") > 0:
            time.sleep(0.2)
        while time.monotonic() < until and server.descriptors() > before:
            time.sleep(0.2)
        after = server.descriptors()
        bars.check("descriptors", after <= before, "%d before, %d after" % (before, after))
        bars.check("slots", server.metric("rapt_jobs_running") + server.metric("rapt_jobs_waiting") == 0,
                   "%g jobs run, %g wait; %g were cancelled" % tuple(
                       server.metric("rapt_jobs_" + name) for name in ("running", "waiting", "cancelled_total")))
        bars.check("failures of the engine", server.metric("rapt_jobs_failed_total") == 0,
                   server.metric("rapt_jobs_failed_total"))
    bars.check_end(server)
    bars.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rapt")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--hang-up", type=float, default=0.3)
    parser.add_argument("--folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", action="append")
    options = parser.parse_args()
    sys.setswitchinterval(0.001)
    folder = serve_process.make_models(options.rapt, options.folder)
    models = options.model or ["lm=lm", "en-fr=en-fr", "encoder=" + serve_process.ENCODER, "pairs=" + serve_process.PAIRS]
    with serve_process.Server(options.rapt, folder, models, "--log", "none", "--idle-timeout", "10", huge_pages=False) as server:
        server.ask("GET", "/health")
        time.sleep(0.5)
        before = server.descriptors()
        load = Load(options, server)
        clients = [threading.Thread(target=load.client, args=(i,)) for i in range(options.clients)]
        for client in clients:
            client.start()
        resident = watch(server, load, options)
        load.ends = 0
        for client in clients:
            client.join()
        judge(server, load, resident, before, options)


if __name__ == "__main__":
    main()
