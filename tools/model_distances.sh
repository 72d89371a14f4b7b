#!/bin/bash
# tools/model_distances.sh [--check] [BUILD]: runs the tests that compare Hugging Face folders with transformers, and writes the
# distances that they find into docs/results/models.md, between the marks `distances:begin` and `:end`. With --check nothing is
# written: the table is compared with this run. BUILD is a build folder with the tests (default: build-test or build).
# The distances are the same on every machine, as rapt's results are.
set -eu -o pipefail
cd "$(dirname "$0")/.."
check=
[ "${1:-}" != --check ] || { check=yes; shift; }
build=${1:-build-test}
[ $# -gt 0 ] || [ -x "$build/tests/test_hub" ] || build=build
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for name in test_hub test_hub_translation test_hub_encoder test_adapter test_hub_training; do
    RAPT_SHOW_DISTANCES=1 "$build/tests/$name" 2>"$scratch/err" | grep '^| ' >>"$scratch/rows" ||
        { cat "$scratch/err"; echo "$name failed"; exit 1; }
done

page=docs/results/models.md
awk -v rows="$scratch/rows" '
    $0 == "<!-- distances:end -->" { skip = 0 }
    !skip
    $0 == "<!-- distances:begin -->" {
        print "| folder | what | rapt | transformers, fp32 | ratio |"
        print "| --- | --- | --- | --- | --- |"
        while ((getline row <rows) > 0) print row
        skip = 1
    }' $page >"$scratch/page"
if [ "$check" ]; then diff $page "$scratch/page"; else cat "$scratch/page" >$page; fi
