/* explain.js: links to the explanation of a text, a page of its own in a new tab. It is fetched by its address, because a page
 * that this one made (blob:) would inherit this one's policy, which has no place for its script. Where the address cannot do
 * it, with a key or for a long text, the explanation is fetched and saved as a file. The link has a Referer, by which the server
 * knows the page as its own on plain HTTP. */
const LONG_ADDRESS = 6000;

function explainAddress(what) {
    const query = new URLSearchParams({ model: state.model?.id ?? "", ...what, format: "html" });
    return `/v1/explain?${query}`;
}

/* Makes `link` explain what whatNow() returns then: { text }, and of a translation maybe { target }. */
function explains(link, whatNow) {
    const aim = () => link.setAttribute("href", explainAddress(whatNow()));
    for (const event of ["pointerenter", "focus", "click"])
        link.addEventListener(event, aim);
    link.addEventListener("click", event => {
        const what = whatNow();
        if (what.text.trim() === "") {
            event.preventDefault();
            showProblem(new ServerError(t("explain.needs")));
        } else if (storedKey() || link.href.length > LONG_ADDRESS) {
            event.preventDefault();
            saveExplanation(what).catch(showProblem);
        }
    });
    aim();
    return link;
}

async function saveExplanation(what) {
    const response = await request("/v1/explain", { model: state.model.id, ...what, format: "html" });
    const address = URL.createObjectURL(await response.blob());
    const link = make("a", { href: address, download: "explanation.html" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    byId("status").textContent = t("explain.saved");
}
