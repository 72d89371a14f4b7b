#!/bin/bash
# tools/install_try.sh [PLACE...]: the commands of docs/install.md, as they stand there: each block behind <!-- try: NAME --> must end
# with a translation, and the seconds until then are printed, with the downloads of what is missing. Places, by default all:
#   bookworm, trixie   roots that have nothing but what debootstrap makes: the blocks deb, apt and python. The apt repository is made
#                      of the packages, signed with a key for this once
#   static             a root with a shell and no C library
#   windows            Wine, whose PowerShell's Expand-Archive is done for it
# The files that the page speaks of come from dist, where tools/debian_packages.sh, tools/portable.sh and tools/windows_zip.sh leave
# them. The last line is "N passed, N failed, 0 skipped". For root, on Debian, with the network.
. "$(dirname "$0")/help.sh"
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
PAGE=$PWD/docs/install.md
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
    need 'other releases of Debian, and apt repositories' debootstrap apt-utils gpg
    install_missing
    export GNUPGHOME=$WORK/gnupg
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key 'for a trial' ed25519 sign never
    key=$(gpg --list-keys --with-colons | awk -F: '/^fpr/ { print $10; exit }')
    tools/apt_repository.sh "$WORK/rapt-apt" "$key" && gpgconf --kill gpg-agent
}

# judge PLACE NAME FOLDER: whether the commands that ran in the folder have translated; they left the files out, log and seconds.
judge() {
    local text
    if text=$(tail -1 "$3/out" | tr -d '\r') && [ "$text" = 'Où sont mes clés ?' ] && [ -s "$3/seconds" ]; then
        passed=$((passed + 1))
        echo "ok    $1: $2: $(cat "$3/seconds") s to: $text"
    else
        failed=$((failed + 1))
        tail -20 "$3/log"
        echo "FAIL  $1: $2"
    fi
}

# in_debian SUITE NAME: in a copy of the root, as root, to whom sudo is a word; apt gets the answer yes.
in_debian() {
    local root=build-debian/$1/base here=$WORK/$1-$2 number
    number=$(. "$root/etc/os-release" && echo "$VERSION_ID")
    mkdir -p "$here"
    cp dist/*"+deb$number"_*.deb "$WORK/rapt-apt.tar" "$here"
    { echo 'sudo() { "$@"; }' && block "$2"; } >"$here/commands"
    (cd "$here" && "$OLDPWD/tools/debian_root.sh" --in-copy "$OLDPWD/$root" bash -c '
        echo "APT::Get::Assume-Yes yes;" >/etc/apt/apt.conf.d/yes
        export DEBIAN_FRONTEND=noninteractive
        SECONDS=0
        bash -e commands >out 2>log </dev/null && echo "$SECONDS" >seconds') || true
    judge "$1" "$2" "$here"
}

# The shell is Debian's busybox, which is one file, too.
in_static() {
    local here=$WORK/static
    mkdir -p "$here/bin" "$here/tmp"
    (cd "$here" && apt-get -qq -o APT::Sandbox::User=root download busybox-static && dpkg-deb --fsys-tarfile busybox-static_*.deb | tar -xO ./bin/busybox >bin/busybox)
    chmod 755 "$here/bin/busybox" && ln -s busybox "$here/bin/sh"
    tar -xJf dist/rapt-*-"$(uname -m)"-static.tar.xz -C "$here" --strip-components 1
    block static >"$here/commands"
    SECONDS=0
    chroot "$here" /bin/sh -e commands >"$here/out" 2>"$here/log" </dev/null && echo "$SECONDS" >"$here/seconds"
    judge static static "$here"
}

in_windows() {
    local here=$WORK/windows line wine
    need 'programs of Windows on Linux' wine64
    install_missing
    wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
    export LC_ALL=C.UTF-8 WINEDEBUG=-all WINEPREFIX=$WORK/wine
    mkdir -p "$here"
    cp dist/rapt-*-windows-x86_64.zip "$here"
    "$wine" cmd /c ver >/dev/null 2>&1 # makes the prefix
    SECONDS=0
    (
        cd "$here"
        Expand-Archive() { python3 -m zipfile -e "$@"; }
        while read -r line; do
            case $line in
            .\\*) echo "@$line" >line.bat && "$wine" cmd /c line.bat ;;
            *) eval "$line" ;;
            esac || exit
        done < <(block windows)
    ) >"$here/out" 2>"$here/log" </dev/null && echo "$SECONDS" >"$here/seconds"
    judge windows windows "$here"
}

[ $# -gt 0 ] || set -- bookworm trixie static windows
for place; do
    case $place in
    static | windows) "in_$place" ;;
    *)
        [ -d "$WORK/rapt-apt" ] || make_repository 2>"$WORK/repository.log" || { cat "$WORK/repository.log"; exit 1; }
        tools/debian_root.sh "$place" "build-debian/$place/base"
        for name in deb apt python; do
            in_debian "$place" "$name"
        done
        ;;
    esac
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
