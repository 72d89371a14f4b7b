#!/bin/bash
# tests/cli/check_tutorials.sh: the pages of docs/tutorials: what they show is what their commands print now, in both
# languages (tools/check_chinese.sh compares these); what a tutorial prints itself, listed in tutorials/PAGE.tsv as
# "block<tab>text", stands in that block of its page; and the script that fills the pages finds what differs.
# RAPT_BUILD names a build folder (default build).
# labels: not-sanitized not-emulated late
. "$(dirname "$0")/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
PAGES=$SOURCE/docs/tutorials
PRINTED=$SOURCE/tests/cli/tutorials

# ---- the index --------------------------------------------------------------------------------------------------------
# The index of each language leads to a page.
is_listed() { grep -q "($1\.md" "$PAGES/README.md" && grep -q "($1\.zh-CN\.md" "$PAGES/README.zh-CN.md"; }

# ---- what the tutorials print ----------------------------------------------------------------------------------------
# The texts of PAGE.tsv that are not in their block; spaces count as one.
not_printed() {
    awk -F'\t' -v page="$2" '
        function one_space(text) { gsub(/[ \t]+/, " ", text); return text }
        BEGIN {
            while ((getline line <page) > 0) {
                if (line ~ /^<!-- block /) { split(line, word, " "); block = word[3] }
                else if (line ~ /^<!-- end -->$/) block = ""
                else if (block != "") text[block] = text[block] "\n" one_space(line)
            }
        }
        /^#/ || NF < 2 { next }
        !index(text[$1], one_space($2)) { print $1 ": " $2 }' "$1"
}
prints_all() { not_printed "$PRINTED/$1.tsv" "$PAGES/$1.md" >lacks; cat lacks; [ ! -s lacks ]; }

# ---- the table of verdicts -------------------------------------------------------------------------------------------
# Rows of verdicts.md whose last column names nothing that is there: a block of the section's page, a chapter, a test; numbers
# that are not the next one; and verdicts that the table at its head does not have, or has another number of.
verdicts_wrong() {
    awk -F' *[|] *' -v pages="$PAGES" -v tests="$SOURCE/tests" -v book="$SOURCE/docs/book" '
        function is_there(file,   line, found) { found = (getline line <file) >= 0; close(file); return found }
        function has_block(name,   line, found) {
            while ((getline line <(pages "/" page ".blocks")) > 0) if (line == "[" name "]") found = 1
            close(pages "/" page ".blocks")
            return found
        }
        function runs(what,   command) {
            if (what ~ /^block `.*`$/) return has_block(substr(what, 8, length(what) - 8))
            if (what ~ /^chapter [0-9]+$/) {
                command = sprintf("ls %s/%02d-*.md 2>/dev/null", book, substr(what, 9))
                found = (command | getline) > 0; close(command)
                return found
            }
            return is_there(tests "/" (what ~ /[/]/ ? what : "cli/" what)) || is_there(tests "/../tools/" what)
        }
        /^[|] [a-z]+ [|].* [0-9]+ [|]$/ { said[$2] = $4; next }
        /^(The|On) .*[(].*[.]md[)]/ { page = $0; sub(/.*[(]/, "", page); sub(/[.]md[)].*/, "", page) }
        /^[|] [0-9]+ [|]/ {
            rows++
            if ($2 != last + 1) print "row " $2 " after row " last
            last = $2
            if (!($6 in said)) print "row " $2 ": " $6
            there[$6]++
            count = split($7, list, ", ")
            for (i = 1; i <= count; i++) { row = $2; what = list[i]; if (!runs(what)) print "row " row ": there is no " what }
        }
        END {
            if (!rows) print "no rows"
            for (name in said) if (said[name] != there[name] + 0) print name ": " said[name] " are said, " there[name] + 0 " are there"
        }' "$1"
}
verdicts_hold() { verdicts_wrong "$PAGES/verdicts.md" >wrong; cat wrong; [ ! -s wrong ]; }
# Number, line, verdict and places of each row, of the English page, and of the Chinese one in the words of the English one: the
# place where a row is run is compared here, for tools/check_chinese.sh sees only code and numbers.
rows_of() { awk -F' *[|] *' '/^[|] [0-9]+ [|]/ { print $2 "\t" $3 "\t" $6 "\t" $7 }' "$1"; }
chinese_rows_of() {
    rows_of "$1" | sed -E 's/\t一致\t/\tworks\t/; s/\t不同\t/\tdiffers\t/; s/\t更正\t/\tcorrected\t/; s/\t新增\t/\tadded\t/
        s/代码块`/block `/g; s/第([0-9]+)章/chapter \1/g; s/、/, /g'
}
same_verdicts() { rows_of "$PAGES/verdicts.md" | diff - <(chinese_rows_of "$1"); }
other_verdicts_are_found() {
    sed '/^[|] 62 /s/ 不同 / 一致 /; /^[|] 207 /s/check_links/check_plot/' "$PAGES/verdicts.zh-CN.md" >try.zh-CN.md
    same_verdicts try.zh-CN.md | grep -c '^>' | grep -qx 2
}
verdicts_are_read() {
    sed 's/^[|] 7 [|]/| 77 |/; s/| added | block `observer` |/| added | block `no` |/; 0,/| works | chapter 10 |/s//| good | chapter 99 |/' \
        "$PAGES/verdicts.md" >try.md
    works=$(sed -n 's/^| works |.* \([0-9]*\) |$/\1/p' "$PAGES/verdicts.md")
    verdicts_wrong try.md | diff - <(printf '%s\n' 'row 77 after row 6' 'row 8 after row 77' 'row 34: good' \
        'row 34: there is no chapter 99' 'row 194: there is no block `no`' "works: $works are said, $((works - 1)) are there")
}

# ---- the programs ------------------------------------------------------------------------------------------------------
same_with_threads() { RAPT_THREADS=3 "$BUILD/examples/$1" | cmp - "$1.out"; }
# Ends with 2 and prints nothing but how it is called.
refuses_arguments() {
    "$BUILD/examples/$1" nonsense >refused 2>usage
    [ $? = 2 ] && [ ! -s refused ] && grep -q "^usage: .*--table.*SECTION" usage
}
# All sections, in order, are what each prints by itself.
prints_sections() {
    local section
    for section in $(sed -n 's/^-- \(.*\) --$/\1/p' "$1.out"); do
        echo "-- $section --" && "$BUILD/examples/$1" "$section" && echo
    done | sed '$d' | diff "$1.out" -
}
prints_table() { "$BUILD/examples/$1" --table | awk -F'\t' 'NR > 1 && NF != columns { exit 1 } { columns = NF } END { exit NR < 2 }'; }

check_program() {
    "$BUILD/examples/$1" >"$1.out" 2>"$1.err"
    check "$1: all checks hold" test $? = 0 -a ! -s "$1.err"
    check "$1: there are checks" grep -q '^\[ok\]' "$1.out"
    check "$1: the same with three threads" same_with_threads "$1"
    check "$1: a section alone is what it is among all" prints_sections "$1"
    check "$1 --table: a table" prints_table "$1"
    check "$1: refuses other arguments" refuses_arguments "$1"
}

# ---- the script itself, on a page whose output is known ----------------------------------------------------------------
make_try() {
    mkdir -p tree/docs/tutorials tree/data
    cp "$PAGES/make_output.sh" tree/docs/tutorials/
    ln -s "$SOURCE/recipes" "$SOURCE/examples" tree/
    printf '/* c */\nint twice(int x);\nint twice(int x)\n{\n    return 2 * x;\n}\nint more;\n' >tree/docs/try.c
    cat >tree/docs/tutorials/try.blocks <<'BLOCKS'
# comment
[sum]
run mkdir -p lesson && echo 40 >lesson/forty
run echo $(($(cat lesson/forty) + 2))
run echo 'epoch 1  loss 2.5  123 tokens/s  0:22 left'
[code]
code docs/try.c twice
[no]
fail echo no; false
[data]
needs nowhere
run cat data/nowhere/file
BLOCKS
    # shellcheck disable=SC2016 # the dollars belong to the page
    printf '%s\n' '# Try' '<!-- block sum -->' '```' '$ mkdir -p lesson && echo 40 >lesson/forty' \
        '$ echo $(($(cat lesson/forty) + 2))' 42 \
        "\$ echo 'epoch 1  loss 2.5  123 tokens/s  0:22 left'" 'epoch 1  loss 2.5' '```' '<!-- end -->' \
        text '<!-- block code -->' '```c' 'int twice(int x)' '{' '    return 2 * x;' '}' '```' '<!-- end -->' \
        '<!-- block no -->' '```' '$ echo no; false' no '```' '<!-- end -->' \
        '<!-- block data -->' 'as it was' '<!-- end -->' >right.md
    sed '/^<!-- block [scn]/,/^<!-- end/ { /^<!--/!d }' right.md >tree/docs/tutorials/try.md
    cp tree/docs/tutorials/try.md tree/docs/tutorials/try.zh-CN.md
}
output_of_try() { tree/docs/tutorials/make_output.sh --build "$BUILD" "$@" try; }
finds() { ! output_of_try --check >found 2>&1 && grep -q "$1" found; }
edit_try() { cp right.md tree/docs/tutorials/try.md; sed -i "$1" tree/docs/tutorials/try.md; }
# finds_line LINE TEXT: with LINE in its first block, a page is refused for TEXT.
finds_line() {
    cp tree/docs/tutorials/try.blocks try.blocks
    sed -i "s|^\[code\]|$1\n&|" tree/docs/tutorials/try.blocks
    finds "$2"
    local status=$?
    mv try.blocks tree/docs/tutorials/
    return $status
}

check_script() {
    make_try
    check 'empty blocks are found' finds 'is not what the commands print'
    check 'they are filled' output_of_try
    check 'with code, output and what was there without data' cmp right.md tree/docs/tutorials/try.md
    check 'in both languages' cmp right.md tree/docs/tutorials/try.zh-CN.md
    check 'then they are as they should be' output_of_try --check
    edit_try 's/^42$/43/'
    check 'another number is found' finds 'is not what the commands print'
    edit_try 's/block no -->/block on -->/'
    check 'another block is found' finds 'its blocks are not those'
    edit_try 's/^text$/other text/'
    check 'a text is the page'"'"'s own' output_of_try --check
    edit_try ''
    check 'a line that runs and is not shown is found' finds_line 'quiet mkdir lesson/more' 'begins with "quiet"'
    check 'a line that is shown and not run is found' finds_line 'show build/rapt fetch nothing' 'begins with "show"'
    check 'a command that cannot be typed twice is found' finds_line 'run mkdir lesson/more' 'exit status 1: mkdir lesson/more'
    check 'one that prints something else the second time is found' finds_line 'run echo >>lesson/n; wc -l <lesson/n' 'a second run prints'
    check 'one that writes elsewhere is found' finds_line 'run touch more' 'writes outside of lesson/'
    edit_try 's/^text$/```\n$ echo\n```/'
    check 'a fence outside of the blocks is found' finds 'shown and not run'
    edit_try 's/^text$/text `build\/rapt fetch nothing`/'
    check 'a command in a sentence is found' finds 'shown and not run'
    edit_try ''
    check 'a cell is no fence that nobody runs' finds_cell
    edit_try ''
    sed -i 's/; false$//' tree/docs/tutorials/try.blocks
    check 'a command that should fail is found' finds 'exit status 0'
}
# A page with a cell, whose fence is no block.
finds_cell() {
    sed 's/^text$/<!-- cell try -->\n```python\nprint(1)\n```\n<!-- end -->/' right.md >tree/docs/tutorials/try.md
    output_of_try --check
}
lacks_of_try() { printf 'sum\t42\nsum\t43\nno\techo  no\n' >try.tsv; not_printed try.tsv right.md | diff - <(echo 'sum: 43'); }

# ---- the program of the notebook of shapes ---------------------------------------------------------------------------------
runs_all_cells() {
    "$BUILD/examples/shapes_notebook" >cells && [ "$(grep -c '^In \[' cells)" = 18 ] && ! grep -q '^\[FAILED\]' cells &&
        RAPT_THREADS=3 "$BUILD/examples/shapes_notebook" | cmp - cells
}
# Ends with 2, prints nothing, and says how it is called.
refuses_cell() { ! "$BUILD/examples/shapes_notebook" "$1" >refused 2>usage && [ ! -s refused ] && grep -q 'usage.*CELL' usage; }

# ---- all of it ---------------------------------------------------------------------------------------------------------
check_script
check 'a number that a tutorial prints and a page does not is found' lacks_of_try
for file in "$PAGES"/*.zh-CN.md; do
    page=$(basename "$file" .zh-CN.md)
    [ "$page" = README ] || check "$page: the index of each language leads to it" is_listed "$page"
done
check 'shapes_notebook: all cells, the same with three threads' runs_all_cells
check 'shapes_notebook: no cell 0' refuses_cell 0
check 'shapes_notebook: no cell 19' refuses_cell 19
check 'every verdict names what runs it' verdicts_hold
check 'and one that does not is found' verdicts_are_read
check 'the Chinese table has the same verdicts' same_verdicts "$PAGES/verdicts.zh-CN.md"
check 'and one that differs is found' other_verdicts_are_found
for file in "$SOURCE"/examples/tutorial_*.c; do
    check_program "$(basename "$file" .c)"
done
data=()
[ -z "$SANITIZED" ] || data=(--no-data) # long training runs
for file in "$PAGES"/*.blocks; do
    page=$(basename "$file" .blocks)
    check "$page: shows what its commands print now" "$PAGES/make_output.sh" --check "${data[@]}" --build "$BUILD" "$page"
    check "$page: prints what the tutorial prints" prints_all "$page"
done
finish
