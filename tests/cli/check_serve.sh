#!/bin/bash
# check_serve.sh: `rapt serve` as it is operated: what is refused at its start, and, by serve_operation.py, paths, keys, limits,
# sockets, signals, reloads and logs of servers that run. What HTTP is refused is in tests/serve/test_http.c.
source "$(dirname "$0")/lib.sh"
export RAPT
unset NOTIFY_SOCKET LISTEN_FDS LISTEN_PID

refused 2 'missing operand: MODEL' 'no model' "$RAPT" serve
refused 2 "there is no model|missing operand" 'a file without models' "$RAPT" serve --config /dev/null
refused 2 "two models are called 'a'" 'a name twice' "$RAPT" serve a=x a=y
refused 2 'cannot be the name' 'a wrong name' "$RAPT" serve 'a b=x'
refused 2 "port: '65536' is not a whole number from 0 to 65535" 'a wrong port' "$RAPT" serve x --port 65536
refused 2 "no origin" 'a wrong origin' "$RAPT" serve x --cors example.org
refused 2 'not the name of a host' 'a wrong name of the server' "$RAPT" serve x --allowed-host a:80
refused 2 'is no address, such as' 'a wrong address of a proxy' "$RAPT" serve x --trusted-proxy localhost
refused 2 'is no mode of a file' 'a wrong mode' "$RAPT" serve x --socket-mode 888
refused 2 'socket-mode is of a unix socket' 'a mode without a unix socket' "$RAPT" serve x --socket-mode 0660
refused 2 'tls-cert and tls-key' 'TLS without a key' "$RAPT" serve x --tls-cert x
refused 2 "log: 'loud' is none of json, text, none" 'a wrong log' "$RAPT" serve x --log loud
refused 2 'unknown option "--prot"; did you mean --port' 'a wrong option' "$RAPT" serve x --prot 1
printf 'port: 80\nprot: 1\n' >bad.yaml
refused 2 'bad.yaml:2: prot: unknown key; did you mean port' 'a wrong key in a file' "$RAPT" serve --config bad.yaml
refused 1 'no server at 127.0.0.1, port 1: Connection refused' '--check of nobody' "$RAPT" serve --check --port 1
refused 1 'no server at no-host.invalid, port 1: .*(not known|resolution)' '--check of no host' \
    "$RAPT" serve --check --host no-host.invalid --port 1
long=$(printf 'x%.0s' {1..120})
refused 1 'the path is longer' '--check of a long path' "$RAPT" serve --check --host "unix:$long"
refused 2 'cannot be the name' 'a name that is no UTF-8' "$RAPT" serve $'fran\xe7ais=x'
for unsafe in '\u202e' '\u2066' '\u200f' '\u061c' '\u0085' '\u009b' '\u2028' '\x1b'; do # orders text anew, or is a control
    refused 2 'cannot be the name' "a name with $unsafe" "$RAPT" serve "$(LC_ALL=C.UTF-8 printf "a${unsafe}b")=x"
done

if [ ! -e "$(dirname "$RAPT")/rapt_serve.so" ]; then
    refused 1 'this rapt cannot serve.*libmicrohttpd' 'a build without libmicrohttpd' "$RAPT" serve x
    skip 'servers that run: this build has no libmicrohttpd'
    finish
fi
refused 1 'x: there is no such' 'no such model' "$RAPT" serve x --port 0
refused 1 'no-keys' 'no file of keys' "$RAPT" serve x --port 0 --api-key-file no-keys
refused 1 'no-host.invalid' 'no such host' "$RAPT" serve x --host no-host.invalid
refused 1 'no-cert' 'no certificate' "$RAPT" serve x --port 0 --tls-cert no-cert --tls-key no-cert
command -v python3 >/dev/null || { skip 'servers that run: python3 is not installed'; finish; }

# ---- models: what they say is not looked at here ------------------------------------------------------------------------
for i in {1..120}; do echo "the cat sat on the mat; day $i of many, and the dog ate its bone."; done >text.txt
train_lm() {
    cat >lm.yaml <<YAML
task: language_model
seed: $1
data:
  text: text.txt
  validation_fraction: 0.3
tokenizer:
  type: characters
model:
  layers: 2
  d_model: 32
  heads: 2
  ffn: 64
  context: 2048
  ffn_kind: relu
  norm_place: pre
  norm_kind: layer
  bias: true
  scale_embedding: true
  tied: false
  positions: learned
  init: gpt2
train:
  steps: 1
  batch: 1
  lr: 0.01
  warmup: 0
  report_every: 1
YAML
    "$RAPT" train lm.yaml --quiet --out "$2"
}
make_inputs
{ train_lm 1 lm && train_lm 2 lm2 && train pairs --set train.steps=1 && mv pairs tr; } >.train 2>&1 ||
    { echo "cannot train the models"; cat .train; exit 1; }

operates() {
    mkdir "$2"
    cp -r lm lm2 tr "$2"
    (cd "$2" && RAPT_THREADS=1 timeout 300 python3 "$SOURCE/tests/cli/serve_operation.py" "$2") >.out 2>.err
    case $? in
    0) pass "$1$([ -s .out ] && echo " ($(tail -1 .out))")" ;;
    77) skip "$1 ($(tail -1 .out))" ;;
    *) fail "$1" "$(tail -3 .err | head -c 500)" ;;
    esac
    rm -rf "$2"
}
operates 'paths, methods and the shapes of errors' routes
operates 'paths of this machine are not told' paths
operates 'a request that a proxy could read in another way' framing
operates 'API keys, in headers and bodies, and never in the log' keys
operates 'the page of the lesson' lesson
operates 'pages of other origins' cors
operates 'names of other sites that lead here' hosts
operates 'clients of a proxy' proxies
operates 'the examples for nginx and Prometheus' nginx
operates 'a full queue' queue
operates 'explanations that would take too long' explanations
operates 'who hangs up frees a slot' disconnect
operates 'too many connections' connections
operates '200 clients with 64 descriptors' descriptors
operates 'clients that send a byte now and then' slow
operates '500 idle connections' idle
operates 'a body that is too large' sizes
operates 'a unix socket' unix_socket
operates 'a socket of systemd' activation
operates 'notices to systemd' notices
operates 'TLS' tls
operates 'SIGTERM lets requests finish' drain
operates 'the end of patience' drain_ends
operates 'SIGTERM while it computes or loads' ends_while_it_computes
operates 'models of a reload' reload
operates 'files of models that are truncated while they are served' truncated
operates 'fingerprints' fingerprints
operates 'the log' logs
operates 'a log that nobody reads' log_unread
operates 'options of a file' config
finish
