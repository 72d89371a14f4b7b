/* text/bpe/byte_bpe.h: the inside of byte-level BPE, shared by its encoder, its trainer and its files. */
#ifndef TEXT_BPE_BYTE_BPE_H
#define TEXT_BPE_BYTE_BPE_H

#include "rapt/base.h"

#include "text/bpe/pair_table.h"
#include "text/bpe/token_list.h"
#include "text/normalizer.h"
#include "text/split/split.h"
#include "text/tokenizer.h"

/* ---- specials.c: the texts of special tokens, and their places in a text. For byte-level BPE. */

typedef struct special {
    const char *text; /* with a NUL after it */
    size_t length;
    int32_t id;
    bool always;   /* found even if special tokens are not requested */
    bool in_model; /* a token of the vocabulary besides */
} special;

/* Starts as {0}. */
typedef struct special_list {
    special *list; /* [count], longer texts first */
    size_t count, capacity;
    bool first[256]; /* bytes that one begins with */
    int firsts;      /* how many such bytes there are */
    bool always;     /* one of them is always found */
} special_list;

void special_list_free(special_list *l);
/* Keeps a copy of the text, which is not empty; false on out-of-memory. */
bool special_list_add(special_list *l, special added);
/* Finds the first place from `from` on with a special token, and the longest one there; NULL: none. `all`: also tokens that are
 * not always found. */
const special *special_list_next(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at);
/* Like special_list_next, for a text that may be larger than memory: `passed`, unless NULL, gets the bytes that were searched
 * without success, in portions. */
const special *special_list_search(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at,
                                   void (*passed)(void *context, size_t begin, size_t end), void *context);
/* The special token with a text, or with an id; NULL: there is none. */
const special *special_list_find(const special_list *l, const char *text, size_t length);
const special *special_list_of(const special_list *l, int32_t id);

/* ---- byte_bpe.c */

/* Ids that a text as a whole gets before and after its own, if special tokens are requested. */
typedef struct id_row {
    int32_t *ids;
    size_t count, capacity;
} id_row;

/* Ids about two texts that become one row. Types are 0, from some id on 1; more is not known of the form of such a file, so that
 * `known` is false. */
struct id_pair {
    id_row before, between, after;
    bool known;
    bool typed;        /* the second text has type 1 */
    size_t first_type; /* ids of `between` that have type 0, if so */
};

/* Zeroes it. */
void id_pair_free(id_pair *p);

/* Const once it has encoded a text: its encoders keep ids. */
typedef struct byte_bpe {
    rapt_tokenizer base;
    token_list tokens; /* including special tokens */
    pair_table pairs;
    int32_t bytes[256]; /* their tokens */
    split *cut;
    struct spares *encoders; /* spare ones, of bpe_encode.c */
    special_list specials;
    id_row before, after;
    id_pair pair;
    bool whole_pieces; /* a piece that is a token becomes it, regardless of merges */
    normalizer normal; /* normalizes the text before it is split into pieces */
    const char *ranks; /* the public encoding whose rank file it is; NULL: it has a list of merges */
    bool foreign;      /* read from a tokenizer.json that rapt would write otherwise */
    json_t *(*to_json)(const struct byte_bpe *b); /* how an encoding is saved; NULL: as a Hugging Face tokenizer.json */
} byte_bpe;

/* An empty one; NULL with `err` set. */
byte_bpe *byte_bpe_new(const char *pattern, rapt_error *err);
void byte_bpe_free(byte_bpe *b);
/* To be called once tokens are there, and before merges: RAPT_ERR_FORMAT for a byte without a token. */
rapt_code byte_bpe_find_bytes(byte_bpe *b, rapt_error *err);
/* Adds a special token: a token that no merge makes, or one that is there already. */
rapt_code byte_bpe_add_special(byte_bpe *b, size_t id, const char *text, size_t length, bool always, rapt_error *err);
/* Adds a merge of two existing tokens into the token that has the bytes of both. RAPT_ERR_FORMAT if there is none, or if the pair
 * has been added before. */
rapt_code byte_bpe_add_merge(byte_bpe *b, int32_t left, int32_t right, uint32_t rank, rapt_error *err);

static inline const byte_bpe *byte_bpe_of(const rapt_tokenizer *k)
{
    return (const byte_bpe *)k;
}

/* bpe_encode.c */
void bpe_encoders_free(struct spares *encoders); /* NULL is fine */
rapt_code bpe_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                        void *context, rapt_error *err);
/* bpe_offsets.c */
rapt_code bpe_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                             rapt_error *err);
/* bpe_threads.c */
rapt_code bpe_encode_run(const rapt_tokenizer *k, const encode_run *r, rapt_error *err);
/* hf_write.c: the contents of tokenizer.json; NULL: out of memory. And whether a file that was read has the same contents, judged
 * by the members around the lists of tokens and merges, because comparing these would take long. */
json_t *hf_to_json(const byte_bpe *b);
rapt_code hf_is_own(const byte_bpe *b, const json_t *root, bool *own, rapt_error *err);

#endif
