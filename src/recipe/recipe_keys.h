/* recipe/recipe_keys.h: the one table of recipe keys, and the functions that read, check and print a row. A new key is a row here
 * and a field of the same name in rapt/recipe.h. */
#ifndef RECIPE_RECIPE_KEYS_H
#define RECIPE_RECIPE_KEYS_H

#include "rapt/recipe.h"

#define RECIPE_MAX 9007199254740992 /* 2^53, the largest range of exact integers in a double; stands for "no limit" */

/* The first default of a key is version 0.1's, on which a checkpoint's hash is based (recipe_compare.c). If a task has another
 * default now, it is in RECIPE_TRANSLATION or RECIPE_LANGUAGE_MODEL of recipe_defaults.c.
 *
 * INT (key, default, min, max, meaning) AUTO (key, default, min, max, meaning) an integer in this range, or 0: rapt chooses FLOAT
 * (key, default, '[' or '(', min, max, ']' or ')', meaning) round brackets exclude the bound BOOL (key, default, meaning) CHOICE
 * (key, default, words in the order of their enum, meaning) STRING (key, meaning) A meaning that begins with a task, or with a
 * tokenizer.type that is trained, and a colon: the key is for that one only (rapt_recipe_check). */
#define RECIPE_KEYS(INT, AUTO, FLOAT, BOOL, CHOICE, STRING)                                               \
    CHOICE(task, RAPT_TASK_TRANSLATION, "translation|language_model", "the task; a default A / B: B is language_model's") \
    INT(seed, 1, 0, RECIPE_MAX, "random seed")                                                            \
                                                                                                          \
    STRING(data.pairs,                                                                                    \
           "translation: training set: file of SOURCE<tab>TARGET lines, or two files SOURCE:TARGET; or a list of them") \
    STRING(data.weights,                                                                                  \
           "translation: weights of the list's corpora, comma-separated: how often a pass has each pair; empty: 1") \
    STRING(data.validation,                                                                               \
           "validation set, in place of a fraction of data.pairs, .conversations or .preferences; files as there") \
    STRING(data.text, "language_model: training text: file, or folder of files; several with : between them") \
    STRING(data.text_files, "language_model: names of files to take from folders, such as *.md; empty: all") \
    CHOICE(data.text_order, RAPT_RECIPE_TEXT_ORDER_NAMES, "names|shuffled", "language_model: order of several files") \
    STRING(data.conversations, "language_model: fine-tuning on conversations: file of JSON lines, in place of data.text") \
    STRING(data.preferences, "language_model: preference tuning (DPO): file of JSON lines, in place of data.text") \
    BOOL(data.special_tokens, true,                                                                       \
         "language_model: special tokens in the text are tokens; end of text follows each of several files") \
    INT(data.limit, 0, 0, RECIPE_MAX, "translation: only the first N pairs; 0: all")                      \
    FLOAT(data.validation_fraction, 0, '[', 0, 0.5, ']',                                                  \
         "validation split: fraction of the source sentences, or of a text, its end; 0 with data.validation") \
    INT(data.validation_tokens, 0, 0, RECIPE_MAX, "language_model: tokens of the validation set that reports evaluate; 0: all") \
    STRING(data.filter.rules,                                                                             \
           "translation: pairs of data.pairs to leave out: all, or rules of rapt data check, comma-separated; empty: none") \
    FLOAT(data.filter.ratio, 3, '[', 1, 1000000, ']',                                                     \
          "translation: rule length_ratio: maximum ratio of a side's length to the expected length")      \
    INT(data.filter.margin, 20, 0, 1000000000,                                                            \
        "translation: rule length_ratio: differences in characters that are always allowed") \
    INT(data.max_len, 50, 2, 4096, "translation: maximum sentence length in tokens, <eos> included; of characters: 200")      \
    FLOAT(data.bpe_dropout, 0, '[', 0, 0.9, ']',                                                          \
          "translation: BPE dropout of training pairs: probability that a merge is left out; 0: off")     \
    CHOICE(data.too_long, RAPT_TOO_LONG_CUT, "cut|drop|error", "what is done with a longer sentence, or conversation") \
    BOOL(data.pack, false, "language_model: batches of train.batch windows of data.conversations, each of which is seen alone") \
    CHOICE(data.pad, RAPT_RECIPE_PAD_LONGEST, "longest|fixed", "translation: pad rows to the longest of a batch, or to max_len") \
                                                                                                          \
    CHOICE(tokenizer.type, RAPT_RECIPE_TOKENIZER_WORDS, "words|characters|bpe|file|cl100k_base|o200k_base|r50k_base", \
         "kind of tokenizer: trained (the first three), or loaded from tokenizer.path")                   \
    STRING(tokenizer.path, "tokenizer.json, SentencePiece model, or rank file (tiktoken); relative to the recipe")             \
    AUTO(tokenizer.vocab_size, 8000, 257, 1000000, "bpe: vocabulary size; 0: by the size of the text")    \
    STRING(tokenizer.pattern, "bpe: regular expression for pre-tokenization; empty: GPT-2's")             \
    BOOL(tokenizer.lowercase, true, "words: lowercase the text")                                          \
    INT(tokenizer.min_freq, 1, 1, 1000000, "words: minimum frequency; rarer words become <unk>")          \
    INT(tokenizer.max_size, 0, 0, RECIPE_MAX, "words: maximum vocabulary size, most frequent words first; 0: unlimited") \
    BOOL(tokenizer.shared, false, "translation: one vocabulary for source and target; of words: false")   \
    CHOICE(tokenizer.normalize, RAPT_NORMALIZATION_NONE, "none|nfc|plain|plain_lowercase",                \
         "bpe: Unicode normalization before tokenization")                                                \
    CHOICE(tokenizer.chat, RAPT_RECIPE_CHAT_NONE, "none|chatml",                                          \
         "language_model: bpe: special tokens and chat template of a model to be tuned on conversations") \
    CHOICE(tokenizer.detokenize, RAPT_LANGUAGE_NONE, "none|de|en|es|fr|it|nl|pt",                         \
         "translation: detokenize output by the rules of this language")                                  \
    BOOL(tokenizer.capitalize, false, "translation: capitalize the first letter of each output sentence") \
                                                                                                          \
    CHOICE(model.preset, RAPT_RECIPE_PRESET_NONE, "none|seed|gpt2",                                       \
         "language_model: named architecture: sets the keys below; comes first")                          \
    INT(model.layers, 2, 1, 64, "number of layers (blocks) of the encoder and of the decoder")            \
    INT(model.d_model, 128, 1, 8192, "model dimension (embedding size)")                                  \
    INT(model.heads, 4, 1, 128, "attention heads; divides d_model")                                       \
    INT(model.kv_heads, 0, 0, 128, "key and value heads (grouped-query attention); divides heads; 0: heads") \
    INT(model.ffn, 256, 1, 65536, "hidden size of the feed-forward network")                              \
    CHOICE(model.ffn_kind, RAPT_FFN_RELU, "relu|gelu|gelu_tanh|swiglu|silu",                                   \
         "activation of the feed-forward network")                                                        \
    FLOAT(model.dropout, 0.1, '[', 0, 0.95, ']',                                                       \
         "dropout probability: embeddings, output of each sublayer; of fine-tuning: the model's")         \
    FLOAT(model.attention_dropout, -1, '[', -1, 0.95, ']', "dropout of attention weights; -1: as model.dropout") \
    FLOAT(model.activation_dropout, 0, '[', 0, 0.95, ']', "dropout of the hidden layer of feed-forward networks") \
    CHOICE(model.norm_place, RAPT_NORM_PLACE_POST, "post|pre",                                            \
         "post-norm (after the residual sum), or pre-norm (before the sublayer)")                         \
    CHOICE(model.norm_kind, RAPT_NORM_KIND_LAYER, "layer|rms", "layer norm or RMS norm")                  \
    BOOL(model.shared_norm, false, "the sublayers of a block share one norm")                             \
    BOOL(model.bias, true, "biases of the attention projections; language_model: of all layers in a block") \
    BOOL(model.output_bias, false, "language_model: bias of the output projection")                       \
    BOOL(model.scale_embedding, true, "multiply embeddings by sqrt(d_model)")                             \
    BOOL(model.tied, false, "tie embeddings and output projection (weight tying); translation: needs tokenizer.shared") \
    CHOICE(model.positions, RAPT_POSITIONS_SINUSOIDAL, "sinusoidal|learned|rotary|none|alibi",            \
         "kind of positional encoding; rotary, alibi: of self-attention; none: an ablation") \
    FLOAT(model.rotary_base, 10000, '[', 1, 1e9, ']', "base of the rotary frequencies (RoPE theta)")    \
    INT(model.context, 64, 2, 1000000, "language_model: context length in tokens")                        \
    INT(model.max_positions, 1000, 2, 1000000, "translation: maximum length in tokens that the model can take") \
    CHOICE(model.vocab, RAPT_RECIPE_VOCAB_TOKENIZER, "tokenizer|text",                                    \
         "language_model: vocabulary: all ids, or up to the largest id in the text")                      \
    CHOICE(model.init, RAPT_WEIGHT_INIT_XAVIER, "xavier|pytorch|gpt2", "weight initialization")           \
    FLOAT(model.std, 0.02, '(', 0, 10, ']', "standard deviation of gpt2 initialization")                  \
    FLOAT(model.embedding_std, 0, '[', 0, 10, ']', "standard deviation of initial embeddings; 0: by the model") \
                                                                                                          \
    INT(train.epochs, 10, 0, 1000000, "number of epochs")                                                 \
    INT(train.steps, 0, 0, RECIPE_MAX, "number of optimizer steps, in place of train.epochs; 0: by epochs") \
    INT(train.batch, 64, 1, 65536, "batch size: sentences, conversations, or windows of model.context tokens")           \
    INT(train.batch_tokens, 0, 0, RECIPE_MAX, "translation: max padded tokens per batch, length-bucketed; 0: off") \
    CHOICE(train.precision, RAPT_TYPE_FP32, "fp32|bf16",                                             \
         "matmul precision; bf16: mixed, with fp32 accumulation and weights")                             \
    INT(train.accumulate, 1, 1, 65536, "gradient accumulation: batches per optimizer step, weighted by their tokens") \
    INT(train.shards, 1, 1, 65536,                                                                        \
         "shards of a step's batches, which processes may share; above train.accumulate: of parts of batches") \
    CHOICE(train.draw_by, RAPT_RECIPE_DRAW_BY_BATCH, "batch|step",                                        \
         "what is drawn from the data at a time; step: train.accumulate batches as one large batch")      \
    BOOL(train.recompute, false, "activation (gradient) checkpointing of each block: less memory, more time") \
    CHOICE(train.optimizer, RAPT_RECIPE_OPTIMIZER_ADAM, "adam|adam8bit|muon|sgd",                         \
         "optimizer; adamw: adam; adam8bit: moments of matrices in 8 bits; muon: for hidden matrices; sgd: gradient descent") \
    CHOICE(train.gradients, RAPT_TYPE_FP32, "fp32|bf16",                                             \
         "weight gradients between the passes and the optimizer; bf16: half the memory, train.accumulate 1 only") \
    BOOL(train.release_gradients, false, "update in the backward pass: less memory, with train.clip more time")                \
    FLOAT(train.lr, 0.001, '(', 0, 10, ']',                                                               \
         "learning rate (peak, with a schedule); sgd: 0.1; fine-tuning: a tenth, all of a Hugging Face model 5e-05") \
    FLOAT(train.beta1, 0.9, '[', 0, 1, ')', "Adam: decay rate of the first moment")                       \
    FLOAT(train.beta2, 0.999, '[', 0, 1, ')', "Adam: decay rate of the second moment")                    \
    FLOAT(train.eps, 1e-8, '[', 1e-12, 1, ']', "Adam: epsilon")                                           \
    FLOAT(train.weight_decay, 0, '[', 0, 1, ']', "decoupled weight decay (AdamW), of matrices only; fine-tuning, sgd: 0")  \
    FLOAT(train.muon.lr, 0, '[', 0, 10, ']', "Muon: learning rate (peak), scheduled as train.lr; 0: train.lr") \
    CHOICE(train.muon.adjust_lr, RAPT_MUON_MATCH_RMS_ADAMW, "match_rms_adamw|original",                   \
         "Muon: factor of lr: 0.2 sqrt(max(rows, columns)), steps of Adam's size; or sqrt(max(1, rows / columns))") \
    FLOAT(train.muon.weight_decay, -1, '[', -1, 1, ']', "Muon: decoupled weight decay; -1: train.weight_decay") \
    FLOAT(train.muon.momentum, 0.95, '[', 0, 1, ')', "Muon: decay rate of the momentum")                  \
    BOOL(train.muon.nesterov, true, "Muon: Nesterov momentum")                                            \
    INT(train.muon.ns_steps, 5, 1, 99, "Muon: Newton-Schulz iterations")                                  \
    FLOAT(train.sgd.momentum, 0, '[', 0, 1, ')', "SGD: momentum; 0: none")                                \
    BOOL(train.sgd.nesterov, false, "SGD: Nesterov momentum")                                             \
    FLOAT(train.ema, 0, '[', 0, 1, ')',                                                                   \
         "exponential moving average of parameters, with this decay, which is evaluated and saved; 0: off") \
    BOOL(train.lazy, false, "language_model: lazy Adam: embedding rows that a step does not use are not updated") \
    FLOAT(train.clip, 1, '[', 0, 1000000, ']', "gradient clipping: maximum global norm; 0: off")          \
    FLOAT(train.label_smoothing, 0, '[', 0, 0.9, ']', "label smoothing: probability mass spread over the vocabulary") \
    CHOICE(train.loss_on, RAPT_RECIPE_LOSS_ON_ANSWERS, "answers|all",                                     \
         "language_model: tokens of data.conversations that carry loss; answers: with their ends of turn")  \
    FLOAT(train.dpo.beta, 0.1, '(', 0, 1000, ']', "language_model: DPO: how near the model stays to train.init; large: near")  \
    FLOAT(train.dpo.label_smoothing, 0, '[', 0, 0.5, ')',                                                 \
          "language_model: DPO: the share of pairs that is taken to be the wrong way round")              \
    CHOICE(train.reduction, RAPT_RECIPE_REDUCTION_TOKEN, "token|book", "loss reduction: mean over tokens, or the d2l book's") \
    CHOICE(train.schedule, RAPT_RECIPE_SCHEDULE_CONSTANT, "constant|inverse_sqrt|cosine|linear|plateau",                      \
           "learning-rate schedule after warmup")                                                                            \
    INT(train.warmup, 0, 0, 1000000000, "linear warmup steps; of fine-tuning 0")                                            \
    FLOAT(train.lr_end, 0, '[', 0, 10, ']', "final learning rate of the cosine and linear schedules, lowest of plateau") \
    INT(train.plateau.patience, 2, 1, 1000000, "schedule plateau: reports without a better train.best_by until the rate falls") \
    FLOAT(train.plateau.factor, 0.5, '(', 0, 1, ')', "schedule plateau: what the learning rate is multiplied by")           \
    INT(train.report_every, 0, 0, RECIPE_MAX, "steps between reports, which evaluate; 0: an epoch")       \
    INT(train.checkpoint_every, 0, 0, RECIPE_MAX, "steps between checkpoints; 0: every 10 s, at most 5 % of the time") \
    INT(train.keep, 2, 1, 1000, "number of checkpoints kept")                                             \
    BOOL(train.keep_untrained, false, "also untrained/, a model folder: the parameters before the first step") \
    BOOL(train.tensorboard, false, "also events.out.tfevents.rapt: the reports for TensorBoard")          \
    INT(train.sample_every, 0, 0, RECIPE_MAX, "language_model: steps between generated samples; 0: never") \
    INT(train.sample_tokens, 100, 1, 100000, "language_model: tokens of a sample")                        \
    STRING(train.sample_prompt, "language_model: prompt of the samples; empty: a line break")             \
    BOOL(train.eval_bleu, false, "translation: BLEU and chrF of the validation set at each report, by greedy search") \
    CHOICE(train.best_by, RAPT_RECIPE_BEST_BY_LOSS, "loss|bleu|chrf",                                     \
           "translation: what decides best/ and early stopping: validation loss, or a score of train.eval_bleu") \
    INT(train.patience, 0, 0, 1000000, "early stopping: reports without a better train.best_by; 0: off")  \
    STRING(train.init, "fine-tuning: model folder to start from: its parameters, sizes and tokenizers")   \
    STRING(train.freeze, "fine-tuning: parameters to freeze: names with * and ?, comma-separated")        \
    INT(train.lora.rank, 0, 0, 4096, "fine-tuning: rank of low-rank adapters (LoRA), which alone are trained; 0: none") \
    FLOAT(train.lora.alpha, 16, '(', 0, 65536, ']', "fine-tuning: adapters are multiplied by alpha / rank")      \
    BOOL(train.lora.rslora, false, "fine-tuning: adapters are multiplied by alpha / sqrt(rank) instead (rsLoRA)")  \
    BOOL(train.lora.dora, false, "fine-tuning: the lengths of a layer's rows are trained, too (DoRA)")  \
    FLOAT(train.lora.dropout, 0, '[', 0, 0.95, ']', "fine-tuning: dropout of the input of adapters")      \
    STRING(train.lora.modules, "fine-tuning: layers with adapters: ends of names, comma-separated; empty: all") \
    STRING(train.lora.rank_pattern, "fine-tuning: other ranks: NAME=RANK, comma-separated; NAME: as in PEFT's rank_pattern") \
    STRING(train.lora.alpha_pattern, "fine-tuning: other alphas: NAME=ALPHA, comma-separated")           \
    BOOL(train.lora.hold, true, "fine-tuning: a base in fewer bits stays in its files: less memory, small batches take longer") \
    STRING(train.lora.save, "language_model: embedding or output matrix to train beside adapters: names, comma-separated") \
    STRING(train.vectors, "initial embeddings: file of GloVe or word2vec; translation: of the source")    \
    STRING(train.target_vectors, "translation: the same for the target")                                  \
    BOOL(train.freeze_vectors, false, "freeze the embeddings that start from such a file")

/* Keys that had another name in version 0.1: the old name is an error that tells the new one, except in recipes that a model
 * folder keeps. */
#define RECIPE_RENAMED(X)                              \
    X(data.valid, data.validation)                     \
    X(data.held_out, data.validation_fraction)         \
    X(data.eval_tokens, data.validation_tokens)        \
    X(model.norm, model.norm_place)

typedef enum recipe_kind { RECIPE_INT, RECIPE_FLOAT, RECIPE_BOOL, RECIPE_CHOICE, RECIPE_STRING } recipe_kind;

/* A row of the table. All values fit a double: `standard` is the default, or the index of a choice. */
typedef struct recipe_key {
    const char *name;
    recipe_kind kind;
    size_t offset; /* offset of the field in rapt_recipe */
    double first_standard; /* the first default, see above; recipe_defaults.h has the current ones */
    char low, high; /* brackets; low '0': 0 is also allowed */
    double min, max;
    const char *words; /* "cut|drop|error" */
    const char *meaning;
} recipe_key;

enum { RECIPE_KEYS_MAX = 256, RECIPE_GROUPS = 4, RECIPE_STRING_MAX = 1 << 16, RECIPE_REASON = 400, RECIPE_NUMBER = 32 };

size_t recipe_key_count(void);
const recipe_key *recipe_key_at(size_t i);
const recipe_key *recipe_key_find(const char *name); /* NULL: there is none */
/* recipe_meant.c: the key with this name without its groups, or with this name in other books and programs ("n_layer"); NULL:
 * there is none. If several have the name, the first that takes `value`, unless that is NULL, with the fewest groups. */
const char *recipe_key_meant(const char *name, const char *value);
/* The present name of a key, if `name` is its name in version 0.1, else NULL. */
const char *recipe_key_renamed(const char *name);
/* The name of a key in version 0.1, on which a checkpoint's hash is based. */
const char *recipe_key_first_name(const recipe_key *key);
/* recipe_meant.c: finds a key that will get a value. NULL comes with a reason: it is unknown, was renamed, or is a group. */
const recipe_key *recipe_key_wanted(const char *name, char reason[RECIPE_REASON]);
size_t recipe_key_index(const recipe_key *key);
/* The groups "data", "tokenizer", "model", "train": 0 to 3; RECIPE_GROUPS for any other name. */
size_t recipe_group_index(const char *name);
const char *recipe_group_at(size_t i);
/* Whether keys begin with this name, "train.lora", and a dot. */
bool recipe_key_is_inner_group(const char *name);

#define RECIPE_UNKNOWN_KEY "unknown key \""
/* recipe_meant.c: 'unknown key "model.laiers"; did you mean "model.layers"?', or only the first half. */
void recipe_key_unknown(const char *name, char reason[RECIPE_REASON]);

/* Sets one field from text and marks it as given; model.preset sets and marks the fields of the preset. On failure the recipe is
 * unchanged and `reason` says "train.lr is -1; it must be above 0 and at most 10". */
rapt_code recipe_key_set(const recipe_key *key, rapt_recipe *recipe, const char *text,
                         char reason[RECIPE_REASON]);
/* Whether a text is one of the words of a choice; other keys take any. */
bool recipe_key_takes_word(const recipe_key *key, const char *text);
/* Whether a field holds a value that recipe_key_set would have accepted. */
rapt_code recipe_key_check(const recipe_key *key, const rapt_recipe *recipe, char reason[RECIPE_REASON]);
/* Sets a field to a number, or to the choice of this index; strings to NULL. Frees nothing. */
void recipe_key_put(const recipe_key *key, rapt_recipe *recipe, double value);
/* Copies one field; strings are shared. */
void recipe_key_copy(const recipe_key *key, rapt_recipe *to, const rapt_recipe *from);
/* Whether a field is equal in two recipes; strings are compared by content. */
bool recipe_key_equal(const recipe_key *key, const rapt_recipe *a, const rapt_recipe *b);
/* Whether a file or an assignment has set the field; and marks it so. */
bool recipe_key_given(const recipe_key *key, const rapt_recipe *recipe);
void recipe_key_give(const recipe_key *key, rapt_recipe *recipe);

/* Whether a key names files or a folder: their contents decide a run, not their names. */
bool recipe_key_is_path(const recipe_key *key);
/* The field of such a key: a path, or a list of paths, or NULL; NULL for a key that names no files. */
char **recipe_key_path(const recipe_key *key, rapt_recipe *recipe);

/* A field's value as text for recipe_key_set, in `buffer`, or the string of the field itself. recipe_key_check must accept the
 * value. */
const char *recipe_key_value(const recipe_key *key, const rapt_recipe *recipe, char buffer[RECIPE_NUMBER]);

#endif
