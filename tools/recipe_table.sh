#!/bin/sh
# tools/recipe_table.sh: prints the keys of a recipe as a Markdown table, for docs/recipes.md. From the root:
#   tools/recipe_table.sh [PROGRAM]        the program is build/rapt unless named
# The columns of `rapt train --help-recipe` start where the words of its first line do; a line that begins with a space
# continues the range or the meaning of the key above.
. "$(dirname "$0")/help.sh"
"${1:-build/rapt}" train --help-recipe | awk '
    function cell(from, to,    text) {
        text = to ? substr($0, from, to - from) : substr($0, from)
        gsub(/^ +| +$/, "", text)
        gsub(/[|]/, "\\|", text)
        gsub(/</, "\\&lt;", text)
        return text
    }
    function row() {
        if (key)
            printf "| `%s` | %s | %s | %s | %s |\n", key, kind, value, span, text
    }
    NR == 1 {
        type = index($0, "type"); standard = index($0, "default"); range = index($0, "range")
        meaning = index($0, "meaning")
        print "| key | type | default | range | meaning |"
        print "| --- | --- | --- | --- | --- |"
        next
    }
    /^ / {
        span = span cell(range, meaning)
        more = cell(meaning, 0)
        text = text (more ? " " more : "")
        next
    }
    {
        row()
        key = cell(1, type); kind = cell(type, standard); value = cell(standard, range)
        span = cell(range, meaning); text = cell(meaning, 0)
    }
    END { row() }'
