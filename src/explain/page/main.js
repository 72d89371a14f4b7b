/* main.js: the head of the page and its language; then everything is built, in the order of the page, and once more
 * when the reader chooses the other language. The last of the files that CMake joins: each of them may use what those before
 * it define. */
/* What is painted, not styled. */
function redrawInTheme() {
    if (attentions.length > 0 && state.kind)
        buildHeads();
    for (const map of maps) {
        if (map.node.isConnected)
            map.redraw();
        else
            maps.delete(map);
    }
}

function buildHead() {
    followTheme(redrawInTheme);
    byId("language").addEventListener("click", () => setLanguage(language === "en" ? "zh" : "en"));
    listenToWalk();
    const said = data.text ?? textOf(translation ? "source" : "text"), answer = data.target ?? data.output ?? "";
    const next = translation ? headline(answer) : visible(answer);
    byId("title").append(make("bdi", {}, headline(said)), make("span", { class: "arrow" }, " → "),
        make("bdi", { class: "answer" }, next));
    byId("title").classList.toggle("long", byId("title").textContent.length > HEADLINE);
    document.title = `${headline(said)} → ${next} · rapt explain`;
    showWhole(said, translation ? answer : "");
}

function buildFacts() {
    const model = data.model;
    const facts = { [translation ? "translation" : "language_model"]: shortPath(model.path), blocks: model.layers,
        heads: model.heads, width: model.d_model, parameters: model.parameters?.toLocaleString("en"),
        loss: data.loss === undefined ? undefined : show(data.loss) };
    byId("facts").replaceChildren(...Object.entries(facts).filter(([, value]) => value !== undefined)
        .map(([name, value]) => make("span", {}, t(`fact.${name}`), " ", make("b", {}, String(value)))));
    const off = data.heads_off ?? [];
    byId("heads-off").hidden = off.length === 0;
    byId("heads-off").replaceChildren(...off.length ? pieces("page.heads_off",
        { names: make("b", {}, off.join(language === "zh" ? "、" : ", ")) }) : []);
    byId("footer").replaceChildren(...pieces("page.footer", { command: make("code", {}, "rapt explain --html") }));
}

/* The first words of a text, in one line. */
const HEADLINE = 60;

function headline(text) {
    const line = text.replace(/\s+/g, " ").trim(), letters = [...line];
    if (letters.length <= HEADLINE)
        return line;
    const cut = letters.slice(0, HEADLINE).join(""), blank = cut.lastIndexOf(" ");
    return (blank > HEADLINE / 2 ? cut.slice(0, blank) : cut) + "…";
}

/* What the headline leaves out, as it came; a long text of a language model stands below as it is. */
function showWhole(...texts) {
    const cut = translation || !isLong("text") ? texts.filter(text => headline(text) !== text.trim()) : [];
    byId("whole").hidden = cut.length === 0;
    byId("whole").append(...cut.map(text => make("p", { dir: "auto" }, text)));
    hintScroll(byId("whole"));
}

/* A model is called by its folder. */
const shortPath = path => path.replace(/\/+$/, "").split("/").pop() || path;

/* Where the text itself is not told. Words of a vocabulary need blanks between them; tokens of byte pairs bring their own. */
function textOf(sequence) {
    const tokens = words(sequence).filter(text => !/^<\/?(bos|eos|pad|s)>$/.test(text));
    return tokens.some(text => /\s/.test(text)) ? tokens.join("") : tokens.join(" ");
}

/* ---- all of it ---- */

const frame = byId("page").cloneNode(true); /* as page.html has it */

function buildPage() {
    translateFrame();
    byId("language").lang = LANGUAGES[language === "en" ? "zh" : "en"];
    buildFacts();
    byId("page").hidden = false;
    buildTraining();
    buildAttention();
    buildSentence();
    buildHeadLines();
    buildDiagram();
    buildSteps();
    buildLens();
    buildBackward();
    buildChapters();
    buildWalk();
}

/* What the reader chose stays; what is under the pointer does not. */
function setLanguage(name) {
    const top = window.scrollY;
    language = name;
    remember(name);
    if (inAddress())
        location.hash = `lang=${name}`;
    watchers.length = 0;
    chips.clear();
    Object.assign(state, { seen: null, shown: null, blockSeen: null, headSeen: null, lensSeen: null });
    byId("page").replaceWith(frame.cloneNode(true));
    buildPage();
    setTheme(theme(), redrawInTheme);
    window.scrollTo({ top, behavior: "instant" });
}

try {
    buildHead();
    buildPage();
} catch (error) {
    byId("broken").hidden = false;
    byId("broken").textContent = t("page.broken", { reason: error.message });
    throw error;
}
