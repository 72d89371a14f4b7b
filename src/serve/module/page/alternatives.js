/* alternatives.js: the most probable tokens in the place of the one that is pointed at; choosing one continues from there. */
const shownNow = { token: null };

/* The token that is pointed at, else the one that was chosen, else the last one. */
const lookedAt = () => Math.min(run.seen ?? run.pinned ?? Infinity, run.tokens.length - 1);

function showAlternatives() {
    const position = lookedAt(), token = run.tokens[position], place = byId("next");
    for (const node of byId("completion").querySelectorAll(".looking,[aria-pressed=true]"))
        markToken(node, false, false);
    place.hidden = !token;
    if (!token)
        return;
    for (const at of [position, run.pinned].filter(at => at !== null))
        markToken(tokenNode(at), at === position, at === run.pinned);
    if (shownNow.token === token && place.firstChild)
        return;
    shownNow.token = token;
    const list = make("ol", { class: "bars" }, ...alternativesOf(token).map(one => alternative(one, token, position)));
    roving(list, "button");
    stopAt(list, "button", null);
    list.addEventListener("keydown", event => {
        if (event.key === "Escape")
            tokenNode(position)?.focus();
    });
    place.replaceChildren(make("h3", {}, t("alternatives.title")), make("p", {}, ...pieces("alternatives.lead",
        { token: make("b", {}, quoted(token.name)), position })), list);
}

const tokenNode = position => byId("completion").querySelector(`[data-position="${position}"]`);

function markToken(node, looking, pinned) {
    node?.classList.toggle("looking", looking);
    node?.setAttribute("aria-pressed", pinned);
}

const isSame = (a, b) => Number.isInteger(a.id) && Number.isInteger(b.id) ? a.id === b.id : a.name === b.name;

/* Most probable first, with the token of the text, which may be none of them. */
function alternativesOf(token) {
    const all = [...token.top];
    if (token.logProb !== null && !all.some(one => isSame(one, token)))
        all.push(token);
    return all.sort((a, b) => (b.logProb ?? -Infinity) - (a.logProb ?? -Infinity));
}

function alternative(one, token, position) {
    const probability = probabilityOf(one) ?? 0, chosen = isSame(one, token), text = visible(one.name);
    const fill = make("span", { class: "fill" });
    fill.style.width = `${100 * probability}%`;
    const button = make("button", { type: "button",
        "aria-label": t(chosen ? "alternatives.chosen" : "alternatives.one", { text, probability: show(probability, 3) }),
        onclick: () => replaceToken(position, one, token) },
    make("span", { class: "what" }, make("bdi", {}, text),
        ...(Number.isInteger(one.id) ? [" ", make("small", {}, `id ${one.id}`)] : [])),
    make("span", { class: "how-much" }, probability < 1e-3 ? show(probability, 2) : probability.toFixed(4)),
    make("span", { class: "track" }, fill));
    button.disabled = one.text === "" && !Number.isInteger(one.id); /* nothing says it */
    return make("li", { class: chosen ? "came" : "" }, button);
}

/* What follows is dropped; the alternatives stay in sight, so that another one can be tried. */
async function replaceToken(position, one, token) {
    await stopWork();
    run.tokens.length = position;
    run.tokens.push({ ...one, top: token.top, picked: true });
    run.pinned = position;
    run.seen = null;
    showCompletion();
    tokenNode(position)?.focus({ preventScroll: true });
    work(completeFrom);
}
