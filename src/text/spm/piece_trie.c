/* text/spm/piece_trie.c: a trie whose edges are in one hash table. A node is only a number, which is in the keys of its edges; it
 * has no entry. */
#include "text/spm/piece_trie.h"

#include <stdlib.h>

enum { MIN_SLOTS = 256, MAX_RESERVED = 1 << 24, MAX_FOUND = 64 };

typedef struct trie_slot {
    uint32_t from, to; /* to == 0: free; no edge leads to the root */
    uint32_t label;    /* the byte, and above it 1 + the id of the text that ends here, or 0 */
} trie_slot;

void piece_trie_free(piece_trie *t)
{
    free(t->slots);
    *t = (piece_trie){0};
}

/* The slot of an edge, or the free slot where it belongs. */
static trie_slot *find_edge(const piece_trie *t, uint32_t from, unsigned char byte)
{
    const uint64_t key = ((uint64_t)from << 8 | byte) * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (size_t)(key ^ key >> 32) & (t->slot_count - 1);
    while (t->slots[i].to && (t->slots[i].from != from || (unsigned char)t->slots[i].label != byte))
        i = (i + 1) & (t->slot_count - 1);
    return &t->slots[i];
}

static bool piece_trie_grow(piece_trie *t, size_t slot_count)
{
    piece_trie larger = {.slot_count = slot_count, .nodes = t->nodes ? t->nodes : 1};
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].to)
            *find_edge(&larger, t->slots[i].from, (unsigned char)t->slots[i].label) = t->slots[i];
    free(t->slots);
    *t = larger;
    return true;
}

bool piece_trie_reserve(piece_trie *t, size_t nodes)
{
    size_t slot_count = MIN_SLOTS;
    while (slot_count / 3 * 2 < nodes && slot_count < MAX_RESERVED)
        slot_count *= 2;
    return slot_count <= t->slot_count || piece_trie_grow(t, slot_count);
}

/* Whether another node fits, at most two thirds of the slots being in use. */
static bool has_space(piece_trie *t)
{
    if (t->nodes >= INT32_MAX)
        return false;
    return t->nodes < t->slot_count / 3 * 2 || piece_trie_grow(t, t->slot_count ? 2 * t->slot_count : MIN_SLOTS);
}

bool piece_trie_add(piece_trie *t, const char *text, size_t size, int32_t id)
{
    trie_slot *edge = NULL; /* the last one: the table can move before the next */
    for (size_t i = 0, node = 0; i < size; i++, node = edge->to) {
        if (!has_space(t))
            return false;
        edge = find_edge(t, (uint32_t)node, (unsigned char)text[i]);
        if (!edge->to)
            *edge = (trie_slot){(uint32_t)node, t->nodes++, (unsigned char)text[i]};
    }
    if (edge)
        edge->label = ((uint32_t)id + 1) << 8 | (unsigned char)edge->label;
    return true;
}

bool piece_trie_step(const piece_trie *t, uint32_t *node, char byte, int32_t *id)
{
    if (t->slot_count == 0)
        return false;
    const trie_slot *edge = find_edge(t, *node, (unsigned char)byte);
    *node = edge->to;
    *id = (int32_t)(edge->label >> 8) - 1;
    return edge->to != 0;
}

size_t piece_trie_longest(const piece_trie *t, const char *text, size_t size)
{
    size_t longest = 0;
    uint32_t node = 0;
    int32_t id;
    for (size_t i = 0, found = 0; i < size && found < MAX_FOUND && piece_trie_step(t, &node, text[i], &id); i++) {
        longest = id >= 0 ? i + 1 : longest;
        found += id >= 0;
    }
    return longest;
}
