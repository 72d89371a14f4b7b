#!/bin/bash
# tests/cli/check_manual.sh: the pages of the manual have the options of each command's --help, neither more nor fewer, the keys of
# a recipe, the program's version, and no fault that mandoc or man warns of; a source that names what is not there makes no page.
# labels: not-sanitized not-emulated
. "$(dirname "$0")/lib.sh"
BUILD=$(cd "$SOURCE" && realpath "${RAPT_BUILD:-build}")
if [ "$SANITIZED" ]; then
    skip 'the manual of a build with sanitizers'
    finish
fi
cmake --build "$BUILD" --target rapt_pages >build.log 2>&1 || { tail -20 build.log; exit 1; }
pages=$BUILD/share/man/man1
commands=$("$RAPT" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
check 'there are commands' test "$(wc -w <<<"$commands")" -ge 12
check 'a page for each, and one for the program' diff <(printf 'rapt.1\n'; printf 'rapt-%s.1\n' $commands | LC_ALL=C sort) \
    <(ls "$pages" | grep -vx rapt.1 | LC_ALL=C sort | sed '1i rapt.1')
check 'the page of the program lists them in the order of rapt --help' diff <(printf '%s\n' $commands) \
    <(sed -n 's/^\.It Xr rapt-\([a-z]*\) 1$/\1/p' "$pages/rapt.1")

# ---- options -------------------------------------------------------------------------------------------------------
parts_of() { # COMMAND: its subcommands, or "-"
    "$RAPT" "$1" --help | sed -n '1s/.* \([a-z|]*\) \.\.\.$/\1/p; s/^  \([a-z]*\) .*/\1/p' | tr '|' '\n' | grep . || echo -
}
helped() { # COMMAND: names and letters of its options, from its help
    local part
    for part in $(parts_of "$1"); do
        "$RAPT" "$1" ${part#-} --help | grep -E '^ {2,6}-' | sed 's/^ *//; s/   .*//' | grep -oE -- '(^|, )--?[a-z0-9-]+' | sed 's/^, //'
    done | LC_ALL=C sort -u
}
documented() { # COMMAND: from its page
    grep '^\.It Fl' "$pages/rapt-$1.1" | grep -oE 'Fl -?[a-z0-9][a-z0-9-]*' | sed 's/^Fl /-/' | LC_ALL=C sort -u
}
for command in $commands; do
    helped "$command" >helped.txt
    documented "$command" >documented.txt
    diff helped.txt documented.txt >different.txt
    check "rapt-$command(1) has the options of its --help: $(grep '^[<>]' different.txt | tr '\n' ' ')" \
        test ! -s different.txt -a -s helped.txt
done
check 'rapt-train(1) has all keys of a recipe' diff \
    <("$RAPT" train --help-recipe | grep -oE '^(task|seed|(data|tokenizer|model|train)[.][a-z0-9_.]+) ' | tr -d ' ') \
    <(sed -n 's/^\.It Cm \([a-z0-9_.]*\) Pq .*/\1/p' "$pages/rapt-train.1")

# ---- form ----------------------------------------------------------------------------------------------------------
version=$("$RAPT" --version)
for page in "$pages"/*.1; do
    check "${page##*/} names the version" grep -Fqx ".Os $version" "$page"
done
if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$pages"/*.1 >lint.txt 2>&1
    check "mandoc has no warning: $(head -3 lint.txt)" test ! -s lint.txt
else
    skip 'mandoc -Tlint (it is not installed)'
fi
if command -v man >/dev/null && command -v groff >/dev/null; then
    for page in "$pages"/*.1; do
        LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>>warnings.txt
    done
    check "man has no warning: $(head -3 warnings.txt)" test ! -s warnings.txt
else
    skip 'man --warnings (it is not installed)'
fi

# ---- sources that are wrong -----------------------------------------------------------------------------------------
cp -r "$SOURCE/docs/man" sources
check 'a page from these sources' sh -c "'$BUILD/rapt_manual' sources average | cmp - '$pages/rapt-average.1'"
wrong() { # NAME PATTERN SED-SCRIPT FILE COMMAND: a changed source is refused
    sed "$3" "$SOURCE/docs/man/$4.mdoc" >"sources/$4.mdoc"
    "$BUILD/rapt_manual" sources "$5" >.out 2>.err
    check "$1 is refused" test $? = 1 -a "$(grep -c "$2" .err)" = 1
    cp "$SOURCE/docs/man/$4.mdoc" sources
}
wrong 'an option that the command lacks' '^rapt_manual: frobnicate: ' 's/^\.Option last/.Option frobnicate/' average average
wrong 'a command that there is not' '^rapt_manual: frobnicate: ' 's/^\.Command chat/.Command frobnicate\n&/' rapt rapt
wrong 'a command that is not listed' '^rapt_manual: chat: ' '/^\.Command chat/,/^converses/d' rapt rapt
wrong 'a subcommand that there is not' '^rapt_manual: frobnicate: ' 's/^\.Options check/.Options frobnicate/' data data
wrong 'a list without an end' 'there is no .End' '/^\.End/d' average average
finish
