#!/bin/bash
# tests/decode/check_threads.sh: examples/threads.c: any number of threads with one model and a translator each say what
# `rapt translate` says; a bad line is an error of the whole, and Ctrl-C ends it.
# labels: not-emulated
. "$(dirname "$0")/../cli/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
threads=$BUILD/examples/threads
[ -x "$threads" ] || { echo "no program at $threads; \`make examples\` builds it"; exit 1; }
make_inputs
train model --set train.steps=100 || { echo 'cannot train the model'; exit 1; }
cut -f1 pairs.tsv >lines.txt # 240 lines, in batches of 16
"$RAPT" translate model lines.txt --beam 4 --length-penalty 0.6 >wanted
check 'several different translations' test "$(sort -u wanted | wc -l)" -gt 20
for count in 1 3 8; do
    "$threads" model $count <lines.txt >got 2>err
    check "$count threads: status 0, nothing on stderr" test $? = 0 -a ! -s err
    check "$count threads: the translations" cmp wanted got
done
"$threads" model 4 </dev/null >got
check 'no lines' test $? = 0 -a ! -s got

(cat lines.txt; printf 'see \xff the moon .\n'; cat lines.txt) >bad.txt
"$threads" model 4 <bad.txt >got 2>err
check 'a line that is not UTF-8: status 1 and one line' test $? = 1 -a ! -s got -a "$(wc -l <err)" = 1
check 'which names the cause' grep -q 'UTF-8' err
"$threads" nowhere 4 <lines.txt >got 2>err
check 'no model: status 1' test $? = 1 -a ! -s got
check 'no model: says so' grep -q nowhere err
"$threads" model 0 <lines.txt >got 2>err
check 'no threads: wrong usage' test $? = 2 -a ! -s got

for i in {1..40}; do cat lines.txt; done >long.txt # seconds of work, with plain C
RAPT_ISA=scalar timeout --foreground -s INT 0.4 "$threads" model 2 <long.txt >got 2>err
check 'Ctrl-C: no result' test ! -s got
check 'Ctrl-C: says so, unless it came before the handler' sh -c "[ ! -s err ] || grep -qx 'the translation was cancelled' err"
finish
