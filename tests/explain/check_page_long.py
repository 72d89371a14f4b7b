"""check_page_long.py: what must hold for the page of a text of 325 tokens: it is small, the text can be read, its numbers are
rounded no more than they say. For check_page.py, which runs it."""
import base64
import os
import re
import struct

from page_browser import FOLDER, By, Keys, choose_head, expect, number

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def values(page, name):
    step = page.step(name)
    letters = base64.b64decode(step["values_base64"])
    return struct.unpack(f"<{len(letters) // 4}f", letters)


@check
def the_page_is_small(page):
    size = os.path.getsize(f"{FOLDER}/{page.kind}.html")
    expect(size < 3_000_000, "the page has", size, "bytes")
    page.driver.get_log("browser")
    for theme in ("light", "dark"):
        page.open(theme)
    log = page.driver.get_log("browser")
    expect(not log, "the console says", log[:2])


@check
def the_headline_is_short_and_the_text_is_whole(page):
    shown = page.find("#title bdi").text
    expect(len(shown) <= 61 and shown.endswith("…"), shown)
    expect(" ".join(page.data["text"].split()).startswith(shown[:-1]), shown)
    expect(page.find("#title").size["height"] < 120, "the headline is", page.find("#title").size)
    expect(not page.find("#whole").is_displayed(), "the text is there twice")
    row = page.find(".row.running")
    breaks = page.run("return arguments[0].querySelectorAll('br').length", row)
    expect(breaks == page.data["text"].count("\n") > 0, breaks, "line breaks")
    text = page.run("return [...arguments[0].querySelectorAll('.text')].map(t => t.textContent).join('')", row)
    expect(text.replace("⏎", "\n") == page.data["text"], "the text:", text[:200])


@check
def the_chosen_token_is_in_sight(page):
    token, row = page.find('.token[aria-pressed="true"]'), page.find(".row.running")
    boxes = page.run("return arguments.length && [...arguments].map(n => n.getBoundingClientRect()).map(b => [b.top, b.bottom])",
                     token, row)
    expect(boxes[1][0] + 20 < boxes[0][0] and boxes[0][1] < boxes[1][1] - 20, "token and row:", boxes)
    expect(page.run("return arguments[0].scrollTop", row) > 0, "it did not have to scroll")
    expect(boxes[1][1] < 1000, "the first screen has not the text:", boxes)


@check
def edges_fade_where_there_is_more(page):
    row = page.find(".row.running")
    fades = "return ['top', 'bottom'].map(e => arguments[0].style.getPropertyValue('--fade-' + e))"
    expect(page.run(fades, row) == ["var(--fade)"] * 2, page.run(fades, row))
    page.run("arguments[0].scrollTop = 0", row)
    page.settle()
    expect(page.run(fades, row) == ["0px", "var(--fade)"], page.run(fades, row))


@check
def keys_bring_the_token_into_sight(page):
    page.run("arguments[0].focus()", page.find('.token[aria-pressed="true"]'))
    page.press(Keys.END)
    tokens = page.all(".token")
    inside = page.run("const [b, r] = [...arguments].map(n => n.getBoundingClientRect()); return b.top >= r.top && b.bottom <= r.bottom",
                      tokens[-1], page.find(".row.running"))
    expect(inside, "the last token cannot be seen")
    page.press(Keys.ENTER)
    expect(tokens[-1].get_attribute("aria-pressed") == "true", "Enter does not hold it")
    expect("ends here" in page.find("#next").text, "something follows the last token")


@check
def what_it_attended_to_is_named(page):
    choose_head(page, 0)
    position = int(re.search(r" (\d+):", page.find('.token[aria-pressed="true"]').get_attribute("aria-label"))[1])
    page.hover(page.find("h1"))
    count = len(page.data["sequences"]["text"])
    row = values(page, "blocks.3.attention.weights")[position * count:(position + 1) * count]
    best = sorted(range(count), key=lambda i: -row[i])[:3]
    shown = [int(i) for i in re.findall(r"\(token (\d+)\) [\d.<]+%", page.find("#most").text)]
    expect(all(abs(row[i] - row[j]) < 0.01 * row[j] for i, j in zip(shown, best)), shown, "not", best)
    expect(len(set(shown)) == 5, "not five:", page.find("#most").text)


@check
def rounded_numbers_are_true_as_far_as_they_go(page):
    count, seen = len(page.data["sequences"]["text"]), set()
    formats = page.run("return JSON.parse(document.getElementById('data').textContent).steps.map(s => [s.name, s.format])")
    kinds = {kind: name for name, kind in reversed(formats) if kind not in (None, "none")}
    expect(len(kinds) == 3, "not of each format one:", kinds)
    for name in kinds.values():
        card, step, true = page.search(name), page.step(name), values(page, name)
        canvas, columns = card.find_element(By.TAG_NAME, "canvas"), step["shape"][-1]
        page.run("arguments[0].focus()", canvas)
        for row, keys in ((0, [Keys.PAGE_UP, Keys.HOME]), (1, [Keys.ARROW_DOWN]), (count - 1, [Keys.PAGE_DOWN, Keys.ARROW_RIGHT])):
            page.press(*keys)
            shown = card.find_element(By.TAG_NAME, "output").text.split(": ")[-1]
            column = 1 if row == count - 1 else 0
            seen.add(shown[0] == "≈")
            digits = re.sub(r"e.*", "", shown.lstrip("≈"))
            unit = 10 ** -len(digits.partition(".")[2])
            if "e" in shown:
                unit *= 10 ** int(shown.partition("e")[2])
            x = true[row * columns + column]
            expect(abs(number(shown.lstrip("≈")) - x) <= max(1.01 * unit, 1e-4 * abs(x)), name, row, column, shown, "not", x)
    expect(seen == {True, False}, "all or none are rounded")


@check
def a_mean_of_heads_is_true_as_far_as_it_goes(page):
    """Each head has been rounded by the largest weight of its own row."""
    choose_head(page, -1)
    page.hover(page.find("h1"))
    shown = page.run("""const map = document.querySelector("#attention-map canvas").heatMap, found = [];
        for (const row of [2, 3, 4, 6, 9, 14, 20, 100, 150, 324])
            for (let column = 0; column <= row; column++) {
                map.point({ row, column });
                found.push([row, column, map.readout.textContent.split(": ").pop()]);
            }
        return found;""")
    true, count, several = values(page, "blocks.3.attention.weights"), len(page.data["sequences"]["text"]), 0
    for row, column, text in shown:
        x = sum(true[h * count * count + row * count + column] for h in range(4)) / 4
        digits, _, power = text.lstrip("≈").partition("e")
        unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
        if text[0] == "≈" and number(text[1:]) >= 10 * unit:  # two digits at least
            several += 1
            expect(abs(number(text[1:]) - x) <= 1.51 * unit, "row", row, "column", column, text, "not", x)
    expect(several > 20, "only", several, "numbers with more than one digit")


@check
def the_marked_colors_hold_everywhere(page):
    """What is marked as chosen is what the text and the map show: choosing it changes nothing."""
    picture = "return [document.querySelector('#attention-map canvas'), ...document.querySelectorAll('#heads canvas')]" \
        ".map(c => c.toDataURL()).join()"

    def shown():
        page.hover(page.find("h1"))
        page.run("document.activeElement.blur(); document.getElementById('attention').scrollIntoView({behavior: 'instant'})")
        page.settle()
        return page.stage(), page.find("#key").text, page.run(picture)

    marked = page.find('#choices [aria-label="Colors"] [aria-checked="true"]')
    expect(marked.get_attribute("data-value") == "row", "at first:", marked.text)
    for choice in ("row", "root"):
        before = shown()
        page.find(f'#choices [data-value="{choice}"]').click()
        after = shown()
        expect((after == before) == (choice == "row"), "choosing", choice, "changes", [a != b for a, b in zip(before, after)])
    expect(len(page.all("#key .ramp small")) == 1, "the middle of the text's colors is not named:", page.find("#key").text)


@check
def words_can_be_read_on_every_tint(page):
    for theme in ("light", "dark"):
        page.open(theme)
        for color in ("attention", "probability"):
            page.find(f'#words [data-value="{color}"]').click()
            page.hover(page.find("h1"))
            inks = {ink for _, ink in page.contrasts()} - {"masked"}
            least = min(contrast for contrast, _ in page.contrasts())
            expect(least >= 4.5 and len(inks) == 1, theme, color, "contrast", least, "inks", inks)


@check
def rows_have_their_numbers(page):
    """Where there is not room for all names, those that stand there say which they are."""
    page.run("""window.painted = [];
        const plain = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            window.painted.push(text);
            return plain.call(this, text, ...rest);
        };
        document.getElementById("attention").scrollIntoView({behavior: "instant"});
        document.querySelector("#attention-map canvas").heatMap.redraw();""")
    page.settle()
    painted, texts = page.run("return window.painted"), [t["text"] for t in page.data["sequences"]["text"]]
    expect(len(painted) > 20, "painted:", painted)
    for text in painted:
        found = re.match(r"(\d+) (.+)$", text)
        expect(found and found[2] == re.sub(r"^ ", "␣", texts[int(found[1])]).replace("\n", "⏎"), "a name is", text)


@check
def what_is_left_out_says_how_to_print_it(page):
    name = "blocks.0.attention.scores"
    text = page.search(name).text
    expect("too large" in text and f"rapt explain models/tiny TEXT --only '{name}' --full" in text, text)


@check
def it_fits_narrow_screens(page):
    for width in (390, 900):
        page.open(width=width)
        expect(page.run("return document.documentElement.scrollWidth") <= width, "wider than", width)
