/* parts.js: which steps belong to which part of the model, what parts and steps are called, and a sentence about each. A
 * part is a run of steps with one module, in the order of computation: so the norm before a sublayer and the sum after
 * it are two, although they share their name. */
function placeOf(name) {
    const [, stack, block, rest] = /^(?:(encoder|decoder|blocks)\.)?(?:(\d+)\.)?(.*)$/.exec(name);
    const words = rest.split(".");
    let module = words[0];
    if (/^(embedding|positions|input|preprocessor)$/.test(module))
        module = "input";
    if (module === "probabilities")
        module = "output";
    const decodes = name === "probabilities" && translation;
    return { stack: stack === "blocks" ? "" : stack || (decodes ? "decoder" : ""),
        block: block === undefined ? null : Number(block), module };
}

const keyOf = place => [place.stack, place.block === null ? "" : place.block, place.module].join("/");

/* A name without what its part says already. */
function shortName(step) {
    const place = placeOf(step.name), plain = step.name.replace(/^(encoder|decoder|blocks)\./, "").replace(/^\d+\./, "");
    return place.block !== null || place.module === "norm" ? plain.slice(place.module.length + 1) || plain : plain;
}

/* Parts of the pass forward; of parameters, whose gradients come last, those with the part that has their module. */
function findParts() {
    const parts = [];
    for (const step of forward) {
        const place = placeOf(step.name), key = keyOf(place), last = parts[parts.length - 1];
        if (last && last.key === key)
            last.steps.push(step);
        else
            parts.push({ key, ...place, steps: [step] });
    }
    for (const step of gradients.filter(g => !named.has(g.name))) {
        const place = placeOf(step.name), key = keyOf(place);
        let part = parts.find(p => p.key === key);
        if (!part)
            parts.push(part = { key, ...place, steps: [] });
        part.steps.push(step);
    }
    return parts;
}

const ends = (part, word) => part.steps.some(step => !step.gradient && step.name.endsWith("." + word));

function kindOf(part) {
    if (/attention$/.test(part.module))
        return "attention";
    return /^(ffn|input|output)$/.test(part.module) ? part.module : /^norm\d*$/.test(part.module) ? "norm" : "other";
}

function titleOf(part) {
    const adds = ends(part, "sum"), norms = ends(part, "output");
    switch (kindOf(part)) {
    case "attention":
        return part.module === "cross_attention" ? "Cross-attention" :
            part.stack === "encoder" ? "Self-attention" : "Masked self-attention";
    case "ffn": return "Feed-forward";
    case "input": return part.steps.some(s => /positions/.test(s.name)) ? "Embedding + positions" : "Embedding";
    case "output": return "Linear + softmax";
    case "norm": return adds && norms ? "Add & norm" : adds ? "Add" : "Norm";
    default: return part.module.replace(/_/g, " ");
    }
}

const STACKS = { encoder: "Encoder", decoder: "Decoder", "": "" };

function longTitleOf(part) {
    const where = [STACKS[part.stack], part.block === null ? "" : `block ${part.block}`].filter(Boolean).join(" ");
    return where ? `${where[0].toUpperCase()}${where.slice(1)}: ${titleOf(part).toLowerCase()}` : titleOf(part);
}

const ABOUT = {
    "Masked self-attention": "Each token gathers what it needs from itself and the tokens before it; the later ones are hidden.",
    "Self-attention": "Each token of the source gathers what it needs from all tokens of the source.",
    "Cross-attention": "Each token of the target gathers what it needs from what the encoder made of the source.",
    "Feed-forward": "Two linear layers with a bend between them, applied to each position by itself.",
    "Embedding + positions": "Each token becomes a row of numbers; a second row says where it stands.",
    "Embedding": "Each token becomes a row of numbers.",
    "Linear + softmax":
        "Each row of numbers becomes a score for every token of the vocabulary, and the scores become probabilities.",
    "Add & norm": "What the sublayer found is added to what went in, and each row is brought to one scale.",
    "Add": "What the sublayer found is added to what went in.",
    "Norm": "Each row is brought to one scale before the next sublayer reads it.",
};

/* By the end of a step's name; the first that fits counts. */
const SAYS = [
    [/embedding$/, "One row of the embedding matrix for each token, looked up by its id."],
    [/embedding\.scaled$/, "The rows are multiplied by the root of the model's width: they start small."],
    [/positions$/, "A pattern for each place in the row, the same whatever token stands there."],
    [/input$/, "Token and place together: what the first block reads."],
    [/\.(q|k|v)\.rotated$/, "Pairs of features are turned by an angle that grows with the position."],
    [/\.q\.heads$/, "The queries, cut into one narrow matrix for each head."],
    [/\.k\.heads$/, "The keys, cut into one narrow matrix for each head."],
    [/\.v\.heads$/, "The values, cut into one narrow matrix for each head."],
    [/\.q$/, "Queries: what each token looks for."],
    [/\.k$/, "Keys: what each token offers to be found by."],
    [/\.v$/, "Values: what each token hands over where it is found."],
    [/\.scores$/, "The dot product of each query with each key: the better they fit, the larger."],
    [/\.scaled$/, "Divided by the root of the head's width, so that the softmax stays soft."],
    [/\.masked$/, "Where a query may not look, the score becomes minus infinity."],
    [/\.weights$/, "Softmax along each row: how much each query takes from each key. Rows sum to 1."],
    [/\.heads$/, "The weighted sum of the values: what each head found for each token."],
    [/\.concat$/, "The heads side by side again, in rows of full width."],
    [/attention\.output$/, "One more linear layer mixes what the heads found."],
    [/\.sum$/, "The way round the sublayer: its input plus its result."],
    [/\.hidden$/, "The first linear layer widens each row."],
    [/\.activation$/, "The bend: without it two linear layers would be one."],
    [/\.gate$/, "What decides how much of each feature passes."],
    [/\.up$/, "The widened row that the gate is applied to."],
    [/\.product$/, "Gate times row, feature by feature."],
    [/ffn\.output$/, "The second linear layer brings the row back to its width."],
    [/norm\d*\.output$/, "Each row by itself is brought to one scale, as the formula says, then stretched by what was learned."],
    [/(^|\.)output$/, "Logits: a score for every token of the vocabulary, at each position."],
    [/probabilities$/, "Softmax of the logits: what may come next, and how likely."],
    [/\.dropped$/, "Dropout: some numbers are zeroed, the others made larger, in training only."],
];

function saysOf(step) {
    if (step.gradient)
        return "How the loss would change if each number of this parameter grew a little.";
    const found = SAYS.find(([pattern]) => pattern.test(step.name));
    return found ? found[1] : "";
}
