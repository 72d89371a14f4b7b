#!/bin/bash
# tests/train/check_ranks.sh: examples/ranks.c: any number of ranks, which are threads, train what `rapt train` trains alone; a
# failure has one message.
. "$(dirname "$0")/../cli/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
ranks=$BUILD/examples/ranks
[ -x "$ranks" ] || { echo "no program at $ranks; \`make examples\` builds it"; exit 1; }
make_inputs
sed 's/steps: 120/steps: 40\n  accumulate: 4\n  shards: 4/' tiny.yaml >four.yaml
"$RAPT" train four.yaml --quiet --out alone || { echo 'cannot train the model'; exit 1; }
for count in 1 2 3 4; do
    "$ranks" four.yaml ranks-$count $count >got 2>err
    check "$count ranks: status 0, nothing on stderr" test $? = 0 -a ! -s err
    check "$count ranks: two reports" test "$(grep -c '^step [24]0: loss ' got)" = 2
    check "$count ranks: the model of one process" same_model alone ranks-$count
    check "$count ranks: its checkpoints" same_parameters alone/checkpoints/step-*40.safetensors ranks-$count/checkpoints/step-*40.safetensors
done
"$ranks" four.yaml five 5 >got 2>err
check 'more ranks than shards: status 1 and one line' test $? = 1 -a "$(wc -l <err)" = 1
check 'which names the key' grep -q 'train.shards' err
check 'nothing is written' test ! -e five
"$ranks" none.yaml none 2 >got 2>err
check 'no recipe: says so' grep -q none.yaml err
"$ranks" four.yaml none 0 >got 2>err
check 'no ranks: wrong usage' test $? = 2

# Conversations, which each rank reads and renders.
cp -r "$SOURCE/tests/golden/hub/llama" m
echo '{% for m in messages %}<|begin|>{{ m.content }}<|end|>{% endfor %}' >m/chat_template.jinja
for word in red green blue black white; do
    echo "{\"messages\": [{\"role\": \"user\", \"content\": \"$word?\"}, {\"role\": \"assistant\", \"content\": \"$word!\"}]}"
done >talks.jsonl
cat >talks.yaml <<'YAML'
task: language_model
data: {conversations: talks.jsonl, validation_fraction: 0}
train: {init: m, steps: 10, batch: 1, accumulate: 4, shards: 4}
YAML
"$RAPT" train talks.yaml --quiet --out talks || { echo 'cannot tune the model'; exit 1; }
"$ranks" talks.yaml talks-3 3 >got 2>err
check '3 ranks tune the model of one process' same_model talks talks-3
sed 's/fraction: 0}/fraction: 0, pack: true}/' talks.yaml >packed.yaml
echo 'model: {context: 30}' >>packed.yaml
"$RAPT" train packed.yaml --quiet --out packed || { echo 'cannot tune the model'; exit 1; }
"$ranks" packed.yaml packed-3 3 >got 2>err
check '3 ranks: in packed batches, too' same_model packed packed-3

# Preferences: each rank computes the reference.
for word in red green blue black white; do
    echo "{\"prompt\": \"$word?\", \"chosen\": \" $word!\", \"rejected\": \" no\"}"
done >pairs.jsonl
sed 's/conversations: talks.jsonl, validation_fraction: 0/preferences: pairs.jsonl, validation: pairs.jsonl/' talks.yaml >pairs.yaml
"$RAPT" train pairs.yaml --quiet --out pairs || { echo 'cannot tune the model'; exit 1; }
"$ranks" pairs.yaml pairs-3 3 >got 2>err
check '3 ranks tune on preferences as one process does' same_model pairs pairs-3
check '3 ranks: its rewards' test "$(grep -o '"[a-z_]*reward[^,]*' pairs/train.jsonl)" = "$(grep -o '"[a-z_]*reward[^,]*' pairs-3/train.jsonl)"
finish
