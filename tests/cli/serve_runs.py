"""serve_runs.py: how `rapt serve` is run: sockets, TLS, signals, logs, configuration. Checks of serve_operation.py.
"""
import concurrent.futures
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
import threading
import time

from served_process import LONG, RAPT, SHORT, Server, WAIT, is_json


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


def truncated():
    """Files of models are truncated while they are served: requests for these end by name, and the other model goes on."""
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
    sources = {"text": "hub/llama", "vector": "hub_encoder/bert_sentence", "line": "hub_translation/marian"}
    for name, source in sources.items():
        shutil.copytree(os.path.join(golden, source), name)
    s = Server(models=(*sources, "whole=lm2"))
    other, text = {**SHORT, "model": "whole", "max_tokens": 40}, {**SHORT, "model": "text", "prompt": "the king"}

    def completed(request):
        status, _, data = s.complete(request)
        assert status == 200, data
        return is_json(data)["choices"][0]["text"]

    before, own = completed(other), completed(text)
    running = s.begin({**LONG, "n": 1, "model": "whole"})
    for name in sources:
        os.truncate(os.path.join(name, "model.safetensors"), 0)
    for path, request in (("/v1/explain", {"model": "text", "text": "the king"}), ("/v1/completions", text),
                          ("/v1/embeddings", {"model": "vector", "input": ["queen of it all"]}),
                          ("/v1/translate", {"model": "line", "text": "the queen"}),
                          ("/v1/translate/score", {"model": "line", "texts": ["the queen"], "translations": ["la reine"]}),
                          ("/v1/explain", {"model": "line", "text": "the king"})):
        status, _, data = s.ask("POST", path, request)
        why = 'the model \\"%s\\" cannot be used: its file model.safetensors was truncated' % request["model"]
        assert status == 500 and why.encode() in data and os.getcwd().encode() not in data, (path, status, data)
        assert completed(other) == before
    assert running.read().endswith(b"data: [DONE]\n\n")
    damage = {m["id"]: "damage" in m for m in is_json(s.ask("GET", "/v1/models")[2])["data"]}
    assert damage == {"text": True, "vector": True, "line": True, "whole": False}, damage
    assert is_json(s.ask("GET", "/health")[2]) == {"status": "ok", "damaged": 3}
    assert is_json(s.ask("GET", "/ready")[2]) == {"status": "ok", "models": 1}
    assert b'rapt_model_damaged{model="text"} 1' in s.ask("GET", "/metrics")[2]
    assert sum("was truncated" in line for line in s.lines()) == 3, s.lines()
    for name, source in sources.items():
        shutil.rmtree(name)
        shutil.copytree(os.path.join(golden, source), name)
    s.send(signal.SIGHUP)
    s.wait_for(r'message":"reloaded')
    assert completed(text) == own and completed(other) == before
    assert is_json(s.ask("GET", "/health")[2]) == {"status": "ok"}
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
