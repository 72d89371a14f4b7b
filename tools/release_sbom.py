#!/usr/bin/env python3
"""tools/release_sbom.py VERSION COMMIT SECONDS INFO FOLDER: the files of a release and what is linked statically into them, as SPDX 2.3
in JSON, on standard output. FOLDER has the files, SECONDS is the time of the commit. What is linked into a wheel, a tarball or
a zip file has its license there, as licenses/NAME.txt, and Debian's version of its source in some of them, as
licenses/NAME.version, and the page of the lesson has both within (tools/lesson_page.py); INFO, what `rapt info --json` of such
a file prints, must agree. The same files give the same bytes. For tools/release.sh."""
import datetime
import hashlib
import json
import pathlib
import re
import sys
import tarfile
import urllib.parse
import zipfile

LICENSES = {
    "emscripten": "MIT",
    "jansson": "MIT",
    "libmicrohttpd": "LGPL-2.1-or-later",
    "libyaml": "MIT",
    "mingw-w64": "ZPL-2.1",
    "musl": "MIT",
    "pcre2": "BSD-3-Clause",
    "xxhash": "BSD-2-Clause",
    "zlib": "Zlib",
}
WITH_COMPILER = ("emscripten", "musl", "mingw-w64") # the others are Debian's sources


def package(identifier, name, version, license, **more):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", identifier),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": license,
        "licenseDeclared": license,
        "copyrightText": "NOASSERTION",
        **more,
    }


def licenses_within(file):
    """What a file has below licenses/: pairs of a name and a function that reads it."""
    if file.suffix in (".whl", ".zip"):
        archive = zipfile.ZipFile(file)
        members = [(name, lambda name=name: archive.read(name)) for name in archive.namelist()]
    elif re.search(r"\.tar\.[a-z]+$", file.name) and not file.name.endswith(".orig.tar.gz"):
        archive = tarfile.open(file)
        members = [(m.name, lambda m=m: archive.extractfile(m).read()) for m in archive.getmembers() if m.isfile()]
    else:
        members = []
    return [(pathlib.PurePath(name), read) for name, read in members if "/licenses/" in name]


def licenses_in_page(file):
    """Likewise of the page of the lesson: pairs of a name and a version."""
    found = re.findall(r'data-license="([^"]+)" data-version="([^"]*)"', file.read_text(encoding="utf-8"))
    unknown = {name for name, _ in found} - LICENSES.keys() - {"rapt"}
    if not found or unknown:
        sys.exit(f"release_sbom.py: {file.name} has licenses of {sorted(unknown) or 'nothing'}")
    return [(name, version) for name, version in found if name in LICENSES]


def find_libraries(files):
    """The names of the libraries in each file, by its name, and Debian's version of each library."""
    linked, versions = {}, {}

    def add(file, name, version=""):
        linked.setdefault(file.name, set()).add(name)
        if version and versions.setdefault(name, version) != version:
            sys.exit(f"release_sbom.py: {name} is {version} in {file.name}, {versions[name]} in another file")

    for file in files:
        for path, read in licenses_within(file):
            if path.stem in LICENSES:
                add(file, path.stem, read().decode().strip() if path.suffix == ".version" else "")
        for name, version in licenses_in_page(file) if file.name.endswith("-lesson.html") else []:
            add(file, name, version)
    for name in [file.name for file in files if "-container-" in file.name]: # an image of the static program
        version, processor = re.fullmatch(r"(.*)-container-([^.]*)\..*", name).groups()
        linked[name] = linked[f"{version}-{processor}-static.tar.xz"]
    return linked, versions


def upstream(debian):
    """1.2.13 of 1:1.2.13.dfsg-1"""
    return re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", debian)[1]


def main(version, commit, seconds, info, folder):
    files = sorted(pathlib.Path(folder).iterdir())
    linked, versions = find_libraries(files)
    for name, found in json.load(open(info))["libraries"].items():
        if upstream(versions.get(name, found)) != found:
            sys.exit(f"release_sbom.py: rapt info says {name} {found}, the licenses {versions[name]}")
    source = package("source", "rapt", version, "MIT", sourceInfo="git commit " + commit)
    libraries = {}
    for name in sorted(set().union(*linked.values())):
        if name in versions:
            locator = urllib.parse.quote(f"{name}@{versions[name]}", safe="@:~")
            locator = f"pkg:generic/{locator}" if name in WITH_COMPILER else f"pkg:deb/debian/{locator}?arch=source"
            libraries[name] = package("library-" + name, name, upstream(versions[name]), LICENSES[name], externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}])
        else:
            libraries[name] = package("library-" + name, name, "NOASSERTION", LICENSES[name])
    packages, relations = [source], []

    def relate(what, how, to):
        relations.append({"spdxElementId": what, "relationshipType": how, "relatedSpdxElement": to["SPDXID"]})

    for file in files:
        made = package("file-" + file.name, file.name, version, "MIT", packageFileName=file.name, checksums=[{
            "algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}])
        packages.append(made)
        relate("SPDXRef-DOCUMENT", "DESCRIBES", made)
        relate(made["SPDXID"], "GENERATED_FROM", source)
        for name in sorted(linked.get(file.name, ())):
            relate(made["SPDXID"], "STATIC_LINK", libraries[name])
    created = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    json.dump({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "rapt-" + version,
        "documentNamespace": f"https://spdx.org/spdxdocs/rapt-{version}-{commit}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: tools/release_sbom.py"]},
        "packages": packages + list(libraries.values()),
        "relationships": relations,
    }, sys.stdout, indent=1, ensure_ascii=False)
    print()


main(*sys.argv[1:])
