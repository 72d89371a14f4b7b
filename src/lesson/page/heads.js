/* heads.js: all tables of attention weights as small pictures, a row for each block of each kind; the chosen one as a heat map.
 * They change with the steps, and the reader's choice stays. */
const map = { heat: null };

/* The weights of a look by kind: { id, blocks: [{ count, rows, columns, of(head) }] }; head -1 is the mean. */
function kindsOf(look) {
    look.kinds ??= look.weights.reduce((kinds, { name, heads, rows, columns, values }) => {
        const [, stack, module] = /^(\w+)\.\d+\.(\w+)\.weights$/.exec(name), id = `${stack}.${module}`, size = rows * columns;
        const all = Float32Array.from(values), mean = Float32Array.from({ length: size }, (_, i) => {
            let sum = 0;
            for (let h = 0; h < heads; h++)
                sum += all[h * size + i] / heads;
            return sum;
        });
        const kind = kinds.find(one => one.id === id) ?? kinds[kinds.push({ id, blocks: [] }) - 1];
        kind.blocks.push({ count: heads, rows, columns, of: h => h < 0 ? mean : all.subarray(h * size, (h + 1) * size) });
        return kinds;
    }, []);
    return look.kinds;
}

const headName = head => head < 0 ? t("attention.mean") : t("attention.head", { head });
const namesOf = kind => ({ rows: kind.startsWith("encoder") ? state.look.source : state.look.target,
    columns: kind === "decoder.self_attention" ? state.look.target : state.look.source });

function buildAttention() {
    map.heat = new HeatMap({ label: t("attention.title"), widest: 58, square: true, tallest: 520,
        hover: cell => change({
            seen: cell && { row: state.kind.startsWith("encoder") ? "source" : "reads", position: cell.row } }) });
    byId("attention-map").replaceChildren(map.heat.node);
    byId("heads").dataset.shape = "";
    roving(byId("heads"), "[role=radio]", button => button.click());
    hintScroll(byId("heads"));
    watch(what => ["kind", "block", "head", "off"].some(name => name in what) && showAttention());
}

function headCell(kind, block, head) {
    const button = make("button", { type: "button", role: "radio", "data-kind": kind, "data-block": block, "data-head": head,
        "aria-label": t("attention.place", { kind: t(`attention.${kind}`), block, head: headName(head) }),
        onclick: () => change({ kind, block, head }) }, make("canvas", { "aria-hidden": "true" }), headName(head));
    return make("span", { class: "cell" }, button, ...(head < 0 ? [] : [offButton(kind, block, head)]));
}

const blockRow = (kind, block, count) => [make("span", { class: "block-name" }, t("attention.block", { block })),
    ...[-1, ...Array(count).keys()].map(head => headCell(kind.id, block, head))];
const kindRows = kind => [make("span", { class: "kind-name" }, t(`attention.${kind.id}`)),
    ...kind.blocks.flatMap(({ count }, block) => blockRow(kind, block, count))];

function buildHeads(kinds) {
    const place = byId("heads"), count = kinds[0].blocks[0].count;
    const shape = JSON.stringify([language, kinds.map(kind => kind.blocks.map(block => block.count))]);
    if (place.dataset.shape === shape)
        return;
    place.dataset.shape = shape;
    place.style.setProperty("--columns", count + 1);
    document.querySelector(".heads-and-map").classList.toggle("many", count > 6);
    place.replaceChildren(...kinds.flatMap(kindRows));
    stopAt(place, ".off");
    showOff();
}

function showAttention() {
    if (!state.look)
        return;
    const kinds = kindsOf(state.look), kind = kinds.find(one => one.id === state.kind);
    const block = Math.min(state.block, kind.blocks.length - 1), heads = kind.blocks[block];
    const head = Math.min(state.head, heads.count - 1), weights = heads.of(head), names = namesOf(kind.id);
    buildHeads(kinds);
    for (const button of byId("heads").querySelectorAll("[role=radio]")) {
        const at = button.dataset, shown = kinds.find(one => one.id === at.kind).blocks[at.block];
        thumbnail(button.firstChild, shown, Number(at.head), "unit");
        button.setAttribute("aria-checked", at.kind === kind.id && Number(at.block) === block && Number(at.head) === head);
    }
    stopAt(byId("heads"), "[role=radio]", byId("heads").querySelector('[aria-checked="true"]'));
    const place = t("attention.place", { kind: t(`attention.${kind.id}`), block, head: headName(head) });
    byId("map-title").textContent = isOff(kind.id, block, head) ? t("off.place", { place }) : place;
    map.heat.label = t("attention.map.label", { kind: t(`attention.${kind.id}`), block, head: headName(head) });
    map.heat.show({ rows: heads.rows, columns: heads.columns, values: () => weights, offset: 0, rowNames: names.rows,
        columnNames: names.columns, rowTitle: t("axis.query"), columnTitle: t("axis.key"),
        scale: () => scaleOfWeights(weights, heads.columns, "unit"), told: x => show(x) });
}
