#!/bin/bash
# tests/windows/console.sh: Ctrl-C in a console ends a program that waits for a line, with the status that Linux has, and without
# an error about the reading. For tools/windows_tests.sh, under Wine, whose console is a terminal of `script`.
. "$(dirname "$0")/../cli/lib.sh"
make_inputs
train model
# typed SECONDS COMMAND: types a line, and Ctrl-C after its answer.
typed() {
    (sleep "$1" && printf 'I see the sea.\r' && sleep "$1" && printf '\003' && sleep "$1") | timeout 60 script -qec "$2" /dev/null >.out 2>&1
}
typed 4 "'$RAPT' translate model --quiet"
check 'Ctrl-C ends translate with 130' test $? = 130
check 'which has translated the line' grep -aqF "$("$NATIVE" translate model --text 'I see the sea.' --quiet)" .out
check 'it says nothing about that' sh -c '! grep -q "rapt: " .out'
finish
