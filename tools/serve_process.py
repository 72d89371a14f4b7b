"""serve_process.py: a server that runs, what Linux says of its process, and small models for it. For the tools beside it that
prove what `rapt serve` withstands. Standard library only.
"""
import ctypes
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import tempfile
import time

WAIT = 120  # seconds that nothing here takes on any machine
ENCODER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "golden", "hub_encoder", "bert_sentence")
PAIRS = os.path.join(os.path.dirname(ENCODER), "..", "hub_rerank", "roberta_pairs")
SANITIZER = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "WARNING: ThreadSanitizer")

LANGUAGE = """task: language_model
seed: %d
data: {text: text.txt, validation_fraction: 0.2}
tokenizer: {type: characters}
model: {layers: 2, d_model: 32, heads: 2, ffn: 64, context: 512, ffn_kind: relu, norm_place: pre, norm_kind: layer, bias: true,
        scale_embedding: true, tied: false, positions: learned, init: gpt2}
train: {steps: 40, batch: 4, lr: 0.01, warmup: 5, report_every: 40}
"""
TRANSLATION = """task: translation
seed: %d
data: {pairs: pairs.tsv, validation_fraction: 0.1, max_len: 24}
tokenizer: {type: words}
model: {layers: 2, d_model: 32, heads: 2, ffn: 64, max_positions: 60}
train: {steps: 60, batch: 16, lr: 0.01, label_smoothing: 0, schedule: constant, warmup: 0, report_every: 60}
"""


def raise_descriptors(wanted=8192):
    """As many files as clients of this process may open; the number."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def make_models(rapt, folder):
    """Models "lm" and "lm2" of characters, "en-fr" and "en-de" of words, in `folder` (None: a new one) unless they are there."""
    folder = os.path.abspath(folder or tempfile.mkdtemp())
    os.makedirs(folder, exist_ok=True)
    subjects = ["I", "you", "we", "they", "the dog", "the cat", "my father", "a man in a red shirt"]
    verbs, objects = ["see", "like", "hear", "know", "find", "call"], ["the house", "a bird", "the sea", "a train", "the moon"]
    pairs = [" ".join((s, v, o)) + "." for s in subjects for v in verbs for o in objects]
    with open(os.path.join(folder, "pairs.tsv"), "w") as file:
        file.writelines("%s\t%s\n" % (line, " ".join(reversed(line[:-1].split())) + " .") for line in pairs)
    with open(os.path.join(folder, "text.txt"), "w") as file:
        file.write("\n".join(pairs) + '\nTo be, or not to be: "a dog runs"; J Q Z X V K Y?\n')
    for name, recipe, seed in (("lm", LANGUAGE, 1), ("lm2", LANGUAGE, 2), ("en-fr", TRANSLATION, 1), ("en-de", TRANSLATION, 2)):
        if os.path.exists(os.path.join(folder, name, "config.json")):
            continue
        with open(os.path.join(folder, name + ".yaml"), "w") as file:
            file.write(recipe % seed)
        subprocess.run([os.path.abspath(rapt), "train", name + ".yaml", "--quiet", "--out", name], cwd=folder, check=True)
    return folder


def no_huge_pages():
    """The arenas of computations ask for pages of 2 MB, and memory that was asked for grows in such steps as it is used."""
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE


class Server:
    """`rapt serve`, started in `folder`, where its log goes (serve-PID.log, of the one that is started last)."""

    def __init__(self, rapt, folder, models, *arguments, before="", fds=(), huge_pages=True, **environment):
        self.path = os.path.join(folder, "serve-%d.log" % os.getpid())
        command = [os.path.abspath(rapt), "serve", *models, *arguments]
        if not fds:
            command += ["--port", "0"]
        if before:
            command = ["bash", "-c", before + ' exec "$@"', "bash", *command]
        with open(self.path, "a") as log:
            log.truncate(0)
            self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True, pass_fds=fds,
                                            preexec_fn=None if huge_pages else no_huge_pages,
                                            env={**os.environ, **environment})
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.wait(WAIT)
            raise SystemExit("no server: %s" % open(self.path).read())
        self.port = int(line.rsplit(":", 1)[1])

    def wait_until(self, happens, what):
        until = time.monotonic() + WAIT
        while not happens():
            if time.monotonic() > until or self.process.poll() is not None:
                raise SystemExit(what)
            time.sleep(0.02)

    def connect(self, timeout=WAIT):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, timeout=WAIT, port=None):
        return socket.create_connection(("127.0.0.1", port or self.port), timeout)

    def ask(self, method, path, body=None, headers={}, timeout=WAIT):
        """Status, header and body of a request on a connection of its own."""
        connection = self.connect(timeout)
        headers = dict(headers)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def metric(self, name, label=""):
        """The sum of a metric's samples, of those with a label."""
        text = self.ask("GET", "/metrics")[2].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.split("{")[0].split(" ")[0] == name and label in line)

    def resident(self):
        """Bytes in memory."""
        with open("/proc/%d/statm" % self.process.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def seconds(self):
        """Of the processors."""
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def log(self):
        with open(self.path, errors="replace") as file:
            return file.read()

    def sanitizer_lines(self):
        return [line for line in self.log().splitlines() if any(word in line for word in SANITIZER)]

    def wait_for(self, text, times=1):
        """Until its log has a text so many times."""
        self.wait_until(lambda: self.log().count(text) >= times, "%r is not in the log %s" % (text, self.path))

    def end(self, number=signal.SIGTERM):
        """The exit status after a signal."""
        self.process.send_signal(number)
        return self.process.wait(WAIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT)
        self.process.stdout.close()


class Nginx:
    """nginx in front of a server, with connections that it keeps and shares among its clients."""

    def __init__(self, server, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        base = os.path.join(folder, "nginx-%d" % os.getpid())
        os.makedirs(base, exist_ok=True)
        with open(base + "/nginx.conf", "w") as file:
            file.write("""daemon off; master_process off; pid %(base)s/pid; error_log %(base)s/error.log;
events { worker_connections 500; }
http {
    access_log off; client_body_temp_path %(base)s; proxy_temp_path %(base)s; fastcgi_temp_path %(base)s;
    uwsgi_temp_path %(base)s; scgi_temp_path %(base)s;
    upstream rapt { server 127.0.0.1:%(server)d; keepalive 2; }
    server {
        listen 127.0.0.1:%(port)d;
        client_header_timeout 2; client_body_timeout 2; keepalive_timeout 2;
        proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off;
        location / { proxy_pass http://rapt; }
    }
}
""" % {"base": base, "port": self.port, "server": server.port})
        self.process = subprocess.Popen(["nginx", "-c", base + "/nginx.conf", "-p", base], stderr=subprocess.DEVNULL)
        server.wait_until(self.answers, "nginx does not answer; see %s/error.log" % base)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), WAIT).close()
            return True
        except OSError:
            return False

    def end(self):
        self.process.terminate()
        self.process.wait(WAIT)


class Bars:
    """Claims that hold or not, printed as they are checked."""

    def __init__(self):
        self.broken = 0

    def check(self, name, holds, figure):
        self.broken += not holds
        print("%-6s %s: %s" % ("ok" if holds else "FAILED", name, figure), flush=True)

    def check_end(self, server):
        """Ends a server, unless it has ended itself: with status 0, and nothing that a sanitizer has found."""
        status = server.end() if server.process.poll() is None else server.process.returncode
        reports = server.sanitizer_lines()
        self.check("exit status", status == 0, status)
        self.check("sanitizers", not reports, reports[:5] or "no report")

    def end(self):
        raise SystemExit(1 if self.broken else 0)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
