#!/usr/bin/python3
"""check_page.py FOLDER KIND...: opens KIND.html of FOLDER (translation, language_model, long, training, modern) in headless Chromium
and compares what it shows with the numbers of the .json beside it; of a long text: check_page_long.py; lines of heads:
check_page_lines.py; chapters of the book: check_page_chapters.py; the walk: check_page_walk.py; the languages:
check_page_language.py; the slider over checkpoints: check_page_training.py. For check_page.sh. The last line: "N passed, N failed, N skipped"."""
import json
import math
import re
import sys
import traceback

import check_page_chapters
import check_page_language
import check_page_lines
import check_page_long
import check_page_training
import check_page_walk
from page_browser import (FOLDER, ActionChains, By, Keys, Page, ScrollOrigin, choose_head, expect, is_percent, near, number, start,
                          viridis, weights)

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


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
def unknown_words_are_named(page):
    notices = [one.text for one in page.all("#page .notice") if one.is_displayed()]
    expect(len(notices) == ("unknown_words" in page.data), "notices:", notices)
    expect(all(word in notices[0] for word in page.data.get("unknown_words", [])), notices)


@check
def nothing_is_cut_at_any_width(page):
    for width in (400, 768, 1100, 1280, 1600, 1920):
        page.open(width=width)
        for selector in ("#next p", "#diagram"):
            for node in page.all(selector):
                full, shown = page.run("return [[arguments[0].scrollWidth, arguments[0].scrollHeight], "
                                       "[arguments[0].clientWidth, arguments[0].clientHeight]]", node)
                high = shown[1] if selector == "#diagram" else full[1]  # a tall diagram scrolls
                expect(full[0] <= shown[0] + 1 and high <= shown[1] + 1, selector, "at", width, "is cut:", full, shown)


@check
def gray_is_told_where_something_is_masked(page):
    for button in page.all("#attention .segments")[0].find_elements(By.TAG_NAME, "button") if page.kind == "translation" else [None]:
        if button:
            button.click()
        page.settle()
        causal = button is None or "Decoder: self" in button.text
        expect(("masked" in page.find("#attention-lead").text) == causal, button and button.text, page.find("#attention-lead").text)
    if page.kind == "translation":
        card = page.search("encoder.0.attention.masked")
        expect("nothing is masked" in card.text, card.text)
        card = page.search("decoder.0.self_attention.masked")
        expect("minus infinity" in card.text, card.text)


@check
def every_part_opens_without_errors(page):
    names = "return [...document.querySelectorAll('#cards .card')].map(card => card.getAttribute('aria-label'))"
    seen = set(page.of_all_parts(names))
    last = page.run(names)
    for button, same in (("before", False), ("after", True)):
        page.find("#part-" + button).click()
        expect((page.run(names) == last) == same, "the button", button, "leads to", page.run(names))
    expect(seen >= {s["name"] for s in page.data["steps"]}, "not shown:", {s["name"] for s in page.data["steps"]} - seen)
    expect(not page.driver.get_log("browser"), "errors in the console")


@check
def statistics_are_those_of_the_data(page):
    for step in [s for s in page.data["steps"] if not s["gradient"]][::7]:
        card = page.search(step["name"])
        names = ("shape", "min", "mean", "max", "std")
        shape, *shown = (page.texts(f'[data-fact="{name}"]', card)[0] for name in names)
        for name, text in zip(names[1:], shown):
            expect(near(number(text), step[name]), step["name"], name, "shows", text, "not", step[name])
        expect([int(n) for n in re.findall(r"\d+", shape)] == step["shape"], step["name"], "shape", shape)


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
    scroll.scroll_from_origin(ScrollOrigin.from_element(canvas), 0, -60).perform()
    page.settle()
    expect(page.run(place, canvas) == [1, 0], "the wheel zooms where nobody has clicked")
    page.hover(canvas)
    ActionChains(page.driver, duration=0).click().perform()
    cell = page.readout(card)[:2]
    scroll.scroll_from_origin(ScrollOrigin.from_element(canvas), 0, -100).perform()
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
        bars = page.bars()
        expect(len(bars) == len(prediction["tokens"]), len(bars), "bars")
        for (text, shown, fill, track), token in zip(bars, prediction["tokens"]):
            expect(abs(number(shown) - token["probability"]) < 6e-5, prediction["position"], shown, token)
            expect(f"id {token['id']}" in text, text, token)
            expect(abs(fill / track - token["probability"]) < 0.02, "bar", fill, track, token)
        expect(prediction["tokens"][0]["text"].strip() in chip.text, "below the token:", chip.text)


@check
def hovering_a_token_changes_the_picture(page):
    own = "decoder.1.self_attention.weights" if page.kind == "translation" else "blocks.2.attention.weights"
    sequence = "Target" if page.kind == "translation" else "Text"
    row = f'.row[aria-label^="{sequence}"]'
    chips = page.all(row + " .token")
    chips[-1].click()
    page.hover(page.find("h1"))
    before, height = page.stage(), page.run("return document.documentElement.scrollHeight")
    picture = page.find("#words").screenshot_as_png
    for position in (1, 3):
        page.hover(chips[position])
        shown = page.texts(row + " .weight")
        true = weights(page, own, None)[position]
        expect(all(is_percent(s, t) for s, t in zip(shown, true, strict=True)), position, shown, true)
        masked = page.run("return [...document.querySelectorAll(arguments[0])].flatMap((chip, i) => "
                          "chip.classList.contains('masked') ? [i] : [])", row + " .token")
        expect(masked == list(range(position + 1, len(chips))), "masked:", masked)
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
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    chosen = "return [...document.querySelectorAll('#heads [aria-checked=true]')].map(b => [b.dataset.block, b.dataset.head])"
    blocks = page.data["model"]["layers"]
    expect(page.run(chosen) == [[str(blocks - 1), "1"]], "chosen:", page.run(chosen))
    page.press(Keys.HOME)
    expect(page.run(chosen) == [["0", "-1"]], "the first of all is not the mean of block 0:", page.run(chosen))
    page.press(Keys.END, *[Keys.ARROW_LEFT] * 2)
    page.press(Keys.TAB)
    card = page.find("#attention-map")
    expect(page.run("return document.activeElement === document.querySelector('#attention-map canvas')"), "the map is next")
    page.press(Keys.PAGE_UP, Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    shown, true = page.readout(card), weights(page, last, 1)
    expect(shown[:2] == (2, 1) and near(shown[2], true[2][1], 5), shown, "not", true[2][1])


@check
def colors_are_viridis_and_two_sided(page):
    last = "decoder.1.cross_attention.weights" if page.kind == "translation" else "blocks.2.attention.weights"
    choose_head(page, 0)
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


@check
def words_can_be_read_on_every_tint(page):
    for theme in ("light", "dark"):
        page.open(theme)
        for color in ("attention", "probability"):
            page.find(f'#words [data-value="{color}"]').click()
            for chip in page.all(".token")[::3]:
                page.hover(chip)
                least = min(contrast for contrast, _ in page.contrasts())
                expect(least >= 4.5, theme, color, chip.get_attribute("aria-label"), "contrast", least)


@check
def steps_open_on_the_attention_that_is_shown(page):
    block, cards = page.data["model"]["layers"] - 1, [c.get_attribute("aria-label") for c in page.all("#cards .card")]
    last = f"decoder.{block}.cross_attention" if page.kind == "translation" else f"blocks.{block}.attention"
    expect(f"{last}.weights" in cards and all(name.startswith(last) for name in cards), cards)
    expect(len(page.all('.diagram .box[aria-pressed="true"]')) == 1, "the diagram does not show it")


@check
def the_diagram_chooses_parts(page):
    for closed in page.all('.diagram .box[aria-label="Open block 0"]'):
        closed.click()
        page.settle()
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
    diagram = page.find("#diagram")
    more = page.run("return arguments[0].scrollWidth > arguments[0].clientWidth + 2", diagram)
    fade = page.run("return arguments[0].style.getPropertyValue('--fade-right')", diagram)
    expect(fade == ("var(--fade)" if more else "0px"), "the diagram's right edge:", more, fade)
    expect(not more, "the diagram is wider than the screen")


@check
def the_title_has_the_texts(page):
    """In one line; as they came where that is not the same; a language model's next token so that it can be seen."""
    text = page.data.get("text", "".join(token["text"] for token in page.data["sequences"].get("text", [])))
    answer = page.data.get("target", page.data["output"])
    wanted = [" ".join(text.split()), answer if page.kind == "translation" else answer.replace(" ", "␣").replace("\n", "⏎")]
    shown = [node.get_attribute("textContent") for node in page.all("#title bdi")]
    expect(shown == wanted, "the title:", shown)
    expect(f"{wanted[0]} → {wanted[1]}" in page.driver.title, "the window's:", page.driver.title)
    whole = [node.get_attribute("textContent") for node in page.all("#whole p")]
    expect(whole == [text] and page.find("#whole").is_displayed(), "below the title:", whole)
    facts = page.find("#facts").text
    name = page.data["model"]["path"].split("/")[-1]
    expect(f"model {name}" in facts and "/" not in facts, "the model's name:", facts)


@check
def opens_on_a_word_in_the_middle(page):
    token = page.find('.token[aria-pressed="true"]').get_attribute("aria-label")
    texts = [t["text"] for t in page.data["sequences"]["target" if page.kind == "translation" else "text"]]
    position = int(re.search(r" (\d+):", token)[1])
    expect(len(texts) // 4 <= position <= 3 * len(texts) // 4, "opens at", position, "of", len(texts))
    expect(re.search(r"[a-z]", texts[position]) and texts[position] not in ("<bos>", "<eos>"), texts[position])


@check
def all_heads_of_all_blocks(page):
    kinds = [button.get_attribute("data-value") for button in page.all('[aria-label="Table"] button')] or ["attention"]
    expect(len(kinds) == (3 if page.kind == "translation" else 1), kinds)
    blocks, heads = page.data["model"]["layers"], page.data["model"]["heads"]
    pictures = set()
    for kind in kinds:
        for button in page.all(f'[aria-label="Table"] [data-value="{kind}"]'):
            button.click()
        buttons = page.all("#heads button")
        expect(len(buttons) == blocks * (heads + 1), kind, len(buttons), "pictures")
        pictures |= {page.run("return arguments[0].firstChild.toDataURL()", button) for button in buttons}
    expect(len(pictures) == len(kinds) * blocks * (heads + 1), "different pictures:", len(pictures))
    name = "encoder.0.attention.weights" if page.kind == "translation" else "blocks.0.attention.weights"
    if page.kind == "translation":
        page.find(f'[aria-label="Table"] [data-value="{kinds[0]}"]').click()
    page.all("#heads button")[3].click()
    canvas = page.find("#attention-map canvas")
    page.run("arguments[0].focus()", canvas)
    page.press(Keys.PAGE_UP, Keys.HOME, Keys.ARROW_DOWN)
    true = weights(page, name, 2)
    expect(near(page.readout(page.find("#attention-map"))[2], true[1][0], 5), page.readout(page.find("#attention-map")), true[1][0])


@check
def colors_by_the_readers_choice(page):
    """The same cell: its share of 1, of the largest of all, of the largest of its row, and the root of that."""
    last = "decoder.1.cross_attention.weights" if page.kind == "translation" else "blocks.2.attention.weights"
    choose_head(page, 0)
    rows = weights(page, last, 0)
    row, column = next((r, c) for r, x in enumerate(rows) for c, w in enumerate(x) if 0.02 < w < 0.5 * max(x) and c <= r)
    x, of_row, of_all = rows[row][column], max(rows[row]), max(map(max, rows))
    shares = {"unit": x, "table": x / of_all, "row": x / of_row, "root": (x / of_row) ** 0.5}
    page.run("document.getElementById('attention').scrollIntoView({behavior: 'instant'})")
    for choice, share in shares.items():
        page.find(f'#choices [data-value="{choice}"]').click()
        page.hover(page.find("h1"))
        page.run("document.activeElement.blur(); document.getElementById('attention').scrollIntoView({behavior: 'instant'})")
        page.settle()
        shown = page.pixel(page.find("#attention-map"), row, column, len(rows), len(rows[0]))
        true = viridis(share)
        expect(all(abs(a - b) <= 3 for a, b in zip(shown, true)), choice, "shows", shown, "for", share, true)


@check
def what_a_mask_hides_is_gray(page):
    if page.kind == "translation":
        page.find('[aria-label="Table"] [data-value="decoder.self_attention"]').click()
    name = "decoder.1.self_attention.weights" if page.kind == "translation" else "blocks.2.attention.weights"
    count = page.step(name)["shape"][-1]
    page.hover(page.find("h1"))
    page.run("document.activeElement.blur(); document.getElementById('attention').scrollIntoView({behavior: 'instant'})")
    page.settle()
    for place in (page.find("#attention-map"), page.search(name)):
        page.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", place)
        page.settle()
        hidden, seen = page.pixel(place, 0, count - 1, count, count), page.pixel(place, count - 1, 0, count, count)
        expect(max(hidden) - min(hidden) < 24 and hidden != seen, "masked is", hidden, "and the others", seen)
    canvas = page.find("#attention-map canvas")
    page.run("arguments[0].focus()", canvas)
    page.press(Keys.PAGE_UP, Keys.END)
    text = page.find("#attention-map output").text
    expect(text.endswith("masked: 0"), "a masked cell says", text)


@check
def how_each_token_was_predicted(page):
    sequence = "target" if page.kind == "translation" else "text"
    page.find('#words [data-value="probability"]').click()
    page.hover(page.find("h1"))
    row = f'.row[aria-label^="{sequence.capitalize()}"]'
    chips, under = page.all(row + " .token"), page.texts(row + " .weight")
    expect(len(under) == len(chips) and under[0] == "", "nothing says what comes first")
    nexts = [p["next"] for p in page.data["predictions"] if "next" in p]
    for shown, following in zip(under[1:], nexts):
        expect(is_percent(shown, following["probability"]), shown, "for", following)
    mean = sum(n["loss"] for n in nexts) / len(nexts)
    expect(near(number(page.find('[data-fact="mean-loss"]').text), mean, 4), "the mean loss", mean)
    expect(near(number(page.find('[data-fact="perplexity"]').text), math.exp(mean), 4), "perplexity", math.exp(mean))
    page.hover(chips[2])
    expect(near(number(page.find('[data-fact="own-loss"]').text), nexts[1]["loss"], 4), "the loss of one")
    expect(near(number(page.find('[data-fact="next-loss"]').text), nexts[2]["loss"], 4), "and of the next")


@check
def the_chosen_tab_looks_chosen(page):
    """Lighter than its bar, in both themes."""
    for theme in ("light", "dark"):
        page.open(theme)
        light = [page.run("return getComputedStyle(arguments[0]).backgroundColor.match(/\\d+/g).slice(0, 3)"
                          ".reduce((a, b) => a + Number(b), 0)", page.find(selector))
                 for selector in ('#choices [aria-checked="true"]', "#choices .segments")]
        expect(light[0] > light[1], theme, light)


# ---- translation only ----

@check
def output_words_light_up_the_source(page):
    if page.kind != "translation":
        return
    source, target = '.row[aria-label^="Source"] .weight', page.all('.row[aria-label^="Target"] .token')
    choose_head(page, -1)
    for position in (2, 5):
        page.hover(target[position])
        true = weights(page, "decoder.1.cross_attention.weights", None)[position]
        own = weights(page, "decoder.1.self_attention.weights", None)[position]
        shown = page.texts(source)
        expect(all(is_percent(s, t) for s, t in zip(shown, true)), position, shown, true)
        curves = [len(page.all(".links path" + kind)) for kind in (":not(.second)", ".second")]
        wanted = [sum(t >= 0.02 for t in true), sum(t >= 0.02 for t in own[:position])]
        expect(curves == wanted, curves, "curves for", true, own)
    page.run("arguments[0].focus()", target[3])
    page.press(Keys.ARROW_RIGHT)
    true = weights(page, "decoder.1.cross_attention.weights", None)[4]
    shown = page.texts(source)
    expect(shown and all(is_percent(s, t) for s, t in zip(shown, true)), "by keys:", shown, true)


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


def main(plan):
    passed = failed = 0
    driver = start()
    driver.set_script_timeout(60)  # of hundreds of cells, on a busy machine
    try:
        for kind, checks in plan:
            for function in checks:
                name = f"{kind}: {function.__name__.replace('_', ' ')}"
                try:
                    function(Page(driver, kind))  # each check opens the page itself
                    print("ok   ", name)
                    passed += 1
                except Exception as error:  # whatever it was, it is this check's failure
                    print("FAIL ", name, "\n     ", str(error).split("\n")[0] or traceback.format_exc(limit=-2))
                    failed += 1
                driver.execute_script("localStorage.clear()")  # the language and the theme that it chose
    finally:
        driver.quit()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    on_both = CHECKS + check_page_lines.CHECKS + check_page_chapters.CHECKS + check_page_walk.CHECKS + \
        check_page_language.CHECKS
    plan = {"translation": on_both + check_page_language.ANY_PAGE, "language_model": on_both,
            "long": check_page_long.CHECKS + check_page_lines.LONG_CHECKS + check_page_walk.LONG_CHECKS +
            check_page_language.CHECKS,
            "training": check_page_training.CHECKS, "modern": check_page_chapters.CHECKS + check_page_walk.CHECKS}
    sys.exit(main([(kind, plan[kind]) for kind in sys.argv[2:]]))
