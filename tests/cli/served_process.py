"""served_process.py: a `rapt serve` that runs, its log, and requests to it. For serve_operation.py and its parts.
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

RAPT = os.environ["RAPT"]
WAIT = 60  # seconds that nothing here takes on any machine
LONG = {"prompt": "the cat", "max_tokens": 1900, "n": 32, "temperature": 1, "stream": True}
SHORT = {"prompt": "the cat", "max_tokens": 3, "seed": 1}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=WAIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(WAIT)
        self.sock.connect(self.path)


class Server:
    """A server that runs, and its log."""
    started = []

    def __init__(self, *arguments, models=("lm",), fds=(), before="", **environment):
        self.log = open("log", "w+")
        command = [RAPT, "serve", *models, *arguments]
        if not any(a.startswith("--host") for a in arguments) and not fds:
            command += ["--port", "0"]
        if before:
            command = ["bash", "-c", before + ' exec "$@"', "bash", *command]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True, pass_fds=fds,
                                        env={**os.environ, **environment})
        Server.started.append(self.process)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.wait(WAIT)
            raise SystemExit("no server: %r, %s" % (line, open("log").read()))
        self.url = line.split()[2]
        self.port = int(self.url.rsplit(":", 1)[1]) if "://" in self.url else None

    def connect(self):
        if self.port is None:
            return UnixConnection(self.url[len("unix:"):])
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)

    def ask(self, method, path, body=None, **headers):
        """Status, headers and body of a request on a connection of its own."""
        connection = self.connect()
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content_Type", "application/json")
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, response.headers, data

    def complete(self, request, **headers):
        return self.ask("POST", "/v1/completions", request, **headers)

    def begin(self, request):
        """A response of which a part has been read."""
        connection = self.connect()
        connection.request("POST", "/v1/completions", json.dumps(request), {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200, response.read()
        response.readline()
        response.connection = connection
        return response

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        if number is not None:
            self.send(number)
        return self.process.wait(WAIT)

    def lines(self):
        return open("log").read().splitlines()

    def wait_for(self, pattern, times=1):
        """Until the log has lines with it."""
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            found = [line for line in self.lines() if re.search(pattern, line)]
            if len(found) >= times:
                return found
            time.sleep(0.02)
        raise AssertionError("%s is not in the log: %s" % (pattern, self.lines()[-5:]))


def is_json(data):
    return json.loads(data)


def stop_all():
    """Kills the servers that a check has left."""
    for process in Server.started:
        if process.poll() is None:
            process.kill()
