#!/bin/bash
# tools/count_tests.sh BUILD: adds up the cases of the last CTest run in a build folder and prints those that failed or
# were skipped, then "N passed, N failed, N skipped". A program of cmocka counts by its cases, a script by the counts in
# its last line, any other program as one. Fails where a case failed, or where nothing was run.
. "$(dirname "$0")/help.sh"
awk '
    function close_test() {
        if (name == "") return
        if (passed + failed + skipped == 0) { if (ok) passed = 1; else failed = 1 }
        if (!ok && failed == 0) failed = 1 # a crash, or a failure outside the cases
        if (failed) print "FAILED  " name ": " failed " of " passed + failed + skipped
        all_passed += passed; all_failed += failed; all_skipped += skipped
        name = ""
    }
    /^[0-9]+\/[0-9]+ Testing: / { close_test(); name = $3; passed = failed = skipped = ok = absent = 0 }
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    /^\[  SKIPPED \] [a-z]/ && $4 !~ /^[0-9]+$/ && !told[name, $4]++ { print "skipped " name ": " $4 }
    /^skip  / { print "skipped " name ": " substr($0, 7) }
    /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { passed += $1; failed += $3; skipped += $5 }
    /^Command: ""/ { absent = 1 }
    /^Test (Passed|Skipped)/ { ok = !absent }
    END {
        close_test()
        print all_passed + 0 " passed, " all_failed + 0 " failed, " all_skipped + 0 " skipped"
        exit !(all_passed > 0 && all_failed == 0)
    }' "$1/Testing/Temporary/LastTest.log"
