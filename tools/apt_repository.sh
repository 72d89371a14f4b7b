#!/bin/bash
# tools/apt_repository.sh FOLDER KEY [DIST]: an apt repository in FOLDER, and as FOLDER.tar, to be served by any web server or read
# from a disk: the Debian packages of DIST (dist, where tools/debian_packages.sh leaves them) in pool/, and for each release of
# Debian lists that are signed with KEY, which gpg has (in GNUPGHOME), and whose public half is FOLDER/rapt.asc. The same packages
# and key give the same bytes. Needs apt-ftparchive (apt-utils) and gpg. docs/install.md says how apt is told of it.
. "$(dirname "$0")/help.sh"
set -eu
[ $# -ge 2 ] || { sed -n '2s/^# \([^:]*\):.*/usage: \1/p' "$0"; exit 2; }
folder=$(realpath -m "$1") key=$2 dist=$(realpath "${3:-$(dirname "$0")/../dist}")
declare -A suites=([12]=bookworm [13]=trixie) # by what debian_packages.sh adds to versions, as in +deb12
ls "$dist"/rapt_*+deb*.changes >/dev/null || { echo "$0: $dist has no packages of tools/debian_packages.sh"; exit 1; }
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
gpg --batch --export --armor "$key" >rapt.asc
[ -s rapt.asc ] || { echo "$0: gpg has no key $key"; exit 1; }
# The time of the packages, or of the key where that is newer: none can sign before it was made.
packaged=$(date -d "$(sed -n 's/^Date: //p' "$dist"/rapt_*+deb*.changes | head -1)" +%s)
seconds=$( (echo "$packaged" && gpg --batch --list-keys --with-colons "$key" | awk -F: '/^(pub|sub):/ { print $6 }') | sort -n | tail -1)

# lists FOLDER: what apt reads of a pool, for each processor, and for sources.
write_lists() {
    local architecture
    mkdir -p "$1/main/source"
    apt-ftparchive -qq sources "$pool" >"$1/main/source/Sources"
    for architecture in $(for package in "$pool"/*.deb; do dpkg-deb -f "$package" Architecture; done | sort -u); do
        mkdir -p "$1/main/binary-$architecture"
        apt-ftparchive -qq --arch "$architecture" packages "$pool" >"$1/main/binary-$architecture/Packages"
    done
    find "$1" \( -name Packages -o -name Sources \) -exec xz -k {} +
}

# write_release FOLDER: the sums of the lists, signed.
write_release() {
    local release=$1/Release options=() architectures sign
    architectures=$(cd "$1/main" && echo binary-* | sed 's/binary-//g')
    for field in Origin=rapt Label=rapt "Suite=$suite" "Codename=$suite" Components=main "Architectures=$architectures"; do
        options+=(-o "APT::FTPArchive::Release::$field")
    done
    apt-ftparchive "${options[@]}" release "$1" >release
    sed "s/^Date: .*/Date: $(LC_ALL=C date -u -d "@$seconds" '+%a, %d %b %Y %T +0000')/" release >"$release"
    rm release
    sign=(gpg --batch --quiet --faked-system-time "$seconds!" --local-user "$key" --digest-algo SHA512)
    "${sign[@]}" --clearsign --output "$1/InRelease" "$release" && "${sign[@]}" --armor --detach-sign --output "$release.gpg" "$release"
}

for number in "${!suites[@]}"; do
    suite=${suites[$number]} pool=pool/${suites[$number]}
    ls "$dist"/*+deb"$number"[._]* >/dev/null 2>&1 || continue
    mkdir -p "$pool"
    cp "$dist"/*+deb"$number"{_*.deb,.dsc,.tar.*} "$pool"
    write_lists "dists/$suite"
    write_release "dists/$suite"
done
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$seconds" -cf "$folder.tar" -C .. "${folder##*/}"
echo "$folder: $(find pool -name '*.deb' | wc -l) packages for $(ls dists | xargs)"
