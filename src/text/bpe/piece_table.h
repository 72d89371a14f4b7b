/* text/bpe/piece_table.h: distinct pieces of text with their counts. For the BPE trainer: pieces hold any bytes. */
#ifndef TEXT_BPE_PIECE_TABLE_H
#define TEXT_BPE_PIECE_TABLE_H

#include "rapt/base.h"

typedef struct piece {
    uint64_t hash;
    int64_t count;
    size_t start, length; /* in the table's bytes; length 0: a free slot */
} piece;

/* Starts as {0}; freed by piece_table_free. */
typedef struct piece_table {
    piece *slots; /* open addressing; at most half of them are used */
    size_t slot_count, used;
    char *bytes; /* all pieces, one after the other */
    size_t size, capacity;
} piece_table;

void piece_table_free(piece_table *t);
/* Adds `times`, which may be negative, to the count of a piece (length > 0). False on out-of-memory. */
bool piece_table_add(piece_table *t, const char *text, size_t length, int64_t times);
/* Adds all counts of another table. */
bool piece_table_add_all(piece_table *t, const piece_table *other);

#endif
