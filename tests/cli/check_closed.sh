#!/bin/bash
# check_closed.sh: programs that start rapt may have closed descriptors 0, 1 and 2: no file of rapt's may get their numbers, or
# what is printed lands in it. Each subset of them, closed, for commands that train, translate and serve.
source "$(dirname "$0")/lib.sh"
make_inputs
make_text >text.txt
make_text_recipe characters >lm.yaml
train_text() { "$RAPT" train lm.yaml --set train.steps=20 --out "$1"; }
{ train_text whole && train whole-pairs; } >.train 2>&1 || { echo "cannot train the models"; cat .train; exit 1; }
cut -f1 pairs.tsv | head -20 >lines.txt
"$RAPT" translate whole-pairs lines.txt >whole.txt

# without DIGITS COMMAND...: runs it with these descriptors closed, and the others at files.
cat >without <<'SH'
#!/bin/bash
closed=$1
shift
exec <lines.txt >.out 2>.err
case $closed in *0*) exec 0<&- ;; esac
case $closed in *1*) exec 1>&- ;; esac
case $closed in *2*) exec 2>&- ;; esac
exec "$@"
SH
chmod +x without

for closed in 0 1 2 01 02 12 012; do
    ./without $closed timeout 120 "$RAPT" train lm.yaml --set train.steps=20 --out "model-$closed"
    check "train without $closed: status 0" test $? = 0
    check 'and the same model' same_model whole "model-$closed"
    ./without $closed timeout 120 "$RAPT" translate whole-pairs lines.txt
    status=$?
    case $closed in
    *1*) check "translate without $closed: its results cannot be written" test $status = 1 ;;
    *) check "translate without $closed" cmp whole.txt .out ;;
    esac
    case $closed in *2*) ;; *1*) check 'which it says' grep -q '^rapt: .*Bad file descriptor' .err ;; esac
    ./without $closed timeout 120 "$RAPT" translate whole-pairs
    status=$?
    case $closed in
    *0*) check "translate of standard input, without $closed: it cannot be read" test $status = 1 ;;
    *1*) ;;
    *) check "translate of standard input, without $closed" cmp whole.txt .out ;;
    esac
done
check 'nothing of the corpus is written to' test "$(make_text | cksum)" = "$(cksum <text.txt)"

[ -e "$(dirname "$RAPT")/rapt_serve.so" ] || { skip 'servers: this build has no libmicrohttpd'; finish; }
command -v curl >/dev/null || { skip 'servers: curl is not installed'; finish; }
for closed in 0 1 2 01 02 12 012; do
    ./without $closed "$RAPT" serve whole-pairs --host "unix:$WORK/socket-$closed" &
    server=$!
    for ((i = 0; i < 600; i++)); do
        # The socket has its name before the server listens on it.
        curl -sf --max-time 60 --unix-socket "socket-$closed" http://localhost/health >.health && break
        sleep 0.1
    done
    for i in 1 2 3; do
        curl -s --max-time 60 --unix-socket "socket-$closed" http://localhost/health
    done >.health
    check "serve without $closed: three answers" test "$(grep -o '"ok"' .health | wc -l)" = 3
    check 'it still runs' kill -0 $server
    kill -TERM $server
    wait $server
    status=$?
    case $closed in
    *1*) check 'and ends when it is told; its one line could not be written' test $status = 1 ;;
    *) check 'and ends when it is told' test $status = 0 ;;
    esac
done
finish
