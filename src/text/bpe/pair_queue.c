/* text/bpe/pair_queue.c: a hash table of pairs and a binary heap over it. For the BPE trainer; not a general queue: counts may
 * only fall. */
#include "text/bpe/bpe_train_parts.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_SLOTS = 1024 };

typedef struct waiting_pair {
    int64_t count; /* when it was put here: an upper bound */
    uint64_t key;
} waiting_pair;

void pair_queue_free(pair_queue *q)
{
    free(q->slots);
    free(q->heap);
    free(q->places);
    *q = (pair_queue){0};
}

/* ---- the table -------------------------------------------------------------------------------------------- */

static uint64_t pair_queue_key_of(int32_t left, int32_t right)
{
    return ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) + 1;
}

/* The slot of a key, or the free slot where it belongs; the multiplier is as in trie.c. */
static size_t pair_queue_slot_of(const token_pair *slots, size_t slot_count, uint64_t key)
{
    uint64_t hash = (key ^ key >> 29) * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (hash ^ hash >> 32) & (slot_count - 1);
    while (slots[i].key && slots[i].key != key)
        i = (i + 1) & (slot_count - 1);
    return i;
}

static bool pair_queue_grow(pair_queue *q)
{
    size_t slot_count = q->slot_count ? 2 * q->slot_count : MIN_SLOTS;
    token_pair *slots = calloc(slot_count, sizeof *slots);
    if (!slots || !ARRAY_RESERVE(&q->heap, &q->heap_capacity, slot_count / 2)) {
        free(slots);
        return false;
    }
    for (size_t i = 0; i < q->slot_count; i++)
        if (q->slots[i].key)
            slots[pair_queue_slot_of(slots, slot_count, q->slots[i].key)] = q->slots[i];
    free(q->slots);
    q->slots = slots;
    q->slot_count = slot_count;
    return true;
}

void pair_queue_lose(pair_queue *q, int32_t left, int32_t right, int64_t times)
{
    token_pair *p = q->slot_count ? &q->slots[pair_queue_slot_of(q->slots, q->slot_count, pair_queue_key_of(left, right))] : NULL;
    if (p && p->key)
        p->count -= times;
}

/* ---- the heap --------------------------------------------------------------------------------------------- */

static bool is_before(waiting_pair a, waiting_pair b)
{
    return a.count != b.count ? a.count > b.count : a.key < b.key;
}

static void pair_queue_sift_up(waiting_pair *heap, size_t at, waiting_pair p)
{
    for (; at > 0 && is_before(p, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = p;
}

/* Puts `p` in the place of the first. */
static void sift_down(waiting_pair *heap, size_t size, waiting_pair p)
{
    size_t at = 0;
    for (size_t child = 1; child < size; child = 2 * at + 1) {
        child += child + 1 < size && is_before(heap[child + 1], heap[child]);
        if (!is_before(heap[child], p))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = p;
}

static void drop_first(pair_queue *q)
{
    q->waiting--;
    if (q->waiting)
        sift_down(q->heap, q->waiting, q->heap[q->waiting]);
}

bool pair_queue_add(pair_queue *q, int32_t left, int32_t right, int64_t count, size_t uses, size_t *first)
{
    uint64_t key = pair_queue_key_of(left, right);
    if (2 * (q->used + 1) > q->slot_count && !pair_queue_grow(q))
        return false;
    if (!ARRAY_RESERVE(&q->places, &q->place_capacity, q->place_count + uses))
        return false;
    *first = q->place_count;
    q->slots[pair_queue_slot_of(q->slots, q->slot_count, key)] = (token_pair){key, count, *first, uses};
    q->place_count += uses;
    q->used++;
    pair_queue_sift_up(q->heap, q->waiting++, (waiting_pair){count, key});
    return true;
}

bool pair_queue_pop(pair_queue *q, int64_t min, token_pair *best)
{
    while (q->waiting) {
        waiting_pair top = q->heap[0];
        const token_pair *now = &q->slots[pair_queue_slot_of(q->slots, q->slot_count, top.key)];
        if (now->count < min) {
            drop_first(q);
        } else if (now->count < top.count) {
            sift_down(q->heap, q->waiting, (waiting_pair){now->count, top.key});
        } else {
            *best = *now;
            drop_first(q);
            return true;
        }
    }
    return false;
}
