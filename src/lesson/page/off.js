/* off.js: heads that the reader has switched off: the sentence is read without them, and beside it stands what the model makes of
 * it with all heads on. Training has all heads; a new run begins with all on. */
function nameOfHead(kind, block, head) {
    const [stack, module] = kind.split(".");
    return `${stack}.${block}.${module}.${head}`;
}

const isOff = (kind, block, head) => state.off.includes(nameOfHead(kind, block, head));

function toggleHead(name) {
    change({ off: state.off.includes(name) ? state.off.filter(one => one !== name) : [...state.off, name] });
}

function offButton(kind, block, head) {
    const name = nameOfHead(kind, block, head), place = t("attention.place",
        { kind: t(`attention.${kind}`), block, head: headName(head) });
    return make("button", { type: "button", class: "off", "data-off": name, "aria-pressed": "false",
        "aria-label": t("off.switch", { place }), title: t("off.title"), onclick: () => toggleHead(name) }, t("off"));
}

function buildOff() {
    byId("all-on").addEventListener("click", () => {
        change({ off: [] });
        byId("heads").querySelector(".off[tabindex='0']")?.focus({ preventScroll: true });
    });
    roving(byId("heads"), ".off");
    watch(what => "off" in what && showOff());
    showOff();
}

/* Before the sentence has been read anew. */
function showOff() {
    const place = byId("heads");
    byId("off-state").textContent = state.off.length ? t("off.state", { count: state.off.length }) : "";
    byId("all-on").hidden = state.off.length === 0;
    for (const button of place.querySelectorAll(".off")) {
        const pressed = state.off.includes(button.dataset.off);
        button.setAttribute("aria-pressed", pressed);
        button.parentNode.classList.toggle("is-off", pressed);
    }
}

/* Below the translation: what all heads together make of the sentence. */
function showWhole({ whole, given, loss }) {
    const place = byId("answer-whole");
    place.hidden = !whole;
    if (whole)
        place.replaceChildren(...(given ? [] : pieces("off.whole", { translation: make("b", { dir: "auto" },
            whole.translation || "–") })), make("small", {},
        t("off.loss", { loss: show(loss, 3), whole: show(whole.loss, 3) })));
}
