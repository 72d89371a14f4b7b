/* watch.js: what the reader chose is in `state`, which each page has of its own; change() tells those who watch. */
const watchers = [];
const watch = listener => watchers.push(listener);

function change(what) {
    if (Object.entries(what).every(([name, value]) => state[name] === value))
        return;
    Object.assign(state, what);
    for (const listener of watchers)
        listener(what);
}
