#!/bin/bash
# tests/base/check_script_help.sh: every script that people run says with --help what its comment says, from any folder, and does
# nothing else: it writes no file, and ends well.
# labels: not-sanitized not-emulated
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0 root=$PWD
elsewhere=$(mktemp -d) && cd "$elsewhere" || exit 1
trap 'rm -rf "$elsewhere"' EXIT
for script in "$root"/{tools,tools/cluster,bench,bench/smpi,docs/book,docs/tutorials}/*.sh "$root/test"; do
    [ -x "$script" ] || continue # others are sourced
    said=$(timeout 20 "$script" --help 2>&1)
    if [ $? = 0 ] && [ "${said%%$'\n'*}" = "$(sed -n '2s/^# //p' "$script")" ] && [ -z "$(ls)" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL  ${script#"$root/"} --help: ${said%%$'\n'*}"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 40 ]
