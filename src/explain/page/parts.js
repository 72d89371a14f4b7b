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
    return /^(ffn|input|output)$/.test(part.module) ? part.module : /^(embedding_)?norm\d*$/.test(part.module) ? "norm" : "other";
}

/* A key of the texts. */
function titleOf(part) {
    const adds = ends(part, "sum"), norms = ends(part, "output");
    switch (kindOf(part)) {
    case "attention":
        return part.module === "cross_attention" ? "part.cross" : part.stack === "encoder" ? "part.self" : "part.masked";
    case "ffn": return "part.ffn";
    case "input": return part.steps.some(s => /positions/.test(s.name)) ? "part.input.positions" : "part.input";
    case "output": return "part.output";
    case "norm": return adds && norms ? "part.add.norm" : adds ? "part.add" : "part.norm";
    default: return null;
    }
}

const titleText = part => titleOf(part) ? t(titleOf(part)) : part.module.replace(/_/g, " ");
const aboutOf = part => has(`about.${titleOf(part)}`) ? t(`about.${titleOf(part)}`) : "";

const STACKS = { encoder: "diagram.encoder", decoder: "diagram.decoder" };

function blockName({ stack, block }) {
    const where = t("attention.block", { block });
    return STACKS[stack] ? t("diagram.stack.block", { stack: t(STACKS[stack]), block }) : where;
}

function longTitleOf(part) {
    const where = part.block !== null ? blockName(part) : STACKS[part.stack] ? t(STACKS[part.stack]) : "";
    return where ? t("part.of", { where: where[0].toUpperCase() + where.slice(1), title: titleText(part).toLowerCase() }) :
        titleText(part);
}

/* By the end of a step's name; the first that fits counts. */
const SAYS = [
    [/embedding$/, "embedding"], [/embedding\.scaled$/, "embedding.scaled"], [/positions$/, "positions"], [/input$/, "input"],
    [/\.(q|k|v)\.rotated$/, "rotated"], [/\.(q|k)\.normed$/, "normed"], [/norm\d*\.scaled$/, "norm.scaled"],
    [/\.biased$/, "biased"], [/\.q\.heads$/, "q.heads"], [/\.k\.heads$/, "k.heads"], [/\.v\.heads$/, "v.heads"],
    [/\.q$/, "q"], [/\.k$/, "k"], [/\.v$/, "v"], [/\.scores$/, "scores"], [/\.scaled$/, "scaled"],
    [/^encoder\..*\.masked$|cross_attention\.masked$/, "unmasked"], [/\.masked$/, "masked"],
    [/\.weights$/, "weights"], [/\.heads$/, "heads"], [/\.concat$/, "concat"], [/attention\.output$/, "attention.output"],
    [/\.sum$/, "sum"], [/\.hidden$/, "hidden"], [/\.activation$/, "activation"], [/\.gate$/, "gate"], [/\.up$/, "up"],
    [/\.product$/, "product"], [/ffn\.output$/, "ffn.output"], [/norm\d*(\.output)+$/, "norm.output"],
    [/(^|\.)output$/, "output"], [/probabilities$/, "probabilities"], [/\.dropped$/, "dropped"],
];

function saysOf(step) {
    const found = step.gradient ? [null, "gradient"] : SAYS.find(([pattern]) => pattern.test(step.name));
    return found ? t(`says.${found[1]}`) : "";
}
