/* search/candidates.h: the best continuations of the hypotheses of one text, among all tokens. For beam searches. */
#ifndef SEARCH_CANDIDATES_H
#define SEARCH_CANDIDATES_H

#include "kernels/kernels.h"

typedef struct candidate {
    double log_prob;
    size_t row;
    int32_t token;
} candidate;

/* The best candidates, sorted; among equals, the ones that came first. */
typedef struct candidate_list {
    candidate *best; /* [max] */
    size_t count, max;
} candidate_list;

/* Puts c, which must be better than the worst, in its place. */
void candidates_insert(candidate_list *l, candidate c);

/* Adds the tokens of a row, each with the log-probability base + x[token], that are better than the worst; -inf never is.
 * x: [classes]. */
void candidates_gather_row(const kernels *k, candidate_list *l, size_t classes, const rapt_real *x, double base, size_t row);

/* Sets the logits of tokens to -inf that would complete an n-gram that is already in tokens[length]; n 0: none. */
void candidates_ban_repeats(size_t n, const int32_t *tokens, size_t length, rapt_real *logits);

/* Sets the logit of the last of ids[count] to -inf if tokens[length] ends with those before it; count: 1 or more. */
void candidates_ban_sequence(const int32_t *ids, size_t count, const int32_t *tokens, size_t length, rapt_real *logits);

/* RAPT_ERR_NOT_FINITE if this maximum and sum of exponentials show that a logit was not finite. */
rapt_code candidates_check(rapt_real max, rapt_real sum, rapt_error *err);

#endif
