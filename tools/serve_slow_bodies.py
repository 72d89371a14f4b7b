#!/usr/bin/env python3
"""Looks for requests that hold `rapt serve` up or take its memory: kinds of large bodies, an endpoint, a field and what it is filled
with, while /health is asked beside.

    tools/serve_slow_bodies.py RAPT [--kinds N] [--size BYTES] [--slowest N] [--tries N] [--fours N] [--most-delay S] [--seed S]
                               [--folder DIR]

Models are trained by RAPT in DIR unless they are there. Each kind is sent once; the slowest, by the longest answer of /health
meanwhile, are sent again, and of their tries the quickest counts, since the machine's own pauses come by chance. Then four clients
at a time send kinds of which the server expects most memory. Bars: /health within --most-delay beside any request; memory above that
of the idle server at most 64 MB and twice the largest estimate that the server has made; the server answers afterwards, has no
memory given, and ends with status 0. Exit status 1: one is broken; the kinds are named.
"""
import argparse
import json
import multiprocessing
import os
import random
import shutil
import socket
import sys
import threading
import time

import serve_process

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "golden")
TEMPLATE = """{%- set roles = messages | map(attribute='role') | unique | list %}{{ roles | join(',') }}
{%- for m in messages %}{{ '<' + m.role + '>' + m.content | trim | replace('a', 'b') }}
{%- if loop.index0 in [0, 1] and m.content in (messages | map(attribute='content') | list) %}!{% endif %}{% endfor %}"""
TIMEOUT = 90  # seconds for an answer, on a machine with much other work
ALLOWANCE = 64 << 20


# ---- what fields are filled with: JSON texts of about `size` bytes -----------------------------------------------------------

def text_of(part):
    return lambda size: ('"' + (part * (size // len(part.encode()) + 1)) + '"').encode("utf-8", "surrogatepass")


def list_of(part):
    return lambda size: ("[" + ",".join([part] * (size // (len(part.encode()) + 1))) + "]").encode()


def object_of(value):
    return lambda size: ("{" + ",".join('"%d":%s' % (i, value) for i in range(size // (8 + len(value)))) + "}").encode()


TEXTS = {
    "letters": "a", "words": "the sea ", "unknown words": "qzx jvk ", "spaces": " ", "lines": "a\\n", "empty lines": "\\n",
    "marks": "\u0301\u0316", "marks of one class": "\u0301", "a mark each": "a\u0301", "jamo": "\u1100\u1161\u11a8", "Hangul": "각",
    "ligatures": "\ufdfa", "letters that grow": "\u0130", "CJK": "数据", "emoji": "\U0001f469\u200d\U0001f52c", "digits": "1234567890",
    "punctuation": "!?", "apostrophes": "'s", "escapes": "\\u00e9", "pairs of escapes": "\\ud83d\\ude00", "controls": "\\t\\u001f",
    "NUL": "\\u0000", "half a pair": "\\ud800", "quotation marks": '\\"', "backslashes": "\\\\", "special tokens": "<|endoftext|>",
    "braces": "{{ x }}", "tags": "<s></s>", "numbers": "3.14 ", "apart": "a b c d e f g ", "accents": "ÀÉÎÕÜ", "capitals": "ABC",
}
FILLINGS = {"text of " + name: text_of(part) for name, part in TEXTS.items()}
FILLINGS.update({"list of " + name: list_of(part) for name, part in {
    "empty objects": "{}", "empty lists": "[]", "empty texts": '""', "letters": '"a"', "ones": "1", "reals": "1.5e3", "nulls": "null",
    "pairs of ids": "[1,2]", "words": '"the sea"', "sentences": '"my father find the sea."', "objects": '{"a":1}',
    "booleans": "true", "long ids": "1234567"}.items()})
FILLINGS.update({"object of " + name: object_of(value) for name, value in {
    "numbers": "1", "biases": "-100", "texts": '""', "objects": "{}", "lists": "[]"}.items()})
FILLINGS.update({
    "deep lists": lambda size: b"[" * size, "deep lists, closed": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "deep objects": lambda size: b'{"a":' * (size // 5), "2,000 levels": lambda size: b"[" * 2000 + b"1," * (size // 2),
    "a long number": lambda size: b"1" * size, "a long fraction": lambda size: b"0." + b"3" * size,
    "a long exponent": lambda size: b"1e" + b"1" * size, "bytes that are no UTF-8": lambda size: b'"' + b"\xff" * size + b'"',
    "overlong UTF-8": lambda size: b'"' + b"\xc0\x80" * (size // 2) + b'"', "white space": lambda size: b" " * size + b"1",
    "an open text": lambda size: b'"' + b"a" * size, "the same key": lambda size: b"{" + b'"a":1,' * (size // 6) + b'"b":1}',
    "a long key": lambda size: b'{"' + b"k" * size + b'":1}', "a few long texts": lambda size: b"[" + b",".join(
        [b'"' + b"a" * (size // 4) + b'"'] * 4) + b"]", "commas": lambda size: b"[" + b"," * size + b"]",
    "messages": lambda size: b"[" + b",".join([b'{"role":"user","content":"a"}'] * (size // 31)) + b"]",
    "unlike messages": lambda size: ("[" + ",".join('{"role":"user","content":"%d"}' % i for i in range(size // 36)) + "]").encode(),
    "a long message": lambda size: b'[{"role":"user","content":"' + b"the sea " * (size // 8) + b'"}]',
    "a message of marks": lambda size: ('[{"role":"user","content":"' + "\u0301\u0316" * (size // 4) + '"}]').encode(),
    "a message of parts": lambda size: b'[{"role":"user","content":[' + b",".join(
        [b'{"type":"text","text":"a"}'] * (size // 28)) + b"]}]",
    "a message of fields": lambda size: b'[{"role":"user","content":"a",' + object_of("1")(size)[1:] + b"]"})

# Endpoints: the fields that are filled, and others, some of which come along.
ENDPOINTS = {
    "/v1/completions": (["prompt", "stop", "logit_bias", "user", "suffix", "model", "stream_options", "odd"], [
        {"model": "lm"}, {"model": "bpe"}, {"model": "lm", "n": 32, "echo": True, "logprobs": 5, "max_tokens": 1},
        {"model": "lm", "max_tokens": 400, "n": 8}, {"model": "lm", "stream": True, "n": 4, "echo": True, "logprobs": 5}]),
    "/v1/chat/completions": (["messages", "tools", "response_format", "stop", "user", "metadata"], [
        {"model": "chat"}, {"model": "en-fr"}, {"model": "chat", "logprobs": True, "top_logprobs": 20, "n": 8}]),
    "/v1/embeddings": (["input", "user"], [{"model": "bert"}, {"model": "bert", "encoding_format": "base64"}]),
    "/v1/translate": (["text", "texts", "prefix"], [
        {"model": "en-fr"}, {"model": "en-fr", "beam": 8, "n_best": 8, "tokens": True}, {"model": "en-fr", "alignment": "soft"}]),
    "/v1/tokenize": (["text", "texts"], [{"model": "bert"}, {"model": "bpe", "special": True}, {"model": "lm"}, {"model": "xlm"}]),
    "/v1/detokenize": (["ids"], [{"model": "bpe"}, {"model": "lm"}]),
    "/v1/explain": (["text", "target", "only"], [{"model": "en-fr"}, {"model": "lm", "full": True}]),
    "/translate": (["q", "api_key"], [{"source": "en", "target": "fr"}, {"source": "en", "target": "fr", "alternatives": 8}]),
    "/detect": (["q"], [{}]),
    "/v2/translate": (["text", "context"], [{"target_lang": "FR"}]),
}
FORMS = {
    "escapes": b"%20", "letters": b"a", "wrong escapes": b"%", "parts": b"a=b&q=", "the same": b"a&q=", "names": b"&%d=1", "marks": b"%CC%81",
    "no UTF-8": b"%ff", "plus": b"+", "equals": b"=", "ampersands": b"&"}


class Kind:
    def __init__(self, path, kind, headers, body, method="POST"):
        self.path, self.name, self.headers, self.body, self.method = path, "%s %s" % (path, kind), headers, body, method
        self.delay = self.estimate = 0.0


def json_kinds(size):
    for path, (names, others) in ENDPOINTS.items():
        for name in names:
            for filling, make in FILLINGS.items():
                for i, other in enumerate(others):
                    head = json.dumps({k: v for k, v in other.items() if k != name})[:-1]

                    def body(head=head, name=name, make=make):
                        return head.encode() + (b", " if len(head) > 1 else b"") + b'"%s": ' % name.encode() + make(size) + b"}"
                    yield Kind(path, "%s: %s, %d" % (name, filling, i), {"Content-Type": "application/json"}, body)


def form_kinds(size):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/translate", "/v2/translate", "/detect", "/v2/languages"):
        for filling, part in FORMS.items():
            name = b"text" if path.startswith("/v2") else b"q"

            def body(name=name, part=part):
                parts = [part % i if b"%d" in part else part for i in range(size // len(part))]
                return b"source=en&target=fr&target_lang=FR&" + name + b"=" + b"".join(parts)
            yield Kind(path, "form of " + filling, form, body, "GET" if path == "/v2/languages" else "POST")
    for path in ("/v1/completions", "/translate", "/v1/models", "/health"):
        yield Kind(path, "multipart", {"Content-Type": "multipart/form-data; boundary=x"},
                   lambda: b"--x\r\nContent-Disposition: form-data; name=q\r\n\r\na\r\n" * (size // 60))
    for part in ("%61", "+", "a=b&", "&", "%cc%81"):
        yield Kind("/v1/explain?model=en-fr&text=" + part * (16000 // len(part)), "target", {}, lambda: b"", "GET")


# ---- /health beside ----------------------------------------------------------------------------------------------------------

def probe(port, worst):
    """Asks for ever; worst.value is the longest answer since somebody set it to 0."""
    connection = socket.create_connection(("127.0.0.1", port))
    while True:
        begin = time.monotonic()
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        data = b""
        while not data.endswith(b"}") and not data.endswith(b"}\n"):
            part = connection.recv(4096)
            if not part:
                return
            data += part
        worst.value = max(worst.value, time.monotonic() - begin)
        time.sleep(0.001)


class Run:
    def __init__(self, options):
        self.options, self.bars = options, serve_process.Bars()
        self.folder = serve_process.make_models(options.rapt, options.folder)
        chat = os.path.join(self.folder, "chat")
        if not os.path.exists(chat):
            shutil.copytree(os.path.join(GOLDEN, "hub", "qwen2"), chat)
            with open(os.path.join(chat, "chat_template.jinja"), "w") as file:
                file.write(TEMPLATE)
        encoder = os.path.join(GOLDEN, "hub_encoder")
        models = ["lm", "en-fr", "chat", "bpe=" + os.path.join(GOLDEN, "hub", "llama3"), "bert=" + os.path.join(encoder, "bert_sentence"),
                  "xlm=" + os.path.join(encoder, "xlm_roberta_4")]
        self.server = serve_process.Server(options.rapt, self.folder, models, "--log", "none", "--drain", "5")
        self.worst = multiprocessing.Value("d", 0.0, lock=False)
        self.prober = multiprocessing.Process(target=probe, args=(self.server.port, self.worst), daemon=True)
        self.prober.start()

    def send(self, kind, body):
        """The status; 0: none came."""
        try:
            return self.server.ask(kind.method, kind.path, body, kind.headers, TIMEOUT)[0]
        except (OSError, ValueError) as error:
            return "%s" % type(error).__name__

    def delay(self, kind):
        """The longest answer of /health while a kind is answered."""
        body = kind.body()
        self.worst.value = 0.0
        self.send(kind, body)
        time.sleep(0.003)
        return self.worst.value

    def all_once(self):
        kinds = list(json_kinds(self.options.size)) + list(form_kinds(self.options.size))
        rng = random.Random(self.options.seed)
        rng.shuffle(kinds)
        kinds = kinds[:self.options.kinds or len(kinds)]
        for i, kind in enumerate(kinds):
            before = self.largest()
            kind.delay = self.delay(kind)
            kind.estimate = self.largest() if self.largest() > before else 0
            if sys.stderr.isatty():
                print("\r%d of %d" % (i + 1, len(kinds)), end="", file=sys.stderr)
        return kinds

    def largest(self):
        return self.server.metric("rapt_request_memory_largest_bytes")

    def check_delays(self, kinds):
        slowest = sorted(kinds, key=lambda kind: -kind.delay)[:self.options.slowest]
        for kind in slowest:
            kind.delay = min([kind.delay] + [self.delay(kind) for _ in range(self.options.tries)])
        slowest.sort(key=lambda kind: -kind.delay)
        print("%d kinds; longest answers of /health beside the slowest:" % len(kinds))
        for kind in slowest[:5]:
            print("  %.1f ms: %.90s" % (1e3 * kind.delay, kind.name))
        self.bars.check("/health beside %d kinds" % len(slowest), slowest[0].delay <= self.options.most_delay,
                        "%.1f ms at most" % (1e3 * slowest[0].delay))

    def peak(self):
        with open("/proc/%d/status" % self.server.process.pid) as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

    def check_memory(self, kinds):
        """Four at a time, of those that raised the largest estimate and of all."""
        rng = random.Random(self.options.seed)
        large = [kind for kind in kinds if kind.estimate] or kinds
        worst, stays = (-1e18, ""), 0
        for i in range(self.options.fours):
            four = [rng.choice(large if rng.random() < 0.7 else kinds) for _ in range(4)]
            bodies = [kind.body() for kind in four]
            threads = [threading.Thread(target=self.send, args=pair) for pair in zip(four, bodies)]
            with open("/proc/%d/clear_refs" % self.server.process.pid, "w") as file:
                file.write("5")  # the peak begins anew
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            above = self.peak() - self.idle
            worst = max(worst, (above, "; ".join(kind.name[:60] for kind in four)))
        self.server.wait_until(lambda: self.server.metric("rapt_requests_memory_bytes") == 0, "memory stays given")
        time.sleep(0.5)
        stays = self.server.resident() - self.idle
        bound = ALLOWANCE + 2 * self.largest()
        print("  most memory beside: %s" % worst[1])
        self.bars.check("memory above idle with four clients, %d times" % self.options.fours, worst[0] <= bound,
                        "%.1f MB, of %.1f MB with the largest estimate of %.1f MB; %.1f MB stay" %
                        tuple(n / 1e6 for n in (worst[0], bound, self.largest(), stays)))

    def run(self):
        for kind in list(json_kinds(2000))[::97]:  # models have worked, and have their memory
            self.send(kind, kind.body())
        self.idle = self.server.resident()
        kinds = self.all_once()
        self.check_delays(kinds)
        self.check_memory(kinds)
        self.bars.check("/health afterwards", self.server.ask("GET", "/health")[0] == 200, "200")
        begin = time.monotonic()
        self.prober.terminate()
        self.bars.check_end(self.server)
        self.bars.check("ends within the drain", time.monotonic() - begin < 30, "%.1f s" % (time.monotonic() - begin))
        self.bars.end()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rapt")
    parser.add_argument("--kinds", type=int, help="as many of all, by chance")
    parser.add_argument("--size", type=int, default=1000000)
    parser.add_argument("--slowest", type=int, default=500, help="that are sent again")
    parser.add_argument("--tries", type=int, default=3, help="of each of these")
    parser.add_argument("--fours", type=int, default=100, help="times that four clients send at once")
    parser.add_argument("--most-delay", type=float, default=0.05, help="seconds of /health")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder")
    run = Run(parser.parse_args())
    with run.server:
        run.run()
