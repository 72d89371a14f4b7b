#!/bin/sh
# tests/ops/check_table.sh: every operation that rapt/tape.h declares has a row in ops_table.h, and no row names
# anything else. Usage, from the root: check_table.sh [TAPE_H OPS_TABLE_H]
# labels: not-sanitized not-emulated
tape_h=${1:-include/rapt/tape.h} table_h=${2:-tests/ops/ops_table.h}
declared=$(sed -n '/---- operations ----/,$p' "$tape_h" | grep -oE '^(RAPT_API )?(rapt_tensor \*|void )rapt_[a-z0-9_]*\(' |
    sed 's/.*[* ]//; s/(//' | grep -v '^rapt_tape_' | sort -u)
tested=$(grep -o 'X(rapt_[a-z0-9_]*' "$table_h" | sed 's/X(//' | sort -u)
status=0
[ "$(echo "$declared" | wc -l)" -ge 10 ] || { echo "found hardly any operation in $tape_h"; exit 1; }
for op in $declared; do
    echo "$tested" | grep -qx "$op" || { echo "$op has no row in $table_h"; status=1; }
done
for op in $tested; do
    echo "$declared" | grep -qx "$op" || { echo "$op is no operation of $tape_h"; status=1; }
done
[ $status = 0 ] && echo "$(echo "$declared" | wc -l) operations, all in the table"
exit $status
