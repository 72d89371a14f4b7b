#!/bin/bash
# tools/cluster/bars.sh [WHAT...]: measures on this machine what training on several machines takes, and prints each figure with
# the bar that it is held against. WHAT: shards, bytes, exchange, steps, halves, idle, peer (default: all). Nothing else should
# run.
#   shards    one process, 8 shards against 1, batches of 768 tokens, 8 a step: median of five pairs of runs, at most 1.03 times
#             the time
#   bytes     payload a step as the kernel counts it, 2, 4 and 8 machines: at most 1.02 times 2 (P - 1) / P of the parameters in
#             fp32; in bf16 at most 0.77 times as much
#   exchange  of 32 MB between two machines at 1 Gbit/s: at most 1.25 times the time of its bytes
#   steps     with four times the tokens at which exchange and computing take the same time, in two batches, 1 Gbit/s: at most 5 %
#             waited
#   halves    two processes with a thread each against one with two: at most 1.10 times its time
#   idle      share of a CPU that the communication thread takes: at most 3 %
#   peer      beside PyTorch's DistributedDataParallel over gloo on the same two machines: at least its tokens/s (PYTHON names a
#             python with torch); and whose loss and parameters after some steps (PEER_STEPS, default 6) depend on the number of
#             processes
# From the environment: RAPT (default build/rapt), MPI (openmpi or mpich), SECONDS_EACH (default 20).
. "$(dirname "$0")/../help.sh"
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
RAPT=$(realpath "${RAPT:-$ROOT/build/rapt}")
MPI=${MPI:-openmpi} SECONDS_EACH=${SECONDS_EACH:-20} PYTHON=${PYTHON:-python3} PEER_STEPS=${PEER_STEPS:-6}
BYTES_A_SECOND=117600000 # payload of 1 Gbit/s: 1448 of 1538 bytes, gaps between frames included
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

value() { sed -En "s/.*\"$1\": *\"?([^,\"}]*).*/\1/p"; }
machines() { "$HERE/namespaces.sh" -m "$MPI" "$@"; }
# bar WHAT FIGURE LIMIT: a line; a figure above its limit is missed.
bar() { awk -v w="$1" -v f="$2" -v l="$3" 'BEGIN { printf "%-62s %9.4f  at most %-6g %s\n", w, f, l, f <= l ? "ok" : "MISSED" }'; }

# A language model of letters, 4 blocks of width $1; batches of $2 windows of 128, $3 a step, as 8 shards or fewer.
language_model() {
    cat <<END
task: language_model
data: {text: $ROOT/data/en-fr.tsv, validation_fraction: 0}
tokenizer: {type: characters}
model: {layers: 4, d_model: $1, heads: 8, ffn: $((4 * $1)), ffn_kind: gelu, context: 128, dropout: 0}
train: {batch: $2, accumulate: $3, shards: $(($3 < 8 ? $3 : 8)), steps: 100, report_every: 1000, checkpoint_every: 1000}
END
}

# A base-sized translator of random sentences: 6 + 6 blocks of width 512, 10,000 pieces, 64 sentences of 32 a batch.
translator() {
    awk 'function sentence(i, s, c) {
            s = ""
            for (i = 26 + int(6 * rand()); i > 0; i--) {
                c = 19968 + int(10000 * rand())
                s = s sprintf("%c%c%c", 224 + int(c / 4096), 128 + int(c / 64) % 64, 128 + c % 64)
            }
            return s
        }
        BEGIN { srand(1); for (n = 0; n < 6000; n++) print sentence() "\t" sentence() }' >"$work/pairs.tsv"
    cat <<END
task: translation
data: {pairs: $work/pairs.tsv, max_len: 32, pad: fixed, validation_fraction: 0}
tokenizer: {type: characters}
model: {layers: 6, d_model: 512, heads: 8, ffn: 2048, dropout: 0}
train: {batch: 64, accumulate: $1, shards: 2, steps: 100, report_every: 1000, checkpoint_every: 1000}
END
}

# ---- bytes --------------------------------------------------------------------------------------------------------
# sent MACHINES STEPS OPTIONS...: the most that a machine sends in a run of so many steps.
sent() {
    machines -n "$1" -b "$work/bytes" "$RAPT" train "$work/bytes.yaml" --quiet --threads 1 --out "$work/out" \
        --max-steps "$2" "${@:3}" >&2
    rm -r "$work/out"
    awk '$2 > most { most = $2 } END { print most }' "$work/bytes"
}

# a_step MACHINES OPTIONS...: what begins and ends a run is in both runs.
a_step() { echo $((($(sent "$1" 8 "${@:2}") - $(sent "$1" 2 "${@:2}")) / 6)); }

what_bytes() {
    local p n full half
    language_model 256 1 8 >"$work/bytes.yaml"
    n=$("$RAPT" info "$work/bytes.yaml" --json | head -3 | value parameters)
    for p in 2 4 8; do
        full=$(a_step $p)
        bar "bytes a step, fp32, $p machines, of the least possible" "$(awk -v b="$full" -v n="$n" -v p=$p \
            'BEGIN { print b / (8 * n * (p - 1) / p) }')" 1.02
        half=$(a_step $p --precision bf16)
        bar "bytes a step, bf16, $p machines, of those in fp32" "$(awk -v a="$half" -v b="$full" 'BEGIN { print a / b }')" 0.77
    done
}

# ---- times -------------------------------------------------------------------------------------------------------- seconds
# SHARDS: the time of a run of SECONDS_EACH steps, as for a user.
seconds() {
    local start=$EPOCHREALTIME
    "$RAPT" train "$work/shards.yaml" --quiet --out "$work/out" --max-steps "$SECONDS_EACH" --set train.shards="$1"
    rm -r "$work/out"
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}
what_shards() {
    local pair
    language_model 384 6 8 >"$work/shards.yaml"
    for pair in 1 2 3 4 5; do
        echo "$(seconds 1) $(seconds 8)"
    done | awk '{ printf "(1 shard: %.2f s, 8 shards: %.2f s)\n", $1, $2 >"/dev/stderr"; print $2 / $1 }' | sort -n >"$work/ratios"
    bar 'time of 8 shards in one process, of 1 shard' "$(sed -n 3p "$work/ratios")" 1.03
}

what_exchange() {
    local json
    json=$(machines -r 1gbit "$RAPT-bench" group --json --seconds "$SECONDS_EACH")
    bar 'exchange at 1 Gbit/s, of the time of its bytes' "$(awk -v ms="$(value ms <<<"$json")" -v mb="$(value sent_mb <<<"$json")" \
        -v rate=$BYTES_A_SECOND 'BEGIN { print ms / (mb * 1e9 / rate) }')" 1.25
}

# steps WINDOWS: `rapt-bench group` of a step of four batches of so many windows of 128 by two machines.
steps() {
    language_model 512 "$1" 4 >"$work/steps.yaml"
    machines -r 1gbit "$RAPT-bench" group --json --seconds "$SECONDS_EACH" "$work/steps.yaml" | tail -1
}
# What FORMULA of these makes of such a result: f, flop/s of a machine; t, its tokens a step; b, bytes/s of the network.
of_steps() {
    awk -v n="$(value params <<<"$2")" -v all="$(value step_tokens <<<"$2")" -v ms="$(value alone_ms <<<"$2")" \
        -v b=$BYTES_A_SECOND "{ t = all / 2; f = 6 * n * t / (ms * 1e-3); $1 }" <<<''
}
what_steps() {
    local json windows
    # docs/cluster.md: a batch of 2 F / B tokens hides reduction and gathering.
    windows=$(of_steps 'print int(2 * f / b / 128 + 0.999)' "$(SECONDS_EACH=2 steps 28)")
    json=$(steps "$windows")
    of_steps 'printf "(%.0f GFLOP/s a machine: %.0f tokens a machine, in two batches, are %.1f times those of equal time)\n", f * 1e-9, t, t / (f / b)' "$json"
    bar 'share of a step that is waited, 1 Gbit/s' "$(value waited <<<"$json")" 0.05
    bar 'time of a step of two machines, of one alone with its share' "$(awk -v a="$(value ms <<<"$json")" \
        -v b="$(value alone_ms <<<"$json")" 'BEGIN { print a / b }')" 1.05
}

# On one machine of all CPUs.
what_halves() {
    local one two name
    translator 2 >"$work/translator.yaml"
    language_model 768 8 2 >"$work/language_model.yaml"
    for name in translator language_model; do
        one=$("$RAPT-bench" group --json --threads 2 --seconds "$SECONDS_EACH" "$work/$name.yaml" | tail -1)
        two=$(machines -n 1 -p 2 "$RAPT-bench" group --json --threads 1 --seconds "$SECONDS_EACH" "$work/$name.yaml" | tail -1)
        bar "two processes of a thread, of one with two: $name" "$(awk -v a="$(value ms <<<"$two")" \
            -v b="$(value ms <<<"$one")" 'BEGIN { print a / b }')" 1.10
    done
}

what_idle() {
    local json
    json=$(machines "$RAPT-bench" group --json --seconds 2)
    bar 'share of a CPU while there is nothing to send' "$(value idle_share <<<"$json")" 0.03
}

# ddp COMMAND...: PyTorch's JSON object of a run that COMMAND starts; its own words only where it fails.
ddp() {
    "$@" "$PYTHON" "$ROOT/bench/pytorch/ddp.py" --case a3 --batches 4 --steps "$PEER_STEPS" 2>"$work/ddp.err" ||
        { cat "$work/ddp.err" >&2; return 1; }
}
# result COMMAND...: loss and parameters after a few steps of a run of rapt's that COMMAND starts.
result() {
    "$@" "$RAPT" train "$work/translator.yaml" --quiet --threads 1 --max-steps "$PEER_STEPS" --out "$work/out" >&2 || return 1
    echo "$(tail -1 "$work/out/train.jsonl" | value loss) $(sha256sum "$work/out/model.safetensors" | head -c 16)"
    rm -r "$work/out"
}
# same_result WHO ONE TWO: the losses and hashes of one and of two processes.
same_result() {
    printf '(%-11s  1 process:   loss %-20s  parameters %s)\n' "$1" $2
    printf '(%-11s  2 processes: loss %-20s  parameters %s)\n' "$1" $3
    printf '%-62s %s\n' "result of two processes, of one: $1" "$([ "$2" = "$3" ] && echo 'the same' || echo 'ANOTHER')"
}

what_peer() {
    local own peer alone
    "$PYTHON" -c 'import torch' 2>/dev/null || { echo "skip  peer: PYTHON has no torch ($PYTHON)"; return; }
    translator 4 >"$work/translator.yaml"
    own=$(machines -r 1gbit "$RAPT-bench" group --json --seconds "$SECONDS_EACH" "$work/translator.yaml" | tail -1 | value ms)
    peer=$(GLOO_SOCKET_IFNAME=e0 ddp "$HERE/namespaces.sh" -r 1gbit -m each)
    alone=$(ddp env)
    echo "$peer"
    same_result 'PyTorch DDP' "$(value loss <<<"$alone") $(value parameters <<<"$alone")" \
        "$(value loss <<<"$peer") $(value parameters <<<"$peer")"
    same_result rapt "$(result env)" "$(result machines)"
    awk -v ms="$own" 'BEGIN { printf "(rapt: %.0f ms a step of 4 batches, %.0f padded tokens/s)\n", ms, 4 * 64 * 32 / ms * 1e3 }'
    bar "time of a step, of PyTorch DDP's with gloo" "$(awk -v a="$own" -v b="$(value ms <<<"$peer")" 'BEGIN { print a / b }')" 1
}

[ $# -gt 0 ] || set -- shards bytes exchange steps halves idle peer
for what in "$@"; do
    declare -F "what_$what" >/dev/null || { echo "there is no $what; see the head of $0" >&2; exit 2; }
    "what_$what"
done
