/* api.js: requests to the server that this page came from, and what went wrong as a sentence. Texts of the server are shown as
 * text, never read as HTML. */
const KEY = "rapt: key"; /* of sessionStorage: gone with the tab */

class ServerError extends Error {
    constructor(message, status = 0) {
        super(message);
        this.status = status;
    }
}

function storedKey() {
    try {
        return sessionStorage.getItem(KEY);
    } catch {
        return storedKey.instead;
    }
}

function storeKey(key) {
    storedKey.instead = key;
    try {
        sessionStorage.setItem(KEY, key);
    } catch {
        /* it is lost with the page then */
    }
}

/* A response of status 2xx; GET without a body. Throws a ServerError, or the AbortError of the signal. */
async function request(path, body, signal) {
    const headers = body ? { "Content-Type": "application/json" } : {}, key = storedKey();
    if (key)
        headers.Authorization = `Bearer ${key}`;
    let response;
    try {
        response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal,
            cache: "no-store", credentials: "omit", redirect: "error" });
    } catch (error) {
        throw error.name === "AbortError" ? error : new ServerError(t("error.network"));
    }
    if (!response.ok)
        throw await failureOf(response);
    return response;
}

async function requestJson(path, body, signal) {
    const response = await request(path, body, signal);
    try {
        return { json: await response.json(), replay: response.headers.get("X-Rapt-Replay") };
    } catch (error) {
        throw error.name === "AbortError" ? error : new ServerError(t("error.read", { reason: error.message }));
    }
}

/* What an error says: {"error": {"message"}}, {"error": "..."}, {"message"} or plain text. */
function messageIn(text) {
    try {
        const { error, message } = JSON.parse(text);
        return String(error?.message ?? error ?? message ?? text);
    } catch {
        return text;
    }
}

async function failureOf(response) {
    const text = await response.text().catch(() => ""), seconds = response.headers.get("Retry-After");
    const said = t("error.answer", { status: response.status, message: messageIn(text).slice(0, 500) || response.statusText });
    return new ServerError(seconds ? `${said} ${t("error.retry", { seconds })}` : said, response.status);
}

/* The objects of a stream of events, up to its [DONE]; one that says "error" is thrown. */
async function* eventsOf(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
        const { value, done } = await reader.read().catch(error => {
            throw error.name === "AbortError" ? error : new ServerError(t("error.cut"));
        });
        if (done)
            throw new ServerError(t("error.cut"));
        const lines = (rest + value).split(/\r?\n/);
        rest = lines.pop();
        for (const line of lines.filter(one => one.startsWith("data:"))) {
            const data = line.slice(5).trim();
            if (data === "[DONE]")
                return;
            const event = parsed(data);
            if (event.error)
                throw new ServerError(messageIn(data));
            yield event;
        }
    }
}

function parsed(data) {
    try {
        return JSON.parse(data);
    } catch (error) {
        throw new ServerError(t("error.read", { reason: error.message }));
    }
}
