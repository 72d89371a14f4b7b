"""serve_framings.py: requests whose end two readers could see in two places, with another request hidden behind the first end: a
generator, and the cases of other projects. For serve_malformed.py. Standard library only.
"""
import glob
import os
import re

HIDDEN = b"GET /hidden-request HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b'{"model": "lm", "text": "the"}'

# What is put into a line: no letters and digits, with which a field or a length would only be another one.
BYTES = [b"\x00", b"\r", b"\n", b"\r\n ", b"\r\n\t", b"\n ", b"\x0b", b"\x0c", b" ", b"\t", b"\xa0", b"\x85", b"\xff", b"_",
         b"+", b"-", b'"', b",", b";", b"\x7f", b"\x01", b"\r\n\r", b"\xef\xbb\xbf", b"'", b"/", b"(", b"\\",
         b"\xe2\x80\xa8"]
ENDS = [b"\n", b"\r", b"\n\r", b"\r\r\n", b"\x00\r\n", b"\r\n\x00", b" \r\n", b"\t\r\n", b"\x0b\r\n", b"\r\x00\n", b"\x85",
        b"\xe2\x80\xa8", b"\r\n\n", b"\n\n", b"\r\n \r\n", b";\r\n", b",\r\n", b""]
LENGTHS = [b"+%d", b"-%d", b"0x%x", b"%d, %d", b"%d,%d", b"%d %d", b"%d;", b"%d.0", b"%de0", b"\"%d\"", b"%d_0", b"",
           b"%d\x00", b"\x00%d", b"%d\r\n ", b"\r\n %d", b"\x0b%d", b"%d\x0b", b"18446744073709551616",
           b"18446744073709551%d", b"9223372036854775808", b"0%d\x00", b"%d-", b"%d\xa0", b"\xd9\xa3", b"%d\n", b"(%d)",
           b"%d, ", b", %d", b"NaN", b"%d %%"]
CODINGS = [b"chunked, chunked", b"identity", b"gzip", b"gzip, chunked", b"chunked, gzip", b"chunked;q=1", b"xchunked",
           b"chunkedx", b"chunk", b"\x0bchunked", b"chunked\x0b", b"\x00chunked", b"chunked\x00", b"chunked\x00x",
           b"\r\n chunked", b"chunked\r\n ", b"\"chunked\"", b"", b",chunked", b"chunked,", b" ,chunked",
           b"chunked identity", b"\xa0chunked", b"chunked\xa0", b"ch\xc5\xadnked", b"identity, chunked", b"chunked\n",
           b"chunked\r", b"trailers", b"'chunked'", b"chun\xc3\xaeked", b"chunked\x01", b"x\nTransfer-Encoding: chunked"]
NAMES_LENGTH = [b"Content-Length ", b"Content-Length\t", b" Content-Length", b"Content-Length\x00", b"Content_Length",
                b"Content-\x00Length", b"Content-Length\x0b", b"\x0bContent-Length", b"Content-Length:",
                b"\xffContent-Length", b"Content--Length", b"Content.Length", b"X\nContent-Length", b"X: y\rContent-Length",
                b"X: y\nContent-Length", b"\"Content-Length\"", b"Content-Length\r\n ", b"Content Length",
                b"-Content-Length", b"Content-Length-", b"CONTENT_LENGTH"]
NAMES_CODING = [name.replace(b"Content", b"Transfer").replace(b"CONTENT", b"TRANSFER").replace(b"Length", b"Encoding")
                .replace(b"LENGTH", b"ENCODING") for name in NAMES_LENGTH]
SIZES = [b"0x%x", b"-%x", b"+%x", b"%x_0", b" %x", b"%x ", b"\t%x", b"%x\t", b"%x;", b"%x;a=b", b"%x;\ra", b"%x;a\x00",
         b"%x;a=\"\r\n\"", b"%x\r;a", b"00000000000000000000%x", b"1000000000000000%x", b"ffffffffffffffff", b"", b";",
         b"%x\x00", b"\x00%x", b"%x,%x", b"%xg", b"\xef\xbc\x91", b"%x ;a", b"%x; a", b"%x\xa0", b"%x.0", b"\"%x\"",
         b"%x;\xff", b"%x;\x7f"]
LINES = [b"GET /v1/models HTTP/1.1", b"POST  /v1/tokenize HTTP/1.1", b"POST\t/v1/tokenize HTTP/1.1",
         b"POST /v1/tokenize\tHTTP/1.1", b"POST /v1/tokenize  HTTP/1.1", b"POST /v1/tokenize HTTP/1.1 ",
         b"POST /v1/tokenize HTTP/1.0", b"POST /v1/tokenize HTTP/1.2", b"POST /v1/tokenize HTTP/2.0",
         b"POST /v1/tokenize HTTP/1.1\x00", b"POST /v1/tokenize\x00 HTTP/1.1", b"POST /v1/tok enize HTTP/1.1",
         b"POST http://other/v1/tokenize HTTP/1.1", b"POST http://localhost:1/v1/tokenize HTTP/1.1",
         b"POST /v1/tokenize\rHTTP/1.1", b"POST /v1/tokenize HTTP/1.1\r", b"P\x00ST /v1/tokenize HTTP/1.1",
         b"POST\x0b/v1/tokenize HTTP/1.1", b"P@ST /v1/tokenize HTTP/1.1", b"POST /v1/tokenize HTTP/01.1",
         b"POST /v1/tokenize HTTP/1.1 HTTP/1.1", b"POST /v1/tokenize HTTP/1.1\n", b"POST /v1/tokenize", b"",
         b" POST /v1/tokenize HTTP/1.1", b"POST /v1/tokenize http/1.1",
         b"HEAD /v1/models HTTP/1.1"]


def filled(text, number):
    """A pattern with its numbers in it."""
    return re.sub(rb"%([dx%])", lambda m: b"%" if m[1] == b"%" else (b"%d" if m[1] == b"d" else b"%x") % number, text)


def insert(rng, text):
    at = rng.randrange(1, len(text) + 1)  # before it an empty line would end the header
    return text[:at] + rng.choice(BYTES) + text[at:]


def chunked(rng, data, sizes):
    """The body in chunks; with `sizes`, one of them is written oddly."""
    size = filled(rng.choice(SIZES), len(data)) if sizes else b"%x" % len(data)
    end, last = (rng.choice(ENDS) if sizes and rng.random() < 0.4 else b"\r\n" for _ in range(2))
    stop = filled(rng.choice(SIZES), 0) if sizes and rng.random() < 0.5 else b"0"
    trailer = rng.choice([b"", b"", b"X: y\r\n",
                          b"Content-Length: 3\r\n", b"X: y\n", b"X: y\r\n z\r\n", b"no colon\r\n", b" X: y\r\n", b"X\x00: y\r\n"])
    return size + end + data + last + stop + b"\r\n" + trailer + (rng.choice(ENDS) if sizes and rng.random() < 0.3 else b"\r\n")


def odd_framing(rng, r):
    """Bytes of one request, and the hidden one within its body, or where the body ends for who takes another of its lengths."""
    line, ends = b"POST /v1/tokenize HTTP/1.1", b"\r\n"
    host, kind = b"Host: localhost", rng.randrange(8)
    length = b"Content-Length: %d" % (len(BODY) + len(HIDDEN))
    coding = b"Transfer-Encoding: chunked"
    fields, body = [host], BODY + HIDDEN
    if kind == 0:  # the length, written oddly, or its name
        name = rng.choice(NAMES_LENGTH) if rng.random() < 0.5 else b"Content-Length"
        value = b"%d" if name != b"Content-Length" else rng.choice(LENGTHS)
        fields.append(name + b": " + filled(value, rng.choice([len(BODY), len(BODY) + len(HIDDEN)])))
    elif kind == 1:  # the coding
        name = rng.choice(NAMES_CODING) if rng.random() < 0.5 else b"Transfer-Encoding"
        fields += [name + b": " + (b"chunked" if name != b"Transfer-Encoding" else rng.choice(CODINGS))]
        fields += [b"Content-Length: %d" % rng.choice([0, len(BODY)])] if rng.random() < 0.5 else []
        body = rng.choice([b"0\r\n\r\n" + HIDDEN, chunked(rng, BODY, False) + HIDDEN])
    elif kind == 2:  # two of them
        other = rng.choice([b"Content-Length: %d" % n for n in (0, 5, len(BODY))] + [b"Transfer-Encoding: " + c for c in CODINGS])
        fields += rng.sample([rng.choice([length, coding]), other], 2)
        body = rng.choice([b"0\r\n\r\n" + HIDDEN, body])
    elif kind == 3:  # chunks
        fields.append(coding)
        body = chunked(rng, rng.choice([BODY, HIDDEN, BODY + HIDDEN]), True) + HIDDEN
    elif kind == 4:  # a byte somewhere in the framing
        fields.append(insert(rng, length))
    elif kind == 5:  # a line that ends oddly, and what is behind it
        fields += [b"X: y" + rng.choice(ENDS[:14]) + rng.choice([b"Content-Length: 0", coding, b"X: y"]), length]
    elif kind == 6:  # the first line
        line = rng.choice(LINES)
        fields.append(length)
        if line.endswith(b"HTTP/1.0"):
            fields[1:] = [coding, b"Connection: keep-alive"]
            body = b"0\r\n\r\n" + HIDDEN
    else:  # Host
        fields[0] = rng.choice([b"Host: a\r\nHost: localhost", b"Host : localhost", b"Host: local host", b"Host: a, b", b"Host:",
                                b"X: y", b"Host: localhost\x00", b" Host: localhost", b"Host\r\n : localhost",
                                b"Host: a\r\n b", b"Host: a@localhost"])
        fields.append(length)
    if rng.random() < 0.2:
        rng.shuffle(fields)
    if rng.random() < 0.1:
        ends = rng.choice(ENDS)
    r.method = "POST"
    return line + b"\r\n" + b"\r\n".join(fields) + ends + b"\r\n" + body


# What gunicorn refuses and rapt need not: where a request ends is plain, or the reason is gunicorn's own.
PLAIN = {
    "invalid/011.http": "a limit of gunicorn's",
    "invalid/012.http": "a limit of gunicorn's",
    "invalid/041.http": "two fields Content-Type",
    "invalid/rfc9112_leading_crlf_02.http": "RFC 9112, section 2.2, has empty lines before a request ignored",
    "invalid/rfc9112_target_asterisk_non_options_01.http": "404",
    "invalid/rfc9112_target_non_ascii_01.http": "curl sends such targets",
}


class Case:
    """A file of a corpus: what is sent, and how many requests are in it: none may be answered behind one that is invalid."""

    def __init__(self, path):
        with open(path, "rb") as file:
            text = file.read()
        self.name, self.valid = os.path.relpath(path, os.path.dirname(os.path.dirname(path))), "/valid/" in path
        for written, byte in ((b"\n", b""), (b"\\r", b"\r"), (b"\\n", b"\n"), (b"\\t", b"\t"), (b"\\0", b"\0")):
            text = text.replace(written, byte)
        self.data = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), text) + (b"" if self.valid else HEALTH)
        with open(path[:-len(".http")] + ".py") as file:
            self.requests = max(1, len(re.findall(r"[\"']method[\"']:", file.read())))

    def is_wrong(self, data, statuses):
        answers = [s for s in statuses if s >= 200]
        return len(answers) > self.requests if self.valid else b'{"status":"ok"}' in data and self.name not in PLAIN


def corpus(folder):
    """The cases of gunicorn's tests/requests, or of a folder like it: valid/ and invalid/ with NAME.http and NAME.py."""
    return [Case(path) for kind in ("valid", "invalid") for path in sorted(glob.glob(os.path.join(folder, kind, "*.http")))]
