/* colors.js: numbers become colors: viridis for what is never negative, two colors away from zero for the rest. A
 * scale has 256 colors, then one for what a mask hides (minus infinity) and one for what is no number. */
const VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"];
const SIGNED = {
    light: ["0d3b66", "3a7fb8", "a8cbe4", "f6f4f0", "f1be98", "d5713b", "80300a"],
    dark: ["9bd0ff", "4a92d8", "27486f", "22262c", "744223", "d67a3c", "ffc894"],
};
const HIDDEN = 256, NO_NUMBER = 257;

const rgb = hex => [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16));
const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

function between(stops, t) {
    const x = t * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(x));
    return stops[i].map((low, c) => Math.round(low + (stops[i + 1][c] - low) * (x - i)));
}

function tableOf(hexes, hidden) {
    const stops = hexes.map(rgb), colors = [];
    for (let i = 0; i < 256; i++)
        colors.push(between(stops, i / 255));
    colors.push(rgb(hidden), rgb("d6338a"));
    return { colors, pixels: Uint32Array.from(colors, packed) };
}

const tables = {};

function tableFor(kind) {
    const id = kind + theme();
    if (!tables[id])
        tables[id] = tableOf(kind === "viridis" ? VIRIDIS : SIGNED[theme()], theme() === "dark" ? "3d434c" : "d8d4cb");
    return tables[id];
}

/* From the smallest to the largest finite number; symmetric about zero where there are negative ones. */
function scaleOf(values) {
    let low = Infinity, high = -Infinity;
    for (const x of values) {
        if (Number.isFinite(x)) {
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    }
    if (low > high)
        low = high = 0;
    if (low < 0)
        return { kind: "signed", low: -Math.max(-low, high), high: Math.max(-low, high) };
    return { kind: "viridis", low: 0, high: high || 1 };
}

/* A scale may have a largest number for each row (`rows`), and grow with the root of the numbers (`root`). */
function colorIndex(scale, x, row = 0) {
    if (Number.isNaN(x))
        return NO_NUMBER;
    if (x === -Infinity)
        return HIDDEN;
    const high = scale.rows ? scale.rows[row] : scale.high;
    const t = Math.max(0, Math.min(1, high > scale.low ? (x - scale.low) / (high - scale.low) : 0));
    return Math.round(255 * (scale.root ? Math.sqrt(t) : t));
}

/* ---- weights of attention: the reader chooses ---- */

const SCALES = ["table", "unit", "row", "root"]; /* the largest of the table; 1; the largest of each row; the root of it */

function mostOfRows(weights, columns) {
    const most = new Float32Array(weights.length / columns);
    weights.forEach((x, i) => {
        const row = Math.floor(i / columns);
        most[row] = x > most[row] ? x : most[row];
    });
    return most;
}

/* Of the rows that share a pixel, the one that sets its scale. */
function largestRow(scale, from, to) {
    let best = from;
    for (let row = from; scale.rows && row < to; row++)
        best = scale.rows[row] > scale.rows[best] ? row : best;
    return best;
}

function scaleOfWeights(weights, columns, choice) {
    const rows = mostOfRows(weights, columns), most = rows.reduce((a, b) => Math.max(a, b), 0) || 1;
    const scale = { kind: "viridis", low: 0, high: choice === "unit" ? 1 : most, root: choice === "root" };
    return choice === "row" || choice === "root" ? { ...scale, rows } : scale;
}

const isDark = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b < 140;

/* Colors at equal distances, and what they stand for at the ends; in the middle, too, where they do not grow evenly. */
function legend(scale) {
    const table = tableFor(scale.kind), stops = [];
    for (let i = 0; i <= 255; i += 15)
        stops.push(`rgb(${table.colors[i].join(" ")})`);
    const bar = make("i", { style: `background:linear-gradient(90deg,${stops.join(",")})` });
    const ends = scale.rows ? ["0", t("map.legend.row")] : [show(scale.low, 3), show(scale.high, 3)];
    const middle = scale.root ? [make("small", {}, scale.rows ? t("map.legend.quarter") : show(scale.high / 4, 2))] : [];
    return make("span", { class: "legend" }, ends[0], make("span", { class: "bar" }, bar, ...middle), ends[1]);
}
