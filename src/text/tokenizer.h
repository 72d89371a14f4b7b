/* text/tokenizer.h: the inside of rapt_tokenizer: what every kind of tokenizer does, as a table of functions. */
#ifndef TEXT_TOKENIZER_H
#define TEXT_TOKENIZER_H

#include "rapt/text.h"

#include "base/file.h"

#include <jansson.h>

typedef struct encode_run encode_run; /* encode_run.h: a text that is encoded on all threads */

/* See rapt/text.h; what is said there of rapt_tokenizer_... holds for these. */
typedef struct tokenizer_ops {
    rapt_tokenizer_kind kind;
    void (*free)(rapt_tokenizer *k);
    size_t (*size)(const rapt_tokenizer *k);
    const char *(*token)(const rapt_tokenizer *k, int32_t id, size_t *size);
    int32_t (*special)(const rapt_tokenizer *k, const char *text);
    uint64_t (*hash)(const rapt_tokenizer *k);
    rapt_code (*encode_to)(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                           void *context, rapt_error *err);
    rapt_code (*encode_run)(const rapt_tokenizer *k, const encode_run *r, rapt_error *err); /* of more than one chunk */
    char *(*decode)(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size);
    json_t *(*to_json)(const rapt_tokenizer *k); /* what the file holds; NULL: out of memory */
    bool (*lowercases)(const rapt_tokenizer *k); /* NULL: never */
    /* How many ids stand before and after each text that is encoded with special tokens; NULL: none. */
    void (*frame)(const rapt_tokenizer *k, size_t *before, size_t *after);
    bool (*is_foreign)(const rapt_tokenizer *k); /* see tokenizer_is_foreign; NULL: never */
} tokenizer_ops;

/* The first member of every kind's struct. */
struct rapt_tokenizer {
    const tokenizer_ops *ops;
};

/* <unk> <pad> <bos> <eos>, in the order of their ids. */
extern const char *const tokenizer_specials[RAPT_SPECIALS];

/* Whether a text becomes lower case before it is cut into tokens. */
bool tokenizer_lowercases(const rapt_tokenizer *k);

/* Whether it is another program's whose decoder makes U+FFFD of bytes that are no character, and rapt_tokenizer_decode does not:
 * byte-level BPE of a tokenizer.json that rapt would have written otherwise. */
bool tokenizer_is_foreign(const rapt_tokenizer *k);

#define TOKENIZER_FORMAT "rapt-tokenizer"
#define TOKENIZER_VERSION 1

/* What rapt_tokenizer_save writes, which the caller frees; NULL: out of memory. And the tokenizer of such a text; `name` stands
 * for the path in messages. NULL with `err` set. */
char *tokenizer_to_text(const rapt_tokenizer *k);
rapt_tokenizer *tokenizer_from_text(const char *name, const char *text, size_t size, rapt_error *err);

/* As rapt_tokenizer_encode_bytes, but for the ids that `specials` puts before and after each text: those are the caller's. */
rapt_code tokenizer_encode_within(const rapt_tokenizer *k, const char *text, size_t size, bool specials, int32_t **ids,
                                  size_t *count, rapt_error *err);

/* The tokens of ids one after the other, as rapt_tokenizer_decode has it for all kinds but words. */
char *tokenizer_join(const rapt_tokenizer *k, const int32_t *ids, size_t count, size_t *size);

/* rapt_tokenizer_train_characters of a file, and rapt_tokenizer_train_bpe of its first `size` bytes. The file may be larger than
 * memory: what was read is given back, unless a normalization makes a copy. */
rapt_tokenizer *characters_train_file(const file_map *file, rapt_error *err);
rapt_tokenizer *byte_bpe_train_file(const file_map *file, size_t size, const rapt_bpe_options *options, rapt_error *err);

/* Each makes a tokenizer of its type from the JSON object of a file; `path` is for messages. NULL with `err` set. */
rapt_tokenizer *words_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *characters_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *ranks_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *hf_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *pipeline_from_json(const json_t *root, const char *path, rapt_error *err); /* pipeline/pipeline_read.c */
rapt_tokenizer *spm_from_json(const json_t *root, const char *path, rapt_error *err);
/* A SentencePiece model. Whether bytes are one, as far as their beginning says, or, where they are `named` like one, whether
 * they are no JSON. And the file that a tokenizer was made of, borrowed; NULL where it is of another kind. */
rapt_tokenizer *spm_from_bytes(const char *bytes, size_t size, const char *path, rapt_error *err);
bool spm_looks_like(const char *bytes, size_t size, bool named);
const char *spm_file(const rapt_tokenizer *k, size_t *size);
/* One side of a Marian translator of Hugging Face. `*vocab` is the path of the vocabulary that belongs to source.spm or
 * target.spm at `path`, to be freed; NULL where there is none, so that it is a model of its own. */
rapt_code marian_vocabulary(const char *path, char **vocab, rapt_error *err);
rapt_tokenizer *marian_from_files(const char *path, const char *vocab, rapt_error *err);
rapt_tokenizer *marian_from_json(const json_t *root, const char *path, rapt_error *err);
rapt_tokenizer *m2m100_from_json(const json_t *root, const char *path, rapt_error *err);
/* The rank file of a public encoding, "cl100k_base" and so on, as ranks_encoding has it: NULL for other names. */
rapt_tokenizer *ranks_from_file(const char *encoding, const char *path, rapt_error *err);
const char *ranks_encoding(const char *name, size_t length);
/* Whether the first line of a file is "base64 rank"; and the tokenizer of such a file if it is one that OpenAI publishes, byte
 * for byte. Of another one ranks_refuse says what it is (RAPT_ERR_FORMAT); `named` is the encoding that its path has, or NULL. */
bool ranks_look_like(const char *text, size_t size);
rapt_tokenizer *ranks_from_text(const char *path, const char *named, const char *text, size_t size, rapt_error *err);
void ranks_refuse(const char *path, const char *named, const char *text, size_t size, rapt_error *err);

#endif
