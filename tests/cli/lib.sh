# tests/cli/lib.sh: what the check_*.sh of this folder share: a work folder, counts, checks, a tiny corpus.
# A script sources it, makes its checks, and ends with `finish`, whose last line is "N passed, N failed, N skipped".
# RAPT names the program (default build/rapt); the current folder becomes an empty one, which goes at the end.
set -u
export LC_ALL=C
RAPT=$(realpath "${RAPT:-build/rapt}")
SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$SOURCE/tools/levels.sh"
[ -x "$RAPT" ] || { echo "no program at $RAPT; build it, or set RAPT"; exit 1; }
unset RAPT_ISA RAPT_THREADS RAPT_LOG
DRIVE=${DRIVE:-} # before an absolute path as a program of Windows has it
SANITIZED= # not empty for a build with sanitizers
! grep -qs '^RAPT_SANITIZE:STRING=.' "$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")/CMakeCache.txt" || SANITIZED=yes
WORK=$(mktemp -d)
trap clean_up EXIT
cd "$WORK" || exit 1
passed=0 failed=0 skipped=0
MOUNTED=

clean_up() {
    cd /
    [ -z "$MOUNTED" ] || umount "$MOUNTED"
    rm -rf "$WORK"
}

pass() { passed=$((passed + 1)); echo "ok    $1"; }
fail() { failed=$((failed + 1)); echo "FAIL  $1"; shift; [ $# = 0 ] || printf '      %s\n' "$@"; }
skip() { skipped=$((skipped + 1)); echo "skip  $1"; }

# check NAME COMMAND...: passes where the command succeeds.
check() {
    local name=$1
    shift
    if "$@" >"$WORK/.check" 2>&1; then pass "$name"; else fail "$name" "$*" "$(head -c 600 "$WORK/.check")"; fi
}

# refused STATUS PATTERN NAME COMMAND...: the command ends with STATUS and says why in one line, "rapt: ...", that
# matches PATTERN; it prints no result.
refused() {
    local status=$1 pattern=$2 name=$3 got lines
    shift 3
    timeout 60 "$@" >"$WORK/.out" 2>"$WORK/.err" </dev/null
    got=$?
    lines=$(wc -l <"$WORK/.err")
    if [ "$got" != "$status" ]; then
        fail "$name" "exit status $got, not $status" "$(head -c 400 "$WORK/.err")"
    elif [ "$lines" != 1 ]; then
        fail "$name" "$lines lines on stderr:" "$(head -c 600 "$WORK/.err")"
    elif ! head -1 "$WORK/.err" | grep -Eq "^rapt(-bench)?( [a-z]+)*: .*($pattern)"; then
        fail "$name" "no match for: $pattern" "$(head -c 400 "$WORK/.err")"
    elif [ -s "$WORK/.out" ]; then
        fail "$name" "something on stdout:" "$(head -c 200 "$WORK/.out")"
    else
        pass "$name"
    fi
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] || exit 1
    [ "$passed" -gt 0 ] || exit 77
    exit 0
}

# 240 pairs of a toy language, in a fixed order.
make_pairs() {
    local subjects=(I you we they "the dog" "the cat" "my father" "the girl")
    local sujets=(je tu nous ils "le chien" "le chat" "mon père" "la fille")
    local verbs=(see like hear know find call) verbes=(vois aime entends connais trouve appelle)
    local objects=("the house" "a bird" "the sea" "a train" "the moon")
    local objets=("la maison" "un oiseau" "la mer" "un train" "la lune")
    local i j k
    for i in "${!subjects[@]}"; do
        for j in "${!verbs[@]}"; do
            for k in "${!objects[@]}"; do
                printf '%s %s %s.\t%s %s %s.\n' "${subjects[i]}" "${verbs[j]}" "${objects[k]}" \
                    "${sujets[i]}" "${verbes[j]}" "${objets[k]}"
            done
        done
    done
}

# 240 pairs of English and Chinese, in a fixed order.
make_chinese_pairs() {
    local subjects=(I you we they "the dog" "the cat" "my father" "the girl")
    local zhuyu=(我 你 我们 他们 狗 猫 我爸爸 女孩)
    local verbs=(see like hear know find call) weiyu=(看见 喜欢 听到 认识 找到 叫)
    local objects=("the house" "a bird" "the sea" "a train" "the moon")
    local binyu=(房子 一只鸟 大海 一列火车 月亮)
    local i j k
    for i in "${!subjects[@]}"; do
        for j in "${!verbs[@]}"; do
            for k in "${!objects[@]}"; do
                printf '%s %s %s.\t%s%s%s。\n' "${subjects[i]}" "${verbs[j]}" "${objects[k]}" \
                    "${zhuyu[i]}" "${weiyu[j]}" "${binyu[k]}"
            done
        done
    done
}

# A recipe for them whose steps take less than a millisecond.
make_recipe() {
    cat <<'YAML'
task: translation
seed: 7
data:
  pairs: pairs.tsv
  validation_fraction: 0.1
  max_len: 12
tokenizer:
  type: words
model:
  layers: 1
  d_model: 16
  heads: 2
  ffn: 32
  max_positions: 40
train:
  steps: 120
  batch: 16
  lr: 0.01
  label_smoothing: 0
  schedule: constant
  warmup: 0
  report_every: 20
  checkpoint_every: 20
YAML
}

# 300 lines of a toy story, 18 kB, with letters beyond ASCII.
make_text() {
    local who=("the king" "a fox" "my sister" "the naïve owl" "an old man") did=(saw found lost "sang of" feared)
    local what=("the moon" "a café" "seven stones" "the sea" "no one" "日本") how=("at night" "again" "and wept" "in the snow")
    local i
    for i in {1..300}; do
        printf '%s %s %s %s, %s.\n' "${who[i % 5]}" "${did[i * 3 % 5]}" "${what[i * i % 6]}" "${how[i % 4]}" "${how[i * 7 % 4]}"
    done
}

# A recipe of a language model of it, by characters or bpe, whose steps take a millisecond.
make_text_recipe() {
    cat <<YAML
task: language_model
seed: 7
data:
  text: text.txt
  validation_fraction: 0.1
tokenizer:
  type: $1
  vocab_size: $([ "$1" = bpe ] && echo 320 || echo 8000)
model:
  layers: 1
  d_model: 16
  heads: 2
  ffn: 32
  context: 12
  ffn_kind: relu
  norm_place: pre
  norm_kind: layer
  bias: true
  scale_embedding: true
  tied: false
  positions: learned
  init: gpt2
train:
  steps: 120
  batch: 8
  lr: 0.01
  beta2: 0.999
  weight_decay: 0
  schedule: constant
  warmup: 0
  report_every: 20
  checkpoint_every: 20
YAML
}

# pairs.tsv and tiny.yaml in the current folder.
make_inputs() {
    make_pairs >pairs.tsv
    make_recipe >tiny.yaml
}

train() { "$RAPT" train tiny.yaml --quiet --out "$@"; }

# tensor FILE NAME: the bytes of one tensor of a safetensors file (8 bytes of header size, a JSON header, data).
tensor() {
    local size range
    size=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
    range=$(head -c $((size + 8)) "$1" | tail -c "$size" | grep -o "\"$2\":{[^}]*}" |
        sed 's/.*"data_offsets":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/')
    [ -n "$range" ] || { echo "no tensor $2 in $1" >&2; return 1; }
    tail -c +$((8 + size + ${range% *} + 1)) "$1" | head -c $((${range#* } - ${range% *}))
}

# same_parameters A B: the same tensors in two safetensors files of one shape, whatever run made them.
same_parameters() {
    cmp <(numbers_of "$1") <(numbers_of "$2")
}
numbers_of() { tail -c +$(($(od -An -t u8 -N 8 "$1") + 9)) "$1"; }

# The tensors of a model or a folder: "NAME TYPE SIZE,SIZE" each, and their names. TYPE is there where the folder has a choice.
tensors() {
    "$RAPT" info "$1" --tensors --json | tr -d ' \n' | grep -o '{"name":"[^"]*",[^{]*"shape":\[[^]]*\]' |
        sed -E 's/^\{"name":"([^"]*)",("dtype":"([^"]*)",)?"shape":\[(.*)\]$/\1 \3 \4/'
}
tensor_names() { tensors "$1" | cut -d' ' -f1; }

# The ISAs that this machine has.
levels() { levels_of "$RAPT"; }

# Skips, by name, what cannot be tried at the levels of this build that this machine lacks.
skip_other_levels() {
    local isa
    for isa in $(missing_levels_of "$RAPT"); do
        skip "RAPT_ISA=$isa (not on this machine)"
    done
}

# A log without what time decides.
timeless() { sed -E 's/"(tokens_per_s|seconds|waited)": [0-9.e+-]+,? ?//g' "$1"; }

# A list of a folder's files with their sums, to see whether anything changed.
listing() { (cd "$1" && find . -type f -exec cksum {} + | sort); }

# A run's recipe without what depends on where its folder stands.
placeless() { sed "/^# from this folder /d; s/, checksum .*//; s|\"$DRIVE/|\"/|" "$1" 2>/dev/null; }

# same_model A B: the same bytes in every file of a model folder that a user reads.
same_model() {
    local f
    for f in model.safetensors best/model.safetensors config.json source.tokenizer.json target.tokenizer.json tokenizer.json \
        validation.tsv text.tokens text.txt; do
        [ ! -e "$1/$f" ] && [ ! -e "$2/$f" ] || cmp "$1/$f" "$2/$f" || return 1
    done
    diff <(placeless "$1/recipe.yaml") <(placeless "$2/recipe.yaml") || return 1
    diff <(timeless "$1/train.jsonl") <(timeless "$2/train.jsonl")
}

# newest FOLDER: the step of the newest checkpoint, 0 without any.
newest() {
    local files=("$1"/checkpoints/step-*.safetensors)
    [ -e "${files[0]}" ] || { echo 0; return; }
    basename "${files[-1]}" .safetensors | sed 's/step-0*//'
}

# wait_for_step FOLDER STEP: waits until a checkpoint of STEP or later is there; fails after 60 seconds.
wait_for_step() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ "$(newest "$1")" -ge "$2" ] && return 0
        sleep 0.02
    done
    return 1
}
