/* rapt/recipe.h: recipes: everything on which a training run depends, in one YAML file.
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
 * A file has keys in groups; messages and assignments write them with dots: `train.lr`. A key that a recipe leaves out has its
 * default. `rapt_recipe_help` lists every key with type, default, range and meaning. Unknown keys, repeated keys, wrong types and
 * values out of range are errors that name the file and the line.
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

/* The order in which several files of data.text become one text. NAMES: the order of the list, and of names within a folder.
 * SHUFFLED: the order of a hash of each file's path within its folder, so that the end of the text, which is the validation set,
 * resembles the rest. The order is the same everywhere and for any seed, and a new file does not reorder the others. */
typedef enum rapt_recipe_text_order { RAPT_RECIPE_TEXT_ORDER_NAMES, RAPT_RECIPE_TEXT_ORDER_SHUFFLED } rapt_recipe_text_order;

/* The padded length of the rows of a batch: the length of its longest sentence, or always data.max_len. */
typedef enum rapt_recipe_pad { RAPT_RECIPE_PAD_LONGEST, RAPT_RECIPE_PAD_FIXED } rapt_recipe_pad;

/* How a text becomes tokens: whole words and punctuation marks; characters; byte-pair encoding, trained by the run; a
 * tokenizer file; rank files of tiktoken. */
#define RAPT_RECIPE_TOKENIZERS(X)                                                                  \
    X(RAPT_RECIPE_TOKENIZER_WORDS)                                                                 \
    X(RAPT_RECIPE_TOKENIZER_CHARACTERS)                                                            \
    X(RAPT_RECIPE_TOKENIZER_BPE)                                                                   \
    X(RAPT_RECIPE_TOKENIZER_FILE)                                                                  \
    X(RAPT_RECIPE_TOKENIZER_CL100K)                                                                \
    X(RAPT_RECIPE_TOKENIZER_O200K)                                                                 \
    X(RAPT_RECIPE_TOKENIZER_R50K)

typedef enum rapt_recipe_tokenizer {
#define RAPT_RECIPE_TOKENIZER_ENUM(name) name,
    RAPT_RECIPE_TOKENIZERS(RAPT_RECIPE_TOKENIZER_ENUM)
#undef RAPT_RECIPE_TOKENIZER_ENUM
} rapt_recipe_tokenizer;

/* A language model whose shape has a name (rapt_lm_preset). Setting the key sets all of `model` except attention_dropout,
 * activation_dropout and max_positions. */
typedef enum rapt_recipe_preset { RAPT_RECIPE_PRESET_NONE, RAPT_RECIPE_PRESET_SEED, RAPT_RECIPE_PRESET_GPT2 } rapt_recipe_preset;

/* The vocabulary size of a language model: the tokenizer's, or the largest id in the training text + 1. */
typedef enum rapt_recipe_vocab { RAPT_RECIPE_VOCAB_TOKENIZER, RAPT_RECIPE_VOCAB_TEXT } rapt_recipe_vocab;

/* The loss of a batch. TOKEN: the mean over its tokens. BOOK (d2l): the mean over each row, in which padding counts as zero loss,
 * summed over the rows. */
typedef enum rapt_recipe_reduction { RAPT_RECIPE_REDUCTION_TOKEN, RAPT_RECIPE_REDUCTION_BOOK } rapt_recipe_reduction;

/* The form of conversations that a new language model with byte-level BPE is made for. CHATML: <|im_start|> and <|im_end|> are
 * special tokens, and the model's folder gets a chat template. */
typedef enum rapt_recipe_chat { RAPT_RECIPE_CHAT_NONE, RAPT_RECIPE_CHAT_CHATML } rapt_recipe_chat;

/* The tokens of a conversation that carry loss: the assistant's answers with their ends of turn, or all. */
typedef enum rapt_recipe_loss_on { RAPT_RECIPE_LOSS_ON_ANSWERS, RAPT_RECIPE_LOSS_ON_ALL } rapt_recipe_loss_on;

/* The optimizer: Adam with moments in fp32, or in 8 bits (rapt_adam_options.bits8); Muon for hidden matrices, with Adam for the
 * rest (rapt_muon_new); SGD, gradient descent with momentum (rapt_sgd_new). */
typedef enum rapt_recipe_optimizer {
    RAPT_RECIPE_OPTIMIZER_ADAM,
    RAPT_RECIPE_OPTIMIZER_ADAM8BIT,
    RAPT_RECIPE_OPTIMIZER_MUON,
    RAPT_RECIPE_OPTIMIZER_SGD
} rapt_recipe_optimizer;

/* Muon's factor of the learning rate for a matrix [rows, columns]. MATCH_RMS_ADAMW: 0.2 sqrt(max(rows, columns)), which makes
 * steps as large as Adam's, so that learning rate and weight decay of Adam fit (Liu et al. 2025). ORIGINAL: sqrt(max(1, rows /
 * columns)) (Jordan et al. 2024). */
typedef enum rapt_muon_adjust { RAPT_MUON_MATCH_RMS_ADAMW, RAPT_MUON_ORIGINAL } rapt_muon_adjust;

/* The learning rate after the linear warmup: constant, falling with 1/sqrt(step), along a half cosine or a line to
 * train.lr_end, or multiplied by train.plateau.factor when reports become no better. */
typedef enum rapt_recipe_schedule {
    RAPT_RECIPE_SCHEDULE_CONSTANT,
    RAPT_RECIPE_SCHEDULE_INVERSE_SQRT,
    RAPT_RECIPE_SCHEDULE_COSINE,
    RAPT_RECIPE_SCHEDULE_LINEAR,
    RAPT_RECIPE_SCHEDULE_PLATEAU
} rapt_recipe_schedule;

/* The number that decides best/ and early stopping: the validation loss, which should be low, or BLEU or chrF of the validation
 * set's greedy translations, which should be high. */
typedef enum rapt_recipe_best_by {
    RAPT_RECIPE_BEST_BY_LOSS,
    RAPT_RECIPE_BEST_BY_BLEU,
    RAPT_RECIPE_BEST_BY_CHRF
} rapt_recipe_best_by;

/* What is drawn from the data at a time: a batch, or all examples of a step, as one batch of train.batch x train.accumulate. */
typedef enum rapt_recipe_draw_by { RAPT_RECIPE_DRAW_BY_BATCH, RAPT_RECIPE_DRAW_BY_STEP } rapt_recipe_draw_by;

/* A recipe in memory; each field has the name of its key. Texts come from malloc and belong to the recipe; an empty text is NULL.
 * A plain copy of the struct shares the texts. */
typedef struct rapt_recipe {
    uint64_t given[4]; /* one bit for each key, in the order of rapt_recipe_help: a file or rapt_recipe_set has set it */
    rapt_task task;
    int64_t seed;
    struct {
        char *pairs;     /* translation: the argument of rapt_pairs_read; a list of a file has a line for each of its corpora */
        char *weights;   /* of the corpora of `pairs`, comma-separated; NULL: 1 each */
        char *validation; /* the validation set, instead of a fraction of `pairs`, `conversations` or `preferences`; or NULL */
        char *text;      /* language models: a file or a folder of files; several are separated by : */
        char *text_files; /* patterns of file names, comma-separated, to select files of folders; NULL: all */
        rapt_recipe_text_order text_order;
        char *conversations; /* fine-tuning of language models: a file of JSON lines, instead of `text`; or NULL */
        char *preferences; /* preference tuning of language models: a file of JSON lines, instead of `text`; or NULL */
        bool special_tokens; /* language models: texts of special tokens become those tokens, and an end-of-text token follows
                                each of several files */
        int64_t limit;   /* max pairs; 0: all */
        struct {
            char *rules;           /* names of reasons, comma-separated, or "all"; NULL: no line is left out */
            double ratio;
            int64_t margin;        /* characters */
        } filter;                  /* of the corpora of `pairs`: what rapt data check finds */
        double validation_fraction; /* the part of the pairs, or of the text, that is the validation set */
        int64_t validation_tokens; /* language models: tokens of the validation set that a report evaluates; 0: all */
        int64_t max_len; /* max tokens of a sentence, <eos> included */
        double bpe_dropout; /* of training pairs; 0: none */
        rapt_too_long too_long;
        bool pack; /* of conversations: as many in a batch as fill train.batch windows of model.context tokens, about */
        rapt_recipe_pad pad;
    } data;
    struct {
        rapt_recipe_tokenizer type;
        char *path;
        int64_t vocab_size; /* BPE; 0: depends on the size of the text */
        char *pattern;      /* of BPE */
        bool lowercase;
        int64_t min_freq;
        int64_t max_size; /* 0 is unlimited */
        bool shared;
        rapt_normalization normalize; /* of BPE */
        rapt_recipe_chat chat;        /* of a language model's BPE */
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
        double attention_dropout; /* negative: dropout */
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
        int64_t batch; /* sentences or windows */
        int64_t batch_tokens; /* translation: tokens in a batch; 0: `batch` counts sentences */
        rapt_type precision; /* of matrix products */
        rapt_recipe_draw_by draw_by;
        int64_t accumulate; /* gradient accumulation: batches per optimizer step */
        int64_t shards; /* shards of the batches of a step, or a multiple of `accumulate` that cuts each batch; their gradients
                           are added in a binary tree */
        bool recompute; /* rapt_pass.recompute */
        bool release_gradients; /* update each parameter in the backward pass, as soon as its gradient is complete */
        rapt_recipe_optimizer optimizer;
        rapt_type gradients; /* numeric type of the gradients of weights between a backward pass and the optimizer step: fp32
                                     or bf16 */
        double lr;
        double beta1, beta2, eps;
        double weight_decay;
        struct {
            double lr;            /* peak; scheduled in proportion to train.lr; 0: train.lr */
            rapt_muon_adjust adjust_lr;
            double weight_decay;  /* negative: train.weight_decay */
            double momentum;
            bool nesterov;
            int64_t ns_steps;     /* Newton-Schulz iterations */
        } muon;
        struct {
            double momentum;      /* 0: none */
            bool nesterov;
        } sgd;
        double ema; /* decay of a moving average of parameters, which is evaluated and saved; 0: none */
        bool lazy; /* sparse embeddings: update only rows that a step uses */
        double clip; /* 0: off */
        double label_smoothing;
        rapt_recipe_loss_on loss_on; /* of conversations */
        struct {
            double beta, label_smoothing;
        } dpo;                    /* rapt_dpo_options, of preferences */
        rapt_recipe_reduction reduction;
        rapt_recipe_schedule schedule;
        int64_t warmup; /* steps */
        double lr_end;
        struct {
            int64_t patience;     /* reports without a better number of best_by */
            double factor;
        } plateau;                /* schedule plateau */
        int64_t report_every;     /* steps; 0: every epoch */
        int64_t checkpoint_every; /* steps; 0: every 10 s, or if writing one takes over 0.5 s, at intervals 20 times as long */
        int64_t keep;             /* checkpoints */
        bool keep_untrained;      /* write untrained/, a model folder with the parameters before the first step */
        bool tensorboard;         /* write events.out.tfevents.rapt, the reports for TensorBoard */
        int64_t sample_every;     /* steps; 0 is never */
        int64_t sample_tokens;
        char *sample_prompt;
        bool eval_bleu;
        rapt_recipe_best_by best_by; /* BLEU and chrF need eval_bleu */
        int64_t patience; /* reports; 0: off */
        char *init;               /* a model folder, or NULL */
        char *freeze;             /* patterns, comma-separated */
        struct {
            int64_t rank;         /* 0: no adapters */
            double alpha, dropout;
            bool rslora, dora;
            bool hold;            /* rapt_load_options.held */
            char *modules;        /* names of layers, comma-separated; NULL or "all": all layers of all blocks */
            char *rank_pattern, *alpha_pattern; /* NAME=NUMBER, comma-separated, or NULL */
            char *save;           /* names of matrices, comma-separated, or NULL */
        } lora;                   /* rapt_model_add_lora */
        char *vectors, *target_vectors; /* files of word vectors (rapt_vectors_read), or NULL */
        bool freeze_vectors;
    } train;
} rapt_recipe;

/* Sets every key to its default for task `translation`; texts become NULL. Frees nothing: the recipe may be uninitialized.
 *
 * Defaults depend on the task, and a few on other keys (data.validation_fraction is 0 with data.validation): rapt_recipe_read and
 * rapt_recipe_set update all keys that are not given. A program should therefore set the task first, with rapt_recipe_set, before
 * it writes to fields itself. */
RAPT_API void rapt_recipe_defaults(rapt_recipe *recipe);

/* Reads a YAML file over the defaults. Relative paths of data, tokenizers and models (train.init, train.vectors) are relative to
 * the file's folder; they are rewritten to be valid from the working directory ("recipes/../data/en-fr.tsv"). `*out` may be
 * uninitialized; after a failure it holds the defaults. Each key is checked by itself here; call rapt_recipe_check when all
 * assignments are made.
 *   - RAPT_ERR_NOT_FOUND, RAPT_ERR_IO: no such file, or it cannot be read;
 *   - RAPT_ERR_FORMAT: "PATH:LINE: not YAML: ..." and the like;
 *   - RAPT_ERR_VALUE: 'PATH:LINE: unknown key "model.laiers"; did you mean "model.layers"?', "PATH:LINE: model.norm is now
 *     model.norm_place", "PATH:LINE: train.lr is -1; it must be above 0 and at most 10". */
RAPT_API rapt_code rapt_recipe_read(const char *path, rapt_recipe *out, rapt_error *err);

/* rapt_recipe_read for `size` bytes of YAML in memory, at most 1 MiB. Relative paths count from `folder`; NULL or "": they stay
 * as they are. Messages have "recipe" in place of PATH: "recipe:3: train.lr is -1; ...". */
RAPT_API rapt_code rapt_recipe_parse(const char *text, size_t size, const char *folder, rapt_recipe *out, rapt_error *err);

/* Reads the recipe.yaml of a model folder, which a training run has left there, as rapt_recipe_read does. Also accepts the key
 * names of version 0.1. */
RAPT_API rapt_code rapt_recipe_load(const char *folder, rapt_recipe *out, rapt_error *err);

/* Sets one key from "train.lr=0.001", with the checks of rapt_recipe_read. Relative paths are not rewritten. Messages start with
 * "--set train.lr=-1: ". On failure the recipe is unchanged. */
RAPT_API rapt_code rapt_recipe_set(rapt_recipe *recipe, const char *assignment, rapt_error *err);

/* Sets one key, "train.lr", from the text of its value, "0.001", as rapt_recipe_get returns it and as rapt_recipe_set does.
 * RAPT_ERR_VALUE: 'unknown key "train.lrr"; did you mean "train.lr"?', "train.lr is -1; it must be above 0 and at most 10";
 * RAPT_ERR_MEMORY. On failure the recipe is unchanged. */
RAPT_API rapt_code rapt_recipe_set_key(rapt_recipe *recipe, const char *name, const char *value, rapt_error *err);

/* Whether the recipe can be run: every key is in its range (a program may have set fields itself), and the keys fit each other
 * and the task. For instance, data.pairs or data.text is given, model.heads divides model.d_model, model.tied comes with
 * tokenizer.shared, data.max_len is at most model.max_positions, something is to be trained, and no key is set that has no effect
 * because it belongs to the other task or to another tokenizer. RAPT_ERR_VALUE: "PATH: reason". */
RAPT_API rapt_code rapt_recipe_check(const rapt_recipe *recipe, const char *path, rapt_error *err);

/* The whole recipe, defaults included, as YAML. Reading it gives the same recipe, except that relative paths are relative to the
 * folder of the new file. The caller frees `*yaml`; on failure it is NULL. RAPT_ERR_VALUE: a text that is not UTF-8, or a value
 * that its key cannot have. */
RAPT_API rapt_code rapt_recipe_format(const rapt_recipe *recipe, char **yaml, rapt_error *err);

/* A key of recipes, for programs that show or check them. */
typedef struct rapt_recipe_key {
    const char *name;    /* "model.layers" */
    const char *type;    /* "integer", "float", "bool", "choice" or "string" */
    const char *meaning; /* one line */
    char standard[128];  /* the default: "2"; "2 / 4" if a language model has another one; "\"\"" */
    char range[128];     /* ">= 1", "0..1", the choices "a|b|c", or "-" */
} rapt_recipe_key;

RAPT_API size_t rapt_recipe_key_count(void);
/* Fills *out with key i < rapt_recipe_key_count(), in the order of the table below. */
RAPT_API void rapt_recipe_key_at(size_t i, rapt_recipe_key *out);
/* The value of a key as rapt_recipe_set takes it; "" for a text that is not set. The caller frees *value; on failure it is NULL.
 * RAPT_ERR_VALUE: there is no such key, with a suggestion, or its field has a value that the key cannot have. */
RAPT_API rapt_code rapt_recipe_get(const rapt_recipe *recipe, const char *name, char **value, rapt_error *err);

/* A table of all keys: name, type, default, range and meaning, at most 130 columns wide; a longer range or meaning continues on
 * the next line. The caller frees `*text`; on failure (RAPT_ERR_MEMORY) it is NULL. */
RAPT_API rapt_code rapt_recipe_help(char **text, rapt_error *err);

/* Frees the texts; the recipe then holds the defaults. */
RAPT_API void rapt_recipe_free(rapt_recipe *recipe);

#ifdef __cplusplus
}
#endif

#endif
