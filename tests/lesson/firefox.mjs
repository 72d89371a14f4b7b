/* tests/lesson/firefox.mjs PAGE FOLDER STEPS [plain]: the lesson in headless Firefox, by WebDriver BiDi, which Firefox speaks
 * itself: it trains, and leaves recipe, pairs, commands and the model's checksum in FOLDER; with "plain" Firefox does not know
 * relaxed SIMD. For check_lesson.sh. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [page, folder, STEPS, kind] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "lesson-firefox-"));
if (kind === "plain")
    writeFileSync(join(profile, "user.js"), 'user_pref("javascript.options.wasm_relaxed_simd", false);\n');
const browser = spawn("firefox-esr", ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]);

const address = await new Promise((found, failed) => {
    let said = "";
    browser.stderr.on("data", text => {
        const at = /WebDriver BiDi listening on (ws:\S+)/.exec(said += text);
        if (at)
            found(at[1]);
    });
    browser.on("exit", () => failed(new Error("Firefox ended: " + said.slice(-400))));
});

const socket = new WebSocket(`${address}/session`), waiting = new Map();
let count = 0;
socket.onmessage = ({ data }) => {
    const { id, result, error, message } = JSON.parse(data);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error)
        reject?.(new Error(`${error}: ${message}`));
    else
        resolve?.(result);
};
await new Promise(opened => { socket.onopen = opened; });

function send(method, params) {
    socket.send(JSON.stringify({ id: ++count, method, params }));
    return new Promise((resolve, reject) => waiting.set(count, { resolve, reject }));
}

const pause = ms => new Promise(go => setTimeout(go, ms));
let context;

async function run(expression) {
    const { result, exceptionDetails } = await send("script.evaluate", { expression, target: { context }, awaitPromise: true });
    if (exceptionDetails)
        throw new Error(exceptionDetails.text);
    return result.value;
}

async function until(expression, seconds = 120) {
    const end = Date.now() + 1000 * seconds;
    while (!await run(expression)) {
        if (Date.now() > end)
            throw new Error(`waited in vain for ${expression}: ${await run("document.body.innerText.slice(0, 600)")}`);
        await pause(50);
    }
}

/* What a click saves, without a file: the page makes a blob of it. */
const saved = selector => run(`(async () => {
    const make = URL.createObjectURL, blobs = [];
    URL.createObjectURL = blob => (blobs.push(blob), make.call(URL, blob));
    HTMLAnchorElement.prototype.click = () => {};
    document.querySelector('${selector}').click();
    while (blobs.length === 0)
        await new Promise(go => setTimeout(go, 20));
    return blobs[0].text();
})()`);

const step = "parseInt(document.querySelector('[data-figure=step]').textContent)";
const click = id => run(`document.getElementById("${id}").click()`);
try {
    await send("session.new", { capabilities: {} });
    context = (await send("browsingContext.getTree", {})).contexts[0].context;
    const began = Date.now();
    await send("browsingContext.navigate", { context, url: `file://${page}#lang=en`, wait: "interactive" });
    await until("!document.getElementById('train').disabled");
    await click("train");
    await until(`${step} >= 1`);
    process.stdout.write(`first step ${(Date.now() - began) / 1000} s after opening; `);
    await until(`${step} >= ${STEPS}`);
    await click("train");
    await until("document.getElementById('state').textContent.startsWith('Paused')");
    console.log(`step ${await run(step)}: ${await run("document.querySelector('[data-figure=speed]').textContent")} ms a step;`,
        await run("document.getElementById('facts').textContent"));
    await click("hash");
    await until("document.getElementById('sum').textContent.length === 64");
    writeFileSync(join(folder, "sha256"), await run("document.getElementById('sum').textContent"));
    writeFileSync(join(folder, "command"), await run("document.getElementById('command').textContent"));
    for (const file of ["lesson.yaml", "en-fr.tsv"])
        writeFileSync(join(folder, file), await saved(`[data-file="${file}"]`));
} catch (error) {
    console.log(error.message);
    process.exitCode = 1;
} finally {
    socket.close();
    browser.removeAllListeners("exit");
    browser.on("exit", () => rmSync(profile, { recursive: true, force: true, maxRetries: 5 }));
    browser.kill();
}
