/* search/search_rule.h: the inside of a search, for search.c and the two rules that it follows. */
#ifndef SEARCH_SEARCH_RULE_H
#define SEARCH_SEARCH_RULE_H

#include "search/candidates.h"
#include "search/search.h"

#include <math.h>

/* An unfinished hypothesis. */
typedef struct search_row {
    int32_t *tokens; /* so far, with the whole prompt */
    double *sums;    /* the log_prob of its beginnings: sums[i] with token i; NULL unless options.log_probs */
    double log_prob; /* of its tokens that were not given; rapt's own rule counts a forced prefix too */
} search_row;

typedef struct search_rule {
    /* Changes the logits x [classes] after a row so that the row with token i has the log-probability *base + x[i]; -inf: token i
     * may not follow. */
    rapt_code (*weigh)(search *s, const search_row *row, rapt_real *x, double *base, rapt_error *err);
    /* The score of a hypothesis of `length` tokens, with the prompt. */
    double (*score)(const search *s, double log_prob, size_t length);
    /* Drops the rows among next[next_count] that cannot become a result any more. */
    void (*drop)(search *s);
    bool weighs_prompt; /* the tokens of a prompt after the first `known` count in log_prob */
    bool late_ends;     /* a candidate that is not among the best `beam` may end a hypothesis too */
} search_rule;

/* For a text with phrases. */
typedef struct search_required {
    size_t length;                  /* tokens of all phrases; 0: there are none */
    phrase_tokens next;             /* of a row */
    phrase_index index;
    phrase_counts *counts;          /* [options.beam] of each row, without the candidate's token */
    candidate *more, *all;          /* [more_max] besides the best of all rows; all of them, the best first */
    size_t more_count, more_max;
    size_t *missing;                /* the tokens that each of `all` misses */
    size_t *there, *taken;          /* [length + 1] candidates that continue, by the tokens that they miss; that have a place */
} search_required;

extern const search_rule search_rule_own, search_rule_of_policy;

struct search {
    const search_rule *rule;
    search_options options;
    search_text text;
    const kernels *k;
    size_t classes;
    size_t wanted;                  /* max results */
    size_t enough, ended;           /* hypotheses after which the search is over, 0: any number; that have ended */
    size_t length;                  /* tokens of every row so far, with the prompt */
    search_row *rows, *next;        /* [row_count] and [next_count] of options.beam: this step's, and the next one's */
    size_t row_count, next_count;
    int32_t *tokens, *parents;      /* [row_count] */
    bool parted;                    /* the rows are alternatives by now */
    bool same;                      /* the rows continue the rows before, in their order */
    candidate_list candidates;
    search_required required;
    bool *seen;                     /* [classes] false, for penalties; or NULL */
    arena *memory;
    search_result found;
};

static inline size_t search_min_length(const search_options *o)
{
    return o->min_length == SIZE_MAX ? 0 : o->min_length;
}

static inline bool search_penalizes(const search_options *o)
{
    return o->repetition_penalty != 0 && o->repetition_penalty != 1;
}

/* Whether a token ends a hypothesis. */
static inline bool search_ends(const search *s, int32_t token)
{
    for (size_t i = 0; i < s->text.eos_count; i++)
        if (s->text.eos[i] == token)
            return true;
    return false;
}

/* The score that a hypothesis must exceed to become a result. */
static inline double search_worst(const search *s)
{
    return s->found.count == s->wanted ? s->found.best[s->found.count - 1].score : -INFINITY;
}

#endif
