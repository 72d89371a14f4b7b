/* walk_stops.js: the twelve stops of the walk (walk.js): for each its name, its sentences with the numbers of this page, what it
 * points at, and its chapter. One query, one key and one head are followed from the token to the prediction: those whose weight
 * is the largest for a token in the middle of the text. */

const firstStack = translation ? "encoder." : "";

/* What is followed; null: the page lacks steps that the stops tell of, so there is no walk. */
function walkAbout() {
    const kind = attentions[attentions.length - 1];
    if (!kind)
        return null;
    const weights = kind.blocks[kind.blocks.length - 1], [, heads, rows, columns] = weights.shape, values = valuesOf(weights);
    const query = Math.min(openingPosition(), rows - 1), at = (head, key) => values[(head * rows + query) * columns + key];
    const attention = weights.name.slice(0, -".weights".length), { module } = placeOf(weights.name);
    const all = [...Array(heads).keys()], on = all.filter(h => !isOff(attention, h)), followed = on.length > 0 ? on : all;
    let [head] = followed, key = 0;
    for (const h of followed) {
        for (let k = 0; k < columns; k++)
            [head, key] = at(h, k) > at(head, key) ? [h, k] : [head, key];
    }
    const about = { kind, query, key, head, heads, off: on.length === 0, columns, module, block: kind.blocks.length - 1,
        of: name => named.get(`${attention}.${name}`), ffn: name => named.get(`${attention.slice(0, -module.length)}ffn.${name}`),
        token: quoted(words(kind.query)[query] ?? ""), other: quoted(words(kind.key)[key] ?? "") };
    return isWhole(about) ? about : null;
}

/* Programs may keep some steps only, and a later model may have other ones. */
function isWhole({ of, ffn, query }) {
    const needed = [...["q", "k", "v", "q.heads", "v.heads", "scores", "scaled", "masked", "heads", "concat", "output"].map(of),
        ffn("gate") ? ffn("product") : ffn("hidden"), ffn("output"), named.get(`${firstStack}embedding`), predictionAt(query)];
    return needed.every(Boolean) && forward.some(step => /norm\d*\.sum$/.test(step.name));
}

/* ---- numbers ---- */

const factOf = (name, text) => make("b", { "data-fact": name }, text);

/* The number of a step, at [head, ] row, column; NaN where the page has none. */
function numberAt(step, ...place) {
    const values = step && valuesOf(step);
    return values ? values[flatIndex(step, place)] : NaN;
}

const flatIndex = (step, place) => place.reduce((sum, at, i) => sum * step.shape[i + 1] + at, 0);

/* As text, with the digits that are true; undefined where the page has none. */
function toldAt(step, ...place) {
    const x = numberAt(step, ...place), row = step && Math.floor(flatIndex(step, place) / step.shape[step.shape.length - 1]);
    return Number.isNaN(x) ? undefined : errorOf(step, x, [row]) === 0 ? show(x) : told(step, x, row);
}

/* Sentences: what is so in every model, then with numbers. Values: texts of facts by their names; where one is missing, the page
 * has been made without these numbers, and says so. */
function sentences(...keysAndFacts) {
    return keysAndFacts.flatMap(([key, facts = {}], i) => {
        const lacks = Object.values(facts).includes(undefined), blank = i > 0 && language === "en" ? [" "] : [];
        return [...blank, ...lacks ? [t("walk.missing")] : pieces(`walk.${key}`,
            Object.fromEntries(Object.entries(facts).map(([name, text]) => [name, factOf(name, text)])))];
    });
}

const widthOf = step => step.shape[step.shape.length - 1];

/* ---- the stops ---- */

/* The token that is looked at before attention: of a translation model the source's, which the encoder reads. */
const firstToken = about => translation ? { sequence: "source", at: about.key, text: about.other } :
    { sequence: "text", at: about.query, text: about.token };

function stopTokens(about) {
    const { sequence, at, text } = firstToken(about), logits = named.get(translation ? "decoder.output" : "output");
    const facts = { token: text, position: at, id: data.sequences[sequence][at].id };
    const vocabulary = logits && !translation ? [["tokens.vocabulary", { size: widthOf(logits).toLocaleString("en") }]] : [];
    return { id: "tokens", chapter: "00-tokens", text: sentences([`tokens.${translation ? "two" : "one"}`,
        Object.fromEntries(Object.entries(data.sequences).map(([name, tokens]) => [name, tokens.length]))],
    ["tokens.id", facts], ...vocabulary),
    spot: { node: () => byId("words"), choose: { pinned: { sequence, position: at }, seen: null } } };
}

function stopEmbedding(about) {
    const step = named.get(`${firstStack}embedding`), { at, text } = firstToken(about), width = widthOf(step);
    const scaled = named.get(`${firstStack}embedding.scaled`), isRoot = /sqrt/.test(scaled?.formula ?? "");
    const scale = scaled ? [[isRoot ? "embedding.root" : "embedding.constant",
        { ...isRoot ? { width } : {}, scaled: toldAt(scaled, at, 0) }]] : [];
    return { id: "embedding", chapter: chapterOf(step), spot: { step, row: at, column: 0 },
        text: sentences(["embedding.row", { token: text, width }], ["embedding.first", { x: toldAt(step, at, 0) }], ...scale) };
}

/* Added to the embedding, turned into queries and keys, added to scores, or nothing at all. */
function stopPositions(about) {
    const sum = named.get(`${firstStack}input`), rotated = forward.find(step => /\.q\.rotated$/.test(step.name));
    const biased = forward.find(step => /\.biased$/.test(step.name)), { at, text } = firstToken(about);
    const stop = (key, step, chapter, facts, cell) => ({ id: "positions", chapter, spot: { step, ...cell },
        text: sentences(["positions.why"], [key, facts]) });
    if (sum)
        return stop("positions.added", sum, "02-positions", { token: text, position: at, sum: toldAt(sum, at, 0),
            embedding: toldAt(named.get(`${firstStack}embedding.scaled`) ?? named.get(`${firstStack}embedding`), at, 0),
            row: toldAt(named.get(`${firstStack}positions`), at, 0) }, { row: at, column: 0 });
    if (rotated) {
        const before = named.get(rotated.name.replace(/rotated$/, "normed")) ?? named.get(rotated.name.replace(/\.rotated$/, ""));
        return stop("positions.rotated", rotated, "17-rotary", { token: text, position: at, before: toldAt(before, at, 0),
            after: toldAt(rotated, at, 0) }, { row: at, column: 0 });
    }
    if (biased)
        return stop("positions.biased", biased, chapterOf(biased), { token: about.token, other: about.other,
            before: toldAt(about.of("scaled"), about.head, about.query, about.key),
            after: toldAt(about.of("biased"), about.head, about.query, about.key) },
        { head: about.head, row: about.query, column: about.key });
    return { id: "positions", chapter: "02-positions", text: sentences(["positions.why"], ["positions.none"]),
        spot: { node: () => byId("diagram"), choose: {} } };
}

function stopQueries(about) {
    const { query, key, token, other } = about;
    return { id: "queries", chapter: "03-queries-keys-values", spot: { step: about.of("q"), row: query, column: 0 },
        text: sentences([about.module === "cross_attention" ? "queries.cross" : "queries.self"],
            ["queries.first", { token, other, q: toldAt(about.of("q"), query, 0), k: toldAt(about.of("k"), key, 0),
                v: toldAt(about.of("v"), key, 0) }]) };
}

const spotOfCell = ({ head, query, key }) => ({ head, row: query, column: key });

function stopScores(about) {
    const { head, heads, query, key, token, other } = about, step = about.of("scores"), width = widthOf(about.of("q.heads"));
    return { id: "scores", chapter: "05-scores", spot: { step, ...spotOfCell(about) },
        text: sentences(["scores.product", { heads, width }], ["scores.number", { token, other, head, from: head * width,
            to: (head + 1) * width - 1, score: toldAt(step, head, query, key) }]) };
}

function stopMask(about) {
    const { head, query, key, columns, token } = about, scaled = about.of("scaled"), width = widthOf(about.of("q.heads"));
    const score = toldAt(about.of("scores"), head, query, key), result = toldAt(scaled, head, query, key);
    const scale = /sqrt/.test(scaled.formula ?? "") ? ["mask.root", { score, width, scaled: result }] :
        ["mask.constant", { score, scaled: result }];
    const hidden = isMasked(about.kind) ? ["mask.later", { token, hidden: columns - query - 1 }] : ["mask.none"];
    return { id: "mask", chapter: "05-scores", text: sentences(scale, hidden),
        spot: { step: about.of("masked"), ...spotOfCell(about) } };
}

/* Of one row, as the softmax sees it: e to the power of a number and of all together. */
function powersOf(about) {
    const step = about.of("masked"), row = [...Array(about.columns).keys()].map(k => numberAt(step, about.head, about.query, k));
    const powers = row.map(Math.exp), sum = powers.reduce((a, b) => a + b, 0);
    const sign = sourceOf(step).format === "exact" ? "" : "≈";
    return Number.isNaN(sum) ? {} : { power: sign + show(powers[about.key]), sum: sign + show(sum) };
}

function stopSoftmax(about) {
    const { head, query, key, token, other, kind, block } = about, { power, sum } = powersOf(about);
    const masked = toldAt(about.of("masked"), head, query, key), weights = about.of("weights");
    const weight = numberAt(weights, head, query, key), isExact = sourceOf(weights).format === "exact";
    return { id: "softmax", chapter: "06-softmax", text: sentences(["softmax.what"],
        ["softmax.number", { masked, power, sum, weight: toldAt(weights, head, query, key) }],
        ["softmax.share", { token, other, share: isExact ? `${show(100 * weight, 3)}%` : percent(weight) }]),
    spot: { node: () => byId("attention-map"), row: query, column: key,
        choose: { kind: kind.id, block, head, blockSeen: null, headSeen: null } } };
}

/* Heads that share values: several heads to each. */
function stopSum(about) {
    const { head, heads, query, token, columns } = about, values = about.of("v.heads"), weights = about.of("weights");
    const of = Math.floor(head / (heads / values.shape[1])), weight = k => numberAt(weights, head, query, k);
    const [first, second] = [...Array(columns).keys()].sort((a, b) => weight(b) - weight(a));
    const term = (name, k) => k === undefined ? {} : { [`weight${name}`]: toldAt(weights, head, query, k),
        [`value${name}`]: toldAt(values, of, k, 0) };
    return { id: "sum", chapter: "07-weighted-sum", spot: { step: about.of("heads"), head, row: query, column: 0 },
        text: sentences(["sum.what", { head, count: columns }], about.off ? ["sum.off"] :
            [second === undefined ? "sum.one" : "sum.number", { token, ...term(1, first), ...term(2, second),
                sum: toldAt(about.of("heads"), head, query, 0) }]) };
}

function stopHeads(about) {
    const { head, query, token, heads } = about, joined = about.of("concat"), output = about.of("output");
    const part = widthOf(about.of("heads")), from = head * part;
    return { id: "heads", chapter: "08-concat-projection", spot: { step: output, row: query, column: 0 },
        text: sentences(["heads.joined", { heads, part, width: widthOf(joined) }],
            ["heads.own", { head, token, from, before: toldAt(joined, query, from) }],
            ["heads.number", { token, after: toldAt(output, query, 0) }]) };
}

/* The sum behind the attention, and the norm that reads it: its own (post-norm), or that of the next sublayer (pre-norm). */
function stopNorm(about) {
    const after = forward.slice(forward.indexOf(about.of("output"))), sum = after.find(step => /norm\d*\.sum$/.test(step.name));
    const norm = after.slice(after.indexOf(sum)).find(step => /norm\d*\.output$/.test(step.name));
    const row = (sum && valuesOf(sum)?.subarray(about.query * widthOf(sum), (about.query + 1) * widthOf(sum))) ?? [NaN];
    const mean = row.reduce((a, x) => a + x, 0) / row.length, square = row.reduce((a, x) => a + x * x, 0) / row.length;
    const isRoot = /mean\(x\^2\)/.test(norm?.formula ?? ""), own = norm?.name.replace(/output$/, "sum") === sum?.name;
    const figure = x => Number.isNaN(x) ? undefined : (sourceOf(sum).format === "exact" ? "" : "≈") + show(x);
    const spread = isRoot ? { root: figure(Math.sqrt(square)) } :
        { mean: figure(mean), spread: figure(Math.sqrt(Math.max(0, square - mean * mean))) };
    return { id: "norm", chapter: chapterOf(norm ?? sum), spot: { step: norm ?? sum, row: about.query, column: 0 },
        text: sentences(["norm.sum", { token: about.token, sum: toldAt(sum, about.query, 0) }],
            [own ? "norm.post" : "norm.pre"],
            [isRoot ? "norm.root" : "norm.layer", { ...spread, after: toldAt(norm, about.query, 0) }]) };
}

/* A gate in place of the first layer's activation: SwiGLU, GEGLU. */
function stopFfn(about) {
    const { ffn: of, query, token } = about, gate = of("gate"), wide = gate ?? of("hidden"), output = of("output");
    const number = gate ? ["ffn.gate", { token, gate: toldAt(gate, query, 0), up: toldAt(of("up"), query, 0),
        product: toldAt(of("product"), query, 0) }] :
        ["ffn.number", { token, before: toldAt(wide, query, 0), name: /^(\w+)\(/.exec(of("activation")?.formula ?? "")?.[1],
            after: toldAt(of("activation"), query, 0) }];
    return { id: "ffn", chapter: chapterOf(wide), spot: { step: gate ? of("product") : of("activation") ?? wide, row: query,
        column: 0 }, text: sentences(["ffn.what", { width: widthOf(output), wide: widthOf(wide) }], number) };
}

function stopNext(about) {
    const { query, token } = about, prediction = predictionAt(query), best = prediction.tokens[0], next = prediction.next;
    const came = next ? [["next.came", { came: quoted(next.text), probability: show(next.probability, 3),
        loss: show(next.loss) }]] : [];
    return { id: "prediction", chapter: "15-prediction", text: sentences(["next.what"],
        ["next.best", { token, best: quoted(best.text), chance: show(best.probability, 3) }], ...came),
    spot: { node: () => byId("next"), choose: { pinned: { sequence: continued, position: query }, seen: null } } };
}

const STOPS = [stopTokens, stopEmbedding, stopPositions, stopQueries, stopScores, stopMask, stopSoftmax, stopSum, stopHeads,
    stopNorm, stopFfn, stopNext];
