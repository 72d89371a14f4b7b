"""check_lesson.py PAGE FOLDER [STEPS [unfused or plain]]: the lesson in headless Chromium; PAGE is a file, or an address of `rapt
serve`. It leaves in FOLDER what the page saves (lesson.yaml, en-fr.tsv), its commands (command), and the checksum of the model
that it trained (sha256), after 50 steps; with STEPS it makes no further checks. Chromium has no option that takes relaxed SIMD away. So
"unfused" has a processor without fused multiply-adds, which the program finds out by its probe, and "plain" a check of the module
that always fails, as where an engine does not know the instructions: what the page then starts has none. For check_lesson.sh."""
import json
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../explain"))
from page_browser import Keys, Page, expect, start  # noqa: E402

PAGE, OUT = sys.argv[1], pathlib.Path(sys.argv[2])
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 50
KIND = sys.argv[4] if len(sys.argv) > 4 else ""
ADDRESS = PAGE if PAGE.startswith("http:") else "file://" + PAGE
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Lesson(Page):
    def __init__(self, driver):
        self.driver = driver

    def open(self, language="en", theme="light", width=1280):
        self.resize(theme, width)
        self.driver.get("about:blank")
        self.driver.get(f"{ADDRESS}#lang={language}")
        self.until(lambda: self.find("#train").is_enabled(), 60)

    def resize(self, theme, width):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})

    def until(self, holds, seconds=120):
        end = time.monotonic() + seconds
        while not holds():
            expect(time.monotonic() < end, "waited in vain:", self.find("#broken").text, self.text("#state"),
                   self.text("#unread"))
            time.sleep(0.05)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def choose(self, option, value):
        self.click(f'[data-option="{option}"] [data-value="{value}"]')
        self.until(lambda: self.text('[data-figure="step"]').startswith("0 ") and self.find("#train").is_enabled())

    def step(self):
        return int(self.text('[data-figure="step"]').split()[0])

    def one_step(self):
        before = self.step()
        self.click("#once")
        self.until(lambda: self.step() == before + 1)

    def train_to(self, step):
        self.click("#train")
        self.until(lambda: self.step() >= step)
        self.pause()

    def pause(self):
        self.click("#train")
        self.until(lambda: self.text("#state").startswith("Paused"))


@check
def trains_and_sums(page):
    """Beside it the figures that docs/lesson.md tells: from the opening to the first step, and a step's median."""
    began = time.monotonic()
    page.open()
    page.click("#train")
    page.until(lambda: page.step() >= 1)
    print(f"first step {time.monotonic() - began:.2f} s after opening;", end=" ")
    page.until(lambda: page.step() >= STEPS)
    page.pause()
    print(f"step {page.step()}: {page.text('[data-figure=speed]')} ms a step; {page.text('#facts')}")
    page.click("#hash")
    page.until(lambda: len(page.text("#sum")) == 64)
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(OUT)})
    for file in ("lesson.yaml", "en-fr.tsv"):
        page.click(f'[data-file="{file}"]')
        page.until((OUT / file).exists)
    (OUT / "command").write_text(page.text("#command"), encoding="utf-8")
    (OUT / "sha256").write_text(page.text("#sum"), encoding="utf-8")
    expect(f"--max-steps {page.step()}\n" in page.text("#command"), page.text("#command"))


@check
def shows_what_the_model_does(page):
    loss = float(page.text('[data-figure="loss"]'))
    expect(loss < 6.7, "the loss has not fallen:", loss)
    before = page.run("return [...document.querySelectorAll('#bars .how-much')].map(node => node.textContent)")
    page.run("const s = document.getElementById('slider-temperature'); s.value = 0.1; s.dispatchEvent(new Event('input'))")
    page.until(lambda: page.run("return [...document.querySelectorAll('#bars .how-much')].map(n => n.textContent)") != before)
    first = float(page.text("#bars .how-much").rstrip("%"))
    expect(first > float(before[0].rstrip("%")), "a low temperature sharpens:", first, before)
    page.run("const s = document.getElementById('slider-top_k'); s.value = 5; s.dispatchEvent(new Event('input'))")
    page.until(lambda: len(page.all("#bars li")) == 2)
    page.click("#draw")
    page.until(lambda: len(page.all("#drawn li")) == 3)
    expect(len(page.all("#heads [role=radio]")) == 3 * 5, "a mean and four heads of three kinds")
    page.click('#heads [data-kind="decoder.self_attention"][data-head="2"]')
    expect("head 2" in page.text("#map-title"), page.text("#map-title"))


def figures_of(page):
    return page.run("return [...document.querySelectorAll('#bars .how-much, #answer')].map(node => node.textContent)")


@check
def switches_heads_off(page):
    """The sentence is read without them, beside it with all; all on is as before, and so is a new run."""
    whole, heads = figures_of(page), page.all("#heads .off")
    expect(len(heads) == 3 * 4, "each head can be switched off, the mean cannot")
    expect(not page.find("#answer-whole").is_displayed(), "all heads are on")
    page.run("document.querySelector('#heads .off[tabindex=\"0\"]').focus()")
    for _ in range(9):
        page.press(Keys.ARROW_RIGHT)
    expect(page.text("#off-state") == "", "arrow keys switch nothing")
    page.press(Keys.SPACE)
    page.until(lambda: page.find("#answer-whole").is_displayed())
    off = page.find('#heads [aria-pressed="true"]')
    expect(off.get_attribute("data-off") == "decoder.0.cross_attention.1", off.get_attribute("data-off"))
    expect(off.get_attribute("aria-label") == "off: Decoder: cross-attention, block 0, head 1", off.get_attribute("aria-label"))
    page.until(lambda: "(" in page.text("#bars .how-much"))
    expect(whole[1].rstrip("%") in " ".join(figures_of(page)), "with all heads on:", whole, figures_of(page))
    expect("Heads that are off: 1" in page.text("#off-state"), page.text("#off-state"))
    page.click('#heads [role=radio][data-kind="decoder.cross_attention"][data-head="1"]')
    expect(page.text("#map-title").endswith("switched off"), page.text("#map-title"))
    page.one_step()
    expect(page.find("#answer-whole").is_displayed(), "a step leaves it off")
    page.click("#all-on")
    page.until(lambda: not page.find("#answer-whole").is_displayed() and "(" not in page.text("#bars .how-much"))
    expect(page.all('#heads [aria-pressed="true"]') == [] and not page.find("#all-on").is_displayed(), "all are on")
    page.click('#heads [data-off="encoder.0.attention.0"]')
    page.until(lambda: page.find("#answer-whole").is_displayed())
    page.click("#hash")
    page.until(lambda: page.find("#sum-line").is_displayed() and len(page.text("#sum")) == 64)


@check
def reads_what_is_typed(page):
    box, everything = page.find("#text"), Keys.CONTROL + "a" + Keys.NULL
    box.send_keys(everything, "I saw a zebra.")
    page.until(lambda: "zebra" in page.text("#unread"))
    page.find("#target").send_keys("j'ai faim .")
    page.until(lambda: "loss" in page.text("#answer-loss") and len(page.all("#reads .token")) >= 4)  # of the whole text given
    box.send_keys(everything, Keys.DELETE)
    page.until(lambda: "empty" in page.text("#unread"))
    box.send_keys("a " * 40)
    page.until(lambda: "model takes 24" in page.text("#unread"))
    page.click("#examples button")
    page.until(lambda: page.text("#source .token .text") == "where" and not page.find("#unread").is_displayed())


@check
def moves_by_keys(page):
    page.run("document.querySelector('#reads .token').focus()")
    page.press(Keys.ARROW_RIGHT)
    expect(page.run("return document.activeElement === document.querySelectorAll('#reads .token')[1]"), "an arrow key moves")
    page.run("document.querySelector('svg.curve').focus()")
    page.press(Keys.HOME)
    expect(page.text("#curve output").startswith("step 1:"), page.text("#curve output"))
    page.run("document.getElementById('once').focus()")
    before = page.step()
    expect(page.find("#sum-line").is_displayed(), "the checksum of this step")
    page.press(Keys.ENTER)
    page.until(lambda: page.step() == before + 1)
    expect(not page.find("#sum-line").is_displayed(), "it is of the step before")
    unnamed = page.run("""return [...document.querySelectorAll("button, input, canvas[tabindex], svg[tabindex]")].filter(node =>
        node.getClientRects().length && !node.ariaLabel && !node.textContent.trim() && !node.labels?.length &&
        !node.getAttribute("aria-label")).map(node => node.outerHTML.slice(0, 80))""")
    expect(unnamed == [], "no name for a screen reader:", unnamed)


@check
def explains_the_step(page):
    windows, step = page.driver.window_handles, page.step()
    page.click("#explain")
    page.until(lambda: len(page.driver.window_handles) > len(windows))
    page.driver.switch_to.window(page.driver.window_handles[-1])
    page.until(lambda: page.find("#page").is_displayed())
    expect("Where are my keys?" in page.driver.title, page.driver.title)
    expect(f"step {step}" in page.text("#facts"), page.text("#facts"))
    page.driver.close()
    page.driver.switch_to.window(windows[0])


@check
def begins_anew(page):
    page.choose("heads", 2)
    expect(len(page.all("#earlier li")) == 1, "the earlier run stays")
    expect(page.text("#off-state") == "" and page.all('#heads [aria-pressed="true"]') == [], "a new run has all heads on")
    expect(len(page.all("#heads [role=radio]")) == 3 * 3, "a mean and two heads")
    page.one_step()
    page.find("#seed").send_keys(Keys.CONTROL + "a" + Keys.NULL, "7", Keys.TAB)
    page.until(lambda: page.step() == 0)
    page.click('[data-option="data"] [data-value="zh"]')
    page.until(lambda: page.text("#source .token .text").startswith("Where") and page.find("#train").is_enabled())
    page.one_step()


@check
def trains_on_after_choices(page):
    page.click("#train")
    page.until(lambda: page.step() >= 3)
    earlier = len(page.all("#earlier li"))
    page.run("for (const value of [32, 64]) document.querySelector(`[data-option=width] [data-value='${value}']`).click()")
    page.until(lambda: len(page.all("#earlier li")) == earlier + 1 and page.text("#state") == "Training" and page.step() >= 1, 30)
    page.pause()


@check
def speaks_both_languages(page):
    step = page.text('[data-figure="step"]').split()[0]
    page.click("#language")
    page.until(lambda: page.text("h1").startswith("一个"))
    expect(page.text('[data-figure="step"]').startswith(step), "the run stays")
    page.click("#once")
    page.until(lambda: page.text('[data-figure="step"]').startswith(str(int(step) + 1)))
    page.click("#language")
    page.until(lambda: page.text("h1").startswith("A Transformer"))


@check
def shows_licenses(page):
    """Of rapt and of what is linked into its program; which that is: check_wasm.sh."""
    expect(not page.run("return document.getElementById('licenses').open"), "they are closed at first")
    page.click("#licenses summary")
    texts = page.run("""return [...document.querySelectorAll("#licenses h3")].map(node =>
        [node.textContent, node.nextElementSibling.textContent])""")
    expect(page.find("#licenses pre").is_displayed(), "a click opens them")
    expect(len(texts) >= 7 and texts[0][0] == "rapt", [name for name, _ in texts])
    short = [name for name, text in texts if len(text) < 500 or not re.search("permi[ts]|allow", text, re.I)]
    expect(short == [], "no license:", short)


@check
def fits(page):
    for theme in ("light", "dark"):
        for width in (400, 800, 1400):
            page.resize(theme, width)
            page.until(lambda: page.run("return document.documentElement.dataset.theme") == theme)
            page.settle()
            cut = page.run("""return [...document.querySelectorAll("main *, header *, footer *")].filter(node =>
                node.getClientRects().length && node.getBoundingClientRect().right > innerWidth + 1 &&
                !node.closest(".scrolls, pre")).map(node => node.outerHTML.slice(0, 80))""")
            expect(cut == [] and page.run("return document.documentElement.scrollWidth <= innerWidth"),
                   width, "is too narrow for", cut)


def assert_quiet(driver):
    """No errors, nothing that the policy has stopped, and no request but of the page itself."""
    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    expect(errors == [], "errors in the console:", errors)
    requests = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = {r["params"]["request"]["url"] for r in requests if r["method"] == "Network.requestWillBeSent"}
    foreign = [url for url in urls if not url.startswith((ADDRESS, "blob:", "data:", "about:", "chrome:"))]
    expect(foreign == [], "asks the network for", foreign)


def main():
    driver, failed = start(*["--js-flags=--no-enable-fma3"][:KIND == "unfused"]), 0
    try:
        if KIND == "plain":
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "WebAssembly.validate = () => false"})
        page = Lesson(driver)
        for function in CHECKS if len(sys.argv) == 3 else (trains_and_sums, explains_the_step):
            try:
                function(page)
                print("ok   ", function.__name__)
            except Exception as error:  # noqa: BLE001: each check is told
                failed += 1
                print("FAIL ", function.__name__, f"{type(error).__name__}: {str(error)[:600]}")
        assert_quiet(driver)
    finally:
        driver.quit()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
