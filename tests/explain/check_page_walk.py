"""check_page_walk.py: the walk of twelve stops: its sentences have the numbers of the data, each stop points at what it tells of, in
sight above the panel; by keys alone, on a phone, and in Chinese. For check_page.py, which runs it."""
import math
import re

from page_browser import Keys, expect, near, number

CHECKS = []
LONG_CHECKS = []
STOPS = ["Tokens", "Embedding", "Positions", "Queries, keys, values", "Scores", "Scale and mask", "Softmax", "Weighted sum",
         "Heads joined", "Residual connection and norm", "Feed-forward network", "Prediction"]
ATTENTION = {"translation": "decoder.1.cross_attention", "language_model": "blocks.2.attention", "modern": "blocks.1.attention"}


def check(function):
    CHECKS.append(function)
    return function


def of_a_long_text(function):
    LONG_CHECKS.append(function)
    return function


def panel(page):
    """Title, text, and the facts in it."""
    return page.run("""const all = [...document.querySelectorAll("#guide-text b")].map(b => [b.dataset.fact, b.textContent]);
        return [document.getElementById("guide-title").textContent, document.getElementById("guide-text").textContent,
            Object.fromEntries(all)];""")


def stops(page, each=lambda i: None):
    """The panel at each stop from the first to the last."""
    page.find("#walk-open").click()
    page.settle()
    found = []
    for i in range(12):
        page.settle()
        found.append(panel(page))
        expect(page.find("#guide-count").text in (f"Stop {i + 1} of 12", f"第{i + 1}站，共12站"), page.find("#guide-count").text)
        each(i)
        if i < 11:
            page.find("#guide-next").click()
    return found


class About:
    """What the walk must follow, of the data."""

    def __init__(self, page):
        self.page, self.name = page, ATTENTION[page.kind]
        label = page.find('.token[aria-pressed="true"]').get_attribute("aria-label")
        self.query = int(re.search(r" (\d+):", label)[1])
        _, self.heads, rows, columns = page.step(self.name + ".weights")["shape"]
        self.head, self.key = max(((h, k) for h in range(self.heads) for k in range(columns)),
                                  key=lambda at: self.at("weights", at[0], self.query, at[1]))
        self.columns, self.rows = columns, rows

    def at(self, name, *place):
        """The number of a step of the attention, or by its whole name of another."""
        names = {s["name"] for s in self.page.data["steps"]}
        step = self.page.step(name if name in names else f"{self.name}.{name}")
        index = 0
        for size, at in zip(step["shape"][1:], place, strict=True):
            index = index * size + at
        return float(step["values"][index])

    def row(self, name, *place):
        return [self.at(name, *place, i) for i in range(self.page.step(name)["shape"][-1])]


def facts_of_attention(page, a):
    masked = [a.at("masked", a.head, a.query, k) for k in range(a.columns)]
    powers = [math.exp(x) for x in masked]
    weight = [a.at("weights", a.head, a.query, k) for k in range(a.columns)]
    first, second = sorted(range(a.columns), key=lambda k: -weight[k])[:2]
    kv = a.head // (a.heads // page.step(a.name + ".v.heads")["shape"][1])
    wide, part = (page.step(a.name + name)["shape"][-1] for name in (".q.heads", ".heads"))
    q, k, v = (page.step(a.name + "." + name) for name in ("q", "k", "v.heads"))
    return {
        "Queries, keys, values": {"q": a.at("q", a.query, 0), "k": a.at("k", a.key, 0), "v": a.at("v", a.key, 0)},
        "Scores": {"score": a.at("scores", a.head, a.query, a.key), "heads": a.heads, "head": a.head,
                   "width": q["shape"][-1] // a.heads, "from": a.head * wide, "to": a.head * wide + wide - 1},
        "Scale and mask": {"score": a.at("scores", a.head, a.query, a.key), "scaled": a.at("scaled", a.head, a.query, a.key),
                           "width": q["shape"][-1] // a.heads,
                           **({} if page.kind == "translation" else {"hidden": masked.count(-math.inf)})},
        "Softmax": {"masked": masked[a.key], "power": powers[a.key], "sum": sum(powers), "weight": weight[a.key],
                    "share": 100 * weight[a.key]},
        "Weighted sum": {"weight1": weight[first], "weight2": weight[second], "value1": a.at("v.heads", kv, first, 0),
                         "value2": a.at("v.heads", kv, second, 0), "sum": a.at("heads", a.head, a.query, 0), "head": a.head,
                         "count": a.columns},
        "Heads joined": {"from": a.head * part, "before": a.at("concat", a.query, a.head * part),
                         "after": a.at(a.name + ".output", a.query, 0), "heads": a.heads, "part": v["shape"][-1],
                         "width": page.step(a.name + ".concat")["shape"][-1]},
    }


def facts_of_the_rest(page, a):
    block = a.name.rpartition(".")[0]
    translates, modern = page.kind == "translation", page.kind == "modern"
    prefix, at = ("encoder.", a.key) if translates else ("", a.query)
    token = page.data["sequences"]["source" if translates else "text"][at]
    total = block + (".norm2.sum" if translates else ".norm1.sum")
    row = a.row(total, a.query)
    mean, square = sum(row) / len(row), sum(x * x for x in row) / len(row)
    after = a.at(block + ".norm2.output", a.query, 0)
    prediction = page.data["predictions"][a.query]
    if translates:
        place = {"embedding": a.at("encoder.embedding.scaled", at, 0), "row": a.at("encoder.positions", at, 0),
                 "sum": a.at("encoder.input", at, 0), "position": at}
    else:
        rotated = "blocks.0.attention.q"
        place = {"before": a.at(rotated, at, 0), "after": a.at(rotated + ".rotated", at, 0), "position": at} if modern else {}
    ffn = {name: a.at(f"{block}.ffn.{name}", a.query, 0) for name in ("gate", "up", "product")} if modern else {
        "before": a.at(block + ".ffn.hidden", a.query, 0), "after": a.at(block + ".ffn.activation", a.query, 0)}
    return {
        "Tokens": {"position": at, "id": token["id"]},
        "Embedding": {"x": a.at(prefix + "embedding", at, 0), "width": page.step(prefix + "embedding")["shape"][-1],
                      **({"scaled": a.at("encoder.embedding.scaled", at, 0)} if translates else {})},
        "Positions": place,
        "Residual connection and norm": {"sum": row[0], "after": after, **({"root": math.sqrt(square)} if modern else
                                         {"mean": mean, "spread": math.sqrt(square - mean * mean)})},
        "Feed-forward network": {**ffn, "wide": page.step(f"{block}.ffn.{'gate' if modern else 'hidden'}")["shape"][-1]},
        "Prediction": {"chance": prediction["tokens"][0]["probability"], "probability": prediction["next"]["probability"],
                       "loss": prediction["next"]["loss"]},
    }


@check
def the_walk_has_the_numbers_of_the_data(page):
    about = About(page)
    true = {**facts_of_attention(page, about), **facts_of_the_rest(page, about)}
    found = stops(page)
    expect([title for title, *_ in found] == STOPS, [title for title, *_ in found])
    for title, text, facts in found:
        expect(not re.search(r"undefined|NaN|not in this page|[{}]", text), title, text)
        for name, x in true[title].items():
            expect(near(number(facts[name].rstrip("%")), x, 3), title, name, "is", facts[name], "not", x, "in:", text)
    words = [token["text"] for token in page.data["sequences"]["target" if page.kind == "translation" else "text"]]
    expect(f"“{words[about.query].replace(' ', '␣')}”" in found[4][1], "the token is not named:", found[4][1])
    expect(("post-norm" in found[9][1]) == (page.kind == "translation"), found[9][1])


@check
def each_stop_points_at_what_it_tells_of(page):
    about, places = About(page), []

    def look(i):
        expect(len(page.all(".guided")) == 1, "marked at stop", i + 1, len(page.all(".guided")))
        name, top, bottom, panel_top, readout = page.run("""const node = document.querySelector(".guided");
            const box = node.getBoundingClientRect(), guide = document.getElementById("guide").getBoundingClientRect();
            return [node.getAttribute("aria-label") ?? node.id, box.top, box.bottom, guide.top,
                node.querySelector("figure output")?.textContent ?? ""];""")
        expect(top >= 0 and min(bottom, top + 150) <= panel_top + 1, "stop", i + 1, name, "at", top, bottom, "panel at", panel_top)
        places.append((name, readout))
    found = stops(page, look)
    a, block = about.name, about.name.rpartition(".")[0]
    names = [name for name, _ in places]
    wanted = {0: "words", 3: a + ".q", 4: a + ".scores", 5: a + ".masked", 6: "attention-map", 7: a + ".heads", 8: a + ".output",
              9: block + ".norm2.output", 11: "next"}
    expect(all(names[i] == name for i, name in wanted.items()), names)
    for stop, fact in ((3, "q"), (4, "score"), (5, "scaled"), (6, "weight"), (7, "sum"), (8, "after"), (9, "after"), (10, "after")):
        facts = found[stop][2]
        x = facts.get(fact, facts.get("product"))
        shown = places[stop][1].rpartition(": ")[2]
        expect(near(number(x), number(shown), 3), STOPS[stop], "tells", x, "and its map", places[stop][1])


@check
def the_walk_by_keyboard(page):
    page.run("document.getElementById('walk-open').focus()")
    page.press(Keys.ENTER)
    title = "return document.getElementById('guide-title').textContent"
    expect(page.run("return document.activeElement.id") == "guide", "the focus is not in the panel")
    seen = [page.run(title)]
    for _ in range(11):
        page.press(Keys.ARROW_RIGHT)
        seen.append(page.run(title))
    expect(seen == STOPS, seen)
    page.press(Keys.ARROW_RIGHT)
    expect(page.run(title) == STOPS[-1] and page.find("#guide").is_displayed(), "an arrow leaves the last stop")
    page.press(Keys.HOME, Keys.ARROW_LEFT)
    expect(page.run(title) == STOPS[0], "an arrow leaves the first stop")
    for name in ("guide-close", "guide-back", "guide-next"):
        for _ in range(2):  # a chapter with an address is a stop of the Tab key, too
            page.press(Keys.TAB)
            if page.run("return document.activeElement.id") == name:
                break
        expect(page.run("return document.activeElement.id") == name, "Tab does not reach", name)
    page.press(Keys.ENTER)
    expect(page.run(title) == STOPS[1], "Enter does not lead on")
    page.press(Keys.END, Keys.ENTER)
    expect(not page.find("#guide").is_displayed() and not page.all(".guided"), "the last button does not close it")
    expect(page.run("return document.activeElement.id") == "walk-open", "the focus is lost")
    page.press(Keys.ENTER, Keys.ESCAPE)
    expect(not page.find("#guide").is_displayed(), "Escape does not close it")


@check
def the_walk_on_a_phone_in_both_languages(page):
    page.open(width=400)
    english = stops(page, lambda i: expect(page.run("return document.documentElement.scrollWidth") <= 400, "too wide at stop", i + 1))
    page.find("#guide-close").click()
    page.find("#language").click()
    page.settle()

    def fits(i):
        box = page.run("const b = document.getElementById('guide').getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]")
        expect(box[0] >= 0 and box[1] <= 400 and box[2] >= 400 and box[3] <= 1000.5, "the panel at stop", i + 1, box)
        expect(page.run("return document.documentElement.scrollWidth") <= 400, "too wide at stop", i + 1)
    chinese = stops(page, fits)
    for (_, _, before), (title, text, after) in zip(english, chinese):
        expect(before == after, title, before, "and", after)
        bare = re.sub("|".join(re.escape(fact) for fact in sorted(after.values(), key=len, reverse=True)), "", text)
        expect(not re.search("[A-Za-z]{2,}", bare.replace("softmax", "")), title, text)
    page.find("#guide-back").click()
    page.find("#language").click()
    page.settle()
    expect(panel(page)[0] == STOPS[10], "in the other language it shows", panel(page)[0])


@of_a_long_text
def the_walk_through_a_long_text(page):
    """Some numbers are rounded, and some are not there."""
    found = stops(page)
    text = " ".join(text for _, text, _ in found)
    expect("≈" in text and "are not in this page" in text and not re.search("undefined|NaN", text), text)
