/* text/bpe/bpe_train_parts.h: what bpe_train.c keeps of its text: the pieces as rows of tokens, and the pairs of tokens that
 * could merge next. */
#ifndef TEXT_BPE_BPE_TRAIN_PARTS_H
#define TEXT_BPE_BPE_TRAIN_PARTS_H

#include "rapt/base.h"

#include "text/bpe/token_list.h"

/* ---- token_rows.c: distinct pieces as rows of tokens that are merged in place. For the BPE trainer. */

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

/* ---- pair_queue.c: pairs of tokens, how often and where they occur, the most frequent first. For the BPE trainer.
 *
 * A pair gets its full count when it is added; from then on its count only falls. (Two tokens become neighbors when the younger
 * of them is made, never later.) So the queue may hold counts that are too high: pair_queue_pop examines the present count, and
 * puts a pair whose count has fallen back where it belongs. */

typedef struct token_pair {
    uint64_t key; /* left << 32 | right, and one; 0: a free slot */
    int64_t count;
    size_t first, uses; /* its places: `uses` of them; some may no longer hold it */
} token_pair;

/* Starts as {0}; freed by pair_queue_free. */
typedef struct pair_queue {
    token_pair *slots; /* open addressing; at most half of them are used */
    size_t slot_count, used;
    struct waiting_pair *heap; /* [waiting]; capacity for slot_count / 2 */
    size_t waiting, heap_capacity;
    uint32_t *places;
    size_t place_count, place_capacity;
} pair_queue;

void pair_queue_free(pair_queue *q);
/* Adds a pair that isn't there yet; the caller fills places[*first ..] with its `uses` places. False on out-of-memory. */
bool pair_queue_add(pair_queue *q, int32_t left, int32_t right, int64_t count, size_t uses, size_t *first);
/* Takes `times` from the count of a pair; one that was never added has no count to keep. */
void pair_queue_lose(pair_queue *q, int32_t left, int32_t right, int64_t times);
/* Takes out the pair with the largest count; among equal ones, the pair with the smaller left token, then the smaller right
 * token. False if no count is at least `min`. */
bool pair_queue_pop(pair_queue *q, int64_t min, token_pair *best);

static inline int32_t token_pair_left(const token_pair *p)
{
    return (int32_t)((p->key - 1) >> 32);
}

static inline int32_t token_pair_right(const token_pair *p)
{
    return (int32_t)((p->key - 1) & UINT32_MAX);
}

#endif
