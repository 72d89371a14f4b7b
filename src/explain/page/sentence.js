/* sentence.js: the tokens; the one under the pointer, or with the focus, lights up what it attended to, and shows what
 * may come next. Few tokens stand beside each other with their numbers; many are a text that scrolls. */
const COLORS = ["attention", "probability"];
const continued = translation ? "target" : "text";
const chips = new Map(); /* sequence -> its buttons */
const links = draw("svg", { class: "links", "aria-hidden": "true" });

const finalPredictions = new Map((data.predictions || []).map(p => [p.position, p]));
const predictionsNow = () => checkpoints[state.checkpoint]?.predictions ?? finalPredictions;
const predictionAt = position => predictionsNow().get(position);
const sameToken = (a, b) => a && b && a.sequence === b.sequence && a.position === b.position;
const isLong = sequence => words(sequence).length > LONG;

/* How a token was predicted, { probability, loss }, by the token before it; nothing says so of the first. */
const ownPrediction = (sequence, position) => sequence === continued ? predictionAt(position - 1)?.next : undefined;

/* ---- the tokens ---- */

const bestAfter = (sequence, position) => sequence === continued ? predictionAt(position)?.tokens[0] : undefined;

function chipLabel(sequence, position, text) {
    const name = t("sentence.chip", { sequence: t(`sequence.${sequence}`), position, text: visible(text) });
    const best = bestAfter(sequence, position);
    return !best ? name : t("sentence.chip.next", { chip: name, next: visible(best.text), probability: show(best.probability) });
}

function chip(sequence, position, text) {
    const best = bestAfter(sequence, position), token = { sequence, position }, long = isLong(sequence);
    const label = chipLabel(sequence, position, text);
    return make(long ? "span" : "button", { type: long ? null : "button", role: "button", class: "token", "aria-label": label,
        "aria-pressed": "false", onkeydown: event => ["Enter", " "].includes(event.key) && choose(event, token),
        onpointerenter: () => change({ seen: token }), onpointerleave: () => change({ seen: null }),
        onfocus: event => event.target.matches(":focus-visible") && change({ seen: token }),
        onblur: () => change({ seen: null }), onclick: event => choose(event, token) },
    make("span", { class: "text", dir: "auto" }, long ? inText(text) : visible(text)),
    ...(best && !long ? [make("span", { class: "gives", dir: "auto" }, visible(best.text))] : []),
    make("span", { class: "weight" }));
}

function choose(event, token) {
    event.preventDefault();
    change({ pinned: token });
}

/* What may come next changes with the checkpoint. */
function renameChips() {
    words(continued).forEach((text, position) => {
        const button = chips.get(continued)[position], gives = button.querySelector(".gives");
        button.setAttribute("aria-label", chipLabel(continued, position, text));
        if (gives)
            gives.textContent = visible(bestAfter(continued, position).text);
    });
}

/* A text keeps its line breaks. */
function rowOf(sequence, buttons) {
    const texts = words(sequence), long = isLong(sequence), pieces = texts.some(text => /\s/.test(text));
    const kind = long ? pieces ? "row running" : "row running spaced" : "row";
    const nodes = buttons.flatMap((button, i) => [button, ...(long ? texts[i].match(/\n/g) || [] : []).map(() => make("br"))]);
    const row = make("div", { class: kind, role: "group", "aria-label": t(`sentence.row.${sequence}`) }, ...nodes);
    roving(row, ".token");
    stopAt(row, ".token", null);
    hintScroll(row);
    return row;
}

/* In the middle, and a word that is followed by a word: neither <eos> nor a comma, after which all is said. */
function openingPosition() {
    const texts = words(continued), middle = (texts.length - 1) / 2;
    const isWord = text => /\p{L}/u.test(text ?? "") && !/^\s*<.*>$/.test(text);
    const rank = i => [isWord(texts[i]), Boolean(predictionAt(i)), isWord(predictionAt(i)?.tokens[0]?.text),
        /\p{L}{3}/u.test(texts[i])]
        .reduce((sum, holds, k) => sum + (holds ? 8 >> k : 0), 0) - Math.abs(i - middle) / (texts.length + 1);
    return texts.map((_, i) => i).reduce((best, i) => rank(i) > rank(best) ? i : best, 0);
}

function buildSentence() {
    const long = Object.keys(data.sequences).some(isLong), place = byId("words");
    byId("sentence-title").textContent = t(translation ? "sentence.title" : "sentence.title.text");
    byId("sentence-lead").textContent = t(`sentence.lead.${long ? "long" : translation ? "translation" : "language_model"}`);
    const unknown = [...data.unknown_words ?? [], ...data.unknown_target_words ?? []];
    if (unknown.length > 0)
        byId("sentence-lead").after(make("p", { class: "notice" },
            t("sentence.unknown", { words: unknown.map(quoted).join(", ") })));
    const colors = segments(t("sentence.colors"), COLORS, COLORS.map(color => t(`sentence.colors.${color}`)),
        color => change({ color }));
    if (predictionAt(0)?.next)
        place.append(colors.node);
    for (const sequence of Object.keys(data.sequences)) {
        chips.set(sequence, words(sequence).map((text, position) => chip(sequence, position, text)));
        place.append(make("div", {}, make("p", { class: "row-title" }, t(`sentence.row.${sequence}.short`)),
            rowOf(sequence, chips.get(sequence))));
    }
    place.append(make("p", { class: "key", id: "key" }), make("p", { class: "key most", id: "most" }), links);
    state.pinned ??= { sequence: continued, position: openingPosition() };
    watch(what => {
        if ("checkpoint" in what)
            renameChips();
        lightUp();
        showNext();
        colors.mark(state.color);
        if ("seen" in what || "pinned" in what)
            reveal(looking());
    });
    new ResizeObserver(() => drawLinks(lookedAt())).observe(place);
    colors.mark(state.color);
    lightUp();
    showNext();
    reveal(state.pinned, true);
}

const looking = () => state.seen || state.pinned;

/* Brings a token that cannot be seen into the middle of its row; the page stays where it is. */
function reveal(token, always) {
    const button = chips.get(token.sequence)?.[token.position], row = button?.parentNode;
    if (!row || row.scrollHeight <= row.clientHeight)
        return;
    const box = button.getBoundingClientRect(), frame = row.getBoundingClientRect();
    if (always || box.bottom < frame.top + 8 || box.top > frame.bottom - 8)
        row.scrollTop += box.top - frame.top - (row.clientHeight - box.height) / 2;
}

/* ---- what lights up ---- */

/* What the token that looks attended to: for each kind of attention that its row asks in, the weights. */
function lookedAt() {
    const token = looking();
    return attentions.filter(kind => kind.query === token.sequence).map(kind => ({ kind,
        second: kind.id === "decoder.self_attention", weights: weightsOf(kind, blockNow(), headNow(), token.position) }));
}

function lightUp() {
    const token = looking(), found = lookedAt(), predicted = state.color === "probability";
    for (const [sequence, buttons] of chips) {
        const look = found.find(one => one.kind.key === sequence), most = look ? Math.max(...look.weights) : 0;
        buttons.forEach((button, i) => {
            if (predicted)
                colorByLoss(button, ownPrediction(sequence, i));
            else
                colorChip(button, look, i, most);
            button.classList.toggle("looking", token.sequence === sequence && token.position === i);
            button.setAttribute("aria-pressed", sameToken(state.pinned, { sequence, position: i }));
        });
    }
    drawLinks(predicted ? [] : found);
    if (predicted)
        describeLoss();
    else
        describe(found);
    nameMost(predicted ? [] : found);
}

/* As the map has it: what the token attended to is one row of it. */
const byRoot = weights => choiceNow(weights.length) === "root";
const shareOf = (weights, i, most) => weights[i] > 0 ? (byRoot(weights) ? Math.sqrt : Number)(weights[i] / most) : 0;

/* Minus infinity is what a mask hides. */
function colorChip(button, look, i, most) {
    const weight = look?.weights[i], known = weight !== undefined, masked = weight === -Infinity;
    button.classList.toggle("masked", masked);
    paintChip(button, known ? shareOf(look.weights, i, most) : 0, look?.second ? "--second-tint" : "--accent-tint",
        known && !masked ? percent(weight) : "");
}

/* One scale for all checkpoints. */
const mostLoss = Math.max(4, ...[finalPredictions, ...checkpoints.map(one => one.predictions)]
    .flatMap(all => [...all.values()].map(p => p.next?.loss ?? 0)));

function colorByLoss(button, own) {
    button.classList.remove("masked");
    paintChip(button, own ? own.loss / mostLoss : 0, "--second-tint", own ? percent(own.probability) : "");
}

/* ---- links: from a token to what it attended to, as wide as the weights ---- */

/* Between rows above each other, or below the one row that looks at itself. Where rows wrap they would cross words. */
function drawLinks(found) {
    const token = looking(), place = byId("words"), origin = place.getBoundingClientRect();
    links.replaceChildren();
    for (const look of found) {
        const own = look.kind.key === token.sequence, rows = [token.sequence, look.kind.key].map(name => chips.get(name));
        if (isLong(token.sequence) || isLong(look.kind.key) || !rows.every(onOneLine))
            continue;
        const from = rows[0][token.position].getBoundingClientRect();
        rows[1].forEach((button, i) => {
            if (look.weights[i] >= 0.02 && !(own && i === token.position))
                links.append(curve(from, button.getBoundingClientRect(), origin, look.weights[i], { own, second: look.second }));
        });
    }
}

/* ---- what the colors mean ---- */

function describe(found) {
    byId("key").replaceChildren(...found.map(({ kind, second, weights }) => {
        const most = Math.max(...weights), middle = byRoot(weights) ? percent(most / 4) : undefined;
        return make("span", {}, `${titleOfKind(kind)} `, ramp("0", percent(most), second, middle));
    }));
    if (found.length > 0)
        byId("key").append(t("attention.place",
            { block: Math.min(blockNow(), found[0].kind.blocks.length - 1), head: headOrAll(headNow()) }));
}

/* Many tokens have no numbers below them, and not all can be seen: those with the largest are named. */
function nameMost(found) {
    const named = found.filter(look => isLong(look.kind.key)).map(look => {
        const order = [...look.weights.keys()].sort((a, b) => look.weights[b] - look.weights[a]).slice(0, 5);
        return make("span", {}, t("sentence.most"), ...order.flatMap((i, k) => [k > 0 ? ", " : "",
            make("b", {}, visible(words(look.kind.key)[i])), t("sentence.most.token", { position: i }),
            percent(look.weights[i])]));
    });
    byId("most").replaceChildren(...named);
    byId("most").hidden = named.length === 0;
}

function describeLoss() {
    const losses = lossesOf([...predictionsNow().values()]), count = losses.length;
    const mean = losses.reduce((a, b) => a + b, 0) / count, token = looking();
    const own = ownPrediction(token.sequence, token.position);
    const fact = (name, value) => make("b", { "data-fact": name }, value);
    byId("key").replaceChildren(make("span", {}, t("sentence.loss"), ramp("0", mostLoss.toFixed(1), true)),
        make("span", {}, ...pieces("sentence.loss.mean", { mean: fact("mean-loss", show(mean)), count,
            perplexity: fact("perplexity", show(Math.exp(mean))) })),
        ...(own ? [make("span", {}, ...pieces("sentence.loss.own",
            { loss: fact("own-loss", show(own.loss)), probability: percent(own.probability) }))] : []));
}

/* ---- what may come next ---- */

/* Tokens of the source have no next one: they leave the bars as they are. */
function showNext() {
    const token = [state.seen, state.pinned].find(t => t && t.sequence === continued) || state.shown;
    const prediction = token && predictionAt(token.position);
    if (!prediction || (sameToken(token, state.shown) && prediction === state.shownPrediction))
        return;
    Object.assign(state, { shown: token, shownPrediction: prediction });
    const place = byId("next");
    if (!place.firstChild)
        place.append(make("h3", {}, t("sentence.next")), make("p"), make("ol", { class: "bars" }),
            make("p", { class: "came" }));
    place.children[1].replaceChildren(...pieces("sentence.next.lead", { sequence: t(`sequence.${continued}`),
        token: make("b", {}, quoted(words(continued)[token.position] ?? "")), position: token.position }));
    place.children[2].replaceChildren(...prediction.tokens.map(token => bar(token, prediction.next)));
    place.children[3].replaceChildren(...(prediction.next ? came(prediction.next) : [t("sentence.next.end")]));
}

const came = next => pieces("sentence.next.came", { token: make("b", {}, quoted(next.text)),
    probability: show(next.probability, 3), loss: make("span", { "data-fact": "next-loss" }, show(next.loss)) });

const bar = ({ id, text, probability }, next) => make("li", next && next.id === id ? { class: "came" } : {},
    make("span", { class: "what" }, make("bdi", {}, visible(text)), " ", make("small", {}, `id ${id}`)),
    make("span", { class: "how-much" }, probability < 1e-3 ? show(probability, 2) : probability.toFixed(4)),
    make("span", { class: "track" }, make("span", { class: "fill", style: `width:${100 * probability}%` })));
