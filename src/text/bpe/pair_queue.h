/* text/bpe/pair_queue.h: pairs of tokens, how often and where they occur, the most frequent first. For the BPE trainer.
 *
 * A pair gets its full count when it is added; from then on its count only falls. (Two tokens become neighbors when the younger
 * of them is made, never later.) So the queue may hold counts that are too high: pair_queue_pop examines the present count, and
 * puts a pair whose count has fallen back where it belongs. */
#ifndef TEXT_BPE_PAIR_QUEUE_H
#define TEXT_BPE_PAIR_QUEUE_H

#include "rapt/base.h"

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
