/* examples.js: sentences to begin with, of words that the pairs have. */
const EXAMPLES = {
    fr: ["Where are my keys?", "She will give us an apple.", "My brother doesn't have a red car.", "I am hungry."],
    zh: ["Where is my book?", "She will give them a letter.", "He is learning Chinese.",
        "Your older brother is twelve years old."],
};
