/* text/bpe/specials.h: the texts of special tokens, and their places in a text. For byte-level BPE. */
#ifndef TEXT_BPE_SPECIALS_H
#define TEXT_BPE_SPECIALS_H

#include "rapt/base.h"

typedef struct special {
    const char *text; /* with a NUL after it */
    size_t length;
    int32_t id;
    bool always;   /* found even if special tokens are not requested */
    bool in_model; /* a token of the vocabulary besides */
} special;

/* Starts as {0}. */
typedef struct special_list {
    special *list; /* [count], longer texts first */
    size_t count, capacity;
    bool first[256]; /* bytes that one begins with */
    int firsts;      /* how many such bytes there are */
} special_list;

void special_list_free(special_list *l);
/* Keeps a copy of the text, which is not empty; false on out-of-memory. */
bool special_list_add(special_list *l, special added);
/* Finds the first place from `from` on with a special token, and the longest one there; NULL: none. `all`: also tokens that are
 * not always found. */
const special *special_list_next(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at);
/* Like special_list_next, for a text that may be larger than memory: `passed`, unless NULL, gets the bytes that were searched
 * without success, in portions. */
const special *special_list_search(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at,
                                   void (*passed)(void *context, size_t begin, size_t end), void *context);
/* The special token with a text, or with an id; NULL: there is none. */
const special *special_list_find(const special_list *l, const char *text, size_t length);
const special *special_list_of(const special_list *l, int32_t id);

#endif
