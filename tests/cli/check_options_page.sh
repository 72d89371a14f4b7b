#!/bin/bash
# tests/cli/check_options_page.sh: docs/options.md names keys of recipes and options of commands that exist, and has no "no" where
# rapt has an option of the very name.
# labels: not-sanitized not-emulated
. "$(dirname "$0")/lib.sh"
page=$SOURCE/docs/options.md
# Columns: TOOL<tab>RAPT, of rows of tables only.
awk -F ' *[|] *' '/^\|/ && !/^\| ---/ && $3 != "rapt" { print $2 "\t" $3 }' "$page" >rows.txt
check 'there are tables' test "$(wc -l <rows.txt)" -gt 80
"$RAPT" train --help-recipe >keys.txt
has() { # "COMMAND...", "COMMAND... --OPTION" or a key
    local words option=
    read -ra words <<<"${1#rapt }"
    case $1 in
    'rapt '*)
        [[ ${words[-1]} != --* ]] || { option=${words[-1]}; unset 'words[-1]'; }
        "$RAPT" "${words[@]}" --help >help.txt && { [ -z "$option" ] || grep -qE -- "^ +(-., )?$option(=| |$)" help.txt; }
        ;;
    *) grep -qE "^ *${1//./\\.}( |$)" keys.txt ;;
    esac
}
while read -r name; do
    check "$name" has "$name"
done < <(cut -f2 rows.txt | grep -o '`[^`]*`' | tr -d '`' | sort -u)
check 'a cell without a name is "no"' test -z "$(cut -f2 rows.txt | grep -v '`' | grep -vx no)"
# llama.cpp's spelling is rapt's: what the page denies, none of its commands may have.
"$RAPT" generate --help >all.txt
"$RAPT" serve --help >>all.txt
for option in $(awk -F '\t' '$2 == "no" { print $1 }' rows.txt | grep -o -- '--[a-z][a-z-]*' | sort -u); do
    check "there is no $option" test -z "$(grep -E -- "^ +(-., )?$option(=| |$)" all.txt)"
done
finish
