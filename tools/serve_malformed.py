#!/usr/bin/env python3
"""Sends malformed requests to `rapt serve`: valid ones of every endpoint that were damaged, and what is no HTTP at all.

    tools/serve_malformed.py RAPT [--requests N] [--seed S] [--clients N] [--folder DIR] [--memory] [--only KIND] [--nginx]
                                  [--corpus FOLDER]

Best with a build with sanitizers; models are trained by RAPT in DIR unless they are there. Each connection must be answered or
closed in time, each response be whole and of a status that says whose fault it is (no 5xx but 503, and 505 for a wrong version),
and a request that hides in another's body never be answered. At the end the server must be as healthy as before, its log free of
reports of sanitizers, and its exit status 0. --memory: its memory must not grow by more than 1 MB after the first fifth (without
sanitizers, which keep what was freed). --nginx: with nginx in front, which may refuse in its own ways; no hidden request may be
read, nor a client get the answer of another. --corpus: before them the cases of tests/requests of gunicorn's source archive
(`pip download gunicorn --no-binary :all: --no-deps`); no request may be answered behind one that it calls invalid. Exit
status 1: something was wrong; it is printed with the bytes that caused it.
"""
import argparse
import collections
import json
import random
import re
import socket
import struct
import threading
import time

import serve_framings
import serve_process
from serve_damage import DAMAGE, SHARE, VALID, Request

FRAMINGS = ("smuggled", "odd_framing")  # kinds with a hidden request
HIDDEN = 'route="other",status="404"'  # what the metrics call it
TIMEOUT = 2  # seconds: header, request, idle
SLACK = 15  # seconds that the machine may take for what it computes, or be late

# ---- responses -----------------------------------------------------------------------------------------------------------


class Wrong(Exception):
    pass


def response_body(head, rest, method):
    """Body and what follows it; None: its end is missing."""
    status = int(head[9:12])
    fields = {}
    for line in head.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        fields[name.lower()] = value.strip()
    if method == "HEAD" or status in (204, 304) or status < 200:
        return fields, b"", rest
    if fields.get(b"transfer-encoding") == b"chunked":
        body = b""
        while True:
            line, found, rest = rest.partition(b"\r\n")
            if not found:
                return fields, None, b""
            size = int(line, 16)
            if len(rest) < size + 2:
                return fields, None, b""
            if rest[size:size + 2] != b"\r\n":
                raise Wrong("a chunk without an end")
            body, rest = body + rest[:size], rest[size + 2:]
            if size == 0:
                return fields, body, rest
    if b"content-length" in fields:
        size = int(fields[b"content-length"])
        return (fields, rest[:size], rest[size:]) if len(rest) >= size else (fields, None, b"")
    return fields, rest, b""


def statuses_of(data, method, version, any_of):
    """Of all responses that came, each of which is looked at; any_of: those above 499 that are fine."""
    statuses = []
    while data:
        head, found, rest = data.partition(b"\r\n\r\n")
        if rest.startswith(head + found) and head.startswith(b"HTTP/1.1 4") and b"\r\nConnection: close" in head:
            rest = rest[len(head + found):]  # libmicrohttpd 0.9.75, of a wrong Content-Length, before it asks anybody
        if not re.match(rb"HTTP/1\.[01] [1-5]\d\d [A-Za-z -]+(\r\n|$)", head) or not found:
            raise Wrong("no response: %r" % data[:200])
        status = int(head[9:12])
        fields, body, data = response_body(head, rest, method)
        statuses.append(status)
        if status >= 500 and not (status in any_of or (status == 505 and version)):
            raise Wrong("status %d: %r" % (status, body))
        if body and fields.get(b"content-type", b"").startswith(b"application/json"):
            try:
                json.loads(body.decode("utf-8"))
            except ValueError as error:
                raise Wrong("not JSON: %s: %r" % (error, body[:300]))
    return statuses


# ---- the run -------------------------------------------------------------------------------------------------------------


class Run:
    def __init__(self, options, server):
        self.options, self.server, self.port = options, server, server.port
        self.lock, self.next, self.stop = threading.Lock(), 0, False
        self.seen, self.closed, self.wrong = collections.Counter(), 0, []
        self.longest, self.longest_kind, self.memory = 0.0, "", []

    def make(self, number):
        """Request number N of this seed."""
        rng = random.Random("%d %d" % (self.options.seed, number))
        kinds = [self.options.only] if self.options.only else list(DAMAGE)
        kind = rng.choices(kinds, [SHARE.get(k, 1) for k in kinds])[0]
        r = Request(rng.choice(VALID))
        parts = DAMAGE[kind](rng, r)
        return kind, r.method, parts if isinstance(parts, list) else [parts], rng.random() < 0.05

    def exchange(self, kind, parts, hangs_up=False):
        """The bytes that come back until the connection is closed."""
        begin, data = time.monotonic(), b""
        connection = self.server.socket(TIMEOUT + SLACK, self.port)
        try:
            for i, part in enumerate(parts):
                connection.sendall(part)
                if i + 1 < len(parts):
                    time.sleep(0.001)
            if hangs_up:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return b""
            while True:
                got = connection.recv(1 << 16)
                if not got:
                    break
                data += got
        except socket.timeout:
            raise Wrong("open after %.1f s; %d bytes came" % (time.monotonic() - begin, len(data)))
        except (ConnectionResetError, BrokenPipeError):
            pass  # closed while there was more to read
        finally:
            connection.close()
        took = time.monotonic() - begin
        with self.lock:
            if took > self.longest:
                self.longest, self.longest_kind = took, kind
        return data

    def send(self, kind, method, parts, hangs_up):
        """Statuses of the responses; none: the connection was closed."""
        data = self.exchange(kind, parts, hangs_up)
        if self.options.nginx and not data.startswith(b"HTTP/"):
            data = b""  # it speaks HTTP/0.9 to whom it takes for old
        try:
            statuses = statuses_of(data, method, kind in ("wrong_version", "flipped_all", "in_parts", "pipelined", "no_http",
                                                          "odd_framing"),
                                   (501, 502, 503, 504) if self.options.nginx else (503,))
        except (ValueError, IndexError) as error:
            raise Wrong("no response: %s: %r" % (error, data[:200]))
        if kind in FRAMINGS and len([s for s in statuses if s >= 200]) > 1 and not self.options.nginx:
            raise Wrong("the hidden request was answered: %s" % statuses)
        if self.options.nginx and not self.is_healthy():
            raise Wrong("the next client got another answer than its own")
        return statuses

    def check_corpus(self, cases):
        for number, case in enumerate(cases):
            try:
                data = self.exchange(case.name, [case.data])
                statuses = statuses_of(data, case.data.split(b" ")[0].decode("latin-1"), True, (503,))
                if case.is_wrong(data, statuses):
                    raise Wrong("answered behind its end: %s" % statuses)
            except (Wrong, ValueError) as error:
                self.wrong.append((-1 - number, case.name, str(error), case.data))

    def is_healthy(self):
        """Whether a client after that gets its own answer."""
        connection = self.server.socket(TIMEOUT + SLACK, self.port)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = connection.makefile("rb").read()
        connection.close()
        return answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b'{"status":"ok"}')

    def client(self):
        while True:
            with self.lock:
                number, self.next = self.next, self.next + 1
                if number >= self.options.requests or self.stop:
                    return
                if self.options.memory and number % (self.options.requests // 50 or 1) == 0:
                    self.memory.append((number, self.server.resident()))
            kind, method, parts, hangs_up = self.make(number)
            try:
                statuses = self.send(kind, method, parts, hangs_up)
            except (Wrong, OSError) as error:
                with self.lock:
                    self.wrong.append((number, kind, str(error), b"".join(parts)))
                    self.stop = self.stop or self.server.process.poll() is not None or len(self.wrong) > 20
                continue
            with self.lock:
                self.seen.update(statuses)
                self.closed += not statuses

    def all(self):
        clients = [threading.Thread(target=self.client) for _ in range(self.options.clients)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()


def settled(server):
    """Its memory when all connections are closed."""
    until = time.monotonic() + 3 * TIMEOUT
    while time.monotonic() < until and server.metric("rapt_jobs_running") + server.metric("rapt_jobs_waiting") > 0:
        time.sleep(0.1)
    time.sleep(TIMEOUT)
    return server.resident()


def judge(options, server, run, seconds):
    bars = serve_process.Bars()
    for number, kind, error, data in run.wrong:
        print("request %d, %s: %s\n    %r" % (number, kind, error,
                                              data if len(data) < 1200 else data[:1000] + b"..." + data[-100:]))
    sent = min(run.next, options.requests)
    bars.check("%d malformed requests" % sent, not run.wrong and sent == options.requests,
               "%d wrong, in %.0f s; seed %d" % (len(run.wrong), seconds, options.seed))
    print("       statuses: %s; %d connections were closed without one" %
          (", ".join("%d: %d" % one for one in sorted(run.seen.items())), run.closed))
    bars.check("no connection hangs", run.longest < 2 * TIMEOUT + SLACK,
               "the longest took %.2f s (%s); timeouts are %d s" % (run.longest, run.longest_kind, TIMEOUT))
    alive = server.process.poll() is None
    if alive and options.only in FRAMINGS:
        hidden = server.metric("rapt_http_requests_total", HIDDEN) - run.hidden
        bars.check("no hidden request is read", hidden == 0, "%d" % hidden)
    bars.check("the server answers", alive and server.ask("GET", "/health")[0] == 200, "/health")
    if alive:
        status, _, body = server.ask("POST", "/v1/completions", {"model": "lm", "prompt": "the cat", "max_tokens": 4, "seed": 1})
        bars.check("as before", (status, json.loads(body)["choices"]) == run.before, "the same completion")
    if options.memory and alive:
        early, late = dict(run.memory), settled(server)
        begin = max(bytes for number, bytes in early.items() if number <= options.requests // 5)
        bars.check("memory", late - begin <= 1 << 20, "%.2f MB after a fifth, %.2f MB at the end" % (begin / 1e6, late / 1e6))
    bars.check_end(server)
    bars.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rapt")
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--folder")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--only", choices=DAMAGE)
    parser.add_argument("--nginx", action="store_true")
    parser.add_argument("--corpus", metavar="FOLDER")
    options = parser.parse_args()
    folder = serve_process.make_models(options.rapt, options.folder)
    models = ["lm=lm", "en-fr=en-fr", "encoder=" + serve_process.ENCODER, "pairs=" + serve_process.PAIRS]
    limits = ["--header-timeout", str(TIMEOUT), "--request-timeout", str(TIMEOUT), "--idle-timeout", str(TIMEOUT),
              "--send-timeout",
              str(TIMEOUT), "--max-tokens", "64", "--max-texts", "64", "--max-n", "4", "--max-explain", "64"]
    with serve_process.Server(options.rapt, folder, models, *limits) as server:
        run = Run(options, server)
        status, _, body = server.ask("POST", "/v1/completions", {"model": "lm", "prompt": "the cat", "max_tokens": 4, "seed": 1})
        run.before = (status, json.loads(body)["choices"])
        nginx = serve_process.Nginx(server, folder) if options.nginx else None
        run.port = nginx.port if nginx else server.port
        begin = time.monotonic()
        cases = serve_framings.corpus(options.corpus) if options.corpus else []
        run.check_corpus(cases)
        if options.corpus:
            print("       %d cases of a corpus" % len(cases))
        run.hidden = server.metric("rapt_http_requests_total", HIDDEN)
        run.all()
        if nginx:
            nginx.end()
        judge(options, server, run, time.monotonic() - begin)


if __name__ == "__main__":
    main()
