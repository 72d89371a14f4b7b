#!/bin/bash
# tests/base/check_script_help.sh: every script of the folders below says with --help what its comment says, from any folder, and
# does nothing else: it ends well, and the checkout has no file more.
# labels: not-sanitized not-emulated
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0 root=$PWD
elsewhere=$(mktemp -d) && cd "$elsewhere" || exit 1
trap 'rm -rf "$elsewhere"' EXIT
touch before
comment() { sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$1"; }
for script in "$root"/{tools,tools/cluster,bench,bench/smpi,docs/book,docs/tutorials}/*.sh "$root/test"; do
    [ -x "$script" ] || continue # others are sourced
    said=$(timeout 20 "$script" --help 2>&1)
    if [ $? = 0 ] && [ "$said" = "$(comment "$script")" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL  ${script#"$root/"} --help: ${said%%$'\n'*}"
    fi
done
written=$(find "$elsewhere" "$root"/{tools,bench,recipes,models,dist} \
    -newer before -type f ! -path "$elsewhere/before" 2>/dev/null)
if [ -z "$written" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL  they write: $written"; fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 40 ]
