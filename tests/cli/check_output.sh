#!/bin/bash
# tests/cli/check_output.sh: results go to stdout and nothing else does; progress and messages go to stderr; help,
# --json, --quiet and exit statuses are as every command promises them.
# labels: levels
. "$(dirname "$0")/lib.sh"
make_inputs
train model || { echo "cannot train the model"; exit 1; }
cut -f1 pairs.tsv | head -20 >lines.txt
cut -f2 pairs.tsv | head -20 >reference.txt

# silent STREAM NAME COMMAND...: succeeds with nothing on that stream, and something on the other.
silent() {
    local quiet=$1 name=$2 other=.out
    shift 2
    [ "$quiet" = out ] && other=.err
    if "$@" >.out 2>.err </dev/null && [ ! -s ".$quiet" ] && [ -s "$other" ]; then pass "$name"; else
        fail "$name" "stdout: $(head -c 200 .out)" "stderr: $(head -c 200 .err)"
    fi
}
nothing() {
    local name=$1
    shift
    if "$@" >.out 2>.err </dev/null && [ ! -s .out ] && [ ! -s .err ]; then pass "$name"; else
        fail "$name" "stdout: $(head -c 200 .out)" "stderr: $(head -c 200 .err)"
    fi
}

# ---- help ----------------------------------------------------------------------------------------------------------
silent err 'rapt --help' "$RAPT" --help
commands=$("$RAPT" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
check 'it lists commands' test "$(echo "$commands" | wc -w)" -ge 8
for command in $commands; do
    silent err "rapt $command --help" "$RAPT" "$command" --help
    check "its first line shows the usage" grep -q "^Usage: rapt $command" .out
    silent err "rapt $command --usage" "$RAPT" "$command" --usage
done
silent err 'rapt --version' "$RAPT" --version
check 'a name and a version' grep -Eqx 'rapt [0-9]+\.[0-9]+\.[0-9]+(-[a-z]+)?' .out
silent err 'rapt train --help-recipe' "$RAPT" train --help-recipe
for key in seed data.pairs tokenizer.min_freq model.d_model train.lr train.freeze; do
    check "it lists $key" grep -q "^ *$key " .out
done
"$RAPT" >.out 2>.err
check 'no command: help on stderr, status 2' test $? = 2 -a ! -s .out -a -s .err

# ---- stdout and stderr ---------------------------------------------------------------------------------------------
silent out 'train: progress on stderr' "$RAPT" train tiny.yaml --out talks
check 'a line at each report' test "$(grep -c '^epoch .*step .*loss .*tokens/s.*left' .err)" = 6
check 'the memory that it will take' grep -q '^memory: parameters .*activations' .err
check 'no control characters where stderr is no terminal' test -z "$(tr -d '\n -~' <.err)"
nothing 'train --quiet' "$RAPT" train tiny.yaml --out quiet --quiet
check 'being quiet changes nothing else' same_model talks quiet
silent err 'translate: lines on stdout' "$RAPT" translate model lines.txt
silent err 'eval: figures on stdout' "$RAPT" eval model pairs.tsv
check 'loss, perplexity, BLEU, chrF' grep -Eq 'loss [0-9.]+ .*perplexity [0-9.]+' .out
check 'with tokenization' grep -Eq 'BLEU [0-9.]+ \(13a\), chrF [0-9.]+' .out
by="|rapt:$("$RAPT" --version | cut -d' ' -f2)"
check 'and the signatures of sacreBLEU, with what computed the scores' grep -Fqx \
    "signatures BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0$by chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0$by" .out
silent err 'score: lines on stdout' "$RAPT" score reference.txt reference.txt
check 'score of a text against itself' grep -q '^100.00 BLEU|nrefs:1' .out
silent err 'info' "$RAPT" info
check 'it names the level' grep -q "^isa  *$("$RAPT" info --json | sed -n 's/.*"isa": "\(.*\)".*/\1/p'), of scalar " .out
check 'one of those that there are' sh -c '"$1" info --json | tr -d " \n" | grep -Eq "\"isa\":\"([a-z0-9_]+)\".*\"levels\":\[[^]]*\"\1\""' - "$RAPT"
# The same versions as pkg-config has, where the program was linked with what it knows.
for library in jansson:jansson yaml-0.1:libyaml libpcre2-8:pcre2 libxxhash:xxhash zlib:zlib; do
    found=$(pkg-config --modversion "${library%:*}" 2>/dev/null) || { skip "the version of ${library#*:} (pkg-config)"; continue; }
    check "it names ${library#*:} $found" grep -Eq "^libraries .*${library#*:} $found(,|$)" .out
done
RAPT_ISA=scalar "$RAPT" info >.out
check 'RAPT_ISA=scalar lowers it' grep -q '^isa *scalar' .out
silent err 'info MODEL' "$RAPT" info model
silent err 'bench kernels' "$RAPT-bench" kernels --case 64x512x512 --seconds 0.01 --threads 1
silent err 'bench train --profile' "$RAPT-bench" train --profile --seconds 0.05 --threads 1
silent err 'bench train' "$RAPT-bench" train --seconds 0.05 --threads 1

# On a terminal the progress line is written over.
if script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "'$RAPT' train tiny.yaml --out terminal" /dev/null >.tty 2>&1 </dev/null
    check 'on a terminal: one line that is written over' grep -q $'\r' .tty
    check 'and a newline at its end' test "$(tail -c 1 .tty | od -An -c | tr -d ' ')" = '\n'
else
    skip 'the progress line on a terminal (script is not installed, or has no terminals)'
fi

# ---- JSON ----------------------------------------------------------------------------------------------------------
# json NAME KEYS COMMAND...: each line of output (or, for one indented object, all of it) is an object with these keys.
json() {
    local name=$1 keys=$2 key
    shift 2
    if ! "$@" >.json 2>.err; then
        fail "$name" "$(head -c 300 .err)"
    elif ! { command -v python3 >/dev/null && python3 -c 'import json' 2>/dev/null; }; then
        skip "$name (python3 is not installed)"
    elif python3 - $keys <<'PY' 2>.err; then
import json, sys
text = open(".json").read()
try:
    objects = [json.loads(text)]
except ValueError:
    objects = [json.loads(line) for line in text.splitlines()]
assert objects, "no object"
for o in objects:
    for key in sys.argv[1:]:
        assert key in o, "no " + key
PY
        pass "$name"
    else
        fail "$name" "$(tail -1 .err)"
    fi
}
json 'translate --json' 'line text truncated unknown_words hypotheses' "$RAPT" translate model lines.txt --json
json 'eval --json' 'loss perplexity tokens bleu chrf bleu_signature chrf_signature' "$RAPT" eval model pairs.tsv --json
json 'eval --json of two files' 'loss perplexity tokens bleu chrf' "$RAPT" eval model pairs.tsv model/validation.tsv --json
json 'eval --json --loss-only' 'loss perplexity tokens' "$RAPT" eval model pairs.tsv --json --loss-only
json 'score --json' 'score signature' "$RAPT" score lines.txt reference.txt --json
json 'score --json --metric chrf' 'score signature' "$RAPT" score lines.txt reference.txt --json --metric chrf
json 'score --json --sentence' 'score signature' "$RAPT" score lines.txt reference.txt --json --sentence
json 'info --json' 'version threads isa levels libraries' "$RAPT" info --json
json 'info MODEL --json' 'parameters layers d_model' "$RAPT" info model --json
json 'info MODEL --json --tensors' 'parameters tensors' "$RAPT" info model --json --tensors
json 'bench kernels --json' '' "$RAPT-bench" kernels --case 64x512x512 --json --seconds 0.01 --threads 1
json 'bench train --profile --json' '' "$RAPT-bench" train --case a1 --profile --json --seconds 0.05 --threads 1
json 'bench train --json' '' "$RAPT-bench" train --case a1 --json --seconds 0.05 --threads 1
json 'train.jsonl' 'step epoch loss val_loss lr grad_norm tokens_per_s seconds' cat talks/train.jsonl
json 'config.json' 'format version' cat model/config.json
json 'tokenizer' 'format version tokens' cat model/source.tokenizer.json

# ---- output that can't be written ----------------------------------------------------------------------------------
# full NAME COMMAND...: stdout is a full disk.
full() {
    local name=$1
    shift
    "$@" >/dev/full 2>.err </dev/null
    if [ $? = 1 ] && [ "$(wc -l <.err)" = 1 ] && grep -q '^rapt: .*No space left' .err; then pass "$name"; else
        fail "$name" "$(head -c 300 .err)"
    fi
}
full 'full: --help' "$RAPT" --help
full 'full: --version' "$RAPT" --version
full 'full: train --help' "$RAPT" train --help
full 'full: train --help-recipe' "$RAPT" train --help-recipe
full 'full: translate' "$RAPT" translate model lines.txt
full 'full: eval' "$RAPT" eval model pairs.tsv
full 'full: eval --json' "$RAPT" eval model pairs.tsv --json
full 'full: score' "$RAPT" score lines.txt reference.txt
full 'full: score --json' "$RAPT" score lines.txt reference.txt --json
full 'full: info' "$RAPT" info
full 'full: info MODEL --json' "$RAPT" info model --json
for i in {1..400}; do cat lines.txt; done >many.txt
full 'full: more than a buffer' "$RAPT" translate model many.txt
"$RAPT" translate model many.txt 2>.err | head -1 >/dev/null
check 'a reader that goes away is no message' test ! -s .err
check 'train to a full stdout: it prints nothing there' bash -c "'$RAPT' train tiny.yaml --out nowhere --quiet >/dev/full"
finish
