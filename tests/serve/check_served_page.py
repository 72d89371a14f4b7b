#!/usr/bin/python3
"""check_served_page.py FOLDER RAPT: starts RAPT as a server of FOLDER/pairs, a translation model, and FOLDER/text, a language model,
and compares what its page shows in headless Chromium with its responses and with what RAPT prints. For check_served_page.sh. The
last line: "N passed, N failed, N skipped"."""
import json
import math
import os
import re
import shlex
import subprocess
import sys
import traceback
import urllib.request

from serve_browser import FOLDER, By, ServePage, expect, explained, is_percent, near, number, start, weight_texts

RAPT = sys.argv[2]
CHECKS = []
# In place of the lesson, which check_lesson.sh opens under `rapt serve`.
LESSON = """<!DOCTYPE html><html lang="en">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:">
<title>a lesson</title><link rel="icon" href="data:,"><p>In this place.</p></html>"""


def check(function):
    CHECKS.append(function)
    return function


class Server:
    def __init__(self):
        if not os.path.exists(FOLDER + "/en-fr"):
            os.symlink("pairs", FOLDER + "/en-fr")  # commands of the page name models as requests do
        with open(FOLDER + "/lesson.html", "w", encoding="utf-8") as page:
            page.write(LESSON)
        self.process = subprocess.Popen([RAPT, "serve", "--port", "0", "--log", "none", "--allowed-host",
                                         "rapt.internal", "--lesson", "lesson.html", "en-fr=pairs", "text"], cwd=FOLDER,
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.address = re.search(r"http://[^\s/]+", line)[0]

    def ask(self, path, body):
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def replayed(page):
    """What the command of the page prints."""
    line = page.find("#replay-line").text
    expect(line.startswith("rapt "), "the command:", line)
    done = subprocess.run(["bash", "-c", shlex.quote(RAPT) + line[4:]], cwd=FOLDER, capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, line, done.stderr)
    return done.stdout


@check
def the_server_s_page_keeps_its_policy(page):
    page.driver.get_log("browser")
    page.open()
    expect(page.find("h1").text == "English → French" and not page.driver.get_log("browser"), page.find("h1").text)


@check
def a_link_leads_to_the_lesson(page):
    page.open(width=400)
    link = page.find("#learn")
    expect(link.text == "Lesson" and page.run("return document.documentElement.scrollWidth <= innerWidth"), link.text)
    link.click()
    page.until(lambda: page.driver.title == "a lesson")
    expect(page.driver.current_url == page.server.address + "/learn", page.driver.current_url)
    expect(page.find("p").text == "In this place.", page.find("p").text)
    logged = page.driver.get_log("browser")
    expect(logged == [], "the policy stops something:", logged)


@check
def alignments_are_those_of_the_server(page):
    page.open()
    page.translate("the dog see the house.", n_best=2)
    answer = page.server.ask("/v1/translate", {"model": "en-fr", "texts": ["the dog see the house."], "beam": 4, "n_best": 2,
                                               "alignment": "soft", "tokens": True})["translations"][0]
    best = answer["hypotheses"][0]
    expect(page.find(".best").text == best["text"] and len(page.all(".hypotheses button")) == 2, page.find(".best").text)
    source, target = ([chip for chip in page.all(".token") if chip.get_attribute("data-side") == side] for side in ("source", "target"))
    expect(len(source) == len(answer["source"]["tokens"]) and len(target) == len(best["tokens"]["tokens"]), "tokens")
    for position in (0, len(target) - 1):
        page.hover(target[position])
        true = best["alignment"][position][:len(source)]
        expect(all(map(is_percent, weight_texts(source), true)), position, weight_texts(source), true)
    expect(best["text"] in replayed(page), "the command prints", replayed(page))


@check
def unknown_words_are_told(page):
    page.open()
    page.translate("the zebra see the house.")
    notices = [one.text for one in page.all(".line .notice")]
    expect(len(notices) == 1 and "zebra" in notices[0] and "house" not in notices[0], notices)


@check
def a_text_is_that_of_the_command(page):
    page.open()
    page.choose("text")
    page.set("seed", 7)
    page.complete("the king", 20)
    shown = "".join(page.tokens()).replace("⏎", "\n")
    expect(shown and replayed(page).rstrip("\n") == shown.rstrip("\n"), repr(shown), repr(replayed(page)))
    body = {"model": "text", "prompt": "the king", "temperature": 0.8, "seed": 7, "max_tokens": 20, "logprobs": 5}
    logprobs = page.server.ask("/v1/completions", body)["choices"][0]["logprobs"]
    page.hover(page.all("#completion .token")[3])
    true = sorted(logprobs["top_logprobs"][3].values(), reverse=True)
    bars = [number(b.find_element(By.CLASS_NAME, "how-much").text) for b in page.all("#next .bars button")]
    expect(len(bars) == len(true) and all(near(bar, math.exp(x), 2) for bar, x in zip(bars, true)), bars, true)


@check
def an_alternative_continues_as_its_ids_do(page):
    page.open()
    page.choose("text")
    page.set("seed", 7)
    page.complete("the king", 6)
    page.all("#completion .token")[2].click()
    chosen = page.text_of(page.alternatives()[1].find_element(By.TAG_NAME, "bdi"))
    page.alternatives()[1].click()
    page.wait(page.is_idle)
    expect(len(page.tokens()) == 9 and not page.find("#problem").is_displayed(), page.tokens(), page.find("#problem").text)
    expect(page.tokens()[2].strip() == chosen.strip("␣"), page.tokens(), chosen)
    ids = page.run("return [...document.querySelectorAll('#next .bars small')].map(n => n.textContent)")
    expect(all(re.fullmatch(r"id \d+", one) for one in ids) and len(ids) >= 5, "ids:", ids)


@check
def explanations_open_in_a_tab(page):
    for host in ("127.0.0.1", "rapt.internal"):  # to plain HTTP of another machine a browser sends no Sec-Fetch-Site
        page.open(host=host)
        page.translate("the dog see the house.")
        title = explained(page, page.find(".line a.button"), "rapt explain")
        expect("the dog see the house." in title and page.find(".best").text in title, host, title)


def main():
    passed = failed = 0
    server = Server()
    try:
        driver = start()
        driver.set_script_timeout(20)
        for function in CHECKS:
            name = function.__name__.replace("_", " ")
            try:
                function(ServePage(driver, server))
                print("ok   ", name)
                passed += 1
            except Exception as error:  # whatever it was, it is this check's failure
                print("FAIL ", name, "\n     ", str(error).split("\n")[0] or traceback.format_exc(limit=-2))
                failed += 1
        driver.quit()
    finally:
        server.stop()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    os.chdir(FOLDER)
    sys.exit(main())
