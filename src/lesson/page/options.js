/* options.js: what the reader may choose of a run. The recipe that says the same to rapt: recipe.js. */
const CHOICES = { data: ["fr", "zh"], layers: [1, 2, 3], heads: [1, 2, 4, 8], width: [32, 64, 128],
    rate: [0.001, 0.002, 0.005, 0.01], positions: ["sinusoidal", "learned", "rotary", "none"], dropout: [0, 0.1, 0.3] };
const FIRST_CHOICES = { data: "fr", layers: 1, heads: 4, width: 64, rate: 0.005, positions: "sinusoidal", dropout: 0, seed: 1 };
const MAX_SEED = 999999;

/* A value as the page writes it, or null: it has no word of its own. */
const wordOf = (name, value) => has(`options.${name}.${value}`) ? t(`options.${name}.${value}`) : null;

/* What tells a run from the first choices, for the list of earlier ones. */
function runName(options) {
    const word = (name, value) => wordOf(name, value) ?? `${t(`options.${name}`)} ${value}`;
    const others = Object.keys(FIRST_CHOICES).filter(name => options[name] !== FIRST_CHOICES[name]);
    return others.length ? others.map(name => word(name, options[name])).join(", ") : t(`options.data.${options.data}`);
}

/* `chosen` gets the name and the value. */
function buildOptions(chosen) {
    const place = byId("options"), marks = [];
    for (const [name, values] of Object.entries(CHOICES)) {
        const words = values.map(value => wordOf(name, value) ?? String(value));
        const choice = segments(t(`options.${name}`), values, words, value => chosen(name, value));
        choice.node.dataset.option = name;
        marks.push(() => choice.mark(state.options[name]));
        place.append(choice.node);
    }
    const seed = make("input", { type: "number", id: "seed", min: 0, max: MAX_SEED, step: 1, onchange: () => {
        const value = Math.round(Number(seed.value));
        chosen("seed", Number.isFinite(value) ? Math.max(0, Math.min(MAX_SEED, value)) : FIRST_CHOICES.seed);
    } });
    marks.push(() => { seed.value = state.options.seed; });
    const label = make("label", { for: "seed" }, t("options.seed"));
    place.append(make("span", { class: "choice", "data-option": "seed" }, label, seed));
    const markAll = () => marks.forEach(mark => mark());
    watch(what => "options" in what && markAll());
    markAll();
}
