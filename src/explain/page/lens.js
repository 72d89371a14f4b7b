/* lens.js: the logit lens: what the model would predict after each of its blocks. A row for each depth, a column for each token;
 * a cell names the most probable next token, and its tint says how probable. What a cell holds stands beside the grid. */
const LENS_TINTS = ["top", "choice", "next"];
const lensCells = new Map(); /* "depth/position" -> its cell */

/* For each depth and position: ids, their probabilities, rank and probability of the model's choice and of the next token (rank
 * 0: nothing comes next). */
function readLens({ depths, positions, top, numbers, texts }) {
    const all = exactNumbers(bytesOf(numbers)), size = 2 * top + 4;
    return Array.from({ length: depths }, (_, depth) => Array.from({ length: positions }, (_, position) => {
        const x = all.subarray((depth * positions + position) * size, (depth * positions + position + 1) * size);
        const tokens = Array.from({ length: top }, (_, i) => ({ id: x[i], text: texts[x[i]], probability: x[top + i] }));
        const [choice, next] = [0, 2].map(i => ({ rank: x[2 * top + i], probability: x[2 * top + i + 1] }));
        return { tokens, choice, next: next.rank > 0 ? next : undefined };
    }));
}

const lens = data.lens?.numbers ? readLens(data.lens) : [];
const lensAt = ({ depth, position }) => lens[depth][position];
const lensNow = () => state.lensSeen ?? state.lens;
const choiceAfter = position => finalPredictions.get(position).tokens[0];
const depthName = depth => t(depth === 0 ? "lens.depth.none" : depth === 1 ? "lens.depth.one" : "lens.depth", { depth });

/* ---- the grid ---- */

const sharesOf = { top: cell => cell.tokens[0].probability, choice: cell => cell.choice.probability,
    next: cell => cell.next?.probability ?? 0 };

function lensCell(depth, position) {
    const at = { depth, position }, { tokens: [best] } = lensAt(at), chosen = best.id === choiceAfter(position).id;
    const label = t("lens.cell", { depth: depthName(depth), position, token: visible(words(continued)[position]),
        next: visible(best.text), probability: percent(best.probability) });
    const cell = make("td", { role: "gridcell", class: chosen ? "chosen" : null, "aria-label": label,
        onpointerenter: () => change({ lensSeen: at }), onpointerleave: () => change({ lensSeen: null }),
        onfocus: event => {
            change({ lens: at });
            uncover(event.currentTarget);
        }, onclick: event => event.currentTarget.focus() },
    make("span", { dir: "auto" }, visible(best.text)));
    lensCells.set(`${depth}/${position}`, cell);
    return cell;
}

/* The heads of the grid stay in sight: a cell that gets the focus scrolls out from behind them. */
function uncover(cell) {
    const corner = byId("lens-grid").querySelector("thead td");
    byId("lens-grid").style.scrollPadding = `${corner.offsetHeight}px 0 0 ${corner.offsetWidth}px`;
    cell.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
}

function lensGrid() {
    const head = make("tr", {}, make("td"), ...words(continued).map((text, position) =>
        make("th", { scope: "col" }, make("span", { dir: "auto" }, visible(text)), make("small", {}, String(position)))));
    const rows = lens.map((cells, depth) => make("tr", {}, make("th", { scope: "row" }, depthName(depth)),
        ...cells.map((_, position) => lensCell(depth, position))));
    const grid = make("table", { role: "grid", "aria-label": t("lens.title") }, make("thead", {}, head),
        make("tbody", {}, ...rows));
    grid.addEventListener("keydown", moveInLens);
    return grid;
}

const LENS_KEYS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -Infinity],
    End: [0, Infinity] };

function moveInLens(event) {
    const by = LENS_KEYS[event.key], within = (x, count) => Math.max(0, Math.min(count - 1, x));
    if (!by || event.altKey || event.ctrlKey || event.metaKey)
        return;
    event.preventDefault();
    const depth = within(state.lens.depth + by[0], lens.length), position = within(state.lens.position + by[1], lens[0].length);
    lensCells.get(`${depth}/${position}`).focus();
}

function tintLens() {
    const shareOf = sharesOf[state.lensTint];
    lens.forEach((cells, depth) => cells.forEach((cell, position) => {
        const share = Math.round(100 * shareOf(cell));
        lensCells.get(`${depth}/${position}`).style.backgroundColor = share > 0 ?
            `color-mix(in srgb, var(--accent-tint) ${share}%, var(--sunk))` : "";
    }));
}

/* ---- beside it ---- */

const placeInLens = (what, { rank, probability }, token) => make("p", {}, ...pieces(`lens.place.${what}`, { rank,
    token: make("b", {}, quoted(token.text)), probability: probability < 1e-3 ? show(probability, 2) : probability.toFixed(4) }));

function showLens() {
    const at = lensNow(), cell = lensAt(at), next = finalPredictions.get(at.position).next, place = byId("lens-cell");
    place.replaceChildren(make("h3", {}, t("lens.after", { depth: depthName(at.depth) })),
        make("p", {}, ...pieces("sentence.next.lead", { sequence: t(`sequence.${continued}`),
            token: make("b", {}, quoted(words(continued)[at.position])), position: at.position })),
        make("ol", { class: "bars" }, ...cell.tokens.map(token => bar(token, next))),
        placeInLens("choice", cell.choice, choiceAfter(at.position)),
        ...(cell.next ? [placeInLens("next", cell.next, next)] : []));
    for (const [name, node] of lensCells) {
        const holds = name === `${state.lens.depth}/${state.lens.position}`;
        node.setAttribute("tabindex", holds ? "0" : "-1");
        node.setAttribute("aria-selected", holds);
        node.classList.toggle("seen", name === `${at.depth}/${at.position}`);
    }
}

function buildLens() {
    if (!data.lens)
        return;
    byId("lens").hidden = false;
    byId("lens-out").hidden = lens.length > 0;
    byId("lens-stage").hidden = lens.length === 0;
    if (lens.length === 0)
        return;
    lensCells.clear();
    const middle = Math.floor(lens.length / 2);
    state.lens ??= { depth: middle, position: Math.min(state.pinned.sequence === continued ? state.pinned.position : 0,
        lens[0].length - 1) };
    const tints = LENS_TINTS.filter(name => name !== "next" || lens[0][0].next);
    const colors = segments(t("lens.colors"), tints, tints.map(name => t(`lens.tint.${name}`)),
        lensTint => change({ lensTint }));
    byId("lens-colors").append(colors.node);
    byId("lens-grid").append(lensGrid());
    hintScroll(byId("lens-grid"));
    watch(what => {
        if ("lensTint" in what) {
            tintLens();
            colors.mark(state.lensTint);
        }
        if ("lens" in what || "lensSeen" in what)
            showLens();
    });
    colors.mark(state.lensTint);
    tintLens();
    showLens();
}
