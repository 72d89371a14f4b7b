/* sentence.js: the tokens; the one under the pointer, or with the focus, lights up what it attended to, and shows what
 * may come next. A token of the row that the model continues also shows the token that it made likeliest. */
const TO_DO = " stands what it made likeliest next. Point at a token, or move with the arrow keys: what it attended " +
    "to lights up. Click to hold it.";
const LEADS = {
    translation: "The encoder reads the source; the decoder reads the target word by word, and below each word" + TO_DO,
    language_model: "The model reads the text token by token, and below each token" + TO_DO,
};
const ROW_TITLES = {
    source: "Source: what the encoder reads",
    target: "Target: what the decoder reads, and what follows",
    text: "Text: what the model reads, and what follows",
};
const continued = translation ? "target" : "text";
const chips = new Map(); /* sequence -> its buttons */
const links = draw("svg", { class: "links", "aria-hidden": "true" });

const predictionAt = position => (data.predictions || []).find(p => p.position === position);
const sameToken = (a, b) => a && b && a.sequence === b.sequence && a.position === b.position;

function chip(sequence, position, text) {
    const prediction = sequence === continued && predictionAt(position), likeliest = prediction && prediction.tokens[0];
    const token = { sequence, position };
    const label = `${sequence} ${position}: ${visible(text)}` +
        (likeliest ? `; likeliest next: ${visible(likeliest.text)}, ${show(likeliest.probability)}` : "");
    return make("button", { type: "button", class: "token", "aria-label": label, "aria-pressed": "false",
        onpointerenter: () => change({ seen: token }), onpointerleave: () => change({ seen: null }),
        onfocus: event => event.target.matches(":focus-visible") && change({ seen: token }),
        onblur: () => change({ seen: null }), onclick: () => change({ pinned: token }) },
    make("span", { class: "text", dir: "auto" }, visible(text)),
    ...(likeliest ? [make("span", { class: "gives", dir: "auto" }, visible(likeliest.text))] : []),
    make("span", { class: "weight" }));
}

function buildSentence() {
    byId("sentence-lead").textContent = LEADS[data.model.kind] || LEADS.language_model;
    const place = byId("words");
    for (const sequence of Object.keys(data.sequences)) {
        const buttons = words(sequence).map((text, position) => chip(sequence, position, text));
        const row = make("div", { class: "row", role: "group", "aria-label": ROW_TITLES[sequence] }, ...buttons);
        chips.set(sequence, buttons);
        roving(row, "button");
        stopAt(row, "button", null);
        place.append(make("div", {}, make("p", { class: "row-title" }, ROW_TITLES[sequence] || sequence), row));
    }
    place.append(make("p", { class: "key", id: "key" }), links);
    const last = (data.predictions || []).length - 1;
    state.pinned = { sequence: continued, position: last >= 0 ? data.predictions[last].position : 0 };
    watch(lightUp);
    watch(showNext);
    new ResizeObserver(() => drawLinks(lookedAt())).observe(place);
    lightUp();
    showNext();
}

const looking = () => state.seen || state.pinned;

/* What the token that looks attended to: for each kind of attention that its row asks in, the weights. */
function lookedAt() {
    const token = looking();
    return attentions.filter(kind => kind.query === token.sequence).map(kind =>
        ({ kind, second: kind.id === "decoder.self_attention",
            weights: weightsOf(kind, state.block, state.headSeen ?? state.head, token.position) }));
}

function lightUp() {
    const token = looking(), found = lookedAt();
    for (const [sequence, buttons] of chips) {
        const look = found.find(one => one.kind.key === sequence), most = look ? Math.max(...look.weights) : 0;
        buttons.forEach((button, i) => {
            colourChip(button, look ? look.weights[i] : null, most, look && look.second);
            button.classList.toggle("looking", token.sequence === sequence && token.position === i);
            button.setAttribute("aria-pressed", sameToken(state.pinned, { sequence, position: i }));
        });
    }
    drawLinks(found);
    describe(found);
}

function colourChip(button, weight, most, second) {
    const share = weight ? weight / most : 0, colour = second ? "--second" : "--accent";
    const mixed = `color-mix(in srgb, var(${colour}) ${Math.round(100 * share)}%, var(--sunk))`;
    button.style.backgroundColor = weight ? mixed : "";
    button.style.color = share > 0.55 ? `var(${colour}-ink)` : "";
    button.lastChild.textContent = weight === null || weight === undefined ? "" : weight.toFixed(2);
}

/* Curves from a word of the target to the words of the source, as wide as the weights. */
function drawLinks(found) {
    const token = looking(), look = found.find(one => one.kind.key !== token.sequence), place = byId("words");
    links.replaceChildren();
    if (!look)
        return;
    const origin = place.getBoundingClientRect(), box = chips.get(token.sequence)[token.position].getBoundingClientRect();
    const x = box.left + box.width / 2 - origin.left, y = box.top - origin.top;
    chips.get(look.kind.key).forEach((button, i) => {
        const to = button.getBoundingClientRect(), weight = look.weights[i];
        const tx = to.left + to.width / 2 - origin.left, ty = to.bottom - origin.top, middle = (y + ty) / 2;
        if (weight >= 0.02)
            links.append(draw("path", { d: `M${x} ${y}C${x} ${middle} ${tx} ${middle} ${tx} ${ty}`,
                "stroke-width": (1 + 5 * weight).toFixed(2), "stroke-opacity": (0.15 + 0.75 * weight).toFixed(2) }));
    });
}

function describe(found) {
    const head = state.headSeen ?? state.head;
    byId("key").replaceChildren(...found.map(({ kind, second }) =>
        make("span", {}, make("i", { class: second ? "second" : "" }), kind.title)));
    if (found.length > 0)
        byId("key").append(`block ${Math.min(state.block, found[0].kind.blocks.length - 1)}, ` +
            (head < 0 ? "mean of all heads" : `head ${head}`));
}

/* ---- what may come next ---- */

/* Tokens of the source have no next one: they leave the bars as they are. */
function showNext() {
    const token = [state.seen, state.pinned].find(t => t && t.sequence === continued) || state.shown;
    const prediction = token && predictionAt(token.position);
    if (!prediction || sameToken(token, state.shown))
        return;
    state.shown = token;
    const place = byId("next");
    if (!place.firstChild)
        place.append(make("h3", {}, "What may come next"), make("p"), make("ol", { class: "bars" }));
    place.children[1].replaceChildren("after ", make("b", {}, quoted(words(continued)[token.position] ?? "")),
        ` (${continued} ${token.position}): the likeliest tokens, and their probabilities`);
    place.children[2].replaceChildren(...prediction.tokens.map(bar));
}

const bar = ({ id, text, probability }) => make("li", {},
    make("span", { class: "what" }, make("bdi", {}, visible(text)), " ", make("small", {}, `id ${id}`)),
    make("span", { class: "how-much" }, probability < 1e-3 ? show(probability, 2) : probability.toFixed(4)),
    make("span", { class: "track" }, make("span", { class: "fill", style: `width:${100 * probability}%` })));
