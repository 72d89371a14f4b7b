/* main.js: the head of the page and its theme; then everything is built, in the order of the page. The last of the
 * files that CMake joins: each of them may use what those before it define. */
function setTheme(name) {
    document.documentElement.dataset.theme = name;
    const button = byId("theme");
    button.setAttribute("aria-pressed", name === "dark");
    button.querySelector(".theme-word").textContent = name === "dark" ? "Light" : "Dark";
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
    byId("title").append(make("bdi", {}, said), make("span", { class: "arrow" }, " → "),
        make("bdi", { class: "answer" }, answer));
    document.title = `${said} → ${answer} · rapt explain`;
    const facts = { [translation ? "translation model" : "language model"]: model.path, blocks: model.layers,
        heads: model.heads, width: model.d_model, parameters: model.parameters?.toLocaleString("en"),
        loss: data.loss === undefined ? undefined : show(data.loss) };
    for (const [name, value] of Object.entries(facts).filter(([, value]) => value !== undefined))
        byId("facts").append(make("span", {}, name, " ", make("b", {}, String(value))));
}

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
