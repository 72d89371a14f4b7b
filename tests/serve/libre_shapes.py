"""libre_shapes.py URL KEY: what LibreTranslate's API description (its /spec) says of requests and responses, asked of a
`rapt serve` that has en-fr alone and wants KEY, with Python's standard library. For check_serve_clients.sh.
"""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

URL, KEY = sys.argv[1:]


def ask(path, body=None, form=False, method=None):
    """Status and JSON of the response."""
    data = kind = None
    if body is not None:
        data = (urllib.parse.urlencode(body) if form else json.dumps(body)).encode()
        kind = "application/x-www-form-urlencoded" if form else "application/json"
    request = urllib.request.Request(URL + path, data, {"Content-Type": kind} if kind else {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            assert response.headers["Content-Type"].startswith("application/json"), response.headers
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def translate(form=False, **fields):
    return ask("/translate", dict({"q": "I see the house.", "source": "en", "target": "fr", "api_key": KEY}, **fields), form)


def check_texts():
    status, one = translate()
    assert status == 200 and list(one) == ["translatedText"] and isinstance(one["translatedText"], str), one
    assert translate(form=True) == (200, one)
    assert translate(format="text") == (200, one)
    status, several = translate(q=["I see the house.", "we like a bird.", ""])
    assert status == 200 and several["translatedText"][0] == one["translatedText"] and several["translatedText"][2] == "", several
    assert len(several["translatedText"]) == 3
    marked = translate(format="html", q="<p><b class=\"x\">I see the house.</b></p>")
    assert marked == (200, {"translatedText": f"<p><b class=\"x\">{one['translatedText']}</b></p>"}), marked
    assert translate(form=True, format="html", q="<p><b class=\"x\">I see the house.</b></p>") == marked
    assert translate(q="two\nlines")[1]["translatedText"].count("\n") == 1


def check_detected():
    """The object of one text, a list for a list; a language that was not identified has no confidence."""
    status, one = translate(source="auto")
    assert status == 200 and one["detectedLanguage"] == {"confidence": 0.0, "language": "en"}, one
    status, several = translate(source="auto", q=["I see.", "we know."])
    assert status == 200 and several["detectedLanguage"] == [{"confidence": 0.0, "language": "en"}] * 2, several
    status, found = ask("/detect", {"q": "Hello", "api_key": KEY})
    assert status == 200 and [set(entry) for entry in found] == [{"confidence", "language"}], found
    assert ask("/detect", {"q": "Hello", "api_key": KEY}, form=True) == (200, found)


def check_alternatives():
    status, one = translate(alternatives=3)
    assert status == 200 and len(one["alternatives"]) == 3 and all(isinstance(a, str) for a in one["alternatives"]), one
    status, several = translate(alternatives=2, q=["I see.", "we know."])
    assert status == 200 and [len(a) for a in several["alternatives"]] == [2, 2], several
    assert "alternatives" not in translate(alternatives=0)[1]
    assert translate(form=True, alternatives=3) == (200, one)


def check_languages():
    status, languages = ask("/languages")
    assert status == 200 and {entry["code"]: entry["targets"] for entry in languages} == {"en": ["fr"], "fr": []}, languages
    assert all(set(entry) == {"code", "name", "targets"} for entry in languages)
    assert ask("/health") == (200, {"status": "ok"})


def check_errors():
    def fails(status, words, answer):
        assert answer[0] == status and list(answer[1]) == ["error"] and words in answer[1]["error"], answer

    for name in ("q", "source", "target"):
        body = {"q": "a", "source": "en", "target": "fr", "api_key": KEY}
        del body[name]
        for form in (False, True):
            fails(400, f"missing {name} parameter", ask("/translate", body, form))
    fails(400, "missing q parameter", ask("/detect", {"api_key": KEY}))
    fails(400, "zz", translate(source="zz"))
    fails(400, "zz", translate(target="zz"))
    fails(400, "format", translate(format="xml"))
    fails(400, "alternatives", translate(alternatives=-1))
    fails(400, "q", translate(q=5))
    assert translate(api_key="another")[0] in (401, 403)
    assert ask("/translate", {"q": "a", "source": "en", "target": "fr"})[0] in (401, 403)
    assert ask("/translate", method="GET")[0] == 405


for check in (check_texts, check_detected, check_alternatives, check_languages, check_errors):
    check()
    print(check.__name__, "passed")
