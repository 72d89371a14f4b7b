/* proof.js: what rapt needs to make the same model elsewhere, the checksum that it can be compared by, and the page of
 * `rapt explain` of this step. */
function save(name, type, content) {
    const url = URL.createObjectURL(new Blob([content], { type }));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function buildProof() {
    const button = (file, act) => make("button", { type: "button", "data-file": file, onclick: act }, t("proof.save", { file }));
    const pairs = pairsFile(state.options);
    byId("files").replaceChildren(
        button("lesson.yaml", () => save("lesson.yaml", "text/yaml", recipeOf(state.options))),
        button(pairs, () => save(pairs, "text/tab-separated-values", unpacked(`pairs-${state.options.data}`))));
    byId("hash").onclick = () => showSum().catch(error => fail(error.message));
    byId("explain").onclick = () => openExplanation().catch(error => showUnread(error.message));
    showCommand();
}

function showCommand() {
    const { info, module } = state, facts = info && { level: info.level, module: t(`proof.module.${module}`), pairs: info.pairs,
        vocabulary: `${info.source_vocab}, ${info.target_vocab}` };
    byId("command").textContent = commandOf(Math.max(1, state.step));
    byId("hash").disabled = state.step === 0 || state.training;
    byId("hash").title = state.step === 0 ? t("proof.untrained") : "";
    byId("explain").disabled = state.training || !state.look;
    byId("facts").replaceChildren(...Object.entries(facts ?? {}).map(([name, value]) =>
        make("span", {}, t(`proof.fact.${name}`), " ", make("b", {}, String(value)))));
}

function forgetSum() {
    byId("sum-line").hidden = true;
}

async function showSum() {
    const step = state.step, { sha256, size } = await ask("sum");
    if (step !== state.step)
        return;
    byId("sum-of").textContent = t("proof.sum", { step, size });
    byId("sum").textContent = sha256;
    byId("sum-line").hidden = false;
}

/* A browser that lets no page open another gets a file to save. */
async function openExplanation() {
    const html = await ask("page", { text: state.text, target: state.target, name: `step ${state.step}` });
    const url = URL.createObjectURL(new Blob([html], { type: "text/html" }));
    if (!window.open(url, "_blank"))
        save("explanation.html", "text/html", html);
}
