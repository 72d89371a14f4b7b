#!/bin/bash
# tests/install/check_release.sh: what tools/release.sh refuses, by name, and its steps that need no build: in a repository of its own,
# with scripts that do little. What tools/release_sbom.py says about files.
# labels: not-sanitized not-emulated
. "$(dirname "$0")/../cli/lib.sh"
command -v git >/dev/null || { skip 'a release (git is not installed)'; finish; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git() { command git -c user.name=somebody -c user.email=somebody@example.org -c init.defaultBranch=main "$@"; }

mkdir -p place/include/rapt place/tools
cd place || exit 1
cp "$SOURCE"/tools/{release.sh,release_sbom.py,help.sh} tools
echo 'need() { :; }; need_for_wasm() { :; }; install_missing() { :; }' >tools/packages.sh # what is here will do
echo 'target_venv() { :; }' >tools/targets.sh
header() { printf '#define RAPT_VERSION_MAJOR 7\n#define RAPT_VERSION "%s" /* a word */\n' "$1" >include/rapt/base.h; }
header 7.1.2
printf '# Changes\n\n## 7.1.2\n\n## Unreleased (7.2.0)\n' >CHANGELOG.md
echo 'build-*/' >.gitignore
printf '#!/bin/sh\nexit 3\n' >test
printf '#!/bin/sh\necho "$PWD" >dist/rapt.zip\n' >tools/windows_zip.sh
printf '#!/bin/sh\necho a page >"$1"\n' >tools/lesson.sh
printf '#!/bin/sh\nmkdir -p dist; cp "$RAPT_LESSON" dist/a.deb; touch dist/a.dsc dist/a.tar.xz\n' >tools/debian_packages.sh
chmod +x test tools/{windows_zip,lesson,debian_packages}.sh
git init -q . && git add . && git commit -qm 'A release' || { echo 'cannot make a repository'; exit 1; }

# no_release STATUS PATTERN NAME ARGUMENT...: refused in one line, and nothing is made.
no_release() {
    local status=$1 pattern=$2 name=$3 got
    shift 3
    tools/release.sh "$@" >../out 2>../err </dev/null
    got=$?
    if [ $got = "$status" ] && [ "$(wc -l <../err)" = 1 ] && grep -Eq "^release.sh: .*($pattern)" ../err && [ ! -s ../out ]; then
        pass "$name"
    else
        fail "$name" "status $got" "$(cat ../err ../out)"
    fi
}
no_release 2 'usage: .*VERSION .*clone tests source' 'no version'
no_release 2 'there is no step flight; .*clone' 'a step that there is not' --check 7.1.2 flight
no_release 1 '7.1 is no version' 'what is no version' --check 7.1
no_release 1 'base.h has version 7.1.2, not 7.1.3' 'another version' --check 7.1.3
echo changed >>CHANGELOG.md
no_release 1 'not all is committed: *M CHANGELOG.md' 'a change that is not committed' --check 7.1.2
git checkout -q CHANGELOG.md
touch forgotten
no_release 1 'not all is committed: .*forgotten' 'a file that git does not know' --check 7.1.2
rm forgotten
git tag v7.1.2
no_release 1 'there is a tag v7.1.2' 'a tag that is there' --check 7.1.2
git tag -d v7.1.2 >/dev/null
header 7.2.0-dev
git commit -qam 'Between releases'
no_release 1 'between releases: --check' 'a version between releases' 7.2.0-dev
header 7.2.0
git commit -qam 'Forgot the section'
no_release 1 'CHANGELOG.md has no section "## 7.2.0"' 'no section of CHANGELOG.md' 7.2.0
header 7.1.2
git commit -qam 'A release again'
SUITES=bookworm no_release 1 'SUITES=bookworm has no security updates' 'libraries without their security updates' 7.1.2
no_release 1 'gpg has no secret key nobody' 'a key that gpg lacks' --check --key nobody 7.1.2
check 'nothing was made' test ! -e build-release

# ---- steps ---------------------------------------------------------------------------------------------------------------
files=build-release/7.1.2
steps() { tools/release.sh --check 7.1.2 "$@" >../out 2>&1 </dev/null; }
check 'clones' steps clone
check 'there are two of this commit, with nothing else' test "$(git -C $files/one/rapt rev-parse HEAD)" = "$(git rev-parse HEAD)" \
    -a "$(git -C $files/two-in-a-longer-path/rapt rev-parse HEAD)" = "$(git rev-parse HEAD)" -a -z "$(git -C $files/one/rapt status --porcelain --ignored)"
! steps tests portable windows sbom
check 'tests that fail are a step that fails' grep -q '^FAIL  tests ' ../out
check 'a script that is not there is named' grep -q '^FAIL  portable .*: there is no .*tools/portable.sh' ../out
check 'files that hold their path differ' grep -Eq '^FAIL  windows ' ../out
check 'and the log says which' grep -q 'one/rapt' $files/logs/windows.log
check 'an SBOM needs the wheels' grep -q '^FAIL  sbom .*run the step wheels' ../out
check 'all of it is counted' grep -q '^0 steps passed, 4 failed' ../out
! steps debs
check 'packages need the page of the lesson' grep -q '^FAIL  debs .*run the step lesson' ../out
check 'the page of the lesson' steps lesson debs
check 'is a file of the release, and in the packages' grep -qx 'a page' $files/files/rapt-7.1.2-lesson.html $files/files/a.deb
echo something >$files/files/rapt-7.1.2.tar.gz
check 'sums' steps sums
check 'which are right' sh -c "cd $files/files && sha256sum --quiet -c SHA256SUMS"
check 'no tag is made of single steps' test -z "$(tools/release.sh 7.1.2 sums >/dev/null; git tag)"
git commit -q --allow-empty -m 'Later'
! steps tests
check 'clones of another commit are not taken' grep -q '^FAIL  tests .*run the step clone' ../out

# ---- what is linked statically -----------------------------------------------------------------------------------------------
cd "$WORK" || exit 1
if command -v python3 >/dev/null; then
    "$RAPT" info --json >info.json
    mkdir made
    python3 - <<'PY'
import io, json, tarfile, zipfile
libraries = json.load(open("info.json"))["libraries"]
wheel = zipfile.ZipFile("made/rapt_transformer-7-x86_64.whl", "w")
for name, version in libraries.items():
    wheel.writestr(f"x.dist-info/licenses/there/{name}.txt", "may be copied")
    wheel.writestr(f"x.dist-info/licenses/there/{name}.version", f"1:{version}.dfsg-2+x\n")
wheel.writestr("x.dist-info/licenses/LICENSE", "may be copied")
wheel.close()
with open("made/rapt-7.1.2-lesson.html", "w") as page:
    for name, version in ("rapt", ""), ("jansson", f"1:{libraries['jansson']}.dfsg-2+x"), ("emscripten", "3.1.6"):
        page.write(f'<h3 lang="en" data-license="{name}" data-version="{version}">{name}</h3>\n')
with tarfile.open("made/rapt-7.1.2-x86_64-static.tar.xz", "w:xz") as archive:
    for name in "rapt-7/licenses/musl.txt", "rapt-7/licenses/rapt.txt", "rapt-7/zlib.txt", "rapt-7/licenses/musl.version":
        member = tarfile.TarInfo(name)
        member.size = 6
        archive.addfile(member, io.BytesIO(b"1.2.5\n"))
PY
    touch made/rapt-server_7_amd64.deb
    tar -czf made/rapt-7.1.2.tar.gz info.json
    tar -czf made/rapt-7.1.2-container-x86_64.tar.gz info.json
    sbom() { python3 "$SOURCE/tools/release_sbom.py" 7.1.2 "$(printf '%040d' 7)" 86400 info.json made; }
    sbom >sbom.json && sbom >again.json
    check 'the same files have the same SBOM' cmp sbom.json again.json
    check 'it says what is in which file' python3 - <<'PY'
import json
d = json.load(open("sbom.json"))
names = {p["SPDXID"]: p["name"] for p in d["packages"]}
linked = {(names[r["spdxElementId"]], names[r["relatedSpdxElement"]])
          for r in d["relationships"] if r["relationshipType"] == "STATIC_LINK"}
libraries = json.load(open("info.json"))["libraries"]
assert linked == {("rapt_transformer-7-x86_64.whl", name) for name in libraries} | {
    ("rapt-7.1.2-lesson.html", "jansson"), ("rapt-7.1.2-lesson.html", "emscripten")} | {
    ("rapt-7.1.2-x86_64-static.tar.xz", "musl"), ("rapt-7.1.2-container-x86_64.tar.gz", "musl")}, linked
versions = {p["name"]: p["versionInfo"] for p in d["packages"]}
assert all(versions[name] == version for name, version in libraries.items()), versions
assert [p["externalRefs"][0]["referenceLocator"] for p in d["packages"] if p["name"] == "zlib"] == [
    "pkg:deb/debian/zlib@1:" + libraries["zlib"] + ".dfsg-2%2Bx?arch=source"]
assert [(p["versionInfo"], p["externalRefs"][0]["referenceLocator"]) for p in d["packages"] if p["name"] == "musl"] == [
    ("1.2.5", "pkg:generic/musl@1.2.5")]
assert d["creationInfo"]["created"] == "1970-01-02T00:00:00Z"
assert len([r for r in d["relationships"] if r["relationshipType"] == "DESCRIBES"]) == 6
empty = [p for p in d["packages"] if p["name"].endswith(".deb")][0]["checksums"][0]["checksumValue"]
assert empty == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # of no bytes (FIPS 180-4)
PY
    cp made/rapt-7.1.2-lesson.html lesson.html
    echo '<h3 data-license="libnew" data-version="1">' >>made/rapt-7.1.2-lesson.html
    sbom >sbom.json 2>.err
    check 'a page with a library that is not known is refused' grep -q "lesson.html has licenses of .'libnew'" .err
    echo 'a page' >made/rapt-7.1.2-lesson.html
    sbom >sbom.json 2>.err
    check 'and one without licenses' grep -q 'lesson.html has licenses of nothing' .err
    mv lesson.html made/rapt-7.1.2-lesson.html
    sed -i 's/"zlib": "[^"]*"/"zlib": "0.9"/' info.json
    sbom >sbom.json 2>.err
    check 'a program that says something else is refused' test $? = 1 -a "$(grep -c 'rapt info says zlib 0.9' .err)" = 1
else
    skip 'the SBOM (python3 is not installed)'
fi
finish
