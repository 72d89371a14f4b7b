#!/bin/bash
# tools/wheels_try.sh WHEEL...: uses wheels of tools/wheels.sh as somebody does who has installed them, in a Python that has
# nothing else: the package trains a small translator, loads, saves, translates and looks into it (wheel_use.py), and the program
# of the wheel trains the same model. What they print, sums of models among it, must be what the first wheel printed.
#
#   glibc, x86-64    pip installs it into an environment of this machine's Python
#   glibc, AArch64   Debian's Python for AArch64, in an emulator; what pip would unpack is unpacked
#   musl, Windows    Debian has no Python for them: one is compiled from its sources, once, in some minutes (pythons.sh). For musl
#                    it runs with Debian's musl, for AArch64 in an emulator; for Windows under Wine
#
# An emulated Python starts no processes: not every kernel knows the emulator. Programs under Wine run with pipes, since Wine's
# files are no standard streams for this Python. The script needs what tools/targets.sh needs, and root for packages. The last line
# is "N passed, N failed, 0 skipped".
. "$(dirname "$0")/help.sh"
set -eu -o pipefail
[ $# -gt 0 ] || { sed -n '2s/^# \([^:]*\):.*/usage: \1/p' "$0"; exit 2; }
cd "$(dirname "$0")/.."
. tools/packages.sh
. tools/targets.sh
. tools/pythons.sh
WORK=$PWD/build-targets/try
export WINEPREFIX=${WINEPREFIX:-$PWD/build-targets/wine}
need 'emulators, and musl' qemu-user musl wine64
need 'Python: headers, and environments of its own' python3-dev python3-venv
install_missing

arm64_root() {
    ROOT=$TARGETS_ROOT/arm64-python
    tools/arm64_root.sh "$ROOT" python3 musl
}

# installed WHEEL: the arrays PYTHON and PROGRAM, commands that run what a wheel has.
installed() {
    local package=$FOLDER/package
    python3 -m zipfile -e "$1" "$package"
    PYTHON=(env PYTHONPATH="$package") PROGRAM=("$package/rapt/bin/rapt")
    [ ! -e "${PROGRAM[0]}" ] || chmod +x "${PROGRAM[@]}" # as pip does; an emulator says nothing if it may not run a file
    case $1 in
    *manylinux*_x86_64.whl)
        python3 -m venv "$FOLDER/venv"
        "$FOLDER/venv/bin/pip" -q install --no-index "$1"
        PYTHON=("$FOLDER/venv/bin/python") PROGRAM=("$FOLDER/venv/bin/rapt")
        ;;
    *manylinux*_aarch64.whl)
        arm64_root
        PYTHON+=(PYTHONHOME="$ROOT/usr" qemu-aarch64 -L "$ROOT" "$ROOT/usr/bin/python3")
        PROGRAM=(qemu-aarch64 -L "$ROOT" "${PROGRAM[@]}")
        ;;
    *musllinux*_x86_64.whl)
        musl_python x86_64-linux-musl
        PYTHON+=("$PYTHON_HOME/bin/python3.11")
        ;;
    *musllinux*_aarch64.whl)
        arm64_root
        musl_python aarch64-linux-musl
        PYTHON+=(qemu-aarch64 -L "$ROOT" "$PYTHON_HOME/bin/python3.11") PROGRAM=(qemu-aarch64 -L "$ROOT" "${PROGRAM[@]}")
        ;;
    *win_amd64.whl)
        windows_python
        PYTHON=(under_wine PYTHONHOME="Z:$PYTHON_HOME" PYTHONPATH="Z:$package" "$PYTHON_HOME/python.exe")
        PROGRAM=(under_wine "$package/rapt/rapt.exe")
        ;;
    *) echo "$1: this script knows no machine for it"; return 2 ;;
    esac
}

# under_wine [NAME=VALUE...] PROGRAM ARGUMENT...
under_wine() {
    local values=() wine
    wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
    while [[ $1 == *=* ]]; do
        values+=("$1")
        shift
    done
    : | env WINEDEBUG=-all LC_ALL=C.UTF-8 "${values[@]}" "$wine" "$@" 2> >(cat >&2) | cat
}

by_program() {
    "$@" train recipe.yaml --out program --quiet || return 1
    echo "trained $(sha256sum <program/model.safetensors | cut -d' ' -f1)"
    "$@" translate program --text 'Where are my keys?' --quiet
}
# The package's way to the program, whose exit status comes through.
by_module() {
    "$@" -m rapt --version || return 1
    "$@" -m rapt --nothing || echo "status $?"
}
# try WHAT COMMAND...: what it prints is compared with what the first wheel printed.
try() {
    local what=$1 said=$WORK/$NAME.$1 first=$WORK/first.$1
    shift
    SECONDS=0
    if (cd "$FOLDER" && "$@" >"$said.raw" 2>"$said.errors" && tr -d '\r' <"$said.raw" >"$said") &&
        { [ -e "$first" ] || cp "$said" "$first"; } && [ -s "$said" ] && diff "$first" "$said" >>"$said.errors"; then
        passed=$((passed + 1))
        echo "ok    $NAME: $what ($SECONDS s)"
    else
        failed=$((failed + 1))
        echo "FAIL  $NAME: $what"
        tail -20 "$said.errors"
    fi
}

failed=0 passed=0 USE=$PWD/tools/wheel_use.py
rm -rf "$WORK"
for wheel; do
    NAME=${wheel##*-} FOLDER=$WORK/${wheel##*-}
    mkdir -p "$FOLDER"
    cp data/en-fr.tsv "$FOLDER/"
    cat >"$FOLDER/recipe.yaml" <<'END'
task: translation
seed: 1
data: {pairs: en-fr.tsv, validation_fraction: 0.1, max_len: 24, too_long: cut}
tokenizer: {type: words, lowercase: true, detokenize: fr}
model: {layers: 1, d_model: 32, heads: 2, ffn: 64, dropout: 0.1, embedding_std: 0.1, init: xavier}
train: {steps: 60, batch: 16, lr: 0.02, warmup: 5}
END
    installed "$(realpath "$wheel")"
    try package "${PYTHON[@]}" -W error "$USE" .
    try program by_program "${PROGRAM[@]}"
    [[ $wheel == *aarch64* ]] || try module by_module "${PYTHON[@]}" # an emulated Python starts no program
done
# The program and the package are one library.
if [ "$(head -1 "$WORK/first.package")" != "$(head -1 "$WORK/first.program")" ]; then
    failed=$((failed + 1))
    echo 'FAIL  program and package train different models'
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
