/* text/pipeline/added_tokens.h: the added tokens of a tokenizer.json, which are found in a text before a model sees it. For
 * pipelines.
 *
 * Tokens that are not "normalized" are looked for first, in the text as it is; the others behind the normalizer, with contents
 * that went through it as well. Of those that begin at a place the longest counts. */
#ifndef TEXT_PIPELINE_ADDED_TOKENS_H
#define TEXT_PIPELINE_ADDED_TOKENS_H

#include "text/pipeline/normal_steps.h"
#include "text/pipeline/piece_list.h"

typedef struct added_token {
    char *content, *shown; /* owned; `shown`: as it is decoded, as the normalizer has it where it is normalized */
    size_t length, shown_length;
    int32_t id;
    bool single_word;    /* only where no letter or digit stands before or after it */
    bool lstrip, rstrip; /* takes the white space on its left, on its right along */
    bool normalized, special;
} added_token;

/* Those that are looked for at the same time. */
typedef struct added_set {
    token_list contents; /* by the index of the token */
    size_t *lengths;     /* of their contents, each length once, longer ones first */
    size_t length_count, length_capacity;
    bool first[256]; /* bytes that one begins with */
} added_set;

/* Starts as {0}. */
typedef struct added_tokens {
    added_token *list;
    size_t count, capacity;
    added_set sets[2]; /* those that are not normalized, and those that are */
    token_list names;  /* indices by content */
    int32_t *by_id;    /* [id_count] indices, and one; 0: none */
    size_t id_count, id_capacity;
} added_tokens;

void added_tokens_free(added_tokens *a);
/* Adds a token, with copies of its content and of `pattern`, which is what is looked for, and shown. RAPT_ERR_FORMAT: another one
 * is looked for by the same text. */
rapt_code added_tokens_add(added_tokens *a, const added_token *token, const char *pattern, size_t length, rapt_error *err);
/* NULL: none has this content, or this id. */
const added_token *added_tokens_find(const added_tokens *a, const char *content);
const added_token *added_tokens_of(const added_tokens *a, int32_t id);

/* Cuts a text at the tokens of a set into pieces, behind those of *out. `specials`: not only those that are not special. False on
 * out-of-memory. */
bool added_tokens_cut(const added_tokens *a, bool normalized, bool specials, const uint8_t *classes, const char *text,
                      size_t size, size_t first_bytes, piece_list *out);

#endif
