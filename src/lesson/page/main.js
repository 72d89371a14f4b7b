/* main.js: the run: begins, pauses, continues; what is shown of it; the page's frame and language. The last file: each may use
 * what those before it define. */
const state = { options: { ...FIRST_CHOICES }, text: EXAMPLES.fr[0], target: "", temperature: 1, topK: 0, draws: 0,
    kind: "decoder.cross_attention", block: 0, head: -1, pinned: { row: "reads", position: 1 }, seen: null, look: null,
    off: [], run: 0, step: 0, training: false, resumes: false, over: false, ready: false, said: null, took: null,
    info: null, module: null };

/* ---- what is said ---- */

function say(key, values = {}) {
    state.said = { key, values };
    byId("state").textContent = t(key, values);
}

function fail(reason) {
    state.training = state.resumes = false;
    byId("broken").hidden = false;
    byId("broken").textContent = t("page.broken", { reason });
    showPlayer();
}

function showUnread(reason) {
    byId("unread").hidden = false;
    byId("unread").textContent = t("sentence.unread", { reason });
}

function figure(name, value) {
    return make("div", {}, make("dt", {}, t(`player.${name}`)), make("dd", { "data-figure": name }, value));
}

function showPlayer() {
    const last = lastPoint(), steps = state.info?.steps ?? 0, key = byId("train");
    key.firstElementChild.textContent = state.training ? "❚❚" : "▶";
    key.lastElementChild.textContent = t(state.training ? "player.pause" : "player.train");
    key.disabled = !state.ready || state.over;
    byId("once").disabled = !state.ready || state.over || state.training;
    byId("anew").disabled = !state.ready || state.step === 0;
    byId("figures").replaceChildren(
        figure("step", t("player.of", { step: state.step, steps })), figure("loss", show(last?.smooth, 3)),
        figure("val_loss", show(last?.val_loss ?? null, 3)), figure("speed", state.took === null ? "–" : show(state.took, 3)));
    byId("done").style.width = `${steps ? 100 * state.step / steps : 0}%`;
}

/* ---- the run ---- */

async function begin() {
    const options = state.options;
    state.resumes ||= state.training;
    Object.assign(state, { training: false, over: false, ready: false, step: 0, took: null, off: [] });
    showOff();
    const info = await ask("start", { recipe: recipeOf(options) });
    if (options !== state.options) /* the reader has chosen again meanwhile: that run resumes what this one would */
        return;
    Object.assign(state, { info, run: info.run, ready: true });
    beginRun(runName(options), Math.log(info.target_vocab), info.steps);
    drawEarlier();
    forgetSum();
    say("player.ready", { parameters: info.parameters.toLocaleString("en") });
    await look();
    if (options !== state.options)
        return;
    if (state.resumes)
        setTraining(true);
    state.resumes = false;
    showPlayer();
    buildProof();
}

function choose(name, value) {
    change({ options: { ...state.options, [name]: value } });
    if (name === "data")
        change({ text: EXAMPLES[value][0], target: "" });
    byId("text").value = state.text;
    byId("target").value = state.target;
    begin().catch(error => fail(error.message));
}

function setTraining(training) {
    state.training = training;
    forgetSum();
    if (training)
        say("player.runs");
    ask(training ? "train" : "pause").catch(error => fail(error.message));
    showPlayer();
    showCommand();
}

function heard(message) {
    if (message.event === "failed")
        return fail(message.reason);
    if (message.run !== state.run)
        return;
    const { points, state: now } = message;
    if (points.length) {
        const took = points.map(point => point.took).sort((a, b) => a - b);
        state.took = took[took.length >> 1];
        state.step = points[points.length - 1].step;
        addPoints(points);
        forgetSum();
    }
    if (now) {
        Object.assign(state, { training: false, over: now === "over" });
        say(`player.${now}`, { step: state.step, loss: show(lastPoint()?.smooth, 3) });
    }
    showLook(message.look, message.unread);
    showPlayer();
    showCommand();
    requestAnimationFrame(() => engine.worker.postMessage({ type: "shown" }));
}

/* ---- the sentence between two steps ---- */

function showLook(look, unread) {
    if (unread)
        showUnread(unread);
    if (!look)
        return;
    state.look = look;
    showSentence();
    showAttention();
    showNext();
    keepTranslation(look);
}

async function look() {
    const token = state.pinned.row === "reads" ? state.pinned.position : 0;
    const watched = { text: state.text, target: state.target, position: token, temperature: state.temperature, topK: state.topK,
        count: BARS, off: state.off };
    try {
        showLook(await ask("watch", { watched }));
    } catch (error) {
        showUnread(error.message);
    }
}

/* ---- the page ---- */

const frame = byId("page").cloneNode(true); /* as page.html has it */

function redrawInTheme() {
    map.heat?.redraw();
    if (state.look)
        showAttention();
}

function buildPage() {
    translateFrame();
    byId("language").lang = LANGUAGES[language === "en" ? "zh" : "en"];
    byId("page").hidden = false;
    byId("train").addEventListener("click", () => setTraining(!state.training));
    byId("once").addEventListener("click", () => ask("step").catch(error => fail(error.message)));
    byId("anew").addEventListener("click", () => {
        state.training = false;
        begin().catch(error => fail(error.message));
    });
    buildOptions(choose);
    buildCurve();
    buildSentence();
    buildAttention();
    buildOff();
    buildNext();
    buildProof();
    watch(what => {
        if (["text", "target", "pinned", "temperature", "topK", "off"].some(name => name in what) && state.ready)
            look();
    });
    showPlayer();
    say(state.said?.key ?? "player.loading", state.said?.values);
    showLook(state.look);
}

/* What the reader chose stays, and training continues. */
function setLanguage(name) {
    const top = window.scrollY;
    language = name;
    remember(name);
    watchers.length = 0;
    maps.clear();
    byId("page").replaceWith(frame.cloneNode(true));
    buildPage();
    setTheme(theme(), redrawInTheme);
    window.scrollTo({ top, behavior: "instant" });
}

async function open() {
    followTheme(redrawInTheme);
    byId("language").addEventListener("click", () => setLanguage(language === "en" ? "zh" : "en"));
    buildPage();
    state.module = await startEngine(heard);
    await begin();
}

open().catch(error => {
    fail(error.message);
    throw error;
});
