#!/bin/bash
# tools/install_try.sh [SUITE...]: the commands of docs/install.md for Debian, as they stand there, in roots of bookworm and trixie
# that have nothing but what debootstrap makes: each block behind <!-- try: NAME --> must end with a translation, and the seconds
# until then are printed, with the downloads of what is missing. The files that the page speaks of come from dist, where
# tools/debian_packages.sh leaves them; the apt repository is made of them, signed with a key for this once.
# The last line is "N passed, N failed, 0 skipped". For root, on Debian; it needs debootstrap, apt-utils, gpg and the network.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
need 'other releases of Debian, and apt repositories' debootstrap apt-utils gpg
install_missing
PAGE=docs/install.md
WORK=$PWD/build-debian/try
passed=0 failed=0
rm -rf "$WORK"
mkdir -p "$WORK"

# block NAME: its commands.
block() {
    awk -v mark="<!-- try: $1 -->" '$0 == mark { found = 1 } found && /^```/ { if (fences++) exit; next } found && fences' "$PAGE"
}

make_repository() {
    local key
    export GNUPGHOME=$WORK/gnupg
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key 'for a trial' ed25519 sign never
    key=$(gpg --list-keys --with-colons | awk -F: '/^fpr/ { print $10; exit }')
    tools/apt_repository.sh "$WORK/rapt-apt" "$key" && gpgconf --kill gpg-agent
}

# try SUITE NAME: in a copy of the root, as root, to whom sudo is a word; apt gets the answer yes.
try() {
    local root=build-debian/$1/base here=$WORK/$1-$2 number text
    number=$(. "$root/etc/os-release" && echo "$VERSION_ID")
    mkdir -p "$here"
    cp dist/*"+deb$number"_*.deb "$WORK/rapt-apt.tar" "$here"
    { echo 'sudo() { "$@"; }' && block "$2"; } >"$here/commands"
    (cd "$here" && "$OLDPWD/tools/debian_root.sh" --in-copy "$OLDPWD/$root" bash -c '
        echo "APT::Get::Assume-Yes yes;" >/etc/apt/apt.conf.d/yes
        export DEBIAN_FRONTEND=noninteractive
        SECONDS=0
        bash -e commands >out 2>log </dev/null
        status=$?
        echo "$SECONDS" >seconds
        exit $status') && text=$(tail -1 "$here/out") && [ "$text" = 'Où sont mes clés ?' ] || {
        tail -20 "$here/log"
        echo "FAIL  $1: $2"
        failed=$((failed + 1))
        return
    }
    passed=$((passed + 1))
    echo "ok    $1: $2: $(cat "$here/seconds") s to: $text"
}

[ $# -gt 0 ] || set -- bookworm trixie
make_repository 2>"$WORK/repository.log" || { cat "$WORK/repository.log"; exit 1; }
for suite; do
    tools/debian_root.sh "$suite" "build-debian/$suite/base"
    for name in $(sed -n 's/^<!-- try: \(.*\) -->$/\1/p' "$PAGE"); do
        try "$suite" "$name"
    done
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
