/* completion.js: a prompt is continued: tokens are shown as they come, each tinted by its probability; where one is replaced,
 * what follows is dropped, and the text is continued from there. */
const MOST_LOSS = 5; /* -ln of the probability that has the full tint: 0.7 % */
const TOP = 5;       /* alternatives to ask for */

/* `tokens`: { text, name, id, logProb, top: [{ text, name, id, logProb }] }, in which ids may be unknown; `name` is what the
 * server calls a token, also one whose bytes are no text. */
const run = { prompt: "", promptIds: null, tokens: [], seen: null, pinned: null, end: null, began: 0, seconds: 0, count: 0 };

function beginCompletion(text, signal) {
    Object.assign(run, { prompt: text, promptIds: null, tokens: [], seen: null, pinned: null });
    showCompletion();
    return completeFrom(signal);
}

/* Continues what there is. */
async function completeFrom(signal) {
    Object.assign(run, { end: null, began: performance.now(), count: 0 });
    byId("completion").setAttribute("aria-busy", "true");
    showEnd();
    try {
        const response = await request("/v1/completions", { model: state.model.id, prompt: await promptNow(signal), stream: true,
            logprobs: TOP, ...optionsNow() }, signal);
        showReplay(response.headers.get("X-Rapt-Replay"));
        for await (const event of eventsOf(response)) {
            const choice = event.choices?.[0];
            takePart(choice ?? {});
            run.end = choice?.finish_reason ?? run.end;
        }
        run.end ??= "stop";
    } catch (error) {
        run.end = "stopped";
        throw error;
    } finally {
        run.seconds = (performance.now() - run.began) / 1000;
        byId("completion").setAttribute("aria-busy", "false");
        showEnd();
    }
}

/* The text up to here: as ids where all of them are known, so that its tokens stay those that are shown. */
async function promptNow(signal) {
    if (run.tokens.length === 0)
        return run.prompt;
    if (run.tokens.every(token => Number.isInteger(token.id))) {
        run.promptIds ??= await promptIds(signal);
        if (run.promptIds)
            return [...run.promptIds, ...run.tokens.map(token => token.id)];
    }
    return textNow();
}

async function promptIds(signal) {
    try {
        const { json } = await requestJson("/v1/tokenize", { model: state.model.id, text: run.prompt, special: true }, signal);
        return json.results[0].ids;
    } catch (error) {
        if (error.name === "AbortError")
            throw error;
        return null; /* the text says it, too */
    }
}

const textNow = () => run.prompt + run.tokens.map(token => token.text).join("");

/* A part of the stream has one token, whose text may come later: a character of several tokens comes with the last of them, and
 * what is left in the end without a token. */
function takePart({ text = "", logprobs }) {
    const names = logprobs?.tokens ?? [];
    names.forEach((name, i) => addToken({ text: i === names.length - 1 ? text : "", name, id: logprobs.token_ids?.[i],
        logProb: logprobs.token_logprobs?.[i] ?? null, top: alternativesIn(logprobs, i) }));
    if (names.length === 0 && text !== "")
        addText(text);
}

/* Names are texts, but for "bytes:\xe2" and "token_id:7": those have no text of their own. */
const alternativesIn = ({ top_logprobs, top_token_ids }, i) => Object.entries(top_logprobs?.[i] ?? {}).map(([name, logProb]) =>
    ({ text: /^(bytes:\\x|token_id:\d)/.test(name) ? "" : name, name, logProb, id: top_token_ids?.[i]?.[name] }));

const probabilityOf = token => typeof token.logProb === "number" ? Math.exp(token.logProb) : null;

/* ---- the text ---- */

function showCompletion() {
    const text = make("div", { class: "row running", id: "completion", role: "group", "aria-label": t("text.row"),
        dir: "auto" });
    const link = explains(make("a", { class: "button", target: "_blank", rel: "noopener" }, t("text.explain")),
        () => ({ text: textNow() }));
    const more = make("button", { type: "button", id: "more", onclick: () => work(completeFrom) }, t("text.more"));
    byId("output").replaceChildren(
        make("div", { class: "stage" }, make("div", { class: "words" }, text),
            make("div", { class: "next", id: "next", hidden: "" })),
        make("p", { class: "key" }, make("span", {}, t("text.key"), " ", ramp("100%", "<1%", true)),
            make("span", {}, t("text.how"))),
        make("p", { class: "actions" }, more, link));
    roving(text, ".token");
    pointingAtText(text);
    text.append(make("span", { class: "prompt" }, run.prompt));
    run.tokens.forEach(showToken);
    showEnd();
    showAlternatives();
    byId("copy-result").hidden = false;
}

function addToken(token) {
    const place = byId("completion"), atEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 40;
    run.tokens.push(token);
    run.count++;
    showToken(token, run.tokens.length - 1);
    if (atEnd)
        place.scrollTop = place.scrollHeight;
    showAlternatives();
    if (run.count % 10 === 1) /* it is read aloud */
        byId("status").textContent = t("status.generating", { count: run.count });
}

/* Belongs to the last token. */
function addText(text) {
    const last = run.tokens.pop() ?? { text: "", name: text, logProb: null, top: [] };
    for (let node = tokenNode(run.tokens.length), after; node; node = after) {
        after = node.nextSibling;
        node.remove();
    }
    last.text += text;
    run.tokens.push(last);
    showToken(last, run.tokens.length - 1);
    showAlternatives();
}

/* A token without text is a part of a character whose end is still to come. */
function showToken(token, position) {
    const probability = probabilityOf(token), text = token.text === "" ? "·" : inText(token.text), place = byId("completion");
    const node = make("span", { class: "token", role: "button", tabindex: place.querySelector(".token") ? "-1" : "0",
        "data-position": position, "aria-pressed": "false", "aria-label": t("text.chip", { position,
            text: visible(token.name), probability: show(probability, 3) }) },
    make("span", { class: "text" }, text), make("span", { class: "weight" }));
    node.classList.toggle("picked", token.picked === true);
    paintChip(node, probability === null ? 0 : Math.min(1, -token.logProb / MOST_LOSS), "--second-tint", "");
    place.append(node, ...(token.text.match(/\n/g) ?? []).map(() => make("br")));
}

function showEnd() {
    byId("more").hidden = run.end === null || run.tokens.length === 0;
    if (run.end !== null)
        byId("status").textContent = t(`status.end.${run.end === "length" || run.end === "stop" ? run.end : "stopped"}`,
            { count: run.count, rate: (run.count / run.seconds).toFixed(1) });
}

function pointingAtText(text) {
    const positionOf = node => node.closest?.(".token") ? Number(node.closest(".token").dataset.position) : null;
    const see = seen => {
        run.seen = seen;
        showAlternatives();
    };
    text.addEventListener("pointerover", event => positionOf(event.target) !== null && see(positionOf(event.target)));
    text.addEventListener("pointerleave", () => see(null));
    text.addEventListener("focusin", event => event.target.matches(":focus-visible") && pinToken(positionOf(event.target)));
    text.addEventListener("click", event => positionOf(event.target) !== null && pinToken(positionOf(event.target)));
    text.addEventListener("keydown", event => {
        if (!["Enter", " "].includes(event.key) || positionOf(event.target) === null)
            return;
        event.preventDefault();
        pinToken(positionOf(event.target));
        byId("next").querySelector("button")?.focus();
    });
}

function pinToken(position) {
    run.pinned = position;
    run.seen = null;
    showAlternatives();
}
