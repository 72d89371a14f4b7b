/* text/words/word_table.h: words numbered in order of first appearance, with counts. For vocabularies. */
#ifndef TEXT_WORDS_WORD_TABLE_H
#define TEXT_WORDS_WORD_TABLE_H

#include "base/arena.h"
#include "rapt/base.h"

typedef struct word_entry {
    const char *word; /* owned by the table */
    size_t count;
} word_entry;

typedef struct word_table {
    arena memory;
    word_entry *entries; /* [size]; capacity for slot_count / 4 */
    size_t size, capacity;
    uint32_t *slots; /* open addressing: index + 1 into entries, 0 empty */
    size_t slot_count;
} word_table;

void word_table_init(word_table *t);
void word_table_free(word_table *t);
/* The index of the word of `length` bytes, or -1. */
int64_t word_table_find(const word_table *t, const char *word, size_t length);
/* Like word_table_find, but adds a new word with count 0; -1 on out-of-memory. */
int64_t word_table_add(word_table *t, const char *word, size_t length);

#endif
