/* arithmetic.js: below a heat map, how the number of the cell that the reader holds came about: its terms as colored bars and as
 * a table, what they add up to, and by how much this differs from the number of the page. What is computed: sums.js. */
const SHOWN_TERMS = 12; /* rows of the table at most: of more terms, the largest ones, and the rest in one row */

/* What a heat map is given, so that its cells can be held. It does not offer what is not shown: the sum of a gradient. */
const holding = (act, shown = () => null) => ({ act, get label() { return shown()?.gradient ? "" : t("map.label.hold"); },
    get help() { return shown()?.gradient ? "" : t("map.help.hold"); } });

/* A panel is { node, show(step, index, options), clear() }; `closed` is called when the reader closes it. Options: mean, of all
 * heads; shownAs, how the page shows the number; kind, if there is nothing but a sentence to say. */
function sumPanel(closed) {
    const node = make("div", { class: "sum", role: "region", "aria-label": t("sum.title"), hidden: "" });
    const heard = make("p", { class: "heard", "aria-live": "polite" });
    node.addEventListener("keydown", event => {
        if (event.key === "Escape") {
            event.stopPropagation();
            closed();
        }
    });
    const clear = () => {
        node.hidden = true;
        node.replaceChildren();
        heard.textContent = "";
    };
    const show = (...cell) => {
        const summary = fillPanel(node, closed, ...cell);
        node.hidden = false;
        heard.textContent = summary;
    };
    return { node: make("div", { class: "sum-place" }, node, heard), show, clear };
}

/* Where the cell is, in words: "head 1 · query 2 “are” · key 0 “Where”". */
function placeOfCell(step, index, mean) {
    const places = [];
    let rest = index;
    for (let axis = step.shape.length - 1; axis >= 0; axis--) {
        const kept = [step.kept, step.kept_rows][step.shape.length - 1 - axis];
        const size = kept?.length ?? step.shape[axis], at = rest % size, id = kept ? kept[at] : at;
        rest = Math.floor(rest / size);
        if (size === 1 && axis < step.shape.length - 2)
            continue;
        const sequence = step.sequences?.[axis], name = sequence ? words(sequence)[id] :
            step.axes?.[axis] === "token" ? textOfId.get(id) : undefined;
        places.unshift(mean && axis === 1 ? t("attention.mean.all") :
            `${axisName(step, axis)} ${id}${name === undefined ? "" : " " + quoted(name)}`);
    }
    return `${shortName(step)}: ${places.join(" · ")}`;
}

/* Fills the panel and returns what a screen reader says of it. */
function fillPanel(node, closed, step, index, { mean = false, shownAs = null, kind = null } = {}) {
    const sum = kind ? nothing(kind) : sumOf(step, index, mean), place = placeOfCell(step, index, mean);
    const columns = step.kept?.length ?? [1, ...step.shape].at(-1), x = numberOf(step, index);
    const shown = shownAs ?? told(step, x, Math.floor(index / columns)), value = mean ? sum.result : x;
    const close = make("button",
        { type: "button", class: "close", "aria-label": t("sum.close"), title: t("sum.close"), onclick: closed }, "×");
    const says = make("p", { class: "says" }, ...pieces(`sum.says.${sum.kind}`, inCode(sum.values ?? {})));
    const off = mean || step.gradient || sum.kind === "off" ? [] : offNote(step, index);
    node.replaceChildren(make("div", { class: "sum-head" }, make("h5", {}, t("sum.title")), close),
        make("p", { class: "sum-cell" }, place), says, ...off);
    if (sum.missing.length > 0)
        node.append(...sum.missing.map(lackOf));
    else if (sum.terms)
        node.append(...barsOf(sum.terms), tableOfTerms(sum.terms));
    const error = sum.error + errorOf(step, x, [Math.floor(index / columns)]);
    const lines = sum.missing.length > 0 ? [] : linesOfSum(sum);
    lines.push(lineOfPanel("page", t("sum.page"), shown));
    const differs = sum.missing.length === 0 && Number.isFinite(sum.result) && Number.isFinite(value) && !mean;
    if (differs)
        lines.push(lineOfPanel("difference", t("sum.difference"), show(Math.abs(sum.result - x), 2)));
    node.append(make("dl", { class: "sum-lines" }, ...lines),
        ...(differs ? [make("p", { class: "says verdict" }, verdict(sum, x, error))] : []));
    return `${t("sum.title")}: ${place}. ${[says, ...off].map(one => one.textContent).join(" ")} ${shown}`;
}

/* That the head is off to which the cell belongs: its part of `concat` is zero, all before is computed as ever. */
function offNote(step, index) {
    const names = headsOffAt(cellOf(step, index));
    return names.length === 0 ? [] : [make("p", { class: "says off" },
        ...pieces(step.name.endsWith(".concat") ? "sum.off.zero" : "sum.off", inCode({ name: names.join(", ") })))];
}

const inCode = values => Object.fromEntries(Object.entries(values).map(([key, value]) =>
    [key, ["x", "w", "name"].includes(key) ? make("code", {}, String(value)) : String(value)]));

/* That the page lacks a step or a parameter, and the command that makes a page with it. */
function lackOf(name) {
    const more = [...(checkpoints.length > 0 ? ["--checkpoints"] : []), ...(data.book ? ["--book", inQuotes(data.book)] : [])];
    return make("p", { class: "says lacks" }, ...pieces("sum.missing", { name: make("code", {}, name),
        command: make("code", {}, explainCommand("--html FILE --full", ...more)) }));
}

const lineOfPanel = (name, title, value) => make("div", { "data-line": name }, make("dt", {}, title), make("dd", {}, value));

/* The name of a step or parameter, or a key of the texts. */
const titleOfLine = title => has(title) ? t(title) : make("code", {}, title);

function linesOfSum(sum) {
    const lines = [];
    if (sum.terms) {
        const all = total(sum.terms).sum;
        lines.push(lineOfPanel("sum", t("sum.sum", { count: sum.terms.count }), show(all, 6)));
        if (sum.terms.divisor)
            lines.push(lineOfPanel("divisor", t("sum.divisor", { count: sum.terms.divisor }), show(all / sum.terms.divisor, 6)));
    }
    for (const [title, , shown] of sum.lines)
        lines.push(lineOfPanel(title.replace(/^sum\./, ""), titleOfLine(title), shown));
    if (sum.result !== undefined && (lines.length !== 1 || !sum.terms))
        lines.push(lineOfPanel("result", t("sum.result"), show(sum.result, 6)));
    return lines;
}

/* Whether the difference is what rounding explains: in fp32 alone, or in this page, too. */
function verdict(sum, x, error) {
    const rounded = error > 1e-4 * Math.abs(x) + 1e-6;
    if (Math.abs(sum.result - x) > error + 1e-5 * Math.abs(x) + 1e-12)
        return t("sum.differs", { bound: show(error, 2) });
    return rounded ? t("sum.agrees.rounded", { bound: show(error, 2) }) : t("sum.agrees");
}

/* ---- terms ---- */

/* A row of colors for each operand and for the products, one color a term, in their order. */
function barsOf(terms) {
    const rows = [...terms.columns.map(([title, one]) => [title, one.at]), [terms.title, terms.at]];
    if (terms.count < 3)
        return [];
    return [make("div", { class: "sum-bars", "aria-hidden": "true" }, ...rows.flatMap(([title, at]) => {
        const canvas = make("canvas"), numbers = Float64Array.from({ length: terms.count }, (_, i) => at(i));
        canvas.bar = numbers;
        requestAnimationFrame(() => paintBar(canvas));
        return [make("span", {}, title), canvas];
    }))];
}

function paintBar(canvas) {
    const numbers = canvas.bar, scale = scaleOf(numbers), table = tableFor(scale.kind).colors, c = canvas.getContext("2d");
    const matrix = { columns: numbers.length, offset: 0 };
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * (window.devicePixelRatio || 1)));
    canvas.height = 1;
    for (let x = 0; x < canvas.width; x++) {
        const from = Math.floor(x / canvas.width * numbers.length);
        const to = Math.max(from + 1, Math.floor((x + 1) / canvas.width * numbers.length));
        c.fillStyle = `rgb(${table[colorIndex(scale, standsOut(matrix, numbers, 0, 1, from, to))].join(" ")})`;
        c.fillRect(x, 0, 1, 1);
    }
}

/* All terms in their order or, if there are many, the largest ones and the sum of the rest. */
function tableOfTerms(terms) {
    const all = [...Array(terms.count).keys()], isLong = terms.count > SHOWN_TERMS;
    const order = isLong ? all.sort((i, j) => Math.abs(terms.at(j)) - Math.abs(terms.at(i))).slice(0, SHOWN_TERMS - 1) : all;
    const most = order.reduce((top, i) => Math.max(top, Math.abs(terms.at(i))), 0) || 1;
    const rows = order.map(i => make("tr", { "data-term": i }, make("th", { scope: "row" }, terms.label(i)),
        ...terms.columns.map(([, one]) => make("td", {}, one.told(i))), make("td", { class: "product" }, toldTerm(terms, i)),
        make("td", { class: "bar" }, barOfTerm(terms.at(i) / most))));
    if (isLong)
        rows.push(restOfTerms(terms, new Set(order)));
    const axis = has(`axis.${terms.axis}`) ? t(`axis.${terms.axis}`) : terms.axis;
    const titles = [axis, ...terms.columns.map(([title]) => title), terms.title];
    const head = make("tr", {}, ...titles.map(text => make("th", { scope: "col" }, text)), make("td"));
    const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
    return make("div", { class: "sum-table", tabindex: "0", role: "region", "aria-label": t("sum.terms") },
        ...(isLong ? [make("p", { class: "says" }, t("sum.largest", { shown: order.length, count: terms.count }))] : []),
        table);
}

function toldTerm(terms, i) {
    const x = terms.at(i), error = terms.error(i);
    return terms.told ? terms.told(i) : error > 5e-6 * Math.abs(x) ? toldRounded(x, error) : show(x, 6);
}

function barOfTerm(share) {
    return make("i", { class: share < 0 ? "below" : "above", style: `--share:${Math.abs(share).toFixed(4)}` });
}

function restOfTerms(terms, shown) {
    let rest = 0;
    for (let i = 0; i < terms.count; i++)
        rest += shown.has(i) ? 0 : terms.at(i);
    return make("tr", { class: "rest" }, make("th", { scope: "row", colspan: 1 + terms.columns.length },
        t("sum.rest", { count: terms.count - shown.size })), make("td", { class: "product" }, show(rest, 6)), make("td"));
}
