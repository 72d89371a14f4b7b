/* decode/search_rows.h: the unfinished and finished hypotheses of a beam search. For beam.c and policy_search.c. */
#ifndef DECODE_SEARCH_ROWS_H
#define DECODE_SEARCH_ROWS_H

#include "base/arena.h"
#include "decode/search.h"

/* An unfinished hypothesis: its tokens so far. */
typedef struct search_row {
    int32_t *tokens;
    double log_prob; /* of its tokens that were not given */
} search_row;

/* (*rows)[count], each with room for `capacity` tokens. False: out of memory. */
bool search_rows_allocate(search_row **rows, size_t count, size_t capacity, arena *memory);
/* Makes each of results[count] an empty one, with room for `best` hypotheses of `capacity` tokens. False: out of memory. */
bool search_rows_allocate_results(search_result *results, size_t count, size_t best, size_t capacity, arena *memory);

#endif
