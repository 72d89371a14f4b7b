/* headview.js: all heads of a block at once as lines: queries in one column, keys in the other, and a line from each query to
 * each key for each head. The color is the head, the opacity the attention weight. For the page and for the lesson; which block,
 * and whose words: head_lines.js. The colors: headview.css. */
const LINE_ROW = 26, LINE_SPREAD = 14; /* pixels: a token; within it, from the line of the first head to the last one's */
const FAINT_LINE = 0.002; /* a weight below it would change no pixel: its opacity is less than half of one in 255 */
const MOST_LINES = 3000, LINE_STEPS = 4096;
const HEAD_COLORS = 8, HEAD_DASHES = ["", "8 4", "2 4", "10 3 2 3"]; /* as many colors as headview.css has; beyond, dashes */
const LINE_NOTES = 8; /* heads of which the readout says most */

const headColor = head => `var(--head-${head % HEAD_COLORS})`;
const headDash = head => HEAD_DASHES[Math.floor(head / HEAD_COLORS) % HEAD_DASHES.length];

/* Calls visit(head, query, key, weight) for each weight that could have a line: of the heads that are shown, and, where there is
 * a token { side, index }, of that query or key. */
function visitLines(heads, shown, token, visit) {
    const span = (side, count) => token?.side === side ? [token.index, token.index + 1] : [0, count];
    const [firstRow, lastRow] = span("query", heads.rows), [firstColumn, lastColumn] = span("key", heads.columns);
    for (const head of shown) {
        const weights = heads.of(head);
        for (let query = firstRow; query < lastRow; query++) {
            for (let key = firstColumn; key < lastColumn; key++) {
                if (weights[query * heads.columns + key] > 0)
                    visit(head, query, key, weights[query * heads.columns + key]);
            }
        }
    }
}

/* The lines, at most MOST_LINES: all weights of `least` or more, where `least` is as small as it can be. `left`: how many smaller
 * ones have no line. The weights are counted in steps, not sorted: a long text has millions. */
function linesOf(heads, shown, token) {
    const counts = new Uint32Array(LINE_STEPS + 1);
    const stepOfWeight = weight => Math.min(LINE_STEPS, Math.floor(weight * LINE_STEPS));
    let all = 0, step = LINE_STEPS + 1, room = MOST_LINES;
    visitLines(heads, shown, token, (head, query, key, weight) => {
        all++;
        if (weight >= FAINT_LINE)
            counts[stepOfWeight(weight)]++;
    });
    while (step > 0 && counts[step - 1] <= room)
        room -= counts[--step];
    const lines = [], least = Math.max(FAINT_LINE, step / LINE_STEPS);
    visitLines(heads, shown, token, (head, query, key, weight) => {
        if (weight >= FAINT_LINE && stepOfWeight(weight) >= step)
            lines.push({ head, query, key, weight });
    });
    return { lines, least, left: all - lines.length };
}

class HeadView {
    /* kept: { off, held }, what the reader chose, which outlives the view: heads that are switched off (a Set), and the token
     * that is held, { side: "query" or "key", index } or null. hover: hears of the query that is pointed at, or null. */
    constructor({ kept, hover = () => {} }) {
        Object.assign(this, { kept, hover, seen: null, near: 0 });
        this.chipRow = make("div", { class: "head-chips", role: "group", "aria-label": t("lines.heads") });
        this.all = make("button", { type: "button", onclick: () => this.showHeads(() => true) }, t("lines.all"));
        this.only = make("button", { type: "button", onclick: () => this.showHeads(head => head === this.near) });
        this.count = make("p", { class: "lines-count" });
        this.picture = draw("svg", { class: "head-lines", preserveAspectRatio: "none", "aria-hidden": "true" });
        this.columns = Object.fromEntries(["query", "key"].map(side => [side, make("div", { class: `line-tokens of-${side}`,
            role: "group" })]));
        this.titles = Object.fromEntries(["query", "key"].map(side => [side, make("span",
            { class: `line-title of-${side}`, "aria-hidden": "true" })]));
        this.stage = make("div", { class: "line-stage" }, this.titles.query, make("span", { class: "line-title" }),
            this.titles.key, this.columns.query, this.picture, this.columns.key);
        this.readout = make("output", {});
        this.node = make("div", { class: "head-view" },
            make("div", { class: "head-bar" }, this.chipRow, make("span", { class: "head-all" }, this.all, this.only)),
            this.count, make("div", { class: "line-parts" }, this.stage, this.readout));
        roving(this.chipRow, "button");
        for (const column of Object.values(this.columns))
            roving(column, "button");
        this.node.addEventListener("keydown", event => event.key === "Escape" && this.hold(null));
        hintScroll(this.stage);
    }

    /* heads: { count, rows, columns, of(head) } with -Infinity where a mask hides; queries, keys: the words. */
    show({ heads, queries, keys }) {
        const shape = JSON.stringify([heads.count, queries, keys]);
        this.heads = heads;
        this.words = { query: queries, key: keys };
        if (shape !== this.shape) {
            this.shape = shape;
            this.seen = null;
            this.near = Math.min(this.near, heads.count - 1);
            if (this.kept.held && this.kept.held.index >= this.words[this.kept.held.side].length)
                this.kept.held = null;
            this.chipRow.replaceChildren(...Array.from({ length: heads.count }, (_, head) => this.chip(head)));
            stopAt(this.chipRow, "button", null);
            for (const side of ["query", "key"])
                this.fillColumn(side);
            this.redraw();
            this.stage.scrollTop = LINE_ROW * ((this.kept.held?.index ?? 0) + 1) - this.stage.clientHeight / 2;
            return;
        }
        this.redraw();
    }

    /* ---- heads ---- */

    chip(head) {
        const line = draw("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, draw("path", { d: "M1 5H25",
            style: `stroke:${headColor(head)}`, "stroke-dasharray": headDash(head) }));
        return make("button", { type: "button", class: "head-chip", "data-head": head, onclick: () => this.toggle(head),
            ondblclick: () => this.showHeads(one => one === head), onfocus: () => this.nameOnly(head) }, line,
        t("lines.head", { head }));
    }

    toggle(head) {
        this.nameOnly(head);
        if (!this.kept.off.delete(head))
            this.kept.off.add(head);
        this.redraw();
    }

    showHeads(holds) {
        this.kept.off = new Set([...Array(this.heads.count).keys()].filter(head => !holds(head)));
        this.redraw();
    }

    nameOnly(head) {
        this.near = head;
        this.only.textContent = t("lines.only", { head });
    }

    /* ---- tokens ---- */

    fillColumn(side) {
        const names = this.words[side], title = t(`lines.${side}`);
        this.titles[side].textContent = t(`lines.${side}.title`);
        this.columns[side].setAttribute("aria-label", t(`lines.${side}.title`));
        this.columns[side].replaceChildren(...names.map((name, index) => this.token({ side, index }, names, title)));
        stopAt(this.columns[side], "button", null);
    }

    token(token, names, title) {
        const see = seen => this.see(seen), name = visible(names[token.index] ?? "");
        return make("button", { type: "button", class: "line-token", title: name,
            "aria-label": t("lines.token", { title, index: token.index, text: name }), onpointerenter: () => see(token),
            onpointerleave: () => see(null), onfocus: event => event.target.matches(":focus-visible") && see(token),
            onblur: () => see(null), onclick: () => this.hold(sameLineToken(this.kept.held, token) ? null : token) },
        make("bdi", {}, nameOf(names, token.index)));
    }

    see(token) {
        this.seen = token;
        this.hover(token?.side === "query" ? token.index : null);
        this.redraw();
    }

    hold(token) {
        this.kept.held = token;
        this.redraw();
    }

    /* ---- the picture ---- */

    get now() { return this.seen ?? this.kept.held; }
    get shown() { return [...Array(this.heads.count).keys()].filter(head => !this.kept.off.has(head)); }

    yOf(head, index) {
        return (index + 0.5) * LINE_ROW + ((head + 0.5) / this.heads.count - 0.5) * LINE_SPREAD;
    }

    redraw() {
        const { heads, shown, now: token } = this, { lines, least, left } = linesOf(heads, shown, token);
        const high = LINE_ROW * Math.max(heads.rows, heads.columns);
        this.picture.setAttribute("viewBox", `0 0 100 ${high}`);
        this.picture.style.height = `${high}px`;
        this.picture.replaceChildren(...lines.map(({ head, query, key, weight }) => draw("path", {
            d: `M0 ${this.yOf(head, query).toFixed(1)}L100 ${this.yOf(head, key).toFixed(1)}`, "data-head": head,
            "data-query": query, "data-key": key, "stroke-opacity": Number(weight.toPrecision(6)),
            "stroke-dasharray": headDash(head) || null,
            style: `stroke:${headColor(head)}` })));
        this.count.textContent = t(left ? "lines.count.left" : "lines.count", { count: lines.length.toLocaleString("en"),
            least: Number(least.toPrecision(2)), left: left.toLocaleString("en") });
        for (const chip of this.chipRow.children)
            chip.setAttribute("aria-pressed", !this.kept.off.has(Number(chip.dataset.head)));
        this.nameOnly(this.near);
        for (const [side, column] of Object.entries(this.columns)) {
            [...column.children].forEach((button, index) => {
                button.setAttribute("aria-pressed", sameLineToken(this.kept.held, { side, index }));
                button.classList.toggle("looking", sameLineToken(token, { side, index }));
            });
        }
        this.tell(shown, token);
    }

    /* For each head the strongest of the token's weights: for the ear, and where a line leaves the picture. */
    tell(shown, token) {
        const best = new Map();
        if (token)
            visitLines(this.heads, shown, token, (head, query, key, weight) => {
                if (!(best.get(head)?.weight >= weight))
                    best.set(head, { head, weight, at: token.side === "query" ? key : query });
            });
        const other = token?.side === "query" ? "key" : "query";
        const notes = [...best.values()].sort((a, b) => b.weight - a.weight).slice(0, LINE_NOTES).map(({ head, weight, at }) =>
            make("span", {}, make("i", { style: `background:${headColor(head)}`, "aria-hidden": "true" }),
                ...pieces("lines.note", { head, token: make("b", {}, quoted(this.words[other][at] ?? "")), at,
                    weight: percent(weight) })));
        this.readout.replaceChildren(...(token ? [make("span", {}, ...pieces(`lines.${token.side}.note`, { index: token.index,
            token: make("b", {}, quoted(this.words[token.side][token.index] ?? "")) })), ...notes] : [t("lines.help")]));
    }
}

const sameLineToken = (a, b) => Boolean(a) && a.side === b.side && a.index === b.index;
