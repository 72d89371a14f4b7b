"""check_page_lines.py: all heads of a block as lines: a line for each weight, as opaque as the weight; heads that are switched
off and on, tokens that are pointed at and held, by pointer and by keys; colors that can be told apart. For check_page.py, which
runs it."""
import math
import re

from page_browser import ActionChains, Keys, expect, near, number, weights

CHECKS = []
LONG_CHECKS = []
FAINT = 0.002
LAST = {"translation": "decoder.1.cross_attention.weights", "language_model": "blocks.2.attention.weights"}
HEADS = 4


def check(function):
    CHECKS.append(function)
    return function


def of_a_long_text(function):
    LONG_CHECKS.append(function)
    return function


def drawn(page):
    """{(head, query, key): opacity}; no two lines are of the same weight."""
    found = page.run("""return [...document.querySelectorAll(".head-lines path")].map(path => [Number(path.dataset.head),
        Number(path.dataset.query), Number(path.dataset.key), Number(getComputedStyle(path).strokeOpacity)]);""")
    lines = {tuple(line[:3]): line[3] for line in found}
    expect(len(lines) == len(found), "lines drawn twice:", len(found) - len(lines))
    return lines


def true_lines(page, name, heads=range(HEADS), query=None, key=None):
    return {(h, q, k): w for h in heads for q, row in enumerate(weights(page, name, h)) for k, w in enumerate(row)
            if w >= FAINT and query in (None, q) and key in (None, k)}


def assert_lines(page, true, *what):
    lines = drawn(page)
    expect(lines.keys() == true.keys(), *what, "lines:", sorted(lines.keys() ^ true.keys())[:6], "of", len(true))
    wrong = [(line, lines[line], true[line]) for line in true if not near(lines[line], true[line], 5)]
    expect(not wrong, *what, "opacity and weight:", wrong[:3])


def token(page, side, index):
    return page.all(f".of-{side} .line-token")[index]


@check
def a_line_for_each_weight_as_opaque_as_it(page):
    kinds = page.all('[aria-label="Table"] button') or [None]
    names = {"encoder.attention": "encoder.{}.attention.weights", "decoder.self_attention": "decoder.{}.self_attention.weights",
             "decoder.cross_attention": "decoder.{}.cross_attention.weights"}
    for button in kinds:
        if button:
            button.click()
        name = names[button.get_attribute("data-value")] if button else "blocks.{}.attention.weights"
        for block in (0, 1):
            page.find(f'#heads [data-block="{block}"][data-head="0"]').click()
            page.hover(page.find("h1"))
            assert_lines(page, true_lines(page, name.format(block)), name, block)
            expect(f"lock {block}" in page.find("#lines-title").text, page.find("#lines-title").text)
    count = re.match(r"(\d+) lines", page.find(".lines-count").text)
    expect(count and int(count[1]) == len(drawn(page)), page.find(".lines-count").text)


@check
def lines_lead_from_query_to_key(page):
    places = page.run("""const middle = node => { const box = node.getBoundingClientRect(); return (box.top + box.bottom) / 2; };
        const [queries, keys] = ["query", "key"].map(side => [...document.querySelectorAll(`.of-${side} .line-token`)].map(middle));
        const picture = document.querySelector(".head-lines").getBoundingClientRect();
        return [...document.querySelectorAll(".head-lines path")].map(path => {
            const [from, to] = [0, path.getTotalLength()].map(at => path.getPointAtLength(at)), { query, key } = path.dataset;
            return [from.x, to.x, picture.top + from.y - queries[query], picture.top + to.y - keys[key]];
        });""")
    wrong = [place for place in places if place[:2] != [0, 100] or max(map(abs, place[2:])) > 8]
    expect(places and not wrong, len(wrong), "lines beside their tokens:", wrong[:2])


@check
def a_head_takes_exactly_its_lines(page):
    name = LAST[page.kind]
    chips = page.all(".head-chip")
    expect(len(chips) == HEADS, len(chips), "heads")
    for off in ([2], [2, 0]):
        chips[off[-1]].click()
        page.settle()
        assert_lines(page, true_lines(page, name, [h for h in range(HEADS) if h not in off]), "without", off)
        pressed = [chip.get_attribute("aria-pressed") for chip in chips]
        expect(pressed == ["false" if h in off else "true" for h in range(HEADS)], "pressed:", pressed)
    chips[2].click()
    page.settle()
    assert_lines(page, true_lines(page, name, [1, 2, 3]), "2 is back")
    ActionChains(page.driver).double_click(chips[1]).perform()
    page.settle()
    assert_lines(page, true_lines(page, name, [1]), "1 alone")
    page.find(".head-all button").click()
    page.settle()
    assert_lines(page, true_lines(page, name), "all")


@check
def heads_that_are_off_stay_off(page):
    """In other blocks, and in the other language."""
    page.all(".head-chip")[1].click()
    page.find('#heads [data-block="0"][data-head="-1"]').click()
    page.find("#language").click()
    page.settle()
    first = LAST[page.kind].replace(".1.", ".0.").replace(".2.", ".0.")
    assert_lines(page, true_lines(page, first, [0, 2, 3]), "in Chinese")


@check
def a_token_shows_its_lines_alone(page):
    name = LAST[page.kind]
    rows = weights(page, name, 3)
    for side, index in (("query", 3), ("key", 1)):
        page.hover(token(page, side, index))
        assert_lines(page, true_lines(page, name, **{side: index}), side, index)
        if side == "query":
            best = max(range(len(rows[index])), key=lambda k: rows[index][k])
            note = page.find(".head-view output").text
            expect(re.search(rf"head 3: “.*” \({best}\) {100 * rows[index][best]:.0f}%", note), note, "not", best, rows[index])
    page.hover(page.find("h1"))
    assert_lines(page, true_lines(page, name), "nothing is pointed at")
    token(page, "query", 2).click()
    page.hover(page.find("h1"))
    assert_lines(page, true_lines(page, name, query=2), "held")
    expect(token(page, "query", 2).get_attribute("aria-pressed") == "true", "it does not say that it is held")
    token(page, "query", 2).click()
    page.hover(page.find("h1"))
    assert_lines(page, true_lines(page, name), "no longer held")


@check
def lines_by_keyboard(page):
    """From the map by Tab to the heads, then to the tokens."""
    name = LAST[page.kind]
    page.run("document.querySelector('#attention-map canvas').focus()")
    def reach(selector):
        for _ in range(8):
            page.press(Keys.TAB)
            if page.run("return document.activeElement.matches(arguments[0])", selector):
                return
        raise AssertionError(f"Tab does not reach {selector}")
    reach(".head-chip")
    page.press(Keys.ARROW_RIGHT, Keys.SPACE)
    assert_lines(page, true_lines(page, name, [0, 2, 3]), "head 1 off")
    reach(".head-all button:last-child")
    page.press(Keys.ENTER)
    assert_lines(page, true_lines(page, name, [1]), "head 1 alone")
    page.run("document.querySelector('.head-all button').focus()")
    page.press(Keys.ENTER)
    reach(".of-query .line-token")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert_lines(page, true_lines(page, name, query=2), "the token with the focus")
    page.press(Keys.ENTER, Keys.HOME)
    assert_lines(page, true_lines(page, name, query=0), "the first")
    reach(".of-key .line-token")
    page.press(Keys.END)
    assert_lines(page, true_lines(page, name, key=len(weights(page, name, 0)[0]) - 1), "the last key")
    page.run("document.activeElement.blur()")
    page.settle()
    assert_lines(page, true_lines(page, name, query=2), "what Enter holds")
    page.run("document.querySelector('.line-token').focus()")
    page.press(Keys.ESCAPE)
    page.run("document.activeElement.blur()")
    page.settle()
    assert_lines(page, true_lines(page, name), "Escape lets go")


def linear(color):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]


def luminance(color):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(color)))


def oklab(light):
    """Ottosson 2020: equal distances look about equally far apart."""
    lms = [math.copysign(abs(x) ** (1 / 3), x) for x in (sum(m * c for m, c in zip(row, light)) for row in (
        (0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005)))]
    return [sum(m * c for m, c in zip(row, lms)) for row in (
        (0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660))]


# Machado, Oliveira and Fernandes 2009, at full severity: protanopia, deuteranopia, tritanopia.
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "without green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "without blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@check
def colors_can_be_told_apart(page):
    """By all eyes, in both themes, and from the paper; and a line has the color of its head's button."""
    for theme in ("light", "dark"):
        page.open(theme)
        colors, surface, same = page.run("""
            const parts = text => text.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255), probe = document.createElement("i");
            const computed = color => { probe.style.color = color; return parts(getComputedStyle(probe).color); };
            document.body.append(probe);
            const stroke = selector => getComputedStyle(document.querySelector(selector)).stroke;
            return [[0, 1, 2, 3, 4, 5, 6, 7].map(i => computed(`var(--head-${i})`)), computed("var(--surface)"),
                [0, 1, 2, 3].every(h => stroke(`.head-chip[data-head="${h}"] path`) === stroke(`.head-lines [data-head="${h}"]`)
                    && parts(stroke(`.head-lines [data-head="${h}"]`)).join() === computed(`var(--head-${h})`).join())];""")
        expect(same, theme, "lines and buttons differ")
        for color in colors:
            low, high = sorted((luminance(color), luminance(surface)))
            expect((high + 0.05) / (low + 0.05) >= 3, theme, "contrast of", color)
        for eyes, matrix in EYES.items():
            seen = [oklab([max(0, min(1, sum(m * c for m, c in zip(row, linear(color))))) for row in matrix]) for color in colors]
            least = min(math.dist(a, b) for i, a in enumerate(seen) for b in seen[:i])
            expect(least > 0.1, theme, eyes, "least distance", least)


@check
def the_lines_fit_a_phone(page):
    for width in (400, 768, 1400):
        page.open(width=width)
        expect(page.run("return document.documentElement.scrollWidth") <= width, "wider than", width)
        inside = page.run("""const view = document.querySelector(".head-view").getBoundingClientRect();
            return [...document.querySelectorAll(".head-view *")].every(node => {
                const box = node.getBoundingClientRect();
                return box.left >= view.left - 1 && box.right <= view.right + 1;
            }) && document.querySelector(".head-lines").getBoundingClientRect().width >= 60;""")
        expect(inside, "something leaves the view at", width)


# ---- a long text ----

@of_a_long_text
def a_long_text_opens_on_one_token(page):
    lines, chosen = drawn(page), page.find('.token[aria-pressed="true"]').get_attribute("aria-label")
    position = int(re.search(r" (\d+):", chosen)[1])
    expect(lines and {query for _, query, _ in lines} == {position}, "not of token", position)
    held = page.find('.of-query [aria-pressed="true"]')
    inside = page.run("const [a, b] = [...arguments].map(n => n.getBoundingClientRect()); return a.top > b.top && a.bottom < b.bottom",
                      held, page.find(".line-stage"))
    expect(inside, "the token cannot be seen")


@of_a_long_text
def lines_of_a_long_text_are_bounded(page):
    from check_page_long import values
    page.run("document.querySelector('.of-query [aria-pressed=\"true\"]').click()")
    page.hover(page.find("h1"))
    lines, text = drawn(page), page.find(".lines-count").text
    count, least, left = re.match(r"([\d,]+) lines, one for each weight of ([\d.]+) or more; ([\d,]+) smaller", text).groups()
    count, least, left = int(count.replace(",", "")), number(least), int(left.replace(",", ""))
    expect(count == len(lines) and 1500 < count <= 3000, count, "and", len(lines), "lines")
    expect(min(lines.values()) > 0.99 * least, "the least is", min(lines.values()), "not", least)
    n, true = len(page.data["sequences"]["text"]), values(page, "blocks.3.attention.weights")
    sure = {(h, q, k) for h in range(HEADS) for q in range(n) for k in range(q + 1) if true[(h * n + q) * n + k] > 1.1 * least}
    expect(len(sure) > 1000 and sure <= lines.keys(), "not drawn:", len(sure - lines.keys()), "of", len(sure))
    expect(2000 < left <= HEADS * n * (n + 1) // 2 - count, "left out:", left)
    expect(all(key <= query for _, query, key in lines), "a line leads to a later key")
