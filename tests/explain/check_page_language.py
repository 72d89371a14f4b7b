"""check_page_language.py: the page speaks English or Chinese: as the address says, else as the reader chose, else as the browser
does; all of it; and what the reader looks at stays while the language changes. For check_page.py, which runs it."""
import re

from page_browser import FOLDER, Keys, choose_head, expect

CHECKS = []
ANY_PAGE = []  # how the language is chosen, which no content changes


def check(function):
    CHECKS.append(function)
    return function


def on_any_page(function):
    ANY_PAGE.append(function)
    return function


def language(page):
    return page.run("return document.documentElement.lang")


def titles(page):
    return [node.text for node in page.all("h2") if node.is_displayed()]


def speak(page, name):
    """As a reader does."""
    if language(page)[:2] != name:
        page.find("#language").click()
        page.settle()
    expect(language(page) == {"en": "en", "zh": "zh-CN"}[name], "the page speaks", language(page))


# Texts that are seen or spoken, but those that come from the model.
TEXTS = """
    const model = "code, .formula, bdi, .token .text, .token .gives, h4, .brand, #title, #whole, #language, .name, .what, b, .shape";
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = [];
    while (walk.nextNode()) {
        const parent = walk.currentNode.parentElement;
        if (!parent.closest(model + ", script, style, noscript, [hidden]"))
            texts.push(walk.currentNode.textContent);
    }
    for (const node of document.querySelectorAll("main *")) {
        for (const name of ["aria-label", "title", "placeholder", "aria-roledescription"]) {
            if (node.hasAttribute(name) && !node.matches(".card, #cards canvas"))
                texts.push(node.getAttribute(name));
        }
    }
    return texts;"""


def assert_all_chinese(page, texts):
    names = {token["text"] for sequence in page.data["sequences"].values() for token in sequence}
    names |= {token["text"] for p in page.data["predictions"] for token in p["tokens"]}
    names |= set(page.data.get("unknown_words", []))
    names = sorted((name.strip() for name in names if name.strip()), key=len, reverse=True)
    for text in set(texts):
        bare = re.sub(r"softmax|logits|其id|“probabilities”|例如scores|GPT|rapt explain|--full|[-\d.]e[-+]?\d+|inf|nan|^id \d+$", "", text)
        for name in names:
            bare = bare.replace(name, "")
        expect(not re.search(r"[A-Za-z]{2,}", bare), "not in Chinese:", text)


@on_any_page
def the_browser_chooses_the_language(page):
    agent = page.run("return navigator.userAgent")
    for accepted, wanted in (("zh-TW", "zh-CN"), ("zh-CN,en", "zh-CN"), ("fr-FR", "en"), ("en-US", "en")):
        page.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": accepted})
        page.open()
        expect(language(page) == wanted, accepted, "gives", language(page))


@on_any_page
def the_address_chooses_the_language(page):
    for name, wanted in (("zh", "zh-CN"), ("en", "en")):
        page.driver.get("about:blank")
        page.driver.get(f"file://{FOLDER}/{page.kind}.html#lang={name}")
        page.settle()
        expect(language(page) == wanted, name, "gives", language(page))
    page.find("#language").click()
    page.settle()
    expect(language(page) == "zh-CN" and page.driver.current_url.endswith("#lang=zh"), page.driver.current_url)


@check
def all_of_it_is_chinese(page):
    english = titles(page)
    speak(page, "zh")
    expect(len(titles(page)) == len(english) and not any(re.search("[A-Za-z]", text) for text in titles(page)), titles(page))
    page.driver.get_log("browser")
    texts = page.run(TEXTS)
    page.find('#words [data-value="probability"]').click()
    of_parts = page.of_all_parts(TEXTS)
    page.search("probabilities")
    assert_all_chinese(page, [*texts, *of_parts, *page.run(TEXTS)])
    expect(len(of_parts) > 2 * len(texts), "one part alone:", len(of_parts))
    canvas = page.find("#attention-map canvas")
    page.run("arguments[0].focus()", canvas)
    page.press(Keys.PAGE_UP, Keys.HOME, Keys.ARROW_DOWN)
    readout = page.find("#attention-map output").text
    expect(re.match(r"查询 1 .* · 键 0 .*：≈?[\d.e-]+$", readout.replace("\n", " ")), readout)
    expect(not page.driver.get_log("browser"), "errors in the console")


@check
def what_was_chosen_stays(page):
    choose_head(page, 1, 0)
    page.find('#words [data-value="probability"]').click()
    page.all(".token")[1].click()
    page.find("#search").send_keys("norm2")
    page.settle()

    def seen():
        return [page.run(script) for script in (
            "return [...document.querySelectorAll('#heads [aria-checked=true]')].map(b => [b.dataset.block, b.dataset.head])",
            "return [...document.querySelectorAll('.token')].findIndex(b => b.getAttribute('aria-pressed') === 'true')",
            "return document.querySelector('#words [data-value=probability]').getAttribute('aria-checked')",
            "return document.querySelector('#search').value",
            "return [...document.querySelectorAll('#cards .card-head code')].map(c => c.textContent)",
            "return [...document.querySelectorAll('.token .weight')].map(c => c.textContent)")]
    before = seen()
    for name in ("zh", "en"):
        speak(page, name)
        expect(seen() == before, name, seen(), "not", before)
    expect(page.run("return document.activeElement.id") == "language", "the focus leaves the button")
    page.find("#part-after")


@on_any_page
def the_choice_is_remembered(page):
    speak(page, "zh")
    page.open()
    expect(language(page) == "zh-CN", "opened again, it speaks", language(page))
    page.find("#theme").click()
    expect(page.find("#theme").text == "浅色", "the theme's button says", page.find("#theme").text)
    speak(page, "en")
    page.open()
    expect(language(page) == "en", "opened again, it speaks", language(page))


@check
def it_fits_a_phone_in_chinese(page):
    page.open(width=400)
    speak(page, "zh")
    wide = page.run("return document.documentElement.scrollWidth")
    expect(wide <= 400, "wider than the screen:", wide)
