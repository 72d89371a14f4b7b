/* head_lines.js: the lines of all heads below the heat map, of the block that is shown there. A long text opens on the token that
 * is chosen, as the lines of all of them would hide each other. */
const headLines = { off: new Set(), held: null }; /* what the reader chose, in whatever language */

function buildHeadLines() {
    if (attentions.length === 0)
        return;
    const view = new HeadView({ kept: headLines,
        hover: position => change({ seen: position === null ? null : { sequence: kindNow().query, position } }) });
    byId("head-lines").replaceChildren(view.node);
    const show = () => {
        const kind = kindNow(), heads = headsOf(stepOf(kind, blockNow())), block = kind.blocks.indexOf(stepOf(kind, blockNow()));
        const chosen = state.pinned ?? { sequence: continued, position: openingPosition() };
        if (!headLines.held && isLong(kind.query) && chosen.sequence === kind.query)
            headLines.held = { side: "query", index: chosen.position };
        byId("lines-title").textContent = t("lines.title", { block });
        view.show({ heads, queries: words(kind.query), keys: words(kind.key) });
    };
    watch(what => {
        if (["kind", "block", "blockSeen", "checkpoint"].some(name => name in what))
            show();
    });
    show();
}
