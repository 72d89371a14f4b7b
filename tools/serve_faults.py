#!/usr/bin/env python3
"""What happens to `rapt serve` under load: reloads, ends, too few descriptors, too many requests.

    tools/serve_faults.py RAPT [--folder DIR] [--times N] [--large MODEL]
                          [--only reloads|drains|kills|descriptors|queue|hang_ups]

reloads: SIGHUP 50 times, every fifth with a model that is broken, and every answer wholly of one model, its text that of the
fingerprint of its header. drains: SIGTERM, what has begun is finished. kills: SIGKILL, and a new server on the same socket (as of
systemd) serves those who wait. descriptors: `ulimit -n 64` and 200 clients. queue: a full one says so within 10 ms, and is never
passed. hang_ups: who leaves frees its slot within 100 ms; with a large language model, such as GPT-2, also while its prompt is
read. Exit status 1: a bar does not hold. Times mean little on a machine that is busy with other work.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import socket
import struct
import threading
import time

import serve_process
from serve_process import Server, percentile

SHORT = {"model": "lm", "prompt": "the cat", "max_tokens": 40, "seed": 1}
TEXT = {"text": "I see the house.", "source": "en", "target": "fr"}
LONG = {"model": "lm", "prompt": "the cat", "max_tokens": 500, "seed": 1, "stream": True}
PROMPT = 900  # tokens that take seconds to read
JSON = {"Content-Type": "application/json"}


def stream_text(data):
    """The text of a stream, which has to be complete."""
    assert data.endswith(b"data: [DONE]\n\n"), data[-200:]
    return "".join(json.loads(event[6:])["choices"][0]["text"] for event in data.split(b"\n\n")[:-2])


def text_of(path, status, data):
    if status != 200:
        raise AssertionError("%s: %d %r" % (path, status, data[:300]))
    if data.startswith(b"data: "):
        return stream_text(data)
    value = json.loads(data)
    return value["choices"][0]["text"] if "choices" in value else value["translations"][0]["text"]


# ---- reloads -----------------------------------------------------------------------------------------------------------------


def swap(folder, name, source):
    """The model at `name` becomes a copy of another, by renaming."""
    here = os.path.join(folder, name)
    shutil.copytree(os.path.join(folder, source), here + ".new")
    if os.path.exists(here):
        os.rename(here, here + ".old")
    os.rename(here + ".new", here)
    shutil.rmtree(here + ".old", ignore_errors=True)


def break_model(folder, name, times):
    """Half a file of weights, or a config that is no JSON."""
    swap(folder, name, "lm" if name == "now" else "en-fr")
    path = os.path.join(folder, name)
    if times % 2:
        with open(os.path.join(path, "config.json"), "w") as file:
            file.write("{ no JSON")
        return
    for file in os.listdir(path):
        if file.endswith(".safetensors"):
            os.truncate(os.path.join(path, file), os.path.getsize(os.path.join(path, file)) // 2)


def asks_for(server, kind):
    """An answer's fingerprint and text."""
    path = "/v1/translate" if kind == 2 else "/v1/completions"
    body = TEXT if kind == 2 else {**SHORT, "stream": kind == 1}
    status, headers, data = server.ask("POST", path, body)
    return headers.get("X-Rapt-Fingerprint"), text_of(path, status, data)


def reloads(options, bars, folder):
    for name, source in (("now", "lm"), ("now-fr", "en-fr")):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        swap(folder, name, source)
    with Server(options.rapt, folder, ["lm=now", "en-fr=now-fr"], huge_pages=False) as server:
        texts, lock, stop, count = {}, threading.Lock(), threading.Event(), [0]
        wrong = []

        def learn():
            for kind in 0, 1, 2:
                fingerprint, text = asks_for(server, kind)
                texts[fingerprint] = text

        def load(number):
            while not stop.is_set():
                try:
                    fingerprint, text = asks_for(server, number % 3)
                    with lock:
                        count[0] += 1
                        if texts.get(fingerprint) != text:
                            wrong.append("fingerprint %s with %r" % (fingerprint, text))
                except Exception as error:  # whatever it is, it is wrong
                    wrong.append("%s: %s" % (type(error).__name__, error))

        learn()
        for name, source in (("now", "lm2"), ("now-fr", "en-de")):
            swap(folder, name, source)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("reloaded models and keys")
        learn()
        assert len(texts) == 4, "two models are alike: %s" % texts
        clients = [threading.Thread(target=load, args=(i,)) for i in range(16)]
        for client in clients:
            client.start()
        before, good, bad = server.resident(), 1, 0
        for i in range(options.times):
            if i % 5 == 4:
                break_model(folder, "now" if i % 10 == 4 else "now-fr", i)
                server.process.send_signal(signal.SIGHUP)
                bad += 1
                server.wait_for("not reloaded", bad)
                swap(folder, "now", "lm2" if i % 4 else "lm")
                swap(folder, "now-fr", "en-de" if i % 4 else "en-fr")
            else:
                swap(folder, "now", "lm" if i % 2 else "lm2")
                swap(folder, "now-fr", "en-fr" if i % 2 else "en-de")
                server.process.send_signal(signal.SIGHUP)
                good += 1
                server.wait_for("reloaded models and keys", good)
        stop.set()
        for client in clients:
            client.join()
        bars.check("%d SIGHUPs under the load of 16 clients, %d of broken models" % (options.times, bad), not wrong,
                   "%d answers, %d wrong %s" % (count[0], len(wrong), wrong[:3]))
        print("       memory: %.2f MB before, %.2f MB after" % (before / 1e6, server.resident() / 1e6))
        bars.check_end(server)


# ---- ends --------------------------------------------------------------------------------------------------------------------


def drains(options, bars, folder):
    """Streams and translations run when SIGTERM comes; others come after it."""
    for turn in range(max(1, options.times // 10)):
        with Server(options.rapt, folder, ["lm=lm", "en-fr=en-fr"], "--drain", "60") as server:
            begun, statuses = [], []
            for i in range(16):
                connection = server.connect()
                connection.request("POST", "/v1/completions", json.dumps({**LONG, "seed": i}), JSON)
                if i % 2:
                    begun.append((connection, connection.getresponse()))
                else:
                    begun.append((connection, None))
            time.sleep(0.05 + 0.02 * turn)  # the server has seen all
            server.process.send_signal(signal.SIGTERM)
            server.wait_for("shutting down")
            begin = time.monotonic()
            while server.process.poll() is None and time.monotonic() < begin + 0.2:
                try:
                    statuses.append(server.ask("POST", "/v1/completions", SHORT)[0])
                except OSError:
                    break  # it has ended
            whole = 0
            for connection, response in begun:
                response = response or connection.getresponse()
                whole += response.status == 200 and len(stream_text(response.read())) > 0
            status = server.process.wait(serve_process.WAIT)
            late = set(statuses)
            bars.check("SIGTERM under load", whole == 16 and status == 0 and late <= {503},
                       "%d of 16 streams are complete, exit status %d, %d later requests: %s" % (whole, status, len(statuses),
                       late))


def kills(options, bars, folder):
    """A socket that outlives its servers."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    number = listener.fileno()
    before = "exec 3<&%d; export LISTEN_FDS=1 LISTEN_PID=$$;" % number
    lost = served = 0
    for turn in range(max(2, options.times // 10)):
        with Server(options.rapt, folder, ["lm=lm", "en-fr=en-fr"], before=before, fds=(number,)) as server:
            stop = threading.Event()

            def load(_):
                while not stop.is_set():
                    try:
                        server.ask("POST", "/v1/completions", SHORT)
                    except OSError:
                        return

            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                loads = [pool.submit(load, i) for i in range(8)]
                time.sleep(0.2)
                server.process.kill()
                server.process.wait()
                stop.set()
                waiting = []
                for i in range(20):  # nobody serves now
                    connection = server.connect()
                    connection.request("POST", "/v1/completions", json.dumps({**SHORT, "seed": i}), JSON)
                    waiting.append(connection)
                with Server(options.rapt, folder, ["lm=lm", "en-fr=en-fr"], before=before, fds=(number,)) as after:
                    for connection in waiting:
                        try:
                            response = connection.getresponse()
                            text_of("", response.status, response.read())
                            served += 1
                        except (OSError, AssertionError):
                            lost += 1
                    ended = after.end()
                [one.result() for one in loads]
    bars.check("SIGKILL under load, and a new server on the same socket", lost == 0 and ended == 0,
               "%d of %d requests that waited meanwhile were answered" % (served, served + lost))


# ---- too little of something -------------------------------------------------------------------------------------------------


def descriptors(options, bars, folder):
    with Server(options.rapt, folder, ["lm=lm"], "--header-timeout", "60", "--idle-timeout", "60",
                before="ulimit -n 64;") as server:
        used, begin = server.seconds(), time.monotonic()
        held = [server.socket() for _ in range(200)]
        time.sleep(10)
        share = (server.seconds() - used) / (time.monotonic() - begin)
        alive = server.process.poll() is None
        bars.check("200 silent clients with 64 descriptors", alive and share < 0.05, "%.2f %% of a CPU in 10 s" % (share * 100))
        for connection in held:
            connection.close()
        begin, first = time.monotonic(), None
        while first is None and time.monotonic() < begin + serve_process.WAIT:
            if server.ask("POST", "/v1/completions", SHORT)[0] == 200:
                first = time.monotonic() - begin
        bars.check("an answer after they left", first is not None and first <= 1, "%.3f s" % first)
        held = [server.socket() for _ in range(200)]  # and with requests
        body = json.dumps(SHORT).encode()
        for connection in held:
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               b"Content-Type: application/json\r\n"
                               b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        statuses = [connection.makefile("rb").read(12) for connection in held]
        kinds = {status: statuses.count(status) for status in set(statuses)}
        bars.check("200 clients that ask, with 64 descriptors", set(kinds) <= {b"HTTP/1.1 200", b"HTTP/1.1 503"} and
                   kinds.get(b"HTTP/1.1 200", 0) > 0, kinds)
        bars.check_end(server)


def ask_without_waiting(server):
    body = json.dumps({**LONG, "n": 32}).encode()
    connection = server.socket()
    connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    return connection


def is_refused(connection):
    connection.setblocking(False)
    try:
        return connection.recv(100).startswith(b"HTTP/1.1 503 ")
    except BlockingIOError:
        return False


def queue(options, bars, folder):
    """Four requests may be there, one text at a time."""
    with Server(options.rapt, folder, ["lm=lm"], "--queue", "4", "--slots", "1") as server:
        running = []
        for _ in range(4):
            connection = server.connect()
            connection.request("POST", "/v1/completions", json.dumps({**LONG, "n": 32}), JSON)
            running.append(connection)
        while server.metric("rapt_jobs_running") + server.metric("rapt_jobs_waiting") < 4 * 2:  # twice the slots, of each
            time.sleep(0.01)
        took, connection = [], server.connect()
        for _ in range(200):
            begin = time.monotonic()
            connection.request("POST", "/v1/completions", json.dumps(SHORT), JSON)
            response = connection.getresponse()
            response.read()
            took.append(time.monotonic() - begin)
            assert response.status == 503 and int(response.headers["Retry-After"]) >= 1, response.status
        bars.check("a full queue says 503", percentile(took, 0.95) <= 0.01, "p50 %.2f ms, p95 %.2f ms, longest %.2f ms" % (
            percentile(took, 0.5) * 1e3, percentile(took, 0.95) * 1e3, max(took) * 1e3))
        for connection in running:
            connection.close()
        accepted = []
        for _ in range(10):
            server.wait_until(lambda: server.metric("rapt_jobs_running") + server.metric("rapt_jobs_waiting") == 0, "never free")
            with concurrent.futures.ThreadPoolExecutor(64) as pool:
                asked = list(pool.map(lambda _: ask_without_waiting(server), range(64)))
            time.sleep(0.3)  # refusals come at once, and none of the others ends in this time
            refused = sum(1 for connection in asked if is_refused(connection))
            accepted.append(64 - refused)
            for connection in asked:
                connection.close()
        bars.check("64 at once, ten times", accepted == [4] * 10, "%s were accepted of a queue of 4" % accepted)
        bars.check_end(server)


def hang_ups(options, bars, folder):
    """The only slot, taken by a text that streams, is computed as a whole, or waits; by a reset, or an end that is no reset."""
    with Server(options.rapt, folder, ["lm=lm"], "--slots", "1") as server:
        for what in "streams", "is computed as a whole", "waits":
            took = []
            for turn in range(options.times):
                others = []
                for _ in range(2 if what == "waits" else 1):
                    connection = server.connect()
                    connection.connect()
                    if turn % 2:
                        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.request("POST", "/v1/completions", json.dumps({**LONG, "n": 32, "stream": what == "streams"}),
                                       JSON)
                    others.append(connection)
                while server.metric("rapt_jobs_running") < 1:
                    time.sleep(0.001)
                for connection in reversed(others):
                    connection.close()
                begin = time.monotonic()
                while server.metric("rapt_jobs_running") + server.metric("rapt_jobs_waiting") > 0:
                    assert time.monotonic() < begin + serve_process.WAIT, "never free"
                took.append(time.monotonic() - begin)
            bars.check("who hangs up while a text %s" % what, percentile(took, 0.95) <= 0.1,
                       "the slot is free after %.1f ms, p95 %.1f ms, at most %.1f ms" % (
                           percentile(took, 0.5) * 1e3, percentile(took, 0.95) * 1e3, max(took) * 1e3))
        bars.check_end(server)


def hang_ups_in_prompts(options, bars, folder):
    """A prompt of the whole context takes seconds: who leaves after a while frees the slot before the next part of it."""
    with Server(options.rapt, folder, ["lm=" + os.path.abspath(options.large)], "--slots", "1") as server:
        took, parts = [], []
        for turn in range(10):
            body = {"model": "lm", "prompt": [1 + (turn * 31 + i) % 200 for i in range(PROMPT)], "max_tokens": 8}
            connection = server.connect()
            connection.request("POST", "/v1/completions", json.dumps(body), JSON)
            server.wait_until(lambda: server.metric("rapt_jobs_running") == 1, "no text runs")
            time.sleep(0.2)
            steps = server.metric("rapt_steps_total")
            connection.close()
            begin = time.monotonic()
            while server.metric("rapt_jobs_running") + server.metric("rapt_jobs_waiting") > 0:
                assert time.monotonic() < begin + serve_process.WAIT, "never free"
            took.append(time.monotonic() - begin)
            parts.append(server.metric("rapt_steps_total") - steps)
        bars.check("who hangs up while a prompt is read", max(parts) <= 2 or max(took) <= 0.1,
                   "the slot is free after %.1f ms, at most %.1f ms and %d steps" % (
                       percentile(took, 0.5) * 1e3, max(took) * 1e3, max(parts)))
        bars.check("the prompts were not read to their end", server.metric("rapt_prompt_tokens_total") < 10 * PROMPT,
                   "%d tokens of %d" % (server.metric("rapt_prompt_tokens_total"), 10 * PROMPT))
        bars.check_end(server)


def main():
    parts = {f.__name__: f for f in (reloads, drains, kills, descriptors, queue, hang_ups)}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rapt")
    parser.add_argument("--folder")
    parser.add_argument("--only", choices=parts)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--large")
    options = parser.parse_args()
    serve_process.raise_descriptors()
    folder = serve_process.make_models(options.rapt, options.folder)
    bars = serve_process.Bars()
    for name, part in parts.items():
        if options.only in (None, name):
            part(options, bars, folder)
    if options.large and options.only in (None, "hang_ups"):
        hang_ups_in_prompts(options, bars, folder)
    bars.end()


if __name__ == "__main__":
    main()
