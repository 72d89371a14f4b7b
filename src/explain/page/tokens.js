/* tokens.js: what the pages of rapt explain and rapt serve do with rows of tokens: numbers, tints, curves. No data here. */

const LONG = 40; /* tokens that stand as words beside each other; more of them are a text */

/* Parts of a hundred, short and with their size: "31%", "3.1%", "0.3%". */
function percent(x) {
    const part = 100 * x;
    return part >= 9.95 ? `${part.toFixed(0)}%` : part >= 0.05 ? `${part.toFixed(1)}%` : part > 0 ? "<0.1%" : "0%";
}

/* As it stands in a text: blanks stay blanks. */
const inText = text => /^ +/.test(text) && !/[\n\r\t]/.test(text) ? text : visible(text);

/* The full tint of look.css is one that the ink can be read on: so all tokens of a text have the same ink. */
function paintChip(button, share, tint, number) {
    const mixed = `color-mix(in srgb, var(${tint}) ${Math.round(100 * share)}%, var(--sunk))`;
    button.style.backgroundColor = share > 0 ? mixed : "";
    button.lastChild.textContent = number;
}

const onOneLine = buttons => buttons.every(button => button.offsetTop === buttons[0].offsetTop);

/* From a token to one that it attended to, as wide as the weight: between rows above each other, or (`own`) below one row. */
function curve(from, to, origin, weight, { own = false, second = false } = {}) {
    const x = from.left + from.width / 2 - origin.left, tx = to.left + to.width / 2 - origin.left;
    const y = (own ? from.bottom : from.top) - origin.top, ty = to.bottom - origin.top;
    const middle = own ? y + 10 + Math.min(22, Math.abs(x - tx) / 9) : (y + ty) / 2;
    return draw("path", { d: `M${x} ${y}C${x} ${middle} ${tx} ${middle} ${tx} ${ty}`, class: second ? "second" : "",
        "stroke-width": (1 + 5 * weight).toFixed(2), "stroke-opacity": (0.15 + 0.75 * weight).toFixed(2) });
}

/* `middle`: what its middle stands for, where it does not grow evenly. */
function ramp(low, high, second, middle) {
    const bar = make("i", { class: second ? "second" : "" }), marks = middle === undefined ? [] : [make("small", {}, middle)];
    return make("span", { class: "ramp" }, low, make("span", { class: "bar" }, bar, ...marks), high);
}
