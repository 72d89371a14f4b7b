/* main.js: what the reader does: choose a model, run, stop, copy, change language and theme, give a key. The last of the files
 * that CMake joins: each of them may use what those before it define. */
/* That a key is needed is a question, and no error yet. */
function showProblem(error) {
    const asks = error?.status === 401, message = asks ? storedKey() ? t("key.wrong") : "" : error?.message ?? "";
    byId("problem").hidden = message === "";
    byId("problem").textContent = message;
    if (error !== null) {
        byId("status").textContent = "";
        byId("problem").scrollIntoView({ block: "nearest" });
    }
    if (asks) {
        byId("key").hidden = false;
        byId("key-text").focus();
    }
}

/* ---- one request at a time ---- */

/* Runs task(signal) and says what becomes of it. */
function work(task) {
    const controller = new AbortController();
    state.working = { controller, done: null };
    showProblem(null);
    showGo();
    byId("status").textContent = t("status.working");
    state.working.done = task(controller.signal).catch(error => {
        if (error.name !== "AbortError")
            showProblem(error);
        else if (isTranslator())
            byId("status").textContent = t("status.stopped");
    }).finally(() => {
        state.working = null;
        showGo();
    });
    return state.working.done;
}

async function stopWork() {
    state.working?.controller.abort();
    await state.working?.done;
}

function runOrStop(event) {
    event.preventDefault();
    if (state.working)
        return void stopWork();
    const text = byId("text").value;
    if (text.trim() === "") {
        showProblem(new ServerError(t("error.empty")));
        return void byId("text").focus();
    }
    work(signal => isTranslator() ? translate(text, signal) : beginCompletion(text, signal));
}

/* ---- what is copied: the result, and the command that gives the same bytes ---- */

function showReplay(line) {
    byId("replay").hidden = !line;
    byId("replay-line").textContent = line ?? "";
}

/* Without a secure connection a browser has no clipboard for pages: the text is selected instead. */
async function copy(text, node) {
    try {
        await navigator.clipboard.writeText(text);
        byId("status").textContent = t("status.copied");
    } catch {
        getSelection().selectAllChildren(node);
        byId("status").textContent = t("status.select");
    }
}

const copyReplay = () => copy(byId("replay-line").textContent, byId("replay-line"));
const copyResult = () => isTranslator() ? copy(byId("result").textContent, byId("result")) : copy(textNow(), byId("completion"));

/* ---- all of it ---- */

function showTexts() {
    translateFrame();
    byId("language").lang = LANGUAGES[language === "en" ? "zh" : "en"];
    setTheme(theme(), () => {});
    const link = path => make("a", { href: path }, make("code", {}, path));
    byId("footer").replaceChildren(...pieces("page.footer", { command: make("code", {}, "rapt serve"), models: link("/v1/models"),
        openapi: link("/openapi.json"), metrics: link("/metrics") }));
    byId("title").textContent ||= "rapt";
    if (state.model)
        showModels();
    if (translated.lines.length > 0 && isTranslator())
        showTranslations();
    else if (byId("completion"))
        showCompletion();
}

function setLanguage(name) {
    language = name;
    remember(name);
    showTexts();
}

async function start() {
    showProblem(null);
    try {
        await loadModels();
        byId("key").hidden = true;
        byId("page").hidden = false;
    } catch (error) {
        showProblem(error);
    }
}

/* What was shown is of another model. */
async function changeModel() {
    const id = byId("model").value;
    await stopWork();
    translated.lines = [];
    byId("output").replaceChildren();
    showResult();
    byId("status").textContent = "";
    showReplay(null);
    showProblem(null);
    chooseModel(id);
}

followTheme(() => {});
showTexts();
byId("language").addEventListener("click", () => setLanguage(language === "en" ? "zh" : "en"));
byId("model").addEventListener("change", changeModel);
byId("ask").addEventListener("submit", runOrStop);
byId("text").addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !state.working)
        byId("ask").requestSubmit();
});
byId("copy").addEventListener("click", copyReplay);
byId("copy-result").addEventListener("click", copyResult);
byId("text").addEventListener("input", showExample);
byId("key").addEventListener("submit", event => {
    event.preventDefault();
    storeKey(byId("key-text").value.trim());
    byId("key-text").value = "";
    start();
});
explains(byId("explain"), () => ({ text: isTranslator() ? linesOf(byId("text").value)[0] ?? "" : byId("text").value }));
start();
