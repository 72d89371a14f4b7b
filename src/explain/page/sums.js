/* sums.js: how one number of a step was computed: from which numbers of earlier steps and of parameters, and what they make. rapt
 * says which steps and parameters they are (step.uses); within an attention module the names say it. It is computed here once
 * more, in double precision, out of the numbers of this page, which may be rounded: `error` says how far the result may be off
 * because of that. Not how it is shown: arithmetic.js.
 *
 * A sum is { kind, values, terms, lines, result, error, missing }: `kind` and `values` make its sentence (sum.says.*); `terms`,
 * if there are many numbers to add: { count, axis, label(i), columns, title, at(i), error(i), divisor }; `lines`: what else is
 * added, or comes between, as [title, number, told]; `missing`: names of steps and parameters that this page lacks. */
const parametersNamed = new Map((data.parameters ?? []).map(parameter => [parameter.name, parameter]));
for (const parameter of parametersNamed.values())
    parameter.among = parametersNamed;

const ROUNDING = 2 ** -23; /* of one operation in fp32 */

/* Numbers of a step or parameter: `count` of them from `start` on, each `stride` behind the one before. `has`: this page
 * has them. */
function run(step, start, count, stride = 1) {
    const values = step && valuesOf(step), columns = step && (step.kept?.length ?? [1, ...step.shape].at(-1));
    const place = i => start + i * stride, zero = step?.above === 0,
        at = i => zero && values[place(i)] === -Infinity ? 0 : values[place(i)]; /* a weight that a mask hides */
    const rows = step && step.shape.length < 2 ? () => 0 : i => Math.floor(place(i) / columns);
    return { count, at, has: Boolean(values) && start >= 0, told: i => told(step, at(i), rows(i)),
        error: i => errorOf(step, at(i), [rows(i)]) };
}

/* Where row `id` of a parameter is, or its element if it is a vector; -1: not in this page. */
const placeIn = (parameter, id) => {
    const kept = parameter?.kept_rows ?? parameter?.kept;
    return kept ? kept.indexOf(id) : id;
};

function rowOfParameter(name, id) {
    const parameter = parametersNamed.get(name), at = placeIn(parameter, id), width = parameter ? parameter.shape.at(-1) : 0;
    return Object.assign(run(parameter, at < 0 ? -1 : at * width, width), { name });
}

const elementOfParameter = (name, id) => {
    const parameter = parametersNamed.get(name);
    return Object.assign(run(parameter, placeIn(parameter, id), 1), { name });
};

const rowOfStep = (name, row, width) => Object.assign(run(named.get(name), row * width, width), { name });
const elementOfStep = (name, index) => Object.assign(run(named.get(name), index, 1), { name });

/* The name of the step of the same module: the first of these ends that there is. */
function sibling(step, own, ...ends) {
    const module = step.name.slice(0, step.name.length - own.length);
    return module + (ends.find(end => named.has(module + end)) ?? ends[0]);
}

const lacking = runs => runs.filter(one => !one.has).map(one => one.name);
const line = (title, value, shown) => [title, value, shown ?? show(value, 6)];

/* ---- sums of products ---- */

function products(kind, values, a, b, more) {
    const terms = { count: a.count, axis: "feature", label: String, title: "x × W",
        columns: [[a.title ?? "x", a], [b.title ?? "W", b]],
        at: i => a.at(i) * b.at(i), ...more,
        error: i => Math.abs(a.at(i)) * b.error(i) + Math.abs(b.at(i)) * a.error(i) + a.error(i) * b.error(i) };
    return { kind, values, terms, lines: [], missing: lacking([a, b]) };
}

/* What the terms add up to, and how far that may be off. */
function total(terms) {
    let sum = 0, error = 0, size = 0;
    for (let i = 0; i < terms.count; i++) {
        sum += terms.at(i);
        size += Math.abs(terms.at(i));
        error += terms.error(i);
    }
    return { sum, error: error + (4 + Math.sqrt(terms.count)) * ROUNDING * size };
}

function linear(c) {
    const { inputs, parameters, constant } = c.step.uses, [weight, bias] = parameters;
    const w = rowOfParameter(weight, c.id), x = rowOfStep(inputs[0], c.row, w.count);
    const made = products("linear", { row: c.row, x: inputs[0], j: c.id, w: weight }, x, w);
    const b = bias && elementOfParameter(bias, c.id);
    if (b && !b.has)
        made.missing.push(bias);
    if (made.missing.length > 0)
        return made;
    const { sum, error } = total(made.terms), whole = sum + (b ? b.at(0) : 0);
    if (b)
        made.lines.push(line("sum.bias", b.at(0), b.told(0)));
    if (constant)
        made.lines.push(line("sum.before.cap", whole), line("sum.cap", constant));
    return { ...made, result: constant ? constant * Math.tanh(whole / constant) : whole,
        error: error + (b ? b.error(0) : 0) + ROUNDING * Math.abs(whole) };
}

/* The head of keys and values that a head of queries looks into. */
const sharedHead = (c, other) => Math.floor(c.head / (c.step.shape[1] / other.shape[1]));

function scores(c) {
    const queries = sibling(c.step, "scores", "q.heads"), keys = sibling(c.step, "scores", "k.heads");
    const width = named.get(queries)?.shape.at(-1), k = named.get(keys);
    const a = rowOfStep(queries, c.head * c.rows + c.row, width);
    const b = rowOfStep(keys, k ? sharedHead(c, k) * c.columns + c.column : 0, width);
    return finished(products("scores", { row: c.row, x: queries, j: c.column, w: keys }, Object.assign(a, { title: "q" }),
        Object.assign(b, { title: "k" }), { title: "q × k" }));
}

const isOff = (attention, head) => data.heads_off?.includes(`${attention}.${head}`) ?? false;

const ATTENTION_STEP = /^(.+?)\.((?:[qkv]\.)?heads|scores|scaled|biased|capped|masked|weights|concat)$/;

/* The heads that a cell belongs to, if they are off: of queries one, of keys and values those that share them. A page of chosen
 * steps may lack the weights, which say best how many heads of queries there are. */
function headsOffAt({ step, head, column }) {
    const [, attention, part] = ATTENTION_STEP.exec(step.name) ?? [];
    if (!data.heads_off || !attention)
        return [];
    const count = named.get(`${attention}.weights`)?.shape[1] ?? data.model.heads;
    const share = /^[kv]\./.test(part) ? count / step.shape[1] : 1;
    const first = part === "concat" ? Math.floor(column / (step.shape.at(-1) / count)) : head * share;
    const heads = [...Array(share).keys()].map(i => first + i);
    return heads.every(h => isOff(attention, h)) ? heads.map(h => `${attention}.${h}`) : [];
}

function weighted(c) {
    if (isOff(c.step.name.slice(0, -".heads".length), c.head))
        return { kind: "off", lines: [], missing: [], result: 0, error: 0 };
    const table = sibling(c.step, "heads", "weights"), values = sibling(c.step, "heads", "v.heads");
    const v = named.get(values), keys = named.get(table)?.shape.at(-1);
    const a = Object.assign(rowOfStep(table, c.head * c.rows + c.row, keys), { title: t("sum.weight") });
    const from = v ? (sharedHead(c, v) * keys * v.shape[3]) + c.column : 0;
    const b = Object.assign(run(v, from, keys, v?.shape[3]), { name: values, title: "v" });
    const tokens = words(named.get(table)?.sequences[3]);
    return finished(products("weighted", { x: table, j: c.column, w: values }, a, b,
        { axis: "key", title: `${a.title} × v`, label: i => nameOfToken(tokens, i) }));
}

const nameOfToken = (tokens, i) => tokens[i] === undefined ? String(i) : `${i} ${visible(tokens[i])}`;

function finished(made) {
    if (made.missing.length > 0)
        return made;
    const { sum, error } = total(made.terms);
    return { ...made, result: sum / (made.terms.divisor ?? 1), error: error / (made.terms.divisor ?? 1) };
}

/* Features come in pairs: j and j + half of a head. */
function rotated(c) {
    const [from] = c.step.uses.inputs, [name] = c.step.uses.parameters, turn = rowOfParameter(name, c.row), half = turn.count / 2;
    const j = c.column % turn.count, other = c.column + (j < half ? half : -half), x = rowOfStep(from, c.row, c.columns);
    const pick = (one, at, signs) => ({ ...one, count: 2, at: i => signs[i] * one.at(at[i]), error: i => one.error(at[i]),
        told: i => (signs[i] < 0 ? show(-one.at(at[i]), 6) : one.told(at[i])) });
    const a = { ...pick(x, [c.column, other], [1, 1]), title: "x" };
    const b = { ...pick(turn, [j % half, half + j % half], [1, j < half ? -1 : 1]), title: "cos/sin" };
    return finished(products("rotated", { x: from, w: name, row: c.row }, a, b,
        { title: "×", label: i => String([c.column, other][i]) }));
}

function meanOfHeads(c) {
    const count = c.step.shape[1], a = run(c.step, c.row * c.columns + c.column, count, c.rows * c.columns);
    return finished({ kind: "mean", values: { count }, lines: [], missing: lacking([Object.assign(a, { name: c.step.name })]),
        terms: { count, axis: "head", label: String, columns: [], title: t("sum.weight"), at: a.at, error: a.error, told: a.told,
            divisor: count } });
}

/* ---- a row ---- */

function softmax(c) {
    const isLast = c.step.name === "probabilities", logits = translation ? "decoder.output" : "output";
    const from = isLast ? logits : sibling(c.step, "weights", "masked");
    const z = Object.assign(rowOfStep(from, c.head * c.rows + c.row, c.columns), { title: "x" }), step = named.get(from);
    if (!z.has || step.kept)
        return { kind: "softmax", values: {}, lines: [], missing: [from] };
    let most = -Infinity, off = 0;
    for (let i = 0; i < z.count; i++) {
        most = Math.max(most, z.at(i));
        off = Math.max(off, z.error(i));
    }
    const power = i => most === -Infinity ? 0 : Math.exp(z.at(i) - most);
    const tokens = step.sequences?.at(-1) ? words(step.sequences.at(-1)) : [];
    const label = i => isLast && textOfId.has(i) ? `${i} ${visible(textOfId.get(i))}` : nameOfToken(tokens, i);
    const terms = { count: z.count, axis: step.axes.at(-1), label, columns: [["x", z]], title: "exp(x − max)", at: power,
        error: i => power(i) * 2 * off };
    const { sum } = total(terms), result = sum > 0 ? power(c.column) / sum : 0;
    return { kind: "softmax", values: { x: from }, terms, missing: [],
        lines: [line("sum.most", most), line("sum.power", power(c.column))], result,
        error: result * (Math.expm1(4 * off) + 1e-6) };
}

/* Mean and variance of a row, gamma and beta of the feature. Queries and keys are normalized head by head: then a row of the
 * step is shorter than a row of what it was computed from. */
function norm(c) {
    const { inputs, parameters, constant } = c.step.uses, [gamma, beta] = parameters;
    const isLayer = c.step.formula.includes("x - mean");
    const from = inputs[0] ?? c.step.name.replace(/_norm\.output$/, ""), x = rowOfStep(from, c.row, c.columns);
    const g = gamma && elementOfParameter(gamma, c.column), b = beta && elementOfParameter(beta, c.column);
    const missing = lacking([x, g, b].filter(Boolean));
    if (missing.length > 0)
        return { kind: isLayer ? "layer" : "rms", values: { row: c.row, x: from }, lines: [], missing };
    let mean = 0, off = 0;
    for (let i = 0; i < x.count; i++) {
        mean += isLayer ? x.at(i) / x.count : 0;
        off = Math.max(off, x.error(i));
    }
    const square = i => (x.at(i) - mean) ** 2, terms = { count: x.count, axis: "feature", label: String, columns: [["x", x]],
        title: isLayer ? "(x − mean)²" : "x²", at: square, error: i => 4 * off * Math.abs(x.at(i) - mean) + 4 * off ** 2 };
    const variance = total(terms).sum / x.count, root = Math.sqrt(variance + constant), normed = (x.at(c.column) - mean) / root;
    const result = normed * (g ? g.at(0) : 1) + (b ? b.at(0) : 0), scale = Math.abs(g ? g.at(0) : 1);
    return { kind: isLayer ? "layer" : "rms", values: { row: c.row, x: from }, terms: { ...terms, divisor: x.count }, missing: [],
        lines: [...(isLayer ? [line("sum.mean", mean)] : []), line(isLayer ? "sum.variance" : "sum.square", variance),
            line("sum.eps", constant), line("sum.root", root), line("sum.own", x.at(c.column), x.told(c.column)),
            line("sum.normed", normed), ...(g ? [line("sum.gamma", g.at(0), g.told(0))] : []),
            ...(b ? [line("sum.beta", b.at(0), b.told(0))] : [])],
        result, error: scale * (2 + Math.abs(normed)) * 2 * off / root + (g ? Math.abs(normed) * g.error(0) : 0) +
            (b ? b.error(0) : 0) + 16 * ROUNDING * (scale * (Math.abs(normed) + Math.abs(mean) / root) + Math.abs(result)) };
}

/* ---- one number, or two ---- */

const lineOf = one => [one.name, one.at(0), one.told(0)];

function added(c) {
    const [a, b] = c.step.uses.inputs.map(name => elementOfStep(name, c.index)), missing = lacking([a, b]);
    return missing.length > 0 ? { kind: "added", lines: [], missing } : { kind: "added", missing, lines: [lineOf(a), lineOf(b)],
        result: a.at(0) + b.at(0), error: a.error(0) + b.error(0) + ROUNDING * (Math.abs(a.at(0)) + Math.abs(b.at(0))) };
}

function alone(kind, one, make, more = []) {
    const missing = lacking([one]), x = missing.length > 0 ? 0 : one.at(0);
    return missing.length > 0 ? { kind, lines: [], missing, values: { x: one.name, w: one.name } } : { kind, missing,
        values: { x: one.name, w: one.name }, lines: [lineOf(one), ...more], result: make(x),
        error: one.error(0) * Math.max(1, Math.abs(make(1) - make(0)), 1.2) + 4 * ROUNDING * Math.abs(make(x)) };
}

function scaled(c) {
    const factor = c.step.uses.constant, from = elementOfStep(c.step.uses.inputs[0], c.index);
    const made = alone("scaled", from, x => factor * x, [line("sum.factor", factor)]);
    return /sqrt\(d_k\)/.test(c.step.formula) ? { ...made, kind: "scaled.root",
        values: { ...made.values, width: Math.round(1 / factor ** 2) } } : made;
}

function copied(c, name, index) {
    return alone("copied", elementOfStep(name, index), x => x);
}

/* From [rows, heads side by side] to [head, rows, width]. */
function split(c) {
    const letter = /([qkv])\.heads$/.exec(c.step.name)[1], heads = c.step.shape[1];
    const from = sibling(c.step, `${letter}.heads`, `${letter}.rotated`, `${letter}.normed`, letter);
    return copied(c, from, (c.row * heads + c.head) * c.columns + c.column);
}

function concat(c) {
    const from = sibling(c.step, "concat", "heads"), width = named.get(from)?.shape[3] ?? 1, head = Math.floor(c.column / width);
    return copied(c, from, (head * c.rows + c.row) * width + c.column % width);
}

function masked(c) {
    const from = sibling(c.step, "masked", "capped", "biased", "scaled");
    if (c.x === -Infinity)
        return { kind: "hidden", lines: [], missing: [], result: -Infinity, error: 0 };
    return copied(c, from, c.index);
}

/* The bias itself is in no step: it is what the two differ by. */
function biased(c) {
    const from = elementOfStep(c.step.uses.inputs[0] ?? sibling(c.step, "biased", "scaled"), c.index);
    const lines = from.has ? [lineOf(from), line("sum.biased", c.x - from.at(0))] : [];
    return { kind: "biased", lines, missing: lacking([from]) };
}

function capped(c) {
    const bound = c.step.uses.constant, from = elementOfStep(c.step.uses.inputs[0], c.index);
    return alone("capped", from, x => bound * Math.tanh(x / bound), [line("sum.cap", bound)]);
}

/* The error function: its power series near zero, its continued fraction beyond. */
function erf(x) {
    const z = Math.abs(x);
    if (z > 3) {
        let f = 0;
        for (let k = 60; k > 0; k--)
            f = k / 2 / (z + f);
        return Math.sign(x) * (1 - Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + f));
    }
    let term = x, sum = x;
    for (let k = 1; k < 60; k++) {
        term *= -x * x / k;
        sum += term / (2 * k + 1);
    }
    return 2 / Math.sqrt(Math.PI) * sum;
}

const ACTIVATIONS = { relu: x => Math.max(0, x), silu: x => x / (1 + Math.exp(-x)), gelu: x => x / 2 * (1 + erf(x / Math.SQRT2)),
    gelu_tanh: x => x / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))) };

function activated(c) {
    const [, name, from] = /^(\w+)\((hidden|gate)\)$/.exec(c.step.formula);
    const made = alone("activated", elementOfStep(sibling(c.step, "activation", from), c.index), ACTIVATIONS[name]);
    return { ...made, values: { name } };
}

function multiplied(c) {
    const isSilu = c.step.formula.startsWith("silu");
    const a = elementOfStep(sibling(c.step, "product", isSilu ? "gate" : "activation"), c.index);
    const b = elementOfStep(sibling(c.step, "product", "up"), c.index), missing = lacking([a, b]);
    if (missing.length > 0)
        return { kind: isSilu ? "gated" : "multiplied", lines: [], missing };
    const gate = isSilu ? ACTIVATIONS.silu(a.at(0)) : a.at(0);
    return { kind: isSilu ? "gated" : "multiplied", missing,
        lines: [lineOf(a), ...(isSilu ? [line("sum.silu", gate)] : []), lineOf(b)], result: gate * b.at(0),
        error: 1.2 * a.error(0) * (Math.abs(b.at(0)) + b.error(0)) + Math.abs(gate) * b.error(0) +
            8 * ROUNDING * Math.abs(gate * b.at(0)) };
}

function lookedUp(c) {
    const [name] = c.step.uses.parameters, isPosition = c.step.formula === "P[position]";
    const tokens = data.sequences[c.step.sequences[1]], id = isPosition ? c.row : tokens[c.row].id;
    const row = rowOfParameter(name, id), missing = lacking([row]);
    const values = { w: name, row: id, token: isPosition ? "" : quoted(tokens[c.row].text) };
    return { kind: isPosition ? "position" : "lookup", values, missing, ...(missing.length > 0 ? { lines: [] } :
        { lines: [[name, row.at(c.column), row.told(c.column)]], result: row.at(c.column), error: row.error(c.column) }) };
}

/* ---- which of them ---- */

/* The first that fits the formula counts, which rapt writes (rapt/observe.h). */
const FORMULAS = [
    [/^E\[id\]|^P\[/, lookedUp], [/ W(_\w+)?\^T/, linear],
    [/split into heads/, split], [/^Q K\^T/, scores], [/^weights V/, weighted],
    [/^concat/, concat], [/^softmax/, softmax], [/-inf where/, masked], [/^x \+ sublayer|^embedding \+ positions/, added],
    [/rotated by/, rotated], [/^cap tanh/, capped], [/^scaled [-+]/, biased],
    [/^\w+\((hidden|gate)\)$/, activated], [/\* up$/, multiplied],
];

function recipeOf(step) {
    if (/\.[qk]\.normed$/.test(step.name))
        return c => copied(c, step.name.replace(/\.([qk])\.normed$/, ".$1_norm.output"), c.index);
    if (/mean\(/.test(step.formula ?? ""))
        return norm;
    const found = FORMULAS.find(([pattern]) => pattern.test(step.formula ?? ""));
    return found ? found[1] : step.uses?.constant && step.uses.inputs.length === 1 ? scaled : null;
}

const nothing = kind => ({ kind, lines: [], missing: [] });

/* Whether two steps have the same number at a place, as far as this page knows. */
const isNear = (a, b, index) => Math.abs(numberOf(a, index) - numberOf(b, index)) <=
    [a, b].reduce((sum, one) => sum + errorOf(one, numberOf(one, index), [Math.floor(index / one.shape.at(-1))]), 1e-7);

/* A weight that a mask hides is zero. */
const numberOf = (step, index) => step.above === 0 && valuesOf(step)[index] === -Infinity ? 0 : valuesOf(step)[index];

/* Where a number is: `index` counts through all of the step's numbers that this page has. */
function cellOf(step, index) {
    const columns = step.kept?.length ?? [1, ...step.shape].at(-1), rows = step.shape.length < 2 ? 1 : step.shape.at(-2);
    const row = Math.floor(index / columns), column = index % columns;
    return { step, index, columns, rows, column, row: row % rows, head: Math.floor(row / rows),
        id: step.kept ? step.kept[column] : column, x: numberOf(step, index) };
}

/* The sum of a number. `mean`: of all heads, at the place of head 0. */
function sumOf(step, index, mean = false) {
    const recipe = mean ? meanOfHeads : recipeOf(step), cell = cellOf(step, index);
    if (step.gradient)
        return nothing("gradient");
    return recipe && step.uses ? { values: {}, ...recipe(cell) } : nothing("unknown");
}
