"""macho_hide.py ARCHIVE AR: what hide_symbols.sh does, for macOS, whose own tools cannot: symbols that a static library's objects
share among themselves only are renamed, from `gemm` to `rapt__gemm`. They are the hidden ones ("private extern"). Where something
fails, the archive is removed."""
import os
import struct
import subprocess
import sys
import tempfile

from macho import SYMTAB, MachO

EXTERN, HIDDEN, SECTION = 0x01, 0x10, 0x0E


def hidden_of(macho):
    """The names of its hidden symbols."""
    return {name for _, name, kind, _, _ in macho.symbols() if kind & EXTERN and kind & HIDDEN and kind & 0xE == SECTION}


def rename(path, macho, hidden):
    """The names go to the end of the file, where all others have a copy."""
    data, strings = bytearray(macho.data), bytearray(b"\0")
    for entry, name, kind, _, _ in macho.symbols():
        if kind & EXTERN and name in hidden:
            name = "_rapt_" + name
        struct.pack_into("<I", data, entry, len(strings))
        strings += name.encode() + b"\0"
    data += bytes(-len(data) % 8)
    struct.pack_into("<2I", data, macho.commands[SYMTAB][0][0] + 16, len(data), len(strings))
    with open(path, "wb") as file:
        file.write(data + strings)


def main(archive, ar):
    """Objects that ask for a symbol do not know that it is hidden: all are read, then written."""
    archive = os.path.abspath(archive)
    names = subprocess.run([ar, "t", archive], check=True, capture_output=True, text=True).stdout.splitlines()
    names = [name for name in names if not name.startswith("__.SYMDEF")]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ar, "x", archive], check=True, cwd=folder)
        os.remove(archive)
        paths, objects = [os.path.join(folder, name) for name in names], []
        for path in paths:
            with open(path, "rb") as file:
                objects.append(MachO(file.read()))
        hidden = set().union(*map(hidden_of, objects))
        for path, macho in zip(paths, objects, strict=True):
            rename(path, macho, hidden)
        subprocess.run([ar, "rcs", archive, *paths], check=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BaseException:
        if os.path.exists(sys.argv[1]):
            os.remove(sys.argv[1])
        raise
