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
finish
