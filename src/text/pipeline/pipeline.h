/* text/pipeline/pipeline.h: a tokenizer.json as a row of components: added tokens, normalizer, pre-tokenizer, model,
 * post-processor, decoder, each with the ids and texts of the package `tokenizers`. For files that byte-level BPE (text/bpe) does
 * not take, such as Llama 2's, BERT's and Gemma's. */
#ifndef TEXT_PIPELINE_PIPELINE_H
#define TEXT_PIPELINE_PIPELINE_H

#include "text/pipeline/decode_steps.h"
#include "text/pipeline/normal_steps.h"
#include "text/pipeline/piece_list.h"
#include "text/pipeline/pipeline_model.h"
#include "text/pipeline/pretoken_steps.h"
#include "text/tokenizer.h"

/* ---- added_tokens.c: the added tokens of a tokenizer.json, which are found in a text before a model sees it. For pipelines.
 *
 * Tokens that are not "normalized" are searched first, in the original text; the others after the normalizer, with contents that
 * were also normalized. Among tokens that begin at the same place, the longest is found. */

typedef struct added_token {
    char *content, *shown; /* owned; `shown`: the decoded form, which is normalized if the token is */
    size_t length, shown_length;
    int32_t id;
    bool single_word;    /* only if no letter or digit is before or after it */
    bool lstrip, rstrip; /* takes the white space on its left, on its right along */
    bool normalized, special;
} added_token;

/* Those that are looked for at the same time. */
typedef struct added_set {
    token_list contents; /* by the index of the token */
    size_t *lengths;     /* lengths of their contents, each once, longer ones first */
    size_t length_count, length_capacity;
    bool first[256]; /* bytes that one begins with */
} added_set;

/* Starts as {0}. */
typedef struct added_tokens {
    added_token *list;
    size_t count, capacity;
    added_set sets[2]; /* those that are not normalized, and those that are */
    token_list names;  /* indices by content */
    int32_t *by_id;    /* [id_count] indices plus one; 0: none */
    size_t id_count, id_capacity;
} added_tokens;

void added_tokens_free(added_tokens *a);
/* Adds a token, with copies of its content and of `pattern`, the searched and shown form. RAPT_ERR_FORMAT: another token has the
 * same pattern. */
rapt_code added_tokens_add(added_tokens *a, const added_token *token, const char *pattern, size_t length, rapt_error *err);
/* The token with a content, or with an id; NULL: there is none. */
const added_token *added_tokens_find(const added_tokens *a, const char *content);
const added_token *added_tokens_of(const added_tokens *a, int32_t id);

/* Cuts a text into pieces at the tokens of a set, and appends them to *out. `specials`: also at special tokens. False on
 * out-of-memory. */
bool added_tokens_cut(const added_tokens *a, bool normalized, bool specials, const uint8_t *classes, const normal_text *text,
                      piece_list *out);

/* ---- pipeline.c: the row */

typedef struct pipeline {
    rapt_tokenizer base;
    added_tokens added;
    normal_steps normal;
    pretoken_steps cuts;
    pipeline_model model; /* its vocabulary has the added tokens as well */
    id_row before, after; /* ids about a text */
    id_pair pair;
    decode_steps decoder;
    uint8_t *classes; /* [CHAR_CLASSES_SIZE] */
    char *json;       /* the file, without members that do not belong to the tokenizer: keys in order, no spaces */
} pipeline;

static inline const pipeline *pipeline_of(const rapt_tokenizer *k)
{
    return (const pipeline *)k;
}

/* added_read.c: needs normalizer, model and classes. */
rapt_code pipeline_read_added(const hf_reading *r, pipeline *p);

/* An empty one; NULL with `err` set. */
pipeline *pipeline_new(rapt_error *err);
void pipeline_free(pipeline *p);

/* The text of ids, as `tokenizers` decodes them. `skip`: special tokens are left out. malloc'd; NULL with `err` set. */
char *pipeline_decode(const pipeline *p, const int32_t *ids, size_t count, bool skip, size_t *size, rapt_error *err);

#endif
