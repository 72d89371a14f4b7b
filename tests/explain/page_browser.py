"""page_browser.py: a page of rapt explain in headless Chromium, what a reader does with it, and how what it shows is compared.
For check_page.py and check_page_long.py."""
import functools
import json
import re
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

FOLDER = sys.argv[1]

# What a reader sees of a node: no text where it is not drawn.
SEEN = "const seen = node => node.getClientRects().length ? node.innerText.trim() : '';"


def start(*more):
    """`more`: further arguments of Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000",
                     "--host-resolver-rules=MAP rapt.internal 127.0.0.1", *more):  # a name that is not of this machine to the browser
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


@functools.lru_cache(maxsize=1)
def explanation(kind):
    with open(f"{FOLDER}/{kind}.json", encoding="utf-8") as file:
        return json.load(file)


class Page:
    """A page in the browser, the explanation that it was made of, and what a reader does."""

    def __init__(self, driver, kind):
        self.driver, self.kind, self.data = driver, kind, explanation(kind)
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

    def texts(self, selector, within=None):
        """What a reader sees of each node that is found: one request, where a page has hundreds of nodes."""
        return self.run(SEEN + "return [...(arguments[1] || document).querySelectorAll(arguments[0])].map(seen);", selector, within)

    def of_all_parts(self, script):
        """What the script returns, an array, in each part from the first one on, all in one."""
        return self.driver.execute_async_script("""
            const [body, done] = arguments, read = new Function(body), found = [];
            const frame = () => new Promise(go => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go, 0))));
            const button = side => document.getElementById("part-" + side);
            (async () => {
                while (!button("before").disabled)
                    button("before").click();
                for (let i = 0; i < 200; i++) {
                    await frame();
                    found.push(...read());
                    if (button("after").disabled)
                        return found;
                    button("after").click();
                }
                return [];
            })().then(done);""", script)

    def step(self, name, gradient=False):
        return next(s for s in self.data["steps"] if s["name"] == name and s["gradient"] == gradient)

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def hover(self, element, across=0.5, down=0.5):
        width, height = self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'});"
                                 "const box = arguments[0].getBoundingClientRect(); return [box.width, box.height]", element)
        ActionChains(self.driver, duration=0).move_to_element_with_offset(
            element, int((across - 0.5) * (width - 2)), int((down - 0.5) * (height - 2))).perform()
        self.settle()

    def search(self, name):
        """The card of one step: of those found, the one with just this name. It is pasted: each key draws what it finds."""
        self.run("const box = document.getElementById('search'); box.value = arguments[0];"
                 "box.dispatchEvent(new Event('input', { bubbles: true }));", name)
        self.settle()
        return self.find(f'#cards .card[aria-label="{name}"]')

    def readout(self, card):
        """What a map says of the cell under the pointer: (row, column, number), or None."""
        text = card.find_element(By.TAG_NAME, "output").text.replace("\n", " ")
        found = re.search(r"^\w+ (\d+).* · \w+ (\d+).*: (\S+)$", text)
        return found and (int(found[1]), int(found[2]), number(found[3]))

    def pixel(self, card, row, column, rows, columns):
        """The color in the middle of a cell of a map that is not zoomed."""
        return self.run("""const map = arguments[0].querySelector("figure canvas").heatMap, [row, column] = arguments[1];
            return [...map.canvas.getContext("2d").getImageData(map.gutterLeft + map.cellWidth * (column + 0.2),
                map.gutterTop + map.cellHeight * (row + 0.25), 1, 1).data].slice(0, 3);""", card, [row, column, rows, columns])

    def bars(self):
        """The next tokens: text and number of each, and how wide its bar is and could be."""
        return self.run(SEEN + """return [...document.querySelectorAll(".bars li")].map(bar => {
            const wide = name => bar.querySelector(name).getBoundingClientRect().width;
            return [seen(bar), seen(bar.querySelector(".how-much")), wide(".fill"), wide(".track")];
        });""")

    def stage(self):
        """What the sentence shows: the number under each token and its color."""
        return self.run("""return [...document.querySelectorAll(".token")].map(t => [t.lastChild.textContent,
            t.style.backgroundColor]);""")


    def contrasts(self):
        """Of the words of the text, and of what stands below them: contrast of ink and tint as WCAG 2 has it, and the ink."""
        return self.run("""
            const parts = text => [...text.matchAll(/[\\d.]+/g)].map(m => Number(m[0]))
                .map((x, i) => i < 3 && text.startsWith("rgb") ? x / 255 : x).slice(0, 3);
            const light = c => c.map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
                .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
            return [...document.querySelectorAll(".token")].flatMap(token => {
                const paper = parts(getComputedStyle(token).backgroundColor);
                return [...token.children].filter(node => node.textContent && node.offsetWidth).map(node => {
                    const style = getComputedStyle(node), opacity = Number(style.opacity);
                    const ink = parts(style.color).map((x, i) => opacity * x + (1 - opacity) * paper[i]);
                    const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
                    return [(high + 0.05) / (low + 0.05), token.classList.contains("masked") ? "masked" : style.color];
                });
            });""")


def number(text):
    return float(text.replace("−", "-"))


def is_percent(shown, true):
    """A weight under a token: parts of a hundred in two digits or one place, nothing where a mask hides it."""
    if shown in ("", "0%"):
        return true == 0
    if shown == "<0.1%":
        return 0 < true < 0.0006
    return shown[-1] == "%" and abs(number(shown[:-1]) / 100 - true) <= (0.0051 if true >= 0.0994 else 0.00051)


def near(shown, true, digits=3):
    """Equal as far as `digits` significant digits tell."""
    if isinstance(true, str) or shown != shown or abs(shown) == float("inf"):
        return str(shown) == str(true)
    return abs(shown - true) <= 0.5001 * 10 ** (1 - digits) * abs(true) + 1e-9


VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"]


def viridis(share):
    """matplotlib's colors at nine places, and straight lines between."""
    place = 8 * min(1, share)
    i = min(7, int(place))
    low, high = ([int(color[c:c + 2], 16) for c in (0, 2, 4)] for color in VIRIDIS[i:i + 2])
    return [a + (b - a) * (place - i) for a, b in zip(low, high)]


def expect(true, *what):
    if not true:
        raise AssertionError(" ".join(str(w) for w in what))


def choose_head(page, head, block=-1):
    block = block % page.data["model"]["layers"]
    page.find(f'#heads [data-block="{block}"][data-head="{head}"]').click()


def weights(page, name, head):
    """The rows of weights of one head, or of the mean of all (head None)."""
    step = page.step(name)
    _, heads, rows, columns = step["shape"]
    size = rows * columns
    which = range(heads) if head is None else [head]
    return [[sum(step["values"][h * size + r * columns + c] for h in which) / len(which) for c in range(columns)]
            for r in range(rows)]


def run_plan(plan):
    """Runs the checks of each kind of page, functions of a Page, each on a page that is opened anew in the browser's own
    language; prints the counts, and returns whether one failed."""
    passed = failed = 0
    driver = start()
    try:
        for kind, checks in plan:
            for function in checks:
                name = f"{kind}: {function.__name__.replace('_', ' ')}"
                try:
                    function(Page(driver, kind))
                    print("ok   ", name)
                    passed += 1
                except Exception as error:  # whatever it was, it is this check's failure
                    print("FAIL ", name, "\n     ", type(error).__name__, str(error).split("\n")[0])
                    failed += 1
                driver.execute_script("localStorage.clear()")  # the language that it chose
    finally:
        driver.quit()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0
