#!/bin/sh
# tools/hide_symbols.sh ARCHIVE READELF OBJCOPY: renames what a static library shares between its own objects only, from
# `gemm` to `rapt__gemm`, so that a program with a function of that name can be linked with it. These symbols are the hidden
# ones: a header of include/rapt does not declare them RAPT_API. The objects stay apart, as they would not if the symbols were
# made local, and a program takes from the archive what it calls. Where something fails, the archive is removed.
. "$(dirname "$0")/help.sh"
set -eu
archive=$1 readelf=$2 objcopy=$3
trap 'rm -f "$archive" "$archive.names" "$archive.new"' EXIT
"$readelf" --symbols --wide "$archive" |
    awk '$5 == "GLOBAL" && $6 == "HIDDEN" && $7 != "UND" && $8 !~ /^rapt__/ { print $8, "rapt__" $8 }' >"$archive.names"
"$objcopy" --redefine-syms="$archive.names" "$archive" "$archive.new"
mv "$archive.new" "$archive"
rm -f "$archive.names"
trap - EXIT
