/* next.js: what may come next after the chosen token of the translation, at a temperature and among the k most probable tokens,
 * and translations drawn so. */
const TOP = [0, 50, 20, 10, 5, 2]; /* of the slider for top-k; 0: all */
const BARS = 6, DRAWS = 3;

function slider(name, attributes, value, changed, word) {
    const output = make("output", { for: `slider-${name}` }, word(value));
    const moved = () => {
        output.textContent = word(Number(input.value));
        input.setAttribute("aria-valuetext", output.textContent);
        changed(Number(input.value));
    };
    const input = make("input", { type: "range", id: `slider-${name}`, value, ...attributes, "aria-valuetext": word(value),
        oninput: moved });
    return make("p", {}, make("label", { for: `slider-${name}` }, t(`next.${name}`)), input, output);
}

function buildNext() {
    byId("sliders").replaceChildren(
        slider("temperature", { min: 0.1, max: 2, step: 0.1 }, state.temperature, temperature => change({ temperature }),
            x => x.toFixed(1)),
        slider("top_k", { min: 0, max: TOP.length - 1, step: 1 }, TOP.indexOf(state.topK), i => change({ topK: TOP[i] }),
            i => TOP[i] === 0 ? t("next.all") : String(TOP[i])));
    byId("draw").addEventListener("click", drawTranslations);
}

function showNext() {
    const { next, position, target } = state.look;
    byId("next-lead").replaceChildren(...pieces("next.lead", { token: make("b", {}, visible(target[position])) }));
    byId("bars").replaceChildren(...next.map(([text, probability, whole]) => {
        const fill = make("span", { class: "fill" }), mark = make("span", { class: "mark" }), less = whole !== undefined;
        fill.style.width = `${100 * probability}%`;
        mark.style.left = `${100 * (whole ?? 0)}%`;
        return make("li", {}, make("span", { class: "what", dir: "auto" }, visible(text)),
            make("span", { class: "how-much" }, less ? t("off.both", { less: percent(probability), whole: percent(whole) }) :
                percent(probability)), make("span", { class: "track" }, fill, ...(less ? [mark] : [])));
    }));
    byId("bars-key").hidden = !state.look.whole;
}

async function drawTranslations() {
    state.draws++;
    try {
        const texts = await ask("draw", { text: state.text, temperature: state.temperature, topK: state.topK, count: DRAWS,
            seed: state.draws });
        byId("drawn").replaceChildren(...texts.map(text => make("li", { dir: "auto" }, text)));
    } catch (error) {
        showUnread(error.message);
    }
}
