#!/bin/bash
# docs/tutorials/make_output.sh [--check] [--no-data] [--build DIR] [PAGE...]: runs what the pages of this folder show and
# writes code and output into both languages of each page, NAME.md and NAME.zh-CN.md; with --check it writes nothing and ends
# with 1 where a page differs. Default: all pages, build folder build (`make all examples`).
#
# A page is run twice, as a reader of a notebook does, from its first command to its last in one folder: the second time
# every command has to print the same. With --check the second time leaves out commands that do not name lesson/: only that folder
# has changed, and what they print is compared with the page. What is shown is what is run, in the order of the page, and nothing else is run.
#
# The blocks of a page are in NAME.blocks. In both pages a block is the two lines
#   <!-- block NAME -->
#   <!-- end -->
# and all that stands between them is made here; a page has no other fences but its Python cells, which tools/notebooks.py
# makes, and no commands of build/ in its sentences. Lines of a .blocks file, in the order of the page:
#   # comment
#   [NAME]             the next block
#   needs PLACE        the block is left as it is where data/PLACE is absent (of the sets of `rapt fetch`); --no-data: always
#   run COMMAND        shows "$ COMMAND" and what it prints; it has to succeed
#   fail COMMAND       the same with both streams of a command that has to fail
#   code FILE NAME     shows the definition of NAME, a function or a type of a C file
# The folder has build, recipes, data, docs and examples as the root of the sources has them; commands are bash, a line each,
# and write into lesson/ alone, which git ignores. Where a page has a set of data, so has the folder: `rapt fetch` checks it. A
# block's consecutive commands share a fence. What depends on the machine is cut from the output: lines "memory: ...",
# throughput, time left, lines that say how long something takes.
. "$(dirname "$0")/../../tools/help.sh"
set -u
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$source/build check='' data=yes
pages=()
while [ $# -gt 0 ]; do
    case $1 in
    --check) check=yes ;;
    --no-data) data='' ;;
    --build) build=$2 && shift ;;
    -*) echo "usage: $0 [--check] [--no-data] [--build DIR] [PAGE...]" >&2 && exit 2 ;;
    *) pages+=("$1") ;;
    esac
    shift
done
build=$(realpath "$build")
if [ ${#pages[@]} = 0 ]; then
    for file in "$here"/*.blocks; do pages+=("$(basename "$file" .blocks)"); done
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
touch "$scratch/wrong"
wrong() { echo "$*" | tee -a "$scratch/wrong" >&2; }

# Data sets are under the names of `rapt fetch`, in data/ or where RAPT_SHARED keeps its copies.
link_data() {
    local shared=${RAPT_SHARED:-$source/../shared}/data place from
    mkdir data
    ln -s "$source"/data/* data/
    while read -r place from; do
        [ -e "data/$place" ] || [ ! -e "$shared/$from" ] || ln -s "$(realpath "$shared/$from")" "data/$place"
    done <<'PLACES'
fra-eng fra-eng
sales-textbook sales_textbook
tiny-shakespeare tinyshakespeare
cl100k_base tokenizers
o200k_base tokenizers
r50k_base tokenizers
PLACES
}

make_folder() {
    mkdir "$1" && cd "$1" || exit 1
    ln -s "$build" build
    ln -s "$source/docs" "$source/examples" .
    cp -r "$source/recipes" .
    link_data
}

# The definition of a function or a type: from the line that names it to the brace that closes it in the first column.
definition() {
    awk -v name="$2" '
        !on && /^[a-z]/ && !/;$/ && $0 ~ "(^|[^A-Za-z0-9_])" name "($|[^A-Za-z0-9_])" { on = 1 }
        on { print; if (/^}/ || (/}$/ && !/^[ ]/)) { found = 1; exit } }
        END { exit !found }' "$1"
}

without_machine() { sed -E '/^memory: |  [0-9]+:[0-9]{2}$/d; s/  [0-9]+ tokens\/s(  [0-9:]+ left)?$//; s/ in [0-9.]+ s$//; $a\'; }

# shown WANTED COMMAND: the command with its output; WANTED is 0 for success.
shown() {
    count=$((count + 1))
    if [ "$check" ] && [ "$again" ] && [[ $2 != *lesson* ]]; then
        cat "$scratch/shown-$count"
    else
        run_shown "$@" | tee "$scratch/shown-$count"
    fi
}
run_shown() {
    local status
    echo "\$ $2"
    if [ "$1" = 0 ]; then bash -o pipefail -c "$2" 2>"$scratch/err" >"$scratch/out"; else bash -c "$2" >"$scratch/out" 2>&1; fi </dev/null
    status=$?
    without_machine <"$scratch/out"
    [ $((status != 0)) = "$1" ] || wrong "$page, block $block: exit status $status: $2: $(head -c 300 "$scratch/err")"
}

open_fence() { [ "$fence" = "$1" ] || { close_fence; echo "\`\`\`${1#sh}"; fence=$1; }; }
close_fence() { [ -z "$fence" ] || echo '```'; fence=''; }

# One line of a block, as Markdown.
part() {
    case $1 in
    run) open_fence sh; shown 0 "$2" ;;
    fail) open_fence sh; shown 1 "$2" ;;
    code) close_fence; open_fence c; definition "${2% *}" "${2#* }" || wrong "$page, block $block: $2 is not there"; close_fence ;;
    *) wrong "$page.blocks: a line begins with \"$1\"" ;;
    esac
}

# Every block into blocks/NAME.
make_blocks() {
    local word rest block='' fence='' left='' out=$2 again=${3:-} count=0
    mkdir -p "$out"
    while read -r word rest; do
        case $word in
        '' | '#'*) ;;
        '['*) [ -z "$block" ] || close_fence >>"$out/$block"
            block=${word:1:-1} left='' fence=''
            [ ! -e "$out/$block" ] || wrong "$page.blocks: two blocks are called $block"
            : >"$out/$block" ;;
        needs) { [ "$data" ] && [ -e "data/$rest" ]; } || { left=yes; rm -f "$out/$block"; touch "$out/.$block"; } ;;
        *) [ "$left" ] || { part "$word" "$rest" >"$scratch/part"; cat "$scratch/part" >>"$out/$block"; } ;;
        esac
    done <"$1"
    [ -z "$block" ] || [ "$left" ] || close_fence >>"$out/$block"
}

# fill FILE BLOCKS: the page with its blocks as they are now. A block that was left keeps what it has.
fill() {
    awk -v folder="$2" '
        /^<!-- block [^ ]* -->$/ {
            print
            file = folder "/" $3
            kept = (getline line <(folder "/." $3)) >= 0
            if (kept) next
            if ((getline line <file) < 0) { print "<!-- there is no such block -->"; bad = 1 }
            else do print line; while ((getline line <file) > 0)
            close(file)
            skip = 1
        }
        /^<!-- end -->$/ { skip = 0 }
        !skip
        END { exit bad }' "$1"
}

# Fences and commands of a page outside of its blocks and cells: nobody runs them.
not_run() {
    awk '
        /^<!-- (block|cell) / { on = 1 }
        /^<!-- end -->$/ { on = 0 }
        !on && (/^ *```/ || /`[^`]*build\/[^` ]* [^`]*`/) { print FILENAME ":" FNR ": " $0 }' "$1"
}

# Both runs of a page, and what they leave outside of lesson/.
run_page() {
    make_folder "$scratch/$1"
    find . -not -path './lesson*' | sort >"$scratch/before"
    make_blocks "$here/$1.blocks" "$scratch/blocks-$1"
    make_blocks "$here/$1.blocks" "$scratch/again-$1" again
    diff -r "$scratch/blocks-$1" "$scratch/again-$1" >&2 || wrong "$1: a second run prints something else"
    find . -not -path './lesson*' | sort | diff "$scratch/before" - >&2 || wrong "$1: a command writes outside of lesson/"
}

names_of() { sed -n 's/^<!-- block \([^ ]*\) -->$/\1/p' "$1"; }

for page in "${pages[@]}"; do
    [ -e "$here/$page.blocks" ] || { wrong "there is no $page.blocks"; continue; }
    (run_page "$page")
    sed -n 's/^\[\(.*\)\]$/\1/p' "$here/$page.blocks" >"$scratch/names"
    for file in "$here/$page.md" "$here/$page.zh-CN.md"; do
        [ -z "$(not_run "$file")" ] || wrong "$(not_run "$file"): this is shown and not run"
        names_of "$file" | diff "$scratch/names" - >&2 || wrong "$file: its blocks are not those of $page.blocks, in their order"
        fill "$file" "$scratch/blocks-$page" >"$scratch/filled" || { wrong "$file: a block that $page.blocks does not have"; continue; }
        if [ "$check" ]; then
            diff "$file" "$scratch/filled" >&2 || wrong "$file: what it shows is not what the commands print now"
        else
            cmp -s "$file" "$scratch/filled" || cp "$scratch/filled" "$file"
        fi
    done
done
[ ! -s "$scratch/wrong" ]
