#!/bin/bash
# tools/check_chinese.sh: the Chinese terms of docs/glossary.md, one for each English term, and nothing else. From the root:
#
#   1. a row of the glossary has as many Chinese terms as English ones, and no Chinese term stands in two rows;
#   2. no variant of its table "Chinese variants" in Chinese pages (*.zh-CN.md), in the pages of `rapt explain --html`, `rapt
#      serve` and the lesson, and in what ./quickstart says;
#   3. a page NAME.zh-CN.md has the headings, the fenced blocks, the folded answers and, in each row of a table, the code and the
#      numbers of NAME.md; each leads to the other in line 3;
#   4. each section has the links of the English section; a link to a page that is there in Chinese leads to the Chinese one;
#   5. no line break within a Chinese paragraph: it would be shown as a space.
#
# Prints each break with file and line. For 2, what is code or a quotation (“ ”, 《 》) is left out; a line break within a term
# is seen. `tools/check_chinese.sh --mend` first makes links of Chinese pages lead to Chinese pages, as is needed after a page is
# translated.
. "$(dirname "$0")/help.sh"
set -u
cd "$(dirname "$0")/.." || exit 2
case ${1-} in '' | --mend) ;; *) echo 'usage: tools/check_chinese.sh [--mend]' >&2; exit 2 ;; esac
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
glossary=docs/glossary.md

# ---- the glossary ------------------------------------------------------------------------------------------------------
LC_ALL=C awk -F' [|] ' -v file="$glossary" '
    /^## Chinese variants/ { exit }
    !/^[|] / || /^[|] (English|---)/ { next }
    {
        rows++
        sub(/^[|] /, "", $1)
        english = $1; chinese = $2
        gsub(/ ?[(][^)]*[)]/, "", english)
        count = split(english, names, /[,;] /)
        got = split(chinese, terms, "，")
        if (count != got) print file ":" FNR ": " count " English terms, but " got " Chinese ones: " chinese
        for (i = 1; i <= got; i++) {
            sub(/[*]$/, "", terms[i])
            if (terms[i] in row) print file ":" FNR ": " terms[i] " stands in line " row[terms[i]] ", too"
            row[terms[i]] = FNR
        }
    }
    END { if (!rows) print file ": no rows" }' "$glossary" >"$scratch/bad"

# ---- the table: one "variant<tab>TERM<tab>WRITE" or "allowed<tab>PHRASE" a line ------------------------------------------
awk -F' *[|] *' '
    /^## / { table = $0 == "## Chinese variants" }
    table && /^[|] `/ {
        count = split($2, terms, "`"); for (i = 2; i <= count; i += 2) print "variant\t" terms[i] "\t" $3
        count = split($4, terms, "`"); for (i = 2; i <= count; i += 2) print "allowed\t" terms[i]
    }' "$glossary" >"$scratch/terms"
[ -s "$scratch/terms" ] || { echo "$glossary: no Chinese variants"; exit 1; }

# ---- texts -------------------------------------------------------------------------------------------------------------
{
    find . -name '*.zh-CN.md' -not -path './build*' -not -path './.*/*'
    find src/explain/page src/serve/module/page src/lesson/page tools/quickstart_zh.sh -type f 2>/dev/null
} | sed 's|^\./||' | sort >"$scratch/files"

# Bytes are compared: in UTF-8 a character is never found within others. What is left out becomes a "~".
find_variants() {
    LC_ALL=C awk -F'\t' -v terms="$scratch/terms" '
    BEGIN {
        while ((getline line < terms) > 0) {
            split(line, field, "\t")
            if (field[1] == "allowed") { allowed[++allowances] = field[2]; continue }
            variant[++count] = field[2]
            write[count] = field[3]
        }
    }
    # Without what stands from `opening` to the next `closing`.
    function without(text, opening, closing,   from, to, kept) {
        while (from = index(text, opening)) {
            kept = kept substr(text, 1, from - 1) "~"
            text = substr(text, from + length(opening))
            to = index(text, closing)
            if (!to) break # it goes over the end of the line: that much is left out
            text = substr(text, to + length(closing))
        }
        return kept text
    }
    FNR == 1 { before = ""; quoted = 0; page = FILENAME ~ /[.]md$/ }
    page && /^ *```/ { quoted = !quoted; before = ""; next }
    quoted { next }
    {
        line = $0
        if (page) { line = without(line, "`", "`"); line = without(line, "](", ")") }
        line = without(without(line, "“", "”"), "《", "》")
        sub(/^[ ]*([*#>-]+ |[0-9]+[.] )?[ ]*/, "", line)
        for (i = 1; i <= allowances; i++) gsub(allowed[i], "~", line)
        text = before line
        for (i = 1; i <= count; i++) {
            place = 1
            while (found = index(substr(text, place), variant[i])) {
                place += found + length(variant[i]) - 1
                if (place > length(before) + 1) print FILENAME ":" FNR ": " variant[i] "; write: " write[i]
            }
        }
        before = page ? line : ""
    }' "$@"
}
mapfile -t files <"$scratch/files"
find_variants "${files[@]}" >>"$scratch/bad"

# ---- pages in two languages --------------------------------------------------------------------------------------------
# The form of a page: the depth of headings, fenced blocks as they are, of table rows what stands in ` ` and the numbers.
form_of() {
    LC_ALL=C awk '
    function add(item) { items = items "\n" item }
    /^ *```/ { fenced = !fenced; print; next }
    fenced { print; next }
    /^#+ / { print $1; next }
    /^<!--/ { print; next }
    /<\/?(details|summary)>/ {
        rest = $0
        while (match(rest, /<\/?(details|summary)>/)) { print substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH) }
        next
    }
    /^[|]/ {
        items = ""
        rest = $0
        gsub(/[(][^()]*[.](md|sh|py|c|h)(#[^()]*)?[)]/, "", rest) # targets of links
        while (match(rest, /`[^`]*`/)) {
            add(substr(rest, RSTART, RLENGTH))
            rest = substr(rest, 1, RSTART - 1) " " substr(rest, RSTART + RLENGTH)
        }
        while (match(rest, /[0-9]([0-9,.]*[0-9])?/)) {
            add(substr(rest, RSTART, RLENGTH))
            rest = substr(rest, RSTART + RLENGTH)
        }
        print "row" (items == "" ? "" : " " sorted(items))
    }
    function sorted(text,   list, n, i, j, swap, all) {
        n = split(substr(text, 2), list, "\n")
        for (i = 1; i <= n; i++)
            for (j = i + 1; j <= n; j++)
                if (list[j] < list[i]) { swap = list[i]; list[i] = list[j]; list[j] = swap }
        for (i = 1; i <= n; i++) all = all " " list[i]
        return all
    }' "$1"
}

# links FILE: a line "SECTION<tab>TARGET" for each link of a page but for line 3. An English page gives them as the Chinese one has to
# have them: to the Chinese page where there is one, and to the heading there that has the same place. links FILE mend: the page with such
# links.
links() {
    LC_ALL=C awk -v file="$1" -v mend="${2-}" '
    BEGIN { folder = file; if (!sub(/[^\/]*$/, "", folder)) folder = "" }
    function anchor(heading) {
        heading = tolower(heading)
        gsub(/，|。|、|；|：|？|！|（|）|“|”|《|》|…|—/, "", heading)
        gsub(/[^a-z0-9 _\200-\377-]/, "", heading)
        gsub(/ /, "-", heading)
        return heading
    }
    # The number of headings of a page, 0 if it is not there; heading[page, i] are their anchors.
    function headings(page,   line, fenced, n) {
        if (page in count) return count[page]
        n = 0
        while ((getline line <page) > 0) {
            if (line ~ /^ *```/) fenced = !fenced
            else if (!fenced && line ~ /^#+ /) { sub(/^#+ /, "", line); heading[page, ++n] = anchor(line) }
        }
        close(page)
        return count[page] = n
    }
    function mapped(target,   path, part, original, chinese, i) {
        path = target; part = ""
        if (i = index(target, "#")) { path = substr(target, 1, i - 1); part = substr(target, i + 1) }
        if (path ~ /:\/\/|[.]zh-CN[.]md$/ || (path != "" && path !~ /[.]md$/)) return target
        original = path == "" ? file : folder path
        if (path == "") sub(/[.]zh-CN[.]md$/, ".md", original)
        chinese = original; sub(/[.]md$/, ".zh-CN.md", chinese)
        if (!headings(chinese)) return target
        if (path != "") sub(/[.]md$/, ".zh-CN.md", path)
        if (part == "") return path
        for (i = headings(original); i && heading[original, i] != part; i--) { }
        return path "#" (i ? heading[chinese, i] : part)
    }
    /^ *```/ { fenced = !fenced }
    !fenced && /^#+ / { section++ }
    {
        rest = $0; done = ""
        while (!fenced && FNR != 3 && match(rest, /\]\([^) \t]+\)/)) {
            target = substr(rest, RSTART + 2, RLENGTH - 3); to = mend || file !~ /[.]zh-CN[.]md$/ ? mapped(target) : target
            if (!mend) print section "\t" to
            done = done substr(rest, 1, RSTART + 1) to ")"
            rest = substr(rest, RSTART + RLENGTH)
            if (to != target) sub(/^（英文）/, "", rest)
        }
        if (mend) print done rest
    }' "$1"
}
# The first differences of two outputs, as breaks of the page.
compare() { diff "$1" "$2" >"$scratch/diff" || sed -n "s|^[<>] .*|$page: not as in $original: &|p" "$scratch/diff" | head -4; }
leads_to() { sed -n 3p "$1" | grep -qxF "$2" || echo "$1:3: write: $2"; }

pages=0
while IFS= read -r page; do
    original=${page%.zh-CN.md}.md
    [ -e "$original" ] || continue
    pages=$((pages + 1))
    if [ "${1-}" ]; then
        links "$page" mend >"$scratch/mended" && { cmp -s "$scratch/mended" "$page" || cat "$scratch/mended" >"$page"; }
    fi
    compare <(form_of "$original") <(form_of "$page")
    compare <(links "$original" | sort) <(links "$page" | sort)
    leads_to "$original" "English | [简体中文](${page##*/})"
    leads_to "$page" "[English](${original##*/}) | 简体中文"
done < <(grep '\.zh-CN\.md$' "$scratch/files") >>"$scratch/bad"

# ---- line breaks -------------------------------------------------------------------------------------------------------
# Bytes above 0x7f at both sides of a break, where the second line opens no block of its own.
grep '\.zh-CN\.md$' "$scratch/files" | while IFS= read -r page; do
    LC_ALL=C awk -v file="$page" '
        /^ *```/ { fenced = !fenced; text = 0; next }
        fenced || /^ *$/ || /^([|]|#|<!--|!\[)/ { text = 0; next }
        text && /^ *[\200-\377`\[*]/ && !/^ *[*] / { print file ":" FNR ": a line break within a paragraph" }
        { text = 1 }' "$page"
done >>"$scratch/bad"

cat "$scratch/bad"
[ ! -s "$scratch/bad" ] || { echo "Chinese: $(wc -l <"$scratch/bad") to mend"; exit 1; }
echo "Chinese: $(grep -c '^variant' "$scratch/terms") variants, none in ${#files[@]} files; $pages pages in both languages"
