# tests/serve/lib_serve.sh: what the check_*.sh of this folder share beside tests/cli/lib.sh: two small models, and a server.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
unset NOTIFY_SOCKET LISTEN_FDS LISTEN_PID
SERVER=
trap 'stop_server; clean_up' EXIT

need_server() {
    [ -e "$(dirname "$RAPT")/rapt_serve.so" ] || { skip 'this build has no libmicrohttpd'; finish; }
    command -v python3 >/dev/null || { skip 'python3 is not installed'; finish; }
}

# Models lm, of characters, and en-fr, of words: trained for a few steps, so that texts are more than noise.
train_served_models() {
    make_inputs
    for _ in {1..3}; do printf 'A man in a red shirt.\tUn homme en chemise rouge.\nA dog runs.\tUn chien court.\n'; done >>pairs.tsv
    { cut -f1 pairs.tsv; echo 'To be, or not to be: "a dog runs"; A man in a red shirt. J Q Z X V K Y?'
      echo '{"name": [0, 1, 2.5, -3, 46, 789, true, null], "kind": "ab"}'; } >text.txt # so that lm has the characters of JSON
    for _ in {1..3}; do cat text.txt; done >more.txt && mv more.txt text.txt
    cat >lm.yaml <<'YAML'
task: language_model
data: {text: text.txt, validation_fraction: 0.2}
tokenizer: {type: characters}
model: {layers: 2, d_model: 32, heads: 2, ffn: 64, context: 64, ffn_kind: relu, norm_place: pre, norm_kind: layer, bias: true,
        scale_embedding: true, tied: false, positions: learned, init: gpt2}
train: {steps: 60, batch: 8, lr: 0.01, warmup: 5, report_every: 60}
YAML
    "$RAPT" train lm.yaml --quiet --out lm && train pairs --set train.steps=60 && mv pairs en-fr
}

# start_server ARGUMENTS...: sets SERVER and PORT.
start_server() {
    rm -f server.out # the line of a server before must not be taken for that of this one
    "$RAPT" serve "$@" --port 0 --log none >server.out 2>server.err &
    SERVER=$!
    for _ in {1..300}; do
        PORT=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' server.out 2>/dev/null)
        [ -z "$PORT" ] || return 0
        kill -0 "$SERVER" 2>/dev/null || break
        sleep 0.1
    done
    cat server.err
    return 1
}

stop_server() {
    [ -z "$SERVER" ] || { kill "$SERVER" && wait "$SERVER"; } 2>/dev/null
    SERVER=
}
