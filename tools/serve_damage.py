"""serve_damage.py: requests to `rapt serve` that are malformed: valid ones of every endpoint, and ways to damage them. For
serve_malformed.py. Standard library only.
"""
import json
import urllib.parse

from serve_framings import HIDDEN, odd_framing

# ---- valid requests ------------------------------------------------------------------------------------------------------

VALID = [
    ("POST", "/v1/completions", {"model": "lm", "prompt": "the cat", "max_tokens": 4, "n": 2, "seed": 1, "temperature": 1.0,
                                 "top_p": 0.9, "top_k": 5, "logprobs": 2, "echo": True, "stop": ["x"], "logit_bias": {"3": 1.5}}),
    ("POST", "/v1/completions", {"prompt": [1, 2, 3], "max_tokens": 3, "stream": True,
                                 "stream_options": {"include_usage": True}}),
    ("POST", "/v1/completions", {"prompt": ["the cat", "a dog"], "max_tokens": 2, "presence_penalty": 0.5,
                                 "frequency_penalty": 0.1, "user": "a", "best_of": 1}),
    ("POST", "/v1/chat/completions", {"model": "en-fr", "messages": [{"role": "user", "content": "the dog see a bird."}]}),
    ("POST", "/v1/chat/completions", {"model": "en-fr", "stream": True, "messages": [
        {"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "we like the sea."}]}]}),
    ("POST", "/v1/embeddings", {"model": "encoder", "input": ["cat", "sing"], "encoding_format": "float"}),
    ("POST", "/v1/embeddings", {"model": "encoder", "input": "cat", "encoding_format": "base64"}),
    ("POST", "/v1/embeddings", {"model": "encoder", "input": [[5, 6], [7]], "dimensions": 3}),
    ("POST", "/v1/rerank", {"model": "pairs", "query": "cat", "documents": ["sing", {"text": "the"}], "top_n": 1,
                            "return_documents": True}),
    ("POST", "/v2/rerank", {"query": "cat", "documents": ["sing"]}),
    ("POST", "/rerank", {"query": "cat", "texts": ["sing", "the"], "raw_scores": True, "return_text": True, "truncate": False}),
    ("POST", "/v1/score", {"model": "pairs", "text_1": ["a", "b"], "text_2": ["c", "d"]}),
    ("POST", "/v1/translate", {"texts": ["the dog see a bird.", "we like the sea."], "source": "en", "target": "fr", "beam": 3,
                               "n_best": 2, "alignment": "hard", "tokens": True, "length_penalty": 1, "no_repeat_ngram": 2,
                               "max_length_ratio": 2.5, "min_length": 3, "suppress": ["chien", "le chat"], "prefix": "bird"}),
    ("POST", "/v1/translate", {"text": "the dog see a bird.", "model": "en-fr", "temperature": 0.7, "top_k": 3, "top_p": 0.9,
                               "min_p": 0.1, "typical_p": 0.9, "repetition_penalty": 1.1, "seed": 4}),
    ("POST", "/v1/explain", {"model": "lm", "text": "the cat", "only": ["*attention*"], "full": True, "format": "json"}),
    ("POST", "/v1/explain", {"model": "en-fr", "text": "I see the sea.", "target": "sea", "format": "html"}),
    ("GET", "/v1/explain", {"model": "lm", "text": "the cat", "format": "json"}),
    ("POST", "/v1/tokenize", {"model": "lm", "text": "the cat", "special": True}),
    ("POST", "/v1/tokenize", {"model": "en-fr", "texts": ["the", "cat"], "side": "source"}),
    ("POST", "/v1/detokenize", {"model": "lm", "ids": [1, 2, 3]}),
    ("POST", "/translate", {"q": ["I see the sea.", "a bird"], "source": "en", "target": "fr", "format": "text",
                            "alternatives": 2, "api_key": "x"}),
    ("FORM", "/translate", {"q": "I see the sea.", "source": "auto", "target": "fr", "alternatives": 1}),
    ("POST", "/detect", {"q": "I see the sea."}),
    ("FORM", "/detect", {"q": "I see the sea."}),
    ("POST", "/v2/translate", {"text": ["I see the sea.", "a bird"], "source_lang": "EN", "target_lang": "FR"}),
    ("FORM", "/v2/translate", {"text": "I see the sea.", "target_lang": "FR"}),
    ("GET", "/v2/languages", {"type": "target"}),
    ("GET", "/v2/usage", {}),
    ("GET", "/languages", {}),
    ("GET", "/v1/models", {}),
    ("GET", "/v1/models/lm", {}),
    ("GET", "/health", {}),
    ("GET", "/ready", {}),
    ("GET", "/metrics", {}),
    ("GET", "/openapi.json", {}),
    ("GET", "/", {}),
]


class Request:
    """A request before it is bytes: everything in it can be damaged."""

    def __init__(self, valid):
        kind, self.target, value = valid
        self.method, self.version = kind if kind != "FORM" else "POST", "HTTP/1.1"
        self.fields = [("Host", "localhost"), ("Connection", "close")]
        self.body = b""
        if kind == "GET" and value:
            self.target += "?" + urllib.parse.urlencode(value)
        elif kind == "FORM":
            self.body = urllib.parse.urlencode(value, doseq=True).encode()
            self.fields.append(("Content-Type", "application/x-www-form-urlencoded"))
        elif kind == "POST":
            self.body = json.dumps(value).encode()
            self.fields.append(("Content-Type", "application/json"))

    def set(self, name, value):
        self.fields = [(n, v) for n, v in self.fields if n != name] + ([(name, value)] if value is not None else [])

    def head(self):
        line = "%s %s %s\r\n" % (self.method, self.target, self.version)
        return (line + "".join("%s: %s\r\n" % field for field in self.fields)).encode("utf-8", "surrogateescape")

    def bytes(self, length=True):
        ends = b"Content-Length: %d\r\n\r\n" % len(self.body) if length and self.body else b"\r\n"
        return self.head() + ends + self.body


# ---- damage: each takes (random, request) and gives the bytes to send, or a list of parts to send one by one ------------------

BIG = [2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -2**31, -2**63, -2**63 - 1, 10**30, 1e308, -1e308, 5e-324, -0.0, 0.5]
VALUES = [None, True, False, 0, -1, 1, 999999, *BIG, "", " ", "a", "auto", "\u0000", "\ud800", "\ufeff", "é" * 50, "a" * 20000,
          "\n", "the " * 3000, [], {}, [[]], [{}], [None], [1, "a"], ["a"] * 3000, [0] * 3000, {"a": 1}, {"": {}}, [-1], [2**40],
          ["\u0000"], {"-1": 1}, {"99999999": 1}, {"1": "x"}, {"1": 1e300}]
RAW = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "00", "-", "+1", ".5", "1.", "0x10", "1_000", "1e", "nul", "tru", "'a'",
       "1" * 400, "1" * 400 + ".5", "0." + "3" * 400, "1e-99999", "-0", "\"\\u12\"", "\"\\ud800\"", "\"\\x41\"", "\"a\tb\"",
       "\"\\u0000\"", "[1,]", "{\"a\":1,}", "[1 2]", "//x", "\"a", "undefined", "{a:1}", "\"\xff\""]


def places(value, path=()):
    """Paths of all values within one."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, path + (key,))


def put(value, path, new):
    if not path:
        return new
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new
    return None


def json_of(rng, r):
    """The value of the body; a request without a JSON body gets one."""
    try:
        value = json.loads(r.body)
    except ValueError:
        value = rng.choice([v for k, _, v in VALID if k == "POST"])
        value = json.loads(json.dumps(value))
        r.set("Content-Type", "application/json")
        r.method = "POST"
    return value


def wrong_value(rng, r):
    value = json_of(rng, r)
    for _ in range(rng.choice([1, 1, 2, 5])):
        value = put(value, rng.choice(list(places(value))), json.loads(json.dumps(rng.choice(VALUES)))) or value
    r.body = json.dumps(value, ensure_ascii=rng.random() < 0.7).encode("utf-8", "surrogatepass")
    return r.bytes()


def wrong_literal(rng, r):
    value = json_of(rng, r)
    mark = "~here~"
    value = put(value, rng.choice(list(places(value))), mark) or value
    r.body = json.dumps(value).replace('"%s"' % mark, rng.choice(RAW), 1).encode("latin-1")
    return r.bytes()


def wrong_key(rng, r):
    value = json_of(rng, r)
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        new = rng.choice([key.upper(), key + "s", "", "\u0000", key + "\u0000", "a" * 5000, "__proto__", "\ud83d\ude00"])
        if rng.random() < 0.3:
            del value[key]
        elif rng.random() < 0.5:
            value[new] = value[key]
        else:
            text = json.dumps(value)
            r.body = (text[:-1] + ", " + json.dumps(key) + ": " + json.dumps(rng.choice(VALUES)) + "}").encode()
            return r.bytes()
    r.body = json.dumps(value).encode()
    return r.bytes()


def deep(rng, r):
    depth = rng.choice([20, 500, 2047, 2048, 2049, 10000, 100000])
    begin, end = rng.choice([("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
    text = begin * depth + "1" + (end * depth if rng.random() < 0.7 else "")
    if rng.random() < 0.5:
        value = json_of(rng, r)
        put(value, rng.choice(list(places(value))), "~here~")
        text = json.dumps(value).replace('"~here~"', text, 1)
    r.body = text.encode()
    r.set("Content-Type", "application/json")
    r.method = "POST"
    return r.bytes()


def flipped(rng, data, times):
    data = bytearray(data)
    for _ in range(times):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(4)
        if what == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif what == 1:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 1, 4, 40])))
        elif what == 2:
            del data[at:at + rng.choice([1, 1, 5, 50])]
        else:
            data[at:at] = data[at:at + rng.randrange(60)] * rng.choice([1, 1, 30])
    return bytes(data)


def damaged_body(rng, r):
    if not r.body:
        json_body = json_of(rng, r)
        r.body = json.dumps(json_body).encode()
    r.body = flipped(rng, r.body, rng.choice([1, 2, 10]))
    return r.bytes()


def not_utf8(rng, r):
    value = json_of(rng, r)
    value = put(value, rng.choice(list(places(value))), "~here~") or value
    bad = rng.choice([b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf8\x88\x80\x80\x80", b"\x80",
                      b"\x00"])
    r.body = json.dumps(value).encode().replace(b"~here~", bad, 1)
    if rng.random() < 0.2:
        r.body = rng.choice([b"\xef\xbb\xbf" + r.body, r.body.decode("latin-1").encode("utf-16"), r.body + b"\x00",
                             r.body + b"{}"])
    return r.bytes()


def wrong_form(rng, r):
    kind, target, value = rng.choice([v for v in VALID if v[0] == "FORM"])
    r = Request((kind, target, value))
    part = rng.choice(["%", "%4", "%zz", "%00", "%ff", "&" * 5000, "=", "q=" * 50, "q=a&" * 2000, "text=x&" * 3000,
                       "a" * 50000 + "=1", "q=%ed%a0%80", "\xff", "alternatives=-1", "alternatives=1e99",
                       "alternatives=" + "9" * 300, "api_key=%", "q[]=1", "q=\x00", ";q=1",
                       "target_lang=&target_lang=FR", "=&=&=", "q=" + "%20" * 3000])
    r.body = rng.choice([b"%s&%s", b"%s%s", b"%b%b"]) % ((r.body, part.encode("latin-1")) if rng.random() < 0.7 else
                                                         (part.encode("latin-1"), r.body))
    if rng.random() < 0.3:
        r.body = flipped(rng, r.body, 3)
    return r.bytes()


def wrong_type(rng, r):
    r.set("Content-Type", rng.choice([None, "", "text/plain", "application/json; charset=utf-16",
                                      "multipart/form-data; boundary=a",
                                      "application/x-www-form-urlencoded", "application/json", "a" * 3000,
                                      "application/json,text/html", "APPLICATION/JSON;;;", "\u00e9", "application/xml"]))
    if rng.random() < 0.3:
        r.body = b"--a\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n--a--\r\n"
    if rng.random() < 0.2:
        r.set("Content-Encoding", rng.choice(["gzip", "identity", "br", "", "identity, gzip"]))
    return r.bytes()


def wrong_target(rng, r):
    path = r.target.split("?")[0]
    r.target = rng.choice([
        path + "%", path + "%zz", path + "%00", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", path + "/", path + "//",
        "//" + path,
        path.upper(), path + "?" + "a=b&" * 300, path + "?text=%ff", path + "?text=%", path + "?model=lm&model=lm2", path + "?=",
        path + "?&&&", path + "#x", "http://a" + path, "http://" + path, "https://a:b@c/" + path, "*", "", "a", "?",
        "/" + "a" * 9000, "/" + "%41" * 900, "/v1/models/" + "x" * 2000, "/v1/models/%2f", "/v1/models/\xff",
        "/v1/explain?text=" + "a" * 4000, "/v1/explain?text=a&full=maybe", "/v2/languages?type=" + "z" * 900, "/\x01\x02", "\\",
        "/ /", "/v1/completions?stream=true", "HTTP/1.1"])
    return r.bytes()


def wrong_method(rng, r):
    r.method = rng.choice(["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "HEAD", "OPTIONS", "get", "GETT", "", "A" * 9000,
                           "P\x00ST", "POST ",
                           " POST", "GET\t", "PRI", "\xff", "G E T"])
    if rng.random() < 0.3:
        r.target = rng.choice(["*", "a:443", "/v1/completions"])
    return r.bytes()


def wrong_header(rng, r):
    extra = rng.choice([
        b"X: " + b"a" * rng.choice([5000, 40000, 200000]) + b"\r\n", b"X: y\r\n" * rng.choice([200, 10000]), b"no colon\r\n",
        b": no name\r\n",
        b"X : y\r\n", b"X\x00Y: z\r\n", b"X: y\x00z\r\n", b"X: y\r\n folded\r\n", b" X: y\r\n", b"X: y\n", b"X: y\r",
        b"\xff\xfe: y\r\n", b"X: \xff\xfe\r\n", b"X: \x7f\x01\r\n", b"Authorization: " + b"B" * 3000 + b"\r\n",
        b"Authorization: Bearer\r\n", b"Authorization: Bearer \xff\r\n", b"X-Api-Key:\r\n", b"Expect: 100-continue\r\n",
        b"Expect: 200-ok\r\n", b"Upgrade: h2c\r\nConnection: upgrade\r\n", b"Range: bytes=0-1\r\n", b"Origin: null\r\n",
        b"Origin: " + b"o" * 3000 + b"\r\n", b"Cookie: a=b; c\r\n", b"If-None-Match: *\r\n", b"Accept: nothing\r\n",
        b"Connection: keep-alive, close, x\r\n", b"Content-Type: a/b\r\nContent-Type: c/d\r\n", b"Trailer: X\r\n",
        b"Access-Control-Request-Method: \xff\r\n"])
    data = r.bytes()
    first = data.index(b"\r\n") + 2
    return data[:first] + extra + data[first:]


def wrong_framing(rng, r):
    body = r.body or b"{}"
    size = len(body)
    lines = rng.choice([
        b"Content-Length: -1", b"Content-Length: +%d" % size, b"Content-Length: %d, %d" % (size, size), b"Content-Length: 0x10",
        b"Content-Length: 1e3", b"Content-Length:", b"Content-Length: 99999999999999999999999",
        b"Content-Length: 9223372036854775807", b"Content-Length: 18446744073709551615", b"Content-Length : %d" % size,
        b"Content-Length: %d\r\nContent-Length: %d" % (size, size + 1), b"Transfer-Encoding: gzip",
        b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding:",
        b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", b"Transfer-Encoding: xchunked",
        b"Content-Length: 0%d" % size, b"Content-Length: %d " % size, b"Content-Length: \t%d" % size,
        b"Content-Length: %d" % (2 << 20), b"Content-Length: %d" % (1 << 40)])
    r.fields = [f for f in r.fields if f[0] != "Connection" or rng.random() < 0.3]
    r.method = "POST"
    return r.head() + lines + b"\r\n\r\n" + body


def smuggled(rng, r):
    """Two readers could see two ends of this one; the request in its body must never be answered."""
    r.method = "POST"
    r.fields = [f for f in r.fields if f[0] != "Connection"]
    lines = rng.choice([
        b"Content-Length: %d\r\nTransfer-Encoding: chunked" % (5 + len(HIDDEN)),
        b"Transfer-Encoding: chunked\r\nContent-Length: 5",
        b"Content-Length: 5\r\nContent-Length: %d" % (5 + len(HIDDEN)),
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", b"Transfer-Encoding: identity\r\nContent-Length: 5",
        b"Transfer-Encoding: x, chunked\r\nContent-Length: 5", b"Transfer-Encoding: \x0bchunked\r\nContent-Length: 5",
        b"Transfer-Encoding : chunked\r\nContent-Length: 5", b"Transfer-Encoding: chunked\r\nContent-Length: 0",
        b"X: a\r\nHost: b\r\nTransfer-Encoding: chunked", b"Content-Length: 5\r\nTransfer-encoding:\tchunked"])
    return r.head() + lines + b"\r\n\r\n" + b"0\r\n\r\n" + HIDDEN


def wrong_chunks(rng, r):
    body = r.body or b'{"q": "a"}'
    r.method = "POST"
    part = rng.choice([
        b"-1\r\n%b\r\n0\r\n\r\n" % body, b"zz\r\n%b\r\n0\r\n\r\n" % body, b"ffffffffffffffffff\r\n%b" % body,
        b"7fffffffffffffff\r\n%b" % body,
        b"%x\r\n%b0\r\n\r\n" % (len(body), body), b"%x;a=b;%b\r\n%b\r\n0\r\n\r\n" % (len(body), b"e" * 3000, body),
        b"%x\n%b\n0\n\n" % (len(body), body), b"%x\r\n%b\r\n0\r\nX: y\r\n\r\n" % (len(body), body),
        b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, b"T: t\r\n" * 3000), b"0\r\n\r\n", b"%x\r\n%b\r\n" % (len(body), body),
        b"%x\r\n%b" % (len(body) + 9, body), b"\r\n\r\n", b"0x5\r\n%b\r\n0\r\n\r\n" % body,
        b"".join(b"1\r\n%c\r\n" % c for c in body) + b"0\r\n\r\n", b"%x \r\n%b\r\n0 \r\n\r\n" % (len(body), body),
        b"00000000000000000000%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)])
    return r.head() + b"Transfer-Encoding: chunked\r\n\r\n" + part


def wrong_version(rng, r):
    r.version = rng.choice(["HTTP/1.0", "HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0", "HTTP/1.1x", "HTTP/1.", "http/1.1",
                            "HTTP/11", "HTTP", "",
                            "HTTP/1.1 HTTP/1.1", "HTTP/99999.1", "HTTP/1.\x01"])
    if rng.random() < 0.3:
        r.fields = [f for f in r.fields if f[0] != "Host"]
    if rng.random() < 0.2:
        r.fields += [("Host", rng.choice(["b", "", "a b", "a/b", "\xff", "a" * 3000]))]
    return r.bytes()


def cut(rng, r):
    data = r.bytes()
    return data[:rng.randrange(len(data))]


def in_parts(rng, r):
    data = flipped(rng, r.bytes(), rng.choice([0, 1, 3]))
    parts = []
    while data:
        size = rng.choice([1, 2, 10, 100, 2000])
        parts, data = parts + [data[:size]], data[size:]
        if len(parts) > 40:
            parts, data = parts + [data], b""
    return parts


def pipelined(rng, r):
    data = b""
    for i in range(rng.choice([2, 5, 30])):
        one = Request(rng.choice(VALID))
        one.fields = [f for f in one.fields if f[0] != "Connection"]
        data += one.bytes() if rng.random() < 0.8 else flipped(rng, one.bytes(), 1)
    return data + r.bytes()


def flipped_all(rng, r):
    return flipped(rng, r.bytes(), rng.choice([1, 2, 5, 20]))


def no_http(rng, r):
    noise = bytes(rng.randrange(256) for _ in range(rng.choice([1, 10, 300, 5000])))
    return rng.choice([noise, b"\r\n" * 3000, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise,
                       b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + noise,
                       b"GET /health\r\n\r\n", b"SSH-2.0-x\r\n", b"EHLO a\r\n", b"\x00" * 5000, b" " * 70000,
                       b"GET " + b"/" * 70000, noise + r.bytes(), b"\r\n\r\n" + r.bytes(), b""])


DAMAGE = {f.__name__: f for f in (
    wrong_value, wrong_literal, wrong_key, deep, damaged_body, not_utf8, wrong_form, wrong_type, wrong_target, wrong_method,
    wrong_header, wrong_framing, smuggled, odd_framing, wrong_chunks, wrong_version, cut, in_parts, pipelined, flipped_all, no_http)}
SHARE = {"wrong_value": 6, "wrong_literal": 4, "damaged_body": 2, "flipped_all": 2, "wrong_form": 2}
