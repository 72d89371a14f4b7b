/* text/gguf/gguf_tokenizer.h: the tokenizer in a GGUF file, turned into the files of a Hugging Face folder, so that their readers
 * can read it. For rapt_tokenizer_load, chat templates, and io/gguf. The keys are from gguf-py/gguf/constants.py. */
#ifndef TEXT_GGUF_TOKENIZER_H
#define TEXT_GGUF_TOKENIZER_H

#include "text/gguf/gguf_file.h"
#include "text/hf/hf_read.h"
#include "text/tokenizer.h"

/* Values of "tokenizer.ggml.token_type". */
typedef enum gguf_kind {
    GGUF_NORMAL = 1,
    GGUF_UNKNOWN,
    GGUF_CONTROL, /* such as </s> */
    GGUF_USER_DEFINED, /* cut out of a text before all other steps */
    GGUF_UNUSED, /* of no text */
    GGUF_BYTE
} gguf_kind;

/* The tokens of a file, whose texts lie in it. */
typedef struct gguf_vocab {
    const gguf_file *file;
    gguf_text *tokens; /* [count] */
    size_t count;
    const gguf_value *kinds, *scores; /* [count]; NULL: all tokens are normal; tokens have no scores */
} gguf_vocab;

/* gguf_vocab.c. Free it in any case, also after a failure. Token texts are UTF-8 without NUL. */
rapt_code gguf_vocab_open(gguf_vocab *v, const gguf_file *f, rapt_error *err);
void gguf_vocab_free(gguf_vocab *v);
gguf_kind gguf_vocab_kind(const gguf_vocab *v, size_t id);
/* Whether a token is one of tokenizer.json's added tokens. */
bool gguf_vocab_is_added(const gguf_vocab *v, size_t id);
double gguf_vocab_score(const gguf_vocab *v, size_t id); /* 0 if the file has none */
/* The token of a key "tokenizer.ggml.KEY"; -1: the file has no such key. An id that is no token is refused. */
rapt_code gguf_vocab_id(const gguf_vocab *v, const char *key, int64_t *id, rapt_error *err);
/* Like gguf_vocab_id, for a special token: -1 also for the last token if that is ordinary text. A file of a model without such a
 * token names the last one, because llama.cpp takes a default if the key is missing. */
rapt_code gguf_vocab_special(const gguf_vocab *v, const char *key, int64_t *id, rapt_error *err);
/* The flag of a key "tokenizer.ggml.KEY". */
bool gguf_vocab_flag(const gguf_vocab *v, const char *key, bool otherwise);
rapt_code gguf_vocab_no_memory(const gguf_vocab *v, rapt_error *err);

/* The parts of tokenizer.json around the model: owned JSON. */
typedef struct gguf_parts {
    json_t *model, *normalizer, *pre_tokenizer, *decoder;
    const hf_lists *lists; /* tokens and merges that the model lacks, whose `of` is a gguf_vocab; NULL: it has them */
    bool begins, ends; /* the default if the file does not say whether a text gets the beginning and the end of text */
} gguf_parts;

/* gguf_byte_level.c: the label, "tokenizer.ggml.pre", of byte-level BPE that cuts a text by a pattern (text/split/split.h), with
 * or without NFC before it; `whole`: a piece that is a token becomes it, regardless of merges. If no label fits in all, one that
 * fits except for NFC; NULL: there is none. */
const char *gguf_label_of(const char *pattern, bool nfc, bool whole);

/* gguf_byte_level.c, gguf_pieces.c: the parts of a tokenizer of these kinds; if not `whole`, large lists may stay out of the
 * JSON. After a failure free the parts that were made. */
rapt_code gguf_byte_level_parts(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err);
/* "llama": BPE with scores, or characters; and "t5". */
rapt_code gguf_scored_parts(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err);
rapt_code gguf_unigram_parts(const gguf_vocab *v, bool whole, gguf_parts *p, rapt_error *err);

/* tokenizer.json. NULL with `err` set: RAPT_ERR_FORMAT, "PATH: reason", also for kinds and splits that rapt does not know. */
json_t *gguf_tokenizer_json(const gguf_file *f, rapt_error *err);
/* tokenizer_config.json: special tokens by name, and the chat template. NULL with `err` set. */
json_t *gguf_tokenizer_settings(const gguf_file *f, rapt_error *err);
/* The tokenizer of a file; its settings. NULL with `err` set. */
rapt_tokenizer *gguf_tokenizer_load(const char *path, rapt_error *err);
json_t *gguf_settings_load(const char *path, rapt_error *err);

#endif
