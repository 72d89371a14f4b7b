/* chapters.js: which chapter of the book (docs/book) explains a step or a part, and the line that names it: a link where
 * the page was made with the book's address (rapt explain --book), else its file. The titles: strings_chapters.js. */

/* By the end of a step's name, and what its formula has; the first that fits counts. */
const CHAPTER_OF = [
    [/(^|\.)embedding(\.scaled)?$/, "01-embedding"], [/(^|\.)(positions|input)$/, "02-positions"],
    [/\.(q|k)\.rotated$/, "17-rotary"], [/\.(q|k)\.normed$/, "17-rms-norm", "mean(x^2)"], [/\.(q|k)\.normed$/, "10-add-norm"],
    [/norm\d*\.(sum|scaled)$/, "10-add-norm"], [/norm\d*(\.output)+$/, "17-rms-norm", "mean(x^2)"],
    [/norm\d*(\.output)+$/, "10-add-norm"], [/\.(q|k|v)\.heads$/, "04-heads"], [/\.(q|k|v)$/, "03-queries-keys-values"],
    [/\.biased$/, "17-rotary"], [/\.(scores|scaled|capped|masked)$/, "05-scores"], [/\.weights$/, "06-softmax"],
    [/\.heads$/, "07-weighted-sum"], [/\.concat$|attention\.output$/, "08-concat-projection"],
    [/\.(gate|up|product)$/, "17-swiglu"], [/\.hidden$|\.activation$|ffn\.output$/, "09-ffn"],
    [/(^|\.)output$/, "13-sales-textbook"], [/(^|\.)probabilities$/, "15-prediction"], [/\.dropped$/, "14-training"],
];

/* Of keys and values that several heads share. */
const isGrouped = step => /\.(k|v)\.heads$/.test(step.name) &&
    step.shape[1] < named.get(step.name.replace(/\.(k|v)\.heads$/, ".q.heads"))?.shape[1];

/* A gradient belongs to training; a step that the table doesn't have, to the whole. */
function chapterOf(step) {
    if (step.gradient)
        return "14-training";
    if (isGrouped(step))
        return "17-grouped-queries";
    return CHAPTER_OF.find(([name, , formula]) => name.test(step.name) && (!formula || step.formula?.includes(formula)))?.[1] ??
        chapterOfStack(placeOf(step.name).stack);
}

const chapterOfStack = stack => stack === "encoder" ? "11-encoder" : stack === "decoder" ? "12-decoder" : "16-gpt";

/* Attention is explained by the block that it is in; another part by its first step. */
function chapterOfPart(part) {
    const step = part.steps.find(one => !one.gradient);
    return kindOf(part) === "attention" ? chapterOfStack(part.stack) : step ? chapterOf(step) : "14-training";
}

const chapterFile = chapter => `${chapter}${language === "zh" ? ".zh-CN" : ""}.md`;

function chapterNote(chapter) {
    const title = t(`chapter.${chapter}`), file = chapterFile(chapter);
    if (data.book !== undefined)
        return make("a", { class: "chapter", href: data.book.replace(/\/*$/, "/") + file, rel: "noreferrer" }, title);
    return make("span", { class: "chapter" }, title, " ", make("code", {}, `docs/book/${file}`));
}

/* Where page.html asks for one, by its name or for the model as a whole. */
function buildChapters() {
    for (const place of document.querySelectorAll("[data-chapter]"))
        place.replaceChildren(chapterNote(place.dataset.chapter || chapterOfStack(translation ? "decoder" : "")));
}
