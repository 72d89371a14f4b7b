/* diagram.js: the model drawn from the steps that ran: stacks from bottom to top as in the book, one block of each
 * stack open, the shape that each part made beside its arrow. Boxes are buttons that choose their part. */
const BOX = 172, HIGH = 34, GAP = 27, TIGHT = 14, COLUMN = 246, MIDDLE = 98;
const opened = {}; /* stack -> its open block */

const shapeText = step => step.shape.slice(step.shape[0] === 1 && step.shape.length > 1 ? 1 : 0).join(" × ");
const lastForward = part => part.steps.filter(step => !step.gradient).pop();

function stacksOf(parts) {
    const stacks = new Map();
    parts.forEach((part, index) => {
        if (!lastForward(part))
            return;
        if (!stacks.has(part.stack))
            stacks.set(part.stack, []);
        stacks.get(part.stack).push({ part, index });
    });
    return stacks;
}

/* Items of a stack from the bottom up: parts of their own, blocks that are closed, and the open block's parts. */
function itemsOf(stack, entries) {
    const items = [], blocks = [...new Set(entries.map(e => e.part.block).filter(b => b !== null))];
    if (!blocks.includes(opened[stack]))
        opened[stack] = blocks[0];
    for (const entry of entries) {
        const block = entry.part.block;
        if (block === null || block === opened[stack])
            items.push({ ...entry, block });
        else if (!items.some(item => item.closed && item.block === block))
            items.push({ ...entry, block, closed: true, entries: entries.filter(e => e.part.block === block) });
    }
    return items;
}

/* The step that an item hands on. */
const lastOf = item => lastForward(item.closed ? item.entries[item.entries.length - 1].part : item.part);
const itemHeight = item => item.closed ? HIGH - 4 : kindOf(item.part) === "attention" ? HIGH + 14 : HIGH;

/* y of each box, from 0 at the bottom downwards to negative numbers; the open block's frame needs room of its own. */
function layOut(items) {
    let y = -34;
    items.forEach((item, i) => {
        const before = items[i - 1], edge = before && before.block !== item.block && (!item.closed || !before.closed);
        y -= before && before.closed && item.closed ? TIGHT : GAP + (edge ? 10 : 0);
        item.bottom = y;
        item.top = y -= itemHeight(item);
    });
    return -y + 64;
}

function buildDiagram() {
    const stacks = stacksOf(parts), place = byId("diagram");
    place.parentNode.classList.toggle("narrow", stacks.size < 2);
    watch(what => {
        if ("part" in what)
            drawDiagram(stacks, place);
    });
    place.addEventListener("keydown", event => {
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            event.target.dispatchEvent(new Event("click", { bubbles: true }));
        }
    });
    roving(place, ".box");
    hintScroll(place);
    drawDiagram(stacks, place);
}

function drawDiagram(stacks, place) {
    const chosen = parts[state.part], hadFocus = place.contains(document.activeElement);
    if (chosen && chosen.block !== null)
        opened[chosen.stack] = chosen.block;
    const laid = [...stacks].map(([stack, entries]) => ({ stack, items: itemsOf(stack, entries) }));
    const height = Math.max(...laid.map(one => layOut(one.items)));
    const picture = draw("svg", { viewBox: `0 ${-height} ${COLUMN * laid.length} ${height + 4}`, role: "group",
        "aria-label": t("diagram.label"), style: `max-width:${COLUMN * laid.length}px` });
    laid.forEach((one, i) => drawStack(picture, one, i * COLUMN));
    if (laid.length > 1)
        drawCross(picture, laid);
    place.replaceChildren(picture);
    const box = picture.querySelector('[aria-pressed="true"]');
    stopAt(place, ".box", box);
    if (hadFocus && box)
        box.focus({ preventScroll: true });
}

function drawStack(picture, { stack, items }, x) {
    const center = x + MIDDLE, sequence = stack === "encoder" ? "source" : continued, count = words(sequence).length;
    drawFrame(picture, items.filter(item => item.block !== null && !item.closed), x);
    picture.append(draw("text", { x: center, y: -14 }, t("diagram.tokens", { sequence: t(`sequence.${sequence}`), count })));
    let from = -28, around = null;
    items.forEach((item, i) => {
        const before = items[i - 1];
        const tight = !before || (before.closed && item.closed);
        arrow(picture, center, from, item.bottom, tight ? "" : shapeText(lastOf(before)));
        if (!item.closed && item.part.block !== null)
            around = drawAround(picture, item, item.bottom + 22, around, x);
        drawBox(picture, item, x);
        from = item.top;
    });
    const last = items[items.length - 1];
    arrow(picture, center, from, from - 20, shapeText(lastOf(last)));
    picture.append(draw("text", { class: "stack-title", x: center, y: from - 28 }, t(STACKS[stack] || "diagram.model")));
}

function drawFrame(picture, items, x) {
    if (items.length === 0)
        return;
    const top = items[items.length - 1].top - 10, bottom = items[0].bottom + 29;
    picture.append(draw("rect", { class: "frame", x: x + 2, y: top, width: BOX + 52, height: bottom - top, rx: 12 }),
        draw("text", { class: "small", x: x + 10, y: bottom - 9, style: "text-anchor:start" },
            t("attention.block", { block: items[0].block })));
}

function arrow(picture, x, from, to, shape) {
    picture.append(draw("path", { class: "flow", d: `M${x} ${from}V${to + 5}` }),
        draw("path", { class: "flow-end", d: `M${x} ${to}l-3.6 7h7.2z` }));
    if (shape)
        picture.append(draw("text", { class: "shape", x: x + 9, y: Math.min((from + to) / 2 + 4, to + 17) }, shape));
}

/* The way round a sublayer: from below its first box to the side of the box that adds. */
function drawAround(picture, item, below, around, x) {
    const start = around ?? below;
    if (!ends(item.part, "sum"))
        return start;
    const right = x + 12 + BOX, y = (item.top + item.bottom) / 2;
    const way = `M${x + MIDDLE} ${start}H${right + 17}q10 0 10 -10V${y + 10}q0 -10 -10 -10H${right + 6}`;
    picture.append(draw("path", { class: "flow", d: way }),
        draw("path", { class: "flow-end", d: `M${right} ${y}l7 -3.6v7.2z` }));
    return null;
}

function drawBox(picture, item, x) {
    const open = !item.closed, step = lastForward(item.part), y = item.top, high = itemHeight(item);
    const attends = open && kindOf(item.part) === "attention" && item.part.steps.find(s => /weights$/.test(s.name));
    const label = open ? `${longTitleOf(item.part)}, ${shapeText(step)}` :
        t("diagram.open", { block: blockName(item.part) });
    const box = draw("g", { class: `box ${open ? kindOf(item.part) : "closed"}`, role: "button", tabindex: "-1",
        "aria-label": label, "aria-pressed": open && item.index === state.part, onclick: () => choosePart(item.index) },
    draw("rect", { x: x + 12, y, width: BOX, height: high, rx: 8 }),
    draw("text", { x: x + MIDDLE, y: y + (attends ? 19 : high / 2 + 4.5) },
        open ? titleText(item.part) : t("diagram.block", { block: item.block })));
    if (attends) {
        const [, count, rows, columns] = attends.shape;
        box.append(draw("text", { class: "small", x: x + MIDDLE, y: y + 36 },
            t(count === 1 ? "diagram.heads.one" : "diagram.heads", { count, rows, columns })));
    }
    picture.append(box);
}

/* What the encoder made goes into each block of the decoder: a line between the stacks, with an arrow to each. */
function drawCross(picture, laid) {
    const [encoder, decoder] = laid, x = COLUMN - 16, top = encoder.items[encoder.items.length - 1].top - 33;
    const into = decoder.items.filter(item => item.closed || item.part.module === "cross_attention");
    if (into.length === 0)
        return;
    const ys = into.map(item => (item.top + item.bottom) / 2);
    picture.append(draw("path", { class: "flow",
        d: `M${MIDDLE + 58} ${top}H${x}M${x} ${Math.max(top, ...ys)}V${Math.min(top, ...ys)}` }));
    ys.forEach(y => picture.append(draw("path", { class: "flow", d: `M${x} ${y}H${COLUMN + 6}` }),
        draw("path", { class: "flow-end", d: `M${COLUMN + 12} ${y}l-7 -3.6v7.2z` })));
}
