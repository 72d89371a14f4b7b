#!/bin/bash
# bench/side_by_side.sh [PART...] [--rounds 5] [--keep | --page]: installs the programs that rapt is compared with (PyTorch,
# transformers, PEFT, CTranslate2, tiktoken, tokenizers; llama.cpp, built for this machine), into PEERS (default build-bench/peers;
# some 6 GB), builds rapt, gets the data, and runs every comparison of docs/performance.md in turns: see side_by_side.py. Building
# llama.cpp takes half an hour, once; all comparisons take longer than that. Leave the machine alone meanwhile.
. "$(dirname "$0")/../tools/help.sh"
set -euo pipefail
cd "$(dirname "$0")/.."
PEERS=${PEERS:-build-bench/peers}
. tools/packages.sh
need_for_build
need 'Python with environments of its own, and a C++ compiler for the other programs' python3-venv python3-dev g++
install_missing
python3 bench/side_by_side.py --only-check "$@" # before an hour is spent
[ -x "$PEERS/bin/python" ] || python3 -m venv "$PEERS"
CMAKE_ARGS=-DGGML_NATIVE=ON CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) "$PEERS/bin/pip" -q install -r bench/peers.txt
make -s >/dev/null
tools/build.sh build rapt-bench
for data in tiny-shakespeare cl100k_base fra-eng; do
    [ -e "data/$data" ] || build/rapt fetch "$data"
done
exec "$PEERS/bin/python" bench/side_by_side.py "$@"
