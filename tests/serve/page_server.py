#!/usr/bin/python3
"""page_server.py SERVE_PAGE_C [KEY]: plays the endpoints of rapt serve that its page talks to, with results that are known: the page
of the C file that src/serve/module/page/embed.cmake made, under its policy, and translations and texts that follow from the request.
With a KEY only whoever sends it is answered, but for the page. Prints its port. GET /requests: the requests up to now. For
check_serve_page.py."""
import json
import math
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MODELS = [("en-fr", {"task": "translation", "source": "en", "target": "fr", "context": 256}),
          ("shakespeare", {"task": "language_model", "source": None, "target": None, "context": 1024}),
          ("minilm", {"task": "encoder", "source": None, "target": None, "context": 512})]
REPLAY = "rapt generate shakespeare --prompt 'it'\\''s <b>' --seed 7"
# What a page that reads texts as HTML would run.
HOSTILE = "<img src=x onerror=document.title='hostile'>"
WORDS = [" to", " the", " cat", "\n", "é", " sat", HOSTILE, "  on", " mat", "."]
seen, lock = [], threading.Lock()


def read_page(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = bytes(int(digits, 16) for digits in re.findall(r"0x([0-9a-f]{2}),", text))
    return page, re.search(r'serve_page_policy\[\] = "([^"]*)";', text)[1]


def pieces(text):
    return re.findall(r" *[^ ]+", text)


# ---- translations -----------------------------------------------------------------------------------------------------

def weights(target, sources):
    """Of target token `target`: most for its opposite, the rest by distance; the last one is that of <eos>."""
    raw = [math.exp(-abs(i - (sources - 1 - target))) for i in range(sources)] + [0.05]
    return [x / sum(raw) for x in raw]


def translation(line, n_best):
    source = pieces(line)
    hypotheses = []
    for n in range(n_best):
        target = [piece.strip().upper() for piece in source[::-1]] + ["!"] * n
        hypotheses.append({
            "text": " ".join(target), "score": -0.5 - n, "log_prob": -2.25 - n,
            "tokens": {"ids": list(range(len(target))), "tokens": [" " * (i > 0) + piece for i, piece in enumerate(target)]},
            "alignment": [weights(j, len(source)) for j in range(len(target))]})
    return {"hypotheses": hypotheses, "truncated": "endless" in line,
            "unknown_words": [word for word in line.split() if word.startswith("zork")], "text": hypotheses[0]["text"],
            "source": {"ids": list(range(len(source))), "tokens": source}}


# ---- texts: token i of a text is word i of WORDS, whatever came before ---------------------------------------------------

def top(i):
    """The five most probable tokens in place i, as (id, log-probability)."""
    return [((i + k) % len(WORDS), math.log(0.5 / 2 ** k)) for k in range(5)]


def completion(body):
    """The parts of a stream, each a token."""
    count = min(body.get("max_tokens", 16), 200)
    begun = len(body["prompt"]) if isinstance(body["prompt"], list) else len(pieces(body["prompt"]))
    for k in range(count):
        i = begun + k
        ids, (token, log_prob) = top(i), top(i)[0]
        logprobs = {"tokens": [WORDS[token]], "token_logprobs": [log_prob], "text_offset": [k],
                    "top_logprobs": [{WORDS[other]: x for other, x in ids}], "token_ids": [token],
                    "top_token_ids": [{WORDS[other]: other for other, _ in ids}]}
        if body["prompt"] == "noids":
            del logprobs["token_ids"], logprobs["top_token_ids"]
            logprobs["top_logprobs"][0]["bytes:\\xe3"] = -9.0
        part = WORDS[token]
        if body["prompt"] == "split" and k == 1:
            part, logprobs["tokens"] = "", ["bytes:\\xe3"]
        yield {"object": "text_completion", "model": body["model"], "choices": [
            {"index": 0, "text": part, "logprobs": logprobs, "finish_reason": None}]}
    yield {"object": "text_completion", "model": body["model"], "choices": [
        {"index": 0, "text": "の" if body["prompt"] == "split" else "", "logprobs": None, "finish_reason": "length"}]}


EXPLANATION = """<!DOCTYPE html><title>?</title><script>document.title = "explained " + {text};</script>"""


class Handler(BaseHTTPRequestHandler):
    page, policy, key = b"", "", None

    def log_message(self, *_):
        pass

    def answer(self, status, kind, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else body.encode())

    def answer_json(self, body, status=200, **headers):
        self.answer(status, "application/json", json.dumps(body), **headers)

    def refuse(self, status, message, **headers):
        self.answer_json({"error": {"message": message, "type": "x", "param": None, "code": None}}, status, **headers)

    def note(self, body):
        with lock:
            seen.append({"method": self.command, "target": self.path, "body": body,
                         "key": self.headers.get("Authorization"), "site": self.headers.get("Sec-Fetch-Site")})

    def is_let_in(self):
        if self.key is None or self.headers.get("Authorization") == f"Bearer {self.key}":
            return True
        self.refuse(401, "the key is missing or wrong")
        return False

    def explain(self, text):
        self.answer(200, "text/html; charset=utf-8", EXPLANATION.format(text=json.dumps(text).replace("<", "\\u003c")),
                    Content_Security_Policy="sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'")

    def do_GET(self):
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path == "/":
            return self.answer(200, "text/html; charset=utf-8", self.page, Content_Security_Policy=self.policy)
        if path == "/requests":
            with lock:
                return self.answer_json(seen)
        self.note(None)
        if not self.is_let_in():
            return None
        if path == "/v1/models":
            return self.answer_json({"object": "list", "data": [
                {"id": name, "object": "model", "created": 1, "owned_by": "rapt",
                 "fingerprint": "0123456789abcdef", "number_format": "fp32", **extra} for name, extra in MODELS]})
        if path == "/v1/explain":
            return self.explain(query["text"][0])
        return self.refuse(404, f"no {path} here")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.note(body)
        if not self.is_let_in():
            return None
        if self.path == "/v1/translate":
            if "refuse" in body["texts"]:
                return self.refuse(503, f"too many requests wait {HOSTILE}", Retry_After="7")
            return self.answer_json({"translations": [translation(line, body["n_best"]) for line in body["texts"]]},
                                    X_Rapt_Replay="rapt translate en-fr")
        if self.path == "/v1/tokenize":
            tokens = pieces(body["text"])
            return self.answer_json({"model": body["model"], "results": [{"ids": list(range(len(tokens))), "tokens": tokens}]})
        if self.path == "/v1/explain":
            return self.explain(body["text"])
        if self.path == "/v1/completions":
            return self.stream(body)
        return self.refuse(404, f"no {self.path} here")

    def stream(self, body):
        self.answer(200, "text/event-stream", ": hello\n\n", X_Rapt_Replay=REPLAY)
        slow, breaks, fails = (isinstance(body["prompt"], str) and word in body["prompt"] for word in ("slow", "break", "fail"))
        try:
            for k, event in enumerate(completion(body)):
                if k == 3 and (breaks or fails):
                    if fails:
                        self.wfile.write(b'data: {"error": {"message": "the model failed"}}\n\n')
                    return
                data = f"data: {json.dumps(event)}\n\n".encode()
                self.wfile.write(data[:20])  # a part may end anywhere
                self.wfile.flush()
                time.sleep(0.1 if slow else 0.002)
                self.wfile.write(data[20:])
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            with lock:
                seen.append({"method": "gone", "target": self.path, "body": None, "key": None, "site": None})


if __name__ == "__main__":
    Handler.page, Handler.policy = read_page(sys.argv[1])
    Handler.key = sys.argv[2] if len(sys.argv) > 2 else None
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
