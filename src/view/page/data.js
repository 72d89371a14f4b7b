/* data.js: what rapt wrote into the page, and what the reader chose. Steps keep their numbers as base64 letters (floats
 * of 4 bytes, the lowest first) until they are looked at. */
const data = JSON.parse(byId("data").textContent);
const translation = data.model.kind === "translation";
const steps = data.steps || [];
const forward = steps.filter(step => !step.gradient);
const gradients = steps.filter(step => step.gradient);
const named = new Map(forward.map(step => [step.name, step]));
const gradientOf = new Map(gradients.map(step => [step.name, step]));

function unpack(letters) {
    const text = atob(letters), bytes = new Uint8Array(text.length), view = new DataView(bytes.buffer);
    for (let i = 0; i < bytes.length; i++)
        bytes[i] = text.charCodeAt(i);
    const numbers = new Float32Array(bytes.length / 4);
    for (let i = 0; i < numbers.length; i++)
        numbers[i] = view.getFloat32(4 * i, true);
    return numbers;
}

/* The numbers of a step, or null where the page has been made without them. */
function valuesOf(step) {
    if (typeof step.values === "string")
        step.values = unpack(step.values);
    return step.values || null;
}

const words = name => (data.sequences[name] || []).map(token => token.text);
const textOfId = new Map();
for (const token of Object.values(data.sequences).flat())
    textOfId.set(token.id, token.text);
for (const token of (data.predictions || []).flatMap(p => p.tokens))
    textOfId.set(token.id, token.text);

/* ---- attention: one entry a kind, with a step of weights for each block ---- */

const KINDS = {
    "encoder.attention": "Encoder: self-attention",
    "decoder.self_attention": "Decoder: self-attention",
    "decoder.cross_attention": "Decoder looks at encoder",
    "attention": "Self-attention",
};

function findAttentions() {
    const kinds = new Map();
    for (const step of forward.filter(s => /(^|\.)weights$/.test(s.name) && s.shape.length === 4 && s.values)) {
        const place = placeOf(step.name), id = (place.stack ? place.stack + "." : "") + place.module;
        if (!kinds.has(id))
            kinds.set(id, { id, title: KINDS[id] || id, blocks: [], query: step.sequences[2], key: step.sequences[3] });
        kinds.get(id).blocks.push(step);
    }
    return [...kinds.values()];
}

/* All heads of a step, and their mean as the last one. */
function headsOf(step) {
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

/* The row of weights of one query: kind, block (cut to those that there are), head (-1: the mean of all). */
function weightsOf(kind, block, head, query) {
    const heads = headsOf(kind.blocks[Math.min(block, kind.blocks.length - 1)]);
    return heads.of(head < heads.count ? head : -1).subarray(query * heads.columns, (query + 1) * heads.columns);
}

/* ---- what is chosen: change() tells those who watch ---- */

const state = { kind: null, block: 0, head: -1, headSeen: null, pinned: null, seen: null, part: 0, search: "" };
const watchers = [];
const watch = listener => watchers.push(listener);

function change(what) {
    if (Object.entries(what).every(([name, value]) => state[name] === value))
        return;
    Object.assign(state, what);
    for (const listener of watchers)
        listener(what);
}
