/* rapt/recipe.h: recipes: everything that a training run depends on, in one YAML file.
 *
 *     task: translation
 *     seed: 1
 *     data:
 *       pairs: ../data/en-fr.tsv     # relative to the recipe's folder
 *     model:
 *       layers: 2
 *     train:
 *       lr: 0.001
 *
 * Keys are written in their groups; in messages and in assignments they have dots: `train.lr`. What a recipe
 * leaves out has its default. `rapt_recipe_help` lists every key with type, default, range and meaning.
 * Unknown keys, keys that come twice, wrong types and values out of range are errors that name the file and
 * the line.
 *
 *     rapt_error err = {0};
 *     rapt_recipe recipe;
 *     if (rapt_recipe_read("recipes/quickstart.yaml", &recipe, &err) != RAPT_OK ||
 *         rapt_recipe_set(&recipe, "train.lr=0.002", &err) != RAPT_OK ||
 *         rapt_recipe_check(&recipe, "recipes/quickstart.yaml", &err) != RAPT_OK)
 *         fprintf(stderr, "%s\n", err.message);
 *     ...
 *     rapt_recipe_free(&recipe);
 */
#ifndef RAPT_RECIPE_H
#define RAPT_RECIPE_H

#include "rapt/data.h"
#include "rapt/lm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In what order several files of data.text become one text: that of the list, and within a folder of names; or that of a
 * hash of each file's path within its folder, so that the end of the text, which is the validation set, is of the same kind
 * as the rest. The order is the same everywhere, for any seed, and a file that is added moves no others. */
typedef enum rapt_recipe_text_order { RAPT_RECIPE_TEXT_ORDER_NAMES, RAPT_RECIPE_TEXT_ORDER_SHUFFLED } rapt_recipe_text_order;

/* The padded length of the rows of a batch: that of its longest sentence, or always data.max_len. */
typedef enum rapt_recipe_pad { RAPT_RECIPE_PAD_LONGEST, RAPT_RECIPE_PAD_FIXED } rapt_recipe_pad;

/* How a text becomes tokens: whole words and punctuation marks; characters; byte-pair encoding, trained by the run; a
 * tokenizer file; rank files of tiktoken. */
typedef enum rapt_recipe_tokenizer {
    RAPT_RECIPE_TOKENIZER_WORDS,
    RAPT_RECIPE_TOKENIZER_CHARACTERS,
    RAPT_RECIPE_TOKENIZER_BPE,
    RAPT_RECIPE_TOKENIZER_FILE,
    RAPT_RECIPE_TOKENIZER_CL100K,
    RAPT_RECIPE_TOKENIZER_O200K,
    RAPT_RECIPE_TOKENIZER_R50K
} rapt_recipe_tokenizer;

/* A language model whose shape has a name: see rapt_lm_preset. Setting the key sets all of `model` but
 * attention_dropout, activation_dropout and max_positions. */
typedef enum rapt_recipe_preset { RAPT_RECIPE_PRESET_NONE, RAPT_RECIPE_PRESET_SEED, RAPT_RECIPE_PRESET_GPT2 } rapt_recipe_preset;

/* The vocabulary size of a language model: the tokenizer's, or the largest id in the training text + 1. */
typedef enum rapt_recipe_vocab { RAPT_RECIPE_VOCAB_TOKENIZER, RAPT_RECIPE_VOCAB_TEXT } rapt_recipe_vocab;

/* What the loss of a batch is: the mean over its tokens, or the book's (d2l): the sum over sentences of the
 * mean over each row, padding counted as zero loss. */
typedef enum rapt_recipe_reduction { RAPT_RECIPE_REDUCTION_TOKEN, RAPT_RECIPE_REDUCTION_BOOK } rapt_recipe_reduction;

/* The optimizer: Adam with moments in fp32, or in 8 bits (rapt_adam_options.bits8). */
typedef enum rapt_recipe_optimizer { RAPT_RECIPE_OPTIMIZER_ADAM, RAPT_RECIPE_OPTIMIZER_ADAM8BIT } rapt_recipe_optimizer;

/* The learning rate after the linear warmup: constant, falling with 1/sqrt(step), or along a half cosine to
 * train.lr_end. */
typedef enum rapt_recipe_schedule {
    RAPT_RECIPE_SCHEDULE_CONSTANT,
    RAPT_RECIPE_SCHEDULE_INVERSE_SQRT,
    RAPT_RECIPE_SCHEDULE_COSINE
} rapt_recipe_schedule;

/* A recipe in memory; a field is named as its key. Texts come from malloc and belong to the recipe; an empty
 * text is NULL. A plain copy of the struct shares them. */
typedef struct rapt_recipe {
    uint64_t given[2]; /* keys that a file or rapt_recipe_set has set: a bit each, in the order of rapt_recipe_help */
    rapt_task task;
    int64_t seed;
    struct {
        char *pairs;     /* translation: rapt_pairs_read */
        char *validation; /* translation: the validation set, in place of a fraction of `pairs`; or NULL */
        char *text;      /* language models: a file, or a folder of them; several with : between them */
        char *text_files; /* patterns of names, comma-separated: which files of folders; NULL is all */
        rapt_recipe_text_order text_order;
        bool special_tokens; /* language models: texts of special tokens are those tokens; after each of several files is one */
        int64_t limit;   /* pairs; 0 is all */
        double validation_fraction; /* of the pairs, or of the text, which is its validation set */
        int64_t validation_tokens; /* language models: of the validation set, what reports evaluate; 0 is all */
        int64_t max_len; /* tokens, <eos> included */
        rapt_too_long too_long;
        rapt_recipe_pad pad;
    } data;
    struct {
        rapt_recipe_tokenizer type;
        char *path;
        int64_t vocab_size; /* of BPE; 0: by the size of the text */
        char *pattern;      /* of BPE */
        bool lowercase;
        int64_t min_freq;
        int64_t max_size; /* 0 is unlimited */
        bool shared;
        rapt_normalization normalize; /* of BPE */
        rapt_language detokenize;     /* of translations */
        bool capitalize;              /* of translations */
    } tokenizer;
    struct {
        rapt_recipe_preset preset;
        int64_t layers;
        int64_t d_model;
        int64_t heads; /* divides d_model */
        int64_t kv_heads; /* divides heads; 0 is heads */
        int64_t ffn;
        rapt_ffn_kind ffn_kind;
        double dropout;
        double attention_dropout; /* below 0: dropout */
        double activation_dropout;
        rapt_norm_place norm_place;
        rapt_norm_kind norm_kind;
        bool shared_norm;
        bool bias;
        bool output_bias;
        bool scale_embedding;
        bool tied;
        rapt_positions_kind positions;
        double rotary_base;
        int64_t context;
        int64_t max_positions;
        rapt_recipe_vocab vocab;
        rapt_weight_init init;
        double std;
        double embedding_std;
    } model;
    struct {
        int64_t epochs;
        int64_t steps; /* 0: by epochs */
        int64_t batch; /* sentences, or windows */
        int64_t batch_tokens; /* of translation; 0: by sentences */
        rapt_precision precision; /* of matrix products */
        int64_t accumulate; /* gradient accumulation: batches per optimizer step */
        int64_t shards; /* of the batches of a step, at most `accumulate`; their gradients are added as a binary tree */
        bool recompute; /* rapt_pass.recompute */
        rapt_recipe_optimizer optimizer;
        rapt_precision gradients; /* of weights, between a backward pass and the optimizer step: fp32, or bf16 */
        double lr;
        double beta1, beta2, eps;
        double weight_decay;
        bool lazy; /* sparse embeddings: only rows that a step uses are updated */
        double clip; /* 0: off */
        double label_smoothing;
        rapt_recipe_reduction reduction;
        rapt_recipe_schedule schedule;
        int64_t warmup; /* steps */
        double lr_end;
        int64_t report_every;     /* steps; 0 is every epoch */
        int64_t checkpoint_every; /* steps; 0 is every 10 s, or where writing one takes over 0.5 s, 20 times as long */
        int64_t keep;             /* checkpoints */
        bool keep_untrained;      /* untrained/, a model folder: the parameters before the first step */
        int64_t sample_every;     /* steps; 0 is never */
        int64_t sample_tokens;
        char *sample_prompt;
        bool eval_bleu;
        int64_t patience; /* reports; 0: off */
        char *init;               /* a model folder, or NULL */
        char *freeze;             /* patterns, comma-separated */
        struct {
            int64_t rank;         /* 0: no adapters */
            double alpha, dropout;
            char *modules;        /* names of layers, comma-separated; NULL or "all": of all blocks */
        } lora;                   /* rapt_model_add_lora */
        char *vectors, *target_vectors; /* files of word vectors (rapt_vectors_read), or NULL */
        bool freeze_vectors;
    } train;
} rapt_recipe;

/* Every key at its default, which is that of task `translation`; texts, which have none, are NULL. Frees nothing: the recipe
 * may be uninitialized.
 *
 * Defaults follow the task, and a few follow other keys (data.validation_fraction is 0 with data.validation):
 * rapt_recipe_read and rapt_recipe_set update all keys that are not given. So a program sets the task first, with
 * rapt_recipe_set, and may then write to fields itself. */
RAPT_API void rapt_recipe_defaults(rapt_recipe *recipe);

/* Reads a YAML file over the defaults. A relative path of data, tokenizer or model (train.init, train.vectors) is
 * resolved against the file's folder, so that it then holds for the working directory ("recipes/../data/en-fr.tsv").
 * `*out` may be uninitialized; after a failure it holds the defaults. Keys are checked one by one here; call
 * rapt_recipe_check when all assignments are made.
 *   - RAPT_ERR_NOT_FOUND, RAPT_ERR_IO: no such file, or not readable;
 *   - RAPT_ERR_FORMAT: "PATH:LINE: not YAML: ..." and the like;
 *   - RAPT_ERR_VALUE: 'PATH:LINE: unknown key "model.laiers"; did you mean "model.layers"?', "PATH:LINE: model.norm
 *     is now model.norm_place", "PATH:LINE: train.lr is -1; it must be above 0 and at most 10". */
RAPT_API rapt_code rapt_recipe_read(const char *path, rapt_recipe *out, rapt_error *err);

/* Reads the recipe.yaml that a run left in its model folder, as rapt_recipe_read does, and also accepts the key names of
 * version 0.1. */
RAPT_API rapt_code rapt_recipe_load(const char *folder, rapt_recipe *out, rapt_error *err);

/* Sets one key from "train.lr=0.001", with the checks of a file. Relative paths are taken as they are.
 * Messages start with "--set train.lr=-1: ". On failure the recipe is unchanged. */
RAPT_API rapt_code rapt_recipe_set(rapt_recipe *recipe, const char *assignment, rapt_error *err);

/* Whether the recipe can be run: every key in its range (a program may have set fields itself) and the keys
 * fit each other and the task: data.pairs or data.text is given, model.heads divides model.d_model, model.tied
 * comes with tokenizer.shared, data.max_len is at most model.max_positions, there is something to train, no key
 * of the other task or of another tokenizer is set, where it has no effect. RAPT_ERR_VALUE: "PATH: reason". */
RAPT_API rapt_code rapt_recipe_check(const rapt_recipe *recipe, const char *path, rapt_error *err);

/* The whole recipe, defaults included, as YAML text that reads back equal (but for relative paths,
 * which a file in another folder resolves anew). The caller frees `*yaml`; on failure it is NULL. RAPT_ERR_VALUE:
 * a text that is not UTF-8, or a value that no key can have. */
RAPT_API rapt_code rapt_recipe_format(const rapt_recipe *recipe, char **yaml, rapt_error *err);

/* A table of all keys: name, type, default, range and meaning, in columns of at most 130 characters together; where a range or a
 * meaning is longer, it continues below. The caller frees `*text`; on failure (RAPT_ERR_MEMORY) it is NULL. */
RAPT_API rapt_code rapt_recipe_help(char **text, rapt_error *err);

/* Frees the texts; the recipe then holds the defaults. */
RAPT_API void rapt_recipe_free(rapt_recipe *recipe);

#ifdef __cplusplus
}
#endif

#endif
