/* data.js: what rapt wrote into the page, and what the reader chose. The numbers of the steps: numbers.js. */
const data = JSON.parse(byId("data").textContent);
const translation = data.model.kind === "translation";
const steps = data.steps || [];
const forward = steps.filter(step => !step.gradient);
const gradients = steps.filter(step => step.gradient);
const named = new Map(forward.map(step => [step.name, step]));
const gradientOf = new Map(gradients.map(step => [step.name, step]));

const words = name => (data.sequences[name] || []).map(token => token.text);
const textOfId = new Map();
for (const token of data.sequences[translation ? "target" : "text"] || [])
    textOfId.set(token.id, token.text);
for (const token of (data.predictions || []).flatMap(p => [...p.tokens, ...(p.next ? [p.next] : [])]))
    textOfId.set(token.id, token.text);
const textOfSourceId = new Map((data.sequences.source || []).map(token => [token.id, token.text]));

/* ---- checkpoints of the training run: attention weights and predictions of each ---- */

const checkpoints = (data.checkpoints || []).map(({ step, steps, predictions }) => {
    const among = new Map(steps.map(one => [one.name, one]));
    steps.forEach(one => { one.among = among; });
    return { step, named: among, predictions: new Map(predictions.map(p => [p.position, p])) };
});

/* Of a step of attention weights, the one of the chosen checkpoint. */
const nowOf = step => checkpoints[state.checkpoint]?.named.get(step.name) ?? step;

/* ---- attention: one entry a kind, with a step of weights for each block ---- */

const titleOfKind = kind => has(`attention.${kind.id}`) ? t(`attention.${kind.id}`) : kind.id;

function findAttentions() {
    const kinds = new Map();
    for (const step of forward.filter(s => /(^|\.)weights$/.test(s.name) && s.shape.length === 4 && hasNumbers(s))) {
        const place = placeOf(step.name), id = (place.stack ? place.stack + "." : "") + place.module;
        if (!kinds.has(id))
            kinds.set(id, { id, blocks: [], query: step.sequences[2], key: step.sequences[3] });
        kinds.get(id).blocks.push(step);
    }
    return [...kinds.values()];
}

/* All heads of a step, and their mean as the last one, at the chosen checkpoint. What a mask hides is minus infinity. */
function headsOf(whole) {
    const step = nowOf(whole);
    if (step.heads)
        return step.heads;
    const [, heads, rows, columns] = step.shape, size = rows * columns, values = valuesOf(step);
    const mean = new Float32Array(size);
    for (let i = 0; i < size; i++) {
        for (let h = 0; h < heads; h++)
            mean[i] += values[h * size + i] / heads;
    }
    step.heads = { count: heads, rows, columns, of: h => h < 0 ? mean : values.subarray(h * size, (h + 1) * size) };
    return step.heads;
}

const stepOf = (kind, block) => kind.blocks[Math.min(block, kind.blocks.length - 1)];

/* The row of weights of one query: kind, block (cut to those that there are), head (-1: the mean of all). */
function weightsOf(kind, block, head, query) {
    const heads = headsOf(stepOf(kind, block));
    return heads.of(head < heads.count ? head : -1).subarray(query * heads.columns, (query + 1) * heads.columns);
}

/* ---- what is chosen ---- */

/* "Seen" is what lies under the pointer, in place of what was chosen. */
const state = { kind: null, block: 0, head: -1, blockSeen: null, headSeen: null, scale: null, color: "attention",
    pinned: null, seen: null, part: 0, search: "", lens: null, lensSeen: null, lensTint: "top",
    checkpoint: checkpoints.length - 1 };
const blockNow = () => state.blockSeen ?? state.block, headNow = () => state.headSeen ?? state.head;
