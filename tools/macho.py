"""Programs, libraries and objects of macOS: what a loader reads of them, and whether their signature is right. For the scripts
beside this one. One processor, 64 bits, little-endian; the formats are in Apple's mach-o/loader.h, mach-o/nlist.h and
kern/cs_blobs.h."""
import hashlib
import struct

PROCESSORS = {0x0100000C: "arm64", 0x01000007: "x86_64"}
KINDS = {1: "object", 2: "program", 6: "library"}
MAGIC = 0xFEEDFACF
SYMTAB, ID, RPATH, SIGNATURE, DYLD_INFO, EXPORTS, BUILD = 0x2, 0xD, 0x8000001C, 0x1D, 0x80000022, 0x80000033, 0x32
NEEDED = (0xC, 0x80000018, 0x8000001F, 0x20, 0x80000023)  # as it is, weakly, passed on, lazily, upwards
SUPER_BLOB, CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02


class MachO:
    """The load commands of a file's bytes, as lists of (offset, size) by their number."""

    def __init__(self, data):
        self.data = data
        magic, processor, _, kind, count = self.words(0, 5)
        if magic != MAGIC:
            raise ValueError("no file of macOS for one processor of 64 bits")
        self.processor, self.kind = PROCESSORS.get(processor, "?"), KINDS.get(kind, "?")
        self.commands, at = {}, 32
        for _ in range(count):
            command, size = self.words(at, 2)
            self.commands.setdefault(command, []).append((at, size))
            at += size

    def words(self, at, count):
        return struct.unpack_from(f"<{count}I", self.data, at)

    def text(self, at):
        return self.data[at : self.data.index(b"\0", at)].decode()

    def names(self, command):
        """The text of each such command, whose place within the command is its third word."""
        return [self.text(at + self.words(at + 8, 1)[0]) for at, _ in self.commands.get(command, [])]

    def needed(self):
        return [name for command in NEEDED for name in self.names(command)]

    def minimum(self):
        """The oldest macOS that the file is for: "11.0"."""
        at, _ = self.commands[BUILD][0]
        platform, version = self.words(at + 8, 2)
        if platform != 1:
            raise ValueError(f"for platform {platform}, not macOS")
        return f"{version >> 16}.{version >> 8 & 255}"

    def symbols(self):
        """Of each symbol: the place of its entry, its name, its type, description and value."""
        at, _ = self.commands[SYMTAB][0]
        first, count, strings, _ = self.words(at + 8, 4)
        for entry in range(first, first + 16 * count, 16):
            name, kind, _, description, value = struct.unpack_from("<IBBHQ", self.data, entry)
            yield entry, self.text(strings + name), kind, description, value

    def exports(self):
        """Names that others can ask for. They are the paths of a tree, which has a part of a name at each edge."""
        found, todo = [], [(0, "")]
        if EXPORTS in self.commands:
            start, size = self.words(self.commands[EXPORTS][0][0] + 8, 2)
        else:
            start, size = self.words(self.commands[DYLD_INFO][0][0] + 40, 2)
        while size and todo:
            node, name = todo.pop()
            length, at = self.number(start + node)
            if length:
                found.append(name)
            at += length
            children, at = self.data[at], at + 1
            for _ in range(children):
                part = self.text(at)
                child, at = self.number(at + len(part) + 1)
                todo.append((child, name + part))
        return sorted(found)

    def number(self, at):
        """A number of seven bits a byte, and the place behind it."""
        value = shift = 0
        while True:
            byte = self.data[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value, at

    def signed(self):
        """Whether there is a signature, without anyone's name, and each page has the sum that stands in it."""
        if SIGNATURE not in self.commands:
            return False
        start, _ = self.words(self.commands[SIGNATURE][0][0] + 8, 2)
        magic, _, blobs = struct.unpack_from(">3I", self.data, start)
        places = [start + struct.unpack_from(">2I", self.data, start + 12 + 8 * i)[1] for i in range(blobs)]
        directories = [at for at in places if struct.unpack_from(">I", self.data, at)[0] == CODE_DIRECTORY]
        return magic == SUPER_BLOB and bool(directories) and all(self.pages_match(at, start) for at in directories)

    def pages_match(self, at, end):
        fields = struct.unpack_from(">9I4B", self.data, at)
        sums, pages, limit, size, kind, page = at + fields[4], fields[7], fields[8], fields[9], fields[10], 1 << fields[12]
        ad_hoc = fields[3] & 2
        for i in range(pages):
            of = self.data[page * i : min(page * (i + 1), limit)]
            if hashlib.sha256(of).digest()[:size] != self.data[sums + size * i : sums + size * (i + 1)]:
                return False
        return bool(ad_hoc) and kind == 2 and limit == end and pages == -(-limit // page)
