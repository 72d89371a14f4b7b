#!/bin/bash
# tools/apt_repository.sh FOLDER KEY [DIST]: an apt repository in FOLDER, to be served by any web server or read from a disk: the
# Debian packages of DIST (dist, where tools/debian_packages.sh leaves them) in pool/, and for each release of Debian lists that
# are signed with KEY, which gpg knows (GNUPGHOME); its public half is FOLDER/rapt.asc. The same packages, key and time of the
# packages give the same bytes. Needs apt-ftparchive (apt-utils) and gpg. docs/install.md says how apt is told of it.
set -eu
[ $# -ge 2 ] || { sed -n '2s/^# \([^:]*\):.*/usage: \1/p' "$0"; exit 2; }
folder=$1 key=$2 dist=$(realpath "${3:-$(dirname "$0")/../dist}")
declare -A suites=([12]=bookworm [13]=trixie) # by what debian_packages.sh adds to versions, as in +deb12
ls "$dist"/*+deb*.deb >/dev/null || { echo "$0: no packages of tools/debian_packages.sh in $dist"; exit 1; }
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
gpg --batch --export --armor "$key" >rapt.asc
[ -s rapt.asc ] || { echo "$0: gpg has no key $key"; exit 1; }
seconds=$(date -d "$(sed -n 's/^Date: //p' "$dist"/rapt_*+deb*.changes | head -1)" +%s) # the time of debian/changelog
# What stands in Release is hashes, so that everything else comes first.
for number in "${!suites[@]}"; do
    suite=${suites[$number]}
    ls "$dist"/*+deb"$number"[._]* >/dev/null 2>&1 || continue
    pool=pool/$suite lists=dists/$suite
    mkdir -p "$pool"
    cp "$dist"/*+deb"$number"{_*.deb,.dsc,.tar.*} "$pool"
    mkdir -p "$lists/main/source"
    for architecture in $(for package in "$pool"/*.deb; do dpkg-deb -f "$package" Architecture; done | grep -v all | sort -u); do
        mkdir -p "$lists/main/binary-$architecture"
        apt-ftparchive --arch "$architecture" packages "$pool" >"$lists/main/binary-$architecture/Packages"
    done
    apt-ftparchive sources "$pool" >"$lists/main/source/Sources"
    find "$lists" \( -name Packages -o -name Sources \) -exec xz -k {} +
    architectures=$(cd "$lists/main" && echo binary-*)
    apt-ftparchive -o APT::FTPArchive::Release::Origin=rapt -o APT::FTPArchive::Release::Label=rapt \
        -o APT::FTPArchive::Release::Suite="$suite" -o APT::FTPArchive::Release::Codename="$suite" \
        -o APT::FTPArchive::Release::Components=main -o APT::FTPArchive::Release::Architectures="${architectures//binary-/}" \
        release "$lists" | sed "s/^Date: .*/Date: $(LC_ALL=C date -u -d "@$seconds" '+%a, %d %b %Y %T +0000')/" >Release
    for form in '--clearsign InRelease' '--armor --detach-sign Release.gpg'; do
        gpg --batch --yes --faked-system-time "$seconds!" --local-user "$key" --digest-algo SHA512 ${form% *} \
            --output "$lists/${form##* }" Release
    done
    mv Release "$lists"
done
echo "$folder: $(find pool -name '*.deb' | wc -l) packages for $(ls dists | xargs)"
