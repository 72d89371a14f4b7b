/* language.js: which language the page speaks, and its texts (strings*.js) in it. The address says so (#lang=zh), or the reader's
 * last choice, or the browser. */
const LANGUAGES = { en: "en", zh: "zh-CN" };
const CHOICE = "rapt: language";

/* A browser may refuse to remember anything for a file. */
function remembered() {
    try {
        return localStorage.getItem(CHOICE);
    } catch {
        return null;
    }
}

function remember(name) {
    try {
        localStorage.setItem(CHOICE, name);
    } catch {
        /* the page then speaks the browser's language when it is opened again */
    }
}

const inAddress = () => /^#(?:.*&)?lang=(en|zh)\b/.exec(location.hash)?.[1];

function firstLanguage() {
    const chosen = inAddress() ?? remembered();
    return chosen in LANGUAGES ? chosen : /^zh\b/i.test(navigator.language) ? "zh" : "en";
}

let language = firstLanguage();

const has = key => Object.hasOwn(STRINGS, key);
const textFor = key => [STRINGS[key][language === "zh" ? 1 : 0]].flat().join("");

/* The text of a key, with `values` in their places. */
const t = (key, values = {}) => textFor(key).replace(/\{(\w+)\}/g, (_, name) => values[name]);

/* The same as a list of texts and nodes, where values are nodes. */
const pieces = (key, values) => textFor(key).split(/\{(\w+)\}/).map((piece, i) => i % 2 ? values[piece] : piece);

/* The texts that stand in page.html. */
function translateFrame() {
    document.documentElement.lang = LANGUAGES[language];
    for (const node of document.querySelectorAll("[data-t]"))
        node.textContent = t(node.dataset.t);
    for (const name of ["aria-label", "placeholder", "title"]) {
        for (const node of document.querySelectorAll(`[data-t-${name}]`))
            node.setAttribute(name, t(node.getAttribute(`data-t-${name}`)));
    }
}
