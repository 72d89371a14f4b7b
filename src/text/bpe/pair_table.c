/* text/bpe/pair_table.c: how the table of pairs grows; how it is read is in the header. */
#include "text/bpe/pair_table.h"

#include <stdlib.h>

enum { FIRST_BITS = 10 };

void pair_table_free(pair_table *t)
{
    free(t->slots);
    *t = (pair_table){0};
}

static bool pair_table_grow(pair_table *t)
{
    pair_table wider = {.size = t->size, .shift = t->slots ? t->shift - 1 : 64 - FIRST_BITS};
    wider.slot_count = (size_t)1 << (64 - wider.shift);
    wider.slots = calloc(wider.slot_count, sizeof *wider.slots);
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].key)
            *pair_table_slot(&wider, t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = wider;
    return true;
}

bool pair_table_put(pair_table *t, int32_t left, int32_t right, pair_merge merge)
{
    if (3 * (t->size + 1) > 2 * t->slot_count && !pair_table_grow(t))
        return false;
    uint64_t key = pair_key(left, right);
    *pair_table_slot(t, key) = (pair_slot){key, merge};
    t->size++;
    return true;
}
