/* rapt/io.h: model folders: `config.json`, `model.safetensors`, and the tokenizers. A translation model has
 * `source.tokenizer.json` and `target.tokenizer.json`, a language model has `tokenizer.json`.
 *
 * PyTorch's safetensors reader opens `model.safetensors`; linear weights are [out, in], as in nn.Linear.
 */
#ifndef RAPT_IO_H
#define RAPT_IO_H

#include "rapt/lm.h"
#include "rapt/policy.h"
#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the format of model folders; a reader refuses newer folders. A folder that versions before 0.3 read correctly,
 * or refuse for another reason, is written with version 1. */
#define RAPT_FORMAT_VERSION 2

enum { RAPT_END_OF_TEXT_MAX = 8, RAPT_SOURCE_BEGIN_MAX = 4 };

/* The members of a model of RAPT_TASK_TRANSLATION. */
typedef struct rapt_translation_model {
    rapt_transformer *net;
    rapt_tokenizer *source, *target;  /* the same object in a model with one vocabulary */
    rapt_special_ids special;         /* "unk_token_id" and so on of config.json */
    int32_t source_begin[RAPT_SOURCE_BEGIN_MAX]; /* tokens before each source: BART's <s>, NLLB's language */
    size_t source_begin_count;
    bool specials_in_text;            /* texts of special tokens become those tokens: in a Hugging Face model */
    size_t max_len;                   /* max tokens of a source sentence in training, <eos> included */
    bool pad_to_max;                  /* trained on rows of max_len tokens (the book): translations end there */
    bool by_sentence;                 /* trained on single sentences: a line of several is translated sentence by sentence */
    rapt_language detokenize;         /* tokenizers of words: the language for which translations are detokenized */
    bool capitalize;                  /* the model translates in lower case; sentences get capitals afterwards */
} rapt_translation_model;

/* The members of a model of RAPT_TASK_LANGUAGE_MODEL. */
typedef struct rapt_language_model {
    rapt_lm *net;
    rapt_tokenizer *tokenizer;        /* may have more ids than the model (rapt_lm_config.vocab) */
    int32_t end_of_text[RAPT_END_OF_TEXT_MAX]; /* tokens that end a text, "eos_token_id" of config.json; without a prompt,
                                                  generation starts after the first of them */
    size_t end_of_text_count;
    bool has_end_of_turn;
    int32_t end_of_turn; /* "eos_token" of a Hugging Face folder's tokenizer, if it is not in end_of_text: it ends the replies of
                            a chat (rapt_generate_options.chat) */
} rapt_language_model;

/* How the vectors of a text's tokens become one vector. */
typedef enum rapt_pooling {
    RAPT_POOLING_AS_STORED, /* for options: as the model's folder says */
    RAPT_POOLING_MEAN,
    RAPT_POOLING_CLS,       /* the first vector, at [CLS] or <s> */
    RAPT_POOLING_MAX        /* the maximum of each feature */
} rapt_pooling;

/* A text that goes before a text to be embedded: "query: ". */
typedef struct rapt_prompt {
    char *name, *text;
} rapt_prompt;

enum { RAPT_PROMPT_MAX = 32 };

/* The members of a model of RAPT_TASK_ENCODER, or of RAPT_TASK_CROSS_ENCODER, which makes no vectors, but a score of each pair
 * of texts. */
typedef struct rapt_encoder_model {
    rapt_encoder_only *net;
    rapt_tokenizer *tokenizer;
    size_t max_len;       /* max tokens of a text, special tokens included */
    int32_t skipped;      /* a token that takes no position (RoBERTa's padding) and that no text may contain; -1: none */
    rapt_pooling pooling; /* as the folder says */
    bool normalize;       /* the vector of a text is divided by its Euclidean norm */
    rapt_prompt prompts[RAPT_PROMPT_MAX]; /* the prompts of the folder */
    size_t prompt_count;
    const char *prompt;   /* text of the prompt that goes before each text by default, or NULL */
    bool without_prompt;  /* the folder excludes the prompt's tokens from pooling; rapt cannot compute that */
    bool sigmoid;         /* cross-encoder: the score of a pair is 1 / (1 + e^-logit); else the logit itself */
    bool typed_pairs;     /* cross-encoder: tokens of the second text may have type 1, as the tokenizer says */
} rapt_encoder_model;

/* A model with its parameters and tokenizers, all owned. Const once loaded: translators and generators only read it. What the
 * functions below return belongs to the model, and is valid until rapt_model_free. */
typedef struct rapt_model rapt_model;

RAPT_API rapt_task rapt_model_task(const rapt_model *m);
/* The parameters of the task's net. */
RAPT_API rapt_params *rapt_model_params(const rapt_model *m);
/* The tokenizers of the texts that the model reads and of the texts that it writes: the same object in a language model, in an
 * encoder, and in a translation model with one vocabulary. */
RAPT_API const rapt_tokenizer *rapt_model_source_tokenizer(const rapt_model *m);
RAPT_API const rapt_tokenizer *rapt_model_target_tokenizer(const rapt_model *m);
/* The members of the model's task; NULL for a model of another task. */
RAPT_API const rapt_translation_model *rapt_model_translation(const rapt_model *m);
RAPT_API const rapt_language_model *rapt_model_language(const rapt_model *m);
RAPT_API const rapt_encoder_model *rapt_model_encoder(const rapt_model *m);
/* "model_type" of a Hugging Face folder; NULL for a model of rapt. */
RAPT_API const char *rapt_model_family(const rapt_model *m);
/* How it is decoded by default; zeroed: with rapt's own search. */
RAPT_API const rapt_search_policy *rapt_model_search(const rapt_model *m);
/* A model of rapt: the numeric type of fewest bits that its file has ("Q8_0", "BF16"); NULL: all are fp32. */
RAPT_API const char *rapt_model_stored_type(const rapt_model *m);
/* The id of the training run that made the model; 0: unknown. */
RAPT_API uint64_t rapt_model_run(const rapt_model *m);
/* Whether its files were bound to each other by checksums when it was loaded (rapt_model_load). */
RAPT_API bool rapt_model_was_sealed(const rapt_model *m);

/* Make a model of a net that the program has built, so that it can be used and saved like a loaded one. The members are copied;
 * the net and the tokenizers belong to the model from then on, and still to the caller after a failure. NULL with `err` (which
 * may be NULL) set: RAPT_ERR_VALUE for a net or a tokenizer that is NULL, more tokens than an array has, a token that is not in
 * the vocabulary of the net, or a max_len that leaves no place behind the tokens of source_begin or is above max_positions;
 * RAPT_ERR_MEMORY. */
RAPT_API rapt_model *rapt_model_new_translation(const rapt_translation_model *members, rapt_error *err);
RAPT_API rapt_model *rapt_model_new_language(const rapt_language_model *members, rapt_error *err);

typedef struct rapt_load_options {
    size_t size;         /* of this struct; set by rapt_load_options_default */
    rapt_task task;      /* the task that the model must have */
    bool inference;      /* for inference only, with as little memory as possible: matrices of a Hugging Face folder stay in its
                            files, which must not be overwritten until the model is freed. Translators and generators pack them
                            from there, and rows of an embedding are read as tokens need them; a program that reads elements gets
                            the parameter from rapt_params_at or rapt_params_find, which read them from the file. In a folder of
                            rapt, all matrices of a translation model stay in the files, unless adapters are added to them, and
                            the matrices of a language model that are stored in fewer bits than fp32 */
    const char *adapter; /* a folder of low-rank adapters that PEFT, or rapt_train with train.lora, wrote; NULL: none.
                            lora_alpha / r B A is added to each matrix W that it names (Hu et al. 2021, section 4.1), in double,
                            and rounded once */
    rapt_stop_fn *stop;  /* asked before each parameter is read: true cancels the call; or NULL. A folder of rapt has
                            checksums, which are compared before that: its file is read once */
    void *context;       /* of stop */
    bool held;           /* for the base of adapters that are trained (rapt_model_add_lora): matrices stay in the files as with
                            `inference`, but the model can be trained and saved. Once it has adapters, matrix products of layers
                            read weights that are stored in fewer bits from there in each pass, not from rapt_tensor.data */
    uint8_t reserved[7]; /* zeros, or else refused */
} rapt_load_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_load_options_init(rapt_load_options *o, size_t size);
/* RAPT_TASK_ANY, for training as well, no adapter, never stopped. */
static inline rapt_load_options rapt_load_options_default(void)
{
    rapt_load_options o;
    rapt_load_options_init(&o, sizeof o);
    return o;
}

/* Reads a folder. A GGUF file stands for the Hugging Face folder that it was made from, here and wherever a folder is read
 * (docs/gguf.md). A folder that has only adapters stands for the model that its "base_model_name_or_path" names, with the
 * adapters added. `options` may be NULL: the defaults. NULL with `err` (which may be NULL) set:
 *   RAPT_ERR_NOT_FOUND, RAPT_ERR_IO  missing or unreadable files;
 *   RAPT_ERR_FORMAT  truncated or corrupt files, a tokenizer that does not fit, an adapter with a tensor that does not belong to
 *                    the model;
 *   RAPT_ERR_VALUE   a model of another task ("models/gpt is a language model; rapt generate runs it"); a key of
 *                    adapter_config.json that would change the result in a way that rapt does not compute; options without a
 *                    size;
 *   RAPT_ERR_INTERRUPTED  cancelled by options->stop;
 *   RAPT_ERR_MEMORY.
 * Parameter files, here and in rapt_params_load, are mapped while they are read: they must not be overwritten meanwhile, but may
 * be replaced by another file, which is what rapt itself does.
 *
 * The files are bound to each other: `config.json` names the tokenizers by hashes, and `model.safetensors` carries a copy of
 * `config.json` under its own checksums. A folder in which they disagree is refused: somebody edited a value, or mixed files of
 * two training runs (RAPT_ERR_FORMAT; the message says which, and how to seal a folder that was edited on purpose). A folder
 * without such a copy, from rapt 0.1 or with parameters of another program, is loaded without rapt_model_was_sealed: a changed
 * config.json would go unnoticed. */
RAPT_API rapt_model *rapt_model_load(const char *folder, const rapt_load_options *options, rapt_error *err);

typedef struct rapt_model_lora_options {
    size_t size;         /* of this struct; set by rapt_model_lora_options_default */
    rapt_lora_options lora;
    const char *modules; /* names of linear layers, or ends of names ("q_proj"), comma-separated, as the model's files name them;
                            NULL or "all": all linear layers of all blocks, as PEFT's "all-linear" */
    const char *base;    /* the model's folder, to be named in adapter_config.json; NULL: "" */
    uint64_t seed;       /* seed of the random values of A */
    /* Ranks and alphas that other modules have: "PATTERN=NUMBER", comma-separated, or NULL. A pattern is a regular expression
     * for the whole name of a module or an end of it after a dot, as in PEFT's rank_pattern and alpha_pattern; the first one that
     * matches decides. */
    const char *rank_pattern, *alpha_pattern;
    /* Matrices that are trained and saved whole, as PEFT's modules_to_save: ends of the names of a language model's embedding and
     * output matrix in its files, comma-separated; NULL: none */
    const char *save;
} rapt_model_lora_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_model_lora_options_init(rapt_model_lora_options *o, size_t size);
/* Rank 8, as PEFT's default, in all linear layers of all blocks; seed 1. */
static inline rapt_model_lora_options rapt_model_lora_options_default(void)
{
    rapt_model_lora_options o;
    rapt_model_lora_options_init(&o, sizeof o);
    return o;
}

/* Gives linear layers of a model low-rank adapters (rapt_lora_init). May be called once. From then on only the adapters are
 * trained and saved: the model's own parameters are buffers, and rapt_model_save, rapt_model_save_config and
 * rapt_model_save_params write adapter_config.json and adapter_model.safetensors as PEFT does, with PEFT's names. Layers that are
 * one matrix in a Hugging Face folder share one adapter. `options` may be NULL: the defaults. RAPT_ERR_VALUE: options without a
 * size. After any other failure the model can only be freed. RAPT_ERR_VALUE: no layer has a given name, none with an adapter
 * matches a pattern, or the model has no such matrix to save whole; RAPT_ERR_SHAPE: the rank is larger than a layer. */
RAPT_API rapt_code rapt_model_add_lora(rapt_model *m, const rapt_model_lora_options *options, rapt_error *err);
/* Frees the model with its parameters and tokenizers; NULL is fine. */
RAPT_API void rapt_model_free(rapt_model *m);

/* Writes a folder that rapt_model_load reads, and makes the folder if need be. A model from a Hugging Face folder becomes a
 * Hugging Face folder again, which transformers reads: its files as they were, and model.safetensors with the original names and
 * shapes of tensors, in F32. A Hugging Face model that was loaded for inference is refused (RAPT_ERR_VALUE). */
RAPT_API rapt_code rapt_model_save(const rapt_model *m, const char *folder, rapt_error *err);
/* Writes config.json and the tokenizers into an existing folder. */
RAPT_API rapt_code rapt_model_save_config(const rapt_model *m, const char *folder, rapt_error *err);
/* Writes model.safetensors, bound to the folder's config.json (not for a Hugging Face folder). */
RAPT_API rapt_code rapt_model_save_params(const rapt_model *m, const char *folder, rapt_error *err);

/* Formats of other programs' models:
 *   HF           a Hugging Face folder, which transformers reads
 *   CTRANSLATE2  a folder that CTranslate2 reads, in fp32
 *   GGUF         a GGUF file of a language model, which llama.cpp runs
 *   RAPT         a folder like the one that the model was loaded from, with weights in fewer bits, for inference with rapt */
#define RAPT_EXPORT_FORMATS(X)                                                                     \
    X(RAPT_EXPORT_HF)                                                                              \
    X(RAPT_EXPORT_CTRANSLATE2)                                                                     \
    X(RAPT_EXPORT_GGUF)                                                                            \
    X(RAPT_EXPORT_RAPT)

typedef enum rapt_export_format {
#define RAPT_EXPORT_FORMAT_ENUM(name) name,
    RAPT_EXPORT_FORMATS(RAPT_EXPORT_FORMAT_ENUM)
#undef RAPT_EXPORT_FORMAT_ENUM
} rapt_export_format;

/* Called while tensor `tensor` of `count`, counted from 1, is written: once or more often for each, in the order of the file. */
typedef void rapt_export_progress_fn(void *context, size_t tensor, size_t count);

typedef struct rapt_export_options {
    size_t size; /* of this struct; set by rapt_export_options_default */
    rapt_export_format to;
    rapt_type weights; /* for RAPT_EXPORT_GGUF and RAPT_EXPORT_RAPT: the type of matrices whose row length is a multiple of the
                          type's block; vectors and positions are fp32. A folder of Q4_0 has embeddings and output matrix in
                          Q8_0 */
    rapt_stop_fn *stop; /* asked before each portion is written: true cancels the export, of which nothing is left; or NULL */
    rapt_export_progress_fn *on_progress; /* called by the thread that called rapt_model_export; or NULL */
    void *context; /* of stop and on_progress */
} rapt_export_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_export_options_init(rapt_export_options *o, size_t size);
/* RAPT_EXPORT_HF, RAPT_TYPE_FP32, no callbacks. */
static inline rapt_export_options rapt_export_options_default(void)
{
    rapt_export_options o;
    rapt_export_options_init(&o, sizeof o);
    return o;
}

/* Writes a model with its tokenizers for another program: a new folder, or a new GGUF file, which appears whole or not at all. A
 * model from a Hugging Face folder becomes such a folder again, in fp32, as rapt_model_save writes it, or a GGUF file; for
 * CTranslate2 it is refused. `options` may be NULL. RAPT_ERR_VALUE, before anything is written: options without a size; `path`
 * exists; the model has a setting that the other program lacks, or a tokenizer that the other program would not reproduce (the
 * message names it); or the format cannot hold a number. RAPT_ERR_IO, RAPT_ERR_MEMORY, RAPT_ERR_INTERRUPTED. docs/convert.md says
 * what is exact. */
RAPT_API rapt_code rapt_model_export(const rapt_model *m, const char *path, const rapt_export_options *options,
                                     rapt_error *err);

/* Binds the files of a folder to each other as they are now, for a folder that was edited on purpose or has no seal. Rewrites
 * `config.json` if it lacks a member or names another tokenizer, then model.safetensors, which PyTorch reads as before. A folder
 * with weights in fewer bits is refused (RAPT_ERR_VALUE) and left as it is, because its weights would become fp32. Rapt 0.1 does
 * not read a `config.json` that this version wrote. Refuses what rapt_model_load refuses for any other reason. */
RAPT_API rapt_code rapt_model_seal(const char *folder, rapt_error *err);
/* Whether a folder's parameters are bound to a config.json. It need not be the config.json in the folder: rapt_model_load checks
 * that. */
RAPT_API rapt_code rapt_model_is_sealed(const char *folder, bool *sealed, rapt_error *err);
/* Writes the parameters, and the buffers that are not transient, as a safetensors file without a copy of a configuration. Atomic.
 * `err` may be NULL. */
RAPT_API rapt_code rapt_params_save(const rapt_params *set, const char *path, rapt_error *err);
/* Fills every parameter from a file. RAPT_ERR_FORMAT: a name is missing or unknown, a shape differs, or the file is damaged.
 * After a failure the values of the parameters are undefined. `err` may be NULL. */
RAPT_API rapt_code rapt_params_load(rapt_params *set, const char *path, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
