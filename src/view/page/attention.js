/* attention.js: choose a table of weights: its kind, its block, its head; heads are small pictures, the chosen one (or
 * the one under the pointer) as a heat map with its tokens on both axes. */
const attentions = findAttentions();
const THUMBNAIL = 64; /* cells across a small picture, at most */

const kindNow = () => attentions.find(kind => kind.id === state.kind);
const stepNow = () => kindNow().blocks[Math.min(state.block, kindNow().blocks.length - 1)];
const headName = head => head < 0 ? "mean" : `head ${head}`;

function buildAttention() {
    if (attentions.length === 0)
        return;
    byId("attention").hidden = false;
    const last = attentions[attentions.length - 1];
    Object.assign(state, { kind: last.id, block: last.blocks.length - 1 });
    const kinds = segments("Table", attentions.map(k => k.id), attentions.map(k => k.title), kind => change({ kind }));
    const most = Math.max(...attentions.map(k => k.blocks.length)), numbers = [...Array(most).keys()];
    const blocks = segments("Block", numbers, numbers.map(String), block => change({ block: Number(block) }));
    byId("choices").append(...(attentions.length > 1 ? [kinds.node] : []), blocks.node);
    const map = new HeatMap({ label: "Attention weights", widest: 46, square: true, tallest: 640,
        hover: cell => change({ seen: cell ? { sequence: kindNow().query, position: cell.row } : null }) });
    byId("attention-map").append(map.node);
    roving(byId("heads"), "button", button => button.click());
    watch(what => {
        if ("kind" in what || "block" in what)
            buildHeads();
        if (["kind", "block", "head", "headSeen"].some(name => name in what))
            showAttention(map, kinds, blocks);
    });
    buildHeads();
    showAttention(map, kinds, blocks);
}

function buildHeads() {
    const heads = headsOf(stepNow()), place = byId("heads"), all = [-1, ...Array(heads.count).keys()];
    if (place.children.length !== all.length)
        place.replaceChildren(...all.map(headButton));
    [...place.children].forEach((button, i) => thumbnail(button.firstChild, heads, all[i]));
}

const headButton = head => make("button", { type: "button", role: "radio", "data-head": head,
    onpointerenter: () => change({ headSeen: head }), onpointerleave: () => change({ headSeen: null }),
    onclick: () => change({ head, headSeen: null }) }, make("canvas", { "aria-hidden": "true" }), headName(head));

/* A dot a weight; long rows are thinned out. */
function thumbnail(canvas, heads, head) {
    const weights = heads.of(head), scale = scaleOf(weights), table = tableFor(scale.kind).pixels;
    canvas.width = Math.min(heads.columns, THUMBNAIL);
    canvas.height = Math.min(heads.rows, THUMBNAIL);
    const c = canvas.getContext("2d"), image = c.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) {
        const row = Math.floor(Math.floor(i / canvas.width) * heads.rows / canvas.height);
        const column = Math.floor(i % canvas.width * heads.columns / canvas.width);
        pixels[i] = table[colourIndex(scale, weights[row * heads.columns + column])];
    }
    c.putImageData(image, 0, 0);
}

function showAttention(map, kinds, blocks) {
    const kind = kindNow(), heads = headsOf(stepNow()), head = Math.min(state.headSeen ?? state.head, heads.count - 1);
    const weights = heads.of(head), chosen = Math.min(state.head, heads.count - 1);
    map.label = `Attention weights, ${kind.title}, ${headName(head)}`;
    map.show({ rows: heads.rows, columns: heads.columns, values: () => weights, offset: 0, rowNames: words(kind.query),
        columnNames: words(kind.key), rowTitle: "query", columnTitle: "key", scale: () => scaleOf(weights) });
    kinds.mark(kind.id);
    blocks.mark(Math.min(state.block, kind.blocks.length - 1));
    for (const button of byId("heads").children)
        button.setAttribute("aria-checked", Number(button.dataset.head) === chosen);
    stopAt(byId("heads"), "button", byId("heads").querySelector('[aria-checked="true"]'));
}
