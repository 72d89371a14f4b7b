/* history.js: how the model's translation of the sentence has changed with the steps. */
const HISTORY = 7;
const past = { key: null, entries: [] }; /* { step, translation }, the newest first */

function showHistory() {
    byId("history").replaceChildren(...past.entries.map(({ step, translation }) => make("li", {},
        make("span", { class: "history-step" }, t("history.step", { step })),
        make("span", { dir: "auto" }, translation || "–"))));
}

/* Another run or another sentence begins anew; a text that the decoder was given is no translation. */
function keepTranslation({ given, translation }) {
    const key = JSON.stringify([state.run, state.text, state.off]);
    if (past.key !== key)
        Object.assign(past, { key, entries: [] });
    if (!given && past.entries[0]?.translation !== translation)
        past.entries = [{ step: state.step, translation }, ...past.entries].slice(0, HISTORY);
    showHistory();
}
