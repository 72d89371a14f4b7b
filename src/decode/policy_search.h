/* decode/policy_search.h: greedy and beam search as rapt/policy.h describes them, over texts that a model continues together. The
 * caller brings the model that computes the logits. */
#ifndef DECODE_POLICY_SEARCH_H
#define DECODE_POLICY_SEARCH_H

#include "decode/policy_scores.h"
#include "decode/search.h"

/* A model, with its state of the rows that it continues. */
typedef struct policy_model {
    void *context;
    /* Gives *logits [rows, classes] after the last token of each row; they may be overwritten. The first call continues the first
     * `known` tokens, with one row for each text. */
    rapt_code (*step)(void *context, const int32_t *tokens, size_t rows, rapt_real **logits, rapt_error *err);
    /* Replaces the rows by `rows` rows: row i becomes what row parents[i] was. */
    void (*select)(void *context, const int32_t *parents, size_t rows);
    const kernels *k;
    size_t classes;
} policy_model;

/* The beginning of a text, and its max length. */
typedef struct policy_start {
    const int32_t *prompt; /* [count] */
    size_t count, limit;   /* `limit`: max new tokens */
    const int32_t *source; /* [source_count] */
    size_t source_count;
} policy_start;

typedef struct policy_options {
    policy_rules rules;
    size_t beams; /* 1: greedy search */
    double length_penalty;
    size_t known; /* the first step gives the logits after this many tokens of each prompt; the other tokens are appended one by
                     one */
    search_stop stop; /* of texts */
    bool *over;       /* [texts], set when a text's result is there; or NULL */
} policy_options;

/* A search in progress. */
typedef struct policy_run policy_run;

/* Fills results[texts] with up to `beams` hypotheses each, best first, in memory of the arena. Their tokens begin after the first
 * `known` tokens; the rest of the prompt is among them, but counts neither as log-probability nor as length. A text's result does
 * not depend on the other texts. RAPT_ERR_VALUE: the rules leave no token. */
rapt_code policy_search(const policy_model *m, const policy_start *starts, size_t texts, const policy_options *options,
                        arena *memory, search_result *results, rapt_error *err);

/* policy_search, one token at a time: begins a search in memory of the arena; its arguments must last until it is over, and
 * m->step is not called. After this call, and after each call of policy_search_extend, which takes the logits, the tokens [*rows]
 * are to be continued; 0 rows: the search is over. */
rapt_code policy_search_begin(const policy_model *m, const policy_start *starts, size_t texts, const policy_options *options,
                              arena *memory, search_result *results, policy_run **run, rapt_error *err);
const int32_t *policy_search_tokens(const policy_run *run, size_t *rows);
rapt_code policy_search_extend(policy_run *run, rapt_real *logits, rapt_error *err);

#endif
