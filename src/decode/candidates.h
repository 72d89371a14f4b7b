/* decode/candidates.h: the best continuations of the hypotheses of one text, among all tokens. For beam searches. */
#ifndef DECODE_CANDIDATES_H
#define DECODE_CANDIDATES_H

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

/* The log-probability that a candidate must exceed to get a place. */
double candidates_worst(const candidate_list *l);

/* Puts c, better than the worst, in its place. */
void candidates_insert(candidate_list *l, candidate c);

/* Adds the tokens of a row, each with the log-probability base + x[token], that are better than the worst; -inf never is.
 * x: [classes]. */
void candidates_gather_row(const kernels *k, candidate_list *l, size_t classes, const rapt_real *x, double base, size_t row);

#endif
