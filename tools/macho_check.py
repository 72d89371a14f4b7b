"""macho_check.py PROCESSOR FILE [NEEDED...] [--exports NAME...]: whether a program or library for macOS, which no other system can
run, is what it is to be: for that processor (arm64 or x86_64) and for macOS 11, signed where the processor asks for that, with
the needed libraries and the system's own and no other; a library exports these names and no others, or those in the files @NAME.
A function that no library is named for must be Python's, which gives them to its modules."""
import sys

from macho import ID, RPATH, MachO

SYSTEM = "/usr/lib/libSystem.B.dylib"
MINIMUM = "11.0"
OF_LINKER = {"__mh_dylib_header", "___dso_handle"}  # zig's linker exports them, too, and nobody asks for them
UNDEFINED, EXTERN, ANY_LIBRARY = 0x00, 0x01, 0xFE  # the last in place of a library's number: whoever has it


def check_file(macho, processor):
    """Reasons why macOS would refuse a file, whatever else it has to be."""
    if macho.processor != processor:
        yield f"is for {macho.processor}"
    if macho.minimum() != MINIMUM:
        yield f"is for macOS {macho.minimum()}"
    if processor == "arm64" and not macho.signed():
        yield "has no signature, or a wrong one"
    for name in [name for name in macho.names(ID) + macho.names(RPATH) if name.startswith("/")]:
        yield f"names a folder of the machine that built it: {name}"
    for _, name, kind, description, _ in macho.symbols():
        if kind & 0xF == UNDEFINED | EXTERN and description >> 8 == ANY_LIBRARY and not name.startswith(("_Py", "__Py")):
            yield f"asks for {name}, which no library is named for"


def exports_of(macho):
    """As C calls them."""
    return [name[1:] for name in macho.exports() if name not in OF_LINKER]


def check(macho, needed, exports):
    """Reasons why a file is not what its build is to make."""
    if sorted(macho.needed()) != sorted([SYSTEM, *needed]):
        yield f"needs {', '.join(macho.needed())}"
    found = set(exports_of(macho)) if macho.kind == "library" else exports
    for name in sorted(found ^ exports):
        yield f"{'exports' if name in found else 'does not export'} {name}"


def main(processor, path, *rest):
    """Says what is wrong, with status 1, or in a line what was checked."""
    split = rest.index("--exports") if "--exports" in rest else len(rest)
    needed, exports = rest[:split], set()
    for name in rest[split + 1 :]:
        if name.startswith("@"):
            with open(name[1:], encoding="utf-8") as file:
                exports.update(file.read().split())
        else:
            exports.add(name)
    with open(path, "rb") as file:
        macho = MachO(file.read())
    reasons = [*check_file(macho, processor), *check(macho, needed, exports)]
    for reason in reasons[:20]:
        print(f"{path} {reason}")
    if reasons:
        return 1
    print(f"{path}: {processor}, macOS {MINIMUM}, needs {', '.join([SYSTEM, *needed])}, exports {len(exports)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
