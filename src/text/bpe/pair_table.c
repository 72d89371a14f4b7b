/* text/bpe/pair_table.c: how the table of pairs grows; how it is read is in the header. */
#include "text/bpe/pair_table.h"

#include <limits.h>
#include <stdlib.h>

enum { FIRST_BITS = 10, LAST_SHIFT = 64 - (sizeof(size_t) * CHAR_BIT - 6) }; /* bytes of all slots are counted in size_t */

void pair_table_free(pair_table *t)
{
    free(t->slots);
    *t = (pair_table){0};
}

bool pair_table_reserve(pair_table *t, size_t count)
{
    pair_table wider = {.size = t->size, .shift = t->slots ? t->shift : 64 - FIRST_BITS};
    while (wider.shift > LAST_SHIFT && count > ((size_t)1 << (64 - wider.shift)) / 3 * 2)
        wider.shift--;
    wider.slot_count = (size_t)1 << (64 - wider.shift);
    if (wider.slot_count == t->slot_count)
        return count <= t->slot_count / 3 * 2;
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
    if (t->size + 1 > t->slot_count / 3 * 2 && !pair_table_reserve(t, t->size + 1))
        return false;
    uint64_t key = pair_key(left, right);
    *pair_table_slot(t, key) = (pair_slot){key, merge};
    t->size++;
    return true;
}
