#!/bin/bash
# tests/python/check_python.sh: the tests of the Python package (python/tests), with the Python that it was built for; skipped
# where the build has no package, because there is no Python 3.11 with its headers, or the build has sanitizers.
# labels: not-sanitized not-emulated
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${RAPT_BUILD:-build}")
[ -e "$BUILD/python/interpreter" ] || { echo 'skip  the package: it needs Python 3.11 or later with headers (python3-dev)'; exit 77; }
unset RAPT_THREADS RAPT_ISA
PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 exec "$(cat "$BUILD/python/interpreter")" -X dev -W error python/tests "$@"
