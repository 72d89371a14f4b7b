/* text/split/code_set.h: sets of code points, as a pattern has them. For dialect.c and kinds.c. */
#ifndef TEXT_SPLIT_CODE_SET_H
#define TEXT_SPLIT_CODE_SET_H

#include "rapt/base.h"

typedef struct code_range {
    uint32_t first, end; /* end: after the last */
} code_range;

/* A zeroed set is empty. In a tidy set, ranges are in order and apart; all functions except code_set_add tidy it. */
typedef struct code_set {
    code_range *ranges; /* owned */
    size_t count, capacity;
} code_set;

void code_set_free(code_set *s);
/* These return false on out-of-memory; `end` is after the last code point. */
bool code_set_add(code_set *s, uint32_t first, uint32_t end);
bool code_set_add_all(code_set *s, const code_set *more);
/* Adds letters that differ from one in the set only by case. */
bool code_set_add_folded(code_set *s);
bool code_set_complement(code_set *s); /* within all code points except surrogates */
bool code_set_intersect(code_set *s, const code_set *other);
void code_set_tidy(code_set *s);

bool code_set_has(const code_set *s, uint32_t code);
bool code_set_equal(const code_set *a, const code_set *b);

#endif
