#!/bin/sh
# tools/check_links.sh: what the documents say about the sources is still there. From the root:
#   tools/check_links.sh [PROGRAM]         with a program, the table of recipe keys is compared too
#
#   1. relative links of Markdown files lead to files or folders; "#part" names a heading of that file;
#   2. a link like [`train.c:step_once`](../src/train/train.c) names a function of that file;
#   3. a program quoted behind <!-- file: PATH --> is that file, line by line, and the one in rapt.h is
#      examples/translate.c but for its first line;
#   4. the table between the recipe-table marks of docs/recipes.md is what tools/recipe_table.sh prints;
#   5. the messages in the first column of docs/troubleshooting.md, but for their "...", are in string literals of the sources.
#
# Not a check of the web: links with a scheme are left alone.
. "$(dirname "$0")/help.sh"
cd "$(dirname "$0")/.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/bad"
complain() { echo "$1" | tee -a "$scratch/bad"; }

# Every link as FILE<tab>TEXT<tab>TARGET; code blocks left out.
list_links() {
    awk -v file="$1" '
        /^ *```/ { code = !code }
        code { next }
        {
            rest = $0
            while (match(rest, /\[[^]]*\]\([^)[:space:]]+\)/)) {
                link = substr(rest, RSTART + 1, RLENGTH - 2)
                rest = substr(rest, RSTART + RLENGTH)
                middle = index(link, "](")
                printf "%s\t%s\t%s\n", file, substr(link, 1, middle - 1), substr(link, middle + 2)
            }
        }' "$1"
}

# The anchors of a file: headings in lower case, spaces as hyphens, punctuation dropped, ASCII or full-width; other letters stay.
has_anchor() {
    awk '/^ *```/ { code = !code } !code && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        LC_ALL=C sed -E 's/，|。|、|；|：|？|！|（|）|“|”|《|》|…|—//g; s/[^a-z0-9 _\x80-\xff-]//g; s/ /-/g' | grep -qx -- "$2"
}

check_link() {
    file=$1 text=$2 target=$3
    case $target in *://* | mailto:*) return ;; esac
    path=${target%%#*} part=
    case $target in *'#'*) part=${target#*#} ;; esac
    if [ -n "$path" ]; then
        path=$(dirname "$file")/$path
    else
        path=$file
    fi
    if [ ! -e "$path" ]; then
        complain "$file: there is no $target"
        return
    fi
    if [ -n "$part" ] && ! has_anchor "$path" "$part"; then
        complain "$file: $target: no such heading"
    fi
    case $text in *'`'*.[ch]:*'`'*)
        name=${text##*:}
        name=${name%%\`*}
        grep -Eq "(^|[^A-Za-z0-9_])$name($|[^A-Za-z0-9_])" "$path" || complain "$file: $path has no $name"
        [ "$(basename "$path")" = "$(echo "$text" | sed 's/^[^`]*`\([^:]*\):.*/\1/; s|.*/||')" ] ||
            complain "$file: $text links to $path"
        ;;
    esac
}

check_quotes() {
    sed -n 's/^<!-- file: \(.*\) -->$/\1/p' "$1" | while read -r quoted; do
        awk -v mark="<!-- file: $quoted -->" '
            $0 == mark { found = 1; next }
            found && /^```/ { if (++fences == 2) exit; next }
            fences == 1 { print }' "$1" | cmp -s - "$quoted" || complain "$1: the quotation of $quoted has changed"
    done
}

check_header() {
    sed -n '/^ \*    #include/,/^ \*    }$/p' include/rapt.h | sed 's/^ \*$//; s/^ \*    //' >"$scratch/header"
    sed 1d examples/translate.c | cmp -s - "$scratch/header" ||
        complain "include/rapt.h: the program in its comment is not examples/translate.c"
}

check_recipe_table() {
    sh tools/recipe_table.sh "$1" >"$scratch/table"
    sed -n '/^<!-- recipe-table:begin -->$/,/^<!-- recipe-table:end -->$/p' docs/recipes.md | sed '1d; $d' |
        cmp -s - "$scratch/table" || complain "docs/recipes.md: the table of keys is not what tools/recipe_table.sh prints"
}

# Literals that follow each other are one; what macros such as PRIu64 add between them is left out.
check_messages() {
    find src -name '*.[ch]' | sort | xargs cat | tr '\n' ' ' |
        sed -E 's/" PRI[a-z]+[0-9]+ "//g; s/" +"//g; s/\\"/"/g' >"$scratch/sources"
    awk '/^[|] `/ {
        ticks = /^[|] ``/ ? 2 : 1
        text = substr($0, 3 + ticks)
        print substr(text, 1, index(text, substr("``", 1, ticks)) - 1)
    }' docs/troubleshooting.md >"$scratch/messages"
    [ -s "$scratch/messages" ] || complain 'docs/troubleshooting.md: no messages'
    while IFS= read -r message; do
        echo "$message" | sed 's/[.][.][.]/\n/g' | sed 's/^[^A-Za-z]*//; s/[^A-Za-z]*$//' | grep '[a-z][a-z]' >"$scratch/parts" ||
            complain "docs/troubleshooting.md: no words in: $message"
        while IFS= read -r words; do
            grep -qF -- "$words" "$scratch/sources" || complain "docs/troubleshooting.md: the sources do not say: $words"
        done <"$scratch/parts"
    done <"$scratch/messages"
}

find . -name '*.md' -not -path './build*' -not -path './models/*' -not -path './.git/*' | sort >"$scratch/files"
while read -r file; do
    list_links "$file"
    check_quotes "$file" >&2
done <"$scratch/files" >"$scratch/links"
while IFS="$(printf '\t')" read -r file text target; do
    check_link "$file" "$text" "$target"
done <"$scratch/links"
check_header
check_messages
[ -z "$1" ] || check_recipe_table "$1"

[ -s "$scratch/bad" ] && exit 1
echo "$(wc -l <"$scratch/links") links in $(wc -l <"$scratch/files") documents, all sound"
