"""serve_browser.py: the page of rapt serve in headless Chromium, and what a reader does with it. For check_serve_page.py and
check_served_page.py, whose first argument is a folder."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../explain"))
from page_browser import FOLDER, ActionChains, By, Keys, Page, expect, is_percent, near, number, start  # noqa: E402,F401


class ServePage(Page):
    def __init__(self, driver, server):
        self.driver, self.server = driver, server

    def open(self, theme="light", width=1280, host="127.0.0.1"):
        self.emulate(theme, width)
        self.driver.get(self.server.address.replace("127.0.0.1", host) + "/")
        self.wait(lambda: any(self.find(part).is_displayed() for part in ("#problem", "#key", "#page")))
        return self

    def emulate(self, theme="light", width=1280):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})

    def until(self, holds, seconds=20):
        end = time.monotonic() + seconds
        while not holds():
            expect(time.monotonic() < end, "waited in vain; the status:", self.find("#status").text, self.find("#problem").text)
            time.sleep(0.02)

    def wait(self, holds, seconds=20):
        self.until(holds, seconds)
        self.settle()

    def choose(self, model):
        self.find(f'#model option[value="{model}"]').click()
        self.settle()

    def enter(self, text):
        box = self.find("#text")
        box.clear()
        box.send_keys(text)

    def set(self, option, value):
        box = self.find(f"#option-{option}")
        box.clear()
        box.send_keys(str(value))

    def is_idle(self):
        return "stop" not in self.find("#go").get_attribute("class").split()

    def translate(self, text, **options):
        self.enter(text)
        for name, value in options.items():
            self.set(name, value)
        self.find("#go").click()
        self.wait(self.is_idle)

    def complete(self, text, count=12, wait=True):
        self.enter(text)
        self.set("max_tokens", count)
        self.find("#go").click()
        if wait:
            self.wait(self.is_idle)

    def chips(self, side, line=0):
        return self.all(".line")[line].find_elements(By.CSS_SELECTOR, f'.token[data-side="{side}"]')

    def text_of(self, node):
        return self.run("return arguments[0].textContent", node)

    def tokens(self):
        return self.run("return [...document.querySelectorAll('#completion .token .text')].map(n => n.textContent)")

    def alternatives(self):
        return self.all("#next .bars button")


def weight_texts(chips):
    return [chip.find_element(By.CLASS_NAME, "weight").text for chip in chips]


def explained(page, link, word="explained"):
    """The title of the tab that a link opens, once it has the word."""
    before = page.driver.current_window_handle
    link.click()
    page.until(lambda: len(page.driver.window_handles) == 2)
    page.driver.switch_to.window(next(h for h in page.driver.window_handles if h != before))
    try:
        end = time.monotonic() + 10
        while word not in page.driver.title and time.monotonic() < end:
            time.sleep(0.02)
        return page.driver.title
    finally:
        page.driver.close()
        page.driver.switch_to.window(before)
