#!/bin/bash
# tools/arm64_root.sh FOLDER [PACKAGE...]: the libraries that rapt and its tests need, or these packages, for AArch64, from the
# Debian release of this machine, unpacked in FOLDER: a root for the cross compiler and the emulator. apt gets lists and a
# state of its own there, so that nothing is installed, and root is not needed. Without pango: pictures have no kernels, and would
# be 60 MB more.
. "$(dirname "$0")/help.sh"
set -eu
mkdir -p "$1"
cd "$1"
shift
[ $# -gt 0 ] || set -- libc6-dev libjansson-dev libyaml-dev libxxhash-dev libpcre2-dev zlib1g-dev libcmocka-dev
[ ! -e complete ] || exit 0
here=$PWD/apt
mkdir -p "$here"/{lists,archives}/partial
: >"$here/status"
options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists="$here/lists"
    -o Dir::State::status="$here/status" -o Dir::Cache="$here" -o Debug::NoLocking=1 -o APT::Sandbox::User=)
apt-get "${options[@]}" -qq update
apt-get "${options[@]}" -qq -y --download-only --no-install-recommends install "$@"
for package in "$here"/archives/*.deb; do
    dpkg-deb -x "$package" .
done
find . -lname '/*' | while read -r link; do # to what lies here, not to what the machine has there
    ln -sfr ".$(readlink "$link")" "$link"
done
rm -r "$here"
touch complete
