/* text/bpe/byte_bpe.h: the inside of byte-level BPE, shared by its encoder, its trainer and its files. */
#ifndef TEXT_BPE_BYTE_BPE_H
#define TEXT_BPE_BYTE_BPE_H

#include "text/bpe/pair_table.h"
#include "text/bpe/specials.h"
#include "text/bpe/token_list.h"
#include "text/normalizer.h"
#include "text/split/split.h"
#include "text/tokenizer.h"

/* Ids that a text as a whole gets before and after its own, if special tokens are requested. */
typedef struct id_row {
    int32_t *ids;
    size_t count, capacity;
} id_row;

typedef struct byte_bpe {
    rapt_tokenizer base;
    token_list tokens; /* including special tokens */
    pair_table pairs;
    int32_t bytes[256]; /* their tokens */
    split *cut;
    special_list specials;
    id_row before, after;
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
rapt_code bpe_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink,
                        void *context, rapt_error *err);
/* bpe_threads.c */
rapt_code bpe_encode_run(const rapt_tokenizer *k, const encode_run *r, rapt_error *err);
/* hf_write.c: the contents of tokenizer.json; NULL: out of memory. And whether a file that was read has the same contents, judged
 * by the members around the lists of tokens and merges, because comparing these would take long. */
json_t *hf_to_json(const byte_bpe *b);
rapt_code hf_is_own(const byte_bpe *b, const json_t *root, bool *own, rapt_error *err);

#endif
