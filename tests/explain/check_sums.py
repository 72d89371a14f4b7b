#!/usr/bin/python3
"""check_sums.py FOLDER: opens pairs.html, text.html and others of FOLDER in headless Chromium, holds cells of heat maps, and
computes from what is shown whether it makes the number of the step, which the .json beside the page has, out of numbers of
earlier steps and of model.safetensors. For check_sums.sh. The last line: "N passed, N failed, N skipped"."""
import json
import os
import random
import re
import shlex
import struct
import subprocess
import sys

from page_browser import FOLDER, By, Keys, Page, expect, near, number, run_plan

TERMS = """const card = arguments[0], map = card.querySelector("figure canvas").heatMap;
    const text = (node, selector) => node.querySelector(selector)?.textContent;
    map.take({ row: arguments[1], column: arguments[2] });
    return { names: [...card.querySelectorAll(".sum .says code")].map(node => node.textContent), lacks: text(card, ".sum .lacks"),
        lines: [...card.querySelectorAll(".sum-lines div")].map(line => [line.dataset.line, text(line, "dd")]),
        terms: [...card.querySelectorAll(".sum tr[data-term]")].map(row => [Number(row.dataset.term),
            ...[...row.querySelectorAll("td:not(.bar)")].map(cell => cell.textContent)]),
        rest: text(card, ".sum .rest .product"), verdict: text(card, ".sum .verdict"), says: text(card, ".sum .says"),
        off: text(card, ".sum .off"), heard: text(card, "[aria-live]") };"""


OPTIONS = ["--only", "encoder.0.attention.scores", "--full"]


def edit(page, change):
    """Opens the page with other data."""
    with open(f"{FOLDER}/{page.kind}.html", encoding="utf-8") as file:
        head, data, tail = re.split('(?<=id="data">)(.*?)(?=</script>)', file.read(), maxsplit=1, flags=re.S)
    data = json.loads(data)
    change(data)
    with open(f"{FOLDER}/edited.html", "w", encoding="utf-8") as file:
        file.write(head + json.dumps(data).replace("<", "\\u003c") + tail)
    page.driver.get(f"file://{FOLDER}/edited.html")
    page.settle()


def value(text):
    return number(text.replace("≈", ""))


def slack(text):
    """Half a unit of the last digit that is shown."""
    digits = text.replace("≈", "").split("e")
    places = len(digits[0].split(".")[1]) if "." in digits[0] else 0
    return 0.5001 * 10 ** (-places + (int(digits[1]) if len(digits) > 1 else 0))


def parameters(kind):
    """The matrices of the model file by name: rows of numbers."""
    with open(f"{FOLDER}/{kind}/model.safetensors", "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        body = file.read()
    found = {}
    for name, entry in head.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            found[name] = (entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", body[begin:end]))
    return found


def check_terms(name, shown):
    """The terms and the rest make the sum, each term is the product of its numbers. Returns the sum."""
    lines, terms = dict(shown["lines"]), shown["terms"]
    made = sum(value(t[-1]) for t in terms) + (value(shown["rest"]) if shown["rest"] else 0)
    off = sum(slack(t[-1]) for t in terms) + (slack(shown["rest"]) if shown["rest"] else 0)
    expect(abs(made - value(lines["sum"])) <= off + slack(lines["sum"]), name, "terms make", made, "not", lines["sum"])
    for term in terms:
        if len(term) == 4:
            a, b = value(term[1]), value(term[2])
            near_enough = abs(a) * slack(term[2]) + abs(b) * slack(term[1]) + slack(term[3])
            expect(abs(a * b - value(term[3])) <= near_enough, name, term)
    return value(lines["sum"])


def check_operands(page, model, step, shown, row, column):
    """Of a projection: the numbers are the row of the step, and the row of the matrix, that it names."""
    if not any(" W" in part and "^T" in part for part in [step["formula"]]):
        return False
    source, matrix = page.step(shown["names"][0]), model[shown["names"][1]]
    width = source["shape"][-1]
    for i, x, w, _ in shown["terms"]:
        expect(near(value(x), source["values"][row * width + i], 5), step["name"], "x", i, x)
        expect(near(value(w), matrix[1][column * width + i], 5), step["name"], "W", i, w)
    return True


def check_cell(page, model, step, card, row, column):
    shown = page.run(TERMS, card, row, column)
    lines, true = dict(shown["lines"]), step["values"][row * step["shape"][-1] + column]
    expect(not shown["lacks"], step["name"], "lacks", shown["lacks"])
    expect(near(value(lines["page"]), true, 5), step["name"], row, column, "the page shows", lines["page"], "not", true)
    if true == "-inf":
        expect(not shown["terms"] and "mask" in shown["says"], shown["says"])
        return False
    if shown["terms"]:
        check_terms(step["name"], shown)
    made = lines.get("result") or lines["sum"]
    expect(abs(value(made) - true) <= slack(made) + 2e-6 * (1 + abs(true)), step["name"], row, column, made, "is not", true)
    expect(shown["verdict"].startswith("They agree"), step["name"], shown["verdict"])
    return bool(shown["terms"]) and check_operands(page, model, step, shown, row, column)


def every_step_adds_up(page):
    model, projections = parameters(page.kind), 0
    choose = random.Random(7)
    for step in page.data["steps"]:
        card = page.search(step["name"])
        for _ in range(2):
            rows, columns = step["shape"][-2:]
            projections += check_cell(page, model, step, card, choose.randrange(rows), choose.randrange(columns))
    expect(projections >= 12, "only", projections, "projections were compared with the model file")
    expect(not page.driver.get_log("browser"), "errors in the console")


def what_is_rounded_or_left_out_says_so(page):
    """A model that is too large for the page: some matrices are rounded, some left out."""
    rounded = lacking = 0
    for step in page.data["steps"]:
        if "^T" not in step["formula"] or " W" not in step["formula"]:
            continue
        shown = page.run(TERMS, page.search(step["name"]), 1, 5)
        lines, true = dict(shown["lines"]), step["values"][step["shape"][-1] + 5]
        expect(near(value(lines["page"]), true, 3), step["name"], lines)
        if shown["lacks"]:
            expect("--full" in shown["lacks"] and ".weight" in shown["lacks"] and not shown["terms"], shown["lacks"])
            lacking += 1
            continue
        check_terms(step["name"], shown)
        expect(shown["verdict"].startswith("They agree"), step["name"], shown["verdict"])
        rounded += "rounded" in shown["verdict"]
    expect(rounded > 0 and lacking > 0, rounded, "rounded,", lacking, "left out")


def heads_that_are_off_hand_on_zeros(page):
    """A page of --without-head encoder.0.attention.1, and of all heads of the decoder's last attention."""
    card = page.search("encoder.0.attention.heads")
    for head, says in ((0, "Feature 5 of the value"), (1, "This head is off")):
        card.find_element(By.CSS_SELECTOR, f'[data-value="{head}"]').click()
        shown = page.run(TERMS, card, 2, 5)
        expect(shown["says"].startswith(says) and shown["verdict"].startswith("They agree"), head, shown["says"], shown["verdict"])
    page.find("#walk-open").click()
    page.settle()
    for _ in range(7):
        page.find("#guide-next").click()
        page.settle()
    text = page.find("#guide-text").text
    expect("this head is off" in text and "×" not in text, text)
    page.find("#guide-close").click()


def assert_off(page, step, shown, off):
    """A cell says that its head is off, or that it is zero for that, or else says nothing of it."""
    expect(shown["verdict"] is None or shown["verdict"].startswith("They agree"), step["name"], shown["verdict"])
    if step["name"].endswith("attention.heads"):
        expect(shown["off"] is None and shown["says"].startswith("This head is off") == bool(off), step["name"], shown["says"])
        return
    expect((shown["off"] is not None) == bool(off), step["name"], "says", shown["off"], "where these are off:", off)
    is_zero = step["name"].endswith(".concat")
    for name in off:
        expect(name in shown["off"] and shown["off"] in shown["heard"], name, "is off:", shown["off"], shown["heard"])
        expect(("as ever" in shown["off"]) != is_zero, step["name"], shown["off"])
        expect(not is_zero or value(dict(shown["lines"])["page"]) == 0, step["name"], shown["lines"])


def cells_of_heads_that_are_off_say_so(page, lacking=None):
    """`lacking`: the end of names of steps that the page lacks."""
    off, seen = page.data["heads_off"], set()
    for attention in {name.rpartition(".")[0] for name in off}:
        count = page.data["model"]["heads"]
        for step in page.data["steps"]:
            module, _, part = step["name"].removeprefix(attention)[1:].rpartition(".")
            if not step["name"].startswith(attention + ".") or module not in ("", "q", "k", "v") or f".{part}" == lacking:
                continue
            heads = step["shape"][1] if step["axes"][1] == "head" else 1
            card = page.search(step["name"])
            for head in range(heads):
                if heads > 1:
                    card.find_element(By.CSS_SELECTOR, f'[data-value="{head}"]').click()
                names = [f"{attention}.{h}" for h in range(head * count // heads, (head + 1) * count // heads)]
                if part == "concat":
                    for h, name in enumerate(names):
                        shown = page.run(TERMS, card, 2, h * step["shape"][-1] // count)
                        assert_off(page, step, shown, [name] if name in off else [])
                    continue
                names = names if step["axes"][1] == "head" and set(names) <= set(off) else []
                assert_off(page, step, page.run(TERMS, card, 2, 1), names)
                seen |= {f"{module}.{part}"} if names else set()
    expect({".heads", ".scores", ".scaled", ".masked", ".weights", "q.heads", "k.heads", "v.heads"} <= seen | {lacking}, "only",
           seen)


def a_page_without_weights_says_so_too(page):
    """As one of chosen steps."""
    edit(page, lambda data: data.update(steps=[s for s in data["steps"] if not s["name"].endswith(".weights")]))
    cells_of_heads_that_are_off_say_so(page, lacking=".weights")


def it_says_so_in_chinese(page):
    name = page.data["heads_off"][0]
    attention, _, head = name.rpartition(".")
    page.find("#language").click()
    for part, says in (("scores", "照常计算"), ("concat", "输出投影得到的是零")):
        step = page.step(f"{attention}.{part}")
        card = page.search(step["name"])
        if part == "scores":
            card.find_element(By.CSS_SELECTOR, f'[data-value="{head}"]').click()
        width = page.step(attention + ".heads")["shape"][-1]
        shown = page.run(TERMS, card, 2, 1 if part == "scores" else int(head) * width)
        expect("已关闭" in shown["off"] and name in shown["off"] and says in shown["off"], shown["off"])
    page.find("#language").click()


def the_walk_follows_a_head_that_is_on(page):
    page.find("#walk-open").click()
    page.settle()
    for _ in range(7):
        page.press(Keys.ARROW_RIGHT)
    text = page.find("#guide-text").text
    expect("Head 3 adds up" in text and "is off" not in text, text)


def a_gradient_is_not_offered(page):
    """Its sum is not shown, so that the map does not say that a click shows it."""
    for name, offered in (("encoder.0.attention.q", True), ("encoder.0.attention.q.weight", False)):
        help_text = page.search(name).find_element(By.CSS_SELECTOR, "figure output").get_attribute("textContent")
        expect(("Click a cell" in help_text) == offered, name, help_text)


def command_of(page):
    """Of a page that lacks the scores: what prints them, as the program's arguments."""
    card = page.search(next(s["name"] for s in page.data["steps"] if s["name"].endswith(".scores")))
    return shlex.split(card.find_element(By.CSS_SELECTOR, ".says code").text)


def lack_scores(data):
    for step in data["steps"]:
        if step["name"].endswith(".scores"):
            step.pop("values", None)


def its_command_explains_the_same_pass(page):
    """Where a target was given, where the model wrote it with other spaces and capitals, where a text begins with "-"."""
    edit(page, lack_scores)
    [program, *arguments] = command_of(page)
    at = arguments.index("--only")
    for options in (arguments[at:at + 3], ["--json", "--full"]):
        command = [*arguments[:at], *options, *arguments[at + 3:]]
        done = subprocess.run([os.environ["RAPT"], *command], capture_output=True, check=False, text=True)
        expect(program == "rapt" and done.returncode == 0, command, done.stderr)
    made = json.loads(done.stdout)
    members = {name for name in made.keys() | page.data.keys() if made.get(name) != page.data.get(name)}
    expect(not members, command, "has other members:", members)
    expect(command.count("--train") == ("loss" in made) and command.count("--lens") == ("lens" in made), command)


def long_texts_are_named(page):
    texts = {"text": "a" * 61, "target": "b" * 61}
    for more, wanted in (({}, ["MODEL", "TEXT", *OPTIONS]),
                         ({"unknown_target_words": []}, ["MODEL", "TEXT", "TARGET", *OPTIONS]),
                         ({"text": "-" * 61, "unknown_target_words": []}, [*OPTIONS, "--", "MODEL", "TEXT", "TARGET"])):
        edit(page, lambda data: (lack_scores(data), data.update(texts, **more)))
        found = ["MODEL" if word.endswith("/pairs") else word for word in command_of(page)[2:]]
        expect(found == wanted, found, "not", wanted)


def what_a_page_lacks_is_made_with_all_it_has(page):
    def change(data):
        weights = [dict(step) for step in data["steps"] if step["name"].endswith(".weights") and not step["gradient"]]
        lack_scores(data)
        data.update(book="../it's", checkpoints=[{"step": 1, "steps": weights, "predictions": data["predictions"]}])

    edit(page, change)
    lacks = page.run(TERMS, page.search("encoder.0.attention.scaled"), 1, 1)["lacks"]
    command = shlex.split(lacks[lacks.index("rapt explain"):lacks.index(" makes")])
    expect(command[5:] == ["--train", "--lens", "--html", "FILE", "--full", "--checkpoints", "--book", "../it's"], command)


def click_enter_and_escape(page):
    card = page.search("encoder.0.attention.scores")
    canvas = card.find_element(By.TAG_NAME, "canvas")
    panel = card.find_element(By.CSS_SELECTOR, ".sum")
    page.hover(canvas)
    expect(not panel.is_displayed(), "a pointer alone opens the sum")
    page.run("""const map = arguments[0].heatMap, box = map.canvas.getBoundingClientRect();
        for (const type of ["pointerdown", "pointerup"])
            map.canvas.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1,
                clientX: box.left + map.gutterLeft + 1.5 * map.cellWidth, clientY: box.top + map.gutterTop + 2.5 * map.cellHeight }));""",
             canvas)
    page.settle()
    expect(panel.is_displayed() and "query 2" in panel.text and "key 1" in panel.text, panel.text[:90])
    heard = card.find_element(By.CSS_SELECTOR, "[aria-live]").get_attribute("textContent")
    expect("query 2" in heard, "heard:", heard)
    card.find_element(By.CSS_SELECTOR, '[data-value="1"]').click()
    expect("head 1" in panel.text, "another head:", panel.text[:90])
    page.run("arguments[0].focus()", canvas)
    page.press(Keys.ESCAPE)
    expect(not panel.is_displayed(), "Escape does not close it")
    page.press(Keys.PAGE_UP, Keys.HOME, Keys.ENTER)
    expect(panel.is_displayed() and "query 0" in panel.text, "Enter:", panel.text[:90])
    card.find_element(By.CSS_SELECTOR, ".close").click()
    expect(not panel.is_displayed() and page.run("return document.activeElement === arguments[0]", canvas), "closed")


def nothing_is_cut_on_a_phone(page):
    page.open(width=400)
    for name in ("encoder.0.attention.q", "encoder.0.norm1.output", "probabilities"):
        card = page.search(name)
        page.run(TERMS, card, 0, 0)
        wide = page.run("return [document.documentElement.scrollWidth, window.innerWidth]")
        expect(wide[0] <= wide[1], name, "makes the page as wide as", wide)


if __name__ == "__main__":
    command = its_command_explains_the_same_pass
    off = cells_of_heads_that_are_off_say_so
    sys.exit(run_plan([("pairs", [every_step_adds_up, click_enter_and_escape, nothing_is_cut_on_a_phone, command,
                                  long_texts_are_named]),
                       ("text", [every_step_adds_up, command]), ("large", [what_is_rounded_or_left_out_says_so]),
                       ("off", [heads_that_are_off_hand_on_zeros, off, it_says_so_in_chinese, command]),
                       ("text-off", [off, a_page_without_weights_says_so_too, the_walk_follows_a_head_that_is_on]),
                       ("trained", [a_gradient_is_not_offered, command]), ("dash", [command]),
                       ("given", [command, what_a_page_lacks_is_made_with_all_it_has])]))
