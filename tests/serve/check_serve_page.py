#!/usr/bin/python3
"""check_serve_page.py FOLDER: the page of rapt serve, FOLDER/serve_page.c, in headless Chromium, with page_server.py in the place of
the server. For check_serve_page.sh. The last line: "N passed, N failed, N skipped"."""
import json
import math
import os
import subprocess
import sys
import time
import traceback
import urllib.request

from serve_browser import (FOLDER, ActionChains, By, Keys, ServePage, expect, explained, is_percent, near, number, start,
                           weight_texts)
from page_server import HOSTILE, REPLAY, WORDS, top, weights

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKS = []
LINE = "The old cat sat on it"
SOURCE = LINE.split()


def check(function):
    CHECKS.append(function)
    return function


class Server:
    def __init__(self, *key):
        self.process = subprocess.Popen([sys.executable, f"{HERE}/page_server.py", f"{FOLDER}/serve_page.c", *key],
                                        stdout=subprocess.PIPE, text=True)
        self.address = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def requests(self, target=None):
        with urllib.request.urlopen(self.address + "/requests", timeout=10) as response:
            return [one for one in json.load(response) if target is None or one["target"].startswith(target)]

    def last(self, target):
        found = self.requests(target)
        expect(found, "no request for", target)
        return found[-1]

    def stop(self):
        self.process.kill()
        self.process.wait()


class MockPage(ServePage):
    def translate(self, text=LINE, **options):
        super().translate(text, **options)

    def complete(self, text="Once upon a time", count=12, wait=True):
        self.choose("shakespeare")
        super().complete(text, count, wait)


def shown_as(words):
    """Line ends are drawn."""
    return [word.replace("\n", "⏎") for word in words]


# ---- all models -------------------------------------------------------------------------------------------------------

@check
def keeps_its_policy_and_asks_only_this_server(page):
    page.driver.get_log("performance")
    page.driver.get_log("browser")
    page.open()
    page.translate()
    page.complete()
    page.hover(page.all("#completion .token")[2])
    log = page.driver.get_log("browser")
    expect(not log, "the console says", log[:2])
    sent = [json.loads(entry["message"])["message"] for entry in page.driver.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    expect(len(urls) >= 4, "requests:", urls)
    expect(all(url.startswith((page.server.address + "/", "data:")) for url in urls), "requests:", urls)
    policy = next(m["params"]["response"]["headers"]["Content-Security-Policy"] for m in sent
                  if m["method"] == "Network.responseReceived" and m["params"]["response"]["url"] == page.server.address + "/")
    expect("unsafe" not in policy and "default-src 'none'" in policy, policy)


@check
def the_policy_stops_what_is_put_into_the_page(page):
    page.open()
    page.run("""const add = (tag, text) => { const node = document.createElement(tag); node.append(text); document.body.append(node); };
        try { add("script", "document.title = 'hostile'"); } catch { }
        try { document.body.insertAdjacentHTML("beforeend", "<b id=hostile>x</b>"); } catch { }
        add("style", "h1 { display: none }");""")
    page.settle()
    expect("hostile" not in page.driver.title and not page.all("#hostile") and page.find("h1").is_displayed(), "it runs what is put in")
    page.driver.get_log("browser")


@check
def models_are_grouped_and_described(page):
    page.open()
    groups = {g.get_attribute("label"): [o.text for o in g.find_elements(By.TAG_NAME, "option")] for g in page.all("#model optgroup")}
    expect(groups == {"Translation": ["en-fr"], "Language models": ["shakespeare"], "Encoders": ["minilm"]}, groups)
    expect(page.find("h1").text == "English → French" and "en-fr" in page.driver.title, page.find("h1").text, page.driver.title)
    expect("0123456789abcdef" in page.find("#facts").text and "256" in page.find("#facts").text, page.find("#facts").text)
    page.choose("minilm")
    expect(not page.find("#go").is_displayed() and "/v1/embeddings" in page.find("#embeds").text, "an encoder")
    page.choose("shakespeare")
    expect(page.find("#go").text == "Generate" and page.find("#option-temperature").is_displayed(), "a language model")


@check
def both_languages_and_themes(page):
    paper = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((a, b) => a + Number(b), 0)"
    page.open("dark")
    expect(page.run(paper) < 150, "dark paper:", page.run(paper))
    page.find("#theme").click()
    expect(page.run(paper) > 600, "light paper:", page.run(paper))
    page.translate(n_best=2)
    page.all(".hypotheses button")[1].click()
    page.find("#language").click()
    page.settle()
    expect(page.find("#go").text == "翻译" and page.find("h1").text == "英语 → 法语", page.find("h1").text)
    expect(page.find(".best").text.endswith("!"), "the chosen hypothesis is lost")
    page.find("#language").click()
    expect(page.find("#go").text == "Translate", page.find("#go").text)


@check
def a_phone_shows_all_of_it(page):
    wide = "return [document.documentElement.scrollWidth, innerWidth, document.body.scrollWidth]"
    page.open(width=360)
    page.translate(LINE + " " + "incomprehensibilities" * 4 + "\nAnother line", n_best=3)
    expect(max(page.run(wide)) == 360, "a translation is", page.run(wide))
    page.complete("Donaudampfschifffahrtsgesellschaft" * 3, 30)
    expect(max(page.run(wide)) == 360, "a text is", page.run(wide))
    expect(page.find("#next").is_displayed() and page.find("#replay").is_displayed(), "parts are missing")


@check
def words_can_be_read_on_every_tint(page):
    for theme in ("light", "dark"):
        page.open(theme)
        page.translate()
        for chip in page.chips("target")[::2]:
            page.hover(chip)
            least = min(contrast for contrast, _ in page.contrasts())
            expect(least >= 4.5, theme, "contrast", least)
        page.complete()
        least = min(contrast for contrast, _ in page.contrasts())
        expect(least >= 4.5, theme, "contrast of a text", least)


# ---- translation ------------------------------------------------------------------------------------------------------

@check
def pointing_at_a_token_shows_its_alignment(page):
    page.open()
    page.translate(n_best=1)
    source, target = page.chips("source"), page.chips("target")
    expect([page.text_of(c.find_element(By.CLASS_NAME, "text")).strip("␣") for c in source] == SOURCE, "source tokens")
    for position in (1, 4):
        page.hover(target[position])
        true = weights(position, len(SOURCE))[:-1]
        expect(all(map(is_percent, weight_texts(source), true)), position, weight_texts(source), true)
        tints = [chip.value_of_css_property("background-color") for chip in source]
        expect(len(set(tints)) > 2, "tints:", tints)
        expect(len(page.all(".line .links path")) == sum(w >= 0.02 for w in true), "curves")
        best = SOURCE[true.index(max(true))]
        expect(best in page.find(".line .most").text, page.find(".line .most").text)
    page.hover(source[0])
    true = [weights(j, len(SOURCE))[0] for j in range(len(SOURCE))]
    expect(all(map(is_percent, weight_texts(target), true)), "from the source:", weight_texts(target), true)
    expect(weight_texts(source) == [""] * len(source), "the source has weights, too")


@check
def what_is_clicked_stays(page):
    page.open()
    page.translate(n_best=1)
    page.chips("target")[1].click()
    page.hover(page.chips("target")[3])
    page.hover(page.find("h1"))
    true = weights(1, len(SOURCE))[:-1]
    expect(all(map(is_percent, weight_texts(page.chips("source")), true)), weight_texts(page.chips("source")), true)
    expect(page.chips("target")[1].get_attribute("aria-pressed") == "true", "it is not marked")


@check
def hypotheses_can_be_chosen(page):
    page.open()
    page.translate(beam=3, n_best=5)
    sent = page.server.last("/v1/translate")["body"]
    expect(sent == {"model": "en-fr", "texts": [LINE], "beam": 3, "n_best": 3, "alignment": "soft", "tokens": True}, sent)
    buttons = page.all(".hypotheses button")
    expect(len(buttons) == 3 and "-1.500" in buttons[1].text and "-3.250" in buttons[1].text, [b.text for b in buttons])
    buttons[0].click()
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    expect([b.get_attribute("aria-checked") for b in buttons] == ["false", "false", "true"], "arrow keys do not choose")
    expect(page.find(".best").text.endswith("! !") and len(page.chips("target")) == len(SOURCE) + 2, page.find(".best").text)
    page.hover(page.chips("target")[-1])
    true = weights(len(SOURCE) + 1, len(SOURCE))[:-1]
    expect(all(map(is_percent, weight_texts(page.chips("source")), true)), weight_texts(page.chips("source")), true)


@check
def each_line_is_translated(page):
    page.open()
    page.translate("one two\n\n  \nthis is endless", n_best=1)
    expect([p.text for p in page.all(".best")] == ["TWO ONE", "ENDLESS IS THIS"], [p.text for p in page.all(".best")])
    expect(len(page.all(".line .notice")) == 1, "what is cut off is not told")
    expect(page.find("#replay-line").text == "rapt translate en-fr", page.find("#replay-line").text)


@check
def unknown_words_are_told(page):
    page.open()
    page.translate("one zork two zorkest\nthree", n_best=1)
    notices = [one.text for one in page.all(".line .notice")]
    expect(len(notices) == 1 and "zork" in notices[0] and "zorkest" in notices[0], notices)


@check
def an_example_is_offered_while_there_is_no_text(page):
    page.open()
    expect("will stand here" in page.find("#result").text and not page.find("#copy-result").is_displayed(), "the empty state")
    page.find("#example button").click()
    page.wait(lambda: page.is_idle() and page.all(".line"))
    expect(page.server.last("/v1/translate")["body"]["texts"] == ["Where are my keys?"], page.server.last("/v1/translate"))
    expect(not page.find("#example").is_displayed(), "the example stays")
    page.find("#text").clear()
    page.run("document.getElementById('text').dispatchEvent(new Event('input'))")
    expect(page.find("#example").is_displayed(), "it does not come back")
    page.choose("shakespeare")
    page.find("#example button").click()
    page.wait(lambda: page.is_idle() and page.tokens())
    expect(page.server.last("/v1/completions")["body"]["prompt"] == "Once upon a time", page.server.last("/v1/completions"))


@check
def source_and_translation_stand_beside_each_other(page):
    page.open(width=1400)
    page.translate("one two\nthree four")
    expect(page.find("#result").text == "TWO ONE\nFOUR THREE", page.find("#result").text)
    text, result = page.find("#text").rect, page.find("#result").rect
    expect(result["x"] >= text["x"] + text["width"] and abs(result["y"] - text["y"]) < 30, text, result)
    facts, line = page.find("#facts").rect, page.find(".line").rect
    expect(facts["y"] > line["y"] + line["height"], "the fingerprint stands before the translations")
    page.run("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
    page.find("#copy-result").click()
    page.settle()
    expect(page.run("return window.copied") == "TWO ONE\nFOUR THREE", "the copy", page.run("return window.copied"))
    page.open(width=768)
    page.translate("one two")
    text, result = page.find("#text").rect, page.find("#result").rect
    expect(result["y"] > text["y"] + text["height"], "beside each other where there is no room", text, result)


@check
def alignments_by_keyboard_alone(page):
    page.open()
    page.find("#text").click()
    ActionChains(page.driver).send_keys(LINE).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    page.wait(lambda: page.is_idle() and page.all(".line"))
    for _ in range(12):
        page.press(Keys.TAB)
        if page.run("return document.activeElement.dataset.side === 'target'"):
            break
    else:
        raise AssertionError("12 times Tab did not reach the target tokens")
    expect(page.run("return getComputedStyle(document.activeElement).outlineStyle") not in ("none", ""), "the focus cannot be seen")
    page.press(Keys.HOME, Keys.ARROW_RIGHT)
    true = weights(1, len(SOURCE))[:-1]
    expect(all(map(is_percent, weight_texts(page.chips("source")), true)), weight_texts(page.chips("source")), true)


# ---- texts ------------------------------------------------------------------------------------------------------------

def continuation(begun, count):
    return [WORDS[(begun + k) % len(WORDS)] for k in range(count)]


@check
def a_text_is_shown_as_it_comes(page):
    page.open()
    page.complete(count=12)
    sent = page.server.last("/v1/completions")["body"]
    expect(sent == {"model": "shakespeare", "prompt": "Once upon a time", "stream": True, "logprobs": 5, "temperature": 0.8,
                    "top_p": 1, "max_tokens": 12}, sent)
    expect(page.tokens() == shown_as(continuation(4, 12)), page.tokens())
    expect(page.find("#completion .prompt").text == "Once upon a time", "the prompt")
    expect(len(page.all("#completion br")) == continuation(4, 12).count("\n"), "line breaks")
    expect(page.find("#replay-line").text == REPLAY, page.find("#replay-line").text)
    expect("12 tokens" in page.find("#status").text, page.find("#status").text)
    expect(not page.all("img, b#x") and "hostile" not in page.driver.title, "texts are read as HTML")
    expect(HOSTILE in page.tokens(), "a token is missing")


@check
def each_token_shows_its_alternatives(page):
    page.open()
    page.complete(count=8)
    for position in (0, 5):
        page.hover(page.all("#completion .token")[position])
        true = top(4 + position)
        expect(len(page.alternatives()) == len(true), len(page.alternatives()))
        for button, (token, log_prob) in zip(page.alternatives(), true):
            shown = number(button.find_element(By.CLASS_NAME, "how-much").text)
            expect(near(shown, math.exp(log_prob), 2), shown, math.exp(log_prob))
            expect(page.text_of(button.find_element(By.TAG_NAME, "bdi")).replace("␣", " ") == shown_as([WORDS[token]])[0], button.text)
            fill, track = (button.find_element(By.CLASS_NAME, c).size["width"] for c in ("fill", "track"))
            expect(abs(fill / track - math.exp(log_prob)) < 0.02, "bar", fill, track)
        came = page.find("#next .came").text
        expect("0.5000" in came, "what came:", came)


@check
def an_alternative_continues_the_text(page):
    page.open()
    page.complete(count=8)
    page.all("#completion .token")[2].click()
    page.alternatives()[3].click()
    page.wait(page.is_idle)
    chosen = top(6)[3][0]
    sent = page.server.last("/v1/completions")["body"]
    expect(sent["prompt"] == [0, 1, 2, 3, 4, 5, chosen], "the prompt as ids:", sent["prompt"])
    expect(page.server.last("/v1/tokenize")["body"] == {"model": "shakespeare", "text": "Once upon a time", "special": True}, "its ids")
    expect(page.tokens() == shown_as(continuation(4, 2) + [WORDS[chosen]] + continuation(7, 8)), page.tokens())
    expect(page.find("#completion .picked").text == shown_as([WORDS[chosen]])[0].strip(), page.find("#completion .picked").text)
    expect(len(page.alternatives()) == 5, "the alternatives of the place are gone")
    page.find("#more").click()
    page.wait(page.is_idle)
    expect(len(page.tokens()) == 19, "more:", len(page.tokens()))
    expect(len(page.server.last("/v1/completions")["body"]["prompt"]) == 15, "all of it is the prompt")


@check
def without_ids_a_text_is_continued_from_its_characters(page):
    page.open()
    page.complete("noids", 3)
    page.all("#completion .token")[1].click()
    names = [page.text_of(button.find_element(By.TAG_NAME, "bdi")) for button in page.alternatives()]
    expect([not button.is_enabled() for button in page.alternatives()] == [name.startswith("bytes:") for name in names], names)
    page.alternatives()[2].click()
    page.wait(page.is_idle)
    sent = page.server.last("/v1/completions")["body"]["prompt"]
    expect(sent == "noids" + WORDS[1] + WORDS[top(2)[2][0]], sent)


@check
def a_character_of_several_tokens_comes_with_the_last(page):
    page.open()
    page.complete("split", 4)
    expect(page.tokens() == shown_as([WORDS[1], "·", WORDS[3], WORDS[4] + "の"]), page.tokens())
    page.all("#completion .token")[3].click()
    page.alternatives()[1].click()
    page.wait(page.is_idle)
    expect(page.server.last("/v1/completions")["body"]["prompt"] == [0, 1, 2, 3, top(4)[1][0]], "ids know it")


@check
def an_alternative_by_keyboard_alone(page):
    page.open()
    page.complete(count=6)
    page.run("document.getElementById('go').focus()")
    for _ in range(6):
        page.press(Keys.TAB)
        if page.run("return document.activeElement.closest('#completion') !== null"):
            break
    else:
        raise AssertionError("6 times Tab did not reach the text")
    page.press(Keys.ARROW_RIGHT, Keys.ENTER, Keys.ARROW_DOWN, Keys.ENTER)
    page.wait(page.is_idle)
    sent = page.server.last("/v1/completions")["body"]
    expect(sent["prompt"] == [0, 1, 2, 3, 4, top(5)[1][0]], sent["prompt"])
    expect(page.run("return document.activeElement.dataset.position") == "1", "the focus is lost")
    page.press(Keys.ENTER, Keys.ESCAPE)
    expect(page.run("return document.activeElement.dataset.position") == "1", "Escape does not lead back")


@check
def options_are_sent(page):
    page.open()
    page.choose("shakespeare")
    for name, value in (("temperature", 0.25), ("top_k", 40), ("top_p", 0.9), ("seed", 7)):
        page.set(name, value)
    page.complete(count=3)
    sent = page.server.last("/v1/completions")["body"]
    expected = {"temperature": 0.25, "top_k": 40, "top_p": 0.9, "seed": 7, "max_tokens": 3}
    expect({key: sent.get(key) for key in expected} == expected, sent)


@check
def stop_ends_it_and_keeps_what_came(page):
    page.open()
    page.complete("slow", 100, wait=False)
    page.wait(lambda: len(page.tokens()) >= 3)
    expect(page.find("#go").text == "Stop", page.find("#go").text)
    page.find("#go").click()
    page.wait(page.is_idle)
    count = len(page.tokens())
    page.wait(lambda: page.server.requests("/v1/completions")[-1]["method"] == "gone")
    expect(3 <= count < 90 and len(page.tokens()) == count, count, "tokens, then", len(page.tokens()))
    expect("Stopped" in page.find("#status").text and not page.find("#problem").is_displayed(), page.find("#status").text)


@check
def choosing_interrupts_what_runs(page):
    page.open()
    page.complete("slow", 100, wait=False)
    page.wait(lambda: len(page.tokens()) >= 3)
    page.all("#completion .token")[0].click()
    page.alternatives()[1].click()
    page.wait(lambda: len(page.server.requests("/v1/completions")) > 1 and page.is_idle(), 40)
    expect(page.tokens() == shown_as([WORDS[top(1)[1][0]]] + continuation(2, 100)), page.tokens()[:5], len(page.tokens()))


# ---- what goes wrong --------------------------------------------------------------------------------------------------

@check
def errors_are_told_as_text(page):
    page.open()
    page.translate("refuse")
    said = page.find("#problem").text
    expect("503" in said and HOSTILE in said and "7 s" in said, said)
    expect(not page.all("#problem *"), "it is read as HTML")
    page.translate("well")
    expect(not page.find("#problem").is_displayed(), "it stays")
    page.find("#text").clear()
    page.find("#go").click()
    expect("no text" in page.find("#problem").text, page.find("#problem").text)
    for text, reason in (("this will fail", "the model failed"), ("this will break", "broke off")):
        page.complete(text, 9)
        expect(reason in page.find("#problem").text, text, page.find("#problem").text)
        expect(len(page.tokens()) == 3 and page.is_idle(), "what came before is lost")
    page.driver.get_log("browser")


@check
def a_server_that_is_gone_is_told(page):
    server = Server()
    gone = MockPage(page.driver, server).open()
    server.stop()
    gone.translate()
    expect("cannot be reached" in gone.find("#problem").text, gone.find("#problem").text)
    page.driver.get_log("browser")


@check
def a_key_is_asked_for_and_sent(page):
    server = Server("s3cret")
    try:
        locked = MockPage(page.driver, server).open()
        locked.wait(lambda: locked.find("#key").is_displayed())
        expect(not any(locked.find(part).is_displayed() for part in ("#problem", "#page")), "it shows more than the question")
        expect(locked.run("return document.activeElement.id") == "key-text", "the focus is elsewhere")
        locked.press(*"wrong", Keys.ENTER)
        locked.wait(lambda: len(server.requests("/v1/models")) == 2)
        locked.wait(lambda: locked.find("#problem").is_displayed())
        expect(locked.find("#key").is_displayed() and "key" in locked.find("#problem").text, "a wrong key")
        locked.find("#key-text").send_keys("s3cret", Keys.ENTER)
        locked.wait(lambda: locked.find("#page").is_displayed())
        expect(not locked.find("#key").is_displayed() and not locked.find("#problem").is_displayed(), "the question stays")
        locked.translate()
        expect(server.last("/v1/translate")["key"] == "Bearer s3cret", server.last("/v1/translate"))
        locked.find("#explain").click()
        locked.wait(lambda: server.requests("/v1/explain"))
        asked = server.last("/v1/explain")
        expect(asked["method"] == "POST" and asked["key"] == "Bearer s3cret", "the explanation:", asked)
        expect(len(page.driver.window_handles) == 1, "and it opens a tab")
        locked.open()
        expect(locked.find("#page").is_displayed(), "the key is forgotten when the page is loaded again")
    finally:
        server.stop()
    page.driver.get_log("browser")


# ---- explanations -----------------------------------------------------------------------------------------------------

@check
def explanations_open_in_a_tab(page):
    page.open()
    page.translate("it's <b> & ü\nmore", n_best=2)
    expect(explained(page, page.find("#explain")) == "explained it's <b> & ü", "of the text")
    asked = page.server.last("/v1/explain")
    expect(asked["method"] == "GET" and "model=en-fr" in asked["target"] and asked["site"] == "same-origin", asked)
    page.all(".line .hypotheses button")[1].click()
    expect(explained(page, page.find(".line a.button")) == "explained it's <b> & ü", "of the translation")
    expect("target=%C3%9C+%26" in page.server.last("/v1/explain")["target"], page.server.last("/v1/explain"))
    page.complete("Once", 2)
    expect(explained(page, page.find("#output a.button")) == "explained Once" + "".join(continuation(1, 2)), "of a whole text")
    count = len(page.server.requests("/v1/explain"))
    page.find("#text").clear()
    page.find("#explain").click()
    expect("no text" in page.find("#problem").text, page.find("#problem").text)
    expect(len(page.server.requests("/v1/explain")) == count and len(page.driver.window_handles) == 1, "it asks for nothing")
    page.driver.get_log("browser")


def main():
    passed = failed = 0
    driver, server = start(), Server()
    driver.set_script_timeout(20)
    try:
        for function in CHECKS:
            name = function.__name__.replace("_", " ")
            try:
                function(MockPage(driver, server))
                print("ok   ", name)
                passed += 1
            except Exception as error:  # whatever it was, it is this check's failure
                print("FAIL ", name, "\n     ", str(error).split("\n")[0] or traceback.format_exc(limit=-2))
                failed += 1
    finally:
        driver.quit()
        server.stop()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
