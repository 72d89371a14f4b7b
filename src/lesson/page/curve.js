/* curve.js: the loss of each step, smoothed, with the validation set's, beside the curves of earlier runs. Not here: where the
 * numbers come from. */
const CURVE = { height: 320, left: 34, right: 10, top: 10, bottom: 24, smooth: 0.92, earlier: 4 };
const runs = { now: null, earlier: [] }; /* { name, even, steps, points: [{ step, loss, val_loss, smooth }] } */
const plot = { svg: null, readout: null, at: null, width: 600 };

function beginRun(name, even, steps) {
    if (runs.now?.points.length > 0)
        runs.earlier = [...runs.earlier, runs.now].slice(-CURVE.earlier);
    runs.now = { name, even, steps, points: [], mean: 0, weight: 0 };
    plot.at = null;
    drawCurve();
}

/* An exponential mean whose beginning is not biased to 0, as Adam's moments. */
function addPoints(points) {
    const run = runs.now;
    for (const point of points) {
        run.mean = CURVE.smooth * run.mean + (1 - CURVE.smooth) * point.loss;
        run.weight = CURVE.smooth * run.weight + (1 - CURVE.smooth);
        const before = run.points[run.points.length - 1]?.val_loss ?? null;
        run.points.push({ step: point.step, loss: point.loss, smooth: run.mean / run.weight, val_loss: point.val_loss,
            reported: point.val_loss !== null && point.val_loss !== before });
    }
    drawCurve();
}

const lastPoint = () => runs.now?.points[runs.now.points.length - 1];

/* ---- the picture ---- */

function curveScale() {
    const all = [runs.now, ...runs.earlier], first = all.flatMap(run => run.points.slice(0, 3));
    const most = Math.max(...all.map(run => run.even), ...first.map(point => point.loss));
    const last = Math.max(200, ...all.map(run => run.points[run.points.length - 1]?.step ?? 0));
    const top = Math.ceil(most + 0.3), steps = Math.min(Math.ceil(last / 100) * 100, Math.max(...all.map(run => run.steps)));
    const width = plot.width - CURVE.left - CURVE.right, height = CURVE.height - CURVE.top - CURVE.bottom;
    return { top, steps, x: step => CURVE.left + step / steps * width,
        y: loss => CURVE.top + (1 - Math.max(0, Math.min(1, loss / top))) * height };
}

function axes(scale) {
    const nodes = [], every = [50, 100, 200, 250, 500].find(n => scale.steps / n <= Math.max(2, plot.width / 90)) ?? 500;
    for (let loss = 0; loss <= scale.top; loss += scale.top > 5 ? 2 : 1) {
        const y = scale.y(loss);
        nodes.push(draw("line", { class: "grid", x1: CURVE.left, x2: plot.width - CURVE.right, y1: y, y2: y }),
            draw("text", { class: "tick end", x: CURVE.left - 7, y: y + 4 }, String(loss)));
    }
    for (let step = 0; step <= scale.steps; step += every)
        nodes.push(draw("text", { class: "tick", x: scale.x(step), y: CURVE.height - 6 }, String(step)));
    const even = scale.y(runs.now.even);
    nodes.push(draw("line", { class: "even", x1: CURVE.left, x2: plot.width - CURVE.right, y1: even, y2: even }),
        draw("text", { class: "tick end", x: plot.width - CURVE.right - 2, y: even - 5 },
            t("curve.even", { loss: show(runs.now.even, 3) })));
    return nodes;
}

const line = (scale, run, value, kind) => draw("polyline", { class: kind, points: run.points.map(point =>
    `${scale.x(point.step).toFixed(1)},${scale.y(point[value]).toFixed(1)}`).join(" ") });

function mark(scale) {
    const point = runs.now.points[plot.at - 1];
    if (!point)
        return [];
    const x = scale.x(point.step);
    return [draw("line", { class: "mark", x1: x, x2: x, y1: CURVE.top, y2: CURVE.height - CURVE.bottom }),
        draw("circle", { class: "mark", r: 4, cx: x, cy: scale.y(point.smooth) })];
}

function drawCurve() {
    if (!plot.svg || !runs.now)
        return;
    const scale = curveScale(), run = runs.now, points = run.points;
    plot.svg.setAttribute("viewBox", `0 0 ${plot.width} ${CURVE.height}`);
    plot.svg.replaceChildren(...axes(scale), ...runs.earlier.map((one, i) => line(scale, one, "smooth", `earlier earlier-${i}`)),
        line(scale, run, "loss", "loss"), line(scale, run, "smooth", "smooth"),
        ...points.filter(point => point.reported).map(point => draw("circle", { class: "val", r: 3.5, cx: scale.x(point.step),
            cy: scale.y(point.val_loss) })), ...mark(scale));
    const now = points.length === 0 ? t("curve.none") : t("curve.now", { first: show(points[0].loss, 3),
        last: show(points[points.length - 1].smooth, 3), step: points[points.length - 1].step });
    plot.svg.setAttribute("aria-label", t("curve.label", { now }));
    tellPoint();
}

function tellPoint() {
    const point = runs.now.points[plot.at - 1];
    plot.readout.textContent = !point ? t("curve.help") :
        t("curve.step", { step: point.step, loss: show(point.loss, 3), smooth: show(point.smooth, 3) });
}

/* ---- the reader ---- */

function moveMark(to) {
    const count = runs.now.points.length;
    plot.at = count === 0 || to === null ? null : Math.max(1, Math.min(count, to));
    drawCurve();
}

function curveKey(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageUp: 50, PageDown: -50, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey)
        return;
    event.preventDefault();
    moveMark((plot.at ?? runs.now.points.length) + by);
}

function curvePointed(event) {
    const box = plot.svg.getBoundingClientRect(), width = plot.width - CURVE.left - CURVE.right;
    const share = ((event.clientX - box.left) / box.width * plot.width - CURVE.left) / width;
    moveMark(Math.round(share * curveScale().steps));
}

function buildCurve() {
    plot.svg = draw("svg", { class: "curve", role: "img", tabindex: "0", onkeydown: curveKey, onpointermove: curvePointed,
        onpointerdown: curvePointed, onpointerleave: () => moveMark(null), onblur: () => moveMark(null) });
    plot.readout = make("output", {});
    const keys = ["loss", "smooth", "val_loss"].map(name =>
        make("span", { class: `curve-key ${name}` }, make("i", { "aria-hidden": "true" }), t(`curve.key.${name}`)));
    byId("curve").replaceChildren(plot.svg, make("p", { class: "curve-keys" }, ...keys), plot.readout);
    new ResizeObserver(() => {
        plot.width = Math.max(240, plot.svg.clientWidth);
        drawCurve();
    }).observe(plot.svg);
    drawEarlier();
}

function drawEarlier() {
    byId("earlier").replaceChildren(...runs.earlier.map((run, i) => {
        const last = run.points[run.points.length - 1];
        return make("li", { class: `earlier-${i}` }, make("i", { "aria-hidden": "true" }),
            t("curve.earlier.run", { name: run.name, loss: show(last.smooth, 3), step: last.step }));
    }));
}
