#!/usr/bin/env python3
"""What HTTP costs `rapt serve`, and what it costs when nothing is asked of it.

    python bench/serve_http.py health MODEL           # /health, 64 connections (wrk)
    python bench/serve_http.py added MODEL TEXT       # a sentence over HTTP, in turns with the engine alone (serve_engine.c)
    python bench/serve_http.py start MODEL TEXT       # from the start to /ready, beside `rapt translate` of a line
    python bench/serve_http.py idle MODEL [LM]        # CPU time and memory without requests
    python bench/serve_http.py clients MODEL TEXT LM  # 1,000 connections that do nothing, 300 that read a stream slowly
    ... [--seconds 10] [--connections 1000] [--streams 300]

MODEL is a translator, TEXT has a sentence a line, LM is a small language model. Needs wrk for the first two, a build with
librapt.so in build/ for the second. What is shared is in serving.py.
"""
import argparse
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import resource
import selectors
import socket
import subprocess
import threading
import time

from serving import RAPT, ROOT, ROUNDS, THREADS, Server, bar, free_port, in_turns, percentile, start_rapt, workplace, wrk

parser = argparse.ArgumentParser()
parser.add_argument("part", choices=["health", "added", "start", "idle", "clients"])
parser.add_argument("model")
parser.add_argument("others", nargs="*", metavar="TEXT or LM")
parser.add_argument("--seconds", type=int, default=10)
parser.add_argument("--rounds", type=int, default=ROUNDS)
parser.add_argument("--connections", type=int, default=1000)
parser.add_argument("--streams", type=int, default=300)
parser.add_argument("--requests", type=int, default=500, help="of each kind, for a p99")
parser.add_argument("--tokens", type=int, default=48, help="of each choice of a stream")
parser.add_argument("--choices", type=int, default=8, help="of a stream")
options = parser.parse_args()


def sentences():
    return open(options.others[0], encoding="utf8").read().splitlines()


# ---- requests --------------------------------------------------------------------------------------------------------------

def health(server):
    results = in_turns({"/health": lambda: wrk(server, "/health", 64, options.seconds)}, options.rounds)["/health"]
    print(f"/health, 64 connections: {results['rate']:.0f} requests/s, p50 {results['p50']:.2f} ms, p99 {results['p99']:.2f} ms")
    bar("requests/s", results["rate"], least=10000)


def added(server, folder):
    program = os.path.join(folder, "serve_engine")
    subprocess.run(["cc", "-O2", "-std=gnu11", f"-I{ROOT}/include", "-o", program, ROOT / "bench/serve_engine.c",
                    ROOT / "build/librapt.so", f"-Wl,-rpath,{ROOT}/build", "-pthread"], check=True)
    environment = {"SENTENCES": options.others[0], "BODY": '{"text": %s}'}

    def alone():
        command = [program, options.model, options.others[0], str(THREADS), str(options.seconds)]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)

    results = in_turns({"HTTP": lambda: wrk(server, "/v1/translate", 1, options.seconds, environment=environment),
                        "engine": alone}, options.rounds)
    for name, values in results.items():
        print(f"{name}: a sentence takes {values['mean']:.3f} ms (p50 {values['p50']:.3f}, p99 {values['p99']:.3f})")
    bar("added by HTTP", results["HTTP"]["p50"] - results["engine"]["p50"], most=1, unit=" ms")


# ---- start and idleness ----------------------------------------------------------------------------------------------------

def seconds_to_ready():
    port = free_port()
    start = time.perf_counter()
    process = subprocess.Popen([RAPT, "serve", "--port", str(port), "--log", "none", "--threads", str(THREADS), options.model],
                               stdout=subprocess.DEVNULL)
    server = Server("rapt serve", f"http://127.0.0.1:{port}", process)
    status = 0
    while status != 200 and process.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = server.connect(5)
            connection.request("GET", "/ready")
            status = connection.getresponse().status
        if status != 200:
            time.sleep(0.0005)
    seconds = time.perf_counter() - start
    server.stop()
    if status != 200:
        raise SystemExit("rapt serve did not start")
    return {"ms": 1e3 * seconds}


def seconds_of_line():
    start = time.perf_counter()
    command = [RAPT, "translate", options.model, "--quiet", "--threads", str(THREADS)]
    subprocess.run(command, input=sentences()[0] + "\n", text=True, stdout=subprocess.DEVNULL, check=True)
    return {"ms": 1e3 * (time.perf_counter() - start)}


def start():
    results = in_turns({"rapt serve": seconds_to_ready, "rapt translate": seconds_of_line}, max(options.rounds, 9))
    ready, line = results["rapt serve"]["ms"], results["rapt translate"]["ms"]
    print(f"from the start to /ready: {ready:.1f} ms; rapt translate loads the model and translates a line in {line:.1f} ms")
    bar("ready after loading", ready - line, most=50, unit=" ms")


def cpu_seconds(pid):
    """Of all threads, in steps of a nanosecond."""
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def resident(pid):
    """MB."""
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["VmRSS"].split()[0]) * 1024 / 1e6


def weights(model):
    """MB of a file, or of those of a folder that are models."""
    path = pathlib.Path(model)
    files = [path] if path.is_file() else path.glob("*.safetensors")
    return sum(file.stat().st_size for file in files) / 1e6


def idle(server):
    memory, model = resident(server.process.pid), sum(weights(one) for one in [options.model, *options.others])
    for _ in range(100):
        server.ask("GET", "/health")
    time.sleep(1)
    before = cpu_seconds(server.process.pid)
    time.sleep(options.seconds)
    share = 100 * (cpu_seconds(server.process.pid) - before) / options.seconds
    print(f"idle for {options.seconds} s: {share:.4f} % of a CPU; {memory:.1f} MB resident, weights in the file {model:.1f} MB")
    bar("CPU", share, most=0.2, unit=" %")
    bar("memory beside the weights", memory - model, most=15, unit=" MB")


# ---- many clients ----------------------------------------------------------------------------------------------------------

def latency(server):
    """Milliseconds of a sentence, each over a new connection."""
    times, lines = [], sentences()
    for i in range(options.requests):
        begin = time.perf_counter()
        server.ask("POST", "/v1/translate", {"model": "translator", "text": lines[i % len(lines)]})
        times.append(1e3 * (time.perf_counter() - begin))
    return {"p50": percentile(times, 50), "p99": percentile(times, 99)}


def open_connections(server, count, bytes_of_window=None):
    sockets = []
    for _ in range(count):
        one = socket.socket()
        if bytes_of_window:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, bytes_of_window)
        one.connect((server.host, server.port))
        sockets.append(one)
    return sockets


def ask_for_stream(server, one, number):
    body = json.dumps({"model": "lm", "prompt": "The", "max_tokens": options.tokens, "n": options.choices, "logprobs": 5,
                       "stream": True, "seed": number})
    one.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode())


class SlowReaders(threading.Thread):
    """Reads 200 bytes a second of each connection, one after the other."""

    def __init__(self, sockets):
        super().__init__(daemon=True)
        self.sockets, self.bytes, self.ended, self.done, self.begun = sockets, 0, 0, False, {}

    def run(self):
        selector = selectors.DefaultSelector()
        for one in self.sockets:
            selector.register(one, selectors.EVENT_READ)
        for one in itertools.cycle(self.sockets):
            if self.done or not selector.get_map():
                return
            time.sleep(1 / len(self.sockets))
            with contextlib.suppress(BlockingIOError, KeyError):
                data = one.recv(200, socket.MSG_DONTWAIT) if one in selector.get_map() else b"-"
                self.bytes += len(data)
                self.begun.setdefault(one, data)
                if not data:
                    self.ended += 1
                    selector.unregister(one)


def jobs(server):
    text = server.ask("GET", "/metrics").decode()
    kinds = ("rapt_jobs_running", "rapt_jobs_waiting")
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(kinds))


def clients(server):
    alone = in_turns({"": lambda: latency(server)}, options.rounds)[""]
    idlers = open_connections(server, options.connections)
    streams = open_connections(server, options.streams, 2048)
    for number, one in enumerate(streams):
        ask_for_stream(server, one, number)
    readers = SlowReaders(streams)
    readers.start()
    time.sleep(1)
    while len(readers.begun) < len(streams) or jobs(server) > 0: # what is computed for the streams is not what is measured
        time.sleep(0.2)
    for begun in readers.begun.values():
        if not begun.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"a stream was refused: {begun.decode(errors='replace')}")
    beside = in_turns({"": lambda: latency(server)}, options.rounds)[""]
    readers.done = True
    readers.join()
    print(f"a sentence over a new connection: alone p50 {alone['p50']:.2f} ms, p99 {alone['p99']:.2f} ms; beside {len(idlers)} "
          f"idle connections and {len(streams) - readers.ended} streams (of which {readers.bytes / len(streams):.0f} bytes each "
          f"are read) p50 {beside['p50']:.2f} ms, p99 {beside['p99']:.2f} ms")
    bar("p99 by that alone", beside["p99"] / alone["p99"], most=2)
    for one in idlers + streams:
        one.close()


def main():
    if options.part == "start":
        start()
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with workplace() as (folder, servers):
        models = [f"translator={options.model}"]
        if options.part in ("idle", "clients"):
            models += [f"lm={options.others[-1]}"] if options.others else []
        servers.append(start_rapt("rapt serve", models, "--connections", "4000", "--queue", "10000", "--send-timeout", "3600",
                                  "--idle-timeout", "3600"))
        if options.part == "added":
            added(servers[0], folder)
        else:
            {"health": health, "idle": idle, "clients": clients}[options.part](servers[0])


main()
