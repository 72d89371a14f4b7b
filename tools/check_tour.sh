#!/bin/bash
# tools/check_tour.sh [DIR]: what docs/tour.md and docs/journeys/*.md say about structs and calls is what the sources have. From the
# root, or for another tree of the same layout:
#
#   1. behind <!-- struct: NAME FILE --> comes a table; the names in its first column are fields of that struct;
#   2. behind <!-- calls --> comes a block of functions, each with its file below src. A function stands two columns further
#      right than the one that calls it. `caller via EXPRESSION` says that it is called through a pointer, and `as an
#      argument` that it is handed to a function that the caller calls;
#   3. each folder of src has a row in the table of "The map", and nothing else has;
#   4. behind <!-- names: WORD ... --> comes a list, up to a line that begins with **, which leads to every file of src that has
#      one of these words.
#
# Prints each break with its page and line. Not a check of links (tools/check_links.sh).
. "$(dirname "$0")/help.sh"
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
tour=docs/tour.md
pages=("$tour" docs/journeys/*.md)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# ---- fields ----------------------------------------------------------------------------------------------------------
# struct_of NAME FILE: the lines of its definition.
struct_of() {
    awk -v name="$1" '
        !on && $0 ~ "^(typedef )?struct " name "( [{]|$)" { on = 1 }
        on { print }
        on && /^}/ { exit }' "$2"
}

check_fields() {
    awk '/^<!-- struct: / { name = $3; file = $4; rows = 0; next }
        name && /^[|] `/ { split($0, cell, "`"); print NR, name, file, cell[2]; next }
        name && !/^[|]/ && !/^$/ { name = "" }' "$tour" |
        while read -r line name file field; do
            body=$(struct_of "$name" "$file" 2>/dev/null)
            [ -n "$body" ] || { echo "$tour:$line: no struct $name in $file"; continue; }
            grep -qw -- "$field" <<<"$body" || echo "$tour:$line: struct $name in $file has no $field"
        done
}

# ---- calls -----------------------------------------------------------------------------------------------------------
# Lines of the blocks as PAGE:LINE<tab>DEPTH<tab>FUNCTION<tab>FILE<tab>HOW.
calls() {
    awk -v OFS='\t' '
        /^<!-- calls -->$/ { wanted = 1; next }
        wanted && /^```/ { inside = !inside; if (!inside) wanted = 0; next }
        inside && NF {
            match($0, /^ */)
            how = ""
            for (i = 3; i <= NF; i++) how = how (i > 3 ? " " : "") $i
            print FILENAME ":" FNR, RLENGTH / 2, $1, "src/" $2, how
        }' "${pages[@]}"
}

# function_of NAME FILE: its definition, without comments; nothing where there is none.
function_of() {
    awk -v name="$1" '
        !on && $0 ~ "^[A-Za-z].*[^A-Za-z0-9_]" name "[(]" { on = 1; text = ""; open = 0 }
        on {
            text = text $0 "\n"
            if (index($0, "{")) open = 1
            if (!open && /;$/) { on = 0; next } # a declaration
            if (open && /^}|}$/ && ($0 ~ /^}/ || text !~ /\n.*\n/)) { printf "%s", text; exit }
        }' "$2" | sed 's|/\*.*\*/||'
}

check_calls() {
    declare -A caller caller_file
    while IFS=$'\t' read -r line depth name file how; do
        [ -f "$file" ] || { echo "$line: no file $file"; continue; }
        [ -n "$(function_of "$name" "$file")" ] || echo "$line: $file does not define $name"
        caller[$depth]=$name caller_file[$depth]=$file
        [ "$depth" -gt 0 ] || continue
        above=${caller[$((depth - 1))]-nothing}
        body=$(function_of "$above" "${caller_file[$((depth - 1))]-/dev/null}" | sed 1d)
        case $how in
        'via '*)
            grep -qF -- "${how#via }(" <<<"$body" || echo "$line: $above does not call ${how#via }"
            [ "$(grep -cw -- "$name" "$file")" -gt 1 ] || echo "$line: nothing in $file refers to $name"
            ;;
        'as an argument') grep -qw -- "$name" <<<"$body" || echo "$line: $above does not hand on $name" ;;
        '') grep -Eq -- "(^|[^A-Za-z0-9_])$name\(" <<<"$body" || echo "$line: $above does not call $name" ;;
        *) echo "$line: neither via nor an argument: $how" ;;
        esac
    done
}

# ---- folders and names -----------------------------------------------------------------------------------------------
check_map() {
    sed -n '/^## The map/,/^## T/s/^| \[\([a-z]*\)\](.*/\1/p' "$tour" | sort >"$scratch/rows"
    find src -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort | comm -3 - "$scratch/rows" |
        sed "s|^\t|$tour: the map has a row of no folder: |; t; s|^|$tour: the map has no row of src/|"
}

check_names() {
    local line words
    grep -n '^<!-- names: ' "$tour" | sed 's/:<!-- names: \(.*\) -->/ \1/' | while read -r line words; do
        sed -n "$((line + 1)),\$p" "$tour" | sed '/^[*][*]/{x;s/^/x/;/xx/q;x}' >"$scratch/list"
        grep -rlwE "${words// /|}" src | while read -r file; do
            grep -qF "(../$file)" "$scratch/list" || echo "$tour:$line: the list does not have $file"
        done
    done
}

bad=$(check_fields; calls | check_calls; check_map; check_names)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
count=$(calls | wc -l)
[ "$count" -gt 40 ] || { echo "$tour: only $count calls"; exit 1; }
echo "tour: $count calls and $(grep -c '^<!-- struct: ' "$tour") structs, all as in the sources"
