/* rapt/io.h: model folders: `config.json`, `model.safetensors`, and the tokenizers: `source.tokenizer.json` and
 * `target.tokenizer.json` of a translation model, `tokenizer.json` of a language model.
 *
 * PyTorch's safetensors reader opens `model.safetensors` as it is; linear weights are [out, in] as nn.Linear has them.
 */
#ifndef RAPT_IO_H
#define RAPT_IO_H

#include "rapt/lm.h"
#include "rapt/policy.h"
#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of model folders; readers refuse newer ones. Folders that versions before 0.3 read correctly, or refuse anyway, are written
 * with 1. */
#define RAPT_FORMAT_VERSION 2

enum { RAPT_END_OF_TEXT_MAX = 8, RAPT_SOURCE_BEGIN_MAX = 4 };

/* What a model of RAPT_TASK_TRANSLATION has. */
typedef struct rapt_translation_model {
    rapt_transformer *net;
    rapt_tokenizer *source, *target;  /* the same object in a model with one vocabulary */
    rapt_special_ids special;         /* "unk_token_id" and so on of config.json */
    int32_t source_begin[RAPT_SOURCE_BEGIN_MAX]; /* tokens before each source: <s> of BART, a language of NLLB */
    size_t source_begin_count;
    bool specials_in_text;            /* texts of special tokens are those tokens: in a model of Hugging Face */
    size_t max_len;                   /* tokens of a source sentence that it was trained for, <eos> included */
    bool pad_to_max;                  /* trained on rows of max_len tokens (the book): translations stop there */
    bool by_sentence;                 /* trained on single sentences: lines of several are translated one by one */
    rapt_language detokenize;         /* the language that translations, which are words, are detokenized for */
    bool capitalize;                  /* translations are lower case, and get capitals where sentences begin */
} rapt_translation_model;

/* What a model of RAPT_TASK_LANGUAGE_MODEL has. */
typedef struct rapt_language_model {
    rapt_lm *net;
    rapt_tokenizer *tokenizer;        /* may have more ids than the model: see rapt_lm_config.vocab */
    int32_t end_of_text[RAPT_END_OF_TEXT_MAX]; /* tokens that end a text, "eos_token_id" of config.json; a text without a
                                                  prompt begins after the first of them */
    size_t end_of_text_count;
    bool has_end_of_turn;
    int32_t end_of_turn; /* "eos_token" of a Hugging Face folder's tokenizer, where end_of_text has it not: it ends the replies
                            of a chat (rapt_generate_options.chat) */
} rapt_language_model;

/* How the vectors of a text's tokens become one vector. */
typedef enum rapt_pooling {
    RAPT_POOLING_AS_STORED, /* of options: as the model's folder has it */
    RAPT_POOLING_MEAN,
    RAPT_POOLING_CLS,       /* the first one, that of [CLS] or <s> */
    RAPT_POOLING_MAX        /* the greatest number of each feature */
} rapt_pooling;

/* A text that is put before others: "query: ". */
typedef struct rapt_prompt {
    char *name, *text;
} rapt_prompt;

enum { RAPT_PROMPT_MAX = 32 };

/* What a model of RAPT_TASK_ENCODER has. */
typedef struct rapt_encoder_model {
    rapt_encoder_only *net;
    rapt_tokenizer *tokenizer;
    size_t max_len;       /* tokens of a text, special tokens included */
    int32_t skipped;      /* a token that takes no position (padding of RoBERTa), which no text may hold; -1: none */
    rapt_pooling pooling; /* as the folder has it */
    bool normalize;       /* the vector of a text is divided by its Euclidean norm */
    rapt_prompt prompts[RAPT_PROMPT_MAX]; /* that the folder has */
    size_t prompt_count;
    const char *prompt;   /* the text of the one that is put before each text unless somebody says otherwise; or NULL */
    bool without_prompt;  /* its tokens are left out of pooling, which rapt does not compute */
} rapt_encoder_model;

/* A model with all it needs. All of it is owned. Const once loaded: translators and generators only read it. */
typedef struct rapt_model {
    rapt_task task;
    rapt_params *params;                /* of the task's net */
    uint64_t run;                       /* stands for the training run that made it, 0: unknown; see rapt_model_load */
    bool sealed;                        /* as loaded: its files are bound to each other by checksums */
    const char *family;                 /* NULL: of rapt; else "model_type" of a Hugging Face folder. Not to be freed */
    rapt_search_policy search;          /* how it is decoded unless somebody says otherwise; zeroed: as rapt does it */
    void *files;                        /* which matrices are read from when they are needed, or NULL; the library's own */
    void *origin;                       /* of a Hugging Face folder that was not loaded for inference: what it is saved with */
    void *lora;                         /* its adapters, which alone are trained and saved (rapt_model_add_lora), or NULL */
    void *adapter;                      /* that was added to its matrices, or NULL; the library's own */
    void *stored;                       /* the file that matrices of fewer bits are read from, or NULL; the library's own */
    const char *stored_type;            /* of rapt: the type of fewer bits that its file has weights in ("Q8_0", "BF16"), of
                                           several the one of the fewest; NULL: all are fp32. Not to be freed */
    rapt_translation_model translation; /* zeroed for another task */
    rapt_language_model language;       /* zeroed for another task */
    rapt_encoder_model encoder;         /* zeroed for another task */
} rapt_model;

/* Reads a folder. A GGUF file stands for the Hugging Face folder that it was made of, here and wherever a folder is read
 * (docs/gguf.md). NULL with `err` set: missing, truncated or corrupt files, a tokenizer that doesn't fit. Parameter files, here
 * and in rapt_params_load, are mapped while they are read: they must not be written over meanwhile. Another file may take their
 * place, as it does where rapt writes one.
 *
 * The files are bound to each other: `config.json` names the tokenizers by hashes, and `model.safetensors` carries a copy of
 * `config.json` under its own checksums. A folder where they don't agree is refused: a value was edited, or files of two
 * training runs are mixed (RAPT_ERR_FORMAT; the message says what, and how to seal a folder that was edited on purpose). A folder
 * without such a copy, of rapt 0.1 or with parameters of another program, is loaded with `sealed` false: nothing would tell
 * that its config.json was changed. */
RAPT_API rapt_model *rapt_model_load(const char *folder, rapt_error *err);
/* Reads a folder as rapt_model_load does, but refuses a model of another task (RAPT_ERR_VALUE), saying what it is
 * ("models/gpt is a language model; rapt generate runs it"). */
RAPT_API rapt_model *rapt_model_load_task(const char *folder, rapt_task task, rapt_error *err);
/* rapt_model_load_task for inference in as little memory as may be. Matrices of a Hugging Face folder stay in its files, which
 * must not be written over until the model is freed: translators and generators pack them from there, and rows of an embedding
 * are read as tokens need them. Their elements are there once rapt_params_at or rapt_params_find has returned the parameter.
 * Such a model is not trained. Of a folder of rapt all matrices of a translation model stay, unless adapters are added to them,
 * and of a language model those that are stored in fewer bits than fp32. */
RAPT_API rapt_model *rapt_model_load_inference(const char *folder, rapt_task task, rapt_error *err);
/* Zeroed: rapt_model_load. */
typedef struct rapt_load_options {
    const rapt_task *task;   /* that the model has to be of, as in rapt_model_load_task; NULL: any */
    bool inference;          /* as in rapt_model_load_inference */
    const char *adapter;     /* a folder of low-rank adapters that PEFT, or rapt_train with train.lora, wrote; NULL: none. To each
                                matrix W that it names, lora_alpha / r B A is added (Hu et al. 2021, section 4.1), in double, and
                                rounded once */
} rapt_load_options;

/* Reads a folder. An adapter is refused where one of its tensors does not belong to the model (RAPT_ERR_FORMAT), or
 * adapter_config.json has a key that would change the result otherwise, naming it (RAPT_ERR_VALUE). A folder of adapters alone,
 * which the functions above take as well, stands for the model that its "base_model_name_or_path" names, with them.
 * `options` may be NULL: zeroed ones. */
RAPT_API rapt_model *rapt_model_load_with(const char *folder, const rapt_load_options *options, rapt_error *err);
typedef struct rapt_model_lora_options {
    rapt_lora_options lora;
    const char *modules; /* names of linear layers, or their ends ("q_proj"), comma-separated, as the model's files name them;
                            NULL or "all": those of all blocks, as PEFT's "all-linear" */
    const char *base;    /* the model's folder, for adapter_config.json; NULL: "" */
    uint64_t seed;       /* of the random values of A */
} rapt_model_lora_options;

/* Gives linear layers of a model low-rank adapters (rapt_lora_init), once. From then on they are what is trained and saved:
 * rapt_model_save and its parts write adapter_config.json and adapter_model.safetensors as PEFT does, with PEFT's names, and
 * the model's own parameters are buffers. Layers that are one matrix in a Hugging Face folder share an adapter, that matrix's.
 * After a failure the model is only to be freed. RAPT_ERR_VALUE: a name is no layer's; RAPT_ERR_SHAPE: a rank above its sizes. */
RAPT_API rapt_code rapt_model_add_lora(rapt_model *m, const rapt_model_lora_options *options, rapt_error *err);
/* Frees the model with its parameters and tokenizers; NULL is fine. */
RAPT_API void rapt_model_free(rapt_model *m);

/* Writes a folder that rapt_model_load reads, and makes it if need be. A model of a Hugging Face folder becomes such a folder
 * again, which transformers reads: its files as they were, and model.safetensors with the names and shapes of its tensors in F32;
 * one that was loaded for inference is refused (RAPT_ERR_VALUE). */
RAPT_API rapt_code rapt_model_save(const rapt_model *m, const char *folder, rapt_error *err);
/* Writes config.json and the tokenizers into a folder that exists. */
RAPT_API rapt_code rapt_model_save_config(const rapt_model *m, const char *folder, rapt_error *err);
/* Writes model.safetensors, bound to that config.json; with the tensors of a Hugging Face folder without that. */
RAPT_API rapt_code rapt_model_save_params(const rapt_model *m, const char *folder, rapt_error *err);

/* Formats of other programs' models. */
typedef enum rapt_export_format {
    RAPT_EXPORT_HF,          /* a Hugging Face folder, which transformers reads */
    RAPT_EXPORT_CTRANSLATE2, /* a folder that CTranslate2 reads, in fp32 */
    RAPT_EXPORT_GGUF,        /* a GGUF file of a language model, which llama.cpp runs */
    RAPT_EXPORT_RAPT         /* such a folder as the model was loaded from, of weights of fewer bits, for inference here */
} rapt_export_format;

/* How a GGUF file, or a folder of rapt's, stores matrices whose rows are filled by the format's blocks; vectors and positions are
 * fp32. A folder of Q4_0 has embeddings and output matrix in Q8_0. */
typedef enum rapt_export_weights {
    RAPT_EXPORT_FP32,
    RAPT_EXPORT_FP16,
    RAPT_EXPORT_BF16,
    RAPT_EXPORT_Q8_0, /* 32 integers of 8 bits with a scale */
    RAPT_EXPORT_Q4_0  /* of 4 bits */
} rapt_export_weights;

typedef struct rapt_export_options {
    rapt_export_format to;
    rapt_stop_fn *stop; /* NULL: never */
    void *stop_context;
    rapt_export_weights weights; /* of RAPT_EXPORT_GGUF and RAPT_EXPORT_RAPT */
} rapt_export_options;

/* Writes a model with its tokenizers for another program: a new folder, or a new GGUF file, that appears whole or not at all. A
 * model of a Hugging Face folder becomes one again, in fp32, as rapt_model_save writes it, or a GGUF file; for CTranslate2 it is
 * refused. `options` may be NULL, which means zeroed ones. RAPT_ERR_VALUE, before anything is written:
 * `path` is there, the model has a setting that the other program lacks, or a tokenizer whose ids it would not give (the message
 * names it); a number that a format does not hold. RAPT_ERR_IO, RAPT_ERR_MEMORY, RAPT_ERR_INTERRUPTED. What is exact is in
 * docs/convert.md. */
RAPT_API rapt_code rapt_model_export(const rapt_model *m, const char *path, const rapt_export_options *options,
                                     rapt_error *err);

/* Binds the files of a folder to each other as they are now: for one that was edited on purpose, or has no seal. `config.json`
 * is written anew where it lacks a member or names another tokenizer, then model.safetensors, which PyTorch reads as before. A
 * folder of weights of fewer bits, which would become fp32, is refused (RAPT_ERR_VALUE), and nothing is written.
 * Rapt 0.1 does not read a `config.json` that this version wrote. Refuses what rapt_model_load refuses for any other reason. */
RAPT_API rapt_code rapt_model_seal(const char *folder, rapt_error *err);
/* Whether a folder's parameters are bound to a config.json; not whether it is the one that is there: rapt_model_load says so. */
RAPT_API rapt_code rapt_model_is_sealed(const char *folder, bool *sealed, rapt_error *err);
/* Writes the parameters, and the buffers that are not transient, as a safetensors file without a copy of a configuration. Atomic.
 * `err` may be NULL. */
RAPT_API rapt_code rapt_params_save(const rapt_params *set, const char *path, rapt_error *err);
/* Fills every parameter from a file. RAPT_ERR_FORMAT: a name is missing or unknown, a shape differs, or the file is damaged.
 * After a failure the values of the parameters are undefined: some may be the file's. `err` may be NULL. */
RAPT_API rapt_code rapt_params_load(rapt_params *set, const char *path, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
