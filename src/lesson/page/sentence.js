/* sentence.js: the reader's sentence and its translation as tokens; the one that is chosen lights up what it attended to, in the
 * block and head that the attention section shows. */
const ROWS = { source: "source", reads: "target" };
const FAINT = 0.02; /* weights that have no curve */
const links = draw("svg", { class: "links", "aria-hidden": "true" });

function buildSentence() {
    const text = byId("text"), target = byId("target");
    text.value = state.text;
    target.value = state.target;
    text.addEventListener("input", () => change({ text: text.value }));
    target.addEventListener("input", () => change({ target: target.value }));
    byId("ask").addEventListener("submit", event => event.preventDefault());
    byId("words").append(links);
    for (const row of Object.keys(ROWS))
        roving(byId(row), ".token", chip => chip.click());
    new ResizeObserver(() => lightUp()).observe(byId("words"));
    buildExamples();
    watch(what => {
        if ("options" in what)
            buildExamples();
        if ("pinned" in what || "seen" in what || "kind" in what || "block" in what || "head" in what)
            lightUp();
    });
}

function buildExamples() {
    byId("target").lang = state.options.data === "fr" ? "fr" : "zh-CN";
    byId("examples").replaceChildren(...EXAMPLES[state.options.data].map(example => make("button", { type: "button", lang: "en",
        onclick: () => {
            byId("text").value = example;
            byId("target").value = "";
            change({ text: example, target: "" });
        } }, example)));
}

function chipFor(row, position, text) {
    const token = { row, position }, name = t(row === "source" ? "sentence.source" : "sentence.reads");
    return make("button", { type: "button", class: "token", "aria-pressed": "false",
        "aria-label": t("sentence.chip", { row: name, position, text: visible(text) }),
        onpointerenter: () => change({ seen: token }), onpointerleave: () => change({ seen: null }),
        onclick: () => change({ pinned: token, seen: null }) }, make("span", { class: "text", dir: "auto" }, visible(text)),
    make("span", { class: "weight" }));
}

/* The same tokens keep their buttons, and the focus. */
function fillRow(row, texts) {
    const place = byId(row), key = JSON.stringify([language, texts]);
    if (place.dataset.key === key)
        return;
    place.dataset.key = key;
    place.replaceChildren(...texts.map((text, position) => chipFor(row, position, text)));
    stopAt(place, ".token", place.children[state.pinned.row === row ? state.pinned.position : 0]);
}

function showSentence() {
    const look = state.look;
    fillRow("source", look.source);
    fillRow("reads", look.target);
    byId("answer").textContent = look.translation || "–";
    byId("answer-loss").textContent = look.given ? t("sentence.loss", { loss: show(look.loss, 3) }) : "";
    showWhole(look);
    byId("unread").hidden = look.unknown.length === 0;
    byId("unread").textContent = look.unknown.length ? t("sentence.unknown", { words: look.unknown.map(quoted).join(", ") }) : "";
    lightUp();
}

/* ---- what the chosen token attended to ---- */

const looking = () => {
    const token = state.seen ?? state.pinned, count = state.look[ROWS[token.row]].length;
    return { row: token.row, position: Math.min(token.position, count - 1) };
};

function rowOfWeights(kind, position) {
    const found = kindsOf(state.look).find(one => one.id === kind);
    if (!found)
        return null;
    const heads = found.blocks[Math.min(state.block, found.blocks.length - 1)];
    return heads.of(Math.min(state.head, heads.count - 1)).subarray(position * heads.columns, (position + 1) * heads.columns);
}

function paintRow(row, weights, tint, token) {
    const chips = [...byId(row).children], most = weights ? Math.max(...weights, 1e-9) : 1;
    chips.forEach((chip, i) => {
        const weight = weights?.[i] ?? 0, own = token.row === row && token.position === i;
        paintChip(chip, weights ? weight / most : 0, tint, weights ? percent(weight) : "");
        chip.classList.toggle("looking", own);
        chip.classList.toggle("masked", row === "reads" && token.row === row && i > token.position);
        chip.setAttribute("aria-pressed", state.pinned.row === row && state.pinned.position === i);
    });
    return chips;
}

function lightUp() {
    if (!state.look)
        return;
    const token = looking(), ofTarget = token.row === "reads";
    const cross = ofTarget ? rowOfWeights("decoder.cross_attention", token.position) : null;
    const own = rowOfWeights(ofTarget ? "decoder.self_attention" : "encoder.attention", token.position);
    const source = paintRow("source", ofTarget ? cross : own, ofTarget ? "--accent-tint" : "--second-tint", token);
    const target = paintRow("reads", ofTarget ? own : null, "--second-tint", token);
    const box = chip => chip.getBoundingClientRect(), origin = box(byId("words"));
    const from = (ofTarget ? target : source)[token.position];
    const curves = ofTarget && onOneLine(source) && onOneLine(target) ?
        source.map((chip, i) => [chip, cross[i]]).filter(([, weight]) => weight > FAINT)
            .map(([chip, weight]) => curve(box(from), box(chip), origin, weight)) : [];
    links.replaceChildren(...curves);
    byId("key").replaceChildren(...(ofTarget ? [ramp("0", t("sentence.key.cross"), false)] : []),
        ramp("0", t("sentence.key.own"), true));
}
