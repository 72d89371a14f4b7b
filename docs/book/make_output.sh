#!/bin/bash
# docs/book/make_output.sh [BUILD]: writes what each program prints now into its chapter: into the block that begins
# with "$ build/examples/NAME". BUILD is a build folder (default build; `make examples`).
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${1:-$here/../../build}")
status=0
for file in "$here"/[0-9][0-9]-*.md; do
    name=$(basename "$file" .md | tr - _)
    "$build/examples/$name" >"$file.out" &&
        awk -v line="\$ build/examples/$name" -v output="$file.out" '
            /^```/ { skip = 0 }
            !skip
            $0 == line { while ((getline text <output) > 0) print text; skip = 1 }' "$file" >"$file.new" &&
        mv "$file.new" "$file" || status=1
    rm -f "$file.out" "$file.new"
done
exit $status
