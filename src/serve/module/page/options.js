/* options.js: the options of a request: fields with the defaults of the command line. What is empty is not sent. */
const OPTIONS = {
    translation: [
        { name: "beam", value: 4, min: 1, max: 64, step: 1 },
        { name: "n_best", value: 3, min: 1, max: 64, step: 1 },
    ],
    language_model: [
        { name: "temperature", value: 0.8, min: 0, max: 2, step: 0.1 },
        { name: "top_k", value: 0, min: 0, step: 1 },
        { name: "top_p", value: 1, min: 0, max: 1, step: 0.05 },
        { name: "max_tokens", value: 100, min: 1, step: 1 },
        { name: "seed", value: "", min: 0, max: Number.MAX_SAFE_INTEGER, step: 1 },
    ],
    encoder: [],
    cross_encoder: [],
};
const kept = {}; /* what the reader has entered, by name */

/* A text is at most as long as the model's context. */
const mostOf = ({ name, max }) => name === "max_tokens" ? state.model.context : max;
const firstValue = option => option.value > mostOf(option) ? mostOf(option) : option.value;

function showOptions(task) {
    byId("options").hidden = OPTIONS[task].length === 0;
    byId("options").replaceChildren(...OPTIONS[task].map(option => {
        const { name, min, step } = option;
        const input = make("input", { type: "number", id: `option-${name}`, name, min, max: mostOf(option),
            step: step < 1 ? "any" : step, value: kept[name] ?? firstValue(option),
            placeholder: name === "seed" ? t("options.seed.any") : null, oninput: event => kept[name] = event.target.value });
        return make("label", {}, make("span", {}, t(`options.${name}`)), input);
    }));
}

/* The numbers of a request; an n-best list is at most as long as the beam is wide. */
function optionsNow() {
    const entries = OPTIONS[taskOf(state.model)].map(({ name }) => [name, byId(`option-${name}`).value.trim()]);
    const options = Object.fromEntries(entries.filter(([, text]) => text !== "").map(([name, text]) => [name, Number(text)]));
    if (options.n_best > (options.beam ?? 1))
        options.n_best = options.beam ?? 1;
    if (options.top_k === 0)
        delete options.top_k;
    return options;
}
