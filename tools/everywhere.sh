#!/bin/bash
# tools/everywhere.sh [--page FILE] [NAME=COMMAND...]: the same bytes everywhere: three models (a translator, a language model, a LoRA
# adapter), 500 translations, 50 generated texts with weights in q8_0 and an explanation, made by each program that this machine can
# run, and the sha256 of each compared with the first program's. It fails where any differs; --page writes the table.
# A program is a NAME and the COMMAND that runs it, such as other='/path/to/rapt'; they are added to those that are found in this
# checkout: build-test (gcc) at each level of this processor, build-werror-clang, and the builds for other systems, C libraries
# and processors by tools/portable.sh and tools/targets.sh in build-targets/TARGET/program, emulated where need be (Windows' by
# Wine). --build makes all but the first. Sizes are such that an emulator takes minutes for plain C.
. "$(dirname "$0")/help.sh"
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/levels.sh
. tools/packages.sh
TARGETS_ROOT=${TARGETS_ROOT:-$PWD/build-targets}
JOBS=${JOBS:-$(nproc)}
EMULATED=(x86_64-linux-gnu x86_64-linux-musl i686-linux-musl aarch64-linux-musl riscv64-linux-gnu x86_64-windows)
SOURCE=$PWD
WORK=$PWD/build-everywhere
export WINEPREFIX=${WINEPREFIX:-$WORK/wine}
page='' build='' names=() commands=()

while [ $# -gt 0 ]; do
    case $1 in
    --page) page=$2 && shift ;;
    --build) build=yes ;;
    *=*) names+=("${1%%=*}") commands+=("${1#*=}") ;;
    *) echo "tools/everywhere.sh: $1: neither an option nor NAME=COMMAND"; exit 2 ;;
    esac
    shift
done

build_targets() {
    local name options
    need 'a compiler for RISC-V, and emulators' gcc-riscv64-linux-gnu libc6-dev-riscv64-cross qemu-user wine64
    need 'the second compiler' clang
    need 'Python: an environment for the third' python3-venv
    install_missing || return 1
    tools/configure.sh build-werror-clang -DCMAKE_C_COMPILER=clang && tools/build.sh build-werror-clang rapt || return 1
    for name in "${EMULATED[@]}"; do
        options=()
        case $name in *-musl) options=(-DRAPT_STATIC=ON) ;; esac
        tools/targets.sh "$name" &&
            tools/configure.sh "$TARGETS_ROOT/$name/program" -DCMAKE_TOOLCHAIN_FILE="$TARGETS_ROOT/$name/toolchain.cmake" "${options[@]}" &&
            cmake --build "$TARGETS_ROOT/$name/program" -j"$JOBS" --target rapt -- --no-print-directory >"$WORK/$name.log" 2>&1 ||
            { tail -5 "$WORK/$name.log"; return 1; }
    done
}

# program NAME COMMAND...: in front of those that the user has named.
programs=() runs=()
program() {
    programs+=("$1")
    runs+=("$2")
}
find_programs() {
    local isa name path wine
    wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
    [ ! -x build-test/rapt ] || for isa in $(levels_of build-test/rapt); do
        program "x86-64, gcc, level $isa" "env RAPT_ISA=$isa $SOURCE/build-test/rapt"
    done
    [ ! -x build-werror-clang/rapt ] || program 'x86-64, clang' "$SOURCE/build-werror-clang/rapt"
    for name in "${EMULATED[@]}"; do
        path=$TARGETS_ROOT/$name/program/rapt
        [ "$name" != x86_64-windows ] || path+=.exe
        [ -x "$path" ] || continue
        case $name in
        x86_64-linux-gnu) program 'x86-64, zig, glibc 2.17' "$path" ;;
        x86_64-linux-musl) program 'x86-64, zig, musl, static' "$path" ;;
        i686-linux-musl) program '32-bit x86, zig, musl, static' "$path" ;;
        aarch64-linux-musl) program 'AArch64, zig, musl, static, in qemu' "qemu-aarch64 $path" ;;
        riscv64-linux-gnu) program 'RISC-V, gcc, glibc, in qemu' "qemu-riscv64 -L /usr/riscv64-linux-gnu $path" ;;
        x86_64-windows) [ ! -x "$wine" ] || program 'Windows x86-64, zig, in Wine' "env LC_ALL=C.UTF-8 WINEDEBUG=-all $wine $path" ;;
        esac
    done
    for name in "${!names[@]}"; do
        program "${names[name]}" "${commands[name]}"
    done
}

# What is made, in a folder of its own: `what`, and the command that makes it.
WHATS=(translator 'language model' 'LoRA adapter, in its model' '500 translations' '50 texts in q8_0' explanation)
FILES=(translator/model.safetensors lm/model.safetensors merged/model.safetensors translations texts explanation)
COMMANDS=('rapt train translator.yaml --out translator --quiet'
    'rapt train lm.yaml --out lm --quiet'
    'rapt train lora.yaml --out lora --quiet && rapt convert lm --merge lora --to hf --out merged'
    'rapt translate translator lines --beam 2 --n-best 2 --max-length-ratio 1 >translations'
    'for seed in $(seq 50); do rapt generate lm "The " --seed $seed --max-tokens 24 --weights q8_0 || break; done >texts'
    'rapt explain translator "Where are my keys?" --train --json --full >explanation')
inputs() {
    head -600 "$SOURCE/data/en-fr.tsv" >pairs.tsv
    head -500 pairs.tsv | cut -f1 >lines
    cut -f1 pairs.tsv >text
    cat >translator.yaml <<'EOF'
task: translation
seed: 1
data: {pairs: pairs.tsv, validation_fraction: 0.02, max_len: 24, too_long: cut}
tokenizer: {type: words, lowercase: true, detokenize: fr, capitalize: true, min_freq: 4}
model: {layers: 1, d_model: 20, heads: 2, ffn: 44, dropout: 0.05, norm_place: pre, init: xavier, embedding_std: 0.1}
train: {steps: 160, batch: 6, lr: 0.02, weight_decay: 0.01, schedule: cosine, warmup: 5}
EOF
    cat >lm.yaml <<'EOF'
task: language_model
seed: 2
data: {text: text, validation_fraction: 0.02}
tokenizer: {type: bpe, vocab_size: 300}
model: {layers: 2, d_model: 32, heads: 4, kv_heads: 2, ffn: 52, ffn_kind: swiglu, norm_place: pre, norm_kind: rms, bias: false,
  scale_embedding: false, tied: true, positions: rotary, context: 24, dropout: 0.1, init: gpt2}
train: {steps: 40, batch: 4, lr: 0.02, weight_decay: 0.01, schedule: cosine, warmup: 5}
EOF
    cat >lora.yaml <<'EOF'
task: language_model
data: {text: text, validation_fraction: 0.02}
model: {context: 24}
train: {init: lm, lora.rank: 3, lora.alpha: 6, lora.dropout: 0.2, lr: 0.02, batch: 2, steps: 12}
EOF
}

# make_all NUMBER: all of it by program NUMBER; its sums. The adapter's is taken in its model, as its own file names the path of that.
make_all() {
    local folder=$WORK/here run=${runs[$1]} what
    rm -rf "$folder" "$WORK/sums-$1"
    mkdir -p "$folder"
    cd "$folder" || return 1
    inputs
    rapt() { $run "$@" 2>>errors; }
    for what in "${!COMMANDS[@]}"; do
        { eval "${COMMANDS[what]}" >/dev/null && [ -s "${FILES[what]}" ]; } || { echo "${WHATS[what]}: failed"; tail -3 errors; return 1; }
    done
    sha256sum "${FILES[@]}" | cut -d' ' -f1 >"$WORK/sums-$1"
}

write_page() {
    local i
    echo '# The same bytes everywhere'
    echo
    echo 'A model that is trained on one processor, with one compiler and one C library, has the bytes that it has on and with any other,'
    echo 'and so have translations, texts and explanations. `tools/everywhere.sh --build --page docs/results/everywhere.md` makes all of'
    echo "this with each program that a machine can run, compares, and writes this page; \`.ci/run long\` does it before a release. Models"
    echo 'are small, since an emulator takes minutes for what a processor does in a second.'
    echo
    echo '| what | command | sha256 |'
    echo '| --- | --- | --- |'
    for i in "${!WHATS[@]}"; do
        echo "| ${WHATS[i]} | \`${COMMANDS[i]//|/\\|}\` | \`$(sed -n "$((i + 1))p" "$WORK/sums-0")\` |"
    done
    echo
    echo '| program | of the six | seconds |'
    echo '| --- | --- | --- |'
    printf '%s\n' "${rows[@]}"
    echo
    echo 'The file of an adapter names the folder of its model, which differs from machine to machine: what is compared is the model with it.'
    echo
    echo 'What is not in the table was not run here. Nobody has run: macOS, FreeBSD, Windows itself.'
}

mkdir -p "$WORK"
[ -z "$build" ] || build_targets || exit 1
find_programs
[ ${#programs[@]} -gt 1 ] || { echo 'tools/everywhere.sh: fewer than two programs: nothing to compare'; exit 1; }
passed=0 failed=0 rows=()
for number in "${!programs[@]}"; do
    start=$SECONDS equal=0
    if ! (make_all "$number"); then
        [ "$number" != 0 ] || { echo 'tools/everywhere.sh: the first program fails: nothing to compare with'; exit 1; }
    else
        equal=$(diff -y --width=200 --suppress-common-lines "$WORK/sums-0" "$WORK/sums-$number" | wc -l)
        equal=$((${#WHATS[@]} - equal))
    fi
    if [ $equal = ${#WHATS[@]} ]; then
        passed=$((passed + 1)) said='all equal'
    else
        failed=$((failed + 1)) said="**$equal equal**"
        echo "FAIL  ${programs[number]}: $equal of ${#WHATS[@]} are equal"
    fi
    rows+=("| ${programs[number]} | $said | $((SECONDS - start)) |")
    echo "${rows[-1]}"
done
[ -z "$page" ] || write_page >"$page"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
