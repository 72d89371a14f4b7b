/* text/bpe/token_rows.h: distinct pieces as rows of tokens that are merged in place. For the BPE trainer. */
#ifndef TEXT_BPE_TOKEN_ROWS_H
#define TEXT_BPE_TOKEN_ROWS_H

#include "text/bpe/token_list.h"

/* The value of a slot where no token begins: between two pieces, and within a token. */
enum { ROWS_EDGE = -1, ROWS_INSIDE = -2 };

/* There is a slot for each byte, and one between pieces. A token of n bytes has n slots: the first holds its id, the last its
 * first slot, so that both neighbors of a token are found without a list. */
typedef struct token_slot {
    int32_t token;
    uint32_t start;
    uint32_t piece; /* index into weights */
} token_slot;

/* Starts as {0}; freed by token_rows_free. */
typedef struct token_rows {
    token_slot *slots; /* the first and the last are edges */
    size_t size;
    int64_t *weights;  /* the number of occurrences of each piece */
    uint32_t *lengths; /* bytes of each token */
} token_rows;

/* Makes one token of each byte, for all pieces that occur and have at least two bytes. RAPT_ERR_VALUE for more slots than 32 bits
 * can number. */
rapt_code token_rows_build(token_rows *r, const token_counts *pieces, rapt_error *err);
/* Capacity for the lengths of `tokens` tokens, at least 256. */
rapt_code token_rows_reserve(token_rows *r, size_t tokens, rapt_error *err);
void token_rows_free(token_rows *r);

static inline int64_t token_rows_weight(const token_rows *r, size_t at)
{
    return r->weights[r->slots[at].piece];
}

/* The slot after the token at `at`: the next token, or an edge. */
static inline size_t token_rows_next(const token_rows *r, size_t at)
{
    return at + r->lengths[r->slots[at].token];
}

/* The slot of the token before the one at `at`, or an edge. */
static inline size_t token_rows_before(const token_rows *r, size_t at)
{
    return r->slots[at - 1].token == ROWS_EDGE ? at - 1 : r->slots[at - 1].start;
}

/* Whether `left` is at slot `at`, with `right` after it. */
static inline bool token_rows_has(const token_rows *r, size_t at, int32_t left, int32_t right)
{
    return r->slots[at].token == left && r->slots[token_rows_next(r, at)].token == right;
}

/* Makes one token of the one at `at` and the one after it. */
static inline void token_rows_merge(token_rows *r, size_t at, int32_t token)
{
    size_t next = token_rows_next(r, at), end = token_rows_next(r, next);
    r->slots[at].token = token;
    r->slots[next].token = ROWS_INSIDE;
    r->slots[end - 1].start = (uint32_t)at;
}

#endif
