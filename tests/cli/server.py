"""server.py: a web server for check_fetch.sh: FOLDER's files, with the faults that servers have. It prints its port, then a
line for each request: its path, and from which byte on.

  /files/NAME    the file, or the rest of it
  /whole/NAME    always the whole file, whatever was asked for
  /more/NAME     the file, then zeros, without a length: 64 MB
  /cut/NAME      half of what was asked for, then the connection ends
  /moved/NAME    a redirection to /files/NAME
  /away/NAME     a redirection to a file of this machine
"""
import http.server
import os
import sys

FOLDER = sys.argv[1]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def redirect(self, where):
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        _, kind, name = self.path.split("/", 2)
        start = int(self.headers.get("Range", "bytes=0-")[len("bytes="):].split("-")[0])
        print(self.path, start, flush=True)
        if kind == "moved":
            return self.redirect("/files/" + name)
        if kind == "away":
            return self.redirect("file://" + os.path.join(FOLDER, name))
        try:
            with open(os.path.join(FOLDER, name), "rb") as file:
                data = file.read()
        except OSError:
            return self.send_error(404)
        if kind == "more":
            return self.send_more(data)
        self.send(kind, data, 0 if kind == "whole" else start)

    def send_more(self, data):
        self.send_response(200)
        self.end_headers()
        try:
            for part in [data] + 1024 * [bytes(65536)]:
                self.wfile.write(part)
        except ConnectionError:  # who has enough goes away
            pass

    def send(self, kind, data, start):
        rest = data[start:]
        if start > 0 and not rest:
            return self.send_error(416)
        self.send_response(206 if start > 0 else 200)
        if start > 0:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        try:
            self.wfile.write(rest[: len(rest) // 2] if kind == "cut" else rest)
        except ConnectionError:  # who asked for a part goes away when all of it comes
            pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
