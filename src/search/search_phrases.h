/* search/search_phrases.h: a step of a search whose hypotheses must contain phrases. For search.c. */
#ifndef SEARCH_SEARCH_PHRASES_H
#define SEARCH_SEARCH_PHRASES_H

#include "search/search_rule.h"

/* Memory for the members of s->required, in addition to s->candidates.max candidates. False: out of memory. */
bool search_phrases_allocate(search *s, arena *memory);
/* Adds the candidates of a row, from its log-probabilities base + x[token]; changes x: <eos> may not follow while a phrase is
 * missing. */
void search_phrases_gather(search *s, rapt_real *x, double base, size_t row);
/* Replaces s->candidates by the ones that end or continue, in order: at most `beam` that continue. */
void search_phrases_choose(search *s);

#endif
