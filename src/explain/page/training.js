/* training.js: the slider over the checkpoints of a training run (rapt explain --checkpoints): which of them the sentence and the
 * attention weights are of. The steps further down are always those of the model itself. */
const PLAY_EVERY = 700; /* milliseconds a checkpoint */
const player = { timer: null };

const lossesOf = predictions => predictions.filter(p => p.next).map(p => p.next.loss);
const meanLoss = ({ predictions }) => {
    const losses = lossesOf([...predictions.values()]);
    return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
};

function buildTraining() {
    if (checkpoints.length === 0)
        return;
    const slider = byId("checkpoint"), last = checkpoints.length - 1;
    byId("training").hidden = false;
    slider.max = last;
    slider.addEventListener("input", () => {
        pause();
        change({ checkpoint: Number(slider.value) });
    });
    byId("play").addEventListener("click", () => player.timer === null ? play() : pause());
    byId("losses").append(...lossCurve());
    watch(what => {
        if ("checkpoint" in what)
            showCheckpoint();
    });
    showCheckpoint();
    pause();
}

function showCheckpoint() {
    const slider = byId("checkpoint"), now = checkpoints[state.checkpoint], loss = meanLoss(now);
    const step = now.step === 0 ? t("training.untrained") :
        t("training.step", { step: now.step, last: checkpoints[checkpoints.length - 1].step });
    slider.value = state.checkpoint;
    slider.setAttribute("aria-valuetext", step);
    byId("checkpoint-step").textContent = step;
    byId("checkpoint-loss").replaceChildren(...Number.isNaN(loss) ? [] :
        pieces("training.loss", { loss: make("b", { "data-fact": "checkpoint-loss" }, show(loss)) }));
    const mark = byId("losses").querySelector("i"), [x, y] = placesOnCurve()[state.checkpoint];
    mark?.setAttribute("style", `left:${100 * x / CURVE_WIDTH}%;top:${100 * y / CURVE_HEIGHT}%`);
}

/* ---- play ---- */

function showPlaying() {
    const plays = player.timer !== null;
    byId("play").querySelector("span").textContent = plays ? "❚❚" : "▶";
    byId("play").setAttribute("aria-label", t(plays ? "training.pause" : "training.play"));
}

function pause() {
    clearInterval(player.timer);
    player.timer = null;
    showPlaying();
}

/* From the beginning where the end is reached. */
function play() {
    const last = checkpoints.length - 1;
    if (state.checkpoint === last)
        change({ checkpoint: 0 });
    player.timer = setInterval(() => {
        change({ checkpoint: Math.min(state.checkpoint + 1, last) });
        if (state.checkpoint === last)
            pause();
    }, PLAY_EVERY);
    showPlaying();
}

/* ---- the loss of this text at each checkpoint: a curve above the slider ---- */

const CURVE_WIDTH = 600, CURVE_HEIGHT = 36, CURVE_EDGE = 4;

function placesOnCurve() {
    const losses = checkpoints.map(meanLoss), most = Math.max(...losses), last = Math.max(1, checkpoints.length - 1);
    return losses.map((loss, i) => [CURVE_EDGE + i / last * (CURVE_WIDTH - 2 * CURVE_EDGE),
        CURVE_HEIGHT - CURVE_EDGE - (most > 0 ? loss / most : 0) * (CURVE_HEIGHT - 2 * CURVE_EDGE)].map(x => x.toFixed(1)));
}

/* And a mark on it. */
function lossCurve() {
    const picture = draw("svg", { viewBox: `0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`, preserveAspectRatio: "none",
        "aria-hidden": "true" });
    if (checkpoints.some(one => Number.isNaN(meanLoss(one))))
        return [];
    picture.append(draw("polyline", { points: placesOnCurve().map(place => place.join()).join(" ") }));
    return [picture, make("i", { "aria-hidden": "true" })];
}
