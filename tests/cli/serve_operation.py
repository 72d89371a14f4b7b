"""serve_operation.py TEST: one check of `rapt serve` as it is operated: signals, sockets, keys, limits, logs. For check_serve.sh,
whose folder has the models "lm", "lm2" and "tr". Standard library only; exit status 0: the check passes, 77: skipped.
"""
import sys

import serve_answers
import serve_limits
import serve_runs
from served_process import stop_all

try:
    for part in (serve_answers, serve_limits, serve_runs):
        if hasattr(part, sys.argv[1]):
            getattr(part, sys.argv[1])()
            break
    else:
        sys.exit("no check is called " + sys.argv[1])
finally:
    stop_all()
