/* attention.js: all tables of weights of one kind at once, a row of small pictures for each block, a picture for each head;
 * the chosen one (or the one under the pointer) as a heat map with its tokens on both axes. */
const attentions = findAttentions();

const kindNow = () => attentions.find(kind => kind.id === state.kind);
const headName = head => head < 0 ? t("attention.mean") : t("attention.head", { head });
const headOrAll = head => head < 0 ? t("attention.mean.all") : headName(head);
const choiceNow = columns => state.scale ?? (columns > LONG ? "row" : "table");

function buildAttention() {
    if (attentions.length === 0)
        return;
    byId("attention").hidden = false;
    const last = attentions[attentions.length - 1];
    const shown = last.blocks[last.blocks.length - 1];
    if (!state.kind)
        Object.assign(state, { kind: last.id, block: last.blocks.length - 1,
            part: parts.findIndex(part => part.steps.includes(shown)) });
    const kinds = segments(t("attention.table"), attentions.map(k => k.id), attentions.map(titleOfKind),
        kind => change({ kind }));
    const scales = segments(t("sentence.colors"), SCALES, SCALES.map(scale => t(`attention.scale.${scale}`)),
        scale => change({ scale }));
    byId("choices").append(...(attentions.length > 1 ? [kinds.node] : []), scales.node);
    const map = new HeatMap({ label: t("attention.title"), widest: 46, square: true, tallest: 640,
        hover: cell => change({ seen: cell ? { sequence: kindNow().query, position: cell.row } : null }),
        hold: holding(() => showSumOfWeight(map, sum)) });
    const sum = sumPanel(() => map.release());
    byId("attention-map").append(map.node, sum.node);
    roving(byId("heads"), "button", button => button.click());
    hintScroll(byId("heads"));
    watch(what => {
        if ("kind" in what || "scale" in what || "checkpoint" in what)
            buildHeads();
        if (["kind", "block", "head", "blockSeen", "headSeen", "scale", "checkpoint"].some(name => name in what))
            showAttention(map, kinds, scales);
        if (["kind", "block", "head", "checkpoint"].some(name => name in what))
            showSumOfWeight(map, sum);
    });
    buildHeads();
    showAttention(map, kinds, scales);
}

/* ---- all heads of all blocks ---- */

function buildHeads() {
    const kind = kindNow(), place = byId("heads"), most = Math.max(...kind.blocks.map(step => step.shape[1]));
    if (place.dataset.kind !== kind.id) {
        place.dataset.kind = kind.id;
        place.style.setProperty("--columns", most + 1);
        document.querySelector(".heads-and-map").classList.toggle("many", most > 6);
        place.replaceChildren(...kind.blocks.flatMap((step, block) => blockRow(step, block, most)));
    }
    for (const button of place.querySelectorAll("button")) {
        const heads = headsOf(kind.blocks[button.dataset.block]);
        thumbnail(button.firstChild, heads, Number(button.dataset.head), choiceNow(heads.columns));
    }
}

function blockRow(step, block, most) {
    const heads = [-1, ...Array(step.shape[1]).keys()], gap = most - step.shape[1];
    return [make("span", { class: "block-name" }, t("attention.block", { block })), ...heads.map(head => headButton(block, head)),
        ...Array.from({ length: gap }, () => make("span"))];
}

const headButton = (block, head) => make("button", { type: "button", role: "radio", "data-block": block, "data-head": head,
    "aria-label": t("attention.place", { block, head: headName(head) }),
    onpointerenter: () => change({ blockSeen: block, headSeen: head }),
    onpointerleave: () => change({ blockSeen: null, headSeen: null }),
    onclick: () => change({ block, head, blockSeen: null, headSeen: null }) }, make("canvas", { "aria-hidden": "true" }),
headName(head));

/* ---- one of them ---- */

/* The later keys of a decoder; no padding, as there is one sentence. */
const isMasked = kind => ["decoder.self_attention", "attention"].includes(kind.id);

function showAttention(map, kinds, scales) {
    const kind = kindNow(), step = stepOf(kind, blockNow()), block = kind.blocks.indexOf(step), heads = headsOf(step);
    const head = Math.min(headNow(), heads.count - 1), weights = heads.of(head), choice = choiceNow(heads.columns);
    const averaged = head < 0 ? [...Array(heads.count).keys()] : [head];
    byId("attention-lead").textContent = t(isMasked(kind) ? "attention.lead.masked" : "attention.lead");
    byId("map-title").textContent = t("attention.map", { block, head: headOrAll(head) });
    map.label = t("attention.map.label", { kind: titleOfKind(kind), block, head: headName(head) });
    map.show({ rows: heads.rows, columns: heads.columns, values: () => weights, offset: 0, rowNames: words(kind.query),
        columnNames: words(kind.key), rowTitle: t("axis.query"), columnTitle: t("axis.key"),
        masked: step.above === undefined ? undefined : "",
        scale: () => scaleOfWeights(weights, heads.columns, choice),
        told: (x, row) => told(nowOf(step), x, ...averaged.map(h => h * heads.rows + row)) });
    kinds.mark(kind.id);
    scales.mark(choice);
    markChosen(Math.min(state.block, kind.blocks.length - 1), state.head);
}

/* How the weight that is held came about. Of an earlier checkpoint there is nothing but the weights. */
function showSumOfWeight(map, sum) {
    if (!map.held)
        return sum.clear();
    const { row, column } = map.held, step = stepOf(kindNow(), state.block), now = nowOf(step), heads = headsOf(step);
    const head = state.head < heads.count ? state.head : -1, x = map.valueAt(row, column);
    const index = (Math.max(0, head) * heads.rows + row) * heads.columns + column;
    const isOther = now !== step && !isNear(now, step, index);
    sum.show(step, index, { mean: head < 0, shownAs: map.matrix.told(x, row), kind: isOther ? "checkpoint" : null });
}

function markChosen(block, head) {
    const place = byId("heads"), count = headsOf(kindNow().blocks[block]).count, chosen = Math.min(head, count - 1);
    for (const button of place.querySelectorAll("button"))
        button.setAttribute("aria-checked", Number(button.dataset.block) === block && Number(button.dataset.head) === chosen);
    stopAt(place, "button", place.querySelector('[aria-checked="true"]'));
}
