"""check_page_training.py: the slider over the checkpoints of a training run: it shows the attention weights, the predictions and
the loss of each, by pointer, by keys and by itself; the steps stay those of the model. For check_page.py, which runs it."""
import time

from page_browser import By, Keys, choose_head, expect, is_percent, near, number

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def move(page, *keys):
    page.run("document.getElementById('checkpoint').focus()")
    page.press(*keys)


def now(page):
    return page.find("#checkpoint-step").text


def weights_of(checkpoint, name, head):
    step = next(s for s in checkpoint["steps"] if s["name"] == name)
    _, heads, rows, columns = step["shape"]
    which = range(heads) if head is None else [head]
    return [[sum(step["values"][(h * rows + r) * columns + c] for h in which) / len(which) for c in range(columns)]
            for r in range(rows)]


CROSS = "decoder.1.cross_attention.weights"


@check
def it_opens_at_the_end_of_training(page):
    expect(page.find("#training").is_displayed(), "no slider")
    expect(now(page) == "step 200 of 200", now(page))
    slider = page.find("#checkpoint")
    expect([slider.get_attribute(name) for name in ("min", "max", "value", "aria-valuetext")] == ["0", "3", "3", now(page)],
           "the slider says", slider.get_attribute("outerHTML"))
    expect(not page.driver.get_log("browser"), "errors in the console")


@check
def each_checkpoint_shows_its_numbers(page):
    choose_head(page, 1)
    page.all('.row[aria-label^="Target"] .token')[3].click()
    pictures = set()
    for i, checkpoint in enumerate(page.data["checkpoints"]):
        page.hover(page.find("h1"))
        move(page, Keys.HOME, *[Keys.ARROW_RIGHT] * i)
        wanted = "untrained" if checkpoint["step"] == 0 else f"step {checkpoint['step']} of 200"
        expect(now(page) == wanted, now(page), "not", wanted)
        true = weights_of(checkpoint, CROSS, 1)
        shown = page.texts('.row[aria-label^="Source"] .weight')
        expect(all(is_percent(s, x) for s, x in zip(shown, true[3], strict=True)), i, shown, true[3])
        prediction = checkpoint["predictions"][3]
        bars = page.bars()
        expect(len(bars) == 5, len(bars), "bars")
        for (text, how_much, _, _), token in zip(bars, prediction["tokens"]):
            expect(abs(number(how_much) - token["probability"]) < 6e-5 and f"id {token['id']}" in text, i, text, token)
        gives = page.texts('.row[aria-label^="Target"] .gives')
        expect(gives and all(p["tokens"][0]["text"].strip() in g for g, p in zip(gives, checkpoint["predictions"])), i, gives)
        losses = [p["next"]["loss"] for p in checkpoint["predictions"] if "next" in p]
        loss = number(page.find('[data-fact="checkpoint-loss"]').text)
        expect(near(loss, sum(losses) / len(losses), 4), i, "the loss is", loss)
        canvas = page.find("#attention-map canvas")
        page.run("arguments[0].focus()", canvas)
        page.press(Keys.PAGE_UP, Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        cell = page.readout(page.find("#attention-map"))
        expect(near(cell[2], true[1][1], 5), i, cell, "not", true[1][1])
        pictures |= {page.run("return arguments[0].firstChild.toDataURL()", b) for b in page.all('#heads [data-block="1"]')}
    expect(len(pictures) >= 13, "different pictures:", len(pictures))  # four heads and their mean; untrained, all are alike


@check
def steps_stay_those_of_the_model(page):
    card, step = page.search(CROSS), page.step(CROSS)
    canvas = card.find_element(By.TAG_NAME, "canvas")
    for key in (Keys.HOME, Keys.END):
        move(page, key)
        page.run("arguments[0].focus()", canvas)
        page.press(Keys.PAGE_UP, Keys.HOME, Keys.ARROW_DOWN)
        expect(near(page.readout(card)[2], step["values"][step["shape"][3]], 5), page.readout(card))


@check
def it_plays_from_the_beginning(page):
    move(page, Keys.END)
    button = page.find("#play")
    expect(button.get_attribute("aria-label") == "Play", button.get_attribute("aria-label"))
    button.click()
    expect(now(page) == "untrained" and button.get_attribute("aria-label") == "Pause", now(page))
    seen, end = {now(page)}, time.time() + 8
    while button.get_attribute("aria-label") == "Pause" and time.time() < end:
        seen.add(now(page))
        time.sleep(0.05)
    seen.add(now(page))
    expect(seen == {"untrained", "step 60 of 200", "step 120 of 200", "step 200 of 200"}, "seen:", seen)
    button.click()
    move(page, Keys.ARROW_RIGHT)
    expect(button.get_attribute("aria-label") == "Play", "a move does not stop it")


@check
def it_stays_while_the_language_changes(page):
    move(page, Keys.HOME, Keys.ARROW_RIGHT)
    page.find("#language").click()
    page.settle()
    expect(now(page) == "第60步，共200步", now(page))
    move(page, Keys.HOME)
    expect(now(page) == "未训练", now(page))
    page.find("#language").click()
    page.settle()
    expect(now(page) == "untrained", now(page))


@check
def it_is_in_sight_where_it_acts(page):
    page.run("window.scrollTo({top: document.getElementById('attention-map').offsetTop - 300, behavior: 'instant'})")
    page.settle()
    box = page.run("const b = document.getElementById('training').getBoundingClientRect(); return [b.top, b.bottom]")
    expect(-1 <= box[0] < 10 and box[1] < 200, "at the map it is at", box)
    page.run("document.getElementById('steps').scrollIntoView({behavior: 'instant'}); window.scrollBy(0, 400)")
    page.settle()
    box = page.run("const b = document.getElementById('training').getBoundingClientRect(); return [b.top, b.bottom]")
    expect(box[1] <= 0, "at the steps it is at", box)
    page.open(width=390)
    expect(page.run("return document.documentElement.scrollWidth") <= 390, "wider than a phone")
