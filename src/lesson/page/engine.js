/* engine.js: the worker in which rapt runs, as seen from the page: questions with answers, and what it tells of its own accord.
 * The page carries the compiled program and the sentence pairs, compressed; worker.js is the other end. A browser that does not
 * know the instructions of relaxed SIMD gets the program without them (raptBytes of wasm/load.js); what they compute where they
 * are known, the program asks itself when it starts. */
const unpacked = id => unpackLzma(Uint8Array.from(atob(byId(id).textContent), letter => letter.charCodeAt(0)));

const engine = { worker: null, waiting: new Map(), count: 0, told: () => {} };

/* What the worker answers, or its reason not to. */
function ask(type, values = {}) {
    const id = ++engine.count;
    engine.worker.postMessage({ id, type, ...values });
    return new Promise((resolve, reject) => engine.waiting.set(id, { resolve, reject }));
}

function engineHears({ data: message }) {
    if (message.id === undefined)
        return engine.told(message);
    const { resolve, reject } = engine.waiting.get(message.id);
    engine.waiting.delete(message.id);
    return "error" in message ? reject(new Error(message.error)) : resolve(message.answer);
}

async function startEngine(told) {
    const program = unpacked("program"), bytes = raptBytes(program), pairs = {};
    for (const name of CHOICES.data)
        pairs[pairsFile({ data: name })] = unpacked(`pairs-${name}`);
    const source = new Blob([unpacked("worker")], { type: "text/javascript" });
    engine.told = told;
    engine.worker = new Worker(URL.createObjectURL(source));
    engine.worker.onmessage = engineHears;
    engine.worker.onerror = event => told({ event: "failed", reason: event.message });
    await ask("load", { program: bytes, pairs });
    return bytes === program ? "relaxed" : "plain";
}
