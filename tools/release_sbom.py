#!/usr/bin/env python3
"""tools/release_sbom.py VERSION COMMIT SECONDS INFO FOLDER: the files of a release and what is linked statically into them, as SPDX 2.3
in JSON, on standard output. INFO is what `rapt info --json` of such a file prints, SECONDS the time of the commit; FOLDER has the
files. Debian's versions of the sources stand in the wheels. The same files give the same bytes. For tools/release.sh."""
import datetime
import hashlib
import json
import pathlib
import re
import sys
import zipfile

# By the name in `rapt info`: license, and Debian's name of the source.
LIBRARIES = {
    "jansson": ("MIT", "jansson"),
    "libyaml": ("MIT", "libyaml"),
    "pcre2": ("BSD-3-Clause", "pcre2"),
    "xxhash": ("BSD-2-Clause", "xxhash"),
    "zlib": ("Zlib", "zlib"),
}
# Files that have them within: wheels, and what names its system or processor. Debian's packages use Debian's, and sources have none.
STATIC = re.compile(r"\.whl$|^rapt-.*(x86_64|aarch64|windows|linux|musl|static).*(?<!\.deb)$")


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


def debian_versions(files):
    """Those in the wheels: *.dist-info/licenses/.../jansson.version."""
    versions = {}
    for file in files:
        if file.suffix == ".whl":
            with zipfile.ZipFile(file) as wheel:
                for name in wheel.namelist():
                    if name.endswith(".version"):
                        versions.setdefault(pathlib.PurePath(name).stem, wheel.read(name).decode().strip())
    return versions


def main(version, commit, seconds, info, folder):
    files = sorted(pathlib.Path(folder).iterdir())
    packages = [package("source", "rapt", version, "MIT", sourceInfo="git commit " + commit)]
    relations = []

    def relate(what, how, to):
        relations.append({"spdxElementId": what["SPDXID"], "relationshipType": how, "relatedSpdxElement": to["SPDXID"]})

    debian = debian_versions(files)
    libraries = []
    for name, found in sorted(json.load(open(info))["libraries"].items()):
        license, source = LIBRARIES[name]
        from_debian = debian.get(source, found)
        locator = f"pkg:deb/debian/{source}@{from_debian}?arch=source"
        libraries.append(package("library-" + name, name, found, license, externalRefs=[{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]))
    for file in files:
        made = package("file-" + file.name, file.name, version, "MIT", packageFileName=file.name, checksums=[{
            "algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}])
        packages.append(made)
        relate({"SPDXID": "SPDXRef-DOCUMENT"}, "DESCRIBES", made)
        relate(made, "GENERATED_FROM", packages[0])
        if STATIC.search(file.name):
            for library in libraries:
                relate(made, "STATIC_LINK", library)
    created = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    json.dump({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "rapt-" + version,
        "documentNamespace": f"https://spdx.org/spdxdocs/rapt-{version}-{commit}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: tools/release_sbom.py"]},
        "packages": packages + libraries,
        "relationships": relations,
    }, sys.stdout, indent=1, ensure_ascii=False)
    print()


main(*sys.argv[1:])
