#!/bin/bash
# tests/cli/check_generate.sh: `rapt generate` and `rapt eval` with language models: what is printed where, that it is the
# same however it is computed, what ends a text, what is refused, and the figures of a text against sums made here.
# labels: levels
. "$(dirname "$0")/lib.sh"

# ---- models --------------------------------------------------------------------------------------------------------
# A line and its number, often: easy to learn, and what follows depends on what came before.
for i in {1..120}; do echo "the cat sat on the mat, naïve as it was; day $i of 日 and the dog ate its bone."; done >text.txt
recipe() {
    cat <<YAML
task: language_model
seed: 5
data:
  text: text.txt
  validation_fraction: 0.1
tokenizer:
  type: $1
  vocab_size: $([ "$1" = bpe ] && echo 300 || echo 8000)
model:
  layers: 2
  d_model: 32
  heads: 2
  ffn: 64
  context: 16
  ffn_kind: relu
  norm_place: pre
  norm_kind: layer
  bias: true
  scale_embedding: true
  tied: false
  positions: learned
  init: gpt2
train:
  steps: 150
  batch: 8
  lr: 0.01
  beta2: 0.999
  weight_decay: 0
  schedule: constant
  warmup: 0
  report_every: 50
YAML
}
recipe characters >characters.yaml
recipe bpe >bpe.yaml
for kind in characters bpe; do
    "$RAPT" train $kind.yaml --quiet --out $kind || { echo "cannot train the model"; exit 1; }
done
make_inputs
train pairs --set train.steps=2 || { echo "cannot train the translation model"; exit 1; }
generate() { "$RAPT" generate characters --quiet "$@"; }

# is NAME EXPECTED-FILE COMMAND...: what the command prints.
is() {
    local name=$1 wanted=$2
    shift 2
    if "$@" >.got 2>.err </dev/null && cmp "$wanted" .got >.cmp; then pass "$name"; else
        fail "$name" "$(head -c 300 .err .cmp)"
    fi
}

# ---- what is printed ------------------------------------------------------------------------------------------------
generate --prompt 'the cat' --max-tokens 40 >plain.out 2>plain.err
check 'the prompt comes first' grep -q '^the cat' plain.out
check 'so many characters follow, and a newline' test "$(LC_ALL=C.UTF-8 wc -m <plain.out)" = 48
check '--quiet: nothing on stderr' test ! -s plain.err
"$RAPT" generate characters --prompt 'the cat' --max-tokens 40 >.out 2>.err
check 'without: the same text' cmp plain.out .out
check 'and the speed on stderr' grep -Eqx '40 tokens in [0-9.]+ s: [0-9.]+ tokens/s' .err
tail -c +8 plain.out >bare.out
is '--no-prompt' bare.out generate --prompt 'the cat' --max-tokens 40 --no-prompt
printf 'the cat' >prompt.txt
is '--prompt-file' plain.out generate --prompt-file prompt.txt --max-tokens 40
printf 'the cat' | generate --prompt-file - --max-tokens 40 >.out
check '--prompt-file -: standard input' cmp plain.out .out
printf 'the cat\n' >.wanted
is '--max-tokens 0' .wanted generate --prompt 'the cat' --max-tokens 0
printf '\n' >.wanted
is '--max-tokens 0 --no-prompt' .wanted generate --prompt 'the cat' --max-tokens 0 --no-prompt
check 'no prompt: the end of a text is one' "$RAPT" generate bpe --quiet --max-tokens 5
check 'by default 200 tokens' test "$(generate --prompt t --no-prompt | LC_ALL=C.UTF-8 wc -m)" = 201
generate --prompt t --max-tokens 30 --samples 3 >samples.out
check '--samples: as many, with lines between' test "$(grep -cx -- ---- samples.out)" = 2
check 'the first is what one alone is' cmp <(generate --prompt t --max-tokens 30 | head -1) <(head -1 samples.out)
check 'they differ' test "$(generate --prompt t --max-tokens 60 --samples 3 --temperature 1.5 --json | sed 's/.*"text"//' |
    sort -u | wc -l)" = 3

# ---- the same, however it is computed ------------------------------------------------------------------------------
for kind in characters bpe; do
    again() { "$RAPT" generate $kind --quiet --prompt 'the dog ' --max-tokens 120 "$@"; }
    for options in '--greedy' '--greedy --weights q8_0' '--greedy --kv-cache q8_0' '--temperature 1.2 --top-k 0' \
        '--top-p 0.9 --repetition-penalty 1.3 --repetition-window 8' \
        '--temperature 1 --min-p 0.05 --logit-bias 5:-2.5' '--typical-p 0.5' '--presence-penalty 1.5 --frequency-penalty -0.5'; do
        again $options >want.out
        is "$kind $options: again" want.out again $options
        for threads in 1 2 3; do
            is "$kind $options --threads $threads" want.out again $options --threads $threads
        done
        for isa in $(levels); do
            is "$kind $options, RAPT_ISA=$isa" want.out env RAPT_ISA="$isa" "$RAPT" generate $kind --quiet \
                --prompt 'the dog ' --max-tokens 120 $options
        done
    done
done
generate --prompt 'the ' --greedy >greedy.out
is '--temperature 0 is --greedy' greedy.out generate --prompt 'the ' --temperature 0
is '--top-k 1 is --greedy' greedy.out generate --prompt 'the ' --top-k 1
is '--greedy knows no seed' greedy.out generate --prompt 'the ' --greedy --seed 99
is 'a prompt as an argument' plain.out generate 'the cat' --max-tokens 40
is '--min-p 0 is off' plain.out generate 'the cat' --max-tokens 40 --min-p 0
is '--typical-p 0 is off' plain.out generate 'the cat' --max-tokens 40 --typical-p 0
is '--typical-p 1 is off' plain.out generate 'the cat' --max-tokens 40 --typical-p 1
is '--typical-p in a nucleus of one token is --greedy' greedy.out generate 'the ' --top-k 1 --typical-p 0.1
check '--typical-p 0.1: another text' test "$(generate 'the cat' --max-tokens 40 --typical-p 0.1 | cmp -s plain.out -; echo $?)" = 1
is '--min-p 1 is --greedy' greedy.out generate 'the ' --min-p 1
likeliest=$(generate --prompt 'the ' --at -1 --top 1 | sed -n 2p | cut -f2)
is '--logit-bias: likely enough, a token is all there is' <(printf 'the '; yes "$(generate 'the ' --at -1 --top 1 | tail -1 |
    cut -f3 | tr -d '"')" | head -20 | tr -d '\n'; echo) generate 'the ' --max-tokens 20 --logit-bias "$likeliest:1e6"
check '--frequency-penalty: the text has all the less of it' test \
    "$(generate 'the ' --greedy --max-tokens 60 --frequency-penalty 2 | fold -w1 | sort -u | wc -l)" -gt \
    "$(generate 'the ' --greedy --max-tokens 60 | fold -w1 | sort -u | wc -l)"
check '--logit-bias: -inf rules it out' test "$(generate 'the ' --greedy --max-tokens 1 --logit-bias "$likeliest:-inf")" != \
    "$(generate 'the ' --greedy --max-tokens 1)"
"$RAPT" generate characters 'the cat' --max-tokens 40 --random-seed >random.out 2>random.err
seed=$(sed -n 's/^seed \([0-9]*\)$/\1/p' random.err)
is '--random-seed: the seed that it tells gives the text again' random.out generate 'the cat' --max-tokens 40 --seed "$seed"
check 'another each time' test "$seed" != "$("$RAPT" generate characters t --max-tokens 0 --random-seed 2>&1 >/dev/null |
    sed -n 's/^seed //p')"
is 'the default seed is 1' plain.out generate --prompt 'the cat' --max-tokens 40 --seed 1
generate --prompt 'the cat' --max-tokens 40 --seed 2 >seed2.out
check 'another seed, another text' test "$(cmp -s plain.out seed2.out; echo $?)" = 1
is 'the defaults: 0.8, top 200' plain.out generate --prompt 'the cat' --max-tokens 40 --temperature 0.8 --top-k 200 \
    --top-p 1 --repetition-penalty 1 --repetition-window 0 --samples 1

# ---- ends of a text -------------------------------------------------------------------------------------------------
# before_stop NAME STOP OPTIONS...: the text ends before STOP, where the whole text has it.
before_stop() {
    local name=$1 stop=$2 whole
    shift 2
    whole=$("$RAPT" generate "$@" --quiet --greedy --no-prompt --max-tokens 150; echo x)
    if [[ $whole != *"$stop"* ]]; then fail "$name: the text lacks it" "$whole"; return; fi
    printf '%s\n' "${whole%%"$stop"*}" >.wanted
    is "$name" .wanted "$RAPT" generate "$@" --quiet --greedy --no-prompt --max-tokens 150 --stop 'zzz' --stop "$stop"
}
before_stop 'stop: a character' 'd' characters --prompt 'the '
before_stop 'stop: over tokens' 'd the d' characters --prompt 'the cat sat on the mat, naïve as it was; day 7 of 日 an'
before_stop 'stop: over pairs of bytes' ' the d' bpe --prompt 'the cat sat on the mat, naïve as it was; day 7 of 日 an'
timeout --foreground 60 "$RAPT" generate characters --quiet --prompt 'the ' --max-tokens 1000000000 >int.out 2>int.err &
pid=$! # timeout hands the signal on
for _ in {1..500}; do [ -s int.out ] && break; sleep 0.02; done
kill -INT $pid
wait $pid
check 'Ctrl-C: status 130' test $? = 130
check 'the text ends with a newline' test -s int.out -a "$(tail -c 1 int.out | od -An -c | tr -d ' ')" = '\n'
check 'and whole characters' iconv -f UTF-8 -t UTF-8 int.out
check 'without a message' test ! -s int.err
generate --prompt 'the ' --max-tokens 1000000000 2>.err | head -c 100 >.out
check 'a reader that goes away ends it' test "$(wc -c <.out)" = 100
check 'without a message' test ! -s .err
generate --prompt 'the ' >/dev/full 2>.err
check 'a full disk: status 1' test $? = 1
check 'and one line' grep -Eqx 'rapt: .*No space left.*' .err
generate --prompt 'the ' --json >/dev/full 2>.err
check 'a full disk, --json: status 1' test $? = 1
check 'and one line' test "$(wc -l <.err)" = 1

# ---- JSON, --at ------------------------------------------------------------------------------------------------------
# json NAME EXPRESSION: each line of .out is an object o, number i, for which the Python expression holds.
python_check='
import json, sys
lines = open(".out", encoding="utf-8").read().splitlines()
assert lines, "no line"
for i, line in enumerate(lines):
    o = json.loads(line)
    assert eval("(" + sys.argv[1] + ")"), sys.argv[1]
'
json() {
    if ! { command -v python3 >/dev/null && python3 -c 'import json' 2>/dev/null; }; then
        skip "$1 (python3 is not installed)"
    elif python3 -c "$python_check" "$2" 2>.err; then pass "$1"; else fail "$1" "$(tail -1 .err)" "$(head -c 300 .out)"; fi
}
generate --prompt 'the cat' --max-tokens 40 --json >.out
json '--json: the same text' 'o["prompt"] + o["text"] + "\n" == open("plain.out", encoding="utf-8").read()'
json '--json: figures' 'o["tokens"] == 40 and o["prompt_tokens"] == 7 and o["end"] == "length" and o["seed"] == 1'
generate --prompt 'the cat' --max-tokens 40 --json --log-probs >.out
json '--log-probs: ids and log-probabilities' \
    'len(o["ids"]) == len(o["log_probs"]) == 40 and all(p < 0 for p in o["log_probs"]) and all(type(n) is int for n in o["ids"])'
generate --prompt 'the "naïve"' --max-tokens 5 --samples 3 --json >.out 2>.err
check '--json: a character that is unknown is refused as ever' grep -q 'U+0022' .err
generate --prompt $'was;\n日' --max-tokens 5 --samples 3 --json --seed 4 >.out
json '--json --samples' 'o["sample"] == i and o["prompt"] == "was;\n日" and o["seed"] == 4 and len(lines) == 3'
generate --prompt 'the ' --greedy --stop 'a' --json >.out
json '--json: ended by a stop text' 'o["end"] == "stop" and "a" not in o["text"]'
"$RAPT" generate bpe --quiet --prompt $'the \xff' --max-tokens 20 --temperature 3 --top-k 0 --json >.out
json '--json: bytes that are no text' 'o["prompt"] == "the \ufffd"'

at() { "$RAPT" generate characters --prompt 'the cat sat' --at "$@"; }
not_generated() { refused 1 "$1" "$2" "$RAPT" generate characters --quiet "${@:3}"; }
at 5 >at.out
check '--at: five tokens by default, and which one they follow' test "$(wc -l <at.out)" = 6
check 'the token is named' grep -Eqx $'after token 5:\t[0-9]+\t"a"' at.out
check 'likeliest first' awk -F'\t' 'NR > 2 && $1 > last { exit 1 } NR > 1 { last = $1 }' at.out
likeliest() { sed -n '2s/^[^"]*"\(.*\)"$/\1/p'; }
for ((i = 0; i < 11; i++)); do
    text='the cat sat'
    got=$(at $i | likeliest) wanted=$(generate --prompt "${text:0:i+1}" --greedy --no-prompt --max-tokens 1)
    [ "$got" = "$wanted" ] || echo "position $i: $got instead of $wanted"
done >.differ
check '--at: the first is what --greedy says after that position' test ! -s .differ
is '--at -1: the last one' <(at 10) at -1
for i in $(seq 0 10); do at "$i" --top 3; done >each.out
is '--at all: after each' each.out at all --top 3
check '--at all --json: a line for each' cmp <(at all --json) <(for i in $(seq 0 10); do at "$i" --json; done)
check '--at --top: all of them sum to 1' awk -F'\t' 'NR > 1 { sum += $1; n++ }
    END { exit !(n > 20 && sum > 0.9999 && sum < 1.0001) }' <(at 3 --top 1000)
at 5 --json --top 3 >.out
json '--at --json' 'o["position"] == 5 and o["token"]["text"] == "a" and len(o["likeliest"]) == 3 and
    all(0 < t["probability"] < 1 and "id" in t and len(t["text"]) == 1 for t in o["likeliest"])'
not_generated 'logit bias of token 1000' 'a bias of no token' a --logit-bias 1000:1
not_generated 'the prompt has tokens 0 to 10' '--at beyond the prompt' --prompt 'the cat sat' --at 11
not_generated 'the prompt has tokens 0 to 10' '--at before the prompt' --prompt 'the cat sat' --at -12

# ---- constrained -----------------------------------------------------------------------------------------------------
echo '{"type": "object", "properties": {"day": {"type": "integer", "minimum": 1, "maximum": 99}}, "required": ["day"]}' >day.json
obeys() { "$RAPT" generate bpe day --no-prompt --quiet "$@" --temperature 1 --top-k 0 --seed 4 | tr -d ' \n'; }
check '--json-schema: a value that obeys' grep -qE '^\{"day":[1-9][0-9]?\}$' <(obeys --json-schema day.json)
check '--json-schema: the same with any threads' \
    cmp <(obeys --json-schema day.json --threads 1) <(obeys --json-schema day.json --threads 3)
"$RAPT" generate bpe day --json --quiet --json-schema day.json --max-tokens 3 >.out
check '--json-schema: a value that is cut says so' grep -q '"end": "length"' .out
check '--json-object: an object' grep -q '^[[:space:]]*{' <("$RAPT" generate bpe day --no-prompt --quiet --json-object)
echo '{"properties": {"a": {"not": {}}}}' >not.json
refused 1 'schema, #/properties/a: "not" is not supported' '--json-schema: a keyword' "$RAPT" generate bpe day --json-schema not.json
refused 1 "the schema needs '\{'" '--json-schema: a vocabulary' "$RAPT" generate characters the --json-schema day.json
refused 1 'none.json' '--json-schema: no file' "$RAPT" generate bpe day --json-schema none.json

# ---- refused ---------------------------------------------------------------------------------------------------------
not_generated 'the prompt: byte 3: character U\+0021' 'a prompt with an unknown character' --prompt 'th!'
not_generated 'the prompt: byte 3: ' 'a prompt that is not UTF-8' --prompt $'th\xff'
not_generated 'at least one token' 'an empty prompt' --prompt ''
not_generated 'at least one token' 'no prompt'
not_generated 'none.txt' 'a prompt file that is not there' --prompt-file none.txt
refused 1 'none' 'no model' "$RAPT" generate none --prompt a
refused 1 'translat' 'a translation model' "$RAPT" generate pairs --prompt a
refused 1 'language model' 'translate with a language model' "$RAPT" translate characters text.txt
not_generated 'stop string 1 is not UTF-8' '--stop that is not UTF-8' --prompt t --stop $'\xff'
usage() { refused 2 "$1" "usage: rapt generate ${*:2}" "$RAPT" generate "${@:2}"; }
usage 'missing operand: MODEL'
usage 'one prompt' characters a b
usage 'one prompt' characters a --prompt b
usage 'one prompt' characters --prompt a --prompt-file b
usage 'max-tokens' characters --max-tokens -1
usage 'temperature' characters --temperature -0.1
usage 'temperature' characters --temperature nan
usage 'top-k' characters --top-k 1.5
usage 'top-p' characters --top-p 1.1
usage 'repetition-penalty' characters --repetition-penalty 0
usage 'presence-penalty' characters --presence-penalty 2.5
usage 'frequency-penalty' characters --frequency-penalty nan
usage 'repetition-window' characters --repetition-window x
usage 'seed' characters --seed -1
usage 'not both' characters a --seed 1 --random-seed
usage 'min-p' characters --min-p 1.5
usage 'typical-p' characters --typical-p 1.5
usage 'not with .*--typical-p' characters --beam 2 --typical-p 0.5
usage 'ID:BIAS' characters --logit-bias 3
usage 'logit-bias' characters --logit-bias x:3
usage 'logit-bias' characters --logit-bias 3:inf
usage 'stop' characters --stop ''
usage 'samples' characters --samples 0
usage 'threads' characters --threads 0
usage 'at' characters --at x
usage '--top needs --at' characters --top 3
usage 'frob' characters --frob

# ---- eval ------------------------------------------------------------------------------------------------------------ value
# KEY: a value in the JSON object of .out.
value() { sed -E "s/.*\"$1\": ([-+0-9.e]+).*/\1/" .out; }
# near A B TOLERANCE
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(d <= t && d >= -t) }'; }
evaluate() { "$RAPT" eval characters --json "$@" >.out; }
head -9 text.txt >some.txt
bytes=$(($(wc -c <some.txt) - 1))
evaluate some.txt
check 'eval --json: tokens and bytes of all but the first character' test "$(value tokens)" = \
    $(($(LC_ALL=C.UTF-8 wc -m <some.txt) - 1)) -a "$(value bytes)" = $bytes
check 'eval: perplexity is exp(loss)' near "$(value perplexity)" "$(awk -v x="$(value loss)" 'BEGIN { print exp(x) }')" 1e-3
check 'eval: bits per byte' near "$(value bits_per_byte)" \
    "$(awk -v l="$(value loss)" -v t="$(value tokens)" -v b="$(value bytes)" 'BEGIN { print l * t / b / log(2) }')" 1e-4
check 'eval: a trained model knows its text' near "$(value loss)" 0.5 0.499
"$RAPT" eval characters some.txt >.text
check 'eval: as text' grep -Eq '^loss [0-9.]+ nats a token, perplexity [0-9.]+, [0-9.]+ bits per byte$' .text
check 'eval: which file' grep -Eqx "some.txt: [0-9]+ tokens, $bytes bytes" .text

# The loss is the mean of -ln p of each next character, as --at has p.
short='the cat sat on t'
printf '%s' "$short" >short.txt
for ((i = 0; i + 1 < ${#short}; i++)); do
    "$RAPT" generate characters --prompt "$short" --at $i --top 1000 | grep -F "\"${short:i+1:1}\"" | grep -v '^after' | cut -f1
done | awk '{ sum -= log($1); n++ } END { print sum / n }' >mean
evaluate short.txt
check 'eval: a file shorter than the context' test "$(value tokens)" = 15
check 'eval: the mean of -ln p' near "$(value loss)" "$(cat mean)" 1e-2

# Windows of 16 tokens, each with the first of the next one as its last label.
printf 'the cat ate its bone and the dog sat on it an' >windows.txt
evaluate windows.txt
whole=$(value loss) sum=0
for start in 0 16 32; do
    tail -c +$((start + 1)) windows.txt | head -c 17 >window.txt
    evaluate window.txt
    sum=$(awk -v s=$sum -v l="$(value loss)" -v t="$(value tokens)" 'BEGIN { print s + l * t }')
done
check 'eval: windows one after the other' near "$whole" "$(awk -v s="$sum" 'BEGIN { print s / 44 }')" 1e-4

evaluate some.txt
cp .out some.json
for threads in 1 2 3; do
    is "eval --threads $threads" some.json "$RAPT" eval characters --json some.txt --threads $threads
done
"$RAPT" eval characters --json some.txt --weights q8_0 >q8.json
for isa in $(levels); do
    is "eval, RAPT_ISA=$isa" some.json env RAPT_ISA="$isa" "$RAPT" eval characters --json some.txt
    is "eval --weights q8_0, RAPT_ISA=$isa" q8.json env RAPT_ISA="$isa" "$RAPT" eval characters --json some.txt --weights q8_0
done
cp some.json .out
whole=$(value loss)
cp q8.json .out
check 'eval --weights q8_0: another loss' test "$(value loss)" != "$whole"
check 'eval --weights q8_0: nearly the same' near "$(value loss)" "$whole" 0.02
refused 2 "no type of weights: fp32, bf16, q8_0 or q4_0" 'unknown weights' "$RAPT" eval characters some.txt --weights q9
is 'eval --kv-cache fp32' some.json "$RAPT" eval characters --json some.txt --kv-cache fp32
for storage in bf16 q8_0; do
    "$RAPT" eval characters --json some.txt --kv-cache $storage --threads 1 >kv.json
    for isa in $(levels); do
        is "eval --kv-cache $storage, RAPT_ISA=$isa" kv.json env RAPT_ISA="$isa" "$RAPT" eval characters --json some.txt \
            --kv-cache $storage --threads 3
    done
    cp kv.json .out
    check "eval --kv-cache $storage: another loss" test "$(value loss)" != "$whole"
    check "eval --kv-cache $storage: nearly the same" near "$(value loss)" "$whole" 0.01
done
for command in eval generate; do
    refused 2 "kv-cache: 'q4' is none of fp32, bf16, q8_0" "unknown storage, $command" "$RAPT" $command characters some.txt --kv-cache q4
done
evaluate some.txt short.txt
check 'eval: two files' test "$(wc -l <.out)" = 2
printf 'ab' >two.txt
evaluate two.txt
check 'eval: two characters are one token to guess' test "$(value tokens)" = 1 -a "$(value bytes)" = 1
printf 'a\xff' >bad.txt
: >empty.txt
printf 'a' >one.txt
printf 'the !' >unknown.txt
eval_refused() { refused "$1" "$2" "eval: $3" "$RAPT" eval "${@:4}"; }
eval_refused 1 'empty.txt: the file is empty' 'empty file' characters empty.txt
eval_refused 1 'one.txt: a text of one token' 'one character' characters one.txt
eval_refused 1 'bad.txt: byte 2' 'not UTF-8' characters bad.txt
eval_refused 1 'unknown.txt: byte 5: character U\+0021' 'unknown character' characters unknown.txt
eval_refused 1 'none.txt' 'missing file' characters none.txt
eval_refused 1 'Is a directory' 'a folder' characters "$WORK"
eval_refused 2 '--beam is for translation' 'an option for pairs' characters some.txt --beam 2
eval_refused 2 '--limit is for translation' 'another one' characters some.txt --limit 2
check 'eval --loss-only: nothing else comes anyway' "$RAPT" eval characters some.txt --loss-only
eval_refused 1 'bad.txt: byte 2' 'not UTF-8, where tokens are bytes' bpe bad.txt
"$RAPT" eval bpe text.txt --json >.out
check 'eval: pairs of bytes are fewer tokens' test "$(value tokens)" -lt "$(value bytes)"
check 'eval: bits per byte of them' near "$(value bits_per_byte)" \
    "$(awk -v l="$(value loss)" -v t="$(value tokens)" -v b="$(value bytes)" 'BEGIN { print l * t / b / log(2) }')" 1e-4

# A text beyond 64 MB goes through a temporary file; a pipe never does. Words that are one token each make it short.
if [ "$SANITIZED" ]; then skip 'eval: a large text (too slow with sanitizers)'; else
    line=$(printf 'a%.0s' {1..255})
    yes "$line $line" | head -80 >words.txt
    "$RAPT" train bpe.yaml --quiet --out words --set data.text=words.txt --set train.steps=5 --set data.validation_fraction=0 \
        --set model.layers=1 --set model.d_model=16 --set model.ffn=16
    yes "$line $line" | head -c 67200000 >large.txt
    mkdir temporary
    TMPDIR=$WORK/temporary "$RAPT" eval words large.txt --json >large.json
    cat large.txt | "$RAPT" eval words /dev/stdin --json >.out
    check 'eval: a large text is really large' test "$(wc -c <large.txt)" -gt $((64 << 20))
    check 'eval: a large text and a pipe agree' cmp <(sed 's/"data": "[^"]*"//' large.json) <(sed 's/"data": "[^"]*"//' .out)
    check 'eval: no temporary file is left' test -z "$(ls temporary)"
    refused 1 'cannot make the temporary folder .*nowhere' 'eval: no place for a temporary file' \
        env TMPDIR=$WORK/nowhere "$RAPT" eval words large.txt
fi
finish
