/* text/bpe/token_list.h: tokens by id, with holes, and ids by token; and how often each occurs. For vocabularies of all kinds:
 * tokens, words and pieces are any bytes. */
#ifndef TEXT_BPE_TOKEN_LIST_H
#define TEXT_BPE_TOKEN_LIST_H

#include "rapt/base.h"

typedef struct token_span {
    size_t at;
    int64_t length; /* -1: a hole */
} token_span;

typedef struct token_key {
    uint32_t tag; /* of the hash */
    uint32_t id;  /* and one; 0: empty */
} token_key;

/* Starts as {0}. */
typedef struct token_list {
    token_span *spans; /* [size], by id */
    size_t size, capacity;
    char *bytes; /* bytes of all tokens, each followed by a NUL */
    size_t used, bytes_capacity;
    token_key *slots; /* open addressing, for those that can be found */
    size_t slot_count, found;
} token_list;

/* Starts as {0}. */
typedef struct token_counts {
    token_list tokens; /* without holes */
    int64_t *counts;   /* [tokens.size] */
    size_t capacity;
} token_counts;

void token_list_free(token_list *l);
/* Makes room for `count` tokens that can be found, of `bytes` bytes in all. False on out-of-memory. */
bool token_list_reserve(token_list *l, size_t count, size_t bytes);
/* Puts a token at an id that has none. `findable`: token_list_find finds it from now on; the list must not have the same findable
 * token yet. False on out-of-memory. */
bool token_list_put(token_list *l, size_t id, const char *token, size_t length, bool findable);
/* The id of a token that can be found; a new one gets the next id. -1 on out-of-memory. */
int32_t token_list_add(token_list *l, const char *token, size_t length);
/* The id of a token, or -1. */
int32_t token_list_find(const token_list *l, const char *token, size_t length);
/* token_list_find in two steps, to look up many tokens together: the first computes the hash and prefetches its slot, the second
 * reads it. */
uint64_t token_list_fetch(const token_list *l, const char *token, size_t length);
int32_t token_list_find_fetched(const token_list *l, uint64_t fetched, const char *token, size_t length);
/* The token, ended by a NUL that doesn't count; NULL for holes and beyond the list. `length` may be NULL. */
const char *token_list_at(const token_list *l, int64_t id, size_t *length);

void token_counts_free(token_counts *c);
/* Adds `times`, which may be negative, to the count of a token. False on out-of-memory. */
bool token_counts_add(token_counts *c, const char *token, size_t length, int64_t times);

#endif
