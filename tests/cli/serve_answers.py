"""serve_answers.py: what `rapt serve` answers, and whom: paths, methods, keys, proxies, pages of other sites. Checks of
serve_operation.py.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

from served_process import SHORT, Server, WAIT, is_json


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


LESSON = b"""<!DOCTYPE html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; worker-src blob:">
<p>%s</p>"""


def resident(s):
    return int(re.search(r"VmRSS:\s+(\d+) kB", open(f"/proc/{s.process.pid}/status").read())[1]) << 10


def lesson():
    """The page at /learn: to anybody, once in memory whoever reads it, and another one after a reload."""
    s = Server("--lesson", "none")
    status, headers, data = s.ask("GET", "/learn")
    assert status == 404 and "tools/lesson.sh" in is_json(data)["error"] and "ETag" not in headers
    hidden = s.ask("GET", "/")[2]
    assert s.end() == 0
    for name, content, why in (("wrong.html", b"<p>a page</p>", "no page that tools/lesson.sh"), ("large.html", b"x" * (5 << 20), "larger")):
        open(name, "wb").write(content)
        refused = subprocess.run([os.environ["RAPT"], "serve", "lm", "--port", "0", "--lesson", name], capture_output=True, text=True)
        assert refused.returncode == 1 and name in refused.stderr and why in refused.stderr, refused.stderr

    first, second = LESSON % (b"one " * 400000), LESSON % b"two"
    open("page.html", "wb").write(first)
    open("keys", "w").write("secret\n")
    open("serve.yaml", "w").write("lesson: page.html\napi-key-file: keys\n")
    s = Server("--config", "serve.yaml")
    status, headers, data = s.ask("GET", "/learn")
    assert status == 200 and data == first and headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"] == "default-src 'none'; worker-src blob:; frame-ancestors 'none'", headers
    tag = headers["ETag"]
    status, headers, data = s.ask("HEAD", "/learn")
    assert status == 200 and data == b"" and int(headers["Content-Length"]) == len(first) and headers["ETag"] == tag
    status, headers, data = s.ask("GET", "/learn", If_None_Match=tag)
    assert status == 304 and data == b"" and headers["ETag"] == tag and headers["Cache-Control"] == "no-cache"
    assert s.ask("POST", "/learn", {})[0] == 405
    shown = s.ask("GET", "/")[2]
    assert len(shown) == len(hidden) and shown.count(b" hidden") == hidden.count(b" hidden") - 1

    before, readers = resident(s), []
    for i in range(100):
        connection = s.connect()
        connection.connect()
        if i > 0:  # so that the system does not hold all of it; with the first one the test has to be done some time
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sock.sendall(b"GET /learn HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.sock.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"
        readers.append(connection)
    grown = resident(s) - before
    assert grown < 16 << 20, (grown, "bytes for 100 clients of", len(first))
    open("other.html", "wb").write(second)
    os.replace("other.html", "page.html")
    s.send(signal.SIGHUP)
    s.wait_for("reloaded")
    assert s.ask("GET", "/learn", If_None_Match=tag)[2] == second
    rest = b"".join(iter(lambda: readers[0].sock.recv(1 << 20), b""))
    assert rest.endswith(first), len(rest)
    for connection in readers:
        connection.close()
    os.remove("page.html")
    s.send(signal.SIGHUP)
    s.wait_for("not reloaded")
    assert s.ask("GET", "/learn")[2] == second
    assert 'rapt_http_requests_total{route="/learn",status="304"} 1\n' in s.ask("GET", "/metrics", X_Api_Key="secret")[2].decode()
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
