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
[ $# -gt 0 ] || set -- $(basename -as .c tests/fuzz/fuzz_*.c | sed 's/fuzz_//') long_inputs

# fuzz NAME: what it says, and a line that ends with "passed" or "FAILED".
fuzz() {
    mkdir -p "$build/corpus/$1" # what this machine's earlier runs found interesting
    if UBSAN_OPTIONS=print_stacktrace=1 "$build/tests/fuzz_$1" -max_total_time="$seconds" -timeout=20 \
        -max_len=20000 -malloc_limit_mb=1000 -artifact_prefix="$build/found/$1-" -print_final_stats=1 \
        "$build/corpus/$1" "tests/fuzz/corpus/$1" >"$build/$1.log" 2>&1; then
        echo "fuzz_$1: $(sed -n 's/.*number_of_executed_units: *//p' "$build/$1.log") inputs in $seconds s: passed"
    else
        tail -40 "$build/$1.log"
        echo "fuzz_$1: see $build/$1.log and $build/found: FAILED"
    fi
}
export -f fuzz
export build seconds

# As many at once as there are cores; what measures time comes behind them, alone.
mapfile -t names < <(printf '%s\n' "$@" | grep -vx long_inputs)
: >"$build/said"
[ ${#names[@]} = 0 ] || printf '%s\n' "${names[@]}" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'fuzz {}' | tee "$build/said"
passed=$(grep -c ': passed$' "$build/said")
failed=$((${#names[@]} - passed))
if [[ " $* " = *' long_inputs '* ]]; then
    "$build/tests/long_inputs" "$seconds" && passed=$((passed + 1)) || { failed=$((failed + 1)); echo 'long_inputs: FAILED'; }
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
