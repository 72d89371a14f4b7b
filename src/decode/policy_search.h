/* decode/policy_search.h: greedy and beam search as rapt/policy.h describes them, over texts that a model continues together.
 * Which model computes the logits is the caller's matter. */
#ifndef DECODE_POLICY_SEARCH_H
#define DECODE_POLICY_SEARCH_H

#include "decode/policy_scores.h"
#include "decode/search.h"

/* A model, with what it keeps of the rows that it continues. */
typedef struct policy_model {
    void *context;
    /* *logits [rows, classes] after the last token of each row, which may be overwritten. The first call continues what stands
     * before, one row for each text. */
    rapt_code (*step)(void *context, const int32_t *tokens, size_t rows, rapt_real **logits, rapt_error *err);
    /* There are `rows` rows from now on: row i is what row parents[i] was. */
    void (*select)(void *context, const int32_t *parents, size_t rows);
    const kernels *k;
    size_t classes;
} policy_model;

/* What a text begins with, and how far it may go. */
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
    size_t known; /* tokens of each prompt that the first step continues; the others follow one by one */
    search_stop stop; /* of texts */
    bool *over;       /* [texts], set when a text's result is there; or NULL */
} policy_options;

/* A search in progress. */
typedef struct policy_run policy_run;

/* Fills results[texts] with up to `beams` hypotheses each, best first, in memory of the arena: their tokens are those after the
 * first `known` ones, the rest of the prompt, which counts neither as log-probability nor as length, among them. A text's result
 * does not depend on the others. RAPT_ERR_VALUE: the rules leave no token. */
rapt_code policy_search(const policy_model *m, const policy_start *starts, size_t texts, const policy_options *options,
                        arena *memory, search_result *results, rapt_error *err);

/* The same a token at a time: begins a search, in memory of the arena, whose arguments last until it is over; m->step is not
 * called. Tokens [*rows] are what is to be continued, after each call of policy_search_extend, which takes the logits: 0 rows at
 * the end. */
rapt_code policy_search_begin(const policy_model *m, const policy_start *starts, size_t texts, const policy_options *options,
                              arena *memory, search_result *results, policy_run **run, rapt_error *err);
const int32_t *policy_search_tokens(const policy_run *run, size_t *rows);
rapt_code policy_search_extend(policy_run *run, rapt_real *logits, rapt_error *err);

#endif
