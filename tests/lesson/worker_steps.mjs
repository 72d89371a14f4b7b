/* tests/lesson/worker_steps.mjs: worker.js with a lesson that is over after three steps: clicks on "One step" that come too many
 * tell of no step, and a new run begins at its first. For check_lesson.sh. */
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const told = [];
let made = 0;
const calls = {
    lesson_start: () => (made = 0, {}),
    lesson_step: () => ({ step: made = Math.min(3, made + 1), loss: 1, over: made === 3 }),
};
const FS = { mkdir() {}, writeFile() {}, analyzePath: () => ({ exists: false }) };
const program = { FS, _free() {}, _lesson_new: () => 1, UTF8ToString: text => text,
    ccall: name => JSON.stringify(calls[name]()) };
const worker = { createRapt: async () => program, performance, MessageChannel, console,
    postMessage: message => told.push(message) };
runInNewContext(readFileSync(new URL("../../src/lesson/page/worker.js", import.meta.url), "utf8"), worker);

const ask = (id, type, values = {}) => worker.onmessage({ data: { id, type, ...values } });
await ask(1, "load", { program: null, pairs: {} });
for (const run of [1, 2]) {
    await ask(2, "start", { recipe: "" });
    told.length = 0;
    await Promise.all([3, 4, 5, 6].map(id => ask(id, "step")));
    const steps = told.filter(message => message.event === "steps");
    assert.deepEqual(steps.flatMap(message => message.points.map(point => point.step)), [1, 2, 3], `run ${run}`);
    assert.deepEqual(steps.map(message => message.state), ["paused", "paused", "over", "over"]);
    assert.equal(told.filter(message => message.id && !message.error).length, 4);
}
process.exit(0); // the worker's door is open
