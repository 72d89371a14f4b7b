/* recipe.js: the recipe of a run, which the page and `rapt train` read alike, and the commands that train by it. */
const pairsFile = options => `en-${options.data}.tsv`;

/* Chinese has no spaces to cut words at. */
const TOKENIZERS = {
    fr: ["type: words", "lowercase: true", "detokenize: fr", "capitalize: true"],
    zh: ["type: bpe", "vocab_size: 800", "shared: false"],
};

const group = (name, lines) => [`${name}:`, ...lines.map(line => `  ${line}`)];

function recipeOf(options) {
    return ["task: translation", `seed: ${options.seed}`,
        ...group("data", [`pairs: ${pairsFile(options)}`, "validation_fraction: 0.02", "max_len: 24", "too_long: cut"]),
        ...group("tokenizer", TOKENIZERS[options.data]),
        ...group("model", [`layers: ${options.layers}`, `d_model: ${options.width}`, `heads: ${options.heads}`,
            `ffn: ${2 * options.width}`, `dropout: ${options.dropout}`, `positions: ${options.positions}`, "max_positions: 64",
            "init: xavier", "embedding_std: 0.125"]),
        ...group("train", ["steps: 1500", "batch: 16", `lr: ${options.rate}`, "clip: 1", "label_smoothing: 0", "schedule: cosine",
            "warmup: 50", "lr_end: 0.0001", "report_every: 100", "checkpoint_every: 100000"]), ""].join("\n");
}

const commandOf = step =>
    `rapt train lesson.yaml --out lesson --max-steps ${step}\nsha256sum lesson/model.safetensors`;
