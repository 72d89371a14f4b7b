#!/bin/bash
# tools/build.sh FOLDER [TARGET...]: builds what configure.sh has configured, everything or the targets named, with JOBS compilers
# at a time. What compilers and linkers say is printed as it is; of what goes well there is one line, on a terminal one that
# shows how far it is.
. "$(dirname "$0")/help.sh"
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift
terminal=0
[ ! -t 1 ] || terminal=1
SECONDS=0
# Lines of make itself begin with a share of the work, or are those below.
show() {
    local line live=
    while IFS= read -r line; do
        case $line in
        '['*%']'*) [ $terminal = 0 ] || { printf '\r\033[K%s: %s' "$folder" "${line%%]*}]"; live=yes; } ;;
        'Consolidate compiler generated dependencies of target '* | 'Scanning dependencies of target '* | '-- '*) ;;
        *)
            [ -z "$live" ] || printf '\r\033[K'
            live=
            printf '%s\n' "$line"
            ;;
        esac
    done
    [ -z "$live" ] || printf '\r\033[K'
}
cmake --build "$folder" -j"${JOBS:-$(nproc)}" ${1:+--target "$@"} -- --no-print-directory 2>&1 | show ||
    { echo "$folder: the build failed"; exit 1; }
echo "$folder: built in $SECONDS s"
