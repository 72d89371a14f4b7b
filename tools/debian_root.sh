#!/bin/bash
# tools/debian_root.sh RELEASE FOLDER: a Debian of another release (trixie, ...) in FOLDER, as small as debootstrap makes it, from
# the mirror that apt reads on this machine. tools/debian_root.sh --in FOLDER COMMAND... runs a command in it, in the folder that
# one is in, which is to be found there under the same path. --in-copy FOLDER COMMAND... runs it in a copy that is thrown away,
# for what installs packages. All are for root.
# Not for another processor: see arm64_root.sh.
. "$(dirname "$0")/help.sh"
set -eu

# In a mount namespace of its own, so that nothing is left mounted, however the command ends.
run_in() {
    local root=$1 here=$PWD
    shift
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys" # mpirun asks it for the processors
    mkdir -p "$root$here"
    mount --rbind "$here" "$root$here"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    exec chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        sh -c 'cd "$1" && shift && exec "$@"' - "$here" "$@"
}

case $1 in
--in) exec unshare --mount "$(realpath "$0")" --mounted "$(realpath "$2")" "${@:3}" ;;
--mounted) run_in "${@:2}" ;;
--in-copy)
    copy=$(mktemp -d "$(realpath "$2").XXXXXX")
    trap 'rm -rf --one-file-system "$copy"' EXIT
    cp -a "$2/." "$copy"
    status=0
    "$0" --in "$copy" "${@:3}" || status=$?
    exit $status
    ;;
esac

release=$1 root=$2
[ ! -e "$root/complete" ] || exit 0
# The mirror of Debian itself, in either form of a list: "deb [options] URL suite main", or a line "URIs: URL".
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -oE '^(deb( \[[^]]*\])?|URIs:) +[a-z+]+:[^ ]*/debian/?( |$)' | grep -oE '[a-z+]+:/[^ ]*' | head -1)
[ -n "$mirror" ] || { echo "$0: apt has no list with a mirror of Debian"; exit 1; }
rm -rf "$root"
mkdir -p "$root"
debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1 || { tail -20 "$root.log"; exit 1; }
cp -n /etc/apt/apt.conf.d/*prox* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true # how this machine reaches it
touch "$root/complete"
