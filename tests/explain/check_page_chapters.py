"""check_page_chapters.py: each card and part of the page names the chapter that explains it: a link below the address of the book
that the page was made with, or its file where it was made without one. For check_page.py, which runs it; which chapter it is:
check_chapters.py."""
import os

from page_browser import expect

CHECKS = []
BOOK = os.path.join(os.path.dirname(__file__), "../../docs/book")


def check(function):
    CHECKS.append(function)
    return function


CARDS = """return [...document.querySelectorAll("#cards .card, .part")].map(node => [node.getAttribute("aria-label") ?? "the part",
    ...[...node.querySelectorAll(":scope > .chapter-line .chapter")].map(one => [one.textContent, one.getAttribute("href")])]);"""


def assert_leads(page, ending, name, *found):
    """To a file that exists, in the language of the page."""
    expect(len(found) == 1, name, "names", found)
    text, address = found[0]
    expect((address is not None) == ("book" in page.data), name, "has the link", address)
    file = address[len(page.data["book"]) + 1:] if address else text.rpartition("docs/book/")[2]
    expect(not address or address.startswith(page.data["book"] + "/"), name, "leads to", address)
    expect(file.endswith(ending) and ("zh-CN" in file) == ("zh-CN" in ending), name, "leads to", file)
    expect(os.path.isfile(os.path.join(BOOK, file)), name, "leads to", file, "which does not exist")
    with open(os.path.join(BOOK, file), encoding="utf-8") as chapter:
        title = chapter.readline().split(" ", 2)[2].strip()
    expect(title in text, file, "is called", text)
    return file


@check
def every_card_names_its_chapter(page):
    cards = page.of_all_parts(CARDS)
    files = {name: assert_leads(page, ".md", name, *found) for name, *found in cards}
    steps = {step["name"] for step in page.data["steps"]}
    expect(steps <= files.keys(), "not seen:", steps - files.keys())
    attention = next(name for name in files if name.endswith(".scores"))[:-len("scores")]
    for name, file in (("q", "03-queries-keys-values"), ("scores", "05-scores"), ("weights", "06-softmax"),
                       ("heads", "07-weighted-sum"), ("output", "08-concat-projection")):
        expect(files[attention + name] == file + ".md", attention + name, "leads to", files[attention + name])


@check
def every_section_names_its_chapter(page):
    found = page.run("""return [...document.querySelectorAll("main [data-chapter]")].filter(node => node.offsetParent).map(node =>
        [node.closest("section").id, ...[...node.children].map(one => [one.textContent, one.getAttribute("href")])]);""")
    files = {name: assert_leads(page, ".md", name, *links) for name, *links in found}
    expect({"sentence", "attention", "steps"} <= files.keys(), "sections:", sorted(files))
    expect(("backward" in files) == page.find("#backward").is_displayed(), "the backward pass has no chapter")
    expect(files["steps"] == {"translation": "12-decoder.md"}.get(page.kind, "16-gpt.md"), "the whole leads to", files["steps"])


@check
def chapters_in_chinese(page):
    page.find("#language").click()
    page.settle()
    for name, *found in page.run(CARDS):
        assert_leads(page, ".zh-CN.md", name, *found)


@check
def parts_of_newer_models_have_their_own(page):
    if page.kind != "modern":
        return
    files = {name: assert_leads(page, ".md", name, *found) for name, *found in page.of_all_parts(CARDS)}
    for name, file in (("norm.output", "17-rms-norm"), ("blocks.0.attention.q.rotated", "17-rotary"),
                       ("blocks.0.attention.q.heads", "04-heads"), ("blocks.0.attention.v.heads", "17-grouped-queries"),
                       ("blocks.0.ffn.up", "17-swiglu"), ("blocks.0.norm1.sum", "10-add-norm")):
        expect(files[name] == file + ".md", name, "leads to", files[name])
