#!/usr/bin/python3
"""check_lens.py FOLDER: opens the pages of FOLDER in headless Chromium and compares their logit lens with the .json beside each
page. For check_lens.sh. The last line: "N passed, N failed, N skipped"."""
import re
import sys

from page_browser import ActionChains, Keys, Page, expect, is_percent, near, number, run_plan

GRID = """return [...document.querySelectorAll("#lens-grid tbody tr")].map(row => ({
    head: row.querySelector("th").textContent, cells: [...row.querySelectorAll("td")].map(cell => ({ text: cell.textContent,
        label: cell.getAttribute("aria-label"), bold: getComputedStyle(cell).fontWeight >= 600, stop: cell.tabIndex,
        selected: cell.getAttribute("aria-selected"), style: cell.style.backgroundColor })) }));"""
BESIDE = """const place = document.getElementById("lens-cell");
    return { title: place.querySelector("h3").textContent, lead: place.querySelector("p").textContent,
        bars: [...place.querySelectorAll(".bars li")].map(bar => [bar.querySelector("bdi").textContent,
            bar.querySelector("small").textContent, bar.querySelector(".how-much").textContent,
            bar.querySelector(".fill").style.width, bar.classList.contains("came")]),
        places: [...place.querySelectorAll(".bars ~ p")].map(line => line.textContent) };"""
FOCUS = """const cell = document.activeElement.closest("#lens-grid td"), box = cell?.getBoundingClientRect();
    const seen = box && [[4, 4], [4, box.height - 4], [box.width - 4, 4], [box.width - 4, box.height - 4]].every(([x, y]) =>
        cell.contains(document.elementFromPoint(box.left + x, box.top + y)));
    return cell && [cell.parentElement.rowIndex - 1, cell.cellIndex - 1, seen ? "in sight" : "covered"];"""


def visible(text):
    """As the page writes a token."""
    for sign, seen in (("\n", "⏎"), ("\r", "␍"), ("\t", "⇥")):
        text = text.replace(sign, seen)
    return re.sub("^ +| +$", lambda blanks: "␣" * len(blanks[0]), text) or "∅"


def tokens(page):
    return [visible(token["text"]) for token in list(page.data["sequences"].values())[-1]]


def stops(page):
    """Cells that Tab stops at, or that are selected: one."""
    return [(depth, position) for depth, row in enumerate(page.run(GRID)) for position, cell in enumerate(row["cells"])
            if cell["stop"] == 0 or cell["selected"] == "true"]


def the_grid_is_the_lens(page):
    grid, lens, words = page.run(GRID), page.data["lens"], tokens(page)
    heads = page.run('return [...document.querySelectorAll("#lens-grid thead th")].map(th => th.firstChild.textContent)')
    expect(heads == words, heads, "not", words)
    expect([row["head"] for row in grid] == ["before the blocks", "after 1 block", "after 2 blocks"], [r["head"] for r in grid])
    for row, depth in zip(grid, lens, strict=True):
        for position, (cell, true) in enumerate(zip(row["cells"], depth["positions"], strict=True)):
            best, chosen = true["tokens"][0], page.data["predictions"][position]["tokens"][0]
            expect(cell["text"] == visible(best["text"]), row["head"], position, cell["text"], "not", best["text"])
            expect(cell["bold"] == (best["id"] == chosen["id"]), row["head"], position, "bold:", cell["bold"])
            label, _, share = cell["label"].rpartition(", ")
            expect(label == f"{row['head']}, token {position} {words[position]}: {cell['text']}", cell["label"])
            expect(is_percent(share, best["probability"]), cell["label"], best["probability"])
    expect(all(cell["bold"] for cell in grid[-1]["cells"]), "the last row is the model's own choice")
    expect(not all(cell["bold"] for row in grid[:-1] for cell in row["cells"]), "all rows agree, which tests nothing")
    expect(not page.driver.get_log("browser"), "errors in the console")


def colors_are_probabilities(page):
    true = {"top": lambda x: x["tokens"][0]["probability"], "choice": lambda x: x["choice"]["probability"],
            "next": lambda x: x["next"]["probability"] if "next" in x else 0}
    buttons = page.run('return [...document.querySelectorAll("#lens-colors button")].map(b => b.dataset.value)')
    expect(buttons == [name for name in true if name != "next" or "next" in page.data["lens"][0]["positions"][0]], buttons)
    for name in buttons:
        page.find(f'#lens-colors [data-value="{name}"]').click()
        for row, depth in zip(page.run(GRID), page.data["lens"], strict=True):
            for cell, at in zip(row["cells"], depth["positions"], strict=True):
                share, percent = re.search(r"([\d.]+)%", cell["style"]), 100 * true[name](at)
                expect(abs((float(share[1]) if share else 0) - percent) <= 0.501, name, cell["style"], "not", percent)


def assert_beside(page, depth, position, says=("Prediction {}", "place {}, probability")):
    """What stands beside the grid is what the data has of the cell."""
    shown, true = page.run(BESIDE), page.data["lens"][depth]["positions"][position]
    title = says[0].format(page.run(GRID)[depth]["head"])
    expect(shown["title"] == title and f"“{tokens(page)[position]}”" in shown["lead"], title, position, "not", shown)
    expect(len(shown["bars"]) == len(true["tokens"]), "only", len(shown["bars"]), "bars")
    for (text, name, much, width, came), token in zip(shown["bars"], true["tokens"]):
        expect((text, name) == (visible(token["text"]), f"id {token['id']}"), text, name, "not", token)
        expect(abs(number(much) - token["probability"]) <= 0.5001e-4, depth, position, much, token)
        expect(abs(float(width.rstrip("%")) - 100 * token["probability"]) < 0.01, width, token)
        expect(came == ("next" in true and token["id"] == true["next"]["id"]), text, "came:", came)
    chosen = page.data["predictions"][position]["tokens"][0]
    places = [(true["choice"], chosen["text"])] + ([(true["next"], true["next"]["text"])] if "next" in true else [])
    for line, (at, text) in zip(shown["places"], places, strict=True):
        said = says[1].format(at["rank"])
        expect(f"“{visible(text)}”" in line and said in line, line, "not", said)
        expect(near(number(re.search(r"[\d.]+(e[-−]?\d+)?(?=[.。]$)", line)[0]), at["probability"], 2) or
               abs(number(re.search(r"[\d.]+(?=[.。]$)", line)[0]) - at["probability"]) <= 0.5001e-4, line, at)


def a_pointer_shows_each_cell(page):
    depths, positions = len(page.data["lens"]), len(tokens(page))
    [held] = stops(page)
    assert_beside(page, *held)
    for depth in range(depths):
        for position in range(0, positions, 3):
            cell = page.all(f"#lens-grid tbody tr:nth-child({depth + 1}) td")[position]
            page.run("arguments[0].scrollIntoView({ inline: 'center' })", cell)
            page.hover(cell)
            assert_beside(page, depth, position)
    page.hover(page.find("#lens-title"))
    assert_beside(page, *held)
    page.all("#lens-grid tbody tr:last-child td")[-1].click()
    page.hover(page.find("#lens-title"))
    assert_beside(page, depths - 1, positions - 1)


def keys_reach_each_cell(page):
    """The grid is one stop of Tab; keys move in it, and stay at its edges."""
    rows, columns = len(page.data["lens"]), len(tokens(page))
    page.run('document.querySelector("#lens-colors [aria-checked=true]").focus()')
    page.press(Keys.TAB)
    if page.run('return document.activeElement.id === "lens-grid"'):  # a node that scrolls is a stop of the browser's
        page.press(Keys.TAB)
    depth, position, _ = page.run(FOCUS)
    assert_beside(page, depth, position)
    for keys, at in (([Keys.END], (depth, columns - 1)), ([Keys.HOME], (depth, 0)), ([Keys.LEFT], (depth, 0)),
                     ([Keys.UP] * rows, (0, 0)), ([Keys.RIGHT], (0, 1)), ([Keys.DOWN], (1, 1)),
                     ([Keys.END], (1, columns - 1)), ([Keys.RIGHT], (1, columns - 1)),
                     ([Keys.DOWN] * rows, (rows - 1, columns - 1)), ([Keys.LEFT], (rows - 1, columns - 2))):
        page.press(*keys)
        expect(page.run(FOCUS) == [*at, "in sight"], keys, "lead to", page.run(FOCUS), "not", at)
        assert_beside(page, *at)
        expect(stops(page) == [at], "stops of Tab:", stops(page))
    page.press(Keys.TAB)
    expect(page.run(FOCUS) is None, "Tab does not leave the grid")
    ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    expect(page.run(FOCUS) == [rows - 1, columns - 2, "in sight"], "Shift and Tab lead to", page.run(FOCUS))


def it_is_chinese(page):
    """And the cell that is held stays the same."""
    page.all("#lens-grid tbody tr:first-child td")[1].click()
    page.find("#language").click()
    page.settle()
    expect(page.find("#lens-title").text == "logit透镜", page.find("#lens-title").text)
    grid = page.run(GRID)
    expect([row["head"] for row in grid] == ["第一个块之前", "1个块之后", "2个块之后"], [row["head"] for row in grid])
    expect(grid[1]["cells"][0]["label"].startswith(f"1个块之后，词元0 {tokens(page)[0]}：{grid[1]['cells'][0]['text']}，"),
           grid[1]["cells"][0]["label"])
    page.hover(page.find("#lens-title"))
    assert_beside(page, 0, 1, ("{}的预测", "第{}名，概率"))
    said = page.run("""const lens = document.getElementById("lens").cloneNode(true);
        lens.querySelectorAll("#lens-grid td, thead span, b, .bars, #lens-out, .chapter-line").forEach(node => node.remove());
        return lens.textContent;""")
    english = re.findall("[A-Za-z]{2,}", re.sub("softmax|logit", "", said))
    expect(not english, "not in Chinese:", english)


def it_fits_a_phone(page):
    page.open(width=400)
    wide = page.run("return document.documentElement.scrollWidth")
    expect(page.find("#lens").is_displayed() and wide <= 400, "wider than the screen:", wide)


def heads_that_stay_cover_no_cell(page):
    """Keys lead along the grid, which scrolls, from end to end."""
    page.open(width=400)
    page.find("#lens-grid tbody td").click()
    page.press(Keys.END)
    for position in reversed(range(len(tokens(page)))):
        expect(page.run(FOCUS) == [0, position, "in sight"], page.run(FOCUS), "not", position)
        page.press(Keys.LEFT)


def there_is_none_without_its_option(page):
    expect("lens" not in page.data and not page.find("#lens").is_displayed(), "a lens that nobody asked for")


if __name__ == "__main__":
    all_checks = [the_grid_is_the_lens, colors_are_probabilities, a_pointer_shows_each_cell, keys_reach_each_cell, it_is_chinese,
                  it_fits_a_phone, heads_that_stay_cover_no_cell]
    sys.exit(run_plan([("pairs", all_checks), ("text", all_checks), ("without", [there_is_none_without_its_option])]))
