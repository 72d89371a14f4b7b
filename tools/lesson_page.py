#!/usr/bin/env python3
"""tools/lesson_page.py GLUE.js PROGRAM.wasm LICENSES OUT.html: joins the page of the lesson: the files of src/lesson/page, what they
share with the page of rapt explain, the compiled program and the sentence pairs, compressed, and the texts of the folder
LICENSES (NAME.txt, NAME.version) of all that the program has within, in one file with a policy that names its scripts by their
SHA-256. The same inputs give the same bytes. For tools/lesson.sh, which compiles the program."""
import base64
import hashlib
import html
import lzma
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, EXPLAIN = ROOT / "src/lesson/page", ROOT / "src/explain/page"
STYLES = [EXPLAIN / "look.css", EXPLAIN / "heads.css", PAGE / "page.css"]
TEXTS = [EXPLAIN / "strings_frame.js", EXPLAIN / "strings_heads.js", PAGE / "strings.js"]
SHARED = ("language", "dom", "theme", "tokens", "watch", "colors", "heat_draw", "heat", "thumbnail")
OWN = ("lzma", "recipe", "options", "engine", "curve", "history", "examples", "sentence", "off", "heads", "next", "proof", "main")
SCRIPTS = [*TEXTS, *(EXPLAIN / f"{name}.js" for name in SHARED), ROOT / "wasm/load.js",
           *(PAGE / f"{name}.js" for name in OWN)]
WORKER = [PAGE / "sha256.js", PAGE / "worker.js"]
LIMIT = 1_300_000  # bytes of the page


def read(path):
    text = path.read_text(encoding="utf-8")
    if re.search(r"</(script|style)", text) and path.suffix != ".html":
        sys.exit(f"{path}: must not contain </script or </style")
    return text


def join(paths):
    return "".join(read(path) for path in paths)


def bare(text):
    """Scripts and styles without comments and indentation, which are in the sources."""
    return re.sub(r"^ +", "", re.sub(r"/\*.*?\*/\n?|^ *// [^\n]*\n", "", text, flags=re.S | re.M), flags=re.M)


def packed(data):
    """As lzma.js of the page reads it, which wants to know the size."""
    whole = lzma.compress(data, format=lzma.FORMAT_ALONE, filters=[
        {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 23, "lc": 4, "lp": 0, "pb": 0}])
    return base64.b64encode(whole[:5] + struct.pack("<Q", len(data)) + whole[13:]).decode()


def licenses(folder):
    """A heading and a text of each; rapt's own first. tools/release_sbom.py reads the names and versions."""
    blocks = []
    for path in sorted(folder.glob("*.txt"), key=lambda path: (path.stem != "rapt", path.stem)):
        beside = path.with_suffix(".version")
        version = beside.read_text(encoding="utf-8").strip() if beside.exists() else ""
        text = html.escape(path.read_text(encoding="utf-8").strip(), quote=False)
        if not text:
            sys.exit(f"{path}: no license")
        blocks.append(f'<h3 lang="en" data-license="{path.stem}" data-version="{version}">{f"{path.stem} {version}".strip()}</h3>\n'
                      f'<pre lang="en">{text}</pre>')
    if len(blocks) < 2 or not (folder / "rapt.txt").exists():
        sys.exit(f"{folder}: lacks licenses")
    return "\n".join(blocks)


def source_hash(script):
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def script_in(page):
    """What stands between the tags of the page's last script."""
    return page[page.rindex("<script>") + len("<script>"):page.rindex("</script>")]


def explain_script():
    """The script of the pages of rapt explain: the lesson opens one, which takes over the lesson's policy."""
    names = re.search(r"set\(PAGE_SCRIPTS ([^)]*)\)", read(EXPLAIN / "embed.cmake"))[1].split()
    scripts = join(EXPLAIN / f"{name}.js" for name in names)
    return script_in(read(EXPLAIN / "page.html")).replace("@script@", scripts)


def main(glue, program, texts, out):
    version = re.search(r'#define RAPT_VERSION "(.*)"', read(ROOT / "include/rapt/base.h"))[1]
    blobs = {"program": program.read_bytes(), "worker": (glue.read_text(encoding="utf-8") + bare(join(WORKER))).encode(),
             "pairs-fr": (ROOT / "data/en-fr.tsv").read_bytes(), "pairs-zh": (ROOT / "data/en-zh.tsv").read_bytes()}
    page = read(PAGE / "page.html")
    script = script_in(page).replace("@script@", bare(join(SCRIPTS)))
    policy = (f"default-src 'none'; style-src 'unsafe-inline'; script-src {source_hash(script)} {source_hash(explain_script())} "
              "'wasm-unsafe-eval'; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'")
    parts = {"policy": policy, "version": version, "style": bare(join(STYLES)), "script": bare(join(SCRIPTS)),
             "licenses": licenses(texts),
             "blobs": "\n".join(f'<script type="text/plain" id="{name}">{packed(data)}</script>' for name, data in blobs.items())}
    data = re.sub(r"@(\w+)@", lambda found: parts[found[1]], page).encode()
    if len(data) > LIMIT:
        sys.exit(f"{out}: {len(data)} bytes, more than {LIMIT}")
    out.write_bytes(data)
    print(f"{out}: {len(data)} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
