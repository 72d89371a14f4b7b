"""tools/wheel_check.py WHEEL...: what is in a wheel, before anybody installs it. tools/wheels.sh runs it, in its environment.

RECORD lists every file with its sum and size, as pip checks them. The shared libraries that files ask for belong to every system
with the wheel's tag, or are in the wheel; the extension exports its one function, and asks for the interpreter's functions alone
besides. That the interpreter's functions are in the limited API is for abi3audit to judge.
"""
import base64
import csv
import hashlib
import io
import re
import sys
import zipfile

from elftools.elf.elffile import ELFFile
import pefile

from macho import MachO
from macho_check import check_file, exports_of

# What a system offers, by a pattern of the platform's tag, for each a pattern of libraries.
SYSTEMS = {
    r"manylinux_2_17_\w+": r"lib(c|m)\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)",
    r"musllinux_1_2_\w+": r"libc\.so",
    r"win_amd64": r"(?i)kernel32\.dll|shell32\.dll|advapi32\.dll|ws2_32\.dll|bcrypt\.dll|api-ms-win-crt-[\w-]+\.dll|python3\.dll",
    r"macosx_11_0_\w+": r"/usr/lib/libSystem\.B\.dylib",
}
MACHINES = {"macosx_11_0_x86_64": "x86_64", "macosx_11_0_arm64": "arm64", "x86_64": "EM_X86_64", "aarch64": "EM_AARCH64",
            "amd64": 0x8664}


def elf(data):
    """The processor, the libraries and the exported functions of an ELF file."""
    image = ELFFile(io.BytesIO(data))
    needs = [tag.needed for tag in image.get_section_by_name(".dynamic").iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
    symbols = image.get_section_by_name(".dynsym").iter_symbols()
    exports = [s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK")]
    return image["e_machine"], needs, exports


def pe(data):
    """The same of a file of Windows."""
    image = pefile.PE(data=data)
    needs = [entry.dll.decode() for entry in getattr(image, "DIRECTORY_ENTRY_IMPORT", [])]
    exported = image.DIRECTORY_ENTRY_EXPORT.symbols if hasattr(image, "DIRECTORY_ENTRY_EXPORT") else []
    exports = [symbol.name.decode() for symbol in exported]
    return image.FILE_HEADER.Machine, needs, exports


def mach_o(data):
    """The same of a file of macOS, which finds libraries of its own wheel by @rpath."""
    image = MachO(data)
    reasons = list(check_file(image, image.processor))
    if reasons:
        raise ValueError(reasons[0])
    return image.processor, [name.removeprefix("@rpath/") for name in image.needed()], exports_of(image)


READERS = {b"\x7fELF": elf, b"MZ": pe, b"\xcf\xfa\xed\xfe": mach_o}


def check_record(wheel, complain):
    """RECORD names each file once; it has no sum of itself."""
    record = next(name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
    rows = list(csv.reader(io.TextIOWrapper(wheel.open(record), "utf-8", newline="")))
    if sorted(row[0] for row in rows) != sorted(wheel.namelist()):
        complain(f"RECORD and the files differ: {sorted({row[0] for row in rows} ^ set(wheel.namelist()))}")
    for name, digest, size in rows:
        data = wheel.read(name)
        wanted = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if name != record and (digest, size) != (wanted, str(len(data))):
            complain(f"{name}: RECORD has {digest} and {size} bytes, the file {wanted} and {len(data)}")


def check(path):
    """Returns what is wrong with a wheel, as lines."""
    wrong = []
    tags = re.fullmatch(r".*-cp311-abi3-([\w.]+)\.whl", path)
    found = [(tag, libraries) for tag in (tags[1] if tags else "").split(".") for pattern, libraries in SYSTEMS.items()
             if re.fullmatch(pattern, tag)]
    if not found:
        return [f"{path}: no platform that is known here"]
    platform, offers = found[0]
    machine = next(value for name, value in MACHINES.items() if platform.endswith(name))
    kinds = {}
    with zipfile.ZipFile(path) as wheel:
        check_record(wheel, wrong.append)
        inside = {name.rsplit("/", 1)[-1] for name in wheel.namelist()}
        for name in wheel.namelist():
            data = wheel.read(name)
            read = next((reader for magic, reader in READERS.items() if data.startswith(magic)), None)
            if read is None:
                continue
            processor, needs, exports = read(data)
            kinds[name.rsplit("/", 1)[-1].split(".")[0]] = exports
            if processor != machine:
                wrong.append(f"{name}: for the processor {processor}")
            wrong += [f"{name} needs {library}" for library in needs if library not in inside
                      and not re.fullmatch(offers, library)]
            print(f"{name}: {', '.join(needs)}")
    if sorted(kinds) != ["_rapt", "librapt", "rapt"]:
        wrong.append(f"programs and libraries: {sorted(kinds)}")
    elif kinds["_rapt"] != ["PyInit__rapt"]:
        wrong.append(f"the extension exports {kinds['_rapt'][:9]}")
    return [f"{path}: {line}" for line in wrong]


if __name__ == "__main__":
    found = [line for path in sys.argv[1:] for line in check(path)]
    sys.exit("\n".join(found) or 0)
