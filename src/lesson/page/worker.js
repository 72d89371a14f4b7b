/* worker.js: the side of the worker: it calls the C functions of lesson.h, trains while the page is not asking for anything, and
 * tells the page of its steps at most ten times a second. createRapt(), which makes the compiled program, stands before this
 * file. */
const TELL_EVERY = 100; /* milliseconds */
const FOLDER = "/lesson";
const rapt = { module: null, lesson: 0, run: 0, step: 0, trains: false, points: [], told: 0, lookTook: 0, shown: true,
    watched: null };

/* The JSON that a C function returns. */
function call(name, types, ...values) {
    const m = rapt.module, at = m.ccall(name, "number", ["number", ...types], [rapt.lesson, ...values]);
    if (!at)
        throw new Error("out of memory");
    const text = m.UTF8ToString(at);
    m._free(at);
    if (text.startsWith("{\"error\""))
        throw new Error(JSON.parse(text).error);
    return text;
}

const asked = (name, types, ...values) => JSON.parse(call(name, types, ...values));

function removeTree(path) {
    const fs = rapt.module.FS;
    if (!fs.analyzePath(path).exists)
        return;
    if (!fs.isDir(fs.stat(path).mode))
        return fs.unlink(path);
    for (const name of fs.readdir(path).filter(entry => entry !== "." && entry !== ".."))
        removeTree(`${path}/${name}`);
    fs.rmdir(path);
}

const runFolder = () => `${FOLDER}/run${rapt.run}`;

/* Weights, translation and next tokens of the sentence that the page shows. */
function look() {
    const { text, target, position, temperature, topK, count } = rapt.watched, started = performance.now();
    const seen = asked("lesson_look", ["string", "string"], text, target);
    seen.position = Math.min(position, seen.target.length - 1);
    seen.next = asked("lesson_next", ["number", "number", "number", "number"], seen.position, temperature, topK, count).tokens;
    rapt.lookTook = performance.now() - started;
    return seen;
}

/* At most a third of the time goes into looks. */
function tell(state) {
    const now = performance.now(), due = state || (rapt.shown && now - rapt.told > Math.max(TELL_EVERY, 3 * rapt.lookTook));
    if (!due)
        return;
    rapt.told = now;
    rapt.shown = false;
    const message = { event: "steps", run: rapt.run, points: rapt.points, state };
    rapt.points = [];
    try {
        message.look = rapt.watched && look();
    } catch (error) {
        message.unread = error.message;
    }
    postMessage(message);
}

/* A question for a step may come behind the one for the last step: then none is made. */
function stepOnce() {
    const started = performance.now(), point = asked("lesson_step", []);
    if (point.step > rapt.step)
        rapt.points.push({ ...point, took: performance.now() - started });
    rapt.step = point.step;
    return point.over;
}

/* A turn of the event loop, so that questions come in. */
const door = new MessageChannel();
const turn = () => new Promise(go => {
    door.port1.onmessage = go;
    door.port2.postMessage(0);
});

async function train() {
    if (rapt.trains)
        return;
    rapt.trains = true;
    const run = rapt.run;
    try {
        while (rapt.trains && rapt.run === run) {
            if (stepOnce()) {
                rapt.trains = false;
                return tell("over");
            }
            tell();
            await turn();
        }
    } catch (error) {
        rapt.trains = false;
        postMessage({ event: "failed", reason: error.message });
    }
}

const DUTIES = {
    async load({ program, pairs }) {
        rapt.module = await createRapt({ wasmBinary: program, print: () => {}, printErr: text => console.warn(text) });
        rapt.module.FS.mkdir(FOLDER);
        for (const [name, bytes] of Object.entries(pairs))
            rapt.module.FS.writeFile(`${FOLDER}/${name}`, bytes);
        rapt.lesson = rapt.module._lesson_new();
    },
    start({ recipe }) {
        rapt.trains = false;
        rapt.points = [];
        rapt.step = 0;
        const before = runFolder();
        rapt.run++;
        const answer = asked("lesson_start", ["string", "string", "string"], recipe, FOLDER, runFolder());
        removeTree(before);
        return { ...answer, run: rapt.run };
    },
    train,
    pause() {
        if (rapt.trains) {
            rapt.trains = false;
            tell("paused");
        }
    },
    step() {
        tell(stepOnce() ? "over" : "paused");
    },
    shown() {
        rapt.shown = true;
    },
    watch({ watched }) {
        call("lesson_heads", ["string"], watched.off.join(" "));
        rapt.watched = watched;
        return look();
    },
    draw: ({ text, temperature, topK, count, seed }) => asked("lesson_draw", ["string", "number", "number", "number", "number"],
        text, temperature, topK, count, seed).texts,
    sum() {
        call("lesson_save", []);
        const bytes = rapt.module.FS.readFile(`${runFolder()}/model.safetensors`);
        return { sha256: sha256(bytes), size: bytes.length };
    },
    page: ({ text, target, name }) => call("lesson_page", ["string", "string", "string"], text, target, name),
};

/* Training lasts as long as the page wants: its question is answered at once. */
onmessage = async ({ data: { id, type, ...values } }) => {
    try {
        const answer = type === "train" ? void DUTIES.train() : await DUTIES[type](values);
        postMessage({ id, answer });
    } catch (error) {
        postMessage({ id, error: error.message });
    }
};
