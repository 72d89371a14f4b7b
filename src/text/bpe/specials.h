/* text/bpe/specials.h: the texts of special tokens, and where they occur. For byte-level BPE. */
#ifndef TEXT_BPE_SPECIALS_H
#define TEXT_BPE_SPECIALS_H

#include "rapt/base.h"

typedef struct special {
    const char *text; /* with a NUL after it */
    size_t length;
    int32_t id;
    bool always;   /* found also where special tokens are not asked for */
    bool in_model; /* a token of the vocabulary besides */
} special;

/* Starts as {0}. */
typedef struct special_list {
    special *list; /* [count], longer ones first */
    size_t count, capacity;
    bool first[256]; /* bytes that one begins with */
    int firsts;      /* how many such bytes there are */
} special_list;

void special_list_free(special_list *l);
/* Keeps a copy of the text, which is not empty; false on out-of-memory. */
bool special_list_add(special_list *l, special added);
/* The first place from `from` on where one stands, and the longest that stands there; NULL: nowhere. `all`: not only
 * those that are always found. */
const special *special_list_next(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at);
/* The same in a text that may be larger than memory: `passed`, unless NULL, gets the bytes that were searched without success, in
 * portions. */
const special *special_list_search(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at,
                                   void (*passed)(void *context, size_t begin, size_t end), void *context);
/* NULL: none has this text, or this id. */
const special *special_list_find(const special_list *l, const char *text, size_t length);
const special *special_list_of(const special_list *l, int32_t id);

#endif
