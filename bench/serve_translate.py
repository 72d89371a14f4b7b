#!/usr/bin/env python3
"""`rapt serve` with a translator, in turns with CTranslate2 behind FastAPI (serve_ct2.py, the same weights) and with `rapt
translate` of the same file: N clients that each send a sentence and wait for its translation (wrk), greedily or with a beam.

    PYTHON=... python bench/serve_translate.py MODEL TEXT [--clients 16] [--beam 1] [--seconds 10]
    PYTHON=... python bench/serve_translate.py MODEL TEXT --beside 10000       # one line beside a request of 10,000
    ... [--queues 2x1,2x1+2,1x2] [--no-peer]

MODEL is a translator of `rapt train`, TEXT has a sentence a line. Needs wrk, and in PYTHON what serve_ct2.py needs. A queue of
the other side is WORKERSxTHREADS, and + the milliseconds that it waits to collect requests; of several the best one counts.
What is shared is in serving.py.
"""
import argparse
import statistics
import subprocess
import tempfile
import threading
import time

from serving import RAPT, ROUNDS, THREADS, bar, convert, in_turns, percentile, start_ctranslate2, start_rapt, workplace, wrk

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("text")
parser.add_argument("--clients", type=int, default=16)
parser.add_argument("--beam", type=int, default=1)
parser.add_argument("--seconds", type=int, default=10, help="of a measurement")
parser.add_argument("--rounds", type=int, default=ROUNDS)
parser.add_argument("--beside", type=int, metavar="LINES", help="of a large request")
parser.add_argument("--singles", type=int, default=300, help="requests of one line in a round, alone and beside the large one")
parser.add_argument("--file-lines", type=int, default=10000, help="that rapt translate translates: TEXT, again and again")
parser.add_argument("--queues", default=f"{THREADS}x1,{THREADS}x1+2,1x{THREADS}")
parser.add_argument("--no-peer", action="store_true")
options = parser.parse_args()
sentences = open(options.text, encoding="utf8").read().splitlines()
OURS = "rapt serve"
SINGLES_SECONDS = 60


def start_peer(queue, folder):
    shape, _, delay = queue.partition("+")
    workers, threads = shape.split("x")
    return start_ctranslate2("CTranslate2 " + queue, folder, "--workers", workers, "--threads", threads, "--delay", delay or "0")


def path_of(server):
    return "/v1/translate" if server.name == OURS else "/translate"


def body_of(server, text):
    field = "q" if server.name != OURS else "text" if isinstance(text, str) else "texts"
    return {field: text, "beam": options.beam}


def answers(server, count):
    """Translations of the first lines."""
    out = server.ask("POST", path_of(server), body_of(server, sentences[:count]))
    return [one["text"] for one in out["translations"]] if server.name == OURS else out["translatedText"]


# ---- many clients ----------------------------------------------------------------------------------------------------------

def one_each(server):
    field = "text" if server.name == OURS else "q"
    body = '{"%s": %%s, "beam": %d}' % (field, options.beam)
    out = wrk(server, path_of(server), options.clients, options.seconds, environment={"SENTENCES": options.text, "BODY": body})
    return {key: out[key] for key in ("rate", "p50", "p99")}


def seconds_of_file(lines):
    with tempfile.NamedTemporaryFile("w", encoding="utf8", suffix=".txt") as file:
        file.write("".join(line + "\n" for line in lines))
        file.flush()
        command = [RAPT, "translate", options.model, file.name, "--quiet", "--threads", str(THREADS), "--beam", str(options.beam)]
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start


def whole_file():
    """Sentences a second, without the time to load the model."""
    lines = [sentences[i % len(sentences)] for i in range(options.file_lines)]
    return {"rate": (len(lines) - 1) / (seconds_of_file(lines) - seconds_of_file(lines[:1]))}


def compare_rates(servers):
    sides = {server.name: lambda server=server: one_each(server) for server in servers}
    results = in_turns({**sides, "rapt translate": whole_file}, options.rounds)
    print(f"{options.clients} clients, a sentence each, beam {options.beam}:")
    for name, values in results.items():
        latency = f", p50 {values['p50']:.2f} ms, p99 {values['p99']:.2f} ms" if "p50" in values else ""
        print(f"{name}: {values['rate']:.0f} sentences/s{latency}")
    ours, peers = results[OURS], [results[server.name] for server in servers[1:]]
    if peers:
        bar("times the peer's best", ours["rate"] / max(peer["rate"] for peer in peers), least=3 if options.beam == 1 else 2)
        expected, given = answers(servers[0], 200), answers(servers[1], 200)
        print(f"  {sum(a == b for a, b in zip(expected, given))} of {len(expected)} translations equal those of the peer")
    bar("of rapt translate", ours["rate"] / results["rapt translate"]["rate"], least=0.85)
    bar("p99 by p50", ours["p99"] / ours["p50"], most=4)


# ---- one line beside many --------------------------------------------------------------------------------------------------

def singles(server):
    """Milliseconds of each, one after the other, until there are enough or they take too long."""
    connection, times, end = server.connect(), [], time.perf_counter() + SINGLES_SECONDS
    for i in range(options.singles):
        start = time.perf_counter()
        if start > end:
            break
        server.ask("POST", path_of(server), body_of(server, sentences[i % len(sentences)]), connection)
        times.append(1e3 * (time.perf_counter() - start))
    connection.close()
    return times


def beside(server):
    lines = [sentences[i % len(sentences)] for i in range(options.beside)]
    stop, failed = threading.Event(), []

    def send():
        while not stop.is_set():
            try:
                server.ask("POST", path_of(server), body_of(server, lines))
            except (OSError, SystemExit) as error:
                failed.append(error)
                return

    alone = singles(server)
    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.5)
    busy = singles(server)
    stop.set()
    sender.join()
    if failed:
        raise SystemExit(failed[0])
    return {"count": len(busy), "alone_p50": statistics.median(alone), "alone_p99": percentile(alone, 99),
            "beside_p50": statistics.median(busy), "beside_p99": percentile(busy, 99),
            "ratio": percentile(busy, 99) / percentile(alone, 99)}


def compare_beside(servers):
    results = in_turns({server.name: lambda server=server: beside(server) for server in servers[:2]}, options.rounds)
    print(f"one line alone, and beside a request of {options.beside} lines, beam {options.beam}:")
    for name, values in results.items():
        print(f"{name}: alone p50 {values['alone_p50']:.2f} ms, p99 {values['alone_p99']:.2f} ms; beside p50 "
              f"{values['beside_p50']:.2f} ms, p99 {values['beside_p99']:.2f} ms; p99 {values['ratio']:.2f} times "
              f"({values['count']:.0f} requests)")
    bar("p99 beside by p99 alone", results[OURS]["ratio"], most=5)


def main():
    with workplace() as (folder, servers):
        servers.append(start_rapt(OURS, [options.model], "--max-body", "64MiB", "--max-texts", "100000"))
        if not options.no_peer:
            converted = convert(options.model, "ctranslate2", folder)
            for queue in options.queues.split(",")[:1 if options.beside else None]:
                servers.append(start_peer(queue, converted))
        (compare_beside if options.beside else compare_rates)(servers)


main()
