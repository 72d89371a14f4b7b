#!/bin/bash
# check_fetch.sh: `rapt fetch` from a server on this machine (server.py): whole, cut, resumed, moved and wrong files, and no
# server at all. What the files are is known from the data sets beside the project; without them only failures are tried.
source "$(dirname "$0")/lib.sh"
DATA=${RAPT_SHARED:+$RAPT_SHARED/data}
[ -d "$DATA" ] && DATA=$(realpath "$DATA")
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

check '--list names the sets' test "$("$RAPT" fetch --list | wc -l)" = 7
check '--list NAME names files' test "$("$RAPT" fetch multi30k --list | grep -c '^data/multi30k/.* bytes$')" = 18
check '--list NAME names sums' test "$("$RAPT" fetch multi30k --list | grep -Ec '^    sha256 [0-9a-f]{64}$')" = 18
check '--list NAME names URLs' test "$("$RAPT" fetch multi30k --list | grep -c '^    https://')" = 18
"$RAPT" fetch r50k_base --list --dir d --from http://m/x/ >list
check '--list with a mirror' grep -qx '    http://m/x/r50k_base.tiktoken' list
for set in $("$RAPT" fetch --list | cut -d' ' -f1); do
    "$RAPT" fetch "$set" --list | sed -n 's/^\(data.*\)  [0-9]* bytes$/\1/p'
done | sort >places
grep -oh '\.\./data/[^: ]*' "$SOURCE"/recipes/*.yaml | sed 's|^\.\./||' | grep -vxE 'data/(en-(fr|zh).tsv|(conversations|preferences).jsonl)' | sort -u >wanted
check 'recipes look where the files are put' test "$(wc -l <wanted)" -ge 13 -a -z "$(comm -13 places wanted)"
refused 2 'missing operand: NAME' 'no name' "$RAPT" fetch
refused 2 "no 'multi20k'; did you mean 'multi30k'" 'a name that is nearly one' "$RAPT" fetch multi20k
refused 2 'takes one name' 'two names' "$RAPT" fetch multi30k fra-eng

if [ ! -e "$(dirname "$RAPT")/rapt_fetch.so" ]; then
    refused 1 'this rapt cannot fetch.*r50k_base.tiktoken yourself.*rapt fetch r50k_base --list' 'a build without libcurl' \
        "$RAPT" fetch r50k_base
    skip 'downloads: this build has none of the libraries'
    finish
fi
command -v python3 >/dev/null || { skip 'downloads: no python3 for a server'; finish; }

mkdir served
: >requests
python3 "$SOURCE/tests/cli/server.py" "$WORK/served" >>requests 2>server.err &
server=$!
trap 'kill "$server" 2>/dev/null; clean_up' EXIT
for _ in {1..500}; do
    read -r port <requests && break
    sleep 0.02
done
host=http://127.0.0.1:$port
last_request() { tail -1 requests; }

# ---- failures ------------------------------------------------------------------------------------------------------
hint='or put it at data/r50k_base/r50k_base.tiktoken yourself: see `rapt fetch r50k_base --list`$'
refused 1 "cannot fetch http://127.0.0.1:1/r50k_base.tiktoken: .*onnect.*; $hint" 'no server' \
    "$RAPT" fetch r50k_base --from http://127.0.0.1:1
check 'nothing came, nothing is left' test ! -e data
mkdir data
check 'nor is the folder of a folder' eval '! "$RAPT" fetch r50k_base --from http://127.0.0.1:1 && test -d data -a ! -e data/r50k_base'
rmdir data
refused 1 "cannot fetch $host/files/r50k_base.tiktoken: .*404; $hint" 'a server without the file' \
    "$RAPT" fetch r50k_base --from "$host/files"
refused 1 "cannot fetch $host/files/train.en.gz: .*404.*; or put it, unpacked, at d/train.en yourself: see .rapt fetch multi30k --list --dir d.$" 'nor one that is packed' \
    "$RAPT" fetch multi30k --dir d --from "$host/files"
if script -qec true /dev/null >/dev/null 2>&1; then
    for kind in dumb xterm; do
        TERM=$kind script -qec "'$RAPT' fetch r50k_base --from '$host/files'" /dev/null >".$kind" 2>&1 </dev/null
    done
    check 'a terminal that cannot erase a line gets no escapes, another one does' \
        eval 'grep -q 404 .dumb && ! grep -q "$(printf "\033")" .dumb && grep -q "$(printf "\033")" .xterm'
else
    skip 'progress on a terminal (script)'
fi
refused 1 "cannot fetch http://no-such-host.invalid/r50k_base.tiktoken: .*resolve.*; $hint" 'no such host' \
    "$RAPT" fetch r50k_base --from http://no-such-host.invalid
refused 1 'cannot fetch gopher://x/r50k_base.tiktoken: .*; or put' 'another protocol' "$RAPT" fetch r50k_base --from gopher://x
echo 'IQ== 0' >served/r50k_base.tiktoken
sum=$(sha256sum <served/r50k_base.tiktoken | cut -d' ' -f1)
refused 1 "$host/files/r50k_base.tiktoken does not hold r50k_base.tiktoken: the sha256 of what came is $sum, not 306cd27f03c1a7" \
    'a wrong file' "$RAPT" fetch r50k_base --dir wrong --from "$host/files"
check 'nothing of it is left' test ! -e wrong
refused 1 'does not hold r50k_base.tiktoken: it sends more than 1736644 bytes$' 'a server that does not end' \
    "$RAPT" fetch r50k_base --dir wrong --from "$host/more"
check 'nothing of it is left' test ! -e wrong
head -c 900000 /dev/zero >served/r50k_base.tiktoken
refused 1 'does not hold r50k_base.tiktoken, but something of more than its 835554 bytes$' 'a larger file' \
    "$RAPT" fetch r50k_base --dir wrong --from "$host/files"
refused 1 'cannot write small/r50k_base.tiktoken.part: File too large$' 'no room for it: that is not the place of the server' \
    bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' - "$RAPT" fetch r50k_base --dir small --from "$host/files"
echo 'IQ== 0' >served/r50k_base.tiktoken
refused 1 'cannot make folder /proc/none: No such file or directory$' 'a folder that cannot be made' \
    "$RAPT" fetch r50k_base --dir /proc/none --from "$host/files"
refused 2 "'/media/stick' is not a URL; of a folder it is file:// and" 'a folder that is no URL' "$RAPT" fetch r50k_base --from /media/stick
long=$(printf 'long/%.0s' {1..60})
refused 1 "; or put it at ${long}r50k_base.tiktoken yourself: see .rapt fetch r50k_base --list --dir $long.$" 'a long name, whole' \
    "$RAPT" fetch r50k_base --dir "$long" --from http://127.0.0.1:1
check 'whose folders are gone' test ! -e long
refused 1 'cannot fetch .*; or put' 'a redirection to a file of this machine' "$RAPT" fetch r50k_base --dir wrong --from "$host/away"
mkdir there
cp served/r50k_base.tiktoken there
refused 1 "there/r50k_base.tiktoken is there, but is another file: its sha256 is $sum, not 306cd27f03c1a7" \
    'another file at its place' "$RAPT" fetch r50k_base --dir there --from "$host/files"
check 'it stays' cmp served/r50k_base.tiktoken there/r50k_base.tiktoken
echo 'no archive' >served/fra-eng.zip
refused 1 'cannot unpack zip/fra-eng.zip.part' 'a zip that is none' "$RAPT" fetch fra-eng --dir zip --from "$host/files"
check 'nothing of it is left' test ! -e zip
: >blocked
refused 1 'blocked' 'a folder that is a file' "$RAPT" fetch r50k_base --dir blocked --from "$host/files"

if [ ! -d "$DATA" ]; then
    skip 'what succeeds: no data sets beside the project'
    finish
fi

# ---- whole files ---------------------------------------------------------------------------------------------------
for where in multi30k:multi30k tiny-shakespeare:tinyshakespeare fra-eng:fra-eng sales-textbook:sales_textbook \
    cl100k_base:tokenizers o200k_base:tokenizers r50k_base:tokenizers; do
    check "${where%:*}: the files beside the project are those" "$RAPT" fetch "${where%:*}" --dir "$DATA/${where#*:}"
done
ranks=$DATA/tokenizers/r50k_base.tiktoken
cp "$ranks" served
check 'a file' "$RAPT" fetch r50k_base --from "$host/files"
check 'is the file, in data/NAME' cmp "$ranks" data/r50k_base/r50k_base.tiktoken
check 'and nothing else' test "$(ls data/r50k_base)" = r50k_base.tiktoken
count=$(wc -l <requests)
"$RAPT" fetch r50k_base --from "$host/files" >again
check 'a second time it was there' grep -q 'data/r50k_base/r50k_base.tiktoken  835.6 kB  was there, and is right' again
check 'and nobody was asked' test "$(wc -l <requests)" = "$count"
check 'a file that has moved' "$RAPT" fetch r50k_base --dir moved --from "$host/moved"
check 'is the file' cmp "$ranks" moved/r50k_base.tiktoken
check 'from a folder' "$RAPT" fetch r50k_base --dir folder --from "file://$WORK/served"
check 'is the file' cmp "$ranks" folder/r50k_base.tiktoken

# ---- cut and resumed -----------------------------------------------------------------------------------------------
size=$(wc -c <"$ranks")
refused 1 "cannot fetch $host/cut/r50k_base.tiktoken: .*; or put" 'a connection that ends' \
    "$RAPT" fetch r50k_base --dir cut --from "$host/cut"
check 'half of it is kept' test "$(ls cut) $(wc -c <cut/r50k_base.tiktoken.part)" = "r50k_base.tiktoken.part $((size / 2))"
check 'the same command goes on' "$RAPT" fetch r50k_base --dir cut --from "$host/files"
check 'it asked for the rest' test "$(last_request)" = "/files/r50k_base.tiktoken $((size / 2))"
check 'that is the file' cmp "$ranks" cut/r50k_base.tiktoken
check 'and nothing else' test "$(ls cut)" = r50k_base.tiktoken
mkdir whole full odd
head -c 1000 "$ranks" >whole/r50k_base.tiktoken.part
check 'a server that sends all of it again' "$RAPT" fetch r50k_base --dir whole --from "$host/whole"
check 'that is the file' cmp "$ranks" whole/r50k_base.tiktoken
cp "$ranks" full/r50k_base.tiktoken.part
check 'nothing was missing but the end' "$RAPT" fetch r50k_base --dir full --from "$host/files"
check 'that is the file' cmp "$ranks" full/r50k_base.tiktoken
head -c 1000 /dev/zero >odd/r50k_base.tiktoken.part
check 'what was there is of another file: all is fetched again' "$RAPT" fetch r50k_base --dir odd --from "$host/files"
check 'after the rest' test "$(tail -2 requests | cut -d' ' -f2 | tr '\n' ' ')" = '1000 0 '
check 'that is the file' cmp "$ranks" odd/r50k_base.tiktoken
check 'and nothing else' test "$(ls odd)" = r50k_base.tiktoken
mkdir locked
exec 9>>locked/r50k_base.tiktoken.part
flock 9
refused 1 'another process is fetching it' 'two at once' "$RAPT" fetch r50k_base --dir locked --from "$host/files"
exec 9>&-

# ---- packed files --------------------------------------------------------------------------------------------------
for name in train val test_2016_flickr; do
    for language in en de fr; do
        gzip -nc "$DATA/multi30k/$name.$language" >"served/$name.$language.gz"
        cp "$DATA/multi30k/tok/$name.lc.norm.tok.$language" served
    done
done
"$RAPT" fetch multi30k --dir multi30k --from "$host/files" >fetched
check 'multi30k: 18 files, nine of them unpacked' test "$(grep -c 'fetched$' fetched)" = 18
check 'they are the files' diff -r "$DATA/multi30k" multi30k
rm multi30k/val.de
truncate -s -9 served/val.de.gz
refused_first() { ! "$RAPT" fetch multi30k --dir multi30k --from "$host/files" >out 2>err && grep -q "$1" err; }
check 'a gz without its end' refused_first 'val.de'
check 'is no file' test ! -e multi30k/val.de
python3 - "$DATA/fra-eng" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile("served/fra-eng.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
    z.write(sys.argv[1] + "/_about.txt", "_about.txt")
    z.write(sys.argv[1] + "/fra.txt", "fra-eng/fra.txt")
PYTHON
check 'a file of a zip' "$RAPT" fetch fra-eng --dir fra --from "$host/files"
check 'is the file' cmp "$DATA/fra-eng/fra.txt" fra/fra.txt
check 'the server had nothing to complain of' test ! -s server.err
finish
