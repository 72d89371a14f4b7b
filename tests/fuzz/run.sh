#!/bin/bash
# tests/fuzz/run.sh SECONDS [NAME...]: builds the fuzzers with clang's address and undefined-behavior sanitizers and
# runs each (or those named, such as `pairs`) for that long, starting from tests/fuzz/corpus. What makes one fail is left
# in build-fuzz/found; put it into the corpus once it is mended. `long_inputs`, which measures time, is one of them. Ends with a
# line of counts.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [NAME...]}
shift
build=${FUZZ_BUILD:-build-fuzz}
CC=clang tools/configure.sh "$build" -DRAPT_TESTS=ON -DRAPT_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DRAPT_SANITIZE=fuzzer-no-link,address,undefined &&
    cmake --build "$build" -j"${JOBS:-$(nproc)}" --target fuzzers -- --no-print-directory >"$build/build.log" 2>&1 ||
    { tail -30 "$build/build.log"; echo "the fuzzers do not build"; exit 1; }
mkdir -p "$build/found"
passed=0 failed=0
[ $# -gt 0 ] || set -- $(basename -as .c tests/fuzz/fuzz_*.c | sed 's/fuzz_//') long_inputs
for name; do
    if [ "$name" = long_inputs ]; then
        "$build/tests/long_inputs" "$seconds" && passed=$((passed + 1)) || { failed=$((failed + 1)); echo 'long_inputs: FAILED'; }
        continue
    fi
    mkdir -p "$build/corpus/$name" # what this machine's earlier runs found interesting
    if UBSAN_OPTIONS=print_stacktrace=1 "$build/tests/fuzz_$name" -max_total_time="$seconds" -timeout=20 \
        -max_len=20000 -malloc_limit_mb=1000 -artifact_prefix="$build/found/$name-" -print_final_stats=1 \
        "$build/corpus/$name" "tests/fuzz/corpus/$name" >"$build/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "fuzz_$name: $(sed -n 's/.*number_of_executed_units: *//p' "$build/$name.log") inputs in $seconds s"
    else
        failed=$((failed + 1))
        tail -40 "$build/$name.log"
        echo "fuzz_$name: FAILED; see $build/$name.log and $build/found"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
