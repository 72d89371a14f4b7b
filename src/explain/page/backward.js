/* backward.js: the loss, and how large the gradient of each parameter is; a row leads to its matrix. Only where the
 * pass went back (rapt explain --train). */
const rootMeanSquare = step => {
    const count = step.shape.reduce((n, size) => n * size, 1);
    return Math.sqrt(step.mean ** 2 + (count > 1 ? step.std ** 2 * (count - 1) / count : 0));
};

function buildBackward() {
    const rows = gradients.filter(step => !named.has(step.name));
    if (data.loss === undefined && gradients.length === 0)
        return;
    byId("backward").hidden = false;
    const loss = data.loss === undefined ? [] : pieces("backward.loss",
        { loss: make("b", { "data-fact": "loss" }, show(data.loss, 6)), choices: show(Math.exp(data.loss), 3) });
    byId("loss").append(...loss, t("backward.lead"));
    const most = Math.max(...rows.map(rootMeanSquare));
    byId("gradients").append(...rows.map(step => gradientRow(step, most)));
    roving(byId("gradients"), "button");
    stopAt(byId("gradients"), "button", null);
}

function gradientRow(step, most) {
    const size = rootMeanSquare(step), share = most > 0 ? 100 * size / most : 0;
    const fill = make("span", { class: "fill", style: `width:${share}%` });
    return make("li", {}, make("button", { type: "button", onclick: () => goTo(step) }, make("code", {}, step.name),
        make("span", { class: "track" }, fill), make("span", { class: "how-much" }, show(size, 3))));
}

function goTo(step) {
    choosePart(parts.findIndex(part => part.steps.includes(step)));
    const found = [...byId("cards").children].find(node => node.getAttribute("aria-label") === step.name);
    found.scrollIntoView({ block: "center" });
    found.querySelector("canvas")?.focus({ preventScroll: true });
}
