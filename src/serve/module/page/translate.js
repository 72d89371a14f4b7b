/* translate.js: translations: for each line its hypotheses, the tokens of both sides, and the soft alignment of the one that is
 * pointed at as tints and curves. */
const SIDES = ["source", "target"];
const translated = { lines: [] }; /* as shown: { result, chosen, seen, pinned, chips, parts } each */

const linesOf = text => text.split("\n").filter(line => line.trim() !== "");

async function translate(text, signal) {
    const lines = linesOf(text), began = performance.now();
    const { json, replay } = await requestJson("/v1/translate", { model: state.model.id, texts: lines, ...optionsNow(),
        alignment: "soft", tokens: true }, signal);
    translated.lines = (json.translations ?? []).map((result, i) => ({ text: lines[i], result, chosen: 0 }));
    showTranslations();
    showReplay(replay);
    byId("status").textContent = t("status.translated", { count: translated.lines.length,
        seconds: ((performance.now() - began) / 1000).toFixed(2) });
}

/* All lines beside the text, as one that can be copied. */
function showResult() {
    const lines = translated.lines.map(line => hypothesisOf(line).text), empty = lines.length === 0;
    byId("result").textContent = empty ? t("result.empty") : lines.join("\n");
    byId("result").lang = empty ? "" : tagOf(state.model.target);
    byId("result").classList.toggle("empty", empty);
    byId("copy-result").hidden = isTranslator() ? empty : !byId("completion");
}

function showTranslations() {
    byId("output").replaceChildren(...translated.lines.map(buildLine));
    showResult();
    translated.lines.forEach(lightUp); /* where tokens stand is known now */
}

/* ---- a line ---- */

const hypothesisOf = line => line.result.hypotheses?.[line.chosen] ?? { text: "" };
/* Their texts. */
const tokensOn = (line, side) => (side === "source" ? line.result.source : hypothesisOf(line).tokens)?.tokens ?? [];

function buildLine(line) {
    const parts = line.parts = { best: make("p", { class: "best", dir: "auto", lang: tagOf(state.model.target) }),
        rows: make("div", { class: "rows" }), links: draw("svg", { class: "links", "aria-hidden": "true" }),
        key: make("p", { class: "key" }), most: make("p", { class: "key most", "aria-live": "polite" }) };
    const link = explains(make("a", { class: "button", target: "_blank", rel: "noopener" }, t("line.explain")),
        () => ({ text: line.text, target: hypothesisOf(line).text }));
    const cut = line.result.truncated ? [make("p", { class: "notice" }, t("line.truncated"))] : [];
    const unknown = line.result.unknown_words ?? [];
    if (unknown.length > 0)
        cut.push(make("p", { class: "notice" }, t("line.unknown", { words: unknown.map(quoted).join(", ") })));
    const node = make("article", { class: "words line", "aria-label": line.text }, parts.best, ...cut, parts.rows, parts.key,
        parts.most, ...hypothesesOf(line), make("p", {}, link), parts.links);
    pointing(parts.rows, line);
    new ResizeObserver(() => drawCurves(line)).observe(node);
    showHypothesis(line);
    return node;
}

/* The n-best list: a radio group, best first. */
function hypothesesOf(line) {
    const all = line.result.hypotheses ?? [];
    if (all.length < 2)
        return [];
    const list = make("div", { class: "hypotheses", role: "radiogroup", "aria-label": t("line.hypotheses") });
    all.forEach((one, i) => list.append(make("button", { type: "button", role: "radio", "aria-checked": i === line.chosen,
        onclick: () => chooseHypothesis(line, list, i) },
    make("span", { dir: "auto", lang: tagOf(state.model.target) }, one.text), make("small", {},
        [["score", one.score], ["log_prob", one.log_prob]].filter(([, x]) => typeof x === "number")
            .map(([name, x]) => t(`line.${name}`, { [name]: x.toFixed(3) })).join(" · ")))));
    roving(list, "button", button => button.click());
    stopAt(list, "button", list.children[line.chosen]);
    return [make("h3", {}, t("line.hypotheses")), list];
}

function chooseHypothesis(line, list, i) {
    line.chosen = i;
    [...list.children].forEach((button, k) => button.setAttribute("aria-checked", k === i));
    stopAt(list, "button", list.children[i]);
    showHypothesis(line);
    showResult();
    lightUp(line);
}

/* A token in the middle is the first that shows what it attends to. */
function showHypothesis(line) {
    const { best, rows } = line.parts;
    best.textContent = hypothesisOf(line).text;
    line.chips = Object.fromEntries(SIDES.map(side => [side, tokensOn(line, side).map((text, i) => chipOf(side, i, text))]));
    line.seen = null;
    line.pinned = { side: "target", position: Math.floor((line.chips.target.length - 1) / 2) };
    rows.replaceChildren(...SIDES.map(side => {
        const row = make("div", { class: "row", role: "group", "aria-label": t(`tokens.${side}`) }, ...line.chips[side]);
        roving(row, ".token");
        stopAt(row, ".token", side === "target" ? line.chips.target[line.pinned.position] : null);
        return make("div", {}, make("p", { class: "row-title" }, t(`tokens.${side}`)), row);
    }));
}

const chipOf = (side, position, text) => make("button", { type: "button", class: "token", "data-side": side,
    "data-position": position, "aria-pressed": "false", "aria-label": t("tokens.chip", { row: t(`tokens.${side}`), position,
        text: visible(text) }) },
make("span", { class: "text", dir: "auto" }, visible(text)), make("span", { class: "weight" }));

/* ---- pointing: what is under the pointer or has the focus, else what was chosen by click ---- */

function pointing(rows, line) {
    const tokenAt = event => event.target.closest(".token")?.dataset;
    const placeAt = data => data && { side: data.side, position: Number(data.position) };
    const see = seen => {
        line.seen = seen;
        lightUp(line);
    };
    rows.addEventListener("pointerover", event => see(placeAt(tokenAt(event)) ?? null));
    rows.addEventListener("pointerleave", () => see(null));
    rows.addEventListener("focusin", event => event.target.matches(":focus-visible") && see(placeAt(tokenAt(event)) ?? null));
    rows.addEventListener("focusout", () => see(null));
    rows.addEventListener("click", event => {
        line.pinned = placeAt(tokenAt(event)) ?? line.pinned;
        see(line.pinned);
    });
}

/* The weights of a token to all tokens of the other side; null: there are none. The alignment has a row for each target token;
 * the last weight of a row, beyond the source, is that of the end of sequence. */
function weightsAt(line, { side, position }) {
    const rows = hypothesisOf(line).alignment ?? [], at = (j, i) => rows[j]?.[i] ?? 0;
    if (rows.length === 0)
        return null;
    return side === "target" ? tokensOn(line, "source").map((_, i) => at(position, i)) :
        tokensOn(line, "target").map((_, j) => at(j, position));
}

/* What is pointed at, what it attends to or is attended to by, and with which weights. */
function lookingAt(line) {
    const token = line.seen ?? line.pinned, other = token.side === "target" ? "source" : "target";
    const weights = weightsAt(line, token);
    return { token, other, weights, most: weights ? Math.max(...weights, 0) : 0 };
}

function lightUp(line) {
    const { token, other, weights, most } = lookingAt(line), { side, position } = token;
    line.chips[other].forEach((chip, i) => paintChip(chip, most > 0 ? weights[i] / most : 0, "--accent-tint",
        weights ? percent(weights[i]) : ""));
    line.chips[side].forEach(chip => paintChip(chip, 0, "", ""));
    for (const one of SIDES) {
        line.chips[one].forEach((chip, i) => {
            chip.classList.toggle("looking", one === side && i === position);
            chip.setAttribute("aria-pressed", one === line.pinned.side && i === line.pinned.position);
        });
    }
    describe(line);
    drawCurves(line);
}

/* In words, for those who do not see the tints. */
function describe(line) {
    const { token, other, weights, most } = lookingAt(line), { key, most: words } = line.parts;
    const named = text => make("b", {}, quoted(text)), texts = tokensOn(line, other);
    if (!weights) {
        key.replaceChildren(t("align.none"));
        return words.replaceChildren();
    }
    key.replaceChildren(t("align.key", { most: percent(most) }), " ", ramp("0", percent(most), false));
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3).filter(i => weights[i] >= 0.005);
    words.replaceChildren(...pieces(`align.${token.side}`, { token: named(tokensOn(line, token.side)[token.position] ?? "") }),
        ...order.flatMap((i, k) => [k > 0 ? t("align.and") : "",
            ...pieces("align.of", { token: named(texts[i]), weight: percent(weights[i]) })]));
}

/* Where each side is on one line: else they would cross words. */
function drawCurves(line) {
    const { token, other, weights } = lookingAt(line), { links } = line.parts, { source, target } = line.chips;
    const from = line.chips[token.side][token.position];
    links.replaceChildren();
    if (!weights || !from || source.length === 0 || !onOneLine(source) || !onOneLine(target))
        return;
    const origin = links.parentNode.getBoundingClientRect();
    line.chips[other].forEach((chip, i) => {
        const [low, high] = token.side === "target" ? [from, chip] : [chip, from];
        if (weights[i] >= 0.02)
            links.append(curve(low.getBoundingClientRect(), high.getBoundingClientRect(), origin, weights[i]));
    });
}
