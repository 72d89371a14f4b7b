/* text/words/word_table.c: a hash table of words. For vocabularies; not a general map. */
#include "text/words/word_table.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)64 << 10)

enum { MIN_SLOTS = 4096 };

void word_table_init(word_table *t)
{
    memset(t, 0, sizeof *t);
    arena_init(&t->memory, CHUNK);
}

void word_table_free(word_table *t)
{
    arena_free(&t->memory);
    free(t->entries);
    free(t->slots);
    word_table_init(t);
}

/* FNV-1a. */
static uint64_t hash_word(const char *word, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)word[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

static bool word_table_equal(const char *word, size_t length, const char *other)
{
    return strncmp(word, other, length) == 0 && other[length] == '\0';
}

/* The slot that holds the word, or the empty slot where it belongs. */
static size_t word_table_slot_of(const word_table *t, const char *word, size_t length)
{
    size_t i = hash_word(word, length) & (t->slot_count - 1);
    while (t->slots[i] && !word_table_equal(word, length, t->entries[t->slots[i] - 1].word))
        i = (i + 1) & (t->slot_count - 1);
    return i;
}

int64_t word_table_find(const word_table *t, const char *word, size_t length)
{
    return t->slot_count ? (int64_t)t->slots[word_table_slot_of(t, word, length)] - 1 : -1;
}

static bool word_table_grow(word_table *t)
{
    size_t slot_count = t->slot_count ? 2 * t->slot_count : MIN_SLOTS;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (!slots || !ARRAY_RESERVE(&t->entries, &t->capacity, slot_count / 4)) {
        free(slots);
        return false;
    }
    free(t->slots);
    t->slots = slots;
    t->slot_count = slot_count;
    for (size_t i = 0; i < t->size; i++)
        t->slots[word_table_slot_of(t, t->entries[i].word, strlen(t->entries[i].word))] = (uint32_t)(i + 1);
    return true;
}

int64_t word_table_add(word_table *t, const char *word, size_t length)
{
    int64_t found = word_table_find(t, word, length);
    if (found >= 0)
        return found;
    if (4 * t->size == t->slot_count && !word_table_grow(t))
        return -1;
    char *copy = arena_alloc(&t->memory, length + 1);
    if (!copy)
        return -1;
    memcpy(copy, word, length);
    copy[length] = '\0';
    t->entries[t->size] = (word_entry){copy, 0};
    t->slots[word_table_slot_of(t, word, length)] = (uint32_t)(t->size + 1);
    return (int64_t)t->size++;
}
