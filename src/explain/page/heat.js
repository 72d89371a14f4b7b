/* heat.js: a matrix as a heat map that can be zoomed, moved and read: by wheel, buttons and dragging, or by keys. For all
 * matrices of the page; heat_draw.js paints it. A matrix is { rows, columns, values(), offset, rowNames, columnNames,
 * rowTitle, columnTitle, rowHint(i), columnHint(i), rowIds, columnIds, scale(), told(x, row), masked }: values are asked for
 * when the map comes into sight; rowIds, columnIds: the numbers of rows and columns, where they are not 0, 1, 2, ...;
 * masked: what a cell says that a mask hides. */
const CELL_WIDTH = 54, CELL_HEIGHT = 30; /* at the largest zoom: a number fits into a cell */
const maps = new Set();

const inSight = new IntersectionObserver(entries => {
    for (const entry of entries.filter(e => e.isIntersecting)) {
        inSight.unobserve(entry.target);
        entry.target.heatMap.seen = true;
        entry.target.heatMap.redraw();
    }
}, { rootMargin: "300px" });

const resized = new ResizeObserver(entries => {
    for (const entry of entries)
        entry.target.heatMap.measure();
});

const limit = (x, low, high) => Math.max(low, Math.min(high, x));

class HeatMap {
    /* In pixels: widest, lowest, highest: a cell that is not zoomed; tallest: the whole map. hover: hears of the cell under
     * the pointer, { row, column } or null; hold, if it is given: { act, label, help },
     * what is done when the reader has clicked a cell or let it go (`held`), and what the map says of this. */
    constructor({ label, widest = 30, lowest = 14, highest = 28, tallest = 380, square = false, hover = () => {}, hold = null }) {
        Object.assign(this, { label, widest, lowest, highest, tallest, square, hover, hold, seen: false, cursor: null,
            held: null });
        this.canvas = make("canvas", { tabindex: "0", role: "application", "aria-roledescription": t("map.role") });
        this.readout = make("output", {});
        this.legendPlace = make("span");
        const button = (text, name, onclick) =>
            make("button", { type: "button", "aria-label": name, title: name, onclick }, text);
        this.buttons = [button("+", t("map.in"), () => this.zoomMiddle(1.6)),
            button("−", t("map.out"), () => this.zoomMiddle(1 / 1.6)),
            button(t("map.all"), t("map.all.label"), () => this.fit())];
        const zoom = make("span", { class: "zoom", role: "group", "aria-label": t("map.zoom") }, ...this.buttons);
        this.node = make("figure", { class: "map" }, this.canvas,
            make("div", { class: "tools" }, zoom, this.legendPlace, this.readout));
        this.canvas.heatMap = this;
        this.listen();
    }

    listen() {
        const on = (name, act, options) => this.canvas.addEventListener(name, act.bind(this), options);
        on("pointermove", this.pointerMoved);
        on("pointerdown", this.pointerDown);
        on("pointerup", this.pointerUp);
        on("pointercancel", this.pointerUp);
        on("pointerleave", () => this.drag || this.point(null));
        on("wheel", this.wheel, { passive: false });
        on("keydown", this.key);
        on("focus", () => this.cursor || !this.canvas.matches(":focus-visible") || this.point({ row: 0, column: 0 }));
        on("blur", () => this.point(null));
        inSight.observe(this.canvas);
        resized.observe(this.canvas);
        maps.add(this);
    }

    /* The same size keeps zoom and place, so that heads can be compared. */
    show(matrix) {
        const same = this.matrix && this.matrix.rows === matrix.rows && this.matrix.columns === matrix.columns;
        this.matrix = matrix;
        this.scaleNow = null;
        if (!same) {
            this.zoom = 1;
            this.left = this.top = 0;
            this.cursor = this.held = null;
        }
        this.canvas.setAttribute("aria-label", t("map.label", { label: this.label, rows: matrix.rows, columns: matrix.columns }) +
            (this.hold?.label ?? ""));
        this.measure();
        this.tell();
    }

    /* Room for labels, and the plot's size: from shapes and names alone, so that nothing jumps when numbers arrive. */
    measure() {
        const m = this.matrix, width = this.canvas.clientWidth;
        if (!m || width === 0)
            return;
        const rowRoom = m.rowNames ? widestName(m.rowNames) : 8 * String(m.rowIds ? m.rowIds[m.rows - 1] : m.rows - 1).length;
        this.gutterLeft = limit(rowRoom, 14, Math.min(110, width * 0.3)) + 10;
        const room = Math.max(40, width - this.gutterLeft - 1);
        this.plotWidth = Math.min(room, m.columns * this.widest);
        this.fitWidth = this.plotWidth / m.columns;
        this.upright = m.columnNames && widestName(m.columnNames) > this.fitWidth - 4;
        this.gutterTop = m.columnNames ? (this.upright ? limit(widestName(m.columnNames), 14, 84) + 8 : 22) : 20;
        const height = this.square ? this.fitWidth : limit(this.fitWidth, this.lowest, this.highest);
        this.plotHeight = Math.max(Math.min(m.rows * height, this.tallest), 12);
        this.fitHeight = this.plotHeight / m.rows;
        this.canvas.style.height = Math.ceil(this.gutterTop + this.plotHeight) + "px";
        this.move(0, 0);
        this.redraw();
    }

    get cellWidth() { return Math.max(this.fitWidth, Math.min(this.fitWidth * this.zoom, CELL_WIDTH)); }
    get cellHeight() { return Math.max(this.fitHeight, Math.min(this.fitHeight * this.zoom, CELL_HEIGHT)); }
    get largestZoom() { return Math.max(1, CELL_WIDTH / this.fitWidth, CELL_HEIGHT / this.fitHeight); }
    get scale() { return this.scaleNow || (this.scaleNow = this.matrix.scale()); }

    valueAt(row, column) {
        return this.matrix.values()[this.matrix.offset + row * this.matrix.columns + column];
    }

    redraw() {
        if (!this.seen || !this.matrix || this.waiting)
            return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            if (this.canvas.isConnected && this.canvas.clientWidth > 0)
                paint(this);
        });
    }

    /* ---- zoom and place ---- */

    zoomAt(factor, x, y) {
        const column = (this.left + x) / this.cellWidth, row = (this.top + y) / this.cellHeight;
        this.zoom = limit(this.zoom * factor, 1, this.largestZoom);
        this.left = column * this.cellWidth - x;
        this.top = row * this.cellHeight - y;
        this.move(0, 0);
    }

    zoomMiddle(factor) {
        const c = this.cursor;
        if (c)
            this.zoomAt(factor, (c.column + 0.5) * this.cellWidth - this.left, (c.row + 0.5) * this.cellHeight - this.top);
        else
            this.zoomAt(factor, this.plotWidth / 2, this.plotHeight / 2);
    }

    fit() {
        this.zoom = 1;
        this.move(0, 0);
    }

    move(x, y) {
        this.left = limit(this.left + x, 0, this.cellWidth * this.matrix.columns - this.plotWidth);
        this.top = limit(this.top + y, 0, this.cellHeight * this.matrix.rows - this.plotHeight);
        this.node.classList.toggle("zoomed", this.zoom > 1);
        this.buttons[0].disabled = this.zoom >= this.largestZoom;
        this.buttons[1].disabled = this.buttons[2].disabled = this.zoom <= 1;
        this.redraw();
    }

    /* ---- pointer ---- */

    place(event) {
        const box = this.canvas.getBoundingClientRect();
        return [event.clientX - box.left - this.gutterLeft, event.clientY - box.top - this.gutterTop];
    }

    cellUnder([x, y]) {
        const m = this.matrix;
        if (x < 0 || y < 0 || x >= this.plotWidth || y >= this.plotHeight)
            return null;
        return { row: Math.min(m.rows - 1, Math.floor((this.top + y) / this.cellHeight)),
            column: Math.min(m.columns - 1, Math.floor((this.left + x) / this.cellWidth)) };
    }

    pointerMoved(event) {
        if (this.drag) {
            this.move(this.drag.x - event.clientX, this.drag.y - event.clientY);
            this.drag = { x: event.clientX, y: event.clientY };
        }
        this.point(this.cellUnder(this.place(event)));
    }

    pointerDown(event) {
        this.canvas.focus({ preventScroll: true });
        this.pressed = { x: event.clientX, y: event.clientY };
        if (this.zoom > 1) {
            this.canvas.setPointerCapture(event.pointerId);
            this.drag = { x: event.clientX, y: event.clientY };
            this.node.classList.add("dragging");
        }
        this.point(this.cellUnder(this.place(event)));
    }

    pointerUp(event) {
        this.drag = null;
        this.node.classList.remove("dragging");
        const from = this.pressed, cell = this.cellUnder(this.place(event));
        this.pressed = null;
        if (event.type === "pointerup" && cell && from && Math.hypot(event.clientX - from.x, event.clientY - from.y) < 5)
            this.take(cell);
    }

    /* The cell stays marked until the reader holds another one. */
    take(cell) {
        if (!this.hold)
            return;
        this.held = cell;
        this.tell();
        this.hold.act();
        this.redraw();
    }

    /* Closes what take() opened, from there. */
    release() {
        this.take(null);
        this.canvas.focus({ preventScroll: true });
    }

    /* Only where the reader has clicked into the map, or holds Ctrl: the wheel otherwise moves the page. */
    wheel(event) {
        if (document.activeElement !== this.canvas && !event.ctrlKey && !event.metaKey)
            return;
        event.preventDefault();
        const [x, y] = this.place(event);
        this.zoomAt(Math.exp(-limit(event.deltaY * (event.deltaMode ? 30 : 1), -120, 120) / 300),
            limit(x, 0, this.plotWidth), limit(y, 0, this.plotHeight));
        this.point(this.cellUnder([x, y]));
    }

    /* ---- keys ---- */

    key(event) {
        const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
            Home: [0, -Infinity], End: [0, Infinity], PageUp: [-Infinity, 0], PageDown: [Infinity, 0] }[event.key];
        const act = { "+": () => this.zoomMiddle(1.6), "=": () => this.zoomMiddle(1.6),
            "-": () => this.zoomMiddle(1 / 1.6), 0: () => this.fit(), ...(this.hold && this.cursor ?
                { Enter: () => this.take(this.cursor), " ": () => this.take(this.cursor) } : {}),
            ...(this.held ? { Escape: () => this.take(null) } : {}) }[event.key];
        if ((!by && !act) || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        if (act)
            return act();
        const from = this.cursor || { row: 0, column: 0 }, far = event.shiftKey ? 10 : 1;
        this.point({ row: limit(from.row + by[0] * far, 0, this.matrix.rows - 1),
            column: limit(from.column + by[1] * far, 0, this.matrix.columns - 1) });
        this.follow();
    }

    /* Moves the view to where the cursor is. */
    follow() {
        const x = this.cursor.column * this.cellWidth - this.left, y = this.cursor.row * this.cellHeight - this.top;
        this.move(Math.min(0, x) + Math.max(0, x + this.cellWidth - this.plotWidth),
            Math.min(0, y) + Math.max(0, y + this.cellHeight - this.plotHeight));
    }

    /* ---- the number under the pointer ---- */

    point(cell) {
        const was = this.cursor;
        if (cell === was || (cell && was && cell.row === was.row && cell.column === was.column))
            return;
        this.cursor = cell;
        this.tell();
        this.hover(cell);
        this.redraw();
    }

    /* What is held stays told, so that the panel below does not move away from under a pointer that presses its button. */
    tell() {
        const m = this.matrix, c = this.cursor ?? this.held;
        if (!c) {
            this.readout.replaceChildren(t("map.help"), this.hold?.help ?? "");
            return;
        }
        const where = (title, name, i) => [`${title} ${i}`, ...(name === undefined ? [] :
            [" ", make("span", { class: "name" }, quoted(name))])];
        const row = m.rowIds ? m.rowIds[c.row] : c.row, column = m.columnIds ? m.columnIds[c.column] : c.column;
        const x = m.values() ? this.valueAt(c.row, c.column) : null;
        this.readout.replaceChildren(...where(m.rowTitle, m.rowNames ? m.rowNames[row] : m.rowHint?.(row), row), " · ",
            ...where(m.columnTitle, m.columnNames ? m.columnNames[column] : m.columnHint?.(column), column),
            x === -Infinity && m.masked !== undefined ? t("map.masked") : t("map.value"),
            make("b", {}, x === null ? t("map.missing") : m.told(x, c.row)));
    }
}
