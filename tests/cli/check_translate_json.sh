#!/bin/bash
# check_translate_json.sh: `rapt translate --json`: an object for each line, with the members, to the byte, that the server has for
# the same text.
# labels: not-emulated
. "$(dirname "$0")/lib.sh"
make_inputs
train model --set train.steps=60 || { echo "cannot train the model"; exit 1; }
printf 'I see the house.\nyou like zebras.\n\n' >lines

"$RAPT" translate model lines --quiet >text
"$RAPT" translate model lines --quiet --json >json
check 'an object for each line' test "$(grep -c '^{"line":' json)" = 3
check 'with the text that is printed else' diff text <(sed 's/^{"line":[0-9]*,"text":"\([^"]*\)".*/\1/' json)
check 'and unknown words' grep -q '^{"line":2,.*"unknown_words":\["zebras"\]' json
"$RAPT" translate model lines --quiet --beam 3 --n-best 2 >best
"$RAPT" translate model lines --quiet --beam 3 --n-best 2 --json >json
check 'all hypotheses with their scores' diff <(head -4 best | cut -f2) \
    <(grep -o '"score":[^,]*' json | head -4 | cut -d: -f2 | xargs printf '%.4f\n')
"$RAPT" translate model lines --quiet --alignment hard | cut -f2 | head -1 >links
"$RAPT" translate model lines --quiet --alignment hard --json >json
check 'the alignment' test "$(head -1 json | grep -o '"alignment":\[\[.*\]\]' | grep -o '[0-9][0-9]*,[0-9][0-9]*' | tr ',\n' '- ')" = "$(cat links) "
refused 2 '--alignment words is for text' 'words have no form there' "$RAPT" translate model lines --json --alignment words

if [ ! -e "$(dirname "$RAPT")/rapt_serve.so" ] || ! command -v curl >/dev/null; then
    skip 'the object of the server: this build has no libmicrohttpd, or curl is not installed'
    finish
fi
"$RAPT" serve model --host "unix:$WORK/socket" >served.log 2>&1 &
server=$!
for ((i = 0; i < 600; i++)); do
    curl -sf --max-time 60 --unix-socket socket http://localhost/health >.health && break # its name is there before it listens
    sleep 0.1
done
for kind in hard soft; do
    curl -s --max-time 60 --unix-socket socket http://localhost/v1/translate -H 'Content-Type: application/json' -d '{"texts": [
        "I see the house.", "you like zebras.", ""], "tokens": true, "alignment": "'$kind'", "beam": 3, "n_best": 2}' >served
    "$RAPT" translate model lines --json --tokens --alignment $kind --beam 3 --n-best 2 --quiet >json
    check "the server's objects, with alignment $kind" diff <(sed 's/^{"line":[0-9]*,/{/' json | paste -sd,) \
        <(sed 's/.*"translations":\[//; s/\]}$//' served; echo)
done
kill -TERM $server
wait $server
finish
