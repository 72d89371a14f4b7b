/* walk.js: a walk through the pass in twelve stops: a panel tells of one after the other with this page's own tokens and numbers,
 * and the page scrolls to what it tells of. Each stop is in walk_stops.js; here: the panel, its keys, and what it points at. */
const walk = { at: -1, about: null, spot: null }; /* at: the stop that is shown; about: walkAbout(); spot: what is marked */

const FIRST_BREATH = 2; /* frames until cards that have been made have their height */

function buildWalk() {
    byId("walk-open").hidden = walkAbout() === null;
    if (walk.at >= 0)
        showStop(walk.at);
}

/* The head of the page is made once, in whatever language: so are its listeners. */
function listenToWalk() {
    byId("walk-open").addEventListener("click", () => {
        change({ checkpoint: checkpoints.length - 1 });
        walk.about = walkAbout();
        byId("guide").hidden = false;
        document.body.classList.add("guided-page");
        showStop(0);
        byId("guide").focus({ preventScroll: true });
    });
    byId("guide-close").addEventListener("click", closeWalk);
    byId("guide-back").addEventListener("click", () => turnTo(walk.at - 1));
    byId("guide-next").addEventListener("click", () => turnTo(walk.at + 1));
    byId("guide").addEventListener("keydown", event => {
        const to = { ArrowRight: walk.at + 1, ArrowLeft: walk.at - 1, Home: 0, End: STOPS.length - 1 }[event.key];
        if (event.altKey || event.ctrlKey || event.metaKey || (to === undefined && event.key !== "Escape"))
            return;
        event.preventDefault();
        if (event.key === "Escape")
            closeWalk();
        else if (to < STOPS.length)
            turnTo(to);
    });
}

/* Behind the last stop the walk ends. */
function turnTo(at) {
    if (at >= STOPS.length)
        closeWalk();
    else if (at >= 0)
        showStop(at);
}

function closeWalk() {
    markSpot(null);
    walk.at = -1;
    byId("guide").hidden = true;
    document.body.classList.remove("guided-page");
    byId("walk-open").focus();
}

function showStop(at) {
    const stop = STOPS[at](walk.about), last = at === STOPS.length - 1;
    walk.at = at;
    byId("guide-count").textContent = t("walk.count", { stop: at + 1, stops: STOPS.length });
    byId("guide-title").textContent = t(`walk.${stop.id}`);
    byId("guide-text").replaceChildren(...stop.text);
    byId("guide-chapter").replaceChildren(chapterNote(stop.chapter));
    byId("guide-back").setAttribute("aria-disabled", at === 0);
    byId("guide-next").textContent = t(last ? "walk.done" : "walk.next");
    goToSpot(stop.spot);
}

/* ---- what a stop points at ---- */

function markSpot(node) {
    walk.spot?.classList.remove("guided");
    walk.spot = node;
    node?.classList.add("guided");
}

/* spot: { step, head, row, column }: a cell of the step's card; or { node(), choose, cell }: another part of the page, what
 * is chosen there, and the cell of its map. */
function goToSpot(spot) {
    const find = spot.step ? () => cardOf(spot.step) : spot.node;
    if (spot.step)
        choosePart(parts.findIndex(part => part.steps.includes(spot.step)));
    else
        change(spot.choose);
    markSpot(find());
    if (spot.head !== undefined)
        walk.spot?.querySelector(`.choices [data-value="${spot.head}"]`)?.click();
    afterFrames(FIRST_BREATH, () => {
        const map = walk.spot?.querySelector("figure canvas")?.heatMap;
        if (map?.matrix && spot.row !== undefined) {
            map.point({ row: spot.row, column: spot.column });
            map.follow();
        }
        bringIntoSight(walk.spot);
    });
}

const cardOf = step => [...byId("cards").children].find(node => node.getAttribute("aria-label") === step.name);
const afterFrames = (count, act) => requestAnimationFrame(() => count > 1 ? afterFrames(count - 1, act) : act());

/* Into the middle of what the panel leaves of the window; of what is higher, the top. */
function bringIntoSight(node) {
    if (!node?.isConnected)
        return;
    const box = node.getBoundingClientRect(), top = byId("training").hidden ? 16 : byId("training").offsetHeight + 8;
    const room = window.innerHeight - byId("guide").offsetHeight - top;
    window.scrollTo({ top: window.scrollY + box.top - top - Math.max(0, (room - box.height) / 2) });
}
