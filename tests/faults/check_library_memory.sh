#!/bin/bash
# tests/faults/check_library_memory.sh: allocations of jansson, libyaml, PCRE2, zlib and libmicrohttpd fail, one after the other. A
# command fails with a message or does all that it should; a server loses a connection at most. ALLOC_STRIDE=1 lets each fail.
# labels: not-emulated
. "$(dirname "$0")/../cli/lib.sh"
SHIM=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")/tests/alloc_shim.so
[ -z "$SANITIZED" ] || { skip 'allocations of libraries: not with sanitizers, which want to be loaded first'; finish; }
[ -e "$SHIM" ] || { skip "allocations of libraries: no $SHIM here"; finish; }
STRIDE=${ALLOC_STRIDE:-7}

# without_memory LIBRARY N COMMAND...: $status; fails where there is no Nth allocation.
without_memory() {
    rm -f hit
    timeout 60 env LD_PRELOAD="$SHIM" ALLOC_FROM="$1" ALLOC_N="$2" ALLOC_HIT="$WORK/hit" "${@:3}" >out 2>err </dev/null
    status=$?
    [ -e hit ]
}

# every_allocation LIBRARY AT-LEAST COMMAND...
every_allocation() {
    local library=$1 least=$2 n=1 tried=0 bad=
    shift 2
    "$@" >want 2>/dev/null </dev/null || { fail "$library: $* works with memory"; return; }
    while without_memory "$library" $n "$@"; do
        tried=$((tried + 1))
        if [ $status = 0 ]; then
            cmp -s out want || bad="$bad $n(another result)"
        elif [ $status -ge 126 ] || ! grep -Eq '^rapt.*out of memory' err; then
            bad="$bad $n($status: $(head -c 200 err | tr '\n' ' '))"
        fi
        n=$((n + STRIDE))
    done
    check "$library: $tried times without memory, in $2 $3" test -z "$bad"
    [ -z "$bad" ] || echo "     $bad"
    check "$library: that is at least $least times" test $((tried * STRIDE)) -ge "$least"
}

make_pairs | head -60 >pairs.tsv
make_recipe >recipe.yaml
every_allocation libyaml 60 "$RAPT" info recipe.yaml

# A pattern that is matched by hand nowhere.
check 'a tokenizer with a pattern' "$RAPT" tokenizer train pairs.tsv --pattern '[a-y]+|[^a-y]+' --vocab-size 300 -o patterned.json
every_allocation libpcre2 5 "$RAPT" tokenizer encode patterned.json pairs.tsv

# For more text than is expanded in one call, zlib keeps a window, which it allocates late. Read whole, and line by line.
for ((i = 0; i < 500; i++)); do cat pairs.tsv; done | gzip >many.tsv.gz
STRIDE=1 every_allocation libz 2 "$RAPT" data check many.tsv.gz
for ((i = 0; i < 6; i++)); do seq -s ' ' 20000; done | gzip >long.gz
STRIDE=1 every_allocation libz 2 "$RAPT" embed "$SOURCE/tests/golden/hub_encoder/bert" long.gz

# The program gives jansson an allocator of its own: it is the one whose failures count.
every_allocation "$(basename "$RAPT")" 300 "$RAPT" eval "$SOURCE/tests/golden/hub/gpt2" pairs.tsv --json

# ---- a server: whoever meets the failure is let go, the next one is served -----------------------------------------------------
serve_without_memory() {
    local port='' i
    rm -f hit log
    env LD_PRELOAD="$SHIM" ALLOC_FROM=libmicrohttpd ALLOC_N="$1" ALLOC_HIT="$WORK/hit" \
        "$RAPT" serve "lm=$SOURCE/tests/golden/hub/gpt2" --port 0 >log 2>&1 &
    server=$!
    for ((i = 0; i < 300; i++)); do
        port=$(grep -so 'listening on http://127.0.0.1:[0-9]*' log | head -1 | grep -o '[0-9]*$')
        [ -z "$port" ] && kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    answered=0
    for i in 1 2 3 4; do
        [ -z "$port" ] || ! (exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3 &&
            timeout 10 head -1 <&3 | grep -q ' 200 ') 2>/dev/null || answered=$((answered + 1))
    done
    kill -TERM $server 2>/dev/null
    wait $server
    status=$?
    [ -e hit ]
}
if "$RAPT" serve --help >/dev/null 2>&1 && [ -e "$(dirname "$RAPT")/rapt_serve.so" ]; then
    n=1 tried=0 bad=
    while serve_without_memory $n; do
        tried=$((tried + 1))
        # It does not start, and says so, or serves all but one.
        { [ $status = 1 ] && [ $answered = 0 ] && grep -q '^rapt' log; } || { [ $status = 0 ] && [ $answered -ge 3 ]; } ||
            bad="$bad $n(status $status, $answered of 4 answered)"
        n=$((n + STRIDE))
    done
    check "libmicrohttpd: $tried times without memory" test -z "$bad" -a $tried -gt 0
    [ -z "$bad" ] || echo "     $bad"
else
    skip 'libmicrohttpd (this build does not serve)'
fi
finish
