/* models.js: the models of the server, the one that is chosen, and what is known of it. */
const TASKS = ["translation", "language_model", "encoder", "cross_encoder"];
const state = { models: [], model: null, working: null /* AbortController of the request that runs */ };

const taskOf = model => TASKS.includes(model.task) ? model.task : "language_model";
const isTranslator = () => state.model && taskOf(state.model) === "translation";

async function loadModels() {
    const { json } = await requestJson("/v1/models"), before = state.model?.id;
    state.models = (json.data ?? []).filter(model => typeof model.id === "string");
    if (state.models.length === 0)
        throw new ServerError(t("error.models"));
    chooseModel(before);
}

/* The one of this name, or the first. */
function chooseModel(id) {
    state.model = state.models.find(model => model.id === id) ?? state.models[0];
    showModels();
}

function showModels() {
    const groups = TASKS.map(task => [task, state.models.filter(model => taskOf(model) === task)]);
    byId("model").replaceChildren(...groups.filter(([, models]) => models.length > 0).map(([task, models]) =>
        make("optgroup", { label: t(`model.group.${task}`) },
            ...models.map(model => make("option", { value: model.id }, model.id)))));
    byId("model").value = state.model.id;
    showModel();
}

/* A code such as "en" or "eng_Latn" as browsers know it. */
const tagOf = code => (code ?? "").replace("_", "-");

/* Its name; the code where the browser knows none. */
function languageName(code) {
    try {
        return new Intl.DisplayNames([LANGUAGES[language]], { type: "language" }).of(tagOf(code));
    } catch {
        return code;
    }
}

function titleOf(model) {
    const { source, target } = model, task = taskOf(model);
    if (task !== "translation" || !source || !target)
        return t(`title.${task}`);
    return t("title.languages", { source: languageName(source), target: languageName(target) });
}

function showModel() {
    const model = state.model, task = taskOf(model);
    const facts = { context: model.context, number_format: model.number_format, fingerprint: model.fingerprint };
    byId("title").textContent = titleOf(model);
    document.title = `${titleOf(model)} · ${model.id} · rapt serve`;
    byId("facts").replaceChildren(...Object.entries(facts).filter(([, value]) => value !== undefined && value !== null)
        .map(([name, value]) => make("span", {}, t(`fact.${name}`), " ", make("b", {}, String(value)))));
    byId("text-label").textContent = t(task === "translation" ? "text.translation" : "text.language_model");
    byId("text").lang = task === "translation" ? tagOf(model.source) : "";
    byId("entry").hidden = task === "encoder" || task === "cross_encoder";
    byId("embeds").hidden = task !== "encoder";
    byId("scores").hidden = task !== "cross_encoder";
    byId("made").hidden = task !== "translation";
    byId("entry").classList.toggle("pairs", task === "translation");
    showExample();
    showResult();
    showOptions(task);
    showGo();
}

/* While there is no text. */
function showExample() {
    const example = isTranslator() ? exampleFrom(state.model.source) : PROMPT, line = byId("example");
    line.hidden = example === "" || byId("text").value !== "";
    line.replaceChildren(...pieces("example", { example: make("button", { type: "button", dir: "auto",
        lang: byId("text").lang || "en", onclick: () => {
            byId("text").value = example;
            showExample();
            byId("ask").requestSubmit();
        } }, example) }));
}

/* The button that begins, and then stops. */
function showGo() {
    const go = byId("go");
    go.textContent = t(state.working ? "go.stop" : isTranslator() ? "go.translation" : "go.language_model");
    go.classList.toggle("stop", state.working !== null);
}
