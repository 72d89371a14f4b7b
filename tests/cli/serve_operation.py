"""serve_operation.py TEST: one check of `rapt serve` as it is operated: signals, sockets, keys, limits, logs. For check_serve.sh,
whose folder has the models "lm", "lm2" and "tr". Standard library only; exit status 0: the check passes, 77: skipped.
"""
import concurrent.futures
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
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

    def __init__(self, *arguments, models=("lm",), fds=(), before="", **environment):
        self.log = open("log", "w+")
        command = [RAPT, "serve", *models, *arguments]
        if not any(a.startswith("--host") for a in arguments) and not fds:
            command += ["--port", "0"]
        if before:
            command = ["bash", "-c", before + ' exec "$@"', "bash", *command]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True, pass_fds=fds,
                                        env={**os.environ, **environment})
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


# ---- paths and methods


def routes():
    s = Server()
    status, headers, data = s.ask("GET", "/health")
    assert status == 200 and is_json(data) and len(headers["X-Request-Id"]) == 16
    status, headers, data = s.ask("HEAD", "/health")
    assert status == 200 and data == b"" and int(headers["Content-Length"]) > 0
    status, headers, data = s.ask("OPTIONS", "/v1/completions")
    assert status == 204 and headers["Allow"] == "POST, OPTIONS", headers
    status, headers, data = s.ask("OPTIONS", "*")
    assert status == 204 and "GET" in headers["Allow"]
    status, headers, data = s.ask("DELETE", "/v1/completions")
    assert status == 405 and headers["Allow"] == "POST, OPTIONS"
    assert is_json(data)["error"]["code"] == "method_not_allowed"
    status, headers, data = s.ask("POST", "/languages", {})
    assert status == 405 and headers["Allow"] == "GET, HEAD, OPTIONS" and isinstance(is_json(data)["error"], str)
    status, headers, data = s.ask("GET", "/v1/none")
    assert status == 404 and set(is_json(data)["error"]) == {"message", "type", "param", "code"}
    assert is_json(s.ask("GET", "/v2/none")[2])["message"]
    assert isinstance(is_json(s.ask("GET", "/none")[2])["error"], str)
    status, headers, data = s.ask("GET", "/")
    assert status == 200 and "default-src 'none'" in headers["Content-Security-Policy"]
    assert s.end() == 0


def paths():
    """No response has the folder of a model, whose command names the model; and --no-replay has no command."""
    here = os.getcwd()
    s = Server(models=("lm=" + here + "/lm", "en-fr=" + here + "/tr"))
    asked = [("GET", path, None) for path in ("/", "/v1/models", "/v1/models/lm", "/metrics", "/openapi.json", "/languages", "/x")]
    asked += [("POST", "/v1/completions", body) for body in (SHORT, {"prompt": 1}, {**SHORT, "model": "none"})]
    asked += [("POST", "/v1/" + name, {"model": model, "text": "the cat"}) for name in ("explain", "tokenize", "translate")
              for model in ("lm", "en-fr")]
    asked += [("POST", "/v1/explain", {"model": "lm", "text": "the cat", "format": "html"}),
              ("POST", "/v1/chat/completions", {"model": "lm", "messages": [{"role": "user", "content": "a"}]}),
              ("POST", "/v1/embeddings", {"model": "lm", "input": "a"})]
    for method, path, body in asked:
        status, headers, data = s.ask(method, path, body)
        assert here.encode() not in data and here not in str(headers), (path, body, headers)
    assert s.complete(SHORT)[1]["X-Rapt-Replay"].startswith("rapt generate lm ")
    assert s.end() == 0
    s = Server("--no-replay")
    assert s.complete(SHORT)[0] == 200 and "X-Rapt-Replay" not in s.complete(SHORT)[1]
    assert s.end() == 0


def framing():
    """A request that a proxy could read in another way: refused by name, in the dialect of its path."""
    s = Server()
    connection = socket.create_connection(("127.0.0.1", s.port), WAIT)
    connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
                       b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1
    if b"application/json" in answer:  # libmicrohttpd 1 refuses it in its own words
        assert is_json(answer.split(b"\r\n\r\n", 1)[1])["error"]["code"] == "content_length_with_transfer_encoding"
    for framing in b"Transfer-Encoding:\r\n chunked", b"Content-Length: 2\x004":
        connection = socket.create_connection(("127.0.0.1", s.port), WAIT)
        connection.sendall(b"POST /v1/tokenize HTTP/1.1\r\nHost: localhost\r\n" + framing + b"\r\n\r\n"
                           b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = connection.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1, answer
    assert s.end() == 0


# ---- who may ask


def keys():
    with open("keys", "w") as file:
        file.write("# of tests\nsecret-one\nsecret-two\n")
    s = Server("--api-key-file", "keys", models=("lm", "en-fr=tr"))
    for path in "/health", "/ready", "/", "/openapi.json", "/languages":
        assert s.ask("GET", path)[0] == 200, path
    for path in "/metrics", "/v1/models":
        assert s.ask("GET", path)[0] == 401, path
    status, headers, data = s.complete(SHORT)
    assert status == 401 and headers["WWW-Authenticate"] == "Bearer"
    assert is_json(data)["error"]["code"] == "invalid_api_key"
    assert s.complete(SHORT, Authorization="Bearer secret-on")[0] == 401
    assert s.complete(SHORT, Authorization="Basic secret-one")[0] == 401
    assert s.complete(SHORT, Authorization="bearer secret-one")[0] == 200
    assert s.complete(SHORT, X_Api_Key="secret-two")[0] == 200
    deepl = {"text": ["a cat"], "target_lang": "FR"}
    assert s.ask("POST", "/v2/translate", deepl, Authorization="DeepL-Auth-Key wrong")[0] == 403
    assert s.ask("POST", "/v2/translate", deepl, Authorization="DeepL-Auth-Key secret-two")[0] == 200
    libre = {"q": "a cat", "source": "en", "target": "fr"}
    assert s.ask("POST", "/translate", libre)[0] == 401
    assert s.ask("POST", "/translate", {**libre, "api_key": "wrong"})[0] == 401
    assert s.ask("POST", "/translate", {**libre, "api_key": ["secret-one"]})[0] == 401
    assert s.ask("POST", "/translate", {**libre, "api_key": "secret-one"})[0] == 200
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    assert s.ask("POST", "/translate", "q=a+cat&source=en&target=fr&api_key=secret%2done", **form)[0] == 200
    with open("keys", "w") as file:
        file.write("secret-three\n")
    s.send(signal.SIGHUP)
    s.wait_for("reloaded")
    assert s.complete(SHORT, X_Api_Key="secret-two")[0] == 401
    assert s.complete(SHORT, X_Api_Key="secret-three")[0] == 200
    assert s.end() == 0
    assert not [line for line in s.lines() if "secret" in line]
    with open("keys", "w") as file:
        file.write("secret-one # Ann\nsecret-two\n")
    s = Server("--api-key-file", "keys")
    for key in "secret-one", "secret-two", "secret-one":
        assert s.complete(SHORT, X_Api_Key=key)[0] == 200
    owners = [json.loads(line).get("key") for line in s.wait_for("/v1/completions", 3)]
    assert owners == ["Ann", None, "Ann"], owners
    metrics = s.ask("GET", "/metrics", X_Api_Key="secret-two")[2].decode()
    assert 'rapt_http_requests_by_key_total{key="Ann"} 2\n' in metrics and "secret" not in metrics
    assert s.end() == 0
    assert not [line for line in s.lines() if "secret" in line]


def proxies():
    """The log has the client that a trusted proxy asks for, and no other word for it."""
    for trusted, client in (("127.0.0.1", "192.0.2.7"), ("10.0.0.1", "127.0.0.1")):
        s = Server("--trusted-proxy", trusted)
        assert s.ask("GET", "/health", X_Forwarded_For="198.51.100.1, 192.0.2.7")[0] == 200
        assert json.loads(s.wait_for("/health")[0])["address"] == client
        assert s.end() == 0


def nginx():
    """tools/nginx/rapt.conf, but for its certificate, name and addresses, in front of a server; Prometheus' example."""
    tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")
    if shutil.which("promtool"):
        with open(tools + "/prometheus/rapt.yml") as file:
            text = file.read().replace("/etc/prometheus/rapt.key", os.getcwd() + "/key")
        with open("prometheus.yml", "w") as file:
            file.write(text)
        with open("key", "w") as file:
            file.write("secret")
        subprocess.run(["promtool", "check", "config", "prometheus.yml"], check=True, stdout=subprocess.DEVNULL)
    if not shutil.which("nginx") or not shutil.which("openssl"):
        print("nginx or openssl is not installed")
        sys.exit(77)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                    "-days", "2", "-subj", "/CN=rapt.example.org"], check=True, stderr=subprocess.DEVNULL)
    s = Server("--host", "unix:sock", "--socket-mode", "0666", "--trusted-proxy", "unix")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with open(tools + "/nginx/rapt.conf") as file:
        text = file.read()
    for example, here in (("server 127.0.0.1:8080", "server unix:%s/sock" % os.getcwd()), ("443 ssl", "127.0.0.1:%d ssl" % port),
                          ("/etc/ssl/certs/rapt.example.org.pem", os.getcwd() + "/cert.pem"),
                          ("/etc/ssl/private/rapt.example.org.key", os.getcwd() + "/key.pem")):
        assert example in text, example
        text = text.replace(example, here)
    paths = "".join("%s_temp_path %s/tmp; " % (kind, os.getcwd()) for kind in ("proxy", "fastcgi", "uwsgi", "scgi", "client_body"))
    with open("nginx.conf", "w") as file:
        file.write("daemon off; master_process off; pid %s/pid; error_log %s/error.log; events {} http { access_log off; %s\n%s}\n"
                   % (os.getcwd(), os.getcwd(), paths, text))
    command = ["nginx", "-p", os.getcwd(), "-c", os.getcwd() + "/nginx.conf"]
    subprocess.run([*command, "-t"], check=True, stderr=subprocess.DEVNULL)
    proxy = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    context = ssl.create_default_context(cafile="cert.pem")
    context.check_hostname = False
    until = time.monotonic() + WAIT
    name = "rapt.example.org:%d" % port
    while True:
        try:
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=WAIT, context=context)
            connection.request("POST", "/v1/completions", json.dumps({**SHORT, "stream": True}),
                               {"Content-Type": "application/json", "Host": name, "Origin": "https://" + name})
            break
        except ConnectionRefusedError:
            assert time.monotonic() < until and proxy.poll() is None
            time.sleep(0.05)
    response = connection.getresponse()
    assert response.status == 200 and response.read().endswith(b"data: [DONE]\n\n"), response.status
    assert json.loads(s.wait_for("/v1/completions")[0])["address"] == "127.0.0.1"
    connection.request("GET", "/metrics", headers={"Host": "rapt.example.org"})
    assert connection.getresponse().status == 403
    connection.close()
    proxy.terminate()
    proxy.wait(WAIT)
    assert s.end() == 0


def cors():
    s = Server()
    status, headers, data = s.ask("GET", "/health", Origin="https://a.example")
    assert status == 200 and "Access-Control-Allow-Origin" not in headers
    assert s.end() == 0
    s = Server("--cors", "https://a.example", "--cors", "http://b.example:81")
    for origin, allowed in ("https://a.example", True), ("http://b.example:81", True), ("https://b.example", False):
        status, headers, data = s.complete(SHORT, Origin=origin)
        assert status == (200 if allowed else 403) and headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
        status, headers, data = s.ask("OPTIONS", "/v1/completions", Origin=origin, Access_Control_Request_Method="POST")
        assert status == 204 and ("POST" in headers.get("Access-Control-Allow-Methods", "")) == allowed
        assert headers["Vary"] == "Origin"
        assert s.complete(SHORT, Origin=origin, Sec_Fetch_Site="cross-site")[0] == (200 if allowed else 403)
    status, headers, data = s.ask("GET", "/none", Origin="https://a.example")
    assert status == 404 and headers["Access-Control-Allow-Origin"] == "https://a.example"
    assert s.end() == 0


def hosts():
    """A page whose name was made to lead to this machine sends that name, and gets nothing."""
    names = {"localhost": 200, "LOCALHOST:80": 200, "127.0.0.1": 200, "127.9.9.9:1": 200, "[::1]:8080": 200, "a.localhost": 200,
             "evil.example": 403, "evil.example:8080": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403,
             "0.0.0.0": 403, "10.0.0.1": 403, "intranet": 403, "nas.local": 403}
    on_network = {"10.0.0.1": 200, "[fd00::1]:80": 200, "intranet": 200, "nas.local": 200, "0.0.0.0": 200, "evil.example": 403}
    for arguments, expected in (
            ((), names), (("--allowed-host", "Rapt.example", "--allowed-host", "b.example"),
                          {"rapt.example:443": 200, "b.example": 200, "evil.example": 403, "localhost": 200}),
            (("--allowed-host", "*"), {"evil.example": 200}), (("--api-key-file", "keys"), {"evil.example": 200}),
            (("--host", "0.0.0.0", "--port", "0"), on_network), (("--host", "unix:socket"), {"evil.example": 200})):
        with open("keys", "w") as file:
            file.write("secret-one\n")
        s = Server(*arguments)
        for name, status in expected.items():
            assert s.ask("GET", "/health", Host=name)[0] == status, (arguments, name)
        if not arguments:
            status, headers, data = s.complete(SHORT, Host="evil.example")
            assert status == 403 and is_json(data)["error"]["code"] == "host"
            assert s.complete(SHORT, Origin="https://evil.example")[0] == 403
            assert s.complete(SHORT, Origin="http://127.0.0.1:%d" % s.port)[0] == 200
        assert s.end() == 0


# ---- how much


def queue():
    """A full queue is told at once, and the number of requests is never passed, however many come together."""
    s = Server("--queue", "1", "--slots", "1")
    running = s.begin(LONG)
    start = time.monotonic()
    status, headers, data = s.complete(SHORT)
    took = time.monotonic() - start
    assert status == 503 and int(headers["Retry-After"]) >= 1 and int(headers["retry-after-ms"]) >= 1
    assert is_json(data)["error"]["code"] == "overloaded"
    assert s.complete("{ no JSON")[0] == 503  # nothing was read
    assert s.ask("GET", "/health")[0] == 200 and s.ask("GET", "/v1/models")[0] == 200
    print("503 after %.1f ms" % (took * 1e3))
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        assert set(pool.map(lambda _: s.complete(SHORT)[0], range(64))) == {503}
    running.connection.close()
    running.close()
    until = time.monotonic() + WAIT
    while s.complete(SHORT)[0] != 200:  # what hung up made room
        assert time.monotonic() < until
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        statuses = list(pool.map(lambda _: s.complete(SHORT)[0], range(64)))
    assert set(statuses) <= {200, 503} and 200 in statuses
    assert s.end() == 0


def disconnect():
    """Who hangs up frees the only slot: while it streams, and while it waits for the whole answer."""
    s = Server("--slots", "1")
    for stream in True, False:
        connection = s.connect()
        connection.request("POST", "/v1/completions", json.dumps({**LONG, "stream": stream}),
                           {"Content-Type": "application/json"})
        if stream:
            connection.getresponse().readline()
        else:
            time.sleep(0.1)
        connection.close()
        assert s.complete(SHORT)[0] == 200
    assert s.end() == 0
    cut = [is_json(line) for line in s.lines() if '"/v1/completions"' in line]
    assert (cut[0]["status"], cut[0]["ended"]) == (200, "client"), cut[0]
    assert (cut[1]["status"], "ended" in cut[1]) == (200, False), cut[1]


def connections():
    s = Server("--connections", "20", "--per-address", "30")
    held = [socket.create_connection(("127.0.0.1", s.port), WAIT) for _ in range(20)]
    status, headers, data = s.ask("GET", "/health")
    assert status == 503 and headers["Retry-After"] and headers["Connection"] == "close"
    for connection in held:
        connection.close()
    until = time.monotonic() + WAIT
    while s.ask("GET", "/health")[0] != 200:
        assert time.monotonic() < until
    assert s.end() == 0


def descriptors():
    """`ulimit -n 64`, and 200 clients that connect and say nothing; they leave, and the next one is served."""
    s = Server("--header-timeout", "30", before="ulimit -n 64;")
    held = [socket.create_connection(("127.0.0.1", s.port), WAIT) for _ in range(200)]
    time.sleep(0.5)
    assert s.process.poll() is None
    s.send(signal.SIGHUP)  # even now models can be read
    s.wait_for("reloaded")
    for connection in held:
        connection.close()
    assert s.ask("GET", "/health")[0] in (200, 503)
    until = time.monotonic() + WAIT
    while s.complete(SHORT)[0] != 200:
        assert time.monotonic() < until
    assert s.end() == 0


def slow():
    """Clients that send a byte now and then are closed, and others do not notice."""
    s = Server("--header-timeout", "0.5", "--request-timeout", "0.5")
    held = []
    for i in range(50):
        connection = socket.create_connection(("127.0.0.1", s.port), WAIT)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " if i % 2 else
                           b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        held.append(connection)
    until = time.monotonic() + WAIT
    while held:
        assert time.monotonic() < until, "%d are open" % len(held)
        for connection in list(held):
            try:
                connection.sendall(b"a")
                connection.setblocking(False)
                if connection.recv(1000) == b"":
                    held.remove(connection)
            except BlockingIOError:
                pass
            except OSError:
                held.remove(connection)
            connection.setblocking(True)
        assert s.ask("GET", "/health")[0] == 200
        time.sleep(0.05)
    assert s.end() == 0


def idle():
    """Connections that are open and idle are in nobody's way."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    s = Server()
    held = [socket.create_connection(("127.0.0.1", s.port), WAIT) for _ in range(500)]
    assert s.complete(SHORT)[0] == 200
    for connection in held:
        connection.close()
    assert s.end() == 0


def sizes():
    s = Server("--max-body", "2k")
    assert s.complete({"prompt": "a" * 100, "max_tokens": 1})[0] == 200
    status, headers, data = s.complete({"prompt": "a" * 2000, "max_tokens": 1})
    assert status == 413 and is_json(data)["error"]["code"] == "too_large"
    assert s.end() == 0


# ---- where it listens


def unix_socket():
    s = Server("--host", "unix:sock")
    check = [RAPT, "serve", "--check", "--host", "unix:sock"]
    assert s.complete(SHORT)[0] == 200
    assert subprocess.run(check).returncode == 0
    second = subprocess.run([RAPT, "serve", "lm", "--host", "unix:sock"], stderr=subprocess.PIPE, text=True)
    assert second.returncode == 1 and "in use" in second.stderr, second
    assert s.complete(SHORT)[0] == 200
    s.end(signal.SIGKILL)
    assert os.path.exists("sock")
    assert subprocess.run(check, stderr=subprocess.PIPE).returncode == 1
    s = Server("--host", "unix:sock")  # a stale one is replaced
    assert s.complete(SHORT)[0] == 200 and '"unix"' in s.wait_for("completions")[0]
    assert s.end() == 0
    assert not os.path.exists("sock")
    s = Server("--host", "unix:sock", "--socket-mode", "0660", before="umask 0077;")
    assert os.stat("sock").st_mode & 0o777 == 0o660 and s.complete(SHORT)[0] == 200
    assert s.end() == 0
    open("sock", "w").close()  # a file that is no socket stays
    second = subprocess.run([RAPT, "serve", "lm", "--host", "unix:sock"], stderr=subprocess.PIPE, text=True)
    assert second.returncode == 1 and os.path.isfile("sock")


def activation():
    """Sockets of systemd: who connects while no server runs is served by the next one, after SIGTERM and after SIGKILL."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    port = listener.getsockname()[1]
    number = listener.fileno()
    before = "exec 3<&%d; export LISTEN_FDS=1 LISTEN_PID=$$;" % number
    waiting = None
    for end in signal.SIGTERM, signal.SIGKILL, signal.SIGTERM:
        s = Server(fds=(number,), before=before)
        assert s.port == port
        if waiting:
            assert waiting.makefile("rb").readline().startswith(b"HTTP/1.1 200 ")
        assert s.complete(SHORT)[0] == 200
        code = s.end(end)
        assert code == (0 if end == signal.SIGTERM else -end), code
        waiting = socket.create_connection(("127.0.0.1", port), WAIT)
        waiting.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")


def notices():
    """What systemd is told."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind("notify")
    listener.settimeout(WAIT)
    s = Server(NOTIFY_SOCKET=os.path.abspath("notify"))
    assert listener.recv(1000) == b"READY=1"
    s.send(signal.SIGHUP)
    assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=\d+", listener.recv(1000))
    assert listener.recv(1000) == b"READY=1"
    s.send(signal.SIGTERM)
    assert listener.recv(1000) == b"STOPPING=1"
    assert s.end(None) == 0


def speaks(port, version):
    """Whether the server takes a version of TLS alone; ciphers of the old ones are not in the default list."""
    context = ssl.create_default_context(cafile="cert.pem")
    context.check_hostname = False
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    try:
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port), WAIT)) as connection:
            return connection.version() is not None
    except (ssl.SSLError, ConnectionResetError):
        return False


def tls():
    if not shutil.which("openssl"):
        print("openssl is not installed")
        sys.exit(77)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                    "-days", "2", "-subj", "/CN=localhost"], check=True, stderr=subprocess.DEVNULL)
    s = Server("--tls-cert", "cert.pem", "--tls-key", "key.pem")
    assert s.url.startswith("https://")
    context = ssl.create_default_context(cafile="cert.pem")
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", s.port, timeout=WAIT, context=context)
    for _ in range(2):
        connection.request("POST", "/v1/completions", json.dumps({**SHORT, "stream": True}),
                           {"Content-Type": "application/json"})
        assert connection.getresponse().read().endswith(b"data: [DONE]\n\n")
    connection.close()
    check = [RAPT, "serve", "--check", "--port", str(s.port), "--tls-cert", "cert.pem", "--tls-key", "key.pem"]
    told = subprocess.run(check, stderr=subprocess.PIPE, text=True)
    assert told.returncode == 0 or "does not speak TLS" in told.stderr, told
    assert subprocess.run(check[:5], stderr=subprocess.PIPE).returncode == 1
    for version, spoken in ((ssl.TLSVersion.TLSv1, False), (ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True),
                            (ssl.TLSVersion.TLSv1_3, True)):
        assert speaks(s.port, version) == spoken, version
    assert s.end() == 0
    wrong = subprocess.run([RAPT, "serve", "lm", "--port", "0", "--tls-cert", "key.pem", "--tls-key", "key.pem"],
                           stderr=subprocess.PIPE, text=True)
    assert wrong.returncode == 1 and "certificate" in wrong.stderr, wrong


# ---- signals


def drain():
    """SIGTERM: what runs is finished, what comes is refused, and the exit status is 0."""
    s = Server()
    running = s.begin({**LONG, "n": 2})
    kept = s.connect()
    kept.request("GET", "/health")
    kept.getresponse().read()
    s.send(signal.SIGTERM)
    s.wait_for("shutting down")
    status, headers, data = s.complete(SHORT)
    assert status == 503 and headers["Connection"] == "close" and headers["Retry-After"], (status, data)
    kept.request("GET", "/ready")
    assert kept.getresponse().status == 503
    assert running.read().endswith(b"data: [DONE]\n\n")
    assert s.end(None) == 0


def drain_ends():
    """Not longer than --drain lets it, and not at all after a second signal."""
    s = Server("--drain", "0.3")
    running = s.begin(LONG)
    start = time.monotonic()
    assert s.end() == 0
    print("ended after %.2f s" % (time.monotonic() - start))
    s.wait_for("cut off")
    line = is_json(s.wait_for('"/v1/completions"')[0])
    assert line["ended"] == "drain" and line["status"] == 200, line
    try:
        assert not running.read().endswith(b"data: [DONE]\n\n")
    except (http.client.IncompleteRead, OSError):
        pass
    s = Server()
    running = s.begin(LONG)
    s.send(signal.SIGINT)
    s.wait_for("shutting down")
    assert s.end(signal.SIGINT) == 1


def explanations():
    """What a page or numbers would take too long for, or too much memory, is refused by name."""
    s = Server("--max-explain", "1800", "--request-memory", "2GiB")

    def explains(count, **fields):
        status, _, data = s.ask("POST", "/v1/explain", {"text": "the cat sat. " * (count // 13), **fields})
        return status, "" if status == 200 else is_json(data)["error"]["message"]

    assert explains(130) == (200, "") and explains(130, format="html") == (200, "")
    status, message = explains(1755, format="html")
    assert status == 400 and "more than the 20000000 that are computed here" in message, (status, message)
    assert explains(1820) == (400, "text: 1820 tokens are more than the 1800 that this server explains")
    assert s.end() == 0
    s = Server("--max-explain", "1800", "--request-memory", "16MiB")
    assert explains(13) == (200, "")
    status, message = explains(650)
    assert status == 413 and "elements would take about" in message and "--request-memory" in message, (status, message)
    assert s.end() == 0
    s = Server()
    assert explains(117)[0] == 200 and explains(130)[0] == 400
    assert s.end() == 0


def ends_while_it_computes():
    """An explanation cannot be stopped, and a load neither: the server is, in time, and at once by a second signal."""

    def ends(s, number, status, least, most):
        start = time.monotonic()
        assert s.end(number) == status
        took = time.monotonic() - start
        assert least <= took < most, took
        return took

    def explains():
        s = Server("--drain", "0.3", "--max-explain", "1000", "--request-memory", "2GiB", "--host", "unix:sock",
                   models=("lm",))
        connection = s.connect()
        connection.request("POST", "/v1/explain", json.dumps({"text": "the cat sat. " * 75, "format": "html"}))
        time.sleep(0.5)
        return s, connection

    s, connection = explains()
    took = ends(s, signal.SIGTERM, 0, 0.3, 20)
    s.wait_for("1 requests are cut off after 0.3 seconds")
    left = [line for line in s.lines() if "ended while a request was computed" in line]  # unless it was faster
    assert not os.path.exists("sock")
    s, connection = explains()
    s.send(signal.SIGTERM)
    s.wait_for("shutting down")
    ends(s, signal.SIGTERM, 1, 0, 20)
    assert not os.path.exists("sock")
    with open("keys", "w") as file:
        file.write("secret\n")
    for end in "once", "twice":
        s = Server("--api-key-file", "keys")
        os.rename("keys", "file")
        os.mkfifo("keys")  # keys that do not come
        s.send(signal.SIGHUP)
        until = time.monotonic() + WAIT
        while True:  # until the server has opened it
            try:
                keys = os.open("keys", os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.01)
        assert s.ask("GET", "/health")[0] == 200
        if end == "twice":
            s.send(signal.SIGTERM)
            s.wait_for("shutting down")
        ends(s, signal.SIGTERM, 0 if end == "once" else 1, 0, 20)
        if end == "once":
            s.wait_for("ended while models were loaded")
        os.close(keys)
        os.rename("file", "keys")
    print("an explanation was %s after %.1f s" % ("left" if left else "over", took))


def reload():
    """All models or none; requests that have begun keep theirs; under load none fails."""
    shutil.copytree("lm", "now")
    s = Server("--slots", "2", models=("lm=now", "fixed=lm2"))
    ask = {**SHORT, "model": "lm", "max_tokens": 40}
    before = s.complete(ask)
    old, texts = before[1]["X-Rapt-Fingerprint"], {}
    texts[old] = is_json(before[2])["choices"][0]["text"]
    os.rename("now", "was")
    s.send(signal.SIGHUP)  # there is no such folder now
    s.wait_for("not reloaded.*now")
    assert s.complete(ask)[1]["X-Rapt-Fingerprint"] == old
    shutil.copytree("lm2", "now")
    running = s.begin({**LONG, "n": 4, "model": "lm"})
    s.send(signal.SIGHUP)
    s.wait_for(r'message":"reloaded')
    after = s.complete(ask)
    new = after[1]["X-Rapt-Fingerprint"]
    texts[new] = is_json(after[2])["choices"][0]["text"]
    assert new != old and texts[new] != texts[old]
    assert running.headers["X-Rapt-Fingerprint"] == old and running.read().endswith(b"data: [DONE]\n\n")
    ends = threading.Event()

    def load(_):
        """Each answer is wholly of one model."""
        count = 0
        while not ends.is_set():
            status, headers, data = s.complete(ask)
            assert status == 200, data
            assert is_json(data)["choices"][0]["text"] == texts[headers["X-Rapt-Fingerprint"]]
            count += 1
        return count

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        loads = [pool.submit(load, i) for i in range(4)]
        for i in range(50):
            os.rename("now", "other")
            os.rename("was", "now")
            os.rename("other", "was")
            s.send(signal.SIGHUP)
            s.wait_for(r'message":"reloaded', i + 2)
        ends.set()
        assert all(one.result() > 0 for one in loads)
    assert s.end() == 0


def fingerprints():
    """Different where results may be: by parameters, options, the configuration, and the tokenizer; else the same."""

    def of(*arguments, model="lm"):
        s = Server(*arguments, models=("m=" + model,))
        found = s.complete(SHORT)[1]["X-Rapt-Fingerprint"]
        assert s.end() == 0
        return found

    shutil.copytree("lm", "same")
    plain = of()
    assert re.fullmatch("[0-9a-f]{16}", plain) and of(model="same") == plain == of("--slots", "2", "--kv-cache", "fp32")
    others = [of("--kv-cache", "q8_0"), of("--kv-cache", "bf16"), of("--weights", "q8_0"), of(model="lm2")]
    for name in "config.json", "tokenizer.json":
        with open(os.path.join("same", name), "a") as file:
            file.write("\n")
        others.append(of(model="same"))
    assert len({plain, *others}) == 7, others


# ---- what it says


def logs():
    s = Server(models=("lm", "lm2"))
    identity = s.complete({**SHORT, "prompt": "ate its bone", "model": "lm"})[1]["X-Request-Id"]
    s.ask("GET", "/none?q=bone")
    line = is_json(s.wait_for(identity)[0])
    assert line["method"] == "POST" and line["route"] == "/v1/completions" and line["status"] == 200, line
    assert line["model"] == "lm" and line["address"] == "127.0.0.1" and line["bytes"] > 0 and line["ms"] > 0
    assert line["generated_tokens"] == 3 and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    assert is_json(s.wait_for('"status":404')[0])["route"] == "other"
    assert s.end() == 0
    assert all(is_json(line) for line in s.lines()) and not [line for line in s.lines() if "bone" in line]
    s = Server("--log", "text")
    s.complete(SHORT)
    assert re.search(r"127\.0\.0\.1 POST /v1/completions 200 [\d.]+ ms \d+ bytes", s.wait_for("completions")[0])
    assert s.end() == 0
    s = Server("--log", "none")
    s.complete(SHORT)
    assert s.end() == 0 and s.lines() == []


def log_unread():
    """A log that nobody reads holds up no request, and not the end; who reads later learns how much was lost."""
    read, write = os.pipe()
    s = Server(before="exec 2>&%d;" % write, fds=(write,), models=("lm", "--port", "0"))
    os.close(write)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: s.ask("GET", "/health")[0], range(3000))) == {200}
    lines = open(read, errors="strict")
    while not (line := is_json(lines.readline()))["message" if "message" in line else "time"].endswith("was not read"):
        assert line["time"]
    lost = int(line["message"].split()[0])
    assert 0 < lost < 3000, line
    assert s.ask("GET", "/none")[0] == 404
    while is_json(lines.readline()).get("status") != 404:
        pass
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: s.ask("GET", "/health")[0], range(3000))) == {200}
    start = time.monotonic()
    assert s.end() == 0 and time.monotonic() - start < 20
    print("%d of 3000 lines were lost" % lost)


def config():
    with open("serve.yaml", "w") as file:
        file.write("port: 1\nlog: text\nmax-n: 2\nmodels:\n  a: lm\n  b: {path: lm2, slots: 1}\n")
    s = Server("--config", "serve.yaml", models=("c=lm",))  # the port of the command line counts
    names = [m["id"] for m in is_json(s.ask("GET", "/v1/models")[2])["data"]]
    assert names == ["a", "b", "c"], names
    assert s.complete({**SHORT, "n": 3})[0] == 400 and s.complete({**SHORT, "n": 2})[0] == 200
    check = [RAPT, "serve", "--check", "--port", str(s.port)]
    assert subprocess.run(check).returncode == 0
    before = s.complete({**SHORT, "model": "b"})[1]
    good = "models: {d: lm, b: lm2}\nkv-cache: q8_0\nport: 2\nmax-n: 3\napi-key-file: keys\n"
    for text, message in (("models: {d: lm, d: lm2}\n", "not reloaded.*serve.yaml:1"),
                          ("models: {d: none}\n", "not reloaded.*none"), (good, "reloaded models")):
        assert s.complete({**SHORT, "model": "b"})[1]["X-Rapt-Fingerprint"] == before["X-Rapt-Fingerprint"]
        with open("serve.yaml", "w") as file:
            file.write(text)
        with open("keys", "w") as file:
            file.write("secret\n")
        s.send(signal.SIGHUP)  # models and their options, and keys; limits and addresses stay
        s.wait_for(message)
    assert s.ask("GET", "/v1/models")[0] == 401
    names = [m["id"] for m in is_json(s.ask("GET", "/v1/models", X_Api_Key="secret")[2])["data"]]
    assert names == ["d", "b", "c"], names
    after = s.complete({**SHORT, "model": "b", "n": 2}, X_Api_Key=" secret ")
    assert after[0] == 200 and after[1]["X-Rapt-Fingerprint"] != before["X-Rapt-Fingerprint"], after
    assert s.complete({**SHORT, "n": 3}, X_Api_Key="secret")[0] == 400
    assert s.end() == 0
    assert subprocess.run(check, stderr=subprocess.PIPE).returncode == 1


try:
    globals()[sys.argv[1]]()
finally:
    for running in [o for o in __import__("gc").get_objects() if isinstance(o, Server)]:
        if running.process.poll() is None:
            running.process.kill()
