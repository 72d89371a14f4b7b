#!/bin/bash
# tests/cli/check_stream.sh: `rapt translate` answers before its input ends, holds no large input as a whole, and leaves
# whole lines where something goes wrong later. What it says is compared with what it says line by line.
# labels: not-emulated
. "$(dirname "$0")/lib.sh"
make_inputs
train model --set train.steps=200 || { echo "cannot train the model"; exit 1; }
translate() { "$RAPT" translate model "$@"; }
cut -f1 pairs.tsv >lines.txt
while read -r line; do echo "$line" | translate; done < <(head -20 lines.txt) >alone.out

# await FILE COUNT: waits until a file has COUNT lines; fails after 20 seconds.
await() {
    local i
    for ((i = 0; i < 1000; i++)); do
        [ "$(wc -l <"$1")" -ge "$2" ] && return 0
        sleep 0.02
    done
    return 1
}

# ---- answers before the input ends ---------------------------------------------------------------------------------
mkfifo in
for from in in -; do
    : >out
    if [ "$from" = - ]; then translate - <in >out 2>err & else translate in >out 2>err & fi
    job=$!
    exec 3>in
    sed -n 1p lines.txt >&3
    check "$from: the first line is answered while the input is open" await out 1
    check "$from: by a program that still runs" kill -0 "$job"
    check "$from: with its translation" cmp <(head -1 alone.out) out
    printf '%s' "$(sed -n 2p lines.txt | head -c 3)" >&3
    sleep 0.1
    check "$from: half a line is waited for" test "$(wc -l <out)" = 1
    { sed -n 2p lines.txt | tail -c +4; sed -n 3,20p lines.txt; } >&3
    check "$from: what comes together is answered together" await out 20
    exec 3>&-
    wait "$job"
    check "$from: success at its end" test $? = 0
    check "$from: the translations of the lines alone" cmp alone.out out
done

# ---- blocks --------------------------------------------------------------------------------------------------------
translate lines.txt >whole.out
check 'as line by line' cmp alone.out <(head -20 whole.out)
for i in {1..30}; do cat lines.txt; done >many.txt
for i in {1..30}; do cat whole.out; done >many.out
for options in '' '--batch 1' '--batch 7' '--batch 64 --threads 3'; do
    translate $options many.txt >got.out
    check "7,200 lines in blocks${options:+, $options}" cmp many.out got.out
done
translate --batch 2 --beam 2 --n-best 2 many.txt >got.out # blocks of 128 lines
check 'n-best counts on over blocks' test "$(cut -f1 got.out | uniq | tail -1)" = 7200
translate < <(cat many.txt) >got.out
check 'a pipe' cmp many.out got.out
{ head -64 lines.txt; printf '\xef\xbb\xbfthe moon\n'; } >mark.txt
translate --batch 1 mark.txt >mark.1
translate --batch 64 mark.txt >mark.64
check 'a byte order mark is dropped at the start only' cmp mark.1 mark.64
head -c -1 many.txt | tr '\n' '\r' | sed 's/\r/\r\n/g' >crlf.txt
translate crlf.txt >got.out
check 'CRLF, and no newline at the end' cmp many.out got.out
if [ -n "$SANITIZED" ]; then
    skip 'a text larger than the memory (sanitizers take terabytes of addresses)'
else
    wide() { yes "$(printf '%100000s' 'the moon')" | head -1200; } # 120 MB, mostly spaces
    echo 'the moon' | translate >moon.out
    (ulimit -v 110000; wide | translate --threads 1 >got.out 2>err)
    check 'a text larger than the memory' test $? = 0
    check 'a line for each' test "$(uniq -c got.out | sed 's/^ *//')" = "1200 $(cat moon.out)"
fi

# ---- what goes wrong later -----------------------------------------------------------------------------------------
{ head -4999 many.txt; printf 'the \xff moon\n'; cat lines.txt; } >bad.txt
for options in '' '--batch 1' '--batch 64 --threads 3'; do
    translate $options bad.txt >got.out 2>err
    check "invalid UTF-8 in line 5000${options:+, $options}: status 1" test $? = 1
    check 'the line and the byte are named' grep -Fqx \
        'rapt: bad.txt:5000: byte 5 of the line (0xff) is not valid UTF-8' err
    check 'the lines before it are there' cmp <(head -4999 many.out) got.out
done
{ head -3 lines.txt; printf 'the \0 moon\n'; } | translate >got.out 2>err
check 'a NUL from a pipe' grep -Fqx 'rapt: standard input:4: byte 5 of the line (0x00) is a NUL' err
check 'three lines before it' cmp <(head -3 whole.out) got.out
translate "$WORK" >got.out 2>err
check 'a folder' grep -q '^rapt: cannot read .*: Is a directory$' err

translate many.txt >/dev/full 2>err
check 'a full disk: status 1' test $? = 1
check 'and why' grep -Eqx 'rapt: cannot print .* lines 1 to 4096 of many.txt: No space left on device' err
(
    trap '' XFSZ
    ulimit -f 10 # kB
    translate --batch 1 many.txt >got.out 2>err
)
check 'a file that may not grow: status 1' test $? = 1
check 'and why' grep -q '^rapt: cannot print .*: File too large$' err
lines=$(wc -l <got.out)
check 'whole lines are left' test -s got.out -a "$(tail -c 1 got.out | od -An -c | tr -d ' ')" = '\n'
check 'and these are the first' cmp <(head -"$lines" many.out) got.out
check 'as many as fit' test "$(head -$((lines + 1)) many.out | wc -c)" -gt 10240
echo before >got.out
(
    trap '' XFSZ
    ulimit -f 1
    translate many.txt >>got.out 2>err
)
check 'what was in the file stays' test "$(head -1 got.out)" = before
check 'and whole lines follow' cmp <(head -$(($(wc -l <got.out) - 1)) many.out) <(tail -n +2 got.out)
translate many.txt 2>err | head -1 >got.out
check 'a reader that goes away is no message' test ! -s err
check 'and has got its line' cmp <(head -1 whole.out) got.out
finish
