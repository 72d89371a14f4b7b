/* heat_draw.js: paints a HeatMap: cells pixel by pixel (where many cells share a pixel, the one that stands out most),
 * names of rows and columns, numbers where they fit, the cell under the pointer. */
const ruler = document.createElement("canvas").getContext("2d");
const LABEL_FONT = "12px system-ui, 'Noto Sans', sans-serif";
const GRID = 20; /* the smallest cell that has lines around it */
const NUMBER_FONT = "11px ui-monospace, 'DejaVu Sans Mono', monospace";

/* A row or column of many has its number, too: not all of them have room for their names. */
const nameOf = (names, i) => (names.length > LONG ? `${i} ` : "") + visible(names[i] ?? "");

function widestName(names) {
    if (names.width === undefined) {
        ruler.font = LABEL_FONT;
        names.width = names.reduce((most, _, i) => Math.max(most, ruler.measureText(nameOf(names, i)).width), 0);
    }
    return names.width;
}

const variable = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function paint(map) {
    const canvas = map.canvas, density = window.devicePixelRatio || 1, c = canvas.getContext("2d");
    canvas.width = Math.round(canvas.clientWidth * density);
    canvas.height = Math.round(canvas.clientHeight * density);
    if (!map.matrix.values())
        return;
    paintCells(map, c, density);
    c.setTransform(density, 0, 0, density, 0, 0);
    const colors = Object.fromEntries(["ink", "soft", "surface", "accent"].map(name => [name, variable("--" + name)]));
    paintGrid(map, c, colors);
    paintNumbers(map, c);
    paintRowNames(map, c, colors);
    paintColumnNames(map, c, colors);
    if (map.held)
        paintFrame(map, c, map.held, colors.surface, colors.accent);
    if (map.cursor)
        paintFrame(map, c, map.cursor, colors.surface, colors.ink);
    map.legendPlace.replaceChildren(legend(map.scale));
}

/* For each of `count` pixels the cells [from[i], to[i]) that it shows, one at least. */
function cellsOfPixels(count, density, start, size, cells) {
    const from = new Int32Array(count), to = new Int32Array(count);
    for (let i = 0; i < count; i++) {
        from[i] = Math.min(cells - 1, Math.floor((start + (i + 0.5) / density) / size));
        if (size * density < 1) {
            from[i] = Math.min(cells - 1, Math.floor((start + i / density) / size));
            to[i] = Math.min(cells, Math.floor((start + (i + 1) / density) / size));
        }
        to[i] = Math.max(to[i], from[i] + 1);
    }
    return { from, to };
}

/* The number of cells that is farthest from zero; what a mask hides only where it hides all. */
function standsOut(m, values, fromRow, toRow, fromColumn, toColumn) {
    let best = NaN, most = -1;
    for (let r = fromRow; r < toRow; r++) {
        for (let c = fromColumn; c < toColumn; c++) {
            const x = values[m.offset + r * m.columns + c], size = x === -Infinity ? -0.5 : Math.abs(x);
            if (size > most || most === -1) {
                best = x;
                most = size;
            }
        }
    }
    return best;
}

function paintCells(map, c, density) {
    const m = map.matrix, values = m.values(), table = tableFor(map.scale.kind).pixels;
    const [width, height] = [map.plotWidth, map.plotHeight].map(size => Math.max(1, Math.round(size * density)));
    const image = c.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const across = cellsOfPixels(width, density, map.left, map.cellWidth, m.columns);
    const down = cellsOfPixels(height, density, map.top, map.cellHeight, m.rows);
    for (let y = 0; y < height; y++) {
        if (y > 0 && down.from[y] === down.from[y - 1] && down.to[y] === down.to[y - 1]) {
            pixels.copyWithin(y * width, (y - 1) * width, y * width);
            continue;
        }
        const row = largestRow(map.scale, down.from[y], down.to[y]);
        for (let x = 0; x < width; x++) {
            const value = standsOut(m, values, down.from[y], down.to[y], across.from[x], across.to[x]);
            pixels[y * width + x] = table[colorIndex(map.scale, value, row)];
        }
    }
    c.putImageData(image, Math.round(map.gutterLeft * density), Math.round(map.gutterTop * density));
}

/* Rows and columns of which something can be seen, as [first, last]. */
const span = (start, room, size, count) =>
    [Math.max(0, Math.floor(start / size)), Math.min(count - 1, Math.ceil((start + room) / size) - 1)];
const columnsSeen = map => span(map.left, map.plotWidth, map.cellWidth, map.matrix.columns);
const rowsSeen = map => span(map.top, map.plotHeight, map.cellHeight, map.matrix.rows);
const xOf = (map, column) => map.gutterLeft + column * map.cellWidth - map.left;
const yOf = (map, row) => map.gutterTop + row * map.cellHeight - map.top;

/* Between cells that are large enough for it; finer ones are told apart by their colors alone. */
function paintGrid(map, c, colors) {
    if (map.cellHeight < GRID || map.cellWidth < GRID)
        return;
    const [firstRow, lastRow] = rowsSeen(map), [firstColumn, lastColumn] = columnsSeen(map);
    c.fillStyle = colors.surface;
    c.globalAlpha = 0.55;
    for (let row = Math.max(1, firstRow); row <= lastRow; row++)
        c.fillRect(map.gutterLeft, yOf(map, row) - 0.5, map.plotWidth, 1);
    for (let column = Math.max(1, firstColumn); column <= lastColumn; column++)
        c.fillRect(xOf(map, column) - 0.5, map.gutterTop, 1, map.plotHeight);
    c.globalAlpha = 1;
}

const insidePlot = (map, c) => {
    c.save();
    c.beginPath();
    c.rect(map.gutterLeft, map.gutterTop, map.plotWidth, map.plotHeight);
    c.clip();
};

/* A number in the five letters that fit into a cell, or nearly. */
function brief(x) {
    const size = Math.abs(x);
    if (!Number.isFinite(x) || x === 0)
        return show(x);
    if (size < 5e-4 || size >= 1e4)
        return x.toExponential(0);
    return x.toFixed(size < 0.1 ? 3 : size < 100 ? 2 : 0);
}

function paintNumbers(map, c) {
    if (map.cellWidth < 44 || map.cellHeight < 16)
        return;
    const [firstRow, lastRow] = rowsSeen(map), [firstColumn, lastColumn] = columnsSeen(map);
    const table = tableFor(map.scale.kind).colors;
    insidePlot(map, c);
    c.font = NUMBER_FONT;
    c.textAlign = "center";
    c.textBaseline = "middle";
    for (let row = firstRow; row <= lastRow; row++) {
        for (let column = firstColumn; column <= lastColumn; column++) {
            const x = map.valueAt(row, column);
            c.fillStyle = isDark(table[colorIndex(map.scale, x, row)]) ? "#fff" : "#1c1a17";
            c.fillText(x === -Infinity ? map.matrix.masked ?? show(x) : brief(x), xOf(map, column) + map.cellWidth / 2,
                yOf(map, row) + map.cellHeight / 2, map.cellWidth - 2);
        }
    }
    c.restore();
}

/* Every how many rows or columns of `size` pixels a label of `room` pixels can stand: 1, 2, 5, 10, 20, ... */
function everyNth(size, room) {
    for (let tens = 1; ; tens *= 10) {
        for (const step of [1, 2, 5]) {
            if (step * tens * size >= room)
                return step * tens;
        }
    }
}

/* Text cut to `room` pixels. */
function cut(c, text, room) {
    if (c.measureText(text).width <= room)
        return text;
    const letters = [...text];
    while (letters.length > 1 && c.measureText(letters.join("") + "…").width > room)
        letters.pop();
    return letters.join("") + "…";
}

function paintRowNames(map, c, colors) {
    const names = map.matrix.rowNames, ids = map.matrix.rowIds, nth = everyNth(map.cellHeight, 13), [first, last] = rowsSeen(map);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (let row = first; row <= last; row++) {
        const chosen = map.cursor && map.cursor.row === row, y = yOf(map, row) + map.cellHeight / 2;
        if ((row % nth && !chosen) || y < map.gutterTop || y > map.gutterTop + map.plotHeight)
            continue;
        c.fillStyle = chosen ? colors.ink : colors.soft;
        c.font = names ? LABEL_FONT : NUMBER_FONT;
        if (!chosen && map.cursor && nth > 1 && Math.abs(row - map.cursor.row) * map.cellHeight < 13)
            continue;
        c.fillText(cut(c, names ? nameOf(names, row) : String(ids ? ids[row] : row), map.gutterLeft - 8), map.gutterLeft - 6, y);
    }
}

function paintColumnNames(map, c, colors) {
    const names = map.matrix.columnNames, [first, last] = columnsSeen(map), ids = map.matrix.columnIds;
    const room = !names ? 8 + 8 * String(map.matrix.columns).length : map.upright ? 14 : 1;
    const nth = everyNth(map.cellWidth, room);
    for (let column = first; column <= last; column++) {
        const chosen = map.cursor && map.cursor.column === column, x = xOf(map, column) + map.cellWidth / 2;
        if ((column % nth && !chosen) || x < map.gutterLeft - 1 || x > map.gutterLeft + map.plotWidth + 1)
            continue;
        if (!chosen && map.cursor && nth > 1 && Math.abs(column - map.cursor.column) * map.cellWidth < room)
            continue;
        c.fillStyle = chosen ? colors.ink : colors.soft;
        c.font = names ? LABEL_FONT : NUMBER_FONT;
        paintColumnName(map, c, x, names ? nameOf(names, column) : String(ids ? ids[column] : column));
    }
}

function paintColumnName(map, c, x, text) {
    c.save();
    c.translate(x, map.gutterTop - 6);
    if (map.upright)
        c.rotate(-Math.PI / 2);
    c.textAlign = map.upright ? "left" : "center";
    c.textBaseline = map.upright ? "middle" : "alphabetic";
    c.fillText(map.matrix.columnNames ? cut(c, text, map.upright ? map.gutterTop - 8 : map.cellWidth + 8) : text, 0, 0);
    c.restore();
}

/* A cell stands out. */
function paintFrame(map, c, cell, outer, inner) {
    const x = xOf(map, cell.column), y = yOf(map, cell.row);
    const wide = Math.max(map.cellWidth, 3), high = Math.max(map.cellHeight, 3);
    insidePlot(map, c);
    c.lineWidth = 2;
    c.strokeStyle = outer;
    c.strokeRect(x - 1, y - 1, wide + 2, high + 2);
    c.strokeStyle = inner;
    c.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), Math.max(1, high - 2));
    c.restore();
}
