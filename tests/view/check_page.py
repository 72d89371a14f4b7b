#!/usr/bin/python3
"""check_page.py FOLDER: opens translation.html and language_model.html of FOLDER in headless Chromium and compares what
they show with the numbers of the .json beside them. For check_page.sh. The last line: "N passed, N failed, N skipped"."""
import json
import re
import sys
import traceback

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

FOLDER = sys.argv[1]
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def start():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Page:
    """A page in the browser, the explanation that it was made of, and what a reader does."""

    def __init__(self, driver, kind):
        self.driver, self.kind = driver, kind
        with open(f"{FOLDER}/{kind}.json", encoding="utf-8") as file:
            self.data = json.load(file)
        self.open()

    def open(self, theme="light", width=1280):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.get(f"file://{FOLDER}/{self.kind}.html")
        self.settle()

    def settle(self):
        """Two frames: observers have told what is in sight, and it has been painted."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20)));")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def step(self, name, gradient=False):
        return next(s for s in self.data["steps"] if s["name"] == name and s["gradient"] == gradient)

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def hover(self, element, across=0.5, down=0.5):
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        size = element.size
        ActionChains(self.driver, duration=0).move_to_element_with_offset(
            element, int((across - 0.5) * (size["width"] - 2)), int((down - 0.5) * (size["height"] - 2))).perform()
        self.settle()

    def search(self, name):
        """The card of one step: of those found, the one with just this name."""
        box = self.find("#search")
        box.clear()
        box.send_keys(name)
        self.settle()
        return self.find(f'#cards .card[aria-label="{name}"]')

    def readout(self, card):
        """What a map says of the cell under the pointer: (row, column, number), or None."""
        text = card.find_element(By.TAG_NAME, "output").text.replace("\n", " ")
        found = re.search(r"^\w+ (\d+).* · \w+ (\d+).*: (\S+)$", text)
        return found and (int(found[1]), int(found[2]), number(found[3]))

    def pixel(self, card, row, column, rows, columns):
        """The colour in the middle of a cell of a map that is not zoomed."""
        return self.run("""const map = arguments[0].querySelector("figure canvas").heatMap, [row, column] = arguments[1];
            return [...map.canvas.getContext("2d").getImageData(map.gutterLeft + map.cellWidth * (column + 0.2),
                map.gutterTop + map.cellHeight * (row + 0.25), 1, 1).data].slice(0, 3);""", card, [row, column, rows, columns])

    def stage(self):
        """What the sentence shows: the number under each token and its colour."""
        return self.run("""return [...document.querySelectorAll(".token")].map(t => [t.lastChild.textContent,
            t.style.backgroundColor]);""")


def number(text):
    return float(text.replace("−", "-"))


def near(shown, true, digits=3):
    """Equal as far as `digits` significant digits tell."""
    if isinstance(true, str) or shown != shown or abs(shown) == float("inf"):
        return str(shown) == str(true)
    return abs(shown - true) <= 0.5001 * 10 ** (1 - digits) * abs(true) + 1e-9


def expect(true, *what):
    if not true:
        raise AssertionError(" ".join(str(w) for w in what))


def weights(page, name, head):
    """The rows of weights of one head, or of the mean of all (head None)."""
    step = page.step(name)
    _, heads, rows, columns = step["shape"]
    size = rows * columns
    which = range(heads) if head is None else [head]
    return [[sum(step["values"][h * size + r * columns + c] for h in which) / len(which) for c in range(columns)]
            for r in range(rows)]


# ---- what holds for both pages ----

@check
def opens_without_errors_and_requests(page):
    page.driver.get_log("performance")
    page.driver.get_log("browser")
    for theme in ("light", "dark"):
        page.open(theme)
    log = page.driver.get_log("browser")
    expect(not log, "the console says", log[:2])
    sent = [json.loads(entry["message"])["message"] for entry in page.driver.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    expect(urls, "no request at all was seen, not even for the page")
    expect(all(url.startswith((f"file://{FOLDER}/", "data:")) for url in urls), "requests:", urls)
    page.open()
    expect(page.find("#page").is_displayed() and not page.find("#broken").is_displayed(), "the page is not shown")


@check
def every_part_opens_without_errors(page):
    seen = set()
    for _ in range(200):
        seen |= {card.get_attribute("aria-label") for card in page.all("#cards .card")}
        page.settle()
        if not page.find("#part-after").is_enabled():
            break
        page.find("#part-after").click()
    expect(seen >= {s["name"] for s in page.data["steps"]}, "not shown:", {s["name"] for s in page.data["steps"]} - seen)
    expect(not page.driver.get_log("browser"), "errors in the console")


@check
def statistics_are_those_of_the_data(page):
    for step in [s for s in page.data["steps"] if not s["gradient"]][::7]:
        card = page.search(step["name"])
        for name in ("min", "mean", "max", "std"):
            shown = card.find_element(By.CSS_SELECTOR, f'[data-fact="{name}"]').text
            expect(near(number(shown), step[name]), step["name"], name, "shows", shown, "not", step[name])
        shape = card.find_element(By.CSS_SELECTOR, '[data-fact="shape"]').text
        expect([int(n) for n in re.findall(r"\d+", shape)] == step["shape"], step["name"], "shape", shape)
    page.find("#search").clear()


@check
def the_number_under_the_pointer_is_that_of_the_data(page):
    prefix = "decoder.0.self_attention" if page.kind == "translation" else "blocks.0.attention"
    for name in (prefix + ".q", "probabilities", prefix + ".output"):
        step, card, cells = page.step(name), page.search(name), set()
        _, rows, columns = step["shape"]
        canvas = card.find_element(By.TAG_NAME, "canvas")
        plot = page.run("const m = arguments[0].heatMap; return [m.gutterLeft, m.plotWidth, m.canvas.clientWidth]", canvas)
        for across, down in ((0.1, 0.3), (0.5, 0.5), (0.95, 0.9), (0.4, 0.7)):
            page.hover(canvas, (plot[0] + across * plot[1]) / plot[2], down)
            shown = page.readout(card)
            expect(shown, name, "says nothing under the pointer")
            row, column, value = shown
            expect(row < rows and column < columns, name, "has no cell", row, column)
            expect(near(value, step["values"][row * columns + column], 5), name, row, column, "shows", value)
            cells.add((row, column))
        expect(len(cells) == 4, name, "four places, but the cells", cells)


@check
def each_head_and_what_a_mask_hides(page):
    prefix = "decoder.0.self_attention" if page.kind == "translation" else "blocks.0.attention"
    step, card = page.step(prefix + ".masked"), page.search(prefix + ".masked")
    _, heads, rows, columns = step["shape"]
    card.find_element(By.TAG_NAME, "canvas").click()
    for head in (0, heads - 1):
        card.find_element(By.CSS_SELECTOR, f'[aria-label="Head"] [data-value="{head}"]').click()
        page.run("arguments[0].focus()", card.find_element(By.TAG_NAME, "canvas"))
        page.press(Keys.PAGE_UP, Keys.HOME)
        for key, row, column in ((Keys.ARROW_DOWN, 1, 0), (Keys.ARROW_RIGHT, 1, 1), (Keys.END, 1, columns - 1)):
            page.press(key)
            true = step["values"][(head * rows + row) * columns + column]
            shown = page.readout(card)
            expect(shown and shown[:2] == (row, column) and near(shown[2], true, 5), head, row, column, shown, "not", true)


@check
def keys_move_zoom_and_stay_in_sight(page):
    card = page.search("probabilities")
    canvas = card.find_element(By.TAG_NAME, "canvas")
    _, rows, columns = page.step("probabilities")["shape"]
    zoom = "return [arguments[0].heatMap.cellWidth, arguments[0].heatMap.left]"
    before = page.run(zoom, canvas)
    page.run("arguments[0].focus()", canvas)
    page.press("+", "+", Keys.END, Keys.PAGE_DOWN)
    after = page.run(zoom, canvas)
    expect(after[0] > before[0] * 1.5 and after[1] > 0, "zoom and place:", before, after)
    expect(page.readout(card)[:2] == (rows - 1, columns - 1), "the last cell:", page.readout(card))
    page.press("0")
    expect(page.run(zoom, canvas) == before, "0 does not show all")


@check
def wheel_and_drag_zoom_and_pan(page):
    card = page.search("probabilities")
    canvas = card.find_element(By.TAG_NAME, "canvas")
    place = "return [arguments[0].heatMap.zoom, arguments[0].heatMap.left]"
    page.hover(canvas)
    scroll = ActionChains(page.driver, duration=0)
    scroll.scroll_from_origin(webdriver.common.actions.wheel_input.ScrollOrigin.from_element(canvas), 0, -60).perform()
    page.settle()
    expect(page.run(place, canvas) == [1, 0], "the wheel zooms where nobody has clicked")
    page.hover(canvas)
    ActionChains(page.driver, duration=0).click().perform()
    cell = page.readout(card)[:2]
    scroll.scroll_from_origin(webdriver.common.actions.wheel_input.ScrollOrigin.from_element(canvas), 0, -100).perform()
    page.settle()
    zoom, left = page.run(place, canvas)
    expect(zoom > 1.2 and page.readout(card)[:2] == cell, "after the wheel:", zoom, cell, page.readout(card))
    ActionChains(page.driver, duration=50).move_to_element(canvas).click_and_hold().move_by_offset(-20, 0).release().perform()
    page.settle()
    moved = page.run(place, canvas)[1] - left
    expect(15 < moved < 25, "dragging by 20 moved it by", moved)


@check
def probabilities_of_each_position(page):
    chips = page.all(f'.row[aria-label^="{"Target" if page.kind == "translation" else "Text"}"] .token')
    for prediction in page.data["predictions"]:
        chip = chips[prediction["position"]]
        page.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", chip)
        chip.click()
        page.settle()
        bars = page.all(".bars li")
        expect(len(bars) == len(prediction["tokens"]), len(bars), "bars")
        for bar, token in zip(bars, prediction["tokens"]):
            shown = number(bar.find_element(By.CLASS_NAME, "how-much").text)
            expect(abs(shown - token["probability"]) < 6e-5, prediction["position"], shown, token)
            expect(f"id {token['id']}" in bar.text, bar.text, token)
            fill, track = (bar.find_element(By.CLASS_NAME, c).size["width"] for c in ("fill", "track"))
            expect(abs(fill / track - token["probability"]) < 0.02, "bar", fill, track, token)
        expect(prediction["tokens"][0]["text"].strip() in chip.text, "below the token:", chip.text)


@check
def hovering_a_token_changes_the_picture(page):
    own = "decoder.1.self_attention.weights" if page.kind == "translation" else "blocks.2.attention.weights"
    sequence = "Target" if page.kind == "translation" else "Text"
    chips = page.all(f'.row[aria-label^="{sequence}"] .token')
    chips[-1].click()
    page.hover(page.find("h1"))
    before, height = page.stage(), page.run("return document.documentElement.scrollHeight")
    picture = page.find("#words").screenshot_as_png
    for position in (1, 3):
        page.hover(chips[position])
        shown = [chip.find_element(By.CLASS_NAME, "weight").text for chip in chips]
        true = weights(page, own, None)[position]
        expect(all(abs(number(s) - t) < 0.0051 for s, t in zip(shown, true)), position, shown, true)
        expect(page.stage() != before, "nothing changed")
        expect(page.find("#words").screenshot_as_png != picture, "the same picture")
        expect(page.run("return document.documentElement.scrollHeight") == height, "the page jumps")
    page.hover(page.find("h1"))
    expect(page.stage() == before, "it does not go back")


@check
def heads_by_keyboard(page):
    """From the chosen token by Tab alone to the heads; arrows choose; the map shows the head's numbers."""
    last = "decoder.1.cross_attention.weights" if page.kind == "translation" else "blocks.2.attention.weights"
    page.run("document.activeElement.blur(); document.getElementById('theme').focus()")
    for _ in range(30):
        page.press(Keys.TAB)
        if page.run("return document.activeElement.closest('#heads') !== null"):
            break
    else:
        raise AssertionError("30 times Tab did not reach the heads")
    outline = page.run("return getComputedStyle(document.activeElement).outlineStyle")
    expect(outline not in ("none", ""), "the focus cannot be seen")
    page.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    checked = page.run("return [...document.querySelectorAll('#heads [aria-checked=true]')].map(b => b.dataset.head)")
    expect(checked == ["1"], "chosen:", checked)
    page.press(Keys.TAB)
    card = page.find("#attention-map")
    expect(page.run("return document.activeElement === document.querySelector('#attention-map canvas')"), "the map is next")
    page.press(Keys.PAGE_UP, Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    shown, true = page.readout(card), weights(page, last, 1)
    expect(shown[:2] == (2, 1) and near(shown[2], true[2][1], 5), shown, "not", true[2][1])


@check
def colours_are_viridis_and_two_sided(page):
    last = "decoder.1.cross_attention.weights" if page.kind == "translation" else "blocks.2.attention.weights"
    page.all("#heads button")[1].click()
    page.hover(page.find("h1"))
    page.run("document.activeElement.blur(); document.getElementById('attention').scrollIntoView({behavior: 'instant'})")
    page.settle()
    rows = weights(page, last, 0)
    cells = [(x, r, c) for r, row in enumerate(rows) for c, x in enumerate(row)]
    _, row, column = max(cells)
    brightest = page.pixel(page.find("#attention-map"), row, column, len(rows), len(rows[0]))
    expect(brightest == [0xfd, 0xe7, 0x25], "the largest weight is", brightest)
    name = "decoder.output" if page.kind == "translation" else "output"
    step, card = page.step(name), page.search(name)
    page.run("arguments[0].scrollIntoView({behavior: 'instant'})", card)
    page.settle()
    _, count, width = step["shape"]
    extreme = step["values"].index(max(step["values"])), step["values"].index(min(step["values"]))
    high, low = (page.pixel(card, i // width, i % width, count, width) for i in extreme)
    expect(high[0] > high[2] + 60 and low[2] > low[0] + 60, "high is red, low is blue:", high, low)


@check
def both_themes(page):
    paper = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((a, b) => a + Number(b), 0)"
    page.open("dark")
    expect(page.run(paper) < 150, "dark paper:", page.run(paper))
    page.find("#theme").click()
    expect(page.run(paper) > 600, "the button does not make it light")
    page.open("light")
    expect(page.run(paper) > 600, "light paper:", page.run(paper))
    page.find("#theme").send_keys(Keys.SPACE)
    expect(page.run(paper) < 150, "a key does not make it dark")
    page.open()


@check
def the_diagram_chooses_parts(page):
    boxes = page.all(".diagram .box")
    expect(len(boxes) >= 8, len(boxes), "boxes")
    attention = next(b for b in boxes if "attention" in b.get_attribute("class"))
    page.run("arguments[0].focus()", attention)
    page.press(Keys.ENTER)
    names = [card.get_attribute("aria-label") for card in page.all("#cards .card")]
    kind = "encoder.0.attention" if page.kind == "translation" else "blocks.0.attention"
    expect(names and all(n.startswith(kind + ".") for n in names), names)
    shown = [t.text for t in page.all(".diagram .shape")]
    count, width = page.step(kind + ".output")["shape"][1:]
    expect(f"{count} × {width}" in shown, "shapes:", shown)
    page.press(Keys.ARROW_DOWN)
    expect(page.run("return document.activeElement.classList.contains('box')"), "arrow keys leave the diagram")


@check
def readable_on_a_phone(page):
    page.open(width=390)
    wide = page.run("return document.documentElement.scrollWidth")
    expect(wide <= 390, "wider than the screen:", wide)
    page.open()


@check
def the_title_has_the_texts_as_they_came(page):
    text = page.data.get("text", "".join(token["text"] for token in page.data["sequences"].get("text", [])))
    answer = page.data.get("target", page.data["output"])
    shown = [node.get_attribute("textContent") for node in page.all("#title bdi")]
    expect(shown == [text, answer], "the title:", shown)
    expect(" ".join(f"{text} → {answer}".split()) in " ".join(page.driver.title.split()), "the window's:", page.driver.title)


# ---- translation only ----

@check
def output_words_light_up_the_source(page):
    if page.kind != "translation":
        return
    source, target = page.all('.row[aria-label^="Source"] .token'), page.all('.row[aria-label^="Target"] .token')
    page.all("#heads button")[0].click()
    for position in (2, 5):
        page.hover(target[position])
        true = weights(page, "decoder.1.cross_attention.weights", None)[position]
        shown = [number(t.find_element(By.CLASS_NAME, "weight").text) for t in source]
        expect(all(abs(s - t) < 0.0051 for s, t in zip(shown, true)), position, shown, true)
        curves = len(page.all(".links path"))
        expect(curves == sum(t >= 0.02 for t in true), curves, "curves for", true)
    page.run("arguments[0].focus()", target[3])
    page.press(Keys.ARROW_RIGHT)
    true = weights(page, "decoder.1.cross_attention.weights", None)[4]
    shown = [number(t.find_element(By.CLASS_NAME, "weight").text) for t in source]
    expect(all(abs(s - t) < 0.0051 for s, t in zip(shown, true)), "by keys:", shown, true)


@check
def loss_and_gradients(page):
    if page.kind != "translation":
        return expect(not page.find("#backward").is_displayed(), "a way back without a loss")
    expect(near(number(page.find('#backward [data-fact="loss"]').text), page.data["loss"], 6), "loss")
    name = "encoder.0.attention.q.weight"
    row = next(b for b in page.all("#gradients button") if name in b.text)
    page.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", row)
    row.click()
    page.settle()
    card, step = page.find(f'.card[aria-label="{name}"]'), page.step(name, True)
    page.press(Keys.PAGE_UP, Keys.HOME, Keys.ARROW_DOWN)
    expect(near(page.readout(card)[2], step["values"][step["shape"][1]], 5), page.readout(card))
    name = "decoder.1.cross_attention.weights"
    card, step = page.search(name), page.step(name, True)
    card.find_element(By.CSS_SELECTOR, '[data-value="gradient"]').click()
    shown = card.find_element(By.CSS_SELECTOR, '[data-fact="max"]').text
    expect(near(number(shown), step["max"]), "the gradient's max:", shown)


def main():
    passed = failed = 0
    driver = start()
    driver.set_script_timeout(20)
    try:
        for kind in ("translation", "language_model"):
            for function in CHECKS:
                name = f"{kind}: {function.__name__.replace('_', ' ')}"
                try:
                    function(Page(driver, kind))
                    print("ok   ", name)
                    passed += 1
                except Exception as error:  # whatever it was, it is this check's failure
                    print("FAIL ", name, "\n     ", str(error).split("\n")[0] or traceback.format_exc(limit=-2))
                    failed += 1
    finally:
        driver.quit()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
