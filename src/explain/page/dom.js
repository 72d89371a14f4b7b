/* dom.js: making elements, numbers and formulas as text, groups of buttons that arrow keys move in. No data here. */
const SVG = "http://www.w3.org/2000/svg";

const byId = id => document.getElementById(id);

function dress(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on"))
            node.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined)
            node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
}

const make = (tag, attributes = {}, ...children) => dress(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => dress(document.createElementNS(SVG, tag), attributes, children);

/* A number in about `digits` significant digits; what isn't finite as rapt prints it. */
function show(x, digits = 4) {
    if (typeof x === "string")
        return x;
    if (x === null || x === undefined)
        return "–";
    if (!Number.isFinite(x))
        return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
    if (x === 0)
        return "0";
    const size = Math.abs(x);
    if (size < 1e-4 || size >= 1e7)
        return x.toExponential(digits - 1);
    return x.toFixed(Math.max(0, Math.min(8, digits - 1 - Math.floor(Math.log10(size)))));
}

/* Tokens as readers can see them: blanks at the ends and line ends are drawn. */
function visible(text) {
    if (text === "")
        return "∅";
    return text.replace(/[\n\r\t]/g, sign => ({ "\n": "⏎", "\r": "␍", "\t": "⇥" })[sign])
        .replace(/^ +| +$/g, blanks => "␣".repeat(blanks.length));
}

const quoted = text => `“${visible(text)}”`;

/* "W_q^T" with its letters below and above the line, "sqrt(x)" with the root sign, Greek letters. Only a single letter
 * carries an index: "gelu_tanh" stays as it is. */
const SIGNS = { "sqrt(": "√(", " * ": " · ", gamma: "γ", beta: "β" };

function formula(text) {
    const node = make("span", { class: "formula" });
    for (const piece of text.split(/((?<=\b[A-Za-z])_[A-Za-z0-9]+|\^\w+|sqrt\(| \* |\bgamma\b|\bbeta\b)/)) {
        if (/^[_^]./.test(piece))
            node.append(make(piece[0] === "_" ? "sub" : "sup", {}, piece.slice(1)));
        else
            node.append(SIGNS[piece] || piece);
    }
    return node;
}

const STEP_KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/* One stop of the Tab key for all that `selector` finds in `group`; arrow keys, Home and End move among them, and
 * `moved` hears where they came. Which one the Tab key reaches follows the focus. */
function roving(group, selector, moved = () => {}) {
    group.addEventListener("keydown", event => {
        const by = STEP_KEYS[event.key], all = [...group.querySelectorAll(selector)];
        const at = all.indexOf(document.activeElement);
        if (by === undefined || at < 0 || event.altKey || event.ctrlKey || event.metaKey)
            return;
        event.preventDefault();
        const to = all[Math.max(0, Math.min(all.length - 1, at + by))];
        to.focus();
        moved(to);
    });
    group.addEventListener("focusin", event => {
        const now = event.target.closest(selector);
        for (const one of now ? group.querySelectorAll(selector) : [])
            one.setAttribute("tabindex", one === now ? "0" : "-1");
    });
}

/* The one stop where the focus has not been yet: what is chosen, or else the first. */
function stopAt(group, selector, chosen) {
    const all = [...group.querySelectorAll(selector)], stop = chosen || all[0];
    for (const one of all)
        one.setAttribute("tabindex", one === stop ? "0" : "-1");
}

/* Buttons of which one is chosen: a radio group. `choose` gets the value; mark(value) shows which one holds. */
function segments(title, values, names, choose) {
    const group = make("span", { class: "segments", role: "radiogroup", "aria-label": title });
    values.forEach((value, i) => group.append(make("button",
        { type: "button", role: "radio", "data-value": value, onclick: () => choose(value) }, names[i])));
    roving(group, "button", button => button.click());
    const mark = chosen => {
        let stop = null;
        for (const button of group.children) {
            const holds = button.dataset.value === String(chosen);
            button.setAttribute("aria-checked", holds);
            stop = holds ? button : stop;
        }
        stopAt(group, "button", stop);
    };
    return { node: make("span", { class: "choice" }, make("span", {}, title), group), mark };
}

/* Where a node scrolls, the edges behind which there is more fade out (page.css): a phone shows no bar. */
function hintScroll(node) {
    const edge = (name, more) => node.style.setProperty(name, more > 2 ? "var(--fade)" : "0px");
    const hint = () => {
        edge("--fade-top", node.scrollTop);
        edge("--fade-bottom", node.scrollHeight - node.clientHeight - node.scrollTop);
        edge("--fade-left", node.scrollLeft);
        edge("--fade-right", node.scrollWidth - node.clientWidth - node.scrollLeft);
    };
    node.classList.add("scrolls");
    node.addEventListener("scroll", hint, { passive: true });
    new ResizeObserver(hint).observe(node);
    new MutationObserver(hint).observe(node, { childList: true });
    hint();
}
