#!/usr/bin/env python3
"""Makes tests/golden/markup.json: documents of HTML, and the tokens that html5lib's tokenizer finds in them: a list of
[document, [token, ...]], where a token is ["T", text], ["S", name, whether it says that it is not translated], ["E", name], or
["C"] for a comment or declaration. tests/decode/test_markup_tokens.c compares.
    pip install html5lib==1.1; python3 tools/make_markup_golden.py
"""
import json
import pathlib
import random

from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "markup.json"
WRITTEN = [
    "", "<", "</", "<>", "</>", "< b>", "<3", "a<b", "<b", "<b ", "<b a", "<b a=", "<b a='", "</b", "<!", "<!-", "<!--", "<!-->",
    "<!--->", "<!---->x", "<!-- a -- b -->x", "<!--a--!>x", "<!--a--!-->x", "<!-- <!-- --> x -->", "<!--a->b-->c", "<!-- a --- >b-->c",
    "<!doctype html>x", "<!DOCTYPE html PUBLIC \"a>b\">x", "<![CDATA[a]]>b", "<?php a ?>b", "</ a>b", "</3>b", "<b/>x", "<b/ >x",
    "<b/a>x", "<b a=1/>x", "<b a=\"1\"/>x", "<b a='<c>'>x", "<b a=b'c>d'>x", "<b a = c >x", "<b =a>x", "<b a==b>x", "<b 'a'>x",
    "<B A=1>x</B>", "<b\na\n=\n'c'\n>x</b\n>", "<b</b>", "<b<c>d", "<br></br>x", "<p/p>x", "<a-b:c.d>x", "<\u00e9>x", "<a\u00e9>x",
    "<b translate=no>x", "<b TRANSLATE='NO'>x", "<b translate=yes translate=no>x", "<b class='a notranslate b'>x",
    "<b class=notranslated>x", "<b class=a class=notranslate>x", "<b data-translate=no>x", "<b translate>x", "<b class='\nnotranslate'>x",
    "<script>a<b></b></script>c", "<script>a</scripts>b</script >c", "<script></script>c", "<script>a</SCRIPT/>c",
    "<script><!--<script>a</script>b--></script>c", "<script><!--a</script>b", "<script><!--<script>a</script>b</script>c",
    "<script><!--<scripts>a</script>b", "<script><!--<script>--></script>b", "<script>a", "<script><!--<script>a", "<script></scriptx>",
    "<style>a<!--</style>b-->", "<title>a&amp;<b></title>c", "<textarea>a</text></textarea>b", "<title>a</title", "<xmp>a&lt;</xmp>b",
    "<iframe>a<b></iframe>c", "<noframes>&amp;</noframes>c", "<plaintext>a</plaintext>b", "<noscript>a<b>c</noscript>", "<svg><path/></svg>",
    "&amp;&amp&AMP;&ampx;&notit;&notin;&not;", "&lt&gt;&quot&apos;&apos", "&#65;&#x41;&#X41;&#65&#x;&#;&#x41g", "&#0;&#128;&#150;&#xD800;&#x110000;&#99999999999;",
    "&CounterClockwiseContourIntegral;&eacute;&eacute&Eacute", "&nosuch;&;& &a", "&NotEqualTilde;&nvlt;", "a &copy=b &copy;=b", "&fjlig;&b.alpha;", "&#10;&Tab;&NewLine;",
]
PIECES = ["<", ">", "/", "<b>", "</b>", "<i a='", "'", "\"", "=", " ", "x", "yz", "&amp", ";", "&", "#", "65", "<!--", "-->", "--", "!", "<br>",
          "<script>", "</script>", "<title>", "</title>", "<style>", "</style>", "</", "<!", "?", "class=", "translate=no", "\n", "&lt;", "<p "]
RAW = {"title": "rcdataState", "textarea": "rcdataState", "script": "scriptDataState", "plaintext": "plaintextState"}
RAW |= dict.fromkeys(("style", "xmp", "iframe", "noembed", "noframes"), "rawtextState")


def tokens_of(document):
    tokenizer, found = HTMLTokenizer(document), []
    for token in tokenizer:
        kind = token["type"]
        if kind in (tokenTypes["Characters"], tokenTypes["SpaceCharacters"]):
            if found and found[-1][0] == "T":
                found[-1][1] += token["data"]
            else:
                found.append(["T", token["data"]])
        elif kind == tokenTypes["StartTag"]:
            data = dict(token["data"]) if not isinstance(token["data"], dict) else token["data"]
            no = data.get("translate", "").lower() == "no" or "notranslate" in data.get("class", "").split()
            found.append(["S", token["name"], no])
            if token["name"] in RAW:
                tokenizer.state = getattr(tokenizer, RAW[token["name"]])
        elif kind == tokenTypes["EndTag"]:
            found.append(["E", token["name"]])
        elif kind in (tokenTypes["Comment"], tokenTypes["Doctype"]):
            found.append(["C"])
    return found


random.seed(1)
documents = WRITTEN + ["".join(random.choices(PIECES, k=random.randint(2, 14))) for _ in range(700)]
OUT.write_text("[\n" + ",\n".join(json.dumps([d, tokens_of(d)], ensure_ascii=True) for d in documents) + "\n]\n")
