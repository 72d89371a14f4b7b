#!/bin/bash
# tests/base/check_no_error.sh: every public function that takes a rapt_error is called without one in one of these
# tests.
# labels: not-sanitized
tests=(tests/base/test_no_error.c tests/decode/test_no_error_models.c tests/decode/test_score.c tests/train/test_trainer.c)
taking=$(cat include/rapt/*.h | tr '\n' ' ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' | tr ';' '\n' | grep '[ (]rapt_error \*err)' |
    grep -v 'typedef\|const rapt_error' | grep -oE 'rapt_[a-z0-9_]+\(' | sort -u)
test "$(wc -l <<<"$taking")" -gt 50 || { echo "found too few functions in include/rapt"; exit 1; }
status=0
for function in $taking; do
    grep -qF "$function" "${tests[@]}" || { echo "$function: no call without a rapt_error in ${tests[*]}"; status=1; }
done
exit $status
