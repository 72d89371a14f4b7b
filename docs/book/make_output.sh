#!/bin/bash
# docs/book/make_output.sh [BUILD [CHAPTER...]]: writes what each program prints now into its chapter, in both languages: into the
# block that begins with "$ build/examples/NAME". BUILD is a build folder (default build; `make examples`), CHAPTER a name such as
# 05-scores (default: all).
. "$(dirname "$0")/../../tools/help.sh"
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${1:-$here/../../build}")
shift
cd "$here/../.." || exit 1 # where programs find the data that they read
[ $# != 0 ] || set -- $(cd "$here" && ls [0-9][0-9]-*.py | sed 's/\.py$//')
output=$(mktemp) || exit 1
trap 'rm -f "$output" "$output.page"' EXIT
status=0
for chapter; do
    name=${chapter//-/_}
    "$build/examples/$name" >"$output" || { status=1; continue; }
    for page in "$here/$chapter.md" "$here/$chapter.zh-CN.md"; do
        [ -e "$page" ] || continue
        awk -v line="\$ build/examples/$name" -v output="$output" '
            /^```/ { skip = 0 }
            !skip
            $0 == line { while ((getline text <output) > 0) print text; close(output); skip = 1 }' "$page" >"$output.page" &&
            cat "$output.page" >"$page" || status=1
    done
done
exit $status
