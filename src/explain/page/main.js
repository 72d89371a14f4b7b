/* main.js: the head of the page and its theme; then everything is built, in the order of the page. The last of the
 * files that CMake joins: each of them may use what those before it define. */
function setTheme(name) {
    document.documentElement.dataset.theme = name;
    const button = byId("theme");
    button.setAttribute("aria-pressed", name === "dark");
    button.querySelector(".theme-word").textContent = name === "dark" ? "Light" : "Dark";
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
    const system = matchMedia("(prefers-color-scheme: dark)"), model = data.model, byReader = { chose: false };
    setTheme(system.matches ? "dark" : "light");
    system.addEventListener("change", () => byReader.chose || setTheme(system.matches ? "dark" : "light"));
    byId("theme").addEventListener("click", () => {
        byReader.chose = true;
        setTheme(theme() === "dark" ? "light" : "dark");
    });
    const said = data.text ?? textOf(translation ? "source" : "text"), answer = data.target ?? data.output ?? "";
    const next = translation ? headline(answer) : visible(answer);
    byId("title").append(make("bdi", {}, headline(said)), make("span", { class: "arrow" }, " → "),
        make("bdi", { class: "answer" }, next));
    byId("title").classList.toggle("long", byId("title").textContent.length > HEADLINE);
    document.title = `${headline(said)} → ${next} · rapt explain`;
    showWhole(said, translation ? answer : "");
    const facts = { [translation ? "translation model" : "language model"]: shortPath(model.path), blocks: model.layers,
        heads: model.heads, width: model.d_model, parameters: model.parameters?.toLocaleString("en"),
        loss: data.loss === undefined ? undefined : show(data.loss) };
    for (const [name, value] of Object.entries(facts).filter(([, value]) => value !== undefined))
        byId("facts").append(make("span", {}, name, " ", make("b", {}, String(value))));
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

try {
    buildHead();
    byId("page").hidden = false;
    buildAttention();
    buildSentence();
    buildDiagram();
    buildSteps();
    buildBackward();
} catch (error) {
    byId("broken").hidden = false;
    byId("broken").textContent = `This page could not be drawn: ${error.message}`;
    throw error;
}
