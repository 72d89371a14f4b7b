/* text/tokenizer.h: the inside of rapt_tokenizer: the functions of each kind of tokenizer, as a table. */
#ifndef TEXT_TOKENIZER_H
#define TEXT_TOKENIZER_H

#include "rapt/text.h"

#include "base/file.h"

#include <jansson.h>

typedef struct placed_ids placed_ids; /* sources.h */
typedef struct id_pair id_pair; /* bpe/byte_bpe.h: how two texts become one row */
typedef struct encode_run encode_run; /* encode_run.h: a text that is encoded on all threads */

/* The contracts of rapt_tokenizer_... in rapt/text.h hold for these. */
typedef struct tokenizer_ops {
    rapt_tokenizer_kind kind;
    void (*free)(rapt_tokenizer *k);
    size_t (*size)(const rapt_tokenizer *k);
    const char *(*token)(const rapt_tokenizer *k, int32_t id, size_t *size);
    int32_t (*special)(const rapt_tokenizer *k, const char *text);
    uint64_t (*hash)(const rapt_tokenizer *k);
    rapt_code (*encode_to)(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                           void *context, rapt_error *err);
    rapt_code (*encode_run)(const rapt_tokenizer *k, const encode_run *r, rapt_error *err); /* for texts of more than one chunk */
    char *(*decode)(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size);
    json_t *(*to_json)(const rapt_tokenizer *k); /* the contents of the file; NULL: out of memory */
    bool (*lowercases)(const rapt_tokenizer *k); /* NULL: never */
    /* The number of ids before and after each text that is encoded with special tokens; NULL: none. */
    void (*frame)(const rapt_tokenizer *k, size_t *before, size_t *after);
    bool (*is_foreign)(const rapt_tokenizer *k); /* see tokenizer_is_foreign; NULL: never */
    /* encode_to with the place of each id. */
    rapt_code (*encode_offsets)(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                                rapt_error *err);
    const id_pair *(*pair)(const rapt_tokenizer *k); /* the ids about two texts (byte_bpe.h); NULL: not known */
} tokenizer_ops;

/* The first member of every kind's struct. */
struct rapt_tokenizer {
    const tokenizer_ops *ops;
    _Atomic(struct token_trie *) trie; /* token_trie.h; NULL until it is needed */
};

/* <unk> <pad> <bos> <eos>, in the order of their ids. */
extern const char *const tokenizer_specials[RAPT_SPECIALS];

/* Whether a text is turned to lower case before it is cut into tokens. */
bool tokenizer_lowercases(const rapt_tokenizer *k);

/* Whether it is byte-level BPE from a tokenizer.json that rapt would have written differently: another program's decoder makes
 * U+FFFD of bytes that are not a character, and rapt_tokenizer_decode does not. */
bool tokenizer_is_foreign(const rapt_tokenizer *k);

#define TOKENIZER_FORMAT "rapt-tokenizer"
#define TOKENIZER_VERSION 1

/* The text that rapt_tokenizer_save writes; the caller frees it; NULL: out of memory. And the tokenizer from such a text; `name`
 * takes the place of the path in messages. NULL with `err` set. */
char *tokenizer_to_text(const rapt_tokenizer *k);
rapt_tokenizer *tokenizer_from_text(const char *name, const char *text, size_t size, rapt_error *err);

/* Starts as {0}; `ids` is the owner's to free. id_list_append is a sink whose context is such a list. */
typedef struct id_list {
    int32_t *ids; /* [count] */
    size_t count, capacity;
} id_list;

rapt_code id_list_append(void *list, const int32_t *ids, size_t count, rapt_error *err);
/* rapt_tokenizer_encode_bytes for callers that know which of its options they want. */
rapt_code tokenizer_encode_bytes(const rapt_tokenizer *k, const char *text, size_t size, bool specials, int32_t **ids,
                                 size_t *count, rapt_error *err);
/* RAPT_ERR_VALUE: not made by rapt_encode_options_default. `given` may be NULL: the defaults. */
rapt_code tokenizer_take_options(const rapt_encode_options *given, rapt_encode_options *out, rapt_error *err);
/* Like rapt_tokenizer_encode_bytes, but without the ids that `specials` puts before and after each text: the caller adds them. */
rapt_code tokenizer_encode_within(const rapt_tokenizer *k, const char *text, size_t size, bool specials, int32_t **ids,
                                  size_t *count, rapt_error *err);

/* The texts of ids one after the other, as rapt_tokenizer_decode does for all kinds except words. */
char *tokenizer_join(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size);

/* rapt_tokenizer_train_characters for a file, and rapt_tokenizer_train_bpe for its first `size` bytes. The file may be larger
 * than memory: memory that was read is given back, unless a normalization makes a copy. */
rapt_tokenizer *characters_train_file(const file_map *file, rapt_error *err);
rapt_tokenizer *byte_bpe_train_file(const file_map *file, size_t size, const rapt_bpe_options *options, rapt_error *err);

/* Each makes a tokenizer of its type from the JSON object of a file; `path` is for messages. NULL with `err` set. */
rapt_tokenizer *words_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *characters_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *ranks_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *hf_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *pipeline_from_json(const json_t *root, const char *path, rapt_error *err); /* pipeline/pipeline_read.c */
rapt_tokenizer *spm_from_json(const json_t *root, const char *path, rapt_error *err);
/* A SentencePiece model. Whether bytes are one, judged by their beginning, or, if they are `named` like one, whether they are not
 * JSON. And the file from which a tokenizer was made, borrowed; NULL if it is of another kind. */
rapt_tokenizer *spm_from_bytes(const char *bytes, size_t size, const char *path, rapt_error *err);
bool spm_looks_like(const char *bytes, size_t size, bool named);
const char *spm_file(const rapt_tokenizer *k, size_t *size);
/* One side of a Marian translator of Hugging Face. `*vocab` is the path of the vocabulary that belongs to source.spm or
 * target.spm at `path`; the caller frees it; NULL if there is none: then it is a separate model. */
rapt_code marian_vocabulary(const char *path, char **vocab, rapt_error *err);
rapt_tokenizer *marian_from_files(const char *path, const char *vocab, rapt_error *err);
rapt_tokenizer *marian_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *m2m100_from_json(const json_t *root, const char *path, rapt_error *err);
/* The rank file of a public encoding, "cl100k_base" and so on, as ranks_encoding has it: NULL for other names. */
rapt_tokenizer *ranks_from_file(const char *encoding, const char *path, rapt_error *err);
const char *ranks_encoding(const char *name, size_t length);
/* Whether the first line of a file is "base64 rank"; and the tokenizer from such a file if OpenAI publishes it, byte for byte.
 * For other files ranks_refuse says what they are (RAPT_ERR_FORMAT); `named` is the encoding in its path, or NULL. */
bool ranks_look_like(const char *text, size_t size);
rapt_tokenizer *ranks_from_text(const char *path, const char *named, const char *text, size_t size, rapt_error *err);
void ranks_refuse(const char *path, const char *named, const char *text, size_t size, rapt_error *err);

#endif
