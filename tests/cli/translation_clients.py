"""translation_clients.py CLIENT URL MODEL: DeepL's own client, or LibreTranslate's, against `rapt serve` with a model from English
to German: texts are those of `rapt translate`. For check_translation_clients.sh. RAPT is the program.
"""
import os
import subprocess
import sys

RAPT = os.environ["RAPT"]
SENTENCES = ["the dog sleeps .", "", "a cat runs", "two\nlines .\n"]


def translate(model, text, *options):
    """What the command prints, of lines that a text has."""
    out = subprocess.run([RAPT, "translate", model, "--quiet", *options], input=text + "\n", stdout=subprocess.PIPE, check=True,
                         text=True).stdout
    return out[:-1]


def refused(words, call):
    try:
        call()
    except Exception as e:  # each client has classes of its own
        assert all(w in str(e) for w in words), e
        return e
    raise AssertionError(f"not refused: {words}")


def check_deepl_glossary(t, model, word):
    """A glossary is made, used as by the command, and deleted."""
    assert [(p.source_lang + p.target_lang).lower() for p in t.get_glossary_languages()] == ["ende"]
    made = t.create_glossary("animals", "EN", "DE", {"cat": word, "a cat": word})
    assert made.ready and made.entry_count == 2 and made.name == "animals" and (made.source_lang + made.target_lang).lower() == "ende"
    assert [g.glossary_id for g in t.list_glossaries()] == [made.glossary_id] == [t.get_glossary(made.glossary_id).glossary_id]
    assert t.get_glossary_entries(made) == {"cat": word, "a cat": word}
    with open("animals.tsv", "w") as file:
        file.write(f"cat\t{word}\na cat\t{word}\n")
    got = [r.text for r in t.translate_text(SENTENCES, source_lang="EN", target_lang="DE", glossary=made)]
    assert got == [translate(model, s, "--glossary", "animals.tsv") for s in SENTENCES], got
    assert word.lower() in got[2].lower()
    refused(["no model translates from en to fr"], lambda: t.create_glossary("n", "EN", "FR", {"a": "b"}))
    t.delete_glossary(made)
    assert t.list_glossaries() == []
    refused(["no such glossary"], lambda: t.get_glossary(made.glossary_id))


def check_deepl_tags(t, model):
    """The text of documents is what the command prints for it; tags, and elements that are not to be translated, stay."""
    whole = translate(model, "a cat runs")
    for kind, options in [("html", {}), ("xml", {"outline_detection": False}), ("html", {"tag_handling_version": "v2"}),
                          ("xml", {"splitting_tags": "p", "non_splitting_tags": ["i"], "split_sentences": "nonewlines"})]:
        got = t.translate_text("<p>a cat runs</p>", target_lang="DE", tag_handling=kind, **options)
        assert got.text == f"<p>{whole}</p>", got
    got = t.translate_text(["<p><b>a cat runs</b></p> <x>the dog</x>", ""], target_lang="DE", tag_handling="xml", ignore_tags=["x"])
    assert got[0].text == f"<p><b>{whole}</b></p> <x>the dog</x>" and got[1].text == "", got
    document = "<h1>the dog sleeps .</h1>\n<p>a <b>cat</b> runs</p><p translate=no>a cat runs</p>"
    got = t.translate_text(document, target_lang="DE", tag_handling="html").text
    printed = subprocess.run([RAPT, "translate", model, "--quiet", "--html"], input=document, stdout=subprocess.PIPE, check=True,
                             text=True).stdout
    assert got == printed and got.count("<b>") == 1 and got.endswith("<p translate=no>a cat runs</p>"), got
    refused(["ignore_tags"], lambda: t.translate_text("a", target_lang="DE", ignore_tags="x"))


def check_deepl(url, model):
    import deepl

    t = deepl.DeepLClient("a key", server_url=url)
    expected = [translate(model, s) for s in SENTENCES]
    for source, target in [("EN", "DE"), ("en", "de"), (None, "dE"), ("EN-GB", "de-AT")]:
        got = t.translate_text(SENTENCES, source_lang=source, target_lang=target)
        assert [r.text for r in got] == expected, got
        assert all(r.detected_source_lang == "EN" for r in got)
        assert [r.billed_characters for r in got] == [len(s) for s in SENTENCES]
    one = t.translate_text(SENTENCES[0], target_lang="DE", formality="prefer_more", split_sentences="1", preserve_formatting=False)
    assert one.text == expected[0]
    assert len(t.translate_text(["a"] * 50, target_lang="DE")) == 50
    refused(["text must not be empty"], lambda: t.translate_text("", target_lang="DE"))
    refused(["text"], lambda: t.translate_text(["a"] * 51, target_lang="DE"))
    refused(["target_lang", "XX"], lambda: t.translate_text("a", target_lang="XX"))
    refused(["source_lang", "XX"], lambda: t.translate_text("a", target_lang="DE", source_lang="XX"))
    refused(["FR", "not supported"], lambda: t.translate_text("a", target_lang="DE", source_lang="FR"))
    for name, value in [("formality", "more"), ("context", "a car"), ("split_sentences", "0"), ("tag_handling", "md"),
                        ("preserve_formatting", True), ("glossary", "1234")]:
        e = refused([name.replace("glossary", "glossary_id")],
                    lambda: t.translate_text("a", target_lang="DE", source_lang="EN", **{name: value}))
        assert isinstance(e, deepl.DeepLException) and not e.should_retry
    assert [(s.code, s.name) for s in t.get_source_languages()] == [("EN", "English")]
    assert [(s.code, s.name, s.supports_formality) for s in t.get_target_languages()] == [("DE", "German", False)]
    check_deepl_glossary(t, model, expected[0].split()[0])
    check_deepl_tags(t, model)
    before = t.get_usage().character.count
    t.translate_text("abc", target_lang="DE")
    usage = t.get_usage()
    assert usage.character.count == before + 3 and not usage.any_limit_reached
    t.close()


def check_libretranslatepy(url, model):
    from libretranslatepy import LibreTranslateAPI

    t = LibreTranslateAPI(url)
    for s in SENTENCES:
        assert t.translate(s, "en", "de") == translate(model, s), s
    assert t.translate(SENTENCES[0], "auto", "de") == translate(model, SENTENCES[0])
    assert t.languages() == [{"code": "en", "name": "English", "targets": ["de"]}, {"code": "de", "name": "German", "targets": []}]
    assert t.detect("hello") == [{"confidence": 0.0, "language": "en"}]
    refused(["400"], lambda: t.translate("a", "en", "xx"))
    refused(["400"], lambda: t.translate("a", "xx", "de"))


{"deepl": check_deepl, "libretranslatepy": check_libretranslatepy}[sys.argv[1]](*sys.argv[2:])
