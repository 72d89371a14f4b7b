/* text/pieces/piece_merge.c: merges with a heap of candidates. If one of a candidate's symbols has merged otherwise meanwhile,
 * the size of both together differs, since symbols only grow, and the candidate is dropped. */
#include "text/pieces/piece_merge.h"

#include "base/buffer.h"

#include <stdlib.h>

#define NONE PIECE_MERGE_NONE

typedef struct piece_candidate {
    uint64_t order; /* the key, then the left symbol: a lower one merges first */
    uint32_t size;  /* of both symbols together */
    int32_t id;
} piece_candidate;

void piece_merge_free(piece_merge_work *w)
{
    free(w->symbols);
    free(w->heap);
    *w = (piece_merge_work){0};
}

bool piece_merge_add(piece_merge_work *w, int32_t id, size_t start, size_t size)
{
    if (!ARRAY_RESERVE(&w->symbols, &w->capacity, w->count + 1))
        return false;
    const uint32_t at = (uint32_t)w->count++;
    w->symbols[at] = (piece_symbol){id, at - 1, NONE, (uint32_t)start, (uint32_t)size}; /* 0 - 1 is NONE */
    if (at > 0)
        w->symbols[at - 1].next = at;
    return true;
}

static bool heap_put(piece_merge_work *w, piece_candidate c)
{
    if (!ARRAY_RESERVE(&w->heap, &w->heap_capacity, w->waiting + 1))
        return false;
    size_t at = w->waiting++;
    for (; at > 0 && w->heap[(at - 1) / 2].order > c.order; at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = c;
    return true;
}

static piece_candidate heap_take(piece_merge_work *w)
{
    const piece_candidate best = w->heap[0], last = w->heap[--w->waiting];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < w->waiting; at = child) {
        child += child + 1 < w->waiting && w->heap[child + 1].order < w->heap[child].order;
        if (w->heap[child].order >= last.order)
            break;
        w->heap[at] = w->heap[child];
    }
    w->heap[at] = last;
    return best;
}

/* Queues two neighbors if they merge. */
static bool queue_pair(piece_merge_work *w, const piece_merge_rule *rule, uint32_t left)
{
    const uint32_t right = left != NONE ? w->symbols[left].next : NONE;
    uint32_t key;
    int32_t id;
    if (right == NONE || w->symbols[left].id < 0 || w->symbols[right].id < 0 ||
        !rule->find(rule->context, &w->symbols[left], &w->symbols[right], &key, &id))
        return true;
    return heap_put(w, (piece_candidate){(uint64_t)key << 32 | left, w->symbols[left].size + w->symbols[right].size, id});
}

bool piece_merge_all(piece_merge_work *w, const piece_merge_rule *rule)
{
    bool ok = true;
    w->waiting = 0;
    for (size_t i = 0; ok && i < w->count; i++)
        ok = queue_pair(w, rule, (uint32_t)i);
    while (ok && w->waiting) {
        const piece_candidate c = heap_take(w);
        const uint32_t at = (uint32_t)c.order;
        piece_symbol *left = &w->symbols[at];
        if (!left->size || left->next == NONE || left->size + w->symbols[left->next].size != c.size)
            continue;
        piece_symbol *right = &w->symbols[left->next];
        left->id = c.id;
        left->size = c.size;
        left->next = right->next;
        right->size = 0;
        if (left->next != NONE)
            w->symbols[left->next].previous = at;
        ok = queue_pair(w, rule, left->previous) && queue_pair(w, rule, at);
    }
    return ok;
}
