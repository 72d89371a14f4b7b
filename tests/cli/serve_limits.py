"""serve_limits.py: how much `rapt serve` takes at a time: queue, connections, bodies, slow clients. Checks of serve_operation.py.
"""
import concurrent.futures
import json
import resource
import signal
import socket
import time

from served_process import LONG, SHORT, Server, WAIT, is_json


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
