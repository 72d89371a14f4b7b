#!/bin/sh
# tools/recipe_table.sh: prints the keys of a recipe as a Markdown table, for docs/recipes.md. From the root:
#   tools/recipe_table.sh [PROGRAM]        the program is build/rapt unless named
# The columns of `rapt train --help-recipe` start where the words of its first line do.
"${1:-build/rapt}" train --help-recipe | awk '
    function cell(from, to,    text) {
        text = to ? substr($0, from, to - from) : substr($0, from)
        gsub(/^ +| +$/, "", text)
        gsub(/[|]/, "\\|", text)
        gsub(/</, "\\&lt;", text)
        return text
    }
    NR == 1 {
        type = index($0, "type"); standard = index($0, "default"); range = index($0, "range")
        meaning = index($0, "meaning")
        print "| key | type | default | range | meaning |"
        print "| --- | --- | --- | --- | --- |"
        next
    }
    {
        printf "| `%s` | %s | %s | %s | %s |\n", cell(1, type), cell(type, standard), cell(standard, range),
               cell(range, meaning), cell(meaning, 0)
    }'
