#!/bin/bash
# tools/configure.sh FOLDER [CMAKE-OPTION...]: configures a build of this checkout in FOLDER, and prints nothing if that succeeds.
# A build that was made elsewhere, such as in a checkout that was moved or copied, has old paths in all files that CMake wrote: it
# begins again, with one line that says so. For make, ./test and .ci/run.
. "$(dirname "$0")/help.sh"
set -eu
cd "$(dirname "$0")/.."
folder=$1
shift
# kept NAME: a path that CMake has kept.
kept() { sed -n "s/^$1:[A-Z]*=//p" "$folder/CMakeCache.txt"; }
if [ -e "$folder/CMakeCache.txt" ] && ! [[ $(kept CMAKE_HOME_DIRECTORY) -ef . && $(kept CMAKE_CACHEFILE_DIR) -ef $folder ]]; then
    echo "$folder: made in $(kept CMAKE_CACHEFILE_DIR), of $(kept CMAKE_HOME_DIRECTORY): building anew"
    rm -f "$folder/CMakeCache.txt"
    find "$folder" -name CMakeFiles -prune -exec rm -rf {} + # objects, and what they depend on
fi
mkdir -p "$folder"
cmake -S . -B "$folder" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; exit 1; }
