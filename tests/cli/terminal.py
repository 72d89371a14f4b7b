#!/usr/bin/env python3
"""tests/cli/terminal.py COLUMNS[:THEN] COMMAND...: runs a command in a terminal of COLUMNS columns (0: it does not say, and
COLUMNS does), and prints what is to be seen at the end, with all that has scrolled away; what the terminal had to wrap
continues behind "~ ". THEN: the terminal has so many columns from the second report on. The exit status is the command's, or
99 where a line was written over after it had wrapped, which leaves a part of it standing."""
import fcntl
import os
import pty
import struct
import sys
import termios
import unicodedata


def set_columns(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


class Screen:
    """Knows what rapt writes: text, line ends, and the erasing of the line that the cursor is in."""

    def __init__(self, columns):
        self.columns, self.lines, self.wrapped, self.at, self.spoiled = columns, [""], [False], 0, False

    def put(self, c):
        width = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.at + width > self.columns:
            self.new_line(True)
        self.lines[-1] += c
        self.at += width

    def new_line(self, wraps):
        self.lines.append("")
        self.wrapped.append(wraps)
        self.at = 0

    def erase(self):
        self.spoiled = self.spoiled or self.wrapped[-1] or self.lines[-1] != "" and self.at != 0
        self.lines[-1] = ""

    def write(self, text):
        i = 0
        while i < len(text):
            if text.startswith("\r\n", i):
                self.new_line(False)
                i += 1
            elif text[i] == "\r":
                self.at = 0
            elif text.startswith("\033[K", i):
                self.erase()
                i += 2
            else:
                self.put(text[i])
            i += 1


def main():
    first, _, then = sys.argv[1].partition(":")
    columns = int(first)
    child, fd = pty.fork()
    if child == 0:
        set_columns(0, columns)
        os.execvpe(sys.argv[2], sys.argv[2:], {**os.environ, "TERM": "xterm"})
    screen, data = Screen(columns or int(os.environ["COLUMNS"])), b""
    while True:
        try:
            read = os.read(fd, 4096)
        except OSError:  # the other end is closed
            read = b""
        if not read:
            break
        data += read
        whole = data.decode("utf-8", "ignore")  # a character's first bytes wait for the others
        data = data[len(whole.encode()):]
        screen.write(whole)
        if then and sum("val_loss" in line for line in screen.lines) == 1:
            set_columns(fd, int(then))
            screen.columns = int(then)
            then = ""
    for line, wrapped in zip(screen.lines, screen.wrapped):
        print(("~ " if wrapped else "") + line)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(99 if screen.spoiled else status)


main()
