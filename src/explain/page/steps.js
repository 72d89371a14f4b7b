/* steps.js: the matrices of the chosen part, or of what the reader searched for: name, formula, shape, statistics, a
 * heat map; heads to choose where there are some, and the gradient where the pass went back. */
const parts = findParts();
const FOUND = 24; /* cards at once, of a search */

function choosePart(index) {
    byId("search").value = "";
    change({ part: index, search: "" });
}

function buildSteps() {
    byId("part-before").addEventListener("click", () => choosePart(state.part - 1));
    byId("part-after").addEventListener("click", () => choosePart(state.part + 1));
    byId("search").addEventListener("input", event => change({ search: event.target.value.trim().toLowerCase() }));
    byId("search").value = state.search;
    watch(what => {
        if ("part" in what || "search" in what)
            showPart();
        if ("part" in what)
            comeIntoSight();
    });
    showPart();
}

/* On a phone the cards stand below the diagram; beside it, they may have been scrolled away. */
function comeIntoSight() {
    const top = document.querySelector(".part").getBoundingClientRect().top;
    if (top < 0 || top > window.innerHeight * 0.75)
        document.querySelector(".part").scrollIntoView({ block: "start" });
}

function matches(step) {
    const origins = (step.parameters ?? []).flatMap(({ name, origin }) => [name, origin]);
    return [step.name, step.formula || "", ...origins].some(text => text.toLowerCase().includes(state.search));
}

function showPart() {
    const part = parts[state.part], withCards = step => !step.gradient || !named.has(step.name);
    const found = state.search ? steps.filter(step => withCards(step) && matches(step)) : part.steps;
    byId("part-title").textContent = state.search ? t("steps.found", { count: found.length }) : longTitleOf(part);
    byId("part-about").textContent = state.search ? t("steps.found.about", { search: state.search }) : aboutOf(part);
    byId("part-chapter").replaceChildren(...(state.search ? [] : [chapterNote(chapterOfPart(part))]));
    byId("part-before").disabled = state.search || state.part === 0;
    byId("part-after").disabled = state.search || state.part === parts.length - 1;
    byId("cards").replaceChildren();
    addCards(found, 0);
}

function addCards(found, from) {
    const to = state.search ? from + FOUND : found.length, place = byId("cards");
    place.append(...found.slice(from, to).map(card));
    if (to >= found.length)
        return;
    const more = make("button", { type: "button", class: "more" }, t("steps.more", { count: found.length - to }));
    more.addEventListener("click", () => {
        more.remove();
        addCards(found, to);
    });
    place.append(more);
}

/* ---- a card ---- */

function card(step) {
    const title = step.gradient ? t("steps.gradient", { name: shortName(step) }) : shortName(step);
    const head = make("div", { class: "card-head" }, make("h4", {}, title), ...(step.formula ? [formula(step.formula)] : []),
        make("code", { class: "full" }, step.name), ...(step.parameters ?? []).map(origin));
    const numbers = make("dl", { class: "numbers" }), choices = make("div", { class: "choices" });
    const view = { step, gradient: gradientOf.get(step.name), leading: step.shape.slice(0, -2).map(() => 0),
        map: new HeatMap({ label: step.name, hold: holding(() => showSum(view), () => view.shown) }), numbers, marks: [] };
    view.sum = sumPanel(() => view.map.release());
    addChoices(view, choices);
    refresh(view, step);
    const pictures = hasNumbers(step) ? [view.map.node, view.sum.node] : [leftOut(step)];
    return make("article", { class: "card", "aria-label": step.name }, head, make("p", { class: "says" }, saysOf(step)),
        make("p", { class: "chapter-line" }, chapterNote(chapterOf(step))), numbers,
        ...(choices.hasChildNodes() ? [choices] : []), ...pictures,
        ...[tokensKept(step), precisionOf(step)].filter(Boolean).map(text => make("p", { class: "says" }, text)));
}

/* A parameter of a Hugging Face model, by both names. */
function origin({ name, origin }) {
    return make("code", { class: "full origin" }, `${name} (${origin})`);
}

/* Of a vocabulary; and how the rest can be had. */
function tokensKept(step) {
    const kept = step.kept ?? step.kept_rows, axis = step.shape.length - (step.kept ? 1 : 2);
    return kept && t(step.kept ? "steps.columns" : "steps.rows",
        { all: step.shape[axis].toLocaleString("en"), count: kept.length });
}

/* What prints them. */
function leftOut(step) {
    return make("p", { class: "says" }, ...pieces("steps.out",
        { command: make("code", {}, explainCommand("--only", inQuotes(step.name), "--full")) }));
}

const inQuotes = text => `'${text.replaceAll("'", "'\\''")}'`; /* of the shell */

/* The command that says more of the same pass. data.target is also there where the model itself wrote it;
 * data.unknown_target_words only where a target was given. Behind "--" no operand is taken for an option. */
function explainCommand(...more) {
    const { path } = data.model, given = [data.text ?? "", ...(data.unknown_target_words ? [data.target] : [])];
    const operands = [/^[\w./+-]+$/.test(path) ? path : inQuotes(path),
        ...given.map((text, i) => text.length > 60 ? ["TEXT", "TARGET"][i] : inQuotes(text))];
    const options = [...(data.heads_off ?? []).map(name => `--without-head ${name}`),
        ...(data.loss === undefined ? [] : ["--train"]), ...(data.lens ? ["--lens"] : []), ...more];
    const hasDash = [path, ...given].some(text => text.startsWith("-"));
    return ["rapt explain", ...(hasDash ? [...options, "--", ...operands] : [...operands, ...options])].join(" ");
}

/* Values or gradient; and for each dimension before the last two that is larger than 1, which of it. */
function addChoices(view, choices) {
    const { step, gradient, leading } = view;
    if (gradient && !step.gradient) {
        const names = [t("steps.values"), t("steps.gradients")];
        const which = segments(t("steps.show"), ["values", "gradient"], names,
            name => refresh(view, name === "values" ? step : gradient));
        view.marks.push(() => which.mark(view.shown === step ? "values" : "gradient"));
        choices.append(which.node);
    }
    leading.forEach((_, axis) => {
        const count = step.shape[axis], numbers = [...Array(count).keys()], name = axisName(step, axis);
        if (count < 2)
            return;
        const which = segments(name[0].toUpperCase() + name.slice(1), numbers, numbers.map(String), i => {
            leading[axis] = Number(i);
            refresh(view, view.shown);
        });
        view.marks.push(() => which.mark(leading[axis]));
        choices.append(which.node);
    });
}

const axisWord = word => has(`axis.${word}`) ? t(`axis.${word}`) : word;
const axisName = (step, axis) => step.axes?.[axis] ? axisWord(step.axes[axis]) : t("axis.dimension", { axis });

function refresh(view, shown) {
    view.shown = shown;
    view.marks.forEach(mark => mark());
    view.numbers.replaceChildren(...facts(shown));
    if (hasNumbers(shown))
        view.map.show(matrixOf(shown, view.leading));
    if (view.sum)
        showSum(view);
}

/* How the number of the cell that is held came about. */
function showSum({ map, sum, shown }) {
    if (map.held)
        sum.show(shown, map.matrix.offset + map.held.row * map.matrix.columns + map.held.column);
    else
        sum.clear();
}

function facts(step) {
    const fact = (name, value) => make("div", {}, make("dt", {}, t(`steps.${name}`)), make("dd", { "data-fact": name }, value));
    const shape = step.shape.map((size, axis) => `${size} ${axisName(step, axis)}`).join(" × ");
    return [fact("shape", shape || t("steps.scalar")),
        ...["min", "mean", "max", "std"].map(name => fact(name, show(step[name])))];
}

/* The matrix of the last two dimensions, those before it at the places `leading`. */
function matrixOf(step, leading) {
    const [allRows, all] = [1, 1, ...step.shape].slice(-2), axes = step.shape.length;
    const rows = step.kept_rows?.length ?? allRows, columns = step.kept?.length ?? all;
    const offset = leading.reduce((sum, at, axis) => sum * step.shape[axis] + at, 0) * rows * columns;
    const names = axis => step.sequences?.[axis] ? words(step.sequences[axis]) : null;
    const last = axes > 0 ? axisName(step, axes - 1) : t("axis.number"), isToken = step.axes?.[axes - 1] === "token";
    const source = step.name.startsWith("encoder."), texts = id => (source ? textOfSourceId : textOfId).get(id);
    return { rows, columns, offset, columnIds: step.kept, rowIds: step.kept_rows,
        masked: step.above === undefined ? undefined : "",
        told: (x, row) => told(step, x, offset / columns + row), values: () => valuesOf(step), scale: () => scaleOfStep(step),
        rowNames: names(axes - 2), columnNames: names(axes - 1),
        rowTitle: axes > 1 ? axisName(step, axes - 2) : t("axis.row"), columnTitle: last,
        rowHint: step.kept_rows && texts, columnHint: isToken || step.kept ? texts : undefined };
}

/* One scale for all heads, so that they can be compared. */
function scaleOfStep(step) {
    if (!step.scale)
        step.scale = scaleOf(valuesOf(step));
    return step.scale;
}
