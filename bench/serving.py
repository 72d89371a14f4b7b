"""bench/serving.py: what serve_lm.py, serve_translate.py and serve_http.py share: servers that are started and stopped, requests
with Python's own http.client, wrk, and measurements in turns. From the environment, as in lib.sh: RAPT (default build/rapt),
THREADS of all servers (default: all CPUs), ROUNDS (default 3), and PYTHON, one that has the peers' packages (default: the
one that runs this).
"""
import contextlib
import http.client
import json
import math
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
RAPT = os.environ.get("RAPT", str(ROOT / "build/rapt"))
PYTHON = os.environ.get("PYTHON", sys.executable)
THREADS = int(os.environ.get("THREADS", len(os.sched_getaffinity(0))))
ROUNDS = int(os.environ.get("ROUNDS", 3))
READY_SECONDS = 120


class Server:
    """A name and an address; and the process, where it was started here."""

    def __init__(self, name, url, process=None):
        self.name, self.process = name, process
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port or 80

    def connect(self, timeout=600):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, connection=None):
        """The response, whose status must be 200, as JSON, or as bytes where it is none."""
        own = connection or self.connect()
        own.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        response = own.getresponse()
        data = response.read()
        if not connection:
            own.close()
        if response.status != 200:
            raise SystemExit(f"{self.name}: {method} {path}: {response.status} {data[:500].decode(errors='replace')}")
        return json.loads(data) if "json" in response.headers.get("Content-Type", "") else data

    def model(self):
        """The name of its first model, for requests."""
        return self.ask("GET", "/v1/models")["data"][0]["id"]

    def wait(self, path):
        """Until it answers `path` with 200."""
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            if self.process and self.process.poll() is not None:
                raise SystemExit(f"{self.name}: ended with {self.process.returncode}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = self.connect(5)
                connection.request("GET", path)
                if connection.getresponse().status == 200:
                    return self
            time.sleep(0.05)
        raise SystemExit(f"{self.name}: not ready after {READY_SECONDS} s")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_rapt(name, models, *options):
    """`rapt serve` of MODEL or NAME=MODEL, once it listens: its models are loaded then."""
    command = [RAPT, "serve", "--port", "0", "--log", "none", "--threads", str(THREADS), *options, *models]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("listening on "):
            return Server(name, line.split()[-1], process)
    raise SystemExit(f"{RAPT} serve: did not start")


def start_llama(name, program, gguf, slots, context, *options):
    """llama-server with what is best for it: continuous batching, every thread, no copies of prompts that do not come back, no
    samplers but those that find the most probable token."""
    port = free_port()
    command = [program, "-m", gguf, "--host", "127.0.0.1", "--port", str(port), "-np", str(slots), "-c", str(slots * context),
               "-cb", "-t", str(THREADS), "-tb", str(THREADS), "--cache-ram", "0", "--no-webui",
               "--samplers", "top_k;temperature", "--top-k", "1", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Server(name, f"http://127.0.0.1:{port}", process).wait("/health")


def start_ctranslate2(name, folder, *options):
    """serve_ct2.py of this folder."""
    port = free_port()
    command = [PYTHON, str(ROOT / "bench/serve_ct2.py"), folder, "--port", str(port), *options]
    return Server(name, f"http://127.0.0.1:{port}", subprocess.Popen(command)).wait("/health")


def convert(model, to, folder):
    """A model of rapt or a folder of Hugging Face, written by `rapt convert`; its path."""
    out = os.path.join(folder, "converted." + to)
    subprocess.run([RAPT, "convert", model, "--to", to, "--quiet", "-o", out], check=True, stdout=subprocess.DEVNULL)
    return out


def wrk(server, path, connections, seconds, script=None, environment=None):
    """What serve_wrk.lua prints of a run of wrk: requests a second, milliseconds of latency."""
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "60s", "-s",
               script or str(ROOT / "bench/serve_wrk.lua"), f"http://{server.host}:{server.port}{path}"]
    try:
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                             env={**os.environ, **(environment or {})}).stdout
    except FileNotFoundError:
        raise SystemExit("wrk is missing (Debian's package wrk)") from None
    result = json.loads(out.splitlines()[-1])
    if result["errors"]:
        raise SystemExit(f"{server.name}: {path}: {result['errors']} requests failed")
    return result


def percentile(values, p):
    """The smallest value that p % of all do not exceed; NaN of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(p / 100 * len(ordered)) - 1)] if ordered else math.nan


def in_turns(sides, rounds=None):
    """Runs the functions of `sides`, each of which returns a dictionary of numbers, in turns; medians of each number."""
    results = {name: [] for name in sides}
    for _ in range(rounds or ROUNDS):
        for name, run in sides.items():
            results[name].append(run())
    return {name: {key: statistics.median(one[key] for one in runs) for key in runs[0]} for name, runs in results.items()}


@contextlib.contextmanager
def workplace():
    """A folder for conversions, and servers that are stopped in the end: append them to the list."""
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield folder, servers
        finally:
            for server in servers:
                server.stop()


def bar(what, value, least=None, most=None, unit=""):
    """A line with a figure beside what is asked of it."""
    asked = f"at least {least}" if least is not None else f"at most {most}"
    met = value >= least if least is not None else value <= most
    print(f"  {what}: {value:.3g}{unit} ({asked}{unit}: {'met' if met else 'missed'})", flush=True)
