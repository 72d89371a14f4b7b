#!/bin/bash
# tools/model_distances.sh [--check] [BUILD]: runs the tests that compare Hugging Face folders with transformers, and writes the
# distances that they find into docs/results/models.md, between the marks `distances:begin` and `:end`, and into the tables of
# docs/models/*.md whose last columns are `rapt` and `transformers`. With --check nothing is written: the pages are compared with
# this run. BUILD is a build folder with the tests (default: build-test or build).
# The distances are the same on every machine, as rapt's results are.
. "$(dirname "$0")/help.sh"
set -eu -o pipefail
cd "$(dirname "$0")/.."
check=
[ "${1:-}" != --check ] || { check=yes; shift; }
build=${1:-build-test}
[ $# -gt 0 ] || [ -x "$build/tests/test_hub" ] || build=build
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for name in test_hub test_hub_translation test_hub_encoder test_hub_rerank test_adapter test_hub_training; do
    RAPT_SHOW_DISTANCES=1 "$build/tests/$name" 2>"$scratch/err" | grep '^| ' >>"$scratch/rows" ||
        { cat "$scratch/err"; echo "$name failed"; exit 1; }
done

# A page with the figures of this run.
fill() {
    awk -v rows="$scratch/rows" '
        BEGIN {
            while ((getline row <rows) > 0) {
                table = table row "\n"
                split(row, cell, " [|] ")
                if (cell[2] == "logits" || cell[2] == "hidden states") figures[cell[1]] = " | " cell[3] " | " cell[4] " |"
            }
        }
        $0 == "<!-- distances:end -->" { skip = 0 }
        skip { next }
        / [|] rapt [|] transformers [|]$/ { filled = 1 }
        !/^[|]/ { filled = 0 }
        filled { split($0, cell, " [|]"); if (cell[1] in figures) sub(/ [|][^|]*[|][^|]*[|]$/, figures[cell[1]]) }
        { print }
        $0 == "<!-- distances:begin -->" {
            print "| folder | what | rapt | transformers, fp32 | ratio |"
            printf "| --- | --- | --- | --- | --- |\n%s", table
            skip = 1
        }' "$1"
}

stale=0
for page in docs/results/models.md docs/models/*.md; do
    fill "$page" >"$scratch/page"
    if [ "$check" ]; then
        diff "$page" "$scratch/page" || stale=1
    else
        cat "$scratch/page" >"$page"
    fi
done
exit $stale
