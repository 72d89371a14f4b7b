/* recipe/recipe_keys.h: the one table of recipe keys, and what reading, checking and printing do with a row.
 * A new key is a row here and a field of the same name in rapt/recipe.h. */
#ifndef RECIPE_RECIPE_KEYS_H
#define RECIPE_RECIPE_KEYS_H

#include "rapt/recipe.h"

#define RECIPE_MOST 9007199254740992 /* 2^53, up to where a double counts; stands for "no limit" */

/* The first default of a key is that of version 0.1, from which a checkpoint's hash is counted (recipe_compare.c); where a task
 * has another one now, RECIPE_TRANSLATION and RECIPE_LANGUAGE_MODEL of recipe_defaults.c say so.
 *
 * INT   (key, default, least, most, meaning)
 * AUTO  (key, default, least, most, meaning)   the same, or 0: rapt chooses
 * REAL  (key, default, '[' or '(', least, most, ']' or ')', meaning)   round brackets exclude the bound
 * BOOL  (key, default, meaning)
 * WORD  (key, default, words in the order of their enum, meaning)
 * TEXT  (key, meaning)
 * A meaning that begins with a task, or with a tokenizer.type that is learned, and a colon: no other one knows the key
 * (rapt_recipe_check). */
#define RECIPE_KEYS(INT, AUTO, REAL, BOOL, WORD, TEXT)                                                       \
    WORD(task, RAPT_RECIPE_TRANSLATION, "translation|language_model", "what is learned; a default A / B: B is language_model's") \
    INT(seed, 1, 0, RECIPE_MOST, "start of every random choice")                                             \
                                                                                                             \
    TEXT(data.pairs, "translation: file of SOURCE<tab>TARGET lines, or two files SOURCE:TARGET")             \
    TEXT(data.valid, "translation: pairs to evaluate on, instead of a part held out; files as data.pairs")   \
    TEXT(data.text, "language_model: file, or folder of files; several with : between them")                 \
    TEXT(data.text_files, "language_model: names of files to take from folders, such as *.md; all if empty") \
    WORD(data.text_order, RAPT_RECIPE_BY_NAME, "names|shuffled", "language_model: order of several files")         \
    INT(data.limit, 0, 0, RECIPE_MOST, "translation: only the first N pairs; 0: all")                        \
    REAL(data.held_out, 0, '[', 0, 0.5, ']', "validation fraction: of the sentences, or a text's end; 0 with data.valid") \
    INT(data.eval_tokens, 0, 0, RECIPE_MOST, "language_model: tokens of it that reports evaluate; 0: all")   \
    INT(data.max_len, 50, 2, 4096, "translation: tokens of a sentence, <eos> included")                      \
    WORD(data.too_long, RAPT_RECIPE_CUT, "cut|drop|error", "translation: what happens to a longer one")      \
    WORD(data.pad, RAPT_RECIPE_PAD_LONGEST, "longest|fixed", "translation: rows as the longest, or max_len") \
                                                                                                             \
    WORD(tokenizer.type, RAPT_RECIPE_WORDS, "words|characters|bpe|file|cl100k_base|o200k_base|r50k_base",    \
         "how text becomes tokens")                                                                          \
    TEXT(tokenizer.path, "the rank file, or a tokenizer.json; relative to the recipe")                       \
    AUTO(tokenizer.vocab_size, 8000, 257, 1000000, "bpe: entries that are learned; 0: by the size of the text") \
    TEXT(tokenizer.pattern, "bpe: regular expression of the pieces that a text is cut into; GPT-2's if empty") \
    BOOL(tokenizer.lowercase, true, "words: lower case before anything else")                                \
    INT(tokenizer.min_freq, 1, 1, 1000000, "words: rarer ones become <unk>")                                 \
    INT(tokenizer.max_size, 0, 0, RECIPE_MOST, "words: the most frequent ones kept; 0: all")                 \
    BOOL(tokenizer.shared, false, "translation: one vocabulary for both sides; of words: false")        \
    WORD(tokenizer.normalize, RAPT_NORMALIZATION_NONE, "none|nfc|plain|plain_lowercase", "bpe: what text goes through first") \
    WORD(tokenizer.detokenize, RAPT_LANGUAGE_NONE, "none|de|en|es|fr|it|nl|pt",                                \
         "translation: words are put together as in that language")                                          \
    BOOL(tokenizer.capitalize, false, "translation: sentences get a capital")                                \
                                                                                                             \
    WORD(model.preset, RAPT_RECIPE_NO_PRESET, "none|seed|gpt2", "language_model: sets the keys below; comes first") \
    INT(model.layers, 2, 1, 64, "blocks of the encoder, and of the decoder")                                 \
    INT(model.d_model, 128, 1, 8192, "features of a token")                                                  \
    INT(model.heads, 4, 1, 128, "attention heads; divides d_model")                                          \
    INT(model.kv_heads, 0, 0, 128, "language_model: heads of keys and values; divides heads; 0: heads")      \
    INT(model.ffn, 256, 1, 65536, "hidden features of the feed-forward network")                             \
    WORD(model.ffn_kind, RAPT_RECIPE_RELU, "relu|gelu|gelu_tanh|swiglu", "language_model: its activation")   \
    REAL(model.dropout, 0.1, '[', 0, 0.95, ']', "fraction of features zeroed in training")                   \
    REAL(model.attention_dropout, -1, '[', -1, 0.95, ']', "the same of attention weights; -1: as model.dropout") \
    REAL(model.activation_dropout, 0, '[', 0, 0.95, ']', "the same in feed-forward networks")                \
    WORD(model.norm, RAPT_RECIPE_POST, "post|pre", "layer norm after the sum, or before the sublayer")       \
    WORD(model.norm_kind, RAPT_RECIPE_LAYER_NORM, "layer|rms", "language_model: which norm")                 \
    BOOL(model.shared_norm, false, "language_model: a block uses one norm twice")                            \
    BOOL(model.bias, true, "biases in the attention projections; language_model: in all of a block")         \
    BOOL(model.output_bias, false, "language_model: a bias in the output projection")                        \
    BOOL(model.scale_embedding, true, "embeddings times sqrt(d_model)")                                      \
    BOOL(model.tied, false, "embeddings and output projection are one matrix; translation: needs shared") \
    WORD(model.positions, RAPT_RECIPE_SINUSOIDAL, "sinusoidal|learned|rotary", "language_model: which kind") \
    REAL(model.rotary_base, 10000, '[', 1, 1e9, ']', "language_model: rotary positions' longest period / 2 pi") \
    INT(model.context, 64, 2, 1000000, "language_model: tokens of a window")                                 \
    INT(model.max_positions, 1000, 2, 1000000, "translation: longest row that the model can take")           \
    WORD(model.vocab, RAPT_RECIPE_VOCAB_TOKENIZER, "tokenizer|text", "language_model: ids, all or to the largest used") \
    WORD(model.init, RAPT_RECIPE_XAVIER, "xavier|pytorch|gpt2", "starting values of weight matrices")        \
    REAL(model.std, 0.02, '(', 0, 10, ']', "language_model: standard deviation of gpt2 starting values")     \
    REAL(model.embedding_std, 0, '[', 0, 10, ']', "deviation of starting embeddings; 0: as the model wants it") \
                                                                                                             \
    INT(train.epochs, 10, 0, 1000000, "passes over the data")                                                \
    INT(train.steps, 0, 0, RECIPE_MOST, "exact number of steps instead; 0: by epochs")                       \
    INT(train.batch, 64, 1, 65536, "sentences, or windows, computed together")                               \
    INT(train.batch_tokens, 0, 0, RECIPE_MOST, "translation: sentences of like length, so many times the longest; 0: off") \
    WORD(train.precision, RAPT_PRECISION_FP32, "fp32|bf16", "of the factors of matrix products; all else is fp32")     \
    INT(train.accumulate, 1, 1, 65536, "batches a step, weighted by their tokens")                           \
    BOOL(train.recompute, false, "blocks run again in the backward pass: less memory, more time, the same model") \
    REAL(train.lr, 0.001, '(', 0, 10, ']', "learning rate (its peak, with a schedule)")                      \
    REAL(train.beta1, 0.9, '[', 0, 1, ')', "Adam: decay of the mean")                                        \
    REAL(train.beta2, 0.999, '[', 0, 1, ')', "Adam: decay of the mean square")                               \
    REAL(train.eps, 1e-8, '[', 1e-12, 1, ']', "Adam: added to the root of the mean square")                  \
    REAL(train.weight_decay, 0, '[', 0, 1, ']', "decoupled weight decay (AdamW), of matrices only")          \
    BOOL(train.lazy, false, "language_model: embedding rows that a step doesn't use stay as they are")       \
    REAL(train.clip, 1, '[', 0, 1000000, ']', "largest global norm of the gradient; 0: off")                 \
    REAL(train.label_smoothing, 0, '[', 0, 0.9, ']', "probability spread over all words")                    \
    WORD(train.reduction, RAPT_RECIPE_TOKEN, "token|book", "loss: mean over tokens, or the d2l book's")      \
    WORD(train.schedule, RAPT_RECIPE_CONSTANT, "constant|inverse_sqrt|cosine", "learning rate after warm-up")\
    INT(train.warmup, 0, 0, 1000000000, "steps in which the learning rate rises from 0")                     \
    REAL(train.lr_end, 0, '[', 0, 10, ']', "where cosine ends")                                              \
    INT(train.report_every, 0, 0, RECIPE_MOST, "steps between reports; 0: an epoch")                         \
    INT(train.checkpoint_every, 0, 0, RECIPE_MOST, "steps between checkpoints; 0: every 10 s, at most 5 % of the time") \
    INT(train.keep, 2, 1, 1000, "checkpoints kept")                                                          \
    INT(train.sample_every, 0, 0, RECIPE_MOST, "language_model: steps between samples of text; 0: never")    \
    INT(train.sample_tokens, 100, 1, 100000, "language_model: tokens of a sample")                           \
    TEXT(train.sample_prompt, "language_model: what a sample goes on from; a line break if empty")           \
    BOOL(train.eval_bleu, false, "translation: BLEU of greedy translations of what is held out, at each report") \
    INT(train.patience, 0, 0, 1000000, "stop after so many reports without a lower held-out loss; 0: never") \
    TEXT(train.init, "model folder to start from (fine-tuning): its parameters, sizes and tokenizers")      \
    TEXT(train.freeze, "parameters not trained: names with * and ?, comma-separated")

typedef enum recipe_kind { RECIPE_INT, RECIPE_REAL, RECIPE_BOOL, RECIPE_WORD, RECIPE_TEXT } recipe_kind;

/* A row. All numbers fit a double: `standard` is the default, or a word's index. */
typedef struct recipe_key {
    const char *name;
    recipe_kind kind;
    size_t offset; /* of the field in rapt_recipe */
    double first_standard; /* see above; recipe_defaults.h has what holds */
    char low, high; /* brackets; low '0': 0 is allowed, too */
    double min, max;
    const char *words; /* "cut|drop|error" */
    const char *meaning;
} recipe_key;

enum { RECIPE_GROUPS = 4, RECIPE_TEXT_MAX = 1 << 16, RECIPE_REASON = 400, RECIPE_NUMBER = 32 };

size_t recipe_key_count(void);
const recipe_key *recipe_key_at(size_t i);
const recipe_key *recipe_key_find(const char *name); /* NULL: there is none */
/* The same for a key that is to get a value; with NULL comes a reason: it is unknown, or a group. */
const recipe_key *recipe_key_wanted(const char *name, char reason[RECIPE_REASON]);
size_t recipe_key_index(const recipe_key *key);
/* The groups "data", "tokenizer", "model", "train": 0 to 3; RECIPE_GROUPS for any other name. */
size_t recipe_group_index(const char *name);

/* 'unknown key "model.laiers"; did you mean "model.layers"?' */
void recipe_key_unknown(const char *name, char reason[RECIPE_REASON]);

/* Sets one field from text, which is given then; model.preset sets and gives others with it. On failure the recipe is as before
 * and `reason` says "train.lr is -1; it must be above 0 and at most 10". */
rapt_code recipe_key_set(const recipe_key *key, rapt_recipe *recipe, const char *text,
                         char reason[RECIPE_REASON]);
/* Whether a field holds a value that recipe_key_set would have accepted. */
rapt_code recipe_key_check(const recipe_key *key, const rapt_recipe *recipe, char reason[RECIPE_REASON]);
/* To a number, or a word's index; texts to NULL. Frees nothing. */
void recipe_key_put(const recipe_key *key, rapt_recipe *recipe, double value);
/* Copies one field; texts are shared. */
void recipe_key_copy(const recipe_key *key, rapt_recipe *to, const rapt_recipe *from);
/* Whether two fields are of the same value; of texts, the same letters. */
bool recipe_key_equal(const recipe_key *key, const rapt_recipe *a, const rapt_recipe *b);
/* Whether a file or an assignment has set it. */
bool recipe_key_given(const recipe_key *key, const rapt_recipe *recipe);
void recipe_key_give(const recipe_key *key, rapt_recipe *recipe);

/* A field's value (which recipe_key_check accepts) as recipe_key_set reads it; texts are the field itself. */
const char *recipe_key_value(const recipe_key *key, const rapt_recipe *recipe, char buffer[RECIPE_NUMBER]);

#endif
