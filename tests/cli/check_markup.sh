#!/bin/bash
# check_markup.sh: `rapt translate --html` and `--xml`: the text between tags is what the command prints for it alone, with any batch and
# number of threads; tags stay; and what is not for documents is refused.
# labels: not-emulated threads
. "$(dirname "$0")/lib.sh"
make_inputs
train model --set train.steps=60 || { echo "cannot train the model"; exit 1; }
cat >page.html <<'END'
<!DOCTYPE html>
<title>the house.</title>
<body><p id=a>I see <b class="x>y">the house</b>. &amp; you <i>like
 the</i> cat.</p>
<pre>I see the house.</pre>
<ul><li>you <a href="?a=1&b=2">see</a> the <code>house</code>.<li>12<li>zebras.</ul></body>
END
printf 'the house.\nI see the house. & you like the cat.\nyou see the house.\nzebras.\n' >lines

# The document on one line without its tags, whose text the tests know. The words of an element that is not translated may replace others.
bare() { sed 's/<!DOCTYPE html>//; s/<pre>.*<\/pre>//; s/<li>12//; s/<[^<>"]*\("[^"]*"\)*[^<>"]*>//g; s/&amp;/\&/g; s/&lt;/</g; s/&gt;/>/g' | tr -d '\n '; }

sed -i 's/<code>house<\/code>/<u>house<\/u>/' page.html
for options in '' '--beam 3' '--split sentences' '--threads 3 --batch 1' '--replace-unknown'; do
    "$RAPT" translate model lines --quiet $options | tr -d '\n ' >by_hand
    "$RAPT" translate model page.html --html --quiet $options >page.out
    check "the same text as alone${options:+, with $options}" test "$(bare <page.out)" = "$(cat by_hand)"
    check 'the same tags' diff <(grep -o '<[^<>"]*\("[^"]*"\)*[^<>"]*>' page.html | sort) <(grep -o '<[^<>"]*\("[^"]*"\)*[^<>"]*>' page.out | sort)
done
check 'nested as they were' test "$(grep -c '<b class="x>y">.*</b>' page.out)" = 1
check 'what is not translated stays' grep -qx '<pre>I see the house.</pre>' page.out
"$RAPT" translate model page.html --html --quiet >page.out
"$RAPT" translate model --html --quiet <page.html >stdin.out
check 'standard input' cmp page.out stdin.out
"$RAPT" translate model page.html --html --quiet --threads 2 --batch 2 >other.out
check 'any threads and batch' cmp page.out other.out
check 'a text has a line' test "$("$RAPT" translate model --html --text '<b>I see the house.</b>' --quiet)" = \
    "<b>$("$RAPT" translate model --text 'I see the house.' --quiet)</b>"
printf '<p translate="no">no &copy; text</p><!-- a --> 1 < 2 <script>x</script>' >none.html
"$RAPT" translate model none.html --html >none.out
check 'a page without text stays to the byte' cmp none.html none.out
: >empty.html
check 'an empty page' test -z "$("$RAPT" translate model empty.html --html)"
"$RAPT" translate model page.html --html 2>warned >warned.out
check 'a warning with the number of the line' grep -q '^rapt: page.html:6: warning: 1 of [12] words* is unknown: "zebras' warned
refused 1 'page.html:3: 1 of [0-9]* words is unknown: "&"$' '--strict' "$RAPT" translate model page.html --html --strict

printf '<d><t>the house.</t><p>I see <x y="&lt;"/>the house. &own;</p></d>' >doc.xml
"$RAPT" translate model doc.xml --xml --quiet >xml.out
check 'XML' grep -q '^<d><t>.*</t><p>.*<x y="&lt;"/>.*&own;.*</p></d>$' xml.out
printf 'the house\tZZZ\n' >bad.tsv
"$RAPT" translate model --xml --quiet --ignore-tags x,y --splitting-tags q --text '<q>the house.</q> I see <x>the house.</x>' >tags.out
check '--ignore-tags, --splitting-tags' grep -q "^<q>$("$RAPT" translate model --text 'the house.' --quiet)</q> .*<x>the house.</x>" tags.out
"$RAPT" translate model --html --quiet --no-outline-detection --text '<p>I see</p> <h1>the house.</h1>' >tags.out
check '--no-outline-detection: one sentence' test "$(sed 's/<[^>]*>//g' tags.out | tr -d ' ')" = \
    "$("$RAPT" translate model --text 'I see the house.' --quiet | tr -d ' ')"
refused 1 'cannot translate page.html: ignore: no tag is named "</b>"' 'a tag where its name belongs' \
    "$RAPT" translate model page.html --html --ignore-tags '</b>'
refused 2 'tags are of documents: with --html or --xml only' 'tags without a document' "$RAPT" translate model lines --ignore-tags x
refused 2 "html or xml|--html and --xml|--xml.*--html|--html.*--xml" 'one kind' "$RAPT" translate model page.html --html --xml
for option in '--json' '--tokens' '--alignment hard' '--n-best 2' '--prefix x' '--prefix-file x'; do
    refused 2 "--${option:2:4}.* is for lines, not for a document: without --html" "$option" "$RAPT" translate model page.html --html $option
done
printf 'ab\377' >bad.html
refused 1 'cannot translate bad.html: byte 2 of the document is not UTF-8' 'not UTF-8' "$RAPT" translate model bad.html --html
printf '<b>%.0s' {1..300} >deep.html
echo text >>deep.html
refused 1 'cannot translate deep.html: byte 768: more than 256 tags are open within one sentence' 'too deep' \
    "$RAPT" translate model deep.html --html
refused 1 'none.xml' 'no such file' "$RAPT" translate model none.xml --xml
finish
