#!/bin/bash
# tests/serve/check_slow_bodies.sh: /health is answered beside requests with large bodies of any kind, and the memory of four at once
# is within what the server expects: a small run of tools/serve_slow_bodies.py. Its bound of time is generous, as the machine may
# have other work; before bodies were read outside the HTTP thread it was passed many times over.
# labels: not-sanitized
source "$(dirname "$0")/lib_serve.sh"
need_server
python3 -B "$SOURCE/tools/serve_slow_bodies.py" "$RAPT" --kinds 60 --size 300000 --slowest 10 --tries 2 --fours 4 --most-delay 2 \
    --folder . >.slow 2>&1
status=$?
check "/health beside large bodies, and their memory" test $status = 0
[ $status = 0 ] || tail -15 .slow
finish
