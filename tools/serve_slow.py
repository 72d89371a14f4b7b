#!/usr/bin/env python3
"""Clients of `rapt serve` that are slow or idle: whether it gets rid of the slow ones in time, and what others notice.

    tools/serve_slow.py RAPT [--slow N] [--idle N] [--readers N] [--rounds N] [--folder DIR]

Slowloris: N connections send a header or a body a byte at a time, in five variants; each must be closed at its timeout + 1 s,
however it goes on. Idle: N connections are open and say nothing, and other N read a stream a byte at a time. Two clients ask for
short completions all the while, in processes of their own; rounds with and without the others take turns, and the 99th percentile
with them may be twice the one without. Exit status 1: a bar does not hold. That percentile means little on a machine that is busy
with other work.
"""
import argparse
import json
import multiprocessing
import selectors
import socket
import time

import serve_process

TIMEOUT = 3  # seconds: header, request
ASK = {"model": "lm", "prompt": "the cat", "max_tokens": 8, "seed": 1}
LONG = {"model": "lm2", "prompt": "the dog", "max_tokens": 400, "seed": 1, "stream": True}
BODY = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

# What a slow client says at once, and what again and again.
SLOW = {
    "nothing at all": (b"", b""),
    "a byte of a header now and then": (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"a"),
    "a line of a header now and then": (b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n"),
    "a byte of a body now and then": (BODY + b"Content-Length: 5000\r\n\r\n", b" "),
    "a chunk of a body now and then": (BODY + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
}

# ---- others ----------------------------------------------------------------------------------------------------------------


def ask_for(port, seconds, times):
    """Asks on new connections until the time is over; how long each took."""
    import http.client
    until, took = time.monotonic() + seconds, []
    while time.monotonic() < until:
        begin = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=serve_process.WAIT)
        connection.request("POST", "/v1/completions", json.dumps(ASK), {"Content-Type": "application/json"})
        status = connection.getresponse()
        status.read()
        connection.close()
        took.append(time.monotonic() - begin if status.status == 200 else float("inf"))
    times.put(took)


class Others:
    """Two clients of their own processes."""

    def __init__(self, port, seconds):
        self.times = multiprocessing.Queue()
        self.clients = [multiprocessing.Process(target=ask_for, args=(port, seconds, self.times)) for _ in range(2)]
        for client in self.clients:
            client.start()

    def took(self):
        took = self.times.get() + self.times.get()
        for client in self.clients:
            client.join()
        return took


# ---- slow clients ----------------------------------------------------------------------------------------------------------


class Slow:
    def __init__(self, port, variant):
        self.variant = variant
        self.first, self.again = SLOW[variant]
        self.connection = socket.create_connection(("127.0.0.1", port), serve_process.WAIT)
        self.begin, self.closed = time.monotonic(), None
        self.connection.sendall(self.first)
        self.connection.setblocking(False)

    def look(self):
        """Whether it was closed."""
        try:
            if self.connection.recv(4096) == b"":
                self.closed = time.monotonic()
        except BlockingIOError:
            pass
        except OSError:
            self.closed = time.monotonic()
        return self.closed is not None

    def go_on(self):
        try:
            self.connection.send(self.again)
        except OSError:
            pass


def slowloris(port, count, limit):
    """Connections that are slow until the server closes them: how long each lasted, by variant."""
    select = selectors.DefaultSelector()
    clients = []
    for i in range(count):
        client = Slow(port, list(SLOW)[i % len(SLOW)])
        clients.append(client)
        select.register(client.connection, selectors.EVENT_READ, client)
    open_ones, until = set(clients), time.monotonic() + limit
    while open_ones and time.monotonic() < until:
        step = time.monotonic() + 0.25
        while time.monotonic() < step:
            for key, _ in select.select(0.05):
                if key.data.look():
                    select.unregister(key.fileobj)
                    open_ones.discard(key.data)
        for client in open_ones:
            client.go_on()
    lasted = {}
    for client in clients:
        client.connection.close()
        lasted.setdefault(client.variant, []).append((client.closed or float("inf")) - client.begin)
    return lasted


# ---- idle clients ----------------------------------------------------------------------------------------------------------


def read_slowly(connections, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for connection in connections:
            try:
                connection.recv(1)
            except OSError:
                pass
        time.sleep(0.2)


def open_readers(port, count):
    """Streams of which a byte is read now and then."""
    body = json.dumps(LONG).encode()
    readers = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), serve_process.WAIT)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(BODY + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        connection.setblocking(False)
        readers.append(connection)
    return readers


def percentiles(took):
    return "p50 %.1f ms, p99 %.1f ms, %d requests" % (serve_process.percentile(took, 0.5) * 1e3,
                                                      serve_process.percentile(took, 0.99) * 1e3, len(took))


def compare(bars, what, alone, beside):
    print("       alone: %s; beside them: %s" % (percentiles(alone), percentiles(beside)))
    factor = serve_process.percentile(beside, 0.99) / serve_process.percentile(alone, 0.99)
    bars.check("others beside " + what, factor <= 2, "p99 is %.2f times the one alone" % factor)


def slow_rounds(server, options, bars):
    alone, beside, lasted = [], [], {}
    for _ in range(options.rounds):
        alone += Others(server.port, TIMEOUT + 1).took()
        others = Others(server.port, TIMEOUT + 1)
        for variant, times in slowloris(server.port, options.slow, TIMEOUT + 10).items():
            lasted.setdefault(variant, []).extend(times)
        beside += others.took()
    for variant, times in lasted.items():
        bars.check("%d connections that send %s" % (len(times), variant), max(times) <= TIMEOUT + 1,
                   "closed after %.2f to %.2f s; the timeout is %d s" % (min(times), max(times), TIMEOUT))
    compare(bars, "%d slow connections" % options.slow, alone, beside)


def idle_rounds(server, options, bars):
    alone, beside = [], []
    for _ in range(options.rounds):
        alone += Others(server.port, 4).took()
        held = [server.socket() for _ in range(options.idle)]
        readers = open_readers(server.port, options.readers)
        while server.metric("rapt_jobs_running") + server.metric("rapt_jobs_waiting") > 0:
            read_slowly(readers, 0.2)  # what they read is there by now: it is their reading that is looked at
        others = Others(server.port, 4)
        read_slowly(readers, 3.5)
        beside += others.took()
        held_on = sum(1 for connection in held if still_open(connection))
        bars.check("idle connections stay open", held_on == options.idle, "%d of %d" % (held_on, options.idle))
        for connection in held + readers:
            connection.close()
    compare(bars, "%d idle connections and %d slow readers" % (options.idle, options.readers), alone, beside)


def still_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rapt")
    parser.add_argument("--slow", type=int, default=500)
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--readers", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder")
    options = parser.parse_args()
    serve_process.raise_descriptors()
    folder = serve_process.make_models(options.rapt, options.folder)
    bars = serve_process.Bars()
    limits = ["--connections", "4000", "--queue", "1000", "--log", "none"]
    with serve_process.Server(options.rapt, folder, ["lm=lm"], "--header-timeout", str(TIMEOUT), "--request-timeout",
                              str(TIMEOUT),
                              *limits) as server:
        slow_rounds(server, options, bars)
        bars.check("exit status", server.end() == 0, "0")
    with serve_process.Server(options.rapt, folder, ["lm=lm", "lm2=lm2"], "--header-timeout", "600", *limits) as server:
        idle_rounds(server, options, bars)
        bars.check("exit status", server.end() == 0, "0")
    bars.end()


if __name__ == "__main__":
    main()
